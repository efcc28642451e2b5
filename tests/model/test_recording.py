"""Facts of a recording that follow from others."""

from leapprof.model import Gap


def test_a_clock_that_was_set_makes_no_gap_longer():
    """Ten minutes without a sample in which the wall clock was set on by an hour are ten minutes."""
    gap = Gap(start_ns=0, end_ns=600 * 10**9, start_wall_ns=0, end_wall_ns=4200 * 10**9, reason="frames-lost")
    assert gap.duration_s == 600


def test_a_gap_across_a_reboot_is_as_long_as_the_wall_clock_says():
    """CLOCK_BOOTTIME began anew."""
    gap = Gap(
        start_ns=10**15, end_ns=20 * 10**9, start_wall_ns=0, end_wall_ns=61 * 10**9, reason="host-rebooted"
    )
    assert gap.duration_s == 61

"""Guests of one drive, and projections from a measured pair."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.forecast import ForecastOptions, forecast
from leapprof.assess.guests import on_one_drive, with_guests
from leapprof.assess.lives import Drive
from leapprof.assess.what_if import with_what_if
from leapprof.errors import ConfigError, NotEnoughDataError
from leapprof.model import Device, DeviceKind
from tests.support.recordings import DRIVE, PARTITION, made, noisy

HOURS_2 = 7200


def guest(name, rate, **more):
    """Return the forecast of a guest with a virtual disk."""
    disk = Device(name="vda", major_minor="254:0", kind=DeviceKind.VIRTUAL)
    recording = made(host=name, write_bytes=rate, devices=(disk,), **more)
    return forecast(recording)


def machine(rate):
    """Return the forecast of a hypervisor."""
    return forecast(made(host="kvm-1", write_bytes=rate, with_nodeos=False))


def test_the_hypervisors_counter_is_the_truth_and_guests_are_its_writers():
    """Two guests of 1 and 2 MB/s on a drive that takes 4: the rest is 1, nothing is added to 4."""
    found = with_guests(machine(4e6), "nvme0n1", [guest("a", 1e6), guest("b", 2e6)])
    (drive,) = found.devices
    assert drive.bytes_per_s == pytest.approx(4e6, rel=0.01)
    assert {w.who: round(w.bytes_per_s / 1e6) for w in drive.writers} == {
        "guest a": 1,
        "guest b": 2,
        "the rest": 1,
    }
    assert drive.rating == 1752
    assert drive.years[0].years == pytest.approx(1752 / drive.steady_tb_per_year)


def test_guests_that_write_more_than_the_drive_are_a_finding():
    """They lie elsewhere, or were recorded at another time."""
    found = with_guests(machine(1e6), "nvme0n1", [guest("a", 2e6)])
    assert "guests-write-more" in {f.code for f in found.findings}


def test_guests_of_another_time_are_a_finding():
    """Shares of different hours are no shares."""
    found = with_guests(machine(4e6), "nvme0n1", [guest("a", 1e6, start_wall_ns=1_700_500_000 * 10**9)])
    assert "guest-at-another-time" in {f.code for f in found.findings}


def test_guests_of_one_drive_add_up():
    """1 and 2 MB/s are 94.6 TB a year on 600 TBW."""
    found = on_one_drive([guest("a", 1e6), guest("b", 2e6)], Drive(rated_tbw=600), "the operator")
    (drive,) = found.devices
    assert drive.steady_tb_per_year == pytest.approx(94.6, rel=0.01)
    assert drive.years[0].years == pytest.approx(600 / 94.608, rel=0.01)
    assert found.recording.host.name == "a + b"


def test_intervals_of_guests_are_added_at_their_ends():
    """Both are busy at the same hours."""
    guests = [guest(n, noisy(HOURS_2, 1e6, seed=i)) for i, n in enumerate("ab")]
    (drive,) = on_one_drive(guests, Drive(), None).devices
    low = sum(g.devices[0].steady_ci95.low for g in guests)
    assert drive.steady_ci95.low == pytest.approx(low)
    assert len(drive.years) == 4


def test_a_machine_with_drives_of_its_own_is_no_guest():
    """It has no virtual disk."""
    with pytest.raises(ConfigError, match="no virtual disk"):
        on_one_drive([machine(1e6)], Drive(), None)


def pair(before=4e6, after=24e3, **more):
    """Return a measured pair."""
    return (
        made(write_bytes=noisy(HOURS_2, before, seed=1), **more),
        made(write_bytes=noisy(HOURS_2, after, seed=2), map_mode="mapped_private", phase="after", **more),
    )


def test_a_projection_multiplies_what_nodeos_writes():
    """8 MB/s of nodeos alone: with 0.006 of it, 1.5 TB a year."""
    found = with_what_if(forecast(made(write_bytes=8e6)), *pair())
    change = found.devices[0].what_if
    assert change.ratio == pytest.approx(0.006, rel=0.1)
    assert change.tb_per_year == pytest.approx(252 * 0.006, rel=0.1)
    assert "measured pair" in change.source
    assert "mapped → mapped_private" in change.source


def test_the_rest_stays_as_it_is():
    """Of 8 MB/s on the drive nodeos's own volume takes 2: 6 stay."""
    recording = made(write_bytes=8e6)
    rows = recording.tables["device"].texts["device"] == PARTITION.name
    sectors = recording.tables["device"].integers["write_sectors_total"].values
    sectors[rows] = 10**6 + np.arange(HOURS_2) * (2_000_000 // 512)
    change = with_what_if(forecast(recording), *pair()).devices[0].what_if
    assert change.tb_per_year == pytest.approx(6 * 31.536 + 2 * 31.536 * 0.006, rel=0.01)


def test_an_interval_of_a_projection_multiplies_ends():
    """Never too narrow."""
    found = with_what_if(forecast(made(write_bytes=noisy(HOURS_2, 8e6, seed=3))), *pair())
    change = found.devices[0].what_if
    assert change.ci95.low < change.tb_per_year < change.ci95.high


def test_other_conditions_of_the_pair_are_noted():
    """Kernel and read-ahead decide write-back as well."""
    here = made(devices=(DRIVE, replace(PARTITION, read_ahead_kb=128)))
    devices = (DRIVE, replace(PARTITION, read_ahead_kb=4096))
    found = with_what_if(forecast(here), *pair(facts={"kernel": "5.15"}, devices=devices))
    (note,) = [n for n in found.devices[0].what_if.notes if "write-back" in n]
    assert "kernel 5.15 and 6.1" in note
    assert "4096 kB and 128 kB" in note


def test_a_reconstructed_pair_is_no_measurement():
    """Published figures make no projection."""
    before, after = pair()
    after = replace(after, manifest=replace(after.manifest, reconstructed="an article"))
    with pytest.raises(NotEnoughDataError, match="RECONSTRUCTED"):
        with_what_if(forecast(made()), before, after)


def test_a_pair_without_a_state_is_refused():
    """Nobody knows which drive to compare."""
    with pytest.raises(NotEnoughDataError, match="state"):
        with_what_if(forecast(made()), made(with_nodeos=False), made(with_nodeos=False))


def test_a_host_without_state_has_nothing_to_project():
    """A hypervisor's recording."""
    with pytest.raises(NotEnoughDataError, match="carries state"):
        with_what_if(machine(4e6), *pair())


def test_a_quiet_side_is_no_ratio():
    """Nothing over nothing."""
    with pytest.raises(NotEnoughDataError):
        with_what_if(forecast(made()), *pair(before=0.0))


def test_options_of_ratings_reach_the_projection():
    """The rated lifetime stays that of today; the projection is beside it."""
    found = with_what_if(forecast(made(), ForecastOptions(restarts_per_year=0)), *pair())
    assert found.devices[0].years[0].years < 100

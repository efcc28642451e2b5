"""Whole comparisons on made recordings."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.compare import compare, compare_cut
from leapprof.assess.material import CompareOptions
from leapprof.errors import ConfigError, NotEnoughDataError
from leapprof.model import Device, DeviceKind, Event, Gap, Grade, Verdict
from tests.support.recordings import DRIVE, NS, PARTITION, START_WALL_NS, made, noisy, pair

HOURS_2 = 7200


def metric(comparison, name, device=None):
    """Return a metric of a comparison."""
    return next(
        m for m in comparison.metrics if m.name == name and (device is None or m.subject.device == device)
    )


def codes(comparison):
    """Return the codes of its findings."""
    return {f.code for f in comparison.findings}


@pytest.fixture(scope="module")
def mapped_to_private():
    """The published case: 4 MB/s to 23 kB/s, CPU 0.5 to 0.4 cores, other memory of the same size."""
    return compare(
        *pair(
            before={"cpu_cores": noisy(HOURS_2, 0.5, seed=1), "write_bytes": noisy(HOURS_2, 4e6, seed=2)},
            after={
                "cpu_cores": noisy(HOURS_2, 0.4, seed=3),
                "write_bytes": noisy(HOURS_2, 23e3, seed=4),
                "map_mode": "mapped_private",
                "rss_file_bytes": 1e8,
                "rss_anon_bytes": 2.9e9,
            },
        )
    )


def test_a_real_change_is_found_with_its_size(mapped_to_private):
    """Both intervals hold what was put in."""
    writes = metric(mapped_to_private, "device.write_bytes_per_s", "nvme0n1")
    assert (writes.grade, writes.verdict) == (Grade.FULL, Verdict.IMPROVED)
    assert writes.difference.ci95.low < 23e3 - 4e6 < writes.difference.ci95.high
    cores = metric(mapped_to_private, "nodeos.cpu_cores")
    assert cores.verdict is Verdict.IMPROVED
    assert cores.ratio.ci95.low < 0.8 < cores.ratio.ci95.high


def test_plain_rss_across_map_modes_gets_no_verdict(mapped_to_private):
    """The memory that holds the state is compared instead."""
    rss = metric(mapped_to_private, "nodeos.rss_bytes")
    assert rss.verdict is Verdict.INCONCLUSIVE
    assert "map mode differs" in rss.refused
    assert metric(mapped_to_private, "nodeos.state_resident_bytes").verdict is Verdict.UNCHANGED
    assert "map-mode-differs" in codes(mapped_to_private)


def test_a_partition_is_a_view_of_its_drive_and_never_added(mapped_to_private):
    """Both rows are shown; the drive's alone has a rating and a lifetime."""
    drive, view = mapped_to_private.wear
    assert (drive.device, drive.stacked_views, drive.role) == ("nvme0n1", ("nvme0n1p1",), "state")
    assert "never add" in view.note
    assert view.rated_tbw is None
    assert drive.before.tb_per_year == pytest.approx(126, rel=0.05)
    assert drive.before.ci95.low < 126.1 < drive.before.ci95.high


def test_the_headline_speaks_in_metrics(mapped_to_private):
    """Writes first, with interval, unit and the yearly figure."""
    count, writes, *_ = mapped_to_private.headline
    assert "improved" in count
    assert writes.startswith("Writes to nvme0n1 (state): 4.")
    assert "95 % interval" in writes
    assert "TB/year" in writes


def test_a_comparison_names_method_commands_and_what_it_leaves_out(mapped_to_private):
    """Enough to repeat it."""
    assert "MOVER" in mapped_to_private.method["difference and ratio"]
    assert mapped_to_private.repeat[0].startswith("leapprof record eos-1 --phase before")
    assert mapped_to_private.not_measured
    assert mapped_to_private.title == "eos-1: map mode mapped → mapped_private"


def test_every_chart_is_thin_and_its_distribution_whole(mapped_to_private):
    """About 1,200 points a side, shares that sum to 1."""
    assert mapped_to_private.charts
    for chart in mapped_to_private.charts:
        assert chart.before_t_s.size <= 1300
        assert chart.after_share.sum() == pytest.approx(1)


def test_the_same_input_gives_the_same_comparison():
    """No clock, no random numbers."""
    sides = pair(seconds=1500)
    first, second = compare(*sides), compare(*sides)
    assert first.metrics == second.metrics
    assert first.findings == second.findings
    assert first.headline == second.headline


def test_nothing_changed_is_unchanged_or_inconclusive_but_never_a_verdict():
    """Two hours of the same process with other noise."""
    comparison = compare(
        *pair(
            before={"cpu_cores": noisy(HOURS_2, 0.5, seed=5), "write_bytes": noisy(HOURS_2, 4e6, seed=6)},
            after={"cpu_cores": noisy(HOURS_2, 0.5, seed=7), "write_bytes": noisy(HOURS_2, 4e6, seed=8)},
        )
    )
    assert {m.verdict for m in comparison.metrics} <= {Verdict.UNCHANGED, Verdict.INCONCLUSIVE}


def test_ten_minutes_are_shown_without_interval_or_verdict():
    """Means and difference, and how long it would have to be."""
    comparison = compare(*pair(seconds=600, after={"write_bytes": 1e6}))
    writes = metric(comparison, "device.write_bytes_per_s")
    assert writes.difference.value == pytest.approx(-3e6, rel=0.01)
    assert writes.difference.ci95 is None
    assert (writes.grade, writes.verdict) == (Grade.TOO_SHORT, Verdict.INCONCLUSIVE)
    assert writes.needed_seconds >= 3600
    assert "too-short" in codes(comparison)
    assert comparison.headline[0].startswith("Too short")


def test_nothing_written_is_an_upper_limit_and_not_zero():
    """A phase without a write: at most three of the largest bursts of the other."""
    comparison = compare(
        *pair(seconds=HOURS_2, before={"write_bytes": noisy(HOURS_2, 4e6)}, after={"write_bytes": 0})
    )
    writes = metric(comparison, "device.write_bytes_per_s", "nvme0n1")
    assert writes.after.mean == 0
    assert writes.after.ci95.high > 1000
    assert writes.ratio is None
    assert comparison.wear[0].after.ci95.high > 0


def test_three_bursts_in_an_hour_give_an_upper_limit_only():
    """The interval of so few begins at 0, and the grade says so."""
    few = np.zeros(HOURS_2)
    few[[100, 3000, 5000]] = 5e8
    comparison = compare(*pair(before={"write_bytes": noisy(HOURS_2, 4e6)}, after={"write_bytes": few}))
    writes = metric(comparison, "device.write_bytes_per_s", "nvme0n1")
    assert writes.after.ci95.low == 0
    assert writes.after.ci95.high > 3 * 5e8 / HOURS_2 * 2
    assert writes.grade is Grade.PRELIMINARY


def rows_of(table, keep):
    """Return some rows of a table."""
    columns = {
        n: replace(c, values=c.values[keep], present=c.present[keep]) for n, c in table.integers.items()
    }
    texts = {n: t[keep] for n, t in table.texts.items()}
    return replace(table, rows=int(keep.sum()), integers=columns, texts=texts)


def test_bytes_written_while_nobody_looked_are_in_the_mean():
    """A lost connection of ten minutes: the counter went on."""
    seen = np.full(HOURS_2, 4e6)
    recording, after = pair(before={"write_bytes": seen})
    device = recording.tables["device"]
    keep = np.ones(device.rows, bool)
    keep[2000:2600] = False
    keep[HOURS_2 + 2000 : HOURS_2 + 2600] = False
    recording.tables["device"] = rows_of(device, keep)
    writes = metric(compare(recording, after), "device.write_bytes_per_s", "nvme0n1")
    assert writes.before.mean == pytest.approx(4e6, rel=1e-3)
    assert writes.before.covered_seconds == pytest.approx(HOURS_2 - 601, abs=3)


def test_what_a_gap_counted_is_known_in_sum_alone():
    """Ten of forty minutes unseen, in which five times as much was written: no interval of a hair around the mean."""
    rate = np.where((np.arange(2400) >= 1000) & (np.arange(2400) < 1600), 5e6, 1e6)
    recording, after = pair(seconds=2400, before={"write_bytes": 1e6}, after={"write_bytes": rate})
    seen = (np.arange(2400) < 1000) | (np.arange(2400) >= 1600)
    after.tables["device"] = rows_of(after.tables["device"], np.tile(seen, 2))
    writes = metric(compare(recording, after), "device.write_bytes_per_s", "nvme0n1")
    assert writes.after.mean == pytest.approx(2e6, rel=1e-2)
    assert writes.after.ci95.low <= 1.01e6
    assert writes.after.ci95.high >= 2.99e6
    assert writes.verdict is not Verdict.REGRESSED


def test_load_is_taken_out_where_both_sides_saw_it():
    """CPU follows the transactions; the chain was busier after; the change itself saved 0.1 cores."""
    load0, load1 = (
        noisy(HOURS_2, 10, share=0.4, phi=0.999, seed=1),
        noisy(HOURS_2, 12, share=0.4, phi=0.999, seed=2),
    )
    comparison = compare(
        *pair(
            before={"transactions": load0, "cpu_cores": 0.2 + 0.03 * load0},
            after={"transactions": load1, "cpu_cores": 0.1 + 0.03 * load1},
        )
    )
    adjusted = metric(comparison, "nodeos.cpu_cores").adjusted
    assert adjusted.value == pytest.approx(-0.1, abs=0.01)


def test_other_hours_of_the_day_are_preliminary_without_a_common_load():
    """Load swings with the day: six hours apart is not the same chain."""
    sides = pair(seconds=HOURS_2, after={"start_wall_ns": START_WALL_NS + 6 * 3600 * NS})
    assert metric(compare(*sides), "nodeos.cpu_cores").grade is Grade.PRELIMINARY
    same = pair(seconds=HOURS_2)
    assert metric(compare(*same), "nodeos.cpu_cores").grade is Grade.FULL


RESTART = Event(
    boottime_ns=0, wall_ns=START_WALL_NS + 9 * NS, kind="nodeos-restarted", subject="eos", detail=""
)
LOST = Gap(
    start_ns=0,
    end_ns=0,
    start_wall_ns=START_WALL_NS + NS,
    end_wall_ns=START_WALL_NS + 200 * NS,
    reason="connection-lost",
)
TWO_THREADS, FOUR_THREADS = ({"chain-threads": (n,), "net-threads": (n,)} for n in ("2", "4"))


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ({"options": TWO_THREADS}, {"options": FOUR_THREADS}, "confounded-by-config"),
        ({}, {"facts": {"kernel": "6.18"}}, "fact-differs"),
        ({"facts": {"cores": "8"}}, {"facts": {"cores": "16"}}, "fact-differs"),
        ({"version": "v4.0.6"}, {"version": "v5.0.3"}, "version-defaults-differ"),
        ({}, {"start_wall_ns": START_WALL_NS + 12 * 3600 * NS}, "time-of-day-confounded"),
        ({"transactions": 10}, {"transactions": 20}, "load-differs"),
        ({"with_nodeos": True}, {"with_nodeos": False}, "metric-missing"),
        ({"devices": ()}, {}, "metric-missing"),
        ({"events": (RESTART,)}, {}, "restart-in-window"),
        ({"gaps": (LOST,)}, {}, "gaps-in-window"),
        ({}, {}, "stage-unknown"),
        ({}, {}, "run-to-run-unknown"),
    ],
)
def test_what_else_could_explain_it_is_a_finding(before, after, code):
    """Each confounder and limit has a code, a sentence and a hint."""
    comparison = compare(*pair(seconds=1800, before=before, after=after))
    found = next(f for f in comparison.findings if f.code == code)
    assert found.message
    assert found.hint


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"options": TWO_THREADS}, {"options": FOUR_THREADS}, "chain-threads 2 → 4, net-threads 2 → 4."),
        ({}, {"facts": {"kernel": "6.18"}}, "kernel 6.1 → 6.18."),
        ({"options": {"plugin": ("a",)}}, {"options": FOUR_THREADS}, "cause: chain-threads not set (2) → 4."),
        (
            {"version": "v4.0.6"},
            {"version": "v5.0.3"},
            "defaults of the version: eos-vm-oc-enable false → auto, ",
        ),
    ],
)
def test_what_else_changed_ends_the_headline(before, after, said):
    """A verdict never stands without what may have made the difference as well."""
    last = compare(*pair(seconds=1800, before=before, after=after)).headline[-1]
    assert last.startswith("Changed at the same time and possibly the cause: ")
    assert said in last


def test_a_metric_of_one_side_is_named_with_its_device():
    """A drive that came later: not all drives were unknown before."""
    before, after = pair(seconds=1800, before={"devices": ()})
    (missing,) = [f for f in compare(before, after).findings if f.code == "metric-missing"]
    assert "device.write_bytes_per_s of nvme0n1" in missing.message


def test_a_clock_that_was_set_back_hides_no_event_and_no_gap():
    """Set back by an hour, the window ends before it starts on the wall clock."""
    set_back = Event(
        boottime_ns=1900 * NS, wall_ns=START_WALL_NS - 2700 * NS, kind="clock-step", subject="", detail=""
    )
    lost = Gap(
        start_ns=1500 * NS, end_ns=1700 * NS, start_wall_ns=START_WALL_NS + 500 * NS,
        end_wall_ns=START_WALL_NS + 700 * NS, reason="connection-lost",
    )  # fmt: skip
    before, after = pair(seconds=1800, before={"events": (set_back,), "gaps": (lost,)})
    for rows in before.tables.values():
        rows.integers["wall_ns"].values[rows.integers["boottime_ns"].values >= 1900 * NS] -= 3600 * NS
    found = compare(before, after, CompareOptions(across=True))
    assert {"clock-step-in-window", "gaps-in-window"} <= codes(found)


def test_another_boot_makes_no_lower_bound_and_a_counter_that_went_back_does():
    """A rate loses nothing to a reboot; a drive that was plugged in anew within a boot had written more."""
    for reboots, said in ((1, False), (0, True)):
        before, after = pair(seconds=1800)
        for rows in before.tables.values():
            late = rows.integers["boottime_ns"].values >= 1900 * NS
            rows.integers["boot"].values[late] = reboots
            if "write_sectors_total" in rows.integers:
                rows.integers["write_sectors_total"].values[late] -= 1_000_000
        found = compare(before, after)
        assert ("counter-reset" in codes(found)) is said
        assert ("lower bound" in found.wear[0].note) is said


def test_no_counter_goes_on_over_a_reboot():
    """A gap in which the host was booted again holds no bytes that any counter knows."""
    booted = replace(LOST, reason="host-rebooted")
    for gap, said in ((LOST, "counters went on"), (booted, "counters began anew")):
        found = compare(*pair(seconds=1800, before={"gaps": (gap,)}))
        (finding,) = [f for f in found.findings if f.code == "gaps-in-window"]
        assert said in finding.message


def test_another_filesystem_is_named_in_finding_and_headline():
    """The same state on xfs after: the drive's writes may be its doing."""
    before, after = pair(seconds=1800)
    mounts = tuple(replace(m, filesystem="xfs") for m in after.manifest.topology.mounts)
    topology = replace(after.manifest.topology, mounts=mounts)
    found = compare(before, replace(after, manifest=replace(after.manifest, topology=topology)))
    assert any(f.code == "fact-differs" and "state_filesystem was ext4" in f.message for f in found.findings)
    assert "state_filesystem ext4 → xfs" in found.headline[-1]
    assert "filesystem of the state ext4 and xfs" in metric(found, "device.write_bytes_per_s").confounded[0]


def test_nothing_else_changed_is_not_said():
    """The map mode alone is the change, and the title names it."""
    found = compare(*pair(seconds=1800, after={"map_mode": "mapped_private"}))
    assert not any(sentence.startswith("Changed at the same time") for sentence in found.headline)
    assert found.title == "eos-1: map mode mapped → mapped_private"


def test_state_in_large_folios_is_a_finding_in_mapped_mode_alone():
    """One dirty byte writes 2 MiB."""
    before, after = pair(seconds=1800)
    column = before.tables["host"].integers["file_pmd_mapped_bytes"]
    column.values[:] = 900 * 2**20
    assert "large-folios" in codes(compare(before, after))
    heap = replace(
        before,
        manifest=replace(before.manifest, nodeos=(replace(before.manifest.nodeos[0], map_mode="heap"),)),
    )
    after_heap = replace(after, manifest=replace(after.manifest, nodeos=heap.manifest.nodeos))
    assert "large-folios" not in codes(compare(heap, after_heap))


def test_two_hosts_or_one_time_need_to_be_meant():
    """Exit code 2 with the option that allows it."""
    one, other = (
        made(seconds=1500),
        made(seconds=1500, host="eos-2", start_wall_ns=START_WALL_NS + 10**5 * NS),
    )
    with pytest.raises(ConfigError, match="--across"):
        compare(one, other)
    with pytest.raises(ConfigError, match="overlap"):
        compare(one, one)
    late, early = pair(seconds=1500)[::-1]
    with pytest.raises(ConfigError, match="swap"):
        compare(late, early)
    assert compare(one, other, CompareOptions(across=True)).metrics


def test_two_drives_that_carry_the_same_are_compared_as_such():
    """The state moved from one loop device to another: a finding says so."""
    loops = [
        Device(name=name, major_minor="259:1", kind=DeviceKind.LOOP, parents=("nvme0n1",))
        for name in ("loop0", "loop1")
    ]
    before, after = pair(
        seconds=1500, before={"devices": (DRIVE, loops[0])}, after={"devices": (DRIVE, loops[1])}
    )
    comparison = compare(before, after)
    assert metric(comparison, "device.write_bytes_per_s", "loop0").after is not None
    assert "device-differs" in codes(comparison)


def test_an_empty_recording_is_nothing_to_compare():
    """Exit code 6."""
    before, after = pair(seconds=100)
    after.tables.clear()
    with pytest.raises(NotEnoughDataError):
        compare(before, after)


@pytest.fixture
def changed():
    """One recording of two hours; after the first, CPU falls and nodeos was restarted."""
    cores = np.concatenate([noisy(3600, 0.8, seed=1), noisy(3600, 0.4, seed=2)])
    restart = Event(
        boottime_ns=0, wall_ns=START_WALL_NS + 3600 * NS, kind="nodeos-restarted", subject="eos", detail=""
    )
    return made(seconds=HOURS_2, cpu_cores=cores, events=(restart,), devices=(DRIVE, PARTITION))


@pytest.mark.parametrize("at", [None, START_WALL_NS + 3600 * NS])
def test_one_recording_is_cut_where_the_change_was(changed, at):
    """Stated, or seen as a restart; CPU itself agrees."""
    comparison = compare_cut(changed, at)
    cores = metric(comparison, "nodeos.cpu_cores")
    assert cores.before.mean == pytest.approx(0.8, rel=0.05)
    assert cores.after.mean == pytest.approx(0.4, rel=0.05)
    assert comparison.change_point["verdict"].startswith("consistent")


def test_a_change_at_another_time_than_stated_is_said(changed):
    """Twenty minutes too early."""
    comparison = compare_cut(changed, START_WALL_NS + 2400 * NS)
    assert "20 min after it" in comparison.change_point["verdict"]


def test_a_cut_outside_the_recording_or_without_a_change_is_refused(changed):
    """Exit code 2 with what to say instead."""
    with pytest.raises(ConfigError, match="not inside"):
        compare_cut(changed, START_WALL_NS - NS)
    with pytest.raises(ConfigError, match="--change-at"):
        compare_cut(made(seconds=1500), None)

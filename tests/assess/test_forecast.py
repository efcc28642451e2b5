"""Wear of one recording: rates, intervals, shares, roles, ratings, findings."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.compare import compare
from leapprof.assess.forecast import ForecastOptions, forecast
from leapprof.endurance.ratings import Rating
from leapprof.endurance.smart import SmartReading
from leapprof.errors import NotEnoughDataError
from leapprof.model import Device, DeviceKind, Finding, Gap, Severity, Swap, Topology
from tests.support.recordings import (
    DRIVE,
    MOUNT,
    PARTITION,
    START_WALL_NS,
    counter,
    level,
    made,
    noisy,
    pair,
    stacked,
    table,
)

HOURS_2 = 7200
RATING = Rating(
    vendor="", product="your rating", model_regex="", capacity_bytes=0, rated_tbw=600, dwpd=None,
    warranty_years=5, grade="user", source="--rated-tbw 600",
)  # fmt: skip


def with_devices(recording, *devices, **more):
    """Return a recording whose topology has these devices instead."""
    topology = replace(recording.manifest.topology, devices=devices, **more)
    return replace(recording, manifest=replace(recording.manifest, topology=topology))


def with_table(recording, **tables):
    """Return a recording with more tables."""
    return replace(recording, tables={**recording.tables, **tables})


def codes(found):
    """Return the codes of a forecast's findings."""
    return {f.code for f in found.findings}


def test_the_published_rates_are_the_published_years():
    """4 MB/s is 126.1 TB a year, 12 kB/s is 0.378 TB a year."""
    for rate, tb in ((4e6, 126.144), (12e3, 0.378432)):
        (drive,) = forecast(made(write_bytes=rate)).devices
        assert drive.steady_tb_per_year == pytest.approx(tb, rel=1e-3)


def test_the_interval_holds_what_was_put_in():
    """A noisy rate of 4 MB/s over two hours."""
    (drive,) = forecast(made(write_bytes=noisy(HOURS_2, 4e6, seed=1))).devices
    assert drive.ci95.low < 4e6 < drive.ci95.high
    assert drive.steady_ci95.low < 126.144 < drive.steady_ci95.high
    assert drive.steady_ci95.high / drive.steady_ci95.low < 1.2


def test_a_year_is_as_uncertain_as_in_compare():
    """Both commands print the same TB a year, and allow alike for an hour being short."""
    sides = pair(seconds=3600, write_bytes=noisy(3600, 4e6, seed=1))
    (drive,) = forecast(sides[0]).devices
    row = next(w for w in compare(*sides).wear if w.device == drive.device)
    assert drive.steady_ci95 == row.before.ci95


def test_a_gap_is_said_of_a_year_too():
    """What was written in it is known in sum alone."""
    lost = Gap(
        start_ns=2000 * 10**9, end_ns=2600 * 10**9, start_wall_ns=START_WALL_NS + 1000 * 10**9,
        end_wall_ns=START_WALL_NS + 1600 * 10**9, reason="connection-lost",
    )  # fmt: skip
    assert "gaps-in-window" in codes(forecast(made(seconds=3600, gaps=(lost,))))


def test_nothing_written_is_no_certainty_of_nothing():
    """An hour without a write: no interval of 0 to 0 TB, and a finding with what is known: how often it may be."""
    found = forecast(made(seconds=3600, write_bytes=0.0))
    (drive,) = found.devices
    assert (drive.bytes_per_s, drive.ci95, drive.steady_ci95) == (0.0, None, None)
    assert (drive.is_unknown, drive.burst_bytes) == (True, None)
    assert drive.most_writes_per_year == pytest.approx(3 * 365 * 24, rel=1e-3)
    (said,) = [f for f in found.findings if f.code == "no-writes-seen"]
    assert said.severity is Severity.WARNING
    assert "so less often than once in 20 min (95 %, rule of three)" in said.message
    assert "a year has no upper limit" in said.message
    assert "if each took 1.00 MB, a year would be up to 0.0263 TB/year" in said.hint


def quiet_after_a_fill(*fill_bytes):
    """Return two hours of a drive that wrote in the first seconds after nodeos's start and never again."""
    rate = np.zeros(HOURS_2)
    rate[30 : 30 + len(fill_bytes)] = fill_bytes
    recording = made(write_bytes=rate)
    recording.tables["nodeos"].integers["start_ticks"].values[:] = 1000 * 100
    return recording


def test_a_write_before_the_steady_part_bounds_a_year():
    """Three like the largest of warm-up in the 114 minutes after it; the rating lasts at least so long."""
    recording = quiet_after_a_fill(4e8, 1e9)
    found = forecast(recording, ForecastOptions(ratings={"nvme0n1": RATING}))
    (drive,) = found.devices
    assert drive.bytes_per_s == 0.0
    assert drive.burst_bytes == pytest.approx(1e9, rel=1e-3)
    assert drive.ci95.low == 0
    assert drive.ci95.high == pytest.approx(3e9 / found.covered_s, rel=1e-3)
    assert not drive.is_unknown
    (life,) = drive.years
    assert life.low == pytest.approx(600 / drive.steady_ci95.high, rel=1e-6)
    (said,) = [f for f in found.findings if f.code == "no-writes-seen"]
    assert (said.severity, "its largest write before, 1.00 GB" in said.message) == (Severity.INFO, True)


def test_a_drive_that_writes_has_no_such_limit():
    """Its rate has the interval of its samples, whatever warm-up wrote."""
    (drive,) = forecast(made(write_bytes=noisy(HOURS_2, 4e6, seed=1))).devices
    assert (drive.most_writes_per_year, drive.burst_bytes, drive.is_unknown) == (None, None, False)


def test_what_is_left_out_is_not_said_to_be_seen():
    """Twenty of sixty minutes nodeos was catching up: forty are what the figure stands on."""
    stage = np.full(3600, "live", dtype=object)
    stage[1200:2400] = "syncing"
    found = forecast(made(seconds=3600, stage=stage))
    (daily,) = [f for f in found.findings if f.code == "daily-pattern-not-covered"]
    assert found.covered_s == pytest.approx(2400, abs=3)
    assert daily.message.startswith("These are 39 min 59 s, ")


def test_warm_up_is_cut_as_compare_cuts_it():
    """A fill of 100 MB/s in the first five minutes after the start is no steady writing."""
    rate = np.full(HOURS_2, 1e6)
    rate[:300] = 100e6
    recording = made(write_bytes=rate)
    recording.tables["nodeos"].integers["start_ticks"].values[:] = 1000 * 100
    found = forecast(recording)
    assert found.left_out_s["warm-up"] >= 300
    assert found.devices[0].bytes_per_s == pytest.approx(1e6, rel=0.01)


def test_without_nodeos_nothing_is_warm_up():
    """A hypervisor's recording is taken whole."""
    found = forecast(made(seconds=3600, write_bytes=1e6, with_nodeos=False))
    assert not found.left_out_s
    assert found.devices[0].bytes_per_s == pytest.approx(1e6, rel=0.01)


def test_too_short_has_a_mean_and_says_so():
    """Ten minutes: no interval, a finding, and nothing extrapolated in silence."""
    found = forecast(made(seconds=600))
    assert found.devices[0].ci95 is None
    assert found.devices[0].years[0].low is None
    assert {"too-short-for-interval", "daily-pattern-not-covered"} <= codes(found)


def test_less_than_a_day_says_which_share_of_a_year_it_is():
    """Two hours are 0.022 % of a year."""
    (short,) = [f for f in forecast(made()).findings if f.code == "daily-pattern-not-covered"]
    assert "of a year" in short.message
    assert "24 hours" in short.message


def test_a_recording_without_devices_is_refused():
    """Nothing to say about drives."""
    with pytest.raises(NotEnoughDataError, match="drive"):
        forecast(with_devices(made()))


def test_the_model_finds_its_rating_and_an_operators_rating_wins():
    """The table knows the drive; what the operator says is taken instead."""
    (drive,) = forecast(made()).devices
    assert drive.rating == 1752
    (drive,) = forecast(made(), ForecastOptions(ratings={"nvme0n1": RATING})).devices
    assert drive.rating == 600
    assert drive.years[0].years == pytest.approx(600 / drive.steady_tb_per_year)


def test_an_unknown_drive_gets_the_table_of_common_ratings():
    """150, 600, 2,000 TBW and 10 PB, and how many such hosts fit each."""
    unknown = replace(DRIVE, model="Nobody's drive")
    (drive,) = forecast(with_devices(made(write_bytes=12e3), unknown, PARTITION)).devices
    assert [life.rated_tbw for life in drive.years] == [150, 600, 2_000, 10_000]
    assert drive.years[0].nodes == int(150 / 5 / drive.steady_tb_per_year)


def test_a_price_is_spread_over_the_rating():
    """1,752 TBW for 300: 126 TB a year cost 21.6."""
    (drive,) = forecast(made(write_bytes=4e6), ForecastOptions(price={"nvme0n1": 300.0})).devices
    assert drive.years[0].price_per_year == pytest.approx(300 * drive.steady_tb_per_year / 1752)


def test_the_drives_own_wear_decides_where_it_is_worse():
    """10 TB written of 1,752, but 98 % used by its own account: 2 % are left."""
    said = SmartReading(host_written_bytes=10 * 10**12, percent_used=98, power_on_hours=10_000)
    (drive,) = forecast(made(write_bytes=4e6), ForecastOptions(smart={"nvme0n1": said})).devices
    assert drive.years[0].years == pytest.approx(0.02 * 1752 / drive.steady_tb_per_year)
    assert drive.lifetime_mean_bytes_per_s == pytest.approx(10e12 / 36e6)


def test_a_claim_beyond_the_link_is_not_used():
    """279.6 TB on a SATA drive in 3 hours of power-on time."""
    said = SmartReading(host_written_bytes=round(279.6e12), power_on_hours=3, protocol="ATA")
    found = forecast(made(), ForecastOptions(smart={"nvme0n1": said}))
    assert found.devices[0].written_tb is None
    assert "smart-implausible" in codes(found)


def test_a_spent_rating_and_low_spare_are_said():
    """130 % used and 5 % spare of a threshold of 10."""
    said = SmartReading(percent_used=130, spare_percent=5, spare_threshold_percent=10, media_errors=3)
    found = forecast(made(), ForecastOptions(smart={"nvme0n1": said}))
    assert {"rating-used-up", "spare-below-threshold", "drive-warns"} <= codes(found)
    assert found.devices[0].years[0].years == 0


def nodeos_device(rate, seconds=HOURS_2):
    """Return cgroup counters of the only nodeos on the drive."""
    return table(
        "nodeos_device", seconds, {"cgroup_write_bytes_total": counter(np.full(seconds, rate))},
        texts={"nodeos": "eos", "device": "nvme0n1"},
    )  # fmt: skip


def own_cgroup(recording):
    """Return a recording whose nodeos has a cgroup of its own, and its data on the drive of the system."""
    nodeos = replace(recording.manifest.nodeos[0], cgroup_is_own=True, state_dir="/var/lib/eos/state")
    topology = replace(recording.manifest.topology, mounts=(replace(MOUNT, point="/"),))
    return replace(recording, manifest=replace(recording.manifest, nodeos=(nodeos,), topology=topology))


def writer(drive, who):
    """Return one writer of a drive."""
    return next(w for w in drive.writers if w.who == who)


def test_shares_add_up_to_the_device_and_no_more():
    """Nodeos by its cgroup, swap by pswpout, the rest is the rest."""
    recording = own_cgroup(with_table(made(write_bytes=4e6), nodeos_device=nodeos_device(1e6)))
    recording.tables["host"].integers["swap_out_pages_total"] = counter(np.full(HOURS_2, 100.0))
    swap = (Swap(path="/swapfile", kind="file", size_bytes=2**30),)
    topology = replace(recording.manifest.topology, swaps=swap)
    recording = replace(recording, manifest=replace(recording.manifest, topology=topology))
    (drive,) = forecast(recording).devices
    assert writer(drive, "eos").bytes_per_s == pytest.approx(1e6, rel=0.01)
    assert writer(drive, "swap").bytes_per_s == pytest.approx(409_600, rel=0.01)
    assert sum(w.bytes_per_s for w in drive.writers) == pytest.approx(drive.bytes_per_s)
    assert "swap" in drive.roles


def test_a_share_that_cannot_be_known_says_so():
    """A shared cgroup: not 0, but not known, and the rest holds it."""
    recording = own_cgroup(made())
    nodeos = replace(recording.manifest.nodeos[0], cgroup_is_own=False)
    recording = replace(recording, manifest=replace(recording.manifest, nodeos=(nodeos,)))
    (drive,) = forecast(recording).devices
    assert writer(drive, "eos").bytes_per_s is None
    assert "not known" in writer(drive, "eos").meter
    assert "eos in it" in writer(drive, "the rest").meter


def test_a_cgroup_line_of_a_volume_is_not_the_drives():
    """io.stat counts at dm-0 above two legs: what each leg got of it is not known."""
    recording = made()
    legs = [replace(DRIVE, name=n, major_minor=m, serial=n) for n, m in (("sda", "8:0"), ("sdb", "8:16"))]
    raid = Device(name="md0", major_minor="259:1", kind=DeviceKind.MD, parents=("sda", "sdb"))
    names = ("sda", "sdb", "md0")
    drives = stacked(
        [table("device", HOURS_2, {"write_sectors_total": counter(np.full(HOURS_2, 8000.0))}, texts={"device": n})
         for n in names]
    )  # fmt: skip
    lines = nodeos_device(4e6)
    lines.texts["device"][:] = "md0"
    recording = own_cgroup(with_table(recording, device=drives, nodeos_device=lines))
    recording = with_devices(recording, *legs, raid)
    found = forecast(recording)
    assert {d.device for d in found.devices} == {"sda", "sdb"}
    assert all(d.bytes_per_s == pytest.approx(4.096e6, rel=0.01) for d in found.devices)
    assert all("md0, above this drive" in writer(d, "eos").meter for d in found.devices)
    assert [v.device for v in found.logical] == ["md0"]


def test_a_volume_of_its_own_tells_what_nodeos_writes():
    """The partition at /data holds the state alone: its counter is nodeos's share."""
    (drive,) = forecast(made(write_bytes=4e6)).devices
    assert writer(drive, "eos").bytes_per_s == pytest.approx(4e6, rel=0.01)
    assert "nvme0n1p1" in writer(drive, "eos").meter


def test_swap_on_several_drives_is_not_split():
    """Pswpout does not say where; zram is named."""
    recording = own_cgroup(made())
    zram = Device(name="zram0", major_minor="253:0", kind=DeviceKind.ZRAM)
    swaps = tuple(Swap(path=p, kind="partition", size_bytes=2**30) for p in ("/dev/nvme0n1p1", "/dev/zram0"))
    recording = with_devices(recording, DRIVE, PARTITION, zram, swaps=swaps)
    (drive,) = forecast(recording).devices
    assert writer(drive, "swap").bytes_per_s is None
    assert "zram" in writer(drive, "swap").meter


def test_swap_on_zram_alone_wears_nothing():
    """No drive has swap as a writer."""
    zram = Device(name="zram0", major_minor="253:0", kind=DeviceKind.ZRAM)
    swaps = (Swap(path="/dev/zram0", kind="partition", size_bytes=2**30),)
    (drive,) = forecast(with_devices(made(), DRIVE, PARTITION, zram, swaps=swaps)).devices
    assert {w.who for w in drive.writers} == {"eos", "the rest"}


def test_a_counter_that_went_back_is_a_lower_bound():
    """300 to 50: what was counted in between is unknown, and said so."""
    recording = made()
    column = recording.tables["device"].integers["write_sectors_total"]
    column.values[5000:HOURS_2] -= 30_000_000
    found = forecast(recording)
    assert found.devices[0].lower_bound
    assert "counter-reset" in codes(found)
    assert found.devices[0].bytes_per_s == pytest.approx(4e6, rel=0.01)


def test_large_folios_are_the_kernels_and_said_with_what_to_try():
    """880 MB of PMD-mapped file pages below a mapped state."""
    recording = made()
    recording.tables["host"].integers["file_pmd_mapped_bytes"] = level(np.full(HOURS_2, 9e8))
    (found,) = [f for f in forecast(recording).findings if f.code == "large-folios"]
    assert "not a property of this nodeos" in found.message
    assert "read_ahead_kb is 128 now" in found.hint
    assert "filesystem" in found.hint


def test_large_folios_below_mapped_private_are_no_matter():
    """Its state is not written back from the file's pages."""
    recording = made(map_mode="mapped_private")
    recording.tables["host"].integers["file_pmd_mapped_bytes"] = level(np.full(HOURS_2, 9e8))
    assert "large-folios" not in codes(forecast(recording))


def test_a_guests_disk_has_no_lifetime_of_its_own():
    """The table of common ratings, and a note on how to name the drive."""
    disk = replace(DRIVE, kind=DeviceKind.VIRTUAL, model=None)
    (drive,) = forecast(with_devices(made(), disk, PARTITION)).devices
    assert drive.rating is None
    assert len(drive.years) == 4
    assert any("--hypervisor" in n for n in drive.notes)


def test_a_cloud_volume_is_measured_against_its_limits():
    """200 operations and 4 MB/s of gp3's 3,000 and 131 MB/s."""
    disk = replace(DRIVE, kind=DeviceKind.VIRTUAL, model="Amazon Elastic Block Store")
    recording = with_devices(made(write_bytes=4e6), disk, PARTITION)
    assert "cloud-volume" in codes(forecast(recording))
    recording.tables["device"].integers["reads_total"] = counter(np.full(2 * HOURS_2, 150.0))
    (drive,) = forecast(recording, ForecastOptions(volume={"nvme0n1": "gp3"})).devices
    assert drive.volume.iops_share == pytest.approx(200 / 3000, rel=0.01)
    assert drive.volume.bytes_share == pytest.approx((4e6 + 51_200) / (125 * 2**20), rel=0.01)


def test_a_network_disk_does_not_wear_here():
    """It is shown, without years."""
    remote = Device(name="nvme0n1", major_minor="259:0", kind=DeviceKind.NETWORK)
    (disk,) = forecast(with_devices(made(), remote, PARTITION)).devices
    assert disk.years == ()
    assert any("wears elsewhere" in n for n in disk.notes)


@pytest.mark.parametrize("code", ["smart-not-read", "device-graph-unknown"])
def test_what_recorder_and_importers_say_of_drives_is_said_again(code):
    """An import without a device graph, a command without a health log."""
    recording = made()
    finding = Finding(code=code, severity=Severity.WARNING, message="m", hint="h")
    recording = replace(recording, manifest=replace(recording.manifest, findings=(finding,)))
    assert code in codes(forecast(recording))


def test_a_hard_disk_has_no_write_rating():
    """No table of TBW for what rotates."""
    disk = replace(DRIVE, model="ST8000", rotational=True)
    (drive,) = forecast(with_devices(made(), disk, PARTITION)).devices
    assert drive.years == ()
    assert any("rotating" in n for n in drive.notes)


def test_an_empty_topology_has_no_roles():
    """Nothing is guessed."""
    recording = made()
    bare = replace(recording.manifest, topology=Topology(devices=(DRIVE,)), nodeos=())
    assert forecast(replace(recording, manifest=bare)).devices[0].roles == ()


def test_a_recording_in_which_nodeos_never_settled_is_taken_whole():
    """It answered in the first minute alone: a mean, and a finding, and no refusal."""
    recording = made(seconds=600, stage="syncing")
    stage = recording.tables["nodeos"].texts["stage"]
    stage[:60] = "live"
    recording.tables["nodeos"].integers["start_ticks"].values[:] = 1000 * 100
    found = forecast(recording)
    assert "not-settled" in codes(found)
    assert found.devices[0].bytes_per_s == pytest.approx(4e6, rel=0.01)

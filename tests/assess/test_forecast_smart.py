"""Three meters of the same writes, from a recording with SMART at both ends."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.forecast import forecast
from leapprof.model import Column, Table
from tests.support.recordings import NS, START_WALL_NS, made

MIB_32 = 32 * 2**20
SECONDS = 7200


def smart_table(*, device="nvme0n1", serial=None, meter="NVMe data units", **columns):
    """Return SMART at the first and at the last second; each column is a pair, None is absent."""

    def column(pair):
        return Column(
            values=np.array([v or 0 for v in pair], np.int64), present=np.array([v is not None for v in pair])
        )

    last = SECONDS - 1
    keys = {
        "seq": (1, SECONDS),
        "boottime_ns": (1000 * NS, (1000 + last) * NS),
        "wall_ns": (START_WALL_NS, START_WALL_NS + last * NS),
        "boot": (0, 0),
    }
    texts = {"device": device, "serial": serial, "model": None, "meter": meter, "warning": None}
    return Table(
        name="smart",
        rows=2,
        integers={name: column(pair) for name, pair in {**keys, **columns}.items()},
        texts={name: np.full(2, text, dtype=object) for name, text in texts.items()},
    )


def with_smart(recording, table):
    """Return a recording with a table of SMART."""
    return replace(recording, tables={**recording.tables, "smart": table})


def meter(drive, name):
    """Return one meter of a drive."""
    return next(m for m in drive.meters if m.name == name)


WRITTEN = 4_000_000 * (SECONDS - 1)


def test_three_meters_of_the_same_time():
    """The kernel, the drive and its flash; the flash wrote half as much again."""
    host = (10**13, 10**13 + WRITTEN // 512_000 * 512_000)
    nand = (2 * 10**13, 2 * 10**13 + round(WRITTEN * 1.5))
    table = smart_table(
        host_written_bytes_total=host, host_written_step_bytes=(512_000, 512_000), nand_written_bytes_total=nand,
        percent_used=(4, 4), power_on_hours=(10_000, 10_002),
    )  # fmt: skip
    found = forecast(with_smart(made(write_bytes=4e6), table))
    (drive,) = found.devices
    assert meter(drive, "device counter").written_bytes == pytest.approx(WRITTEN, rel=1e-3)
    assert meter(drive, "SMART host writes").written_bytes == pytest.approx(WRITTEN, rel=1e-3)
    assert "1.50 for each byte" in meter(drive, "flash writes").note
    assert drive.waf == pytest.approx(2, rel=0.01)
    assert drive.written_tb == pytest.approx(10, rel=0.01)
    assert "meters-disagree" not in {f.code for f in found.findings}


def test_below_the_drives_resolution_the_device_counter_tells():
    """12 kB/s for two hours is less than three steps of 32 MiB."""
    table = smart_table(
        host_written_bytes_total=(10**12, 10**12 + 2 * MIB_32), host_written_step_bytes=(MIB_32, MIB_32),
        meter="Host_Writes_32MiB",
    )  # fmt: skip
    found = forecast(with_smart(made(write_bytes=12e3), table))
    assert "the device counter tells" in meter(found.devices[0], "SMART host writes").note
    assert "meters-disagree" not in {f.code for f in found.findings}


def test_a_counter_that_did_not_move_is_below_its_resolution():
    """Two calls within one step: not 0 bytes written."""
    table = smart_table(
        host_written_bytes_total=(10**12, 10**12), host_written_step_bytes=(2**30, 2**30),
        meter="Lifetime_Writes_GiB",
    )  # fmt: skip
    (drive,) = forecast(with_smart(made(write_bytes=12e3), table)).devices
    assert "below its resolution" in meter(drive, "SMART host writes").note


def test_meters_that_disagree_are_a_finding():
    """The drive took twice what this kernel wrote: another path to it, or another unit."""
    table = smart_table(
        host_written_bytes_total=(10**12, 10**12 + 2 * WRITTEN), host_written_step_bytes=(512_000, 512_000)
    )
    found = forecast(with_smart(made(write_bytes=4e6), table))
    assert "meters-disagree" in {f.code for f in found.findings}


def test_an_undeclared_unit_is_calibrated_by_the_device_counter():
    """858 ticks in 28.8 GB: the unit is 32 MiB, and so the drive's life is known."""
    ticks = round(WRITTEN / MIB_32)
    table = smart_table(undeclared_writes_total=(100_000, 100_000 + ticks), meter=None)
    (drive,) = forecast(with_smart(made(write_bytes=4e6), table)).devices
    assert meter(drive, "SMART host writes").written_bytes == pytest.approx(WRITTEN, rel=0.01)
    assert drive.written_tb == pytest.approx((100_000 + ticks) * MIB_32 / 1e12)


def test_a_unit_that_fits_nothing_stays_unknown():
    """No guess."""
    table = smart_table(undeclared_writes_total=(0, 9_600), meter=None)
    (drive,) = forecast(with_smart(made(write_bytes=4e6), table)).devices
    assert meter(drive, "SMART host writes").written_bytes is None
    assert drive.written_tb is None


@pytest.mark.parametrize(("device", "serial"), [("nvme0", None), ("sdx", "S1")])
def test_a_drive_is_known_by_its_controller_or_serial(device, serial):
    """Smartctl asks /dev/nvme0, the kernel counts at nvme0n1; behind an HBA names differ."""
    table = smart_table(device=device, serial=serial, percent_used=(5, 6))
    assert forecast(with_smart(made(), table)).devices[0].percent_used == 6


def test_another_drives_smart_is_not_this_ones():
    """No name and no serial fit."""
    table = smart_table(device="sdx", serial="S2", percent_used=(5, 6))
    assert forecast(with_smart(made(), table)).devices[0].smart is None


def test_one_reading_has_a_state_and_no_meters():
    """Killed before the end: the first reading alone."""
    table = smart_table(percent_used=(5, 6))
    first = Table(
        name="smart", rows=1,
        integers={n: Column(values=c.values[:1], present=c.present[:1]) for n, c in table.integers.items()},
        texts={n: t[:1] for n, t in table.texts.items()},
    )  # fmt: skip
    (drive,) = forecast(with_smart(made(), first)).devices
    assert (drive.percent_used, drive.meters) == (5, ())


def test_two_commands_that_answered_at_different_ticks_are_one_drive():
    """Host writes at one second, flash writes a second later, at both ends."""
    host = smart_table(
        host_written_bytes_total=(10**13, 10**13 + WRITTEN), host_written_step_bytes=(512_000,) * 2
    )
    nand = smart_table(nand_written_bytes_total=(2 * 10**13, 2 * 10**13 + 2 * WRITTEN), meter=None)
    names = sorted({*host.integers, *nand.integers})
    none = Column(values=np.zeros(2, np.int64), present=np.zeros(2, bool))
    order = [0, 2, 1, 3]
    both = Table(
        name="smart", rows=4,
        integers={
            n: Column(
                values=np.concatenate([t.integers.get(n, none).values for t in (host, nand)])[order],
                present=np.concatenate([t.integers.get(n, none).present for t in (host, nand)])[order],
            )
            for n in names
        },
        texts={n: np.concatenate([host.texts[n], nand.texts[n]])[order] for n in host.texts},
    )  # fmt: skip
    (drive,) = forecast(with_smart(made(write_bytes=4e6), both)).devices
    assert meter(drive, "SMART host writes").written_bytes == WRITTEN
    assert meter(drive, "flash writes").written_bytes == 2 * WRITTEN
    assert drive.waf == pytest.approx(2, rel=0.01)


def test_a_history_of_smart_alone_has_a_rate_too():
    """An import of daily documents: the drive's own counter, by day, with an interval and a note."""
    days = 8
    written = 10**13 + np.cumsum([0, 346, 344, 347, 343, 346, 345, 344]) * 10**9
    full = np.ones(days, bool)

    def column(values):
        return Column(values=np.asarray(values, np.int64), present=full)

    seconds = np.arange(days) * 86_400
    keys = {
        "seq": column(np.arange(days)),
        "boottime_ns": column(seconds * NS),
        "wall_ns": column(START_WALL_NS + seconds * NS),
        "boot": column(np.zeros(days)),
    }
    one = smart_table()
    history = Table(
        name="smart", rows=days, integers={**keys, "host_written_bytes_total": column(written)},
        texts={n: np.full(days, t[0], dtype=object) for n, t in one.texts.items()},
    )  # fmt: skip
    host = Table(name="host", rows=days, integers=keys, texts={})
    recording = made(with_nodeos=False)
    (drive,) = forecast(replace(recording, tables={"host": host, "smart": history})).devices
    assert drive.bytes_per_s == pytest.approx(2415e9 / (7 * 86_400), rel=1e-3)
    assert drive.ci95.low < 345e9 / 86_400 < drive.ci95.high
    assert drive.writers[0].who == "all writers"
    assert any("no device counter" in note for note in drive.notes)
    assert [m.name for m in drive.meters] == ["SMART host writes"]

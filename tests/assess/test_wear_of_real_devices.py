"""A known number of bytes through a stack of real block devices, and a drive's own words, through the real agent."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from leapprof.assess.forecast import forecast
from leapprof.assess.load import LoadedRecording, load
from leapprof.model import DeviceKind
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.observer import NullObserver
from leapprof.recorder.planning import RecordOptions
from leapprof.recorder.session import HostSession
from leapprof.sources.local import LocalSource
from tests.support.own_mounts import own_mounts

MIB = 2**20
WRITTEN = 192 * MIB
MKFS = ("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard")


def can_stack() -> bool:
    """Whether loop devices can be made and mounted here: tried, because a container's root may not."""
    if os.geteuid() != 0 or not all(shutil.which(p) for p in ("losetup", "mkfs.ext4", "mount", "umount")):
        return False
    return Path("/dev/loop-control").exists() and shutil.which("losetup") is not None


needs_loops = pytest.mark.skipif(
    not can_stack(), reason="needs root, losetup, mkfs.ext4 and mount: left out, no stack was made"
)


def run(*argv: str) -> str:
    """Run a program and return what it printed."""
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=240).stdout.strip()


@contextmanager
def mounted(image: Path, size: int, point: Path) -> Iterator[str]:
    """Make a loop device over a file, with ext4, mounted; yield its kernel name.

    The mount is ours alone, and the device goes with its last mount: a test that is killed leaves neither.
    """
    with image.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
    try:
        device = run("losetup", "--find", "--show", str(image))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"left out: no loop device can be made here ({error.stderr.strip()})")
    with own_mounts():
        try:
            run(*MKFS, device)
            point.mkdir()
            run("mount", device, str(point))
        except subprocess.CalledProcessError as error:
            pytest.skip(f"left out: no filesystem can be mounted here ({error.stderr.strip()})")
        finally:
            run("losetup", "--detach", device)
        try:
            yield Path(device).name
        finally:
            run("umount", "--lazy", str(point))  # another program may look at it at this very moment


@contextmanager
def recorded(out: Path, **host: object) -> Iterator[list[LoadedRecording]]:
    """Record this machine while the body runs; the list then holds the recording."""
    stop, started = threading.Event(), threading.Event()

    class Watcher(NullObserver):
        def sampled(self, host, frame):
            started.set()

    session = HostSession(
        host=HostConfig(name="local", address="", transport="local", **host),
        source=LocalSource("local"),
        out=out,
        options=RecordOptions(phase="", interval_s=0.2),
        clock=SystemClock(),
        stop=stop,
        observer=Watcher(),
    )
    thread = threading.Thread(target=session.run)
    thread.start()
    found: list[LoadedRecording] = []
    try:
        assert started.wait(120)
        yield found
    finally:
        stop.set()
        thread.join(120)
    assert session.directory is not None
    found.append(load(session.directory))


def as_drive(recording: LoadedRecording, name: str) -> LoadedRecording:
    """Return the recording as if a loop device were a drive: then nobody else writes to the drive."""
    topology = recording.manifest.topology
    devices = tuple(
        replace(d, kind=DeviceKind.DISK, parents=(), model="a drive of our own") if d.name == name else d
        for d in topology.devices
    )
    manifest = replace(recording.manifest, topology=replace(topology, devices=devices), nodeos=(), events=())
    return replace(recording, manifest=manifest)


@needs_loops
def test_bytes_through_a_stack_are_the_drives_bytes_once(tmp_path: Path) -> None:
    """192 MiB through ext4 on a loop device in a file on ext4 on a loop device: the lower one took them, once."""
    lower_image = tmp_path / "lower.img"
    with mounted(lower_image, 2 * WRITTEN, tmp_path / "lower") as lower:
        upper_image = tmp_path / "lower" / "upper.img"
        with mounted(upper_image, WRITTEN + 32 * MIB, tmp_path / "upper") as upper:
            os.sync()
            with recorded(tmp_path / "out") as found:
                time.sleep(0.5)
                with (tmp_path / "upper" / "data").open("wb") as file:
                    for _ in range(WRITTEN // MIB):
                        file.write(os.urandom(MIB))
                    file.flush()
                    os.fsync(file.fileno())
                os.sync()
                time.sleep(1.0)
    (recording,) = found
    topology = recording.manifest.topology
    assert topology.leaves_of(upper) == topology.leaves_of(lower)
    assert upper not in topology.leaves_of(upper)
    mine = as_drive(recording, lower)
    result = forecast(mine)
    (drive,) = [d for d in result.devices if d.device == lower]
    assert drive.bytes_per_s * drive_seconds(mine, lower) == pytest.approx(WRITTEN, rel=0.01)
    assert upper in drive.views
    assert upper not in {d.device for d in result.devices}


def drive_seconds(recording: LoadedRecording, device: str) -> float:
    """Return the seconds between the first and the last sample of a device."""
    boottime = recording.table("device", (), {"device": device}).integers["boottime_ns"].values
    return float(boottime[-1] - boottime[0]) / 1e9


FAKE_SMARTCTL = """#!/bin/sh
# smartctl of a drive that took 600 data units since it was last asked
count=$(cat "$0.count" 2>/dev/null || echo 0)
echo $((count + 1)) > "$0.count"
cat <<END
{"device": {"name": "/dev/%s", "protocol": "NVMe"}, "model_name": "SAMSUNG MZQL2960HCJR-00A07",
 "serial_number": "S64G", "user_capacity": {"bytes": 960197124096},
 "nvme_smart_health_information_log": {"data_units_written": $((20000000 + count * 600)),
 "percentage_used": 7, "available_spare": 99, "available_spare_threshold": 10, "power_on_hours": 9000,
 "media_errors": 0, "critical_warning": 0}}
END
exit 4
"""


def whole_disk() -> str | None:
    """Return a disk of this machine; None in a container without one."""
    names = sorted(p.name for p in Path("/sys/block").glob("*")) if Path("/sys/block").is_dir() else []
    return next(
        (n for n in names if not n.startswith(("loop", "ram", "zram", "sr", "fd", "nbd", "dm-", "md"))), None
    )


@pytest.mark.skipif(whole_disk() is None, reason="needs a disk in /sys/block: left out")
def test_a_command_of_the_operator_tells_what_the_drive_took(tmp_path: Path) -> None:
    """A smartctl that ends with 4, as many do: read at both ends, rating found, meters beside each other."""
    disk = whole_disk()
    program = tmp_path / "smartctl"
    program.write_text(FAKE_SMARTCTL % disk)
    program.chmod(0o755)
    with recorded(
        tmp_path / "out", commands={f"smart_{disk}": (str(program), "--json=c", "-x", f"/dev/{disk}")}
    ) as found:
        time.sleep(1.5)
    (recording,) = found
    assert recording.table("smart").rows == 2
    alone = replace(recording, manifest=replace(recording.manifest, nodeos=(), events=()))
    result = forecast(alone)
    drives = [d for d in result.devices if d.device == disk]
    if not drives:
        pytest.skip(f"left out: {disk} is no physical drive here")
    (drive,) = drives
    assert drive.rating == 1752
    assert drive.percent_used == 7
    assert drive.written_tb == pytest.approx(20_000_600 * 512_000 / 1e12)
    told = {m.name: m.written_bytes for m in drive.meters}
    assert told["SMART host writes"] == 600 * 512_000
    assert told["device counter"] is not None


@pytest.mark.skipif(whole_disk() is None, reason="needs a disk in /sys/block: left out")
def test_an_allowed_zpool_tells_the_members_of_pools(tmp_path: Path) -> None:
    """It is asked before sampling begins, when the device graph is made."""
    program = tmp_path / "zpool"
    lines = rf"tank\t928G\t1G\t927G\t-\t-\t0%%\t0%%\t1.00x\tONLINE\t-\n\t/dev/{whole_disk()}\t928G\n"
    program.write_text(f"#!/bin/sh\nprintf '{lines}'\n")
    program.chmod(0o755)
    with recorded(tmp_path / "out", commands={"zpool": (str(program), "list", "-vHPL")}) as found:
        time.sleep(0.3)
    assert found[0].manifest.topology.pool_members["tank"] == (whole_disk(),)


def test_a_command_that_prints_no_health_log_is_said(tmp_path: Path) -> None:
    """Sudo that asks for a password prints nothing on stdout: the reason is in the recording and in wear."""
    commands = {"smart_sda": ("false",), "smart_sdb": ("/no/such/smartctl",)}
    with recorded(tmp_path / "out", commands=commands) as found:
        time.sleep(0.6)
    told = [f for f in found[0].manifest.findings if f.code == "smart-not-read"]
    assert [f.subject for f in told] == ["sda", "sdb"]
    assert "exit 1" in told[0].message
    assert "exit 127" in told[1].message
    if found[0].manifest.topology.physical():
        alone = replace(found[0], manifest=replace(found[0].manifest, nodeos=(), events=()))
        assert "smart-not-read" in {f.code for f in forecast(alone).findings}

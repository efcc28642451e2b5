"""`leapprof demo`: the whole job on this machine, with the stand-in for nodeos."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event as StopEvent
from typing import Annotated

import typer

from leapprof.cli.demo_progress import Progress, progress
from leapprof.cli.signals import terminated_like_interrupted
from leapprof.errors import ConfigError, InterruptedRunError
from leapprof.model import Frame
from leapprof.model.access import HostConfig, NodeosSelector
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.hosts import record_hosts
from leapprof.recorder.observer import NullObserver
from leapprof.recorder.planning import RecordOptions
from leapprof.recorder.session import HostSession
from leapprof.sources import open_source
from leapprof.standin.runner import Running, free_address, remove_state, settle
from leapprof.standin.state import filesystem_type
from leapprof.units import GIB, MIB, format_bytes, format_memory

NOT_ON_DISK = frozenset({"tmpfs", "ramfs", "squashfs", "nfs", "nfs4", "9p", "virtiofs"})
MODES = ("mapped", "mapped_private")
STATE_SIZE_MB = 2048
SPARE_BYTES = GIB // 2
NOTICE = (
    "This is leapprof's stand-in, no nodeos: it uses memory and disk as nodeos's state database does.\n"
    "What the report says is measured, but its windows are too short for a verdict."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPlan:
    """How long and how hard.

    Attributes:
        used_mb: MiB of state.
        transactions_per_s: of 50 rows each.
        record_s: seconds of recording by map mode. Dirty pages of ``mapped`` reach the disk about every
            30 s (vm.dirty_expire_centisecs), so its recording holds two such write-backs at least;
            mapped_private has none to wait for.
    """

    used_mb: int
    transactions_per_s: int
    record_s: dict[str, float]


QUICK = DemoPlan(used_mb=256, transactions_per_s=20, record_s={"mapped": 70.0, "mapped_private": 20.0})
WHOLE = DemoPlan(used_mb=600, transactions_per_s=20, record_s={"mapped": 230.0, "mapped_private": 230.0})


def command(
    quick: Annotated[bool, typer.Option("--quick", help="Under 2 minutes instead of about 8.")] = False,
    directory: Annotated[
        Path, typer.Option("--dir", help="Where to work: on a disk, not in memory.", metavar="DIR")
    ] = Path("leapprof-demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the paths as JSON.")] = False,
) -> None:
    """Run the stand-in in mapped, then in mapped_private, sample this machine, and write the report.

    Needs 1 to 2 GB of disk for its time; the state files are removed, recordings and report are kept.
    """
    plan = QUICK if quick else WHOLE
    root = prepared_directory(directory, plan)
    sys.stderr.write(NOTICE + "\n")
    with progress({"load": 1.0, **plan.record_s, "report": 1.0}) as shown, cleaned_up(root):
        recordings = record_phases(root, plan, shown)
        shown.begin("report")
        page, headline = write_report(root, recordings)
        shown.done("report")
    if as_json:
        found = {"format": 1, "report": str(page), "recordings": [str(path) for path in recordings]}
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    else:
        sys.stdout.write("\n".join((*headline, NOTICE, str(page))) + "\n")


def prepared_directory(directory: Path, plan: DemoPlan) -> Path:
    """Return a new dated directory on a disk with room for the state, or say what to do instead.

    Raises:
        ConfigError: the directory is not on a disk, or disk or memory are too small.
    """
    started = datetime.fromtimestamp(SystemClock().wall_ns() / 1e9, tz=UTC)
    root = directory.absolute() / f"{started:%Y-%m-%d-%H%M%S}"
    try:
        root.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(
            f"cannot be made ({error.strerror}); choose another with --dir", path=str(root)
        ) from error
    try:
        check_room(root, plan)
    except ConfigError:
        root.rmdir()
        raise
    return root


def check_room(root: Path, plan: DemoPlan, meminfo: Path = Path("/proc/meminfo")) -> None:
    """Refuse a directory that is not on a disk, and a machine without the room.

    Raises:
        ConfigError: it is so.
    """
    kind = filesystem_type(root)
    if kind in NOT_ON_DISK:
        problem = (
            f"lies on {kind}, and the demo is about writes to a disk; choose a directory on one with --dir"
        )
        raise ConfigError(problem, path=str(root))
    needed = plan.used_mb * MIB + SPARE_BYTES
    free = shutil.disk_usage(root).free
    if free < needed:
        problem = f"{format_bytes(free)} free, {format_bytes(needed)} needed; choose another with --dir"
        raise ConfigError(problem, path=str(root))
    available = _available_bytes(meminfo)
    if available is not None and available < 2 * needed:
        problem = f"{format_memory(available)} of memory available, {format_memory(2 * needed)} needed"
        raise ConfigError(problem, key="demo")


def _available_bytes(meminfo: Path) -> int | None:
    for line in meminfo.read_text(encoding="ascii", errors="replace").splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0] == "MemAvailable:" and fields[1].isdigit():
            return int(fields[1]) * 1024
    return None


@contextmanager
def cleaned_up(root: Path) -> Iterator[None]:
    """Remove the state at the end, whatever the end; Ctrl-C and SIGTERM say where the rest is kept.

    Raises:
        InterruptedRunError: Ctrl-C or SIGTERM.
    """
    with terminated_like_interrupted():
        try:
            yield
        except KeyboardInterrupt:
            raise InterruptedRunError(str(root)) from None
        finally:
            remove_state(root / "standin")


def record_phases(root: Path, plan: DemoPlan, shown: Progress) -> tuple[Path, Path]:
    """Record both phases and return their recordings.

    The state is made first, so that neither phase begins with a load. Before each phase the stand-in's dirty
    pages are written, so that those of one do not land in the other.
    """
    address = free_address()
    shown.begin("load")
    with _started(root, plan, "mapped", address, load=False) as standin:
        standin.wait_until_ready()
    settle(root / "standin")
    shown.done("load")
    found = []
    for mode, phase in zip(MODES, ("before", "after"), strict=True):
        with _started(root, plan, mode, address) as standin:
            standin.wait_until_ready()
            shown.begin(mode)
            found.append(_record(root, phase, plan.record_s[mode], standin.pid, shown.advancing(mode)))
            shown.done(mode)
        settle(root / "standin")
    return found[0], found[1]


def _started(root: Path, plan: DemoPlan, mode: str, address: str, *, load: bool = True) -> Running:
    config_dir = root / "standin-config"
    config_dir.mkdir(exist_ok=True)
    rate = plan.transactions_per_s if load else 0
    text = (
        f"database-map-mode = {mode}\nchain-state-db-size-mb = {STATE_SIZE_MB}\n"
        f"http-server-address = {address}\nused-mb = {plan.used_mb}\ntransactions-per-s = {rate}\n"
    )
    (config_dir / "config.ini").write_text(text, encoding="ascii")
    return Running(root / "standin", ("--config-dir", str(config_dir)), root / "standin.log")


def _record(root: Path, phase: str, seconds: float, pid: int, sampled: Callable[[], None]) -> Path:
    host = HostConfig(name="local", address="", transport="local")
    stop = StopEvent()
    session = HostSession(
        host=host,
        source=open_source(host),
        out=root / "recordings",
        options=RecordOptions(
            phase=phase,
            duration_s=seconds,
            selectors=(NodeosSelector(id="stand-in", kind="pid", value=str(pid)),),
        ),
        clock=SystemClock(),
        stop=stop,
        observer=_Counting(sampled),
        commands=("leapprof demo",),
    )
    result = record_hosts([session], stop)[0]
    if result.error is not None:
        raise result.error
    assert result.directory is not None
    return result.directory


class _Counting(NullObserver):
    """Counts samples for the progress."""

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance = advance

    def sampled(self, host: str, frame: Frame) -> None:
        """Advance by one."""
        self._advance()


def write_report(root: Path, recordings: tuple[Path, Path]) -> tuple[Path, tuple[str, ...]]:
    """Compare the two recordings from first to last sample; return the report's page and its headline."""
    from leapprof import report
    from leapprof.assess.compare import compare
    from leapprof.assess.load import load
    from leapprof.assess.material import CompareOptions
    from leapprof.assess.sides import WindowChoice

    before, after = recordings
    options = CompareOptions(
        title="Demo: the stand-in (no nodeos) in mapped, then in mapped_private",
        window=WindowChoice(from_s=0.0),
        repeat=(f"leapprof compare recordings/{before.name} recordings/{after.name} --window 0s..",),
    )
    comparison = compare(load(before), load(after), options)
    formats = frozenset({report.Format.HTML, report.Format.MD, report.Format.JSON, report.Format.CSV})
    paths = report.write(comparison, root / "report", formats, public=False)
    page = next(path for path in paths if path.suffix == ".html")
    return page, (comparison.title, *(f"- {sentence}" for sentence in comparison.headline))

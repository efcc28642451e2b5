"""Makes the recordings of a real nodeos below samples/ from its captures: python -m samples.make_captures CAPTURES.

Each capture goes the way of every recording: frames → wire → the replay source → the recorder's ingest → Parquet.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from leapprof.model import Section
from leapprof.nodeos.privacy import allowed_option_names
from samples.captures import Process, find_process, frames
from samples.replayed import record_frames
from samples.survey_texts import Disk, as_sections, config_section, device_texts, vm_texts

HERE = Path(__file__).parent
HOST_FACTS = "v5.0.3-mapped/after-load/proc"
VDA = Disk(
    name="vda",
    major_minor="254:0",
    virtual=True,
    mount="/",
    mount_options="rw,relatime,discard",
    read_ahead_kb=8192,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One capture to make a recording of.

    Attributes:
        capture: folder below the captures.
        name: folder below samples/.
        phase: of the recording.
        data_dir, config_dir, version: of the node, as the capture's timeline says.
        loop: device that held the node's data; None: the virtio disk.
        config: file with the node's options; None: none was kept.
    """

    capture: str
    name: str
    phase: str
    data_dir: str
    version: str
    loop: str | None = None
    config: str | None = "under-load/config.ini"


CASES = (
    Case(
        capture="v5.0.3-long-mapped",
        name="nodeos-v5-long/mapped",
        phase="before",
        data_dir="/srv/nodeos/run-long-A/data",
        version="v5.0.3",
        loop="loop0",
        config="config.ini",
    ),
    Case(
        capture="v5.0.3-long-mapped_private",
        name="nodeos-v5-long/mapped_private",
        phase="after",
        data_dir="/srv/nodeos/run-long-B/data",
        version="v5.0.3",
        loop="loop1",
        config="config.ini",
    ),
    Case(
        capture="v5.0.3-mapped",
        name="nodeos-v5/mapped",
        phase="before",
        data_dir="/srv/nodeos/run-v5.0.3-mapped/data",
        version="v5.0.3",
    ),
    Case(
        capture="v5.0.3-mapped_private",
        name="nodeos-v5/mapped_private",
        phase="after",
        data_dir="/srv/nodeos/run-v5.0.3-mapped_private/data",
        version="v5.0.3",
    ),
    Case(
        capture="v5.0.3-mapped-loop4k",
        name="nodeos-v5/mapped-4k-folios",
        phase="mapped-4k-folios",
        data_dir="/srv/nodeos/run-v5.0.3-mapped-loop4k/data",
        version="v5.0.3",
        loop="loop0",
    ),
    Case(
        capture="v5.0.3-mapped_private-swap",
        name="nodeos-v5/mapped_private-swap",
        phase="swap",
        data_dir="/srv/nodeos/run-v5.0.3-mapped_private/data",
        version="v5.0.3",
        config="before-pageout/config.ini",
    ),
    Case(
        capture="v4.0.6-mapped",
        name="nodeos-v4/mapped",
        phase="before",
        data_dir="/srv/nodeos/run-v4.0.6-mapped/data",
        version="v4.0.6",
    ),
    Case(
        capture="v4.0.6-heap",
        name="nodeos-v4/heap",
        phase="after",
        data_dir="/srv/nodeos/run-v4.0.6-heap/data",
        version="v4.0.6",
    ),
)


def _host_texts(captures: Path) -> dict[str, str]:
    facts = captures / HOST_FACTS
    version = (facts / "version").read_text()
    return {
        "/proc/cpuinfo": (facts / "cpuinfo").read_text(),
        "/proc/swaps": (facts / "swaps").read_text(),
        "/proc/version": version,
        "/proc/sys/kernel/osrelease": version.split()[2] + "\n",
        "/proc/sys/kernel/random/boot_id": "5eed0000-0000-4000-8000-000000000001\n",
    } | vm_texts((facts / "sys-vm.txt").read_text())


def _disks(case: Case) -> tuple[Disk, ...]:
    if case.loop is None:
        return (VDA,)
    number, run_dir = case.loop.removeprefix("loop"), str(Path(case.data_dir).parent)
    loop = Disk(
        name=case.loop,
        major_minor=f"7:{number}",
        mount=run_dir,
        backing_file=f"{run_dir}.img",
        read_ahead_kb=0,
    )
    return (VDA, loop)


def _process_sections(case: Case, process: Process) -> dict[str, str]:
    config_dir = case.data_dir.removesuffix("data") + "config"
    command = ("nodeos", "--config-dir", config_dir, "--data-dir", case.data_dir)
    return {process.section("cmdline"): "\0".join(command) + "\0", process.section("exe"): "/usr/bin/nodeos"}


def survey_sections(captures: Path, case: Case, process: Process) -> tuple[Section, ...]:
    """Return the survey of the captured host, as far as the capture and its description tell."""
    texts = _host_texts(captures) | device_texts(_disks(case)) | _process_sections(case, process)
    sections = as_sections(texts)
    if case.config is None:
        return sections
    config = (captures / case.capture / case.config).read_text()
    return (*sections, config_section(process.id, config, frozenset(allowed_option_names())))


def make(captures: Path, case: Case) -> None:
    """Make one recording."""
    path = captures / case.capture / "samples.gz"
    process = find_process(path, "nodeos")
    first = survey_sections(captures, case, process)
    record_frames(
        HERE / case.name,
        frames(path, process, first_sections=first),
        host="captured",
        phase=case.phase,
        interval_s=1.0,
        version=case.version,
        notes={
            "origin": f"capture {case.capture} of a real nodeos {case.version}, replayed",
            "build": "nodeos built without optimisation and without EOS VM OC: CPU figures are not a release's",
        },
    )


def main() -> None:
    """Make all of them."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m samples.make_captures CAPTURES")
    for case in CASES:
        sys.stdout.write(f"{case.name}\n")
        make(Path(sys.argv[1]), case)


if __name__ == "__main__":
    main()

"""Make recordings of the wire bytes that record_standin_abab.py left: samples/standin-abab.

    python samples/replay_standin_abab.py WIRES --out samples/standin-abab [--with-stops]

One recording a phase, ``<n>-<mode>``; mapped is the phase ``before``, mapped_private ``after``. With
``--with-stops`` each goes on, after a gap of some seconds, through the stop that ended the phase. The same
wires give the same recordings.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from leapprof.agent.frame import FrameDecoder
from leapprof.ingest.rows import FrameIngest
from leapprof.ingest.survey import read_survey
from leapprof.model import Frame, Recording
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.findings import survey_findings
from leapprof.recorder.keeper import FrameKeeper
from leapprof.recorder.observer import NullObserver
from leapprof.store import RecordingWriter

HOST = "sample-host"
NOTES = {
    "made by": "samples/record_standin_abab.py",
    "what ran": "leapprof's stand-in, no nodeos, on an ext4 loop device of its own with read-ahead off",
    "noise": "other programs used the CPUs and the disk below the loop device at the same time",
}


def read_wire(path: Path) -> tuple[FrameDecoder, list[Frame]]:
    """Return the frames of one run of the agent: the survey's, then one a second."""
    decoder = FrameDecoder(path.name)
    return decoder, decoder.feed(path.read_bytes())


def manifest_of(survey_frame: Frame, phase: str) -> Recording:
    """Return the manifest that the recorder would have begun with."""
    survey = read_survey(survey_frame, HOST)
    return Recording(
        host=survey.host,
        nodeos=survey.nodeos,
        topology=survey.topology,
        phase=phase,
        interval_s=1.0,
        started_wall_ns=None,
        ended_wall_ns=None,
        transport="local",
        cost=CostMeter(agent="python").total(),
        findings=survey_findings(HOST, survey.nodeos, survey.denied, survey_frame, "python"),
        denied=survey.denied,
        absent=survey.absent,
        commands=("python samples/record_standin_abab.py DIRECTORY --out OUT",),
        notes=NOTES,
    )


def replay(wires: Sequence[Path], directory: Path, phase: str) -> Path:
    """Write the recording of one phase: its wire, and that of its stop if there is one."""
    decoder, frames = read_wire(wires[0])
    manifest = manifest_of(frames[0], phase)
    with RecordingWriter.create(directory, manifest) as writer:
        keeper = FrameKeeper(
            writer=writer,
            observer=NullObserver(),
            cost=CostMeter(agent="python"),
            seal_every_s=3600.0,
            ingest=FrameIngest(boot_id=manifest.host.boot_id or None),
        )
        for wire in wires:
            decoder, frames = read_wire(wire)
            keeper.new_run()
            for frame in frames[1:]:
                keeper.keep(frame, frame.wall_ns)
            keeper.count_wire(decoder)
        keeper.finish()
    return directory


def main() -> int:
    """Make a recording of each phase."""
    parser = argparse.ArgumentParser(description="make recordings of wires")
    parser.add_argument("wires", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--with-stops", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for wire in sorted(arguments.wires.glob("[0-9]-*.wire")):
        if wire.stem.endswith("-stop"):
            continue
        stop = wire.with_name(f"{wire.stem}-stop.wire")
        phase = "after" if wire.stem.endswith("mapped_private") else "before"
        wires = [wire, stop] if arguments.with_stops and stop.exists() else [wire]
        print(replay(wires, arguments.out / wire.stem, phase))
    return 0


if __name__ == "__main__":
    sys.exit(main())

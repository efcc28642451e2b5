"""Frames → wire bytes → the replay source → decoder → the recorder's keeper → a sealed recording."""

import itertools
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from leapprof.agent.frame import FrameDecoder, encode_frame
from leapprof.ingest.survey import read_survey
from leapprof.model import Frame, Nodeos, Recording, SamplingCost
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.keeper import FrameKeeper
from leapprof.recorder.observer import NullObserver
from leapprof.sources.base import ChannelClosedError
from leapprof.sources.replay import ReplaySource
from leapprof.store import RecordingWriter

RUN_ID = 1


def _wire(frames: Iterable[Frame]) -> Iterator[bytes]:
    return (encode_frame(frame) for frame in frames)


def _replayed(source: ReplaySource, decoder: FrameDecoder) -> Iterator[Frame]:
    channel = source.open("")
    while True:
        try:
            data = channel.read(1.0)
        except ChannelClosedError:
            return
        yield from decoder.feed(data)


def manifest_of(
    first: Frame, host: str, *, phase: str, interval_s: float, notes: dict[str, str]
) -> Recording:
    """Return the manifest that a survey frame gives."""
    survey = read_survey(first, host)
    return Recording(
        host=survey.host,
        nodeos=survey.nodeos,
        topology=survey.topology,
        phase=phase,
        interval_s=interval_s,
        started_wall_ns=None,
        ended_wall_ns=None,
        transport="replay",
        cost=SamplingCost(agent="replay", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
        notes=notes,
    )


def record_frames(  # noqa: PLR0913 - what a manifest needs
    directory: Path,
    frames: Iterable[Frame],
    *,
    host: str,
    phase: str,
    interval_s: float,
    notes: dict[str, str],
    version: str | None = None,
    nodeos: Nodeos | None = None,
    reconstructed: str | None = None,
) -> Path:
    """Write a recording of frames in place of what the directory holds; return the directory.

    Args:
        directory: of the recording.
        frames: the first one holds the survey.
        host: name of the host.
        phase: before, after or a name.
        interval_s: usual distance of frames.
        notes: where the recording comes from.
        version: of nodeos, where its answers do not tell.
        nodeos: to take instead of the surveyed one.
        reconstructed: says from what, when nothing was measured.
    """
    if directory.exists():
        shutil.rmtree(directory)
    decoder = FrameDecoder(host)
    replayed = _replayed(ReplaySource(host, _wire(frames)), decoder)
    first = next(replayed)
    manifest = manifest_of(first, host, phase=phase, interval_s=interval_s, notes=notes)
    found = (nodeos,) if nodeos else tuple(replace(n, version=n.version or version) for n in manifest.nodeos)
    manifest = replace(manifest, nodeos=found, reconstructed=reconstructed)
    with RecordingWriter.create(directory, manifest) as writer:
        keeper = FrameKeeper(
            writer=writer, observer=NullObserver(), cost=CostMeter(agent="replay"), seal_every_s=float("inf")
        )
        for frame in itertools.chain([first], replayed):
            keeper.keep(frame, frame.wall_ns)
        keeper.count_wire(decoder)
        keeper.finish()
    return directory

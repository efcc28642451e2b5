"""What is kept of one host: each frame at once in the journal, tables at each seal, the manifest beside them."""

import threading
from dataclasses import dataclass, field, replace

from leapprof.agent.frame import FrameDecoder, encode_body
from leapprof.assess.gaps import Mark, gap_between
from leapprof.ingest.rows import FrameIngest
from leapprof.model import ClockOffset, Event, Finding, Frame, Gap, Recording
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.findings import smart_findings
from leapprof.recorder.observer import Observer
from leapprof.store import RecordingWriter, Retention
from leapprof.store.sealer import in_sealing_thread
from leapprof.store.segments import SegmentRange
from leapprof.units import NS_PER_S

_ONE_AT_A_TIME = threading.Lock()
"""The rows of an hour are unpacked to be sealed: those of one recording, not those of a hundred."""
MAX_SEQ_STEP = 10**7
"""Frames that an agent may have lost at once: eleven days at ten a second. A step beyond is that of a false number."""
MAX_OPEN_ROWS = 10**6
"""Rows that wait for a seal: an hour of a host with five nodeos and fifty drives has fewer."""
MAX_GAPS = 50_000
"""In one manifest; from there on the last one grows."""


@dataclass(slots=True, kw_only=True)
class FrameKeeper:
    """Keeps the frames of one recording.

    Attributes:
        writer: of the recording.
        observer: is told of each frame and gap.
        cost: what the sampling costs.
        seal_every_s: seconds of samples in one segment.
        first_seal_s: those in the first one, where many recordings are not to be sealed at once; None: as many.
        retention: of an always-on recording.
        follows_spool: frames may come again after a lost connection.
        held_seq: number of the last frame, as its agent counts.
    """

    writer: RecordingWriter
    observer: Observer
    cost: CostMeter
    seal_every_s: float
    first_seal_s: float | None = None
    retention: Retention | None = None
    follows_spool: bool = False
    held_seq: int = 0
    ingest: FrameIngest = field(default_factory=FrameIngest)
    _events: list[Event] = field(default_factory=list)
    _gaps: list[Gap] = field(default_factory=list)
    _offsets: list[ClockOffset] = field(default_factory=list)
    _first: Mark | None = None
    _last: Mark | None = None
    _base_seq: int | None = None
    _lost: str | None = None
    _wire_before: int = 0
    _rejected_before: int = 0

    @property
    def host(self) -> str:
        """Return the host's name."""
        return self.writer.manifest.host.name

    def keep(self, frame: Frame, received_wall_ns: int) -> None:
        """Keep one frame; its sequence number goes on across runs of the agent.

        Raises:
            StoreError: the disk refuses (DiskFullError when it is full).
        """
        if self.follows_spool and self._is_held(frame):
            return
        last_seq = self._last.seq if self._last else 0
        if self._base_seq is None or not 0 < self._base_seq + frame.seq - last_seq <= MAX_SEQ_STEP:
            self._base_seq = last_seq + 1 - frame.seq
        kept = replace(frame, seq=self._base_seq + frame.seq)
        self.writer.append(encode_body(kept), kept.seq, received_wall_ns)
        self.held_seq = frame.seq
        self.ingest.add(kept)
        self.cost.add(frame)
        self._follow(kept)
        self.observer.sampled(self.host, kept)
        if self._is_time_to_seal(kept):
            self.seal()

    def _is_time_to_seal(self, frame: Frame) -> bool:
        assert self._first is not None
        sampled_s = (frame.seq - self._first.seq + 1) * self.writer.manifest.interval_s
        due_s = self.seal_every_s if self.first_seal_s is None else self.first_seal_s
        return sampled_s >= due_s or self.ingest.rows >= MAX_OPEN_ROWS

    def _is_held(self, frame: Frame) -> bool:
        """Return whether a spool sent a frame again: it goes on from the key frame before what is held."""
        last = self._last
        return last is not None and frame.boottime_ns <= last.boottime_ns and frame.wall_ns <= last.wall_ns

    def _follow(self, frame: Frame) -> None:
        mark = Mark(
            seq=frame.seq,
            boottime_ns=frame.boottime_ns,
            wall_ns=frame.wall_ns,
            boot=self.ingest.boot,
            dropped=frame.dropped,
        )
        before, self._last = self._last, mark
        self._first = self._first or mark
        if before is not None:
            gap = gap_between(before, mark, self.writer.manifest.interval_s, self._lost)
            if gap is not None:
                self._add_gap(gap)
        if self._lost is not None:
            self._note(mark, "connection-restored", "samples arrive again")
            self._lost = None
        if self.writer.manifest.started_wall_ns is None:
            self.write_manifest(started_wall_ns=frame.wall_ns)

    def _add_gap(self, gap: Gap) -> None:
        if len(self._gaps) < MAX_GAPS:
            self._gaps.append(gap)
        else:
            self._gaps[-1] = replace(self._gaps[-1], end_ns=gap.end_ns, end_wall_ns=gap.end_wall_ns)
        self.observer.gap(self.host, gap)

    def _note(self, mark: Mark, kind: str, detail: str) -> None:
        self._events.append(
            Event(boottime_ns=mark.boottime_ns, wall_ns=mark.wall_ns, kind=kind, subject="", detail=detail)
        )

    def new_run(self) -> None:
        """Another agent takes over: it counts its frames anew."""
        self._base_seq = None
        self._wire_before, self._rejected_before = self.cost.wire_bytes, self.cost.rejected_frames
        self.cost.new_run()

    def lost(self, problem: str) -> None:
        """The connection is lost; what comes next is across a gap."""
        if self._last is not None:
            self._lost = "connection-lost"
            self._note(self._last, "connection-lost", problem)
        self.write_manifest()

    def count_wire(self, decoder: FrameDecoder) -> None:
        """Take over the byte counts of the current agent's decoder."""
        self.cost.wire_bytes = self._wire_before + decoder.bytes_received
        self.cost.rejected_frames = self._rejected_before + decoder.rejected

    def add_clock_offset(self, offset: ClockOffset) -> None:
        """Remember an offset of the host's clock."""
        self._offsets.append(offset)

    def seal(self) -> None:
        """Turn the frames since the last seal into Parquet and write the manifest.

        Raises:
            StoreError: the disk refuses; the frames stay in the journal.
        """
        if self._first is not None and self._last is not None:
            covered = SegmentRange(
                first_seq=self._first.seq,
                last_seq=self._last.seq,
                first_wall_ns=self._first.wall_ns,
                last_wall_ns=self._last.wall_ns,
            )
            self.write_manifest()
            with _ONE_AT_A_TIME:
                self.writer.seal(in_sealing_thread(self.ingest.drain), covered)
            self._first, self.first_seal_s = None, None
            self._drop_outdated()

    def _drop_outdated(self) -> None:
        if self.retention is None or self._last is None:
            return
        now_wall_ns = self._last.wall_ns
        self.writer.drop_outdated(self.retention, now_wall_ns)
        if self.retention.duration_s is not None:
            oldest_ns = now_wall_ns - round(self.retention.duration_s * NS_PER_S)
            self._gaps = [gap for gap in self._gaps if gap.end_wall_ns >= oldest_ns]

    def finish(self, *findings: Finding) -> None:
        """Seal what is left and complete the manifest.

        Raises:
            StoreError: the disk refuses; what is in the journal stays readable.
        """
        self.seal()
        ended = self._last.wall_ns if self._last else None
        found = (*self.writer.manifest.findings, *findings, *smart_findings(self.ingest.unreadable))
        self.write_manifest(ended_wall_ns=ended, findings=found)

    def write_manifest(self, **changes: object) -> None:
        """Write the manifest with what is known by now."""
        manifest: Recording = replace(
            self.writer.manifest,
            cost=self.cost.total(),
            clock_offsets=tuple(self._offsets),
            gaps=tuple(self._gaps),
            events=tuple(sorted((*self._events, *self.ingest.events()), key=lambda e: e.wall_ns)),
            denied=_union(self.writer.manifest.denied, self.ingest.denied),
            absent=_union(self.writer.manifest.absent, self.ingest.absent),
        )
        self.writer.write_manifest(replace(manifest, **changes))  # type: ignore[arg-type]  # named fields


def _union(*names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({name for group in names for name in group}))

"""A recording for reading, whatever became of its recorder: sealed tables and unsealed frames as one.

A recorder that was killed leaves frames in the journal and a manifest without end. Reading ingests those frames and
completes the manifest from the data: nothing is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from leapprof.agent.frame import decode_body
from leapprof.assess.gaps import find_gaps
from leapprof.assess.stages import with_stages
from leapprof.errors import ParseError, StoreError
from leapprof.ingest.rows import FrameIngest
from leapprof.model import Column, Event, Finding, Recording, SamplingCost, Severity, Table
from leapprof.store import StoredRecording, open_recording
from leapprof.store.reading import Where
from leapprof.store.segments import concatenate, select
from leapprof.units import NS_PER_S

KEY_COLUMNS = ("seq", "boottime_ns", "wall_ns", "boot")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedRecording:
    """A recording whose tables can be read.

    Attributes:
        path: of its directory.
        manifest: completed from the data when the recorder did not.
        stored: the sealed part.
        unsealed: tables of the frames that are not sealed, by name.
    """

    path: Path
    manifest: Recording
    stored: StoredRecording
    unsealed: Mapping[str, Table]

    @property
    def table_names(self) -> tuple[str, ...]:
        """Return the names of the tables that have rows."""
        return tuple(sorted({*self.stored.table_names, *self.unsealed}))

    def table(
        self, name: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> Table:
        """Return the rows of a table, those of one subject by time; no rows when there are none.

        Args:
            name: of the table.
            columns: integer columns wanted; None for all. Key columns (seq, boottime_ns, wall_ns, boot) and
                texts are always there; ``stage`` of nodeos is filled when it is asked for, or all are.
            where: text column → value that rows must have.

        Raises:
            StoreError: a sealed file is damaged.
        """
        return self.tables(name, columns, (where or {},))[0]

    def tables(self, name: str, columns: Sequence[str] | None, wheres: Sequence[Where]) -> tuple[Table, ...]:
        """Return what ``table`` does for each of some subjects, from one reading of the files."""
        sealed = self.stored.read_each(name, columns, wheres)
        fresh = self._fresh(name, columns, wheres)
        wants_stage = name == "nodeos" and (columns is None or "stage" in columns)
        found = []
        for i, where in enumerate(wheres):
            parts = [part[i] for part in (sealed, fresh) if part]
            table = concatenate(name, parts) if len(parts) > 1 else parts[0] if parts else _empty(name)
            found.append(with_stages(table, self, where) if wants_stage and table.rows else table)
        return tuple(found)

    def _fresh(self, name: str, columns: Sequence[str] | None, wheres: Sequence[Where]) -> tuple[Table, ...]:
        table = self.unsealed.get(name)
        if table is None:
            return ()
        if columns is not None:
            wanted = {*columns, *KEY_COLUMNS}
            table = replace(table, integers={n: c for n, c in table.integers.items() if n in wanted})
        return tuple(select(table, where) if where else table for where in wheres)


def _empty(name: str) -> Table:
    none = Column(values=np.zeros(0, dtype=np.int64), present=np.zeros(0, dtype=np.bool_))
    return Table(name=name, rows=0, integers=dict.fromkeys(KEY_COLUMNS, none), texts={})


def load(path: Path) -> LoadedRecording:
    """Open a recording: live, killed, closed or imported.

    Args:
        path: the directory that ``leapprof record`` printed.

    Raises:
        StoreError: the path is no recording, or a file of it is damaged beyond reading.
        FormatVersionError: a newer leapprof wrote it.
    """
    stored = open_recording(path)
    ingest, unreadable = _ingest(stored)
    unsealed = ingest.tables()
    loaded = LoadedRecording(path=path, manifest=stored.manifest, stored=stored, unsealed=unsealed)
    if stored.journal.damage is not None and not loaded.table("host", ()).rows:
        problem = f"{stored.journal.damage}; no sample of it can be read: restore the recording from a copy"
        raise StoreError(str(path), problem)
    findings = _findings(stored, unreadable)
    if unsealed or findings or stored.manifest.ended_wall_ns is None:
        return replace(loaded, manifest=_completed(loaded, ingest, findings))
    return loaded


def _ingest(stored: StoredRecording) -> tuple[FrameIngest, int]:
    """Return the frames that are not sealed as rows, and how many were not readable."""
    ingest: FrameIngest | None = None
    unreadable = 0
    for body in stored.frames():
        try:
            frame = decode_body(body)
        except ParseError:
            unreadable += 1
            continue
        if ingest is None:
            ingest = FrameIngest(boot=_next_boot(stored, frame.boottime_ns))
        ingest.add(frame)
    return ingest or FrameIngest(), unreadable


def _next_boot(stored: StoredRecording, boottime_ns: int) -> int:
    """Return the boot of the first unsealed frame: the last sealed one's, unless the clock began again."""
    sealed = stored.read("host", ())
    if sealed is None or not sealed.rows:
        return 0
    boot = int(sealed.integers["boot"].values[-1])
    return boot + 1 if boottime_ns < int(sealed.integers["boottime_ns"].values[-1]) else boot


def _findings(stored: StoredRecording, unreadable: int) -> tuple[Finding, ...]:
    found = []
    if stored.journal.damage is not None:
        found.append(
            Finding(
                code="journal-damaged",
                severity=Severity.WARNING,
                message=stored.journal.damage,
                hint="check the disk that holds the recording; what was read is complete up to the damage",
            )
        )
    if unreadable:
        found.append(
            Finding(
                code="frames-unreadable",
                severity=Severity.WARNING,
                message=f"{unreadable} frames of the journal are not readable and left out",
                hint="check the disk that holds the recording, or read it with the leapprof that wrote it",
            )
        )
    if stored.manifest.ended_wall_ns is None:
        found.append(
            Finding(
                code="recording-not-closed",
                severity=Severity.INFO,
                message="the recording was not closed: its recorder still runs, or was killed",
                hint="nothing is lost; what is shown ends with the last sample that was kept",
            )
        )
    return tuple(found)


def _completed(loaded: LoadedRecording, ingest: FrameIngest, findings: tuple[Finding, ...]) -> Recording:
    """Return the manifest with what its recorder would have written at the end."""
    manifest = loaded.manifest
    host = loaded.table("host", ("frames_dropped_total", "agent_cpu_ns_total", "agent_rss_bytes"))
    events = tuple(sorted({*manifest.events, *ingest.events()}, key=_when))
    completed = replace(
        manifest,
        events=events,
        findings=(*manifest.findings, *findings),
        denied=tuple(sorted({*manifest.denied, *ingest.denied})),
        absent=tuple(sorted({*manifest.absent, *ingest.absent})),
    )
    if not host.rows or manifest.ended_wall_ns is not None:
        return completed
    wall_ns = host.integers["wall_ns"].values
    started = int(wall_ns[0]) if manifest.started_wall_ns is None else manifest.started_wall_ns
    return replace(
        completed,
        started_wall_ns=started,
        ended_wall_ns=int(wall_ns[-1]),
        gaps=find_gaps(host, manifest.interval_s, events),
        cost=_cost(manifest.cost, host),
    )


def _cost(recorded: SamplingCost, host: Table) -> SamplingCost:
    """Return what the samples say of their own cost (with several runs of the agent, the dearest one)."""
    cpu_ns, rss_bytes = (_largest(host, name) for name in ("agent_cpu_ns_total", "agent_rss_bytes"))
    return replace(
        recorded,
        samples=host.rows,
        cpu_s=recorded.cpu_s if cpu_ns is None else cpu_ns / NS_PER_S,
        rss_bytes=recorded.rss_bytes if rss_bytes is None else rss_bytes,
        dropped_frames=_largest(host, "frames_dropped_total") or 0,
    )


def _largest(host: Table, name: str) -> int | None:
    column = host.integers.get(name)
    return int(column.values[column.present].max()) if column is not None and column.present.any() else None


def _when(event: Event) -> tuple[int, str, str]:
    return event.wall_ns, event.kind, event.subject

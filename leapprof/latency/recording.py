"""A probe's run as an ordinary recording: tables ``latency`` and ``host`` (the machine that probed), and a manifest."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from leapprof.latency.blocks import Blocks
from leapprof.latency.machine import CpuSampler, Moment, busy_shares, now, this_host
from leapprof.model import ClockOffset, Finding, Host, Recording, SamplingCost, Table, Topology
from leapprof.store import RecordingWriter
from leapprof.store.segments import concatenate, load_writer
from leapprof.units import NS_PER_S

TRANSPORT = "latency"
_POLL_S = 0.1
SEAL_EVERY_S = 10
"""What a kill or a full disk costs at most, beside attempts that are under way."""
SEGMENT_S = 600
"""The files of the last ten minutes are written anew at each sealing; then new ones begin, so that they stay few."""
WRITING_SHARE = 20
"""Sealings wait this many times as long as the last one took, so that writing does not disturb what is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What a recording says of how it was made.

    Attributes:
        directory: to be made.
        phase: before, after or a name.
        region: label of where the probe runs; also the host's name.
        block_s: length of a block of time.
        settings: name → text of everything that was configured; part of the facts, so that a difference shows.
        command: that repeats it.
    """

    directory: Path
    phase: str
    region: str
    block_s: float
    settings: dict[str, str]
    command: str


class RunWriter:
    """Writes one run. Use ``recorded``."""

    def __init__(self, writer: RecordingWriter, blocks: Blocks, cpu: CpuSampler, block_s: float) -> None:
        """Take over what ``recorded`` opened."""
        self._writer, self._cpu, self._block_s = writer, cpu, block_s
        self._seq = 1
        self._hosts: list[Table] = []
        self._segment: list[tuple[Table, Table]] = []
        self._segment_ns = time.monotonic_ns()
        self._due_ns = self._segment_ns + SEAL_EVERY_S * NS_PER_S
        self.blocks = blocks
        self.findings: list[Finding] = []
        self.notes: dict[str, str] = {}
        self.offsets: list[ClockOffset] = []

    def seal(self, until_ns: int) -> None:
        """Write the blocks that are complete; they survive a kill from then on."""
        self._seal(self.blocks.take(until_ns))

    def _seal(self, latency: Table) -> None:
        """Write rows beside those of the segment under way; of one that is old enough, into the next."""
        if time.monotonic_ns() - self._segment_ns >= SEGMENT_S * NS_PER_S:
            self._segment.clear()
        rows = (latency, self._take_host())
        if not any(table.rows for table in rows):
            return
        is_first = not self._segment
        self._segment.append(rows)
        tables = {
            name: concatenate(name, [row[i] for row in self._segment])
            for i, name in enumerate(("latency", "host"))
        }
        if is_first:
            self._segment_ns = time.monotonic_ns()
            self._writer.seal(tables)
        else:
            self._writer.reseal(tables)

    def _take_host(self) -> Table:
        host = self._cpu.take(self._seq)
        self._seq += host.rows
        self._hosts.append(host)
        return host

    def rewrite(self, blocks: Blocks) -> None:
        """Write the whole run anew as it is known now, with what the manifest can say already.

        For a probe whose early delays change while it goes on, because they are against the fastest so far.
        """
        self.blocks = blocks
        self._take_host()
        self._writer.reseal({"latency": blocks.take_all(now().monotonic_ns), "host": self.host_table()})
        self._write_manifest(self._writer.manifest)

    def when_due(self, write: Callable[[], None]) -> None:
        """Call what writes, where it is time to; to be called often."""
        began_ns = time.monotonic_ns()
        if began_ns < self._due_ns:
            return
        write()
        ended_ns = time.monotonic_ns()
        self._due_ns = ended_ns + max(SEAL_EVERY_S * NS_PER_S, WRITING_SHARE * (ended_ns - began_ns))

    def seal_if_due(self, timeout_s: float) -> None:
        """Seal what is complete, now and then; to be called often.

        Args:
            timeout_s: of an attempt; a block is complete when no attempt of it can be under way.
        """
        self.when_due(lambda: self.seal_complete(timeout_s))

    def seal_complete(self, timeout_s: float) -> None:
        """Seal the blocks of which no attempt can be under way, by the time-out of one."""
        self.seal(time.monotonic_ns() - round(2 * timeout_s * NS_PER_S))

    def wait(self, threads: Sequence[threading.Thread], timeout_s: float) -> None:
        """Wait until threads have ended, and seal now and then what is complete.

        Args:
            threads: that make attempts.
            timeout_s: of an attempt.
        """
        while any(thread.is_alive() for thread in threads):
            time.sleep(_POLL_S)
            self.seal_if_due(timeout_s)

    def host_table(self) -> Table:
        """Return what was sampled of this machine so far."""
        return concatenate("host", self._hosts)

    def busy_shares(self) -> list[float]:
        """Return how busy this machine's CPUs were in each block, [0, 1]."""
        return busy_shares(self.host_table(), self._block_s)

    def close_blocks(self) -> None:
        """Write what is left: no attempt is under way any more."""
        ended_ns = now().monotonic_ns
        self._cpu.close()
        self._seal(self.blocks.take_all(ended_ns))

    def finish(self) -> None:
        """Complete the manifest."""
        self.close_blocks()
        host = self.host_table()
        wall_ns = host.integers["wall_ns"].values
        manifest = self._writer.manifest
        self._write_manifest(
            replace(
                manifest,
                started_wall_ns=int(wall_ns[0]),
                ended_wall_ns=int(wall_ns[-1]),
                cost=replace(manifest.cost, samples=host.rows),
            )
        )

    def _write_manifest(self, manifest: Recording) -> None:
        self._writer.write_manifest(
            replace(
                manifest,
                findings=tuple(self.findings),
                notes={**manifest.notes, **self.notes},
                clock_offsets=tuple(self.offsets),
            )
        )


@contextmanager
def recorded(facts: RunFacts, start: Moment) -> Iterator[RunWriter]:
    """Make a recording, and complete it at the end, also when the run is interrupted.

    Raises:
        StoreError: it cannot be written.
    """
    manifest = manifest_of(facts, this_host(facts.region), start.wall_ns)
    with RecordingWriter.create(facts.directory, manifest) as writer, CpuSampler() as cpu:
        run = RunWriter(writer, Blocks(start, facts.block_s), cpu, facts.block_s)
        try:
            yield run
        finally:
            run.finish()


def manifest_of(facts: RunFacts, host: Host, started_wall_ns: int) -> Recording:
    """Return the manifest of a run that has begun on a machine."""
    settings = {f"latency_{name}": text for name, text in sorted(facts.settings.items())}
    return Recording(
        host=replace(host, facts={**host.facts, **settings, "region": facts.region}),
        nodeos=(),
        topology=Topology(),
        phase=facts.phase,
        interval_s=facts.block_s,
        started_wall_ns=started_wall_ns,
        ended_wall_ns=None,
        transport=TRANSPORT,
        cost=SamplingCost(agent=TRANSPORT, samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
        commands=(facts.command,),
    )


def start_in(seconds: float) -> Moment:
    """Return the moment that many seconds from now, when all that writing needs is loaded: not while it is measured."""
    load_writer()
    moment = now()
    return moment.at(moment.monotonic_ns + round(seconds * NS_PER_S))

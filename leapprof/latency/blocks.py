"""Delays of one probe, gathered into blocks of time: the rows of the table ``latency``."""

import threading
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.log_linear import LogLinear
from leapprof.latency.machine import Moment, column, filled, time_columns
from leapprof.latency.wire import Failure
from leapprof.model import Column, Table
from leapprof.units import NS_PER_S

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a delay is of: a probe, what it asked, and whom."""

    probe: str
    operation: str
    target: str


@dataclass(slots=True, kw_only=True)
class Block:
    """What happened to the attempts of one subject whose planned moment lies in one block of time.

    Attributes:
        delays_ns: of those that succeeded.
        failures: kind → number.
        lateness_ns: by how much the probe itself woke up late.
        longest_ns: exact, where the histogram keeps three digits.
    """

    delays_ns: LogLinear = field(default_factory=LogLinear)
    lateness_ns: LogLinear = field(default_factory=LogLinear)
    failures: dict[Failure, int] = field(default_factory=dict)
    shortest_ns: int | None = None
    longest_ns: int | None = None


class Blocks:
    """Gathers attempts of several threads; finished blocks are taken out as table rows."""

    def __init__(self, start: Moment, block_s: float) -> None:
        """Begin at a moment; what was planned before it is warm-up and not counted."""
        self._start, self._block_ns = start, round(block_s * NS_PER_S)
        self._blocks: dict[tuple[int, Subject], Block] = {}
        self._lock = threading.Lock()
        self._seq = 1
        self.whole: dict[Subject, Block] = {}

    def anew(self) -> "Blocks":
        """Return empty ones of the same start and length, for a probe that counts all of a run again."""
        return Blocks(self._start, self._block_ns / NS_PER_S)

    def succeeded(self, subject: Subject, planned_ns: int, delay_ns: int, late_ns: int = 0) -> None:
        """Count one delay.

        Args:
            subject: of the attempt.
            planned_ns: when it was planned, CLOCK_MONOTONIC.
            delay_ns: its delay.
            late_ns: by how much the probe woke up late for it.
        """
        with self._lock:
            for block in self._of(subject, planned_ns):
                block.delays_ns.record(delay_ns)
                block.lateness_ns.record(late_ns)
                block.shortest_ns = min(delay_ns, block.shortest_ns or delay_ns)
                block.longest_ns = max(delay_ns, block.longest_ns or 0)

    def failed(self, subject: Subject, planned_ns: int, failure: Failure) -> None:
        """Count one failure."""
        with self._lock:
            for block in self._of(subject, planned_ns):
                block.failures[failure] = block.failures.get(failure, 0) + 1

    def _of(self, subject: Subject, planned_ns: int) -> tuple[Block, ...]:
        number = (planned_ns - self._start.monotonic_ns) // self._block_ns
        if number < 0:
            return ()
        return (
            self._blocks.setdefault((number, subject), Block()),
            self.whole.setdefault(subject, Block()),
        )

    def take(self, until_ns: int, ended_ns: int | None = None) -> Table:
        """Return the rows of the blocks that ended by a moment of CLOCK_MONOTONIC, and forget them."""
        last = (until_ns - self._start.monotonic_ns) // self._block_ns
        with self._lock:
            done = sorted(
                (key for key in self._blocks if key[0] < last),
                key=lambda key: (key[0], key[1].probe, key[1].operation, key[1].target),
            )
            rows = [(number, subject, self._blocks.pop((number, subject))) for number, subject in done]
        table = self._table(rows, until_ns if ended_ns is None else ended_ns)
        self._seq += len(rows)
        return table

    def take_all(self, ended_ns: int) -> Table:
        """Return the rows of all blocks; the one under way ends at a moment of CLOCK_MONOTONIC."""
        with self._lock:
            last = max((number for number, _ in self._blocks), default=-1)
        return self.take(self._start.monotonic_ns + (last + 1) * self._block_ns, ended_ns)

    def _table(self, rows: list[tuple[int, Subject, Block]], ended_ns: int) -> Table:
        starts = [self._start.monotonic_ns + number * self._block_ns for number, _, _ in rows]
        lengths = [max(min(self._block_ns, ended_ns - start), 1) for start in starts]
        ends = [self._start.at(start + length) for start, length in zip(starts, lengths, strict=True)]
        subjects, blocks = [s for _, s, _ in rows], [b for _, _, b in rows]
        return Table(
            name="latency",
            rows=len(rows),
            integers={
                "seq": filled(range(self._seq, self._seq + len(rows))),
                **time_columns(ends),
                "block_ns": filled(lengths),
                **_numbers(blocks),
            },
            texts={
                "probe": text_column([s.probe for s in subjects]),
                "operation": text_column([s.operation for s in subjects]),
                "target": text_column([s.target for s in subjects]),
                "histogram": text_column([b.delays_ns.encode() for b in blocks]),
                "failures": text_column([failures_text(b.failures) for b in blocks]),
            },
        )


def _numbers(blocks: list[Block]) -> dict[str, Column]:
    """Return the columns of counts and delays."""
    quantiles = {
        f"{name}_ns": column([rounded(b.delays_ns.quantile(q)) for b in blocks])
        for name, q in QUANTILES.items()
    }
    return {
        "count": filled([b.delays_ns.total for b in blocks]),
        "errors": filled([sum(b.failures.values()) for b in blocks]),
        "timeouts": filled([b.failures.get(Failure.TIMEOUT, 0) for b in blocks]),
        "min_ns": column([b.shortest_ns for b in blocks]),
        **quantiles,
        "max_ns": column([b.longest_ns for b in blocks]),
        "late_p99_ns": column([rounded(b.lateness_ns.quantile(0.99)) for b in blocks]),
    }


def failures_text(failures: dict[Failure, int]) -> str:
    """Return ``timeout 3, refused 1``; empty for none."""
    return ", ".join(
        f"{kind} {count}" for kind, count in sorted(failures.items(), key=lambda f: (-f[1], f[0]))
    )


def rounded(value: float | None) -> int | None:
    """Return a delay in whole nanoseconds."""
    return None if value is None else round(value)


def text_column(values: list[str]) -> NDArray[np.object_]:
    """Return texts as a column."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array

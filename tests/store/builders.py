"""Small recordings for tests of the store."""

from dataclasses import replace

import numpy as np

from leapprof.model import Column, Host, Recording, SamplingCost, Table, Topology

SECOND_NS = 1_000_000_000
WALL_NS = 1_790_000_000 * SECOND_NS


def manifest(**changes: object) -> Recording:
    """Return a manifest of nothing in particular."""
    empty = Recording(
        host=Host(name="h1", boot_id="b"),
        nodeos=(),
        topology=Topology(),
        phase="before",
        interval_s=1.0,
        started_wall_ns=None,
        ended_wall_ns=None,
        transport="local",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )
    return replace(empty, **changes)  # type: ignore[arg-type]


def column(values: list[int | None]) -> Column:
    """Return a column; None is not present."""
    return Column(
        values=np.array([v or 0 for v in values], dtype=np.int64),
        present=np.array([v is not None for v in values], dtype=np.bool_),
    )


def table(name: str, first_seq: int, values: dict[str, list[int | None]], **texts: list[str | None]) -> Table:
    """Return a table with key columns, one row a second."""
    rows = len(next(iter(values.values())))
    seqs = list(range(first_seq, first_seq + rows))
    keys: dict[str, list[int | None]] = {
        "seq": list(seqs),
        "boottime_ns": [s * SECOND_NS for s in seqs],
        "wall_ns": [WALL_NS + s * SECOND_NS for s in seqs],
        "boot": [0] * rows,
    }
    return Table(
        name=name,
        rows=rows,
        integers={n: column(v) for n, v in {**keys, **values}.items()},
        texts={n: np.array(v, dtype=object) for n, v in texts.items()},
    )

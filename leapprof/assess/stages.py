"""The stage column of table nodeos, from presence and head lag (see nodeos/stages.py). Pure."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from leapprof.model import Table
from leapprof.nodeos.stages import label_stages
from leapprof.units import NS_PER_S


def with_stages(nodeos: Table, chain: Table) -> Table:
    """Return table nodeos with its stage column filled.

    A nodeos whose API never answered has no stage: presence alone does not tell syncing from live.

    Args:
        nodeos: rows of one or more nodeos.
        chain: rows of the same, with head_lag_ms.
    """
    stage = nodeos.texts.get("stage", np.full(nodeos.rows, None, dtype=object)).copy()
    ids = nodeos.texts["nodeos"]
    for one in sorted({name for name in ids if name is not None}):
        rows = np.flatnonzero(ids == one)
        lag_ms = _lag_ms(nodeos.integers["seq"].values[rows], chain, one)
        if np.isfinite(lag_ms).any():
            stage[rows] = _stages(nodeos, rows, lag_ms)
    return replace(nodeos, texts={**nodeos.texts, "stage": stage})


def _lag_ms(seq: NDArray[np.int64], chain: Table, one: str) -> NDArray[np.float64]:
    """Return the head lag of the frames with these numbers, NaN where it was not read."""
    lag_ms = np.full(seq.size, np.nan)
    column = chain.integers.get("head_lag_ms")
    if column is None or "nodeos" not in chain.texts:
        return lag_ms
    known = column.present & (chain.texts["nodeos"] == one)
    _, here, there = np.intersect1d(seq, chain.integers["seq"].values[known], return_indices=True)
    lag_ms[here] = column.values[known][there]
    return lag_ms


def _stages(nodeos: Table, rows: NDArray[np.intp], lag_ms: NDArray[np.float64]) -> NDArray[np.object_]:
    process = nodeos.integers.get("start_ticks")
    return label_stages(
        time_s=nodeos.integers["boottime_ns"].values[rows] / NS_PER_S,
        process_up=np.ones(rows.size, dtype=np.bool_),
        head_lag_ms=lag_ms,
        process_id=process.values[rows] if process is not None else None,
    )

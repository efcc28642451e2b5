"""How often intervals of quantiles of delays hold the truth, by how long the delays remember: simulated.

Log-normal delays, 50 a block of 10 s. Half of the variance of their logarithm (or another share) is a level that all
delays of a block have and that wanders (AR(1) from block to block); its memory is the time after which its
autocorrelation is 1/e. Goes through the functions that reports use. Prints the table of docs/latency.md.

    python -m benchmarks.delay_intervals [--runs 100] [--memory 180]… [--share 0.5] [--per-block 50]
"""

import argparse
import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from leapprof.analysis.batch import Span
from leapprof.analysis.log_linear import Buckets, LogLinear, merged
from leapprof.assess.delay_rows import DelayRows, quantile_estimate
from leapprof.assess.latency import PROBABILITIES
from leapprof.units import format_duration

BLOCK_S = 10
HALF_BITS = 10
SIGMA = 0.5
MEMORIES_S = (0, 60, 180, 960, 3600)
WINDOWS_S = (1260, 3600, 10_800, 43_200)
FEWER_FROM_S = 40_000


def drawn(
    rng: np.random.Generator, window_s: int, memory_s: int, share: float, per_block: int
) -> NDArray[np.float64]:
    """Return (blocks, per_block) delays, seconds; their median is 1 ms."""
    blocks = window_s // BLOCK_S
    level = np.zeros(blocks)
    if memory_s:
        kept = math.exp(-BLOCK_S / memory_s)
        steps = rng.standard_normal(blocks) * math.sqrt(1 - kept * kept)
        at = rng.standard_normal()
        for i, step in enumerate(steps):
            level[i] = at = kept * at + step
    slow = share if memory_s else 0.0
    own = rng.standard_normal((blocks, per_block))
    return 1e-3 * np.exp(SIGMA * (math.sqrt(slow) * level[:, None] + math.sqrt(1 - slow) * own))


def _buckets(value: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what log_linear.bucket_of returns, of many values at once."""
    shift = np.maximum(np.frexp(value.astype(np.float64))[1] - HALF_BITS - 1, 0)
    return (shift << HALF_BITS) + (value >> shift)


def rows_of(delays_s: NDArray[np.float64]) -> DelayRows:
    """Return delays as the blocks of a recording."""
    histograms = []
    for block in _buckets(np.rint(delays_s * 1e9).astype(np.int64)):
        found, counts = np.unique(block, return_counts=True)
        histograms.append(LogLinear(counts=dict(zip(found.tolist(), counts.tolist(), strict=True))))
    blocks = len(histograms)
    return DelayRows(
        time_s=BLOCK_S * np.arange(1, blocks + 1, dtype=np.float64),
        weight_s=np.full(blocks, float(BLOCK_S)),
        histograms=tuple(histograms),
        errors=np.zeros(blocks, dtype=np.int64),
        columns={},
        buckets=Buckets(),
    )


def held(
    rng: np.random.Generator, window_s: int, memory_s: int, share: float, per_block: int
) -> list[bool | None]:
    """Return for each quantile whether the interval of one run holds the truth; None without an interval."""
    rows = rows_of(drawn(rng, window_s, memory_s, share, per_block))
    whole = merged(h.counts for h in rows.histograms)
    span = Span(start_s=0.0, end_s=float(window_s))
    found: list[bool | None] = []
    for probability in PROBABILITIES.values():
        truth = 1e-3 * math.exp(SIGMA * norm.ppf(probability))
        interval = quantile_estimate(probability, rows, whole, span).ci95
        found.append(None if interval is None else interval.low <= truth <= interval.high)
    return found


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--memory", type=int, action="append", help="seconds; several")
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--per-block", type=int, default=50)
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    print(f"| memory, window | {' | '.join(name.removesuffix('_s') for name in PROBABILITIES)} |")
    print("|---" * (1 + len(PROBABILITIES)) + "|")
    for memory_s in asked.memory or MEMORIES_S:
        for window_s in WINDOWS_S:
            runs = asked.runs // 2 if window_s >= FEWER_FROM_S else asked.runs
            all_held = [held(rng, window_s, memory_s, asked.share, asked.per_block) for _ in range(runs)]
            cells = [_cell([run[i] for run in all_held]) for i in range(len(PROBABILITIES))]
            memory = format_duration(memory_s) if memory_s else "none"
            print(f"| {memory}, {format_duration(window_s)} | {' | '.join(cells)} |", flush=True)


def _cell(held_of_runs: list[bool | None]) -> str:
    """Return ``0.95 (given 80 %)``."""
    given = [h for h in held_of_runs if h is not None]
    share = round(100 * len(given) / len(held_of_runs))
    return f"{sum(given) / len(given):.2f} (given {share} %)" if given else "–"


if __name__ == "__main__":
    main()

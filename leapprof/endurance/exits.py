"""How much an exit writes after a given uptime, from stops that were seen.

The exit flush of `mapped_private` writes the pages that became dirty since the start (chainbase
pinnable_mapped_file.cpp, save_database_file): the longer the uptime, the more, until all pages in use are dirty.
Without soft-dirty support it writes every chunk that is not zero, however short the uptime was. Both are
``min(growth × uptime, most)``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_STOPS = 3
LEAST_SPREAD = 1.5
"""Uptimes that differ by less tell nothing about growth."""
BETTER_BY = 0.5
ALIKE = 0.05
"""Exits that differ by no more than this share of their mean do not depend on uptime."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitFit:
    """``min(growth × uptime, most)``.

    Attributes:
        bytes_per_s: growth; infinite when uptime made no difference.
        most_bytes: where it ends; infinite when no end was seen.
        squares: sum of squared residuals.
    """

    bytes_per_s: float
    most_bytes: float
    squares: float

    def at(self, uptime_s: float) -> float:
        """Return what an exit after this uptime writes."""
        grown = self.bytes_per_s * uptime_s if math.isfinite(self.bytes_per_s) else math.inf
        return min(grown, self.most_bytes)


def fit_exits(stops: Sequence[tuple[float, float]]) -> ExitFit | None:
    """Return how exit bytes grow with uptime; None below three stops, or when all had run equally long.

    Args:
        stops: uptime in seconds, bytes written by the exit.
    """
    known = sorted((uptime, size) for uptime, size in stops if uptime > 0 and size >= 0)
    if len(known) < FEWEST_STOPS or known[-1][0] < LEAST_SPREAD * known[0][0]:
        return None
    # From the plainest: no growth, then growth without an end, then both; each has to be clearly better.
    best = _fit(known, 0)
    if best.squares <= len(known) * (ALIKE * best.most_bytes) ** 2:
        return best
    for growing in (len(known), *range(1, len(known))):
        found = _fit(known, growing)
        if found.squares < BETTER_BY * best.squares:
            best = found
    return best


def _fit(stops: Sequence[tuple[float, float]], growing: int) -> ExitFit:
    """Return the fit in which the first stops were still growing and the others had reached the end."""
    first, rest = stops[:growing], stops[growing:]
    squares = sum(uptime * uptime for uptime, _ in first)
    growth = sum(uptime * size for uptime, size in first) / squares if squares else math.inf
    most = sum(size for _, size in rest) / len(rest) if rest else math.inf
    fit = ExitFit(bytes_per_s=growth, most_bytes=most, squares=0.0)
    off = sum((fit.at(uptime) - size) ** 2 for uptime, size in stops)
    return ExitFit(bytes_per_s=growth, most_bytes=most, squares=off)

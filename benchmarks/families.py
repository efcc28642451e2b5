"""Kinds of series that a node produces, with a mean that is known: what coverage is measured on."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from leapprof.analysis.verdict import Threshold

Draw = Callable[[np.random.Generator, int, float, float], NDArray[np.float64]]
"""(generator, seconds, mean, seconds since midnight) → samples of one second each."""
CPU = Threshold(absolute=0.0, relative=0.035)
WRITES = Threshold(absolute=0.0, relative=0.2)
DAY_S = 86_400


def ar1(rng: np.random.Generator, n: int, phi: float, share: float) -> NDArray[np.float64]:
    """Return a stationary AR(1) with that standard deviation."""
    noise = rng.normal(size=n) * math.sqrt(1 - phi * phi)
    value, _ = lfilter([1.0], [1.0, -phi], noise, zi=[rng.normal() * phi])
    return np.asarray(share * value)


def smooth(phi: float) -> Draw:
    """Return a CPU-like family: 15 % deviation, memory (1+phi)/(1-phi) seconds."""
    return lambda rng, n, mean, _: mean * (1 + ar1(rng, n, phi, 0.15))


def writeback(rng: np.random.Generator, n: int, mean: float, _: float) -> NDArray[np.float64]:
    """Return writes every 5 s, three times as many every 30 s, under a slow load."""
    load = np.exp(ar1(rng, n, 0.998, 0.5) - 0.125)
    at = np.arange(n) + rng.integers(0, 30)
    flush = np.where(at % 5 == 0, np.where(at % 30 == 0, 3.0, 1.0), 0.0)
    return np.asarray(mean * load * flush / (8 / 30))


def flushes(alpha: float, gap: float, top: float = 1000.0) -> Draw:
    """Return Poisson flushes of bounded-Pareto size (1 to top), each over 2 s."""
    expected = (1 / (1 - top**-alpha)) * (alpha / (alpha - 1)) * (1 - top ** (1 - alpha))

    def draw(rng: np.random.Generator, n: int, mean: float, _: float) -> NDArray[np.float64]:
        times = np.flatnonzero(rng.random(n + 2) < 1 / gap)
        u = rng.random(times.size)
        size = (-(u * top**alpha - u - top**alpha) / top**alpha) ** (-1 / alpha)
        value = np.zeros(n + 4)
        value[times] += size / 2
        value[times + 1] += size / 2
        return np.asarray(value[2 : n + 2] * mean * gap / expected)

    return draw


def rarely(sigma: float, gap: float) -> Draw:
    """Return writes of lognormal size with a mean gap in seconds between them."""

    def draw(rng: np.random.Generator, n: int, mean: float, _: float) -> NDArray[np.float64]:
        value = np.zeros(n)
        at = np.flatnonzero(rng.random(n) < 1 / gap)
        np.add.at(value, at, rng.lognormal(0, sigma, at.size))
        return np.asarray(value * mean * gap / math.exp(sigma * sigma / 2))

    return draw


def on_off(rng: np.random.Generator, n: int, mean: float, _: float) -> NDArray[np.float64]:
    """Return on and off times with Pareto(1.5) lengths: long-range dependent, no method is exact."""
    lengths = 20 * (1 - rng.random((200_000 + n) // 20)) ** (-1 / 1.5)
    at = np.searchsorted(np.cumsum(lengths), 200_000 + np.arange(n))
    state = (at + rng.integers(0, 2)) % 2
    return np.asarray(2 * mean * (state + 0.2 * rng.normal(size=n)))


def daily(rng: np.random.Generator, n: int, mean: float, clock_s: float) -> NDArray[np.float64]:
    """Return a 30 % daily swing; the truth is the daily mean, which less than a day cannot tell."""
    swing = 0.3 * np.sin(2 * np.pi * (np.arange(n) + clock_s) / DAY_S)
    return np.asarray(mean * (1 + swing + ar1(rng, n, 0.99, 0.15)))


def daily_level(clock_s: float, n: int) -> float:
    """Return the mean of `daily` over its own n seconds, as a share of the daily mean."""
    turn = 2 * math.pi / DAY_S
    return 1 + 0.3 * (math.cos(turn * clock_s) - math.cos(turn * (clock_s + n))) / (turn * n)


def uneven_days(rng: np.random.Generator, n: int, mean: float, clock_s: float) -> NDArray[np.float64]:
    """Return a daily swing of 30 % with a second peak, of days that differ by 5 % from each other."""
    at = np.arange(n) + clock_s
    day = (at // DAY_S).astype(int)
    level = 1 + 0.05 * rng.normal(size=day[-1] - day[0] + 1)[day - day[0]]
    turn = 2 * np.pi * at / DAY_S
    return np.asarray(
        mean * (level * (1 + 0.3 * np.sin(turn) + 0.1 * np.sin(2 * turn)) + ar1(rng, n, 0.99, 0.15))
    )


def modulated(rng: np.random.Generator, n: int, mean: float, _: float) -> NDArray[np.float64]:
    """Return lognormal writes, one in 120 s for 20 minutes and one in 10 s for 5 minutes, on average."""
    stays = rng.exponential(1.0, 2 * (8 + n // 750)) * np.resize([1200.0, 300.0], 2 * (8 + n // 750))
    busy = np.searchsorted(np.cumsum(stays), 3600 + np.arange(n)) % 2
    at = np.flatnonzero(rng.random(n) < np.where(busy, 1 / 10, 1 / 120))
    value = np.zeros(n)
    value[at] = rng.lognormal(-0.5, 1.0, at.size)
    return np.asarray(value * mean / (0.8 / 120 + 0.2 / 10))


def spiked(rng: np.random.Generator, n: int, mean: float, _: float) -> NDArray[np.float64]:
    """Return AR(1) of 0.97 with a spike of twice the mean for 3 s each minute."""
    spike = np.where((np.arange(n) + rng.integers(0, 60)) % 60 < 3, 2.0, 0.0)
    return np.asarray(mean * (0.9 + ar1(rng, n, 0.97, 0.15) + spike))


def heavy_arma(rng: np.random.Generator, n: int, mean: float, _: float) -> NDArray[np.float64]:
    """Return an ARMA(2,1) whose innovations have Student's t with three degrees of freedom."""
    noise = rng.standard_t(3, size=n + 2000)
    value = lfilter([1.0, 0.4], [1.0, -1.6, 0.63], noise)[2000:]
    return np.asarray(mean * (1 + 0.0045 * value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One kind of series, and how leapprof would see it.

    Attributes:
        next_day: the second arm is recorded at the same hours of the next day; else right after the first.
        of_day: it swings as `daily` does, so that a part of a day has a level of its own.
    """

    name: str
    about: str
    draw: Draw
    threshold: Threshold = WRITES
    memory_s: float = 300.0
    bursty: bool = True
    non_negative: bool = True
    next_day: bool = True
    of_day: bool = False


_cpu = partial(Family, threshold=CPU, memory_s=120.0, bursty=False)


FAMILIES = (
    _cpu(name="ar09", about="CPU-like, memory 19 s", draw=smooth(0.9)),
    _cpu(name="ar099", about="CPU-like, memory 199 s", draw=smooth(0.99)),
    _cpu(name="ar0999", about="CPU-like, memory 1,999 s", draw=smooth(0.999)),
    Family(name="wb", about="writeback every 5 and 30 s under a slow load", draw=writeback),
    Family(
        name="burst", about="flushes of heavy-tailed size (Pareto 1.5), one in 30 s", draw=flushes(1.5, 30.0)
    ),
    Family(name="rare", about="writes once in 10 minutes, lognormal", draw=rarely(1.0, 600.0)),
    _cpu(name="onoff", about="on and off, long-range dependent", draw=on_off, non_negative=False),
    _cpu(
        name="daily",
        about="30 % daily swing, one arm right after the other",
        draw=daily,
        next_day=False,
        of_day=True,
    ),
    _cpu(name="daily-same", about="30 % daily swing, the same hours of two days", draw=daily, of_day=True),
)
HELD_OUT = (
    Family(name="pareto13", about="flushes of size Pareto 1.3, one in 30 s", draw=flushes(1.3, 30.0)),
    Family(name="pareto2", about="flushes of size Pareto 2, one in 60 s", draw=flushes(2.0, 60.0)),
    Family(name="often", about="flushes of size Pareto 1.5, one in 10 s", draw=flushes(1.5, 10.0)),
    Family(name="logn15", about="flushes of lognormal size (1.5), one in 60 s", draw=rarely(1.5, 60.0)),
)
"""More kinds of bursts, looked at once, with other seeds, to choose the rule for few bursts."""
UNSEEN = (
    Family(
        name="modulated", about="lognormal writes whose rate switches between two (Markov)", draw=modulated
    ),
    _cpu(name="spiked", about="AR(1) of 0.97 with a spike each minute", draw=spiked),
    _cpu(
        name="arma", about="ARMA(2,1), innovations of Student's t with 3 degrees of freedom", draw=heavy_arma
    ),
    _cpu(name="days", about="30 % daily swing, two peaks, days that differ by 5 %", draw=uneven_days),
)
"""Nothing was chosen on these: written down before any of them was run."""

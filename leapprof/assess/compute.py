"""How each metric is computed from raw columns. Small functions; the metric table names one per metric.

CPU: ``user`` already holds ``guest`` and ``nice`` holds ``guest_nice`` (Linux account_guest_time), so neither is
added. Busy is user + nice + system + irq + softirq; idle, iowait and steal are not busy, and count only as
time. iowait and idle may go down (proc(5)); such a field counts 0 for that interval.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.quantiles import median
from leapprof.analysis.rates import CounterTotal, counter_total, level_on, level_values, rate_on
from leapprof.assess.samples import Samples
from leapprof.model import Column, Nodeos, Series
from leapprof.units import NS_PER_S, SECTOR_BYTES

USER_HZ = 100.0
"""Clock ticks a second of /proc (time(7)); the same on every architecture that runs nodeos."""
PERCENT = 100.0
US_PER_S = 1_000_000.0
MS_PER_S = 1000.0

BUSY = ("cpu_user_ticks_total", "cpu_nice_ticks_total", "cpu_system_ticks_total")
BUSY_MAYBE = ("cpu_irq_ticks_total", "cpu_softirq_ticks_total")
NOT_BUSY = ("cpu_idle_ticks_total",)
NOT_BUSY_MAYBE = ("cpu_iowait_ticks_total", "cpu_steal_ticks_total")
STEAL = "cpu_steal_ticks_total"
CPU_COLUMNS = (*BUSY, *BUSY_MAYBE, *NOT_BUSY, *NOT_BUSY_MAYBE)
OWN_CPU = ("utime_ticks_total", "stime_ticks_total")
CHILD_CPU = ("child_utime_ticks_total", "child_stime_ticks_total")
CGROUP_CPU = "cgroup_cpu_us_total"
NODEOS_CPU = (*OWN_CPU, *CHILD_CPU, CGROUP_CPU)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a computation knows beside the columns.

    Attributes:
        cpus: online CPUs of the host; None when not known.
        page_bytes: size of a page.
        nodeos: the process, for metrics of one.
        state_on_tmpfs: its state directory lies on a tmpfs.
    """

    cpus: float | None
    page_bytes: int
    nodeos: Nodeos | None = None
    state_on_tmpfs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """A series, and for a counter the column whose total holds the bytes of gaps too.

    Attributes:
        clock_s: (n,) seconds that each value covers, where the weights of the series are in proportion to something
            else (CPU ticks); their sum over a window is to be that of these.
    """

    series: Series
    counter: Column | None = None
    scale: float = 1.0
    clock_s: NDArray[np.float64] | None = None

    def total(self, samples: Samples, keep: slice) -> CounterTotal | None:
        """Return what the counter counted over the kept rows, in the metric's unit."""
        if self.counter is None:
            return None
        part = Column(values=self.counter.values[keep], present=self.counter.present[keep])
        found = counter_total(samples.time_s[keep], part, samples.breaks[keep])
        if found is None:
            return None
        return CounterTotal(
            amount=found.amount * self.scale, duration_s=found.duration_s, lower_bound=found.lower_bound
        )


def rate_of(samples: Samples, *names: str, scale: float = 1.0) -> Measured | None:
    """Return the rate of a counter or of a sum of counters."""
    column = samples.sum_of(*names)
    if column is None:
        return None
    return Measured(series=rate_on(samples.times, column, scale=scale), counter=column, scale=scale)


def level_of(samples: Samples, *names: str, scale: float = 1.0, non_negative: bool = True) -> Measured | None:
    """Return a level or the sum of levels."""
    column = samples.sum_of(*names)
    if column is None:
        return None
    value = level_values(column, scale)
    return Measured(series=level_on(samples.times, value, non_negative=non_negative))


def swap_used(samples: Samples) -> Measured | None:
    """Return SwapTotal - SwapFree: VmSwap leaves out swapped shared memory (proc(5))."""
    if not samples.has("swap_total_bytes", "swap_free_bytes"):
        return None
    total, free = samples.columns["swap_total_bytes"], samples.columns["swap_free_bytes"]
    used = Column(values=total.values - free.values, present=total.present & free.present)
    return Measured(series=level_on(samples.times, level_values(used)))


def host_cpu(samples: Samples) -> Measured | None:
    """Return the busy share of all CPUs in percent."""
    return _cpu_share(samples, (*BUSY, *BUSY_MAYBE))


def host_steal(samples: Samples) -> Measured | None:
    """Return the share of time that the hypervisor gave to others, in percent."""
    return _cpu_share(samples, (STEAL,)) if samples.has(STEAL) else None


def _cpu_share(samples: Samples, numerator: tuple[str, ...]) -> Measured | None:
    """Return the share of some fields of the cpu line in the time of all of them, in percent.

    An interval weighs by its ticks, not by its length: the mean is then the ratio of the sums of ticks. A busy host
    reads its counters late, so that intervals hold more or fewer ticks than their length would make.
    """
    if not samples.has(*BUSY, *NOT_BUSY):
        return None
    present = np.logical_and.reduce([samples.columns[n].present for n in (*BUSY, *NOT_BUSY)])
    at: slice | NDArray[np.intp] = slice(None) if present.all() else np.flatnonzero(present)
    elapsed = np.diff(samples.time_s[at])
    good = elapsed > 0
    good &= elapsed <= 3 * (median(elapsed) if elapsed.size else 0.0)
    if samples.breaks.any():
        good &= np.diff(np.cumsum(samples.breaks)[at]) == 0
    time, part = np.zeros(elapsed.size), np.zeros(elapsed.size)
    for name in (n for n in CPU_COLUMNS if samples.has(n)):
        step = np.diff(samples.columns[name].values[at])
        if name in BUSY:
            good &= step >= 0
        np.maximum(step, 0, out=step)
        time += step
        if name in numerator:
            part += step
    good &= time > 0
    part *= PERCENT
    value, weight = np.full(samples.time_s.size, np.nan), np.zeros(samples.time_s.size)
    to = slice(1, None) if isinstance(at, slice) else at[1:]
    value[to] = np.divide(part, time, out=np.full(time.size, np.nan), where=good)
    clock_s = weight.copy()
    clock_s[to] = np.where(good, elapsed, 0.0)
    weight[to] = np.where(good, time, 0.0)
    series = Series(time_s=samples.time_s, value=value, weight_s=weight)
    return Measured(series=covering(series, clock_s), clock_s=clock_s)


def covering(series: Series, clock_s: NDArray[np.float64]) -> Series:
    """Return a series whose weights are scaled so that their sum is that of the seconds of the clock."""
    weighed = float(series.weight_s.sum())
    return (
        replace(series, weight_s=series.weight_s * (float(clock_s.sum()) / weighed))
        if weighed > 0
        else series
    )


def nodeos_cpu(samples: Samples) -> Measured | None:
    """Return CPU seconds a second of nodeos and its living children.

    A child that ends takes its ticks out of the children's sum: that interval is a gap. Where no child was
    seen there is only nodeos itself. An exporter of containers may know no more than the container's CPU.
    """
    own = rate_of(samples, *OWN_CPU, scale=1 / USER_HZ)
    if own is None:
        return rate_of(samples, CGROUP_CPU, scale=1 / US_PER_S)
    children = samples.sum_of(*CHILD_CPU)
    if own is None or children is None:
        return own
    rate = rate_on(samples.times, children, scale=1 / USER_HZ).value
    ended = np.zeros(rate.size, dtype=bool)
    ended[1:] = children.present[1:] & children.present[:-1] & (np.diff(children.values) < 0)
    value = own.series.value + np.where(np.isfinite(rate), rate, 0.0)
    value[ended] = np.nan
    weight = np.where(np.isfinite(value), own.series.weight_s, 0.0)
    return Measured(series=Series(time_s=samples.time_s, value=value, weight_s=weight))


def nodeos_cpu_percent(samples: Samples, context: Context) -> Measured | None:
    """Return nodeos's share of the host's CPUs in percent."""
    measured = nodeos_cpu(samples)
    if measured is None or not context.cpus:
        return None
    factor = PERCENT / context.cpus
    return replace(measured, series=_scaled(measured.series, factor), scale=measured.scale * factor)


def main_thread_cpu(samples: Samples) -> Measured | None:
    """Return how busy the main thread is, in percent of one CPU (schedstat: nanoseconds on a CPU)."""
    return rate_of(samples, "main_runtime_ns_total", scale=PERCENT / NS_PER_S)


def state_columns(context: Context) -> tuple[str, ...] | None:
    """Return the kinds of memory that hold the chain state, by map mode; None when the mode is not known.

    mapped: file pages (shared memory on a tmpfs); mapped_private: file pages as read and anonymous ones as
    written; heap and locked: anonymous memory and huge pages (chainbase pinnable_mapped_file.cpp, Leap 5.0.3).
    The program's own heap and code are in these counters too and cannot be told apart without smaps.
    """
    mode = context.nodeos.map_mode if context.nodeos else None
    if mode == "mapped":
        return ("rss_shmem_bytes",) if context.state_on_tmpfs else ("rss_file_bytes",)
    if mode == "mapped_private":
        return ("rss_file_bytes", "rss_anon_bytes")
    if mode in {"heap", "locked"}:
        return ("rss_anon_bytes", "hugetlb_bytes")
    return None


def state_resident(samples: Samples, context: Context) -> Measured | None:
    """Return the resident memory of the kinds that hold the state; hugetlb counts where it was read."""
    names = state_columns(context)
    if names is None:
        return None
    return level_of(samples, *(n for n in names if n != "hugetlb_bytes" or samples.has(n)))


def pressure(samples: Samples, resource: str) -> Measured | None:
    """Return the share of time in which at least one task waited for a resource, in percent (PSI some)."""
    return rate_of(samples, f"{resource}_pressure_some_us_total", scale=PERCENT / US_PER_S)


def swap_flow(samples: Samples, context: Context, direction: str) -> Measured | None:
    """Return bytes a second swapped in or out."""
    return rate_of(samples, f"swap_{direction}_pages_total", scale=float(context.page_bytes))


def sectors(samples: Samples, what: str) -> Measured | None:
    """Return bytes a second from a count of 512-byte sectors."""
    return rate_of(samples, f"{what}_sectors_total", scale=float(SECTOR_BYTES))


def head_lag(samples: Samples) -> Measured | None:
    """Return how old the head block is, in seconds; clocks that differ may make it negative."""
    return level_of(samples, "head_lag_ms", scale=1 / MS_PER_S, non_negative=False)


def delay(samples: Samples, name: str) -> Measured | None:
    """Return a quantile of the delays of each block of time, in seconds."""
    return level_of(samples, name, scale=1 / NS_PER_S)


def error_percent(samples: Samples) -> Measured | None:
    """Return the share of a probe's attempts that failed in each block of time, in percent."""
    if not samples.has("count", "errors"):
        return None
    count, errors = (samples.columns[name].values for name in ("count", "errors"))
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(count + errors > 0, PERCENT * errors / (count + errors), np.nan)
    return Measured(series=level_on(samples.times, value))


def _scaled(series: Series, scale: float) -> Series:
    """Return the series times a factor."""
    return Series(
        time_s=series.time_s,
        value=series.value * scale,
        weight_s=series.weight_s,
        non_negative=series.non_negative,
    )

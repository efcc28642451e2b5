"""Batch means from the server: what a fleet needs, without its raw points crossing the wire.

A counter's mean over a batch is the difference of its values at the batch's edges by the time between the scrapes
that those edges show: two samples a batch, whatever the scrape interval. ``rate`` is not used: it extrapolates, and
not alike in every engine. A batch in which the host was booted, or in which a counter fell, is dropped. Levels are
averaged by the server. Hosts are asked for in groups, so that no answer grows with the fleet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.importers.devices import devices_of
from leapprof.importers.prom_names import ANCHORS, CPU_NAMES, Exporter
from leapprof.importers.prom_server import Server
from leapprof.importers.prom_targets import FetchRequest, Target, find_targets, grid_of, regex
from leapprof.model import BatchMeans

HOSTS_A_QUERY = 50
FEWEST_CPUS_TIME = 1e-9
LEAST_COVERED = 0.5
PERCENT = 100.0
BUSY = "user|nice|system|irq|softirq"
NO_GUEST = 'mode!~"guest.*"'
"""Guest time is within user already."""
GROUP_CPU = "namedprocess_namegroup_cpu_seconds_total"
_WRITTEN = ("node_disk_written_bytes_total", "node_disk_bytes_written")
_AVAILABLE = ("node_memory_MemAvailable_bytes", "node_memory_MemAvailable")
_SWAP_FREE = ("node_memory_SwapFree_bytes", "node_memory_SwapFree")
_SWAP_TOTAL = ("node_memory_SwapTotal_bytes", "node_memory_SwapTotal")
_BOOT_MOVES_S = 30.0
Edges = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostBatches:
    """One metric of one host: its batch means on one side of the change."""

    host: str
    metric: str
    batches: BatchMeans


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWindow:
    """Equal batches: start of the first, length and number; seconds since the epoch."""

    start_s: int
    batch_s: int
    count: int

    @property
    def end_s(self) -> int:
        """Return the end of the last batch."""
        return self.start_s + self.batch_s * self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetTargets:
    """Hosts and their targets, asked for once.

    Attributes:
        scrape_s: usual time between scrapes of the first of them.
    """

    node: dict[str, Target]
    process: dict[str, Target]
    scrape_s: float


def fleet_targets(server: Server, request: FetchRequest) -> FleetTargets:
    """Return the hosts that a selector names.

    Raises:
        NotEnoughDataError: there is none.
    """
    node: dict[str, Target] = {}
    process: dict[str, Target] = {}
    for host, targets in find_targets(server, request).items():
        for target in targets:
            if target.exporter is Exporter.NODE:
                node.setdefault(host, target)
            elif target.exporter is Exporter.PROCESS:
                process.setdefault(host, target)
    first = next(iter((node or process).values()), None)
    scrape_s = grid_of(server, first, request).scrape_s if first else 15.0
    return FleetTargets(node=node, process=process, scrape_s=scrape_s)


def fetch_batches(
    server: Server, request: FetchRequest, targets: FleetTargets, window: BatchWindow
) -> Iterator[HostBatches]:
    """Yield the batch means of every host over a window, some hosts at a time.

    Raises:
        SourceError: the server cannot be asked.
    """
    for group in _groups(targets.node):
        yield from _node_batches(_Group(server, request, group, window), targets.scrape_s)
    for group in _groups(targets.process):
        yield from _process_batches(_Group(server, request, group, window), request.process)


def _groups(targets: dict[str, Target]) -> Iterator[dict[str, Target]]:
    names = sorted(targets)
    for first in range(0, len(names), HOSTS_A_QUERY):
        yield {name: targets[name] for name in names[first : first + HOSTS_A_QUERY]}


class _Group:
    """Some hosts and a window: one question gives an array of edges for each host."""

    def __init__(
        self, server: Server, request: FetchRequest, targets: dict[str, Target], window: BatchWindow
    ) -> None:
        self._server = server
        self._window = window
        self._selector = request.selector
        self._host_of = {_instance(target): host for host, target in targets.items()}

    @property
    def window(self) -> BatchWindow:
        return self._window

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(self._host_of.values())

    def select(self, metrics: Sequence[str], more: str = "") -> str:
        """Return a selector of metrics of these hosts."""
        instances = "|".join(regex(instance) for instance in self._host_of)
        names = "|".join(metrics)
        parts = (f'__name__=~"{names}"', self._selector, f'instance=~"{instances}"', more)
        return "{" + ",".join(part for part in parts if part) + "}"

    def over_batch(self, function: str, metrics: Sequence[str]) -> str:
        """Return an aggregate over each batch, at its end; a metric has one name on a host."""
        return f"max by (instance) ({function}({self.select(metrics)}[{self._window.batch_s}s]))"

    def by_busy(self) -> str:
        """Return the sums over CPUs, busy modes apart from the others: each sample is read once."""
        every = self.select(CPU_NAMES, NO_GUEST)
        return f'sum by (instance, busy) (label_replace({every}, "busy", "yes", "mode", "{BUSY}"))'

    def ask(self, query: str, label: str = "") -> dict[tuple[str, str], Edges]:
        """Return (host, value of a label) → (count + 1,) values at the edges."""
        window = self._window
        found: dict[tuple[str, str], Edges] = {}
        for answer in self._server.over(query, window.start_s, window.end_s, window.batch_s):
            for series in answer:
                host = self._host_of.get(series.labels.get("instance", ""))
                if host is None:
                    continue
                values = found.setdefault(
                    (host, series.labels.get(label, "")), np.full(window.count + 1, np.nan)
                )
                place = np.rint((series.time_s - window.start_s) / window.batch_s).astype(np.intp)
                values[place] = np.where(np.isnan(values[place]), series.value, values[place])
        return found


def _instance(target: Target) -> str:
    return target.matchers.rpartition('instance="')[2].partition('"')[0]


def _node_batches(group: _Group, scrape_s: float) -> Iterator[HostBatches]:
    anchor = ANCHORS[Exporter.NODE]
    stamp = group.ask(f"max by (instance) (timestamp({group.select(anchor)}))")
    boot = group.ask(f"max by (instance) ({group.select(anchor)})")
    seen = group.ask(group.over_batch("count_over_time", anchor))
    cpu = group.ask(group.by_busy(), "busy")
    written = group.ask(f"max by (instance, device) ({group.select(_WRITTEN)})", "device")
    available = group.ask(group.over_batch("avg_over_time", _AVAILABLE))
    free = group.ask(group.over_batch("avg_over_time", _SWAP_FREE))
    total = group.ask(group.over_batch("avg_over_time", _SWAP_TOTAL))
    for host in group.hosts:
        key = (host, "")
        if key not in stamp:
            continue
        cover = _Cover(group.window, stamp[key], boot.get(key), seen.get(key), scrape_s)
        if (host, "yes") in cpu and key in cpu:
            busy, idle = cpu[host, "yes"], cpu[key]
            yield from cover.share(host, "host.cpu_percent", busy, busy + idle)
        drives = _drives({device: edges for (of, device), edges in written.items() if of == host})
        if drives:
            yield from cover.rate(host, "host.drive_write_bytes_per_s", drives)
        if key in available:
            yield from cover.level(host, "host.mem_available_bytes", available[key])
        if key in free and key in total:
            yield from cover.level(host, "host.swap_used_bytes", total[key] - free[key])


def _process_batches(group: _Group, process: str) -> Iterator[HostBatches]:
    stamp = group.ask(f"max by (instance) (timestamp({group.select(ANCHORS[Exporter.PROCESS])}))")
    chosen = f'groupname=~".*{regex(process)}.*"'
    cpu = group.ask(
        f"sum by (instance) (max by (instance, groupname, mode) ({group.select([GROUP_CPU], chosen)}))"
    )
    for host in group.hosts:
        key = (host, "")
        if key in stamp and key in cpu:
            cover = _Cover(group.window, stamp[key], None, None, 1.0)
            yield from cover.rate(host, "nodeos.cpu_cores", [cpu[key]])


def _drives(devices: dict[str, Edges]) -> list[Edges]:
    """Return the counters of drives: what lies on them, and paths to them, is counted there already."""
    found = devices_of(tuple(devices))
    return [devices[device.name] for device in found.topology.physical() if device.name in devices]


class _Cover:
    """Which batches of a host are whole, and how long each was between the scrapes at its edges."""

    def __init__(
        self, window: BatchWindow, stamp: Edges, boot: Edges | None, seen: Edges | None, scrape_s: float
    ) -> None:
        self._window = window
        self._elapsed_s = np.diff(stamp)
        self._whole = np.isfinite(self._elapsed_s) & (self._elapsed_s > LEAST_COVERED * window.batch_s)
        if boot is not None:
            self._whole &= ~(np.abs(np.diff(boot)) > _BOOT_MOVES_S)
        covered = np.full(window.count, float(window.batch_s))
        if seen is not None:
            covered = np.minimum(np.nan_to_num(seen[1:]) * scrape_s, window.batch_s)
        self._covered_s = covered

    def rate(self, host: str, metric: str, counters: Sequence[Edges]) -> Iterator[HostBatches]:
        """Yield the sum of some counters' rates."""
        steps = [np.diff(counter) for counter in counters]
        whole = self._whole & np.logical_and.reduce([step >= 0 for step in steps])
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.sum(steps, axis=0) / self._elapsed_s
        yield from self._batches(host, metric, mean, whole)

    def share(self, host: str, metric: str, part: Edges, every: Edges) -> Iterator[HostBatches]:
        """Yield a counter's share in another, in percent."""
        steps, time = np.diff(part), np.diff(every)
        whole = self._whole & (steps >= 0) & (time > FEWEST_CPUS_TIME)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = PERCENT * steps / time
        yield from self._batches(host, metric, mean, whole)

    def level(self, host: str, metric: str, mean: Edges) -> Iterator[HostBatches]:
        """Yield what the server averaged."""
        yield from self._batches(host, metric, mean[1:], np.isfinite(mean[1:]))

    def _batches(
        self, host: str, metric: str, mean: NDArray[np.float64], whole: NDArray[np.bool_]
    ) -> Iterator[HostBatches]:
        keep = whole & np.isfinite(mean) & (self._covered_s >= LEAST_COVERED * self._window.batch_s)
        if not keep.any():
            return
        starts = self._window.start_s + self._window.batch_s * np.arange(self._window.count, dtype=np.float64)
        yield HostBatches(
            host=host,
            metric=metric,
            batches=BatchMeans(
                start_s=starts[keep],
                batch_s=float(self._window.batch_s),
                mean=mean[keep],
                covered_s=self._covered_s[keep],
            ),
        )

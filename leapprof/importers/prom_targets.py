"""What a Prometheus-compatible server has in a stretch of time: targets by host, and how often they are scraped."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from leapprof.errors import ConfigError, NotEnoughDataError
from leapprof.importers.prom_names import ANCHORS, GROUP_LABELS, Exporter, group_of
from leapprof.importers.prom_server import Server

MAX_POINTS = 25_000
"""Evaluations a series that an import asks for; a longer stretch gets a larger step."""
SHOWN_TARGETS = 3
LOOK_S = 600
LOOKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """What is asked for.

    Attributes:
        selector: label matchers of PromQL, without braces; may be empty.
        start_s, end_s: seconds since the epoch.
        step_s: seconds between readings; None: as scraped, or what keeps an import small.
        host_label: label that names the host; None: ``instance`` without its port.
        process: text that names of process groups and containers of nodeos hold.
    """

    selector: str
    start_s: int
    end_s: int
    step_s: int | None = None
    host_label: str | None = None
    process: str = "nodeos"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One exporter of one host.

    Attributes:
        anchor: metric that tells its scrapes.
        matchers: of PromQL, the operator's selector included.
        groups: names of its process groups or containers that are nodeos.
    """

    exporter: Exporter
    host: str
    anchor: str
    matchers: str
    groups: tuple[str, ...] = ()

    def select(self, names: Iterable[str], more: str = "") -> str:
        """Return a selector of some metrics of this target."""
        alternatives = "|".join(dict.fromkeys(names))
        parts = [f'__name__=~"{alternatives}"', self.matchers, more]
        return "{" + ",".join(part for part in parts if part) + "}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Moments of evaluation.

    Attributes:
        start_s: the first, seconds since the epoch.
        step_s: seconds between them.
        count: their number; the last one shows the last scrape that was asked for.
        scrape_s: usual time between scrapes.
        from_s: scrapes before are not asked for.
        until_s: scrapes after are not asked for.
    """

    start_s: int
    step_s: int
    count: int
    scrape_s: float
    from_s: int
    until_s: int

    @property
    def end_s(self) -> int:
        """Return the last moment."""
        return self.start_s + (self.count - 1) * self.step_s


def check_request(request: FetchRequest) -> FetchRequest:
    """Return the request with its selector cleaned.

    Raises:
        ConfigError: its times or its selector make no sense.
    """
    if request.end_s <= request.start_s:
        raise ConfigError("the end is not after the start", key="--end")
    selector = request.selector.strip().removeprefix("{").removesuffix("}").strip().rstrip(",")
    if not selector.isprintable() or "{" in selector.split('"')[0]:
        raise ConfigError('is no list of label matchers such as instance=~"eos-.*"', key="--selector")
    return FetchRequest(
        selector=selector,
        start_s=request.start_s,
        end_s=request.end_s,
        step_s=request.step_s,
        host_label=request.host_label,
        process=request.process,
    )


def find_targets(server: Server, request: FetchRequest) -> dict[str, tuple[Target, ...]]:
    """Return the targets of each host that the server has in the time asked for.

    Raises:
        NotEnoughDataError: it has none.
    """
    found: dict[tuple[str, Exporter], dict[str, dict[str, set[str]]]] = {}
    matches = list(_matches(request.selector, request.process))
    for labels in server.series(matches, request.start_s, request.end_s):
        exporter = _exporter(labels.get("__name__", ""))
        if exporter is None:
            continue
        group, named = group_of(labels)
        if exporter in {Exporter.PROCESS, Exporter.CADVISOR} and request.process not in named:
            continue
        matchers = _matchers(labels, request.selector)
        of_host = found.setdefault((_host(labels, request.host_label), exporter), {})
        of_host.setdefault(matchers, {}).setdefault(labels["__name__"], set()).add(group)
    if not found:
        raise _nothing(server, request)
    hosts: dict[str, list[Target]] = {}
    for (host, exporter), by_matchers in sorted(found.items()):
        for matchers, by_name in sorted(by_matchers.items()):
            anchor = next(name for name in ANCHORS[exporter] if name in by_name)
            groups = tuple(sorted(g for g in set().union(*by_name.values()) if g))
            hosts.setdefault(host, []).append(
                Target(exporter=exporter, host=host, anchor=anchor, matchers=matchers, groups=groups)
            )
    return {host: tuple(targets) for host, targets in hosts.items()}


def _matches(selector: str, process: str) -> Iterator[str]:
    """Yield selectors of the metrics that tell targets: a host has hundreds of process groups and containers."""
    named = f'=~".*{regex(process)}.*"'
    for exporter, names in ANCHORS.items():
        for label in GROUP_LABELS.get(exporter, ("",)):
            parts = (f'__name__=~"{"|".join(names)}"', selector, label and label + named)
            yield "{" + ",".join(part for part in parts if part) + "}"


def regex(text: str) -> str:
    """Return a pattern of PromQL for a text: what is special matches itself or anything."""
    return "".join(c if c.isalnum() or c in "-_:" else "[.]" if c == "." else "." for c in text)


def _anchors(selector: str) -> str:
    """Return a selector of the metrics that tell targets."""
    names = "|".join(name for anchors in ANCHORS.values() for name in anchors)
    return "{" + ",".join(part for part in (f'__name__=~"{names}"', selector) if part) + "}"


def _nothing(server: Server, request: FetchRequest) -> NotEnoughDataError:
    """Return why nothing was found, as far as what the server has now tells: its selector, its time, or the server."""
    span = " to ".join(
        datetime.fromtimestamp(moment_s, UTC).strftime("%Y-%m-%dT%H:%MZ")
        for moment_s in (request.start_s, request.end_s)
    )
    need = "a server that scrapes one of them"
    if now := _instances(server, request.selector):
        need = f"a time of which the server has data: now it has {now}"
    elif now := _instances(server, ""):
        need = f"a selector that fits: without one the server has {now}"
    return NotEnoughDataError(
        f"{server.access.shown}, selector {{{request.selector}}}",
        f"no series of node_exporter, process-exporter, cAdvisor or nodeos from {span}",
        need,
    )


def _instances(server: Server, selector: str) -> str:
    """Return a few of the targets that the server has now; empty when it has none."""
    series = server.at(f"group by (instance) ({_anchors(selector)})")
    found = sorted(one.labels.get("instance", "") for one in series)
    more = len(found) - SHOWN_TARGETS
    return ", ".join(found[:SHOWN_TARGETS]) + (f" and {more} more" if more > 0 else "")


def _exporter(name: str) -> Exporter | None:
    return next((exporter for exporter, names in ANCHORS.items() if name in names), None)


def _host(labels: dict[str, str], label: str | None) -> str:
    if label is not None:
        return labels.get(label, "") or "unnamed"
    instance = labels.get("instance", "")
    host, colon, port = instance.rpartition(":")
    return (host.strip("[]") if colon and port.isdigit() else instance) or "unnamed"


def _matchers(labels: dict[str, str], selector: str) -> str:
    own = ",".join(f'{name}="{_quoted(labels[name])}"' for name in ("instance", "job") if name in labels)
    return ",".join(part for part in (selector, own) if part)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def grid_of(server: Server, target: Target, request: FetchRequest, step_s: int | None = None) -> Grid:
    """Return when to evaluate: as often as the target was scraped, half an interval after each scrape.

    Raises:
        NotEnoughDataError: no scrape was found.
    """
    scraped = _scrapes(server, target, request)
    if scraped.size < 2:
        raise NotEnoughDataError(
            target.host, f"no scrapes of {target.anchor}", "two scrapes in the time asked for"
        )
    steps = np.diff(scraped)
    scrape_s = float(np.median(steps[steps <= 2 * np.median(steps)]))
    step = step_s or request.step_s or _step(request.end_s - request.start_s, scrape_s)
    phase = math.floor(scraped[-1]) + max(step // 2, 1)
    start = request.start_s + (phase - request.start_s) % step
    return Grid(
        start_s=start,
        step_s=step,
        count=max((request.end_s - start) // step, 0) + 2,
        scrape_s=scrape_s,
        from_s=request.start_s,
        until_s=request.end_s,
    )


def _scrapes(server: Server, target: Target, request: FetchRequest) -> np.ndarray:
    """Return times of raw samples near the end, else somewhere in the stretch: servers keep them as scraped."""
    query = f"{target.select([target.anchor])}[{LOOK_S}s]"
    for look in range(LOOKS):
        moment = request.end_s - (request.end_s - request.start_s) * look / LOOKS
        found = server.at(query, moment)
        if found and max(s.time_s.size for s in found) >= 2:
            return max((s.time_s for s in found), key=len)
    return np.empty(0)


def _step(span_s: float, scrape_s: float) -> int:
    """Return the scrape interval in whole seconds, or the multiple that keeps the number of points bounded."""
    scrape = max(round(scrape_s), 1)
    times = math.ceil(span_s / MAX_POINTS / scrape)
    return scrape * max(times, 1)

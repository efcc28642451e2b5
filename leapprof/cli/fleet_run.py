"""What `leapprof fleet` does: differences of hosts from recordings or from a server, summarised."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from leapprof.analysis.batch import batch_length_s
from leapprof.analysis.windows import hours_covered, share_hours
from leapprof.assess.fleet import Fleet, fleet
from leapprof.assess.fleet_hosts import HostDifference, host_difference, of_comparison
from leapprof.assess.material import warning
from leapprof.cli.prometheus_options import open_server
from leapprof.cli.values import parse_duration_s, parse_time_ns
from leapprof.errors import ConfigError, NotEnoughDataError, unreadable
from leapprof.importers.prom_batches import BatchWindow, fetch_batches, fleet_targets
from leapprof.importers.prom_findings import server_findings
from leapprof.importers.prom_targets import FetchRequest, check_request
from leapprof.model import BatchMeans, Finding
from leapprof.units import NS_PER_S, format_duration

if TYPE_CHECKING:
    from leapprof.importers.prom_server import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetAnswer:
    """A fleet, what its source said beside, and the bytes of a server's answers (0 without one)."""

    fleet: Fleet
    findings: tuple[Finding, ...] = ()
    wire_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFleet:
    """What `fleet --prometheus` was asked, as it was written."""

    url: str
    selector: str
    control_selector: str | None
    change_at: str | None
    before: str
    after: str
    settle: str
    host_label: str | None
    process: str
    token_file: Path | None = None
    basic_auth_file: Path | None = None
    ca_file: Path | None = None
    timeout: str = "120s"


def fleet_of_pairs(file: Path) -> FleetAnswer:
    """Return the fleet of a file that names pairs of recordings, relative to it.

    Raises:
        ConfigError: the file is not of that form.
        NotEnoughDataError: no changed host was recorded for long enough.
    """
    differences: list[HostDifference] = []
    findings: list[Finding] = []
    for host, found in _of_pairs(file):
        differences += found
        findings += [] if found else [_too_short(host)]
    if all(one.is_control for one in differences):
        raise NotEnoughDataError(
            "fleet", "no changed host that is long enough on both sides", "20 minutes after warm-up"
        )
    return FleetAnswer(fleet=fleet(differences), findings=tuple(findings))


def _too_short(host: str) -> Finding:
    return warning(
        "host-too-short",
        f"Too short for intervals, so in no summary: {host}.",
        "Record an hour or more on both sides.",
    )


def _of_pairs(file: Path) -> Iterator[tuple[str, tuple[HostDifference, ...]]]:
    from leapprof.assess.compare import compare
    from leapprof.assess.load import load
    from leapprof.assess.material import CompareOptions

    for number, pair in enumerate(_pairs(file), start=1):
        try:
            before, after = (file.parent / str(pair[side]) for side in ("before", "after"))
        except KeyError as error:
            raise ConfigError(f"pair {number} has no {error.args[0]}", path=str(file), key="pairs") from error
        first, second = load(before), load(after)
        host = str(pair.get("host") or first.manifest.host.name)
        comparison = compare(first, second, CompareOptions(across=pair.get("across") is True))
        yield host, of_comparison(host, comparison, is_control=pair.get("control") is True)


def _pairs(file: Path) -> list[dict[str, object]]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(file, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"is no TOML: {error}", path=str(file)) from error
    pairs = document.get("pairs")
    if not isinstance(pairs, list) or not pairs or not all(isinstance(pair, dict) for pair in pairs):
        raise ConfigError("holds no [[pairs]] with before and after", path=str(file))
    return pairs


def fleet_of_server(asked: ServerFleet) -> FleetAnswer:
    """Return the fleet that a server has.

    Raises:
        ConfigError: what was asked makes no sense.
        NotEnoughDataError: the server has no hosts, or windows are too short for batches.
        SourceError: the server cannot be asked.
    """
    if asked.change_at is None:
        raise ConfigError("say when the change was made: 2024-01-22T20:00:00Z", key="--change-at")
    change_s = parse_time_ns(asked.change_at, "--change-at") // NS_PER_S
    if change_s >= datetime.now(UTC).timestamp():
        raise ConfigError("the change lies in the future", key="--change-at")
    windows = _windows(asked, change_s)
    other_hours = asked.control_selector is None and not share_hours(*map(_hours, windows))
    with open_server(
        asked.url, asked.token_file, asked.basic_auth_file, asked.ca_file, asked.timeout
    ) as server:
        differences = list(
            _of_server(server, asked, asked.selector, windows, is_control=False, other_hours=other_hours)
        )
        if asked.control_selector is not None:
            controls = _of_server(server, asked, asked.control_selector, windows, is_control=True)
            names = {d.host for d in differences}
            differences += [d for d in controls if d.host not in names]
        if not differences:
            raise NotEnoughDataError(
                "fleet", "no host with enough batches on both sides", "data on both sides of the change"
            )
        return FleetAnswer(
            fleet=fleet(differences),
            findings=(*server_findings(server), *_hours_findings(windows, other_hours=other_hours)),
            wire_bytes=server.wire_bytes,
        )


def _hours(window: BatchWindow) -> frozenset[int]:
    return hours_covered(window.start_s * NS_PER_S, window.end_s * NS_PER_S)


def _hours_findings(windows: tuple[BatchWindow, BatchWindow], *, other_hours: bool) -> Iterator[Finding]:
    """Yield that the hours of the day may have made what all hosts show: no number of hosts takes that off."""
    if other_hours:
        before, after = (", ".join(f"{hour:02d}" for hour in sorted(_hours(one))) for one in windows)
        yield warning(
            "fleet-hours-differ",
            f"Before covers the hours {before} UTC, after {after} UTC: load swings with the day, on all hosts alike.",
            "Give --control-selector, or ask for whole days with --before and --after.",
        )


def _windows(asked: ServerFleet, change_s: int) -> tuple[BatchWindow, BatchWindow]:
    """Return the batches before the change, ending there, and those after it, from when it has settled."""
    before_s = parse_duration_s(asked.before, "--before")
    settle_s = parse_duration_s(asked.settle, "--settle", may_be_zero=True)
    after_s = parse_duration_s(asked.after, "--after")
    lengths = []
    for name, span_s in (("--before", before_s), ("--after", after_s)):
        batch_s = batch_length_s(span_s)
        if batch_s is None:
            raise NotEnoughDataError(name, format_duration(span_s), "20 minutes or more")
        lengths.append(batch_s)
    batch_s = int(min(lengths))
    before, after = int(before_s // batch_s), int(after_s // batch_s)
    return (
        BatchWindow(start_s=change_s - before * batch_s, batch_s=batch_s, count=before),
        BatchWindow(start_s=change_s + int(settle_s), batch_s=batch_s, count=after),
    )


def _of_server(
    server: "Server",
    asked: ServerFleet,
    selector: str,
    windows: tuple[BatchWindow, BatchWindow],
    *,
    is_control: bool,
    other_hours: bool = False,
) -> Iterator[HostDifference]:
    before, after = windows
    request = check_request(
        FetchRequest(
            selector=selector,
            start_s=before.start_s,
            end_s=after.end_s,
            host_label=asked.host_label,
            process=asked.process,
        )
    )
    targets = fleet_targets(server, request)
    first: dict[tuple[str, str], BatchMeans] = {
        (found.host, found.metric): found.batches for found in fetch_batches(server, request, targets, before)
    }
    for found in fetch_batches(server, request, targets, after):
        mine = first.pop((found.host, found.metric), None)
        if mine is not None:
            one = host_difference(
                found.host,
                found.metric,
                mine,
                found.batches,
                is_control=is_control,
                other_hours=other_hours,
            )
            if one is not None:
                yield one

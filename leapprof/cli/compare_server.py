"""`leapprof compare --prometheus`: a server's history of one host, cut at the change."""

import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from leapprof.cli.prometheus_options import open_server
from leapprof.cli.values import parse_duration_s
from leapprof.errors import ConfigError
from leapprof.units import NS_PER_S

if TYPE_CHECKING:
    from leapprof.assess.material import CompareOptions
    from leapprof.importers.blocks import Imported
    from leapprof.model import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRequest:
    """What `compare --prometheus` was asked, as it was written."""

    url: str
    selector: str
    before: str
    after: str
    step: str | None
    host_label: str | None
    token_file: Path | None
    basic_auth_file: Path | None
    ca_file: Path | None
    timeout: str


def compare_server(
    asked: ServerRequest, change_wall_ns: int | None, options: "CompareOptions"
) -> "Comparison":
    """Return the comparison of one host's history before and after a change.

    Raises:
        ConfigError: the change is not stated or in the future, or the selector holds several hosts.
        NotEnoughDataError: the server has no data for it.
        SourceError: the server cannot be asked.
    """
    from leapprof.assess.compare import compare_cut
    from leapprof.assess.load import load
    from leapprof.importers.recording import write_recording

    imported = _fetched(asked, change_wall_ns)
    with tempfile.TemporaryDirectory(prefix="leapprof-") as directory:
        path = write_recording(imported, Path(directory), phase="", command="")
        comparison = compare_cut(load(path), change_wall_ns, options)
    known = {finding.code for finding in comparison.findings}
    more = tuple(finding for finding in imported.findings if finding.code not in known)
    return replace(comparison, findings=(*comparison.findings, *more))


def _fetched(asked: ServerRequest, change_wall_ns: int | None) -> "Imported":
    """Return the readings of the one host that the selector names."""
    from leapprof.importers.prom_targets import FetchRequest, check_request, find_targets
    from leapprof.importers.prometheus import fetch

    if change_wall_ns is None:
        raise ConfigError(
            "a server's history is cut at a stated moment: 2024-01-22T20:00:00Z", key="--change-at"
        )
    now_s = int(datetime.now(UTC).timestamp())
    change_s = change_wall_ns // NS_PER_S
    if change_s >= now_s:
        raise ConfigError("the change lies in the future", key="--change-at")
    request = check_request(
        FetchRequest(
            selector=asked.selector,
            start_s=change_s - round(parse_duration_s(asked.before, "--before")),
            end_s=min(change_s + round(parse_duration_s(asked.after, "--after")), now_s),
            step_s=None if asked.step is None else max(round(parse_duration_s(asked.step, "--step")), 1),
            host_label=asked.host_label,
        )
    )
    with open_server(
        asked.url, asked.token_file, asked.basic_auth_file, asked.ca_file, asked.timeout
    ) as server:
        hosts = sorted(find_targets(server, request))
        if len(hosts) > 1:
            raise ConfigError(
                f"matches {len(hosts)} hosts ({', '.join(hosts[:5])}{', …' if len(hosts) > 5 else ''}): name one, "
                "or compare them all with `leapprof fleet --prometheus`",
                key="--selector",
            )
        return next(iter(fetch(server, request)))

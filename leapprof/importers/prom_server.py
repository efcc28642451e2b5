"""Questions to a Prometheus-compatible server through prometheus-api-client.

The client has no default time-out, drops ``warnings`` and ``isPartial``, and raises whatever requests raises: a hook
of the session sees each answer first. Answers that are too large or too slow are asked for again in halves.
"""

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import ConfigError, ConnectError, SourceError, SourceTimeoutError, quoted
from leapprof.importers.prom_access import TENANT_VARIABLE, ServerAccess
from leapprof.importers.prom_answer import take_content

FEWEST_STEPS = 2
POINTS_A_QUERY = 5000
"""Prometheus answers at most 11,000 points a series; fewer keep an answer small in memory."""
_AS_IT_IS = {"nocache": "1", "max_source_resolution": "0s"}
"""No cached answers of VictoriaMetrics, no downsampled data of Thanos; other servers ignore both."""
_NOTICE = re.compile(rb'"(?:warnings|infos|isPartial)"')
_EDGE_BYTES = 8192
_TOO_MUCH = re.compile(
    r"too many|exceed|maximum resolution|timed? ?out|-search\.max|limit|expanding series|context deadline",
    re.I,
)
_GATEWAY_STATUS = frozenset({502, 503, 504})
_CONNECTION = re.compile(
    r"^HTTPS?Connection\(.*?\): (?:Failed to establish a new connection: )?(?:\[Errno -?\d+\] )?"
)
_TOO_MUCH_STATUS = frozenset({400, 413, 422, 429, 500, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServerSeries:
    """One series of an answer: its labels, (n,) seconds since the epoch, (n,) values."""

    labels: dict[str, str]
    time_s: NDArray[np.float64]
    value: NDArray[np.float64]


class TooMuchError(SourceError):
    """The server could not answer this much at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What the hook saw of the last answer."""

    status: int
    kind: str
    text: str


class Server:
    """A connection to a server. Use with ``with``.

    Attributes:
        warnings: what the server said beside its answers, once each.
        partial: some answer was marked as partial.
        halved: how often a question had to be asked in halves.
        wire_bytes: bytes of the answers.
        offset_s: the server's clock minus ours, by its Date header; None when it has none.
    """

    def __init__(self, access: ServerAccess) -> None:
        """Prepare; nothing is asked yet."""
        from prometheus_api_client import PrometheusConnect
        from requests import Session
        from urllib3.util.retry import Retry

        self.access = access
        self.warnings: dict[str, None] = {}
        self.partial = False
        self.halved = 0
        self.wire_bytes = 0
        self.offset_s: float | None = None
        self._last: _Answer | None = None
        session = Session()
        session.verify = str(access.ca_file) if access.ca_file else True
        session.hooks["response"].append(self._watch)
        headers = {"Authorization": f"Bearer {access.token}"} if access.token else {}
        headers |= {"X-Scope-OrgID": access.tenant} if access.tenant else {}
        self._client = PrometheusConnect(
            url=access.url,
            headers=headers,
            auth=_auth(access),
            session=session,
            timeout=access.timeout_s,
            retry=Retry(total=2, connect=2, read=False, status=0, other=0, backoff_factor=0.3),
        )

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def series(self, matches: Sequence[str], start_s: float, end_s: float) -> list[dict[str, str]]:
        """Return the label sets that exist in a stretch of time."""
        with self._translated():
            found = self._client.get_series(
                _moment(start_s), _moment(end_s), params={"match[]": list(matches)}
            )
            return [{str(k): str(v) for k, v in labels.items()} for labels in found or []]

    def at(self, query: str, time_s: float | None = None) -> list[ServerSeries]:
        """Return the answer to a query at one moment, or now: a vector, or raw samples for ``metric[10m]``."""
        moment = {} if time_s is None else {"time": f"{time_s:.3f}"}
        with self._translated():
            found = self._client.custom_query(query, params={**moment, **_AS_IT_IS})
            return [_series(item) for item in found or []]

    def over(self, query: str, start_s: int, end_s: int, step_s: int) -> Iterator[list[ServerSeries]]:
        """Yield the answers over a stretch of time, in order, each of a bounded size.

        Args:
            query: of instant vectors.
            start_s: first evaluation, seconds since the epoch.
            end_s: last evaluation.
            step_s: seconds between evaluations.
        """
        span_s = step_s * POINTS_A_QUERY
        for first in range(start_s, end_s + 1, span_s):
            yield from self._halves(query, first, min(first + span_s - step_s, end_s), step_s)

    def _halves(self, query: str, start_s: int, end_s: int, step_s: int) -> Iterator[list[ServerSeries]]:
        try:
            with self._translated():
                found = self._client.custom_query_range(
                    query, _moment(start_s), _moment(end_s), str(step_s), params=_AS_IT_IS
                )
                answer = [_series(item) for item in found or []]
        except (TooMuchError, SourceTimeoutError):
            steps = (end_s - start_s) // step_s + 1
            if steps < 2 * FEWEST_STEPS:
                raise
            self.halved += 1
            middle = start_s + steps // 2 * step_s
            yield from self._halves(query, start_s, middle - step_s, step_s)
            yield from self._halves(query, middle, end_s, step_s)
            return
        yield answer

    def _watch(self, response: Any, *_: object, **__: object) -> None:  # noqa: ANN401 - requests' hook
        content = take_content(response, self.access.shown, self.access.timeout_s)
        self.wire_bytes += len(content)
        self._last = _Answer(
            status=response.status_code,
            kind=response.headers.get("Content-Type", ""),
            text=content[:_EDGE_BYTES].decode("utf-8", "replace") if response.status_code != 200 else "",
        )
        self._see_clock(response.headers.get("Date"))
        if _NOTICE.search(content[:_EDGE_BYTES]) or _NOTICE.search(content[-_EDGE_BYTES:]):
            self._see_notices(content)

    def _see_clock(self, date: str | None) -> None:
        try:
            seen = parsedate_to_datetime(date or "").timestamp()
        except ValueError:
            return
        self.offset_s = seen - datetime.now(UTC).timestamp()

    def _see_notices(self, content: bytes) -> None:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            return
        if isinstance(answer, dict):
            self.partial |= answer.get("isPartial") is True
            for text in answer.get("warnings") or ():
                self.warnings.setdefault(str(text)[:300], None)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the client raises into our errors.

        Raises:
            SourceError: see the messages.
        """
        from prometheus_api_client.exceptions import PrometheusApiClientException
        from requests import exceptions as foreign

        name = self.access.shown
        self._last = None
        started_s = time.monotonic()
        try:
            yield
        except PrometheusApiClientException as error:
            raise self._refused() from error
        except foreign.Timeout as error:
            waited_s = max(round(time.monotonic() - started_s, 1), self.access.timeout_s)
            raise SourceTimeoutError(name, "answer", waited_s) from error
        except foreign.JSONDecodeError as error:
            raise SourceError(name, self._no_json()) from error
        except foreign.SSLError as error:
            plain = "WRONG_VERSION_NUMBER" in str(error)
            hint = "it speaks http, not https" if plain else "name the authority with --ca-file"
            raise ConnectError(name, f"TLS failed: {_reason(error)}; {hint}") from error
        except (foreign.InvalidURL, foreign.MissingSchema) as error:
            raise ConfigError(f"is no URL: {_reason(error)}", key="URL") from error
        except foreign.RequestException as error:
            raise ConnectError(name, _why_not_reached(error)) from error
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise SourceError(name, self._no_json()) from error

    def _no_json(self) -> str:
        kind = self._last.kind if self._last else ""
        what = (
            "a web page"
            if "html" in kind
            else "other JSON"
            if "json" in kind
            else quoted(kind or "something")
        )
        return (
            f"answered with {what}, not with what a Prometheus API says: give the root of the API "
            "(http://host:9090, a cluster of VictoriaMetrics: http://host:8481/select/0/prometheus)"
        )

    def _refused(self) -> SourceError:
        name, last = self.access.shown, self._last
        if last is None:
            return SourceError(name, "did not answer")
        said = _error_text(last.text)
        if last.status in {401, 403}:
            return ConnectError(name, f"refused us (HTTP {last.status}): {_way_in(said)}")
        if last.status in _GATEWAY_STATUS and "html" in last.kind:
            return SourceError(
                name, f"has a gateway before it that answered HTTP {last.status}: is the server running?"
            )
        if last.status == 404 or ("html" in last.kind and last.status < 500):
            return SourceError(name, f"HTTP {last.status} {self._no_json()}")
        if last.status in _TOO_MUCH_STATUS and _TOO_MUCH.search(said):
            return TooMuchError(name, f"could not answer this much at once: {quoted(said)}")
        return SourceError(name, f"refused the query (HTTP {last.status}): {quoted(said)}")


def _way_in(said: str) -> str:
    """Return what a server that refuses us wants, by its words."""
    if "org id" in said:
        return f"it wants a tenant; put its name into ${TENANT_VARIABLE}"
    return "the token or password is missing, wrong or expired; see --token-file and --basic-auth-file"


def _auth(access: ServerAccess) -> Any:  # noqa: ANN401 - what requests takes as auth
    """Return basic auth, or something that keeps requests from looking into ~/.netrc."""
    if access.user is not None and not access.token:
        return (access.user, access.password or "")
    return lambda request: request


def _moment(time_s: float) -> datetime:
    return datetime.fromtimestamp(time_s, UTC)


def _series(item: dict[str, Any]) -> ServerSeries:
    values = item["values"] if "values" in item else [item["value"]]
    return ServerSeries(
        labels=dict(item["metric"]),
        time_s=np.array([float(time_s) for time_s, _ in values], dtype=np.float64),
        value=np.array([float(value) for _, value in values], dtype=np.float64),
    )


def _error_text(text: str) -> str:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(text.split())
    return str(answer.get("error", "")) if isinstance(answer, dict) else text


def _innermost(error: BaseException) -> BaseException:
    """Return what requests and urllib3 wrap."""
    within = [part for part in error.args if isinstance(part, BaseException)]
    return _innermost(within[-1]) if within else error


def _why_not_reached(error: Exception) -> str:
    if isinstance(_innermost(error), HTTPException):
        return f"what answers is no HTTP: {_reason(error)}"
    return f"cannot be reached ({_reason(error)}); is it running, and are name and port right?"


def _reason(error: Exception) -> str:
    """Return the innermost reason of what requests and urllib3 wrap."""
    inner = _innermost(error)
    reason = getattr(inner, "reason", None)
    return quoted(_CONNECTION.sub("", str(reason or inner)))

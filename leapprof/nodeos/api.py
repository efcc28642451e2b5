"""Answers of nodeos's HTTP API: get_info, db_size, metrics, and the Server header.

Sources: plugins/chain_plugin, plugins/db_size_api_plugin and plugins/prometheus_plugin of Leap 4.0.6 and
5.0.3, Spring 1.0.5 to 1.2.2 (the metric names of 5.0.3 to 1.2.2 are the same). The Server header is set
since Leap 3.2 (programs/nodeos/main.cpp), and is there even on an error.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from leapprof.errors import ParseError

MAX_ANSWER_CHARS = 4_000_000
MAX_INT64 = 2**63 - 1
MAX_NAME_CHARS = 256

# An unsigned -1 printed as a double: nodeos_p2p_latency of a connection without a measurement (seen, 5.0.3).
ABSENT_METRIC = 1.844674407370955e19

METRIC_NAMES_4 = (
    "num_peers",
    "num_clients",
    "unapplied_transactions",
    "last_irreversible",
    "head_block_num",
    "dropped_trxs",
    "blocks_produced",
    "trxs_produced",
)
"""Names of Leap 4.0 that load normalisation uses; they have no prefix. All others stay on the host."""

METRIC_NAMES_5 = (
    "nodeos_info",
    "nodeos_p2p_peers",
    "nodeos_p2p_clients",
    "nodeos_p2p_failed_connections",
    "nodeos_p2p_dropped_trxs_total",
    "nodeos_cpu_usage_us_total",
    "nodeos_net_usage_us_total",
    "nodeos_last_irreversible",
    "nodeos_head_block_num",
    "nodeos_unapplied_transactions_total",
    "nodeos_trxs_produced_total",
    "nodeos_blocks_produced",
    "nodeos_trxs_incoming_total",
    "nodeos_blocks_incoming",
    "nodeos_incoming_us_total",
    "nodeos_incoming_us_block_latency",
)
"""Names of Leap 5.0 to Spring 1.2 that load normalisation uses; gauges of single peers are not among them."""

_NAMED = frozenset(METRIC_NAMES_4) | frozenset(METRIC_NAMES_5)
_SAMPLE = re.compile(
    r"([A-Za-z_:][A-Za-z0-9_:]{0,255})(?:\{([^}\n]{0,4096})\})?[ \t]+(\S{1,40})(?:[ \t]+\S{1,40})?\s*\Z"
)
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"')
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z?\Z", re.ASCII)
_SERVER = re.compile(r"nodeos/(\S{1,128})\Z", re.ASCII)
_DIGITS = re.compile(r"\d{1,19}\Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInfo:
    """The answer of /v1/chain/get_info; what an older nodeos does not say is None.

    Attributes:
        head_block, lib_block: block numbers.
        head_block_time_ms: time of the head block, milliseconds since the epoch, UTC.
        lib_block_time_ms: the same of the last irreversible block (Leap 3.2 and later).
        earliest_block: first block of the block log (Leap 3.2 and later).
        version, full_version: as nodeos names itself: ``v5.0.3``.
        chain_id: 64 hex digits.
    """

    head_block: int
    lib_block: int
    head_block_time_ms: int
    lib_block_time_ms: int | None
    earliest_block: int | None
    version: str | None
    full_version: str | None
    chain_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DbSize:
    """The answer of /v1/db_size/get: the state database, bytes; ``reclaimable_bytes`` is Spring's alone."""

    used_bytes: int
    free_bytes: int
    size_bytes: int
    reclaimable_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainMetrics:
    """What load normalisation takes from the metrics of any version; None where it has no such name."""

    head_block: int | None
    lib_block: int | None
    peers_in: int | None
    peers_out: int | None
    transactions_total: int | None
    billed_cpu_us_total: int | None
    blocks_total: int | None


def parse_get_info(text: str) -> NodeInfo:
    """Return the answer of /v1/chain/get_info.

    Raises:
        ParseError: it is not a JSON object with block numbers and a head time.
    """
    name = "get_info"
    answer = _json_object(name, text)
    return NodeInfo(
        head_block=_required(name, answer, "head_block_num"),
        lib_block=_required(name, answer, "last_irreversible_block_num"),
        head_block_time_ms=_time_ms(name, answer, "head_block_time"),
        lib_block_time_ms=(
            _time_ms(name, answer, "last_irreversible_block_time")
            if "last_irreversible_block_time" in answer
            else None
        ),
        earliest_block=_integer(name, answer, "earliest_available_block_num"),
        version=_short_text(answer, "server_version_string"),
        full_version=_short_text(answer, "server_full_version_string"),
        chain_id=_short_text(answer, "chain_id"),
    )


def parse_db_size(text: str) -> DbSize:
    """Return the answer of /v1/db_size/get; the row counts of its indices are left out.

    Raises:
        ParseError: it is not a JSON object with used, free and whole size.
    """
    name = "db_size"
    answer = _json_object(name, text)
    return DbSize(
        used_bytes=_required(name, answer, "used_bytes"),
        free_bytes=_required(name, answer, "free_bytes"),
        size_bytes=_required(name, answer, "size"),
        reclaimable_bytes=_integer(name, answer, "reclaimable_bytes"),
    )


def parse_metrics(text: str) -> dict[str, float]:
    """Return the named metrics of a Prometheus text exposition.

    Args:
        text: the answer of /v1/prometheus/metrics of Leap 4.0 or later, possibly cut to some lines.

    Returns:
        name → value for each name of the keep-lists that is there. A name with labels is
        ``name{label="value"}``, labels sorted; ``nodeos_info`` keeps no labels. A value that stands for
        "not measured" is left out.

    Raises:
        ParseError: a named metric has no readable value, or the text is too long.
    """
    if len(text) > MAX_ANSWER_CHARS:
        raise ParseError("metrics", f"at most {MAX_ANSWER_CHARS} characters")
    found: dict[str, float] = {}
    for line_no, line in enumerate(text.split("\n"), 1):
        name = line.split("{", 1)[0].split(" ", 1)[0]
        if name not in _NAMED:
            continue
        sample = _SAMPLE.match(line)
        if sample is None:
            raise ParseError("metrics", "a name, labels and a number", line=line, line_no=line_no)
        value = _number(sample[3], line, line_no)
        if value is not None:
            found[_sample_key(name, sample[2])] = value
    return found


def chain_metrics(metrics: dict[str, float]) -> ChainMetrics:
    """Return what the metrics of Leap 4.0, or of 5.0 and later, say of the chain's load.

    In ``peers_in`` are the connections that others opened (nodeos calls them clients).
    Transactions, billed CPU and blocks are the sums of produced and incoming ones.
    """
    incoming, produced = '{block_type="incoming"}', '{block_type="produced"}'
    return ChainMetrics(
        head_block=_first(metrics, "nodeos_head_block_num", "head_block_num"),
        lib_block=_first(metrics, "nodeos_last_irreversible", "last_irreversible"),
        peers_in=_first(metrics, "nodeos_p2p_clients", "num_clients"),
        peers_out=_first(metrics, "nodeos_p2p_peers", "num_peers"),
        transactions_total=_sum(metrics, "nodeos_trxs_incoming_total", "nodeos_trxs_produced_total"),
        billed_cpu_us_total=_sum(
            metrics, "nodeos_cpu_usage_us_total" + incoming, "nodeos_cpu_usage_us_total" + produced
        ),
        blocks_total=_sum(metrics, "nodeos_blocks_incoming", "nodeos_blocks_produced"),
    )


def parse_server_header(value: str) -> str | None:
    """Return the version in a Server header (``nodeos/v5.0.3``), or None when it is not nodeos's."""
    found = _SERVER.match(value.strip()) if len(value) <= MAX_NAME_CHARS else None
    return found[1] if found and found[1].isprintable() else None


def _json_object(name: str, text: str) -> dict[str, object]:
    if len(text) > MAX_ANSWER_CHARS:
        raise ParseError(name, f"at most {MAX_ANSWER_CHARS} characters")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(name, "JSON", line=text[:200]) from error
    if not isinstance(answer, dict):
        raise ParseError(name, "a JSON object", line=text[:200])
    return answer


def _integer(name: str, answer: dict[str, object], key: str) -> int | None:
    """Return an integer, which nodeos prints in quotes when it has more than 32 bits; None when absent."""
    value = answer.get(key)
    if value is None:
        return None
    if isinstance(value, str) and _DIGITS.match(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INT64:
        raise ParseError(name, f"a non-negative integer in {key}", line=str(value)[:200])
    return value


def _required(name: str, answer: dict[str, object], key: str) -> int:
    value = _integer(name, answer, key)
    if value is None:
        raise ParseError(name, f"{key}", line=", ".join(list(answer)[:10]))
    return value


def _time_ms(name: str, answer: dict[str, object], key: str) -> int:
    value = answer.get(key)
    if not isinstance(value, str) or not _TIME.match(value):
        raise ParseError(name, f"a time in {key}", line=str(value)[:200])
    try:
        moment = datetime.fromisoformat(value.rstrip("Z")).replace(tzinfo=UTC)
    except ValueError as error:
        raise ParseError(name, f"a time in {key}", line=value) from error
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)


def _short_text(answer: dict[str, object], key: str) -> str | None:
    value = answer.get(key)
    return value if isinstance(value, str) and len(value) <= MAX_NAME_CHARS and value.isprintable() else None


def _number(text: str, line: str, line_no: int) -> float | None:
    try:
        value = float(text)
    except ValueError as error:
        raise ParseError("metrics", "a number", line=line, line_no=line_no) from error
    is_measured = 0 <= value < ABSENT_METRIC  # all named ones are counts; also refuses NaN and infinity
    return value if is_measured else None


def _sample_key(name: str, labels: str | None) -> str:
    if not labels or name == "nodeos_info":
        return name
    pairs = sorted(f'{label}="{value}"' for label, value in _LABEL.findall(labels))
    return f"{name}{{{','.join(pairs)}}}"


def _first(metrics: dict[str, float], *names: str) -> int | None:
    return next((int(metrics[name]) for name in names if name in metrics), None)


def _sum(metrics: dict[str, float], *names: str) -> int | None:
    """Return the sum; None unless all are there: half a sum would look like a drop."""
    return sum(int(metrics[name]) for name in names) if all(name in metrics for name in names) else None

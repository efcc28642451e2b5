"""A row of the chain table from the HTTP answers in a frame."""

from collections.abc import Mapping

from leapprof.errors import ParseError
from leapprof.nodeos.api import chain_metrics, parse_db_size, parse_get_info, parse_metrics
from leapprof.probes.text import integer
from leapprof.units import NS_PER_MS

GET_INFO = "/v1/chain/get_info"
DB_SIZE = "/v1/db_size/get"
METRICS = "/v1/prometheus/metrics"

_HTTP_OK = 200
_MAX_METRIC = 2**63 - 1


def split_answer(text: str) -> tuple[int | None, int | None, str, str]:
    """Return status, elapsed microseconds, Server header and body of an ``http/`` section.

    Raises:
        ParseError: the first line is not ``<status> <elapsed_us> <server header>``.
    """
    first, _, body = text.partition("\n")
    words = first.split(" ", 2)
    if len(words) < 2:
        raise ParseError("http", "'<status> <elapsed_us> <server>'", line=first)
    status, elapsed_us = integer(words[0], "http", first), integer(words[1], "http", first)
    return status, elapsed_us, words[2].strip() if len(words) > 2 else "", body


def server_of(text: str) -> str:
    """Return the Server header of an ``http/`` section; empty when there is none."""
    try:
        return split_answer(text)[2]
    except ParseError:
        return ""


def chain_row(answers: Mapping[str, str | None], wall_ns: int) -> dict[str, int | None]:
    """Return the columns of one nodeos's answers.

    Args:
        answers: URL path → text of the section; None where the request failed.
        wall_ns: the host's wall clock, for the age of the head block.
    """
    row: dict[str, int | None] = {}
    errors = 0
    # Metrics first: get_info is the fresher source of what both say.
    for path in sorted(answers, key=lambda name: name == GET_INFO):
        text = answers[path]
        try:
            found = _columns(path, text, wall_ns) if text is not None else None
        except ParseError:
            found = None
        if found is None:
            errors += 1
        else:
            row |= {name: value for name, value in found.items() if value is not None}
    row["http_errors"] = errors
    return row


def _columns(path: str, text: str, wall_ns: int) -> dict[str, int | None] | None:
    status, elapsed_us, _, body = split_answer(text)
    columns: dict[str, int | None] = {}
    if path == GET_INFO:
        columns = {"http_status": status, "http_elapsed_us": elapsed_us}
    if status != _HTTP_OK:
        return columns or None
    try:
        return columns | _body_columns(path, body, wall_ns)
    except ParseError:
        return columns or None


def _body_columns(path: str, body: str, wall_ns: int) -> dict[str, int | None]:
    if path == GET_INFO:
        info = parse_get_info(body)
        return {
            "head_block": info.head_block,
            "lib_block": info.lib_block,
            "head_block_time_ms": info.head_block_time_ms,
            "head_lag_ms": wall_ns // NS_PER_MS - info.head_block_time_ms,
        }
    if path == DB_SIZE:
        size = parse_db_size(body)
        return {
            "state_used_bytes": size.used_bytes,
            "state_free_bytes": size.free_bytes,
            "state_size_bytes": size.size_bytes,
        }
    metrics = chain_metrics(parse_metrics(body))
    values = {
        "head_block": metrics.head_block,
        "lib_block": metrics.lib_block,
        "peers_in": metrics.peers_in,
        "peers_out": metrics.peers_out,
        "transactions_total": metrics.transactions_total,
        "billed_cpu_us_total": metrics.billed_cpu_us_total,
        "blocks_total": metrics.blocks_total,
    }
    return {
        name: value if value is not None and value <= _MAX_METRIC else None for name, value in values.items()
    }

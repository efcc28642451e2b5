"""Answers of nodeos's HTTP API."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ParseError
from leapprof.nodeos.api import (
    METRIC_NAMES_4,
    METRIC_NAMES_5,
    chain_metrics,
    parse_db_size,
    parse_get_info,
    parse_metrics,
    parse_server_header,
)

ANSWERS = Path(__file__).parent / "data" / "answers"


def answer(name: str) -> str:
    """Return a captured answer."""
    return (ANSWERS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("version", "head"), [("4.0.6", 496), ("5.0.3", 739)])
def test_get_info_gives_head_and_version(version, head):
    """A real answer has its head block, its time in milliseconds and the version."""
    info = parse_get_info(answer(f"get_info-{version}.json"))
    assert (info.head_block, info.lib_block, info.version) == (head, head - 1, f"v{version}")
    assert info.head_block_time_ms - info.lib_block_time_ms == 500
    assert info.earliest_block == 1


def test_get_info_of_an_old_version_lacks_what_it_does_not_say():
    """Before Leap 3.2 there is no time of the last irreversible block: it is missing, not 0."""
    info = parse_get_info(
        '{"head_block_num": 5, "last_irreversible_block_num": "4", "head_block_time": "2022-01-01T00:00:00.500"}'
    )
    assert (info.lib_block, info.lib_block_time_ms, info.earliest_block, info.version) == (
        4,
        None,
        None,
        None,
    )


@pytest.mark.parametrize("version", ["4.0.6", "5.0.3"])
def test_db_size_adds_up(version):
    """Used and free bytes are the size of a real state, but for its header."""
    size = parse_db_size(answer(f"db_size-{version}.json"))
    assert size.used_bytes + size.free_bytes == size.size_bytes
    assert size.reclaimable_bytes is None


def test_metrics_of_leap_4_have_no_prefix():
    """The 4.0 exposition gives its named metrics, and the connections in both directions."""
    metrics = parse_metrics(answer("metrics-4.0.6.txt"))
    assert set(metrics) == set(METRIC_NAMES_4)
    chain = chain_metrics(metrics)
    assert (chain.head_block, chain.peers_in, chain.peers_out) == (496, 2, 0)
    assert chain.transactions_total is None


def test_metrics_of_leap_5_are_summed_for_the_load():
    """The 5.0 exposition gives transactions, billed CPU and blocks of both block types."""
    chain = chain_metrics(parse_metrics(answer("metrics-5.0.3.txt")))
    assert (chain.head_block, chain.lib_block, chain.peers_in) == (739, 738, 2)
    assert (chain.transactions_total, chain.billed_cpu_us_total, chain.blocks_total) == (9567, 5664925, 617)


def test_gauges_of_single_peers_stay_out():
    """Nothing that names a connection or an address is among the named metrics."""
    metrics = parse_metrics(answer("metrics-5.0.3.txt"))
    assert not any("connid" in name or "address" in name for name in metrics)
    assert {name.split("{")[0] for name in metrics} <= set(METRIC_NAMES_5)


@pytest.mark.parametrize("value", ["1.844674407370955e+19", "1.8446744073709552e+19", "NaN", "+Inf", "-1"])
def test_a_value_that_stands_for_nothing_is_missing(value):
    """An unsigned -1 printed as a double is absent, and so is what is no count."""
    assert parse_metrics(f"nodeos_p2p_peers {value}\n") == {}


def test_labels_are_sorted():
    """The key of a sample does not depend on the order of its labels."""
    one = parse_metrics('nodeos_cpu_usage_us_total{b="2",a="1"} 3')
    assert one == {'nodeos_cpu_usage_us_total{a="1",b="2"}': 3.0}


@pytest.mark.parametrize(
    ("header", "version"),
    [("nodeos/v5.0.3", "v5.0.3"), (" nodeos/v5.0.1wax01 ", "v5.0.1wax01"), ("nginx", None), ("", None)],
)
def test_server_header_names_the_version(header, version):
    """The Server header of nodeos holds its version; any other server's none."""
    assert parse_server_header(header) == version


@pytest.mark.parametrize("parse", [parse_get_info, parse_db_size])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        "{}",
        '{"head_block_num": -1}',
        '{"used_bytes": "x"}',
        '{"used_bytes": ' + "9" * 5000,
    ],
)
def test_a_wrong_answer_is_a_parse_error(parse, text):
    """What is no such answer is refused with a parse error, never with anything else."""
    with pytest.raises(ParseError):
        parse(text)


def test_a_time_outside_the_calendar_is_a_parse_error():
    """A time that no calendar has is refused."""
    text = answer("get_info-5.0.3.json").replace("2026-11-30T14:52:41.500", "2026-13-30T14:52:41.500")
    with pytest.raises(ParseError):
        parse_get_info(text)


@given(st.text())
def test_any_text_gives_metrics_or_a_parse_error(text):
    """No text makes the reader of metrics raise anything but a parse error."""
    for line in (text, f"nodeos_p2p_peers{text}", f"nodeos_cpu_usage_us_total{{{text}}} 1"):
        try:
            parse_metrics(line)
        except ParseError:
            continue


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda c: st.lists(c, max_size=3)))
def test_any_json_gives_an_answer_or_a_parse_error(value):
    """No JSON value in a field makes the readers raise anything but a parse error."""
    import json

    document = json.dumps(
        {"head_block_num": 1, "last_irreversible_block_num": value, "head_block_time": value}
    )
    for parse in (parse_get_info, parse_db_size):
        try:
            parse(document)
        except ParseError:
            continue

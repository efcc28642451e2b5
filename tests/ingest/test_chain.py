"""Rows of the chain table from HTTP answers."""

import json

from hypothesis import given
from hypothesis import strategies as st

from leapprof.ingest.chain import DB_SIZE, GET_INFO, METRICS, chain_row

WALL_NS = 1_796_050_603_500_000_000
HEAD_TIME_MS = 1_796_050_603_000
INFO = json.dumps(
    {
        "head_block_num": 1222,
        "last_irreversible_block_num": 1221,
        "head_block_time": "2026-11-30T14:56:43.000",
        "server_version_string": "v5.0.3",
    }
)
SIZE = json.dumps({"free_bytes": 100, "used_bytes": 900, "size": 1000, "indices": []})
METRICS_5 = """nodeos_p2p_peers 3
nodeos_p2p_clients 2
nodeos_head_block_num 1220
nodeos_cpu_usage_us_total{block_type="incoming"} 10
nodeos_cpu_usage_us_total{block_type="produced"} 5
nodeos_trxs_incoming_total 7
nodeos_trxs_produced_total 1
"""
METRICS_4 = "num_peers 3\nnum_clients 2\nhead_block_num 1220\nlast_irreversible 1219\n"


def answer(body: str, status: int = 200) -> str:
    """Return the text of an http section."""
    return f"{status} 4337 nodeos/v5.0.3\n{body}"


def test_answers_of_one_tick_become_one_row() -> None:
    """get_info, db_size and metrics fill one row; get_info is the fresher source of the head."""
    row = chain_row({GET_INFO: answer(INFO), DB_SIZE: answer(SIZE), METRICS: answer(METRICS_5)}, WALL_NS)
    assert row["head_block"] == 1222
    assert row["head_block_time_ms"] == HEAD_TIME_MS
    assert row["head_lag_ms"] == 500
    assert row["state_used_bytes"] == 900
    assert (row["peers_in"], row["peers_out"]) == (2, 3)
    assert row["billed_cpu_us_total"] == 15
    assert row["transactions_total"] == 8
    assert (row["http_status"], row["http_elapsed_us"], row["http_errors"]) == (200, 4337, 0)


def test_metrics_of_leap_4_have_names_without_prefix() -> None:
    """Head and peers come from the old names, too."""
    row = chain_row({METRICS: answer(METRICS_4)}, WALL_NS)
    assert (row["head_block"], row["lib_block"], row["peers_out"]) == (1220, 1219, 3)


def test_failed_request_is_counted_and_leaves_columns_out() -> None:
    """No answer is no value."""
    row = chain_row({GET_INFO: None, DB_SIZE: answer("Not Found", 404)}, WALL_NS)
    assert row == {"http_errors": 2}


def test_error_status_of_get_info_is_kept() -> None:
    """A nodeos that answers 500 is told apart from one that does not answer."""
    row = chain_row({GET_INFO: answer("{}", 500)}, WALL_NS)
    assert (row["http_status"], row.get("head_block")) == (500, None)


@given(st.sampled_from([GET_INFO, DB_SIZE, METRICS, "/other"]), st.text())
def test_any_answer_gives_a_row(path: str, text: str) -> None:
    """No text breaks the row."""
    assert "http_errors" in chain_row({path: text, GET_INFO: answer(text)}, WALL_NS)

"""State history messages: captured ones of nodeos 5.0.3 are read, everything else is refused."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ParseError
from leapprof.latency.ship import STATUS_REQUEST, ack_request, blocks_request, parse_block, parse_status
from tests.support.ship_server import CAPTURED, frame


def test_captured_blocks_are_read():
    """Number, id and the stamp of the block's header."""
    blocks = [parse_block(base64.b64decode(text)) for text in CAPTURED["blocks"]]
    assert [b.number for b in blocks[:2]] == [1, 2]
    assert all(b.key[:4] == b.number.to_bytes(4, "big") for b in blocks[1:])
    live = blocks[2:]
    assert [b.number for b in live] == [live[0].number + i for i in range(3)]
    assert [b.stamp_ns - live[0].stamp_ns for b in live] == [0, 500_000_000, 1_000_000_000]
    assert parse_block(base64.b64decode(CAPTURED["full"])).number == 2


def test_the_captured_status_is_read():
    """Its head block."""
    assert parse_status(base64.b64decode(CAPTURED["status"])) == 49


def test_requests_are_those_that_nodeos_took():
    """As captured, but for the start block and the messages in flight."""
    captured = [base64.b64decode(text) for text in CAPTURED["requests"]]
    assert captured[0] == STATUS_REQUEST
    ours = blocks_request(1)
    assert len(ours) == len(captured[1])
    assert (ours[:9], ours[13:]) == (captured[1][:9], captured[1][13:])
    assert captured[2] == ack_request(1)


def test_a_restamped_frame_is_a_frame():
    """What the test server sends."""
    message = parse_block(frame(77, slot=4, fork=1))
    assert message.number == 77
    assert message.stamp_ns == 946_684_800 * 10**9 + 2 * 10**9


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_parse_error(data):
    """Nothing else comes out."""
    for parse in (parse_block, parse_status):
        try:
            parse(data)
        except ParseError as error:
            assert error.probe == "ship"


@pytest.mark.parametrize("cut", [0, 1, 36, 73, 80, 110, 150])
def test_a_torn_message_is_refused(cut):
    """Wherever it ends before the block's stamp."""
    with pytest.raises(ParseError):
        parse_block(frame(5)[:cut])

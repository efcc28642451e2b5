"""Yellowstone updates: transactions and slots are messages, everything else is none; accounts are public keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("google.protobuf", reason="needs the package protobuf (extra latency)")

from google.protobuf.message import DecodeError

from leapprof.errors import ConfigError
from leapprof.latency import yellowstone_pb2 as pb
from leapprof.latency.yellowstone import check_account, message_of, ping_request, subscribe_request
from tests.support.yellowstone_server import ACCOUNT, ping, slot_seen, transaction


def test_a_transaction_is_known_by_its_signature_and_stamped_by_the_server():
    """Slot, signature, created_at in nanoseconds."""
    message = message_of(transaction(7, 9, stamp_ns=1_700_000_000_123_456_789).update)
    assert (message.number, message.before, message.stamp_ns) == (7, None, 1_700_000_000_123_456_789)
    assert message.key == (9).to_bytes(64, "big")
    assert message_of(transaction(7, 9).update).stamp_ns is None


def test_a_slot_tells_only_that_it_came():
    """It has its parent and no key; a ping is no message at all, nor is an empty update."""
    message = message_of(slot_seen(12, 10).update)
    assert (message.number, message.before, message.key) == (12, 10, None)
    assert message_of(ping().update) is None
    assert message_of(pb.SubscribeUpdate()) is None


def test_bytes_of_the_public_protocol_are_what_we_send_and_read():
    """Written by hand from the field numbers of geyser.proto, with fields that we leave out."""
    account = ACCOUNT.encode()
    include = b"\x1a" + bytes([len(account)]) + account
    entry = b"\x0a\x08leapprof\x12" + bytes([len(include)]) + include
    slots = b"\x12\x0e\x0a\x08leapprof\x12\x02\x08\x01"
    expected = slots + b"\x1a" + bytes([len(entry)]) + entry + b"\x30\x00" + b"\x58\x05"
    assert subscribe_request(ACCOUNT, 5).SerializeToString(deterministic=True) == expected
    assert ping_request().SerializeToString() == b"\x4a\x02\x08\x01"
    signature = bytes(range(64))
    info = (
        b"\x0a\x40" + signature + b"\x10\x01\x1a\x03abc\x28\x07"
    )  # is_vote, transaction and index are skipped
    sent = b"\x0a" + bytes([len(info)]) + info + b"\x10\x2a"
    update = b"\x0a\x01f\x22" + bytes([len(sent)]) + sent + b"\x5a\x04\x08\x02\x10\x03"
    message = message_of(pb.SubscribeUpdate.FromString(update))
    assert (message.number, message.key, message.stamp_ns) == (42, signature, 2_000_000_003)


@pytest.mark.parametrize(
    "text", ["", "x" * 45, "0" * 44, ACCOUNT[:-2], "1" * 31, "1" * 33, "a b", "é" * 32, "z" * 44]
)
def test_what_is_no_public_key_is_refused(text):
    """Wrong letters, too few or too many bytes."""
    with pytest.raises(ConfigError, match="public key"):
        check_account(text)


@pytest.mark.parametrize("text", [ACCOUNT, "1" * 32, "So11111111111111111111111111111111111111112"])
def test_public_keys_are_taken(text):
    """Leading ones are bytes of zero."""
    check_account(text)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_none(data):
    """What the decoder takes, message_of takes."""
    try:
        update = pb.SubscribeUpdate.FromString(data)
    except DecodeError:
        return
    message = message_of(update)
    assert message is None or message.number >= 0

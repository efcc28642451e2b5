"""Messages of a Yellowstone gRPC server (Solana): what is asked, and which message an update is.

Protocol: yellowstone.proto beside this file. A slot names its parent, so slots that no update told of show as a jump;
slots without a block are no jump, as their successors do not name them.
"""

from typing import TYPE_CHECKING

from leapprof.errors import ConfigError, quoted
from leapprof.latency.message import Message
from leapprof.units import NS_PER_S

if TYPE_CHECKING:
    from leapprof.latency.yellowstone_pb2 import SubscribeRequest, SubscribeUpdate

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
"""Base58 of Bitcoin and Solana: no 0, O, I and l."""
_KEY_BYTES = 32
_MOST_KEY_CHARS = 44
_FILTER = "leapprof"


def check_account(text: str) -> None:
    """Refuse what is no public key of Solana: 32 bytes in base58.

    Raises:
        ConfigError: it is none.
    """
    if 0 < len(text) <= _MOST_KEY_CHARS and all(c in _ALPHABET for c in text):
        value = 0
        for character in text:
            value = value * len(_ALPHABET) + _ALPHABET.index(character)
        zeros = len(text) - len(text.lstrip(_ALPHABET[0]))
        if zeros + (value.bit_length() + 7) // 8 == _KEY_BYTES:
            return
    raise ConfigError(f"{quoted(text)} is no public key (32 bytes in base58)", key="--account")


def subscribe_request(account: str, from_slot: int | None) -> "SubscribeRequest":
    """Return the request for transactions of an account, and slots, at commitment ``processed``.

    Args:
        account: public key; transactions that name it anywhere.
        from_slot: to begin with; None for what comes from now on.
    """
    from leapprof.latency import yellowstone_pb2 as pb

    return pb.SubscribeRequest(
        slots={_FILTER: pb.SubscribeRequestFilterSlots(filter_by_commitment=True)},
        transactions={_FILTER: pb.SubscribeRequestFilterTransactions(account_include=[account])},
        commitment=pb.PROCESSED,
        from_slot=from_slot,
    )


def ping_request() -> "SubscribeRequest":
    """Return the answer to a ping, without which balancers close a quiet connection."""
    from leapprof.latency import yellowstone_pb2 as pb

    return pb.SubscribeRequest(ping=pb.SubscribeRequestPing(id=1))


def message_of(update: "SubscribeUpdate") -> Message | None:
    """Return the message that an update is; None of pings and what was not asked for."""
    kind = update.WhichOneof("update_oneof")
    if kind == "slot":
        parent = update.slot.parent if update.slot.HasField("parent") else None
        return Message(number=update.slot.slot, before=parent, key=None)
    if kind != "transaction" or not update.transaction.transaction.signature:
        return None
    stamp_ns = None
    if update.HasField("created_at"):
        stamp_ns = update.created_at.seconds * NS_PER_S + update.created_at.nanos
    return Message(
        number=update.transaction.slot, key=update.transaction.transaction.signature, stamp_ns=stamp_ns
    )

"""Reading from a channel in tests, with an end."""

import time

from leapprof.errors import SourceError
from leapprof.sources.base import Channel

LIMIT_S = 120.0


def read_until(channel: Channel, end: bytes) -> bytes:
    """Return what arrives up to and including ``end``."""
    data = b""
    deadline = time.monotonic() + LIMIT_S
    while end not in data:
        assert time.monotonic() < deadline, f"{end!r} did not arrive, only {data[-200:]!r}"
        data += channel.read(0.5)
    return data


def read_until_closed(channel: Channel) -> tuple[bytes, SourceError]:
    """Return all that arrives, and the error with which the channel closes."""
    data = b""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            data += channel.read(0.5)
        except SourceError as error:
            return data, error
    raise AssertionError("the channel did not close")

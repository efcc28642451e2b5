"""The question to a time server: a planted clock error comes back, anything else is no answer."""

import socket
import struct
import threading
import time
from contextlib import contextmanager

import pytest

from leapprof.latency.sntp import clock_offset


def ntp(wall_s):
    """Return a time stamp of NTP."""
    whole = int(wall_s)
    return struct.pack(">II", whole + 2_208_988_800, int((wall_s - whole) * 2**32))


@contextmanager
def answering(answer):
    """Answer one packet by a function of the question; yields the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(5)

        def run():
            question, address = server.recvfrom(512)
            reply = answer(question)
            if reply is not None:
                server.sendto(reply, address)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(5)


def ahead_by(seconds, *, mode=4, stratum=2, echo=True):
    """Return the answer of a server whose clock is ahead."""

    def answer(question):
        now = ntp(time.time_ns() / 1e9 + seconds)
        origin = question[40:48] if echo else bytes(8)
        return bytes([0x20 | mode, stratum]) + bytes(22) + origin + now + now

    return answer


def test_a_clock_behind_its_server_is_measured():
    """A server 2.5 s ahead: this machine is 2.5 s behind, within the round trip."""
    with answering(ahead_by(2.5)) as port:
        found = clock_offset("127.0.0.1", 3.0, port)
    assert found.offset_s == pytest.approx(-2.5, abs=found.round_trip_s)
    assert 0 <= found.round_trip_s < 3


@pytest.mark.parametrize(
    "answer",
    [
        ahead_by(1, mode=3),
        ahead_by(1, stratum=0),
        ahead_by(1, echo=False),
        lambda question: b"short",
        lambda question: None,
    ],
)
def test_what_is_no_answer_of_a_time_server_is_none(answer):
    """Another mode, a kiss of death, a foreign answer, a torn one, silence."""
    with answering(answer) as port:
        assert clock_offset("127.0.0.1", 0.3, port) is None


def test_an_unknown_server_is_no_error():
    """It is said in the recording instead."""
    assert clock_offset("no-such-name.invalid", 0.3) is None

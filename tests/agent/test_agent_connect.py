"""The agent makes TCP connections to the one address of its plan, and to no other."""

import contextlib
import socket
import time
from pathlib import Path

import pytest

from leapprof.agent.plan import Connect, Plan, Read, encode_plan, plan_message
from leapprof.errors import ConfigError
from leapprof.model import ReadStatus

BOTH = pytest.mark.parametrize("kind", ["python3", "python3.6"])


def told(talk, *connects):
    """Return the lines of each section, in the order in which the connections were asked for."""
    talk.plan(Plan(interval_ms=50, connects=connects, reads=(Read(path="/proc/uptime"),)))
    found = {}
    while len(found) < len(connects):
        for frame in talk.frames(1):
            found.update({s.name: s for s in frame.sections if s.name.startswith("connect/")})
    assert all(s.status is ReadStatus.OK for s in found.values())
    return [found[f"connect/{c.address}"].text.decode().splitlines() for c in connects]


def listening(stack, host="127.0.0.1", backlog=16):
    """Return the port of something that listens and never accepts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return stack.enter_context(socket.create_server((host, 0), family=family, backlog=backlog)).getsockname()[
        1
    ]


@BOTH
def test_connections_are_timed_by_the_hosts_clock(kind, open_talk) -> None:
    """IPv4, IPv6 and a name; a moment and nanoseconds a try, in order and as far apart as asked for."""
    with contextlib.ExitStack() as stack:
        four, six = listening(stack), listening(stack, "::1")
        lines = told(
            open_talk(kind),
            Connect(address=f"127.0.0.1:{four}", count=5, timeout_s=20, interval_s=0.02),
            Connect(address=f"[::1]:{six}", count=2, timeout_s=20),
            Connect(address=f"localhost:{four}", count=1, timeout_s=20, family=4),
        )
    assert [rows[0] for rows in lines] == ["family 4", "family 6", "family 4"]
    assert [len(rows) - 1 for rows in lines] == [5, 2, 1]
    tries = [[int(word) for word in row.split()] for row in lines[0][1:]]
    assert all(0 < took_ns < 20 * 10**9 for _, took_ns in tries)
    assert tries[-1][0] - tries[0][0] >= 4 * 20 * 10**6 - 10**6


@BOTH
def test_what_was_not_made_says_why(kind, open_talk) -> None:
    """Refused, dropped (a full queue drops the SYN as a filter does), and a name that there is not."""
    with contextlib.ExitStack() as stack:
        full = listening(stack, backlog=0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", full))
        refused, dropped, unknown, odd = told(
            open_talk(kind),
            Connect(address="127.0.0.1:1", count=2, timeout_s=1),
            Connect(address=f"127.0.0.1:{full}", count=2, timeout_s=0.1),
            Connect(address="::ffff:1:x", count=2, timeout_s=1),
            Connect(address="127.0.0.1:99999", count=2, timeout_s=1),
        )
    assert [row.split()[1] for row in refused[1:]] == ["ECONNREFUSED"] * 2
    assert [row.split()[1] for row in dropped[1:]] == ["timeout"] * 2
    assert [row.split()[1] for row in unknown] == ["name"]
    assert len(odd) >= 1


def test_readings_go_on_while_connections_are_made(open_talk) -> None:
    """Frames come at their ticks; when the agent is gone, its connections end with their next try."""
    talk = open_talk("python3")
    many = Connect(address="127.0.0.1:1", count=20_000, timeout_s=1, interval_s=0.05)
    talk.plan(Plan(interval_ms=50, connects=(many,), reads=(Read(path="/proc/uptime"),)))
    assert len(talk.frames(5)) >= 5
    agent = talk.process.pid
    (child,) = Path(f"/proc/{agent}/task/{agent}/children").read_text().split()
    talk.process.kill()
    talk.process.wait()
    limit = time.monotonic() + 60
    while is_running(int(child)) and time.monotonic() < limit:
        time.sleep(0.02)
    assert not is_running(int(child))


def is_running(pid: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_plan_without_bounds_is_refused(open_talk) -> None:
    """No tries, too many of them, or no time for one: here, and on the host too."""
    for count, timeout_s in ((0, 1), (20_001, 1), (1, 0)):
        with pytest.raises(ConfigError):
            encode_plan(Plan(connects=(Connect(address="a:1", count=count, timeout_s=timeout_s),)))
    talk = open_talk("python3")
    good = encode_plan(Plan(connects=(Connect(address="a:1", count=7, timeout_s=1),)))
    talk.send(plan_message(good.replace(b"\t7\t", b"\t20001\t")))
    assert talk.process.wait(30) == 2


def test_the_shell_agent_leaves_connections_out_and_says_so(open_talk, section) -> None:
    """It has nothing to make them with; the plan is taken all the same."""
    talk = open_talk("dash")
    talk.plan(Plan(ticks=1, connects=(Connect(address="127.0.0.1:1", count=1, timeout_s=1),)))
    (frame,) = talk.frames(1)
    left_out = section(frame, "agent").text.decode().splitlines()[1].split()[1]
    assert "connect" in left_out.split(",")

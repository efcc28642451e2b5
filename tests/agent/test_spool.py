"""A spool outlives the connection that began it."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leapprof.agent.plan import END_MESSAGE, Plan, Read, plan_message
from leapprof.agent.spool import (
    STOP_MESSAGE,
    attach_plan,
    clean_plan,
    list_plan,
    read_answer,
    spool_path,
    stop_plan,
)
from leapprof.errors import ConfigError, ParseError
from leapprof.model import Frame, ReadStatus, Section

BOTH = pytest.mark.parametrize("kind", ["python3", "python3.6"])


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[str]:
    """The path of a spool; a sampler that still runs is ended afterwards."""
    path = spool_path("test", str(tmp_path))
    yield path
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, NotADirectoryError):
        os.kill(int((Path(path) / "pid").read_text().split()[0]), signal.SIGKILL)


def spooling(path: str, **settings: int) -> Plan:
    """Return a plan that samples into a spool."""
    return Plan(interval_ms=20, spool=path, reads=(Read(path="/proc/uptime"),), **settings)


def ask(talk, plan: bytes):
    """Return the answer to a plan about spools."""
    talk.send(plan_message(plan))
    return read_answer(talk.frames(1)[0])


@BOTH
def test_a_sampler_outlives_its_connection_and_is_followed_again(kind, open_talk, spool) -> None:
    """What was sampled between two connections is there for the second; nothing is lost."""
    first = open_talk(kind)
    first.plan(spooling(spool))
    seen = first.frames(3)
    first.close()
    time.sleep(0.2)
    second = open_talk(kind)
    second.send(plan_message(attach_plan(spool, seen[-1].seq)))
    frames = second.frames(20)
    assert frames[0].seq <= seen[-1].seq
    assert [f.seq for f in frames] == list(range(frames[0].seq, frames[-1].seq + 1))
    second.send(STOP_MESSAGE)
    rest = second.rest()
    assert second.close() == (0, "")
    assert second.decoder.rejected == 0
    assert (frames + rest)[-1].seq == frames[0].seq + len(frames + rest) - 1
    assert not (Path(spool) / "pid").exists()


@BOTH
def test_spools_are_listed_stopped_and_cleaned_up(kind, open_talk, spool, tmp_path) -> None:
    """The three verbs answer with what is so."""
    talk = open_talk(kind)
    assert ask(talk, list_plan(str(tmp_path))) == ()
    sampler = open_talk(kind)
    sampler.plan(spooling(spool))
    sampler.frames(3)
    sampler.close()
    (listed,) = ask(talk, list_plan(str(tmp_path)))
    assert (listed.path, listed.alive, listed.segments) == (spool, True, 1)
    assert listed.size_bytes > 0
    assert listed.newest_seq is not None
    assert listed.newest_seq >= 3
    (refused,) = ask(talk, clean_plan(spool))
    assert not refused.removed
    (stopped,) = ask(talk, stop_plan(spool))
    assert (stopped.alive, stopped.pid) == (False, None)
    (cleaned,) = ask(talk, clean_plan(spool))
    assert cleaned.removed
    assert not Path(spool).exists()
    assert talk.close() == (0, "")


def oldest_segment(path: str) -> str:
    """Return the name of a spool's first segment."""
    return min(segment.name for segment in Path(path).glob("seg-*"))


def test_a_spool_is_bounded_and_counts_what_it_dropped(open_talk, spool, tmp_path) -> None:
    """The oldest segments go; every segment begins with a key frame."""
    noise = tmp_path / "noise"
    noise.write_bytes(os.urandom(40_000))
    talk = open_talk("python3")
    reads = (Read(path=str(noise)),)
    talk.plan(Plan(interval_ms=10, spool=spool, spool_bytes=500_000, reads=reads))
    talk.frames(1)
    first = oldest_segment(spool)
    while oldest_segment(spool) == first:
        noise.write_bytes(os.urandom(40_000))
        time.sleep(0.02)
    talk.send(STOP_MESSAGE)
    talk.rest()
    assert sum(p.stat().st_size for p in Path(spool).glob("seg-*")) < 800_000
    later = open_talk("python3")
    later.send(plan_message(attach_plan(spool)))
    frames = later.rest()
    assert later.decoder.rejected == 0
    assert frames[0].seq > 1
    assert 0 < frames[-1].dropped < frames[0].seq  # the last frame knows of what went before it was made


def test_a_spool_is_for_its_user_alone(open_talk, spool) -> None:
    """Directory and files are closed to others."""
    talk = open_talk("python3")
    talk.plan(spooling(spool))
    talk.frames(2)
    assert Path(spool).stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in Path(spool).iterdir()} == {0o600}
    talk.send(STOP_MESSAGE)
    talk.rest()


@pytest.mark.parametrize("trap", ["symlink", "open to all", "file", "in use"])
def test_an_unsafe_spool_is_refused(trap, open_talk, spool, tmp_path) -> None:
    """Somebody else's directory, or a living sampler's, is not written to."""
    if trap == "symlink":
        (tmp_path / "real").mkdir(mode=0o700)
        Path(spool).symlink_to(tmp_path / "real")
    elif trap == "open to all":
        Path(spool).mkdir()
        Path(spool).chmod(0o777)
    elif trap == "file":
        Path(spool).write_text("")
    else:
        living = open_talk("python3")
        living.plan(spooling(spool))
        living.frames(1)
    talk = open_talk("python3")
    talk.plan(spooling(spool))
    assert talk.process.wait(60) == 2
    assert talk.close()[1].startswith("leapprof agent: spool ")


def test_the_end_of_a_follower_does_not_end_the_sampler(open_talk, spool) -> None:
    """``end`` detaches."""
    talk = open_talk("python3")
    talk.plan(spooling(spool))
    talk.frames(1)
    talk.send(END_MESSAGE)
    talk.rest()
    assert talk.close() == (0, "")
    pid = int((Path(spool) / "pid").read_text().split()[0])
    os.kill(pid, 0)


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "x" * 65, "a\n"])
def test_only_plain_names_are_spools(name: str) -> None:
    """What could lead elsewhere is refused before it is sent."""
    with pytest.raises(ConfigError):
        spool_path(name)


@pytest.mark.parametrize("path", ["leapprof-spool-x", "/tmp/other", "relative/leapprof-spool-x"])
def test_only_spools_are_attached_stopped_and_cleaned(path: str) -> None:
    """The verbs take no other directory."""
    for make in (attach_plan, stop_plan, clean_plan):
        with pytest.raises(ConfigError):
            make(path)


def test_a_status_of_another_form_is_a_parse_error() -> None:
    """A number that is none does not become one."""
    sections = (Section(name="spool:/x", status=ReadStatus.OK, text=b"pid x\n"),)
    frame = Frame(
        seq=1,
        boottime_ns=0,
        wall_ns=0,
        deadline_ns=0,
        agent_cpu_ns=None,
        agent_rss_bytes=None,
        dropped=0,
        sections=sections,
    )
    with pytest.raises(ParseError):
        read_answer(frame)

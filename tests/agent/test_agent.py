"""The Python agent, run as a child the way that a host runs it, under the oldest and the present Python."""

import ast
import contextlib
import itertools
import os
import time
from pathlib import Path

import pytest

import leapprof.agent.bootstrap
from leapprof.agent.plan import (
    BEAT_MESSAGE,
    END_MESSAGE,
    Command,
    Link,
    Listing,
    Plan,
    Read,
    StatVfs,
    encode_plan,
    plan_message,
)
from leapprof.model import ReadStatus

BOTH = pytest.mark.parametrize("kind", ["python3", "python3.6"])
WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
SOURCE = Path(leapprof.agent.bootstrap.__file__).parent / "agent.py"
SURVEY = {"ticks": 1, "interval_ms": 1000}


def test_the_agent_imports_only_what_every_python_has() -> None:
    """Each further import would cost memory and start-up on the host."""
    tree = ast.parse(SOURCE.read_text())
    imports = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    assert imports == {"errno", "os", "select", "socket", "sys", "time", "zlib"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]


@BOTH
def test_a_survey_reads_files_listings_links_and_filesystems(kind, open_talk, section) -> None:
    """One tick answers everything, and the channel stays open for the next plan."""
    talk = open_talk(kind)
    talk.plan(
        Plan(
            **SURVEY,
            reads=(
                Read(path="/proc/stat", keep=("cpu ", "btime")),
                Read(path="/proc/no-such-file"),
                Read(path="/proc/sys/kernel/*max"),
            ),
            listings=(Listing(path="/proc/self/task"),),
            links=(Link(path="/proc/self/exe"),),
            statvfs=(StatVfs(path="/"),),
        )
    )
    (frame,) = talk.frames(1)
    assert [line.split()[0] for line in section(frame, "/proc/stat").text.splitlines()] == [b"cpu", b"btime"]
    assert section(frame, "/proc/no-such-file").status is ReadStatus.ABSENT
    assert section(frame, "/proc/sys/kernel/pid_max").text.strip().isdigit()
    assert section(frame, "list:/proc/self/task").text.strip().isdigit()
    assert b"python" in section(frame, "link:/proc/self/exe").text
    assert b"f_frsize " in section(frame, "statvfs:/").text
    assert section(frame, "agent").text == b"kind python\n"
    assert abs(frame.wall_ns - time.time_ns()) < 60 * 10**9
    assert abs(frame.boottime_ns - time.clock_gettime_ns(time.CLOCK_BOOTTIME)) < 60 * 10**9
    talk.plan(Plan(**SURVEY, reads=(Read(path="/proc/uptime"),)))
    (again,) = talk.frames(1)
    assert again.seq == 2
    assert talk.close() == (0, "")


@BOTH
def test_ticks_sit_on_absolute_deadlines(kind, open_talk) -> None:
    """Deadlines are whole intervals apart, whatever a reading took."""
    talk = open_talk(kind)
    talk.plan(
        Plan(interval_ms=100, reads=(Read(path="/proc/uptime"), Read(path="/proc/meminfo", every_ticks=3)))
    )
    frames = talk.frames(8)
    steps = [b.deadline_ns - a.deadline_ns for a, b in itertools.pairwise(frames)]
    assert all(step > 0 and step % 100_000_000 == 0 for step in steps)
    assert [f.seq for f in frames] == list(range(1, len(frames) + 1))
    slow = [any(s.name == "/proc/meminfo" for s in f.sections) for f in frames[:7]]
    assert slow == [True, False, False, True, False, False, True]
    assert all(f.agent_cpu_ns and f.agent_rss_bytes for f in frames)
    assert talk.decoder.rejected == 0


@BOTH
def test_end_reads_everything_once_more(kind, open_talk) -> None:
    """The last frame holds what is read at start and end."""
    talk = open_talk(kind)
    talk.plan(
        Plan(interval_ms=20, reads=(Read(path="/proc/uptime"), Read(path="/proc/mounts", every_ticks=0)))
    )
    talk.frames(2)
    talk.send(END_MESSAGE)
    last = talk.rest()[-1]
    assert {"/proc/uptime", "/proc/mounts"} <= {s.name for s in last.sections}
    assert talk.close() == (0, "")


@BOTH
def test_allowed_commands_run_without_a_shell(kind, open_talk, section) -> None:
    """Words reach the program as they are; its status and output come back."""
    talk = open_talk(kind)
    commands = (
        Command(name="echo", argv=("echo", "$HOME; a  b")),
        Command(name="false", argv=("false",)),
        Command(name="none", argv=("/no/such/program",)),
        Command(name="long", argv=("head", "-c", "3000000", "/dev/zero")),
    )
    talk.plan(Plan(**SURVEY, commands=commands))
    (frame,) = talk.frames(1)
    assert section(frame, "command/echo").text == b"exit 0\n$HOME; a  b\n"
    assert section(frame, "command/false").text == b"exit 1\n"
    assert section(frame, "command/none").text == b"exit 127\n"
    assert section(frame, "command/long").status is ReadStatus.CUT


def test_a_large_file_is_cut_and_harms_nothing(open_talk, section, tmp_path) -> None:
    """The bound of one reading is the plan's; whole lines are kept."""
    large = tmp_path / "large"
    large.write_text("0123456789\n" * 10_000)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    talk = open_talk("python3")
    reads = (Read(path=str(large)), Read(path=str(fifo)), Read(path=str(tmp_path)), Read(path="/proc/uptime"))
    talk.plan(Plan(**SURVEY, reads=reads, read_bytes=5000))
    (frame,) = talk.frames(1)
    cut = section(frame, str(large))
    assert (cut.status, len(cut.text), cut.text[-1:]) == (ReadStatus.CUT, 4994 - 4994 % 11, b"\n")
    assert section(frame, str(fifo)).status is ReadStatus.FAILED
    assert section(frame, str(tmp_path)).status is ReadStatus.FAILED
    assert section(frame, "/proc/uptime").status is ReadStatus.OK


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_reading_that_is_refused_is_denied(open_talk, section) -> None:
    """Not permitted is not absent."""
    talk = open_talk("python3")
    talk.plan(Plan(**SURVEY, reads=(Read(path="/proc/1/io"),)))
    assert section(talk.frames(1)[0], "/proc/1/io").status is ReadStatus.DENIED


def test_end_is_answered_even_when_the_input_ends_with_it(open_talk) -> None:
    """A collector that asks, says ``end`` and closes its side gets its frame."""
    talk = open_talk("python3")
    done = talk.process.communicate(
        plan_message(encode_plan(Plan(reads=(Read(path="/proc/uptime"),)))) + END_MESSAGE
    )
    frames = talk.decoder.feed(done[0])
    assert [s.name for s in frames[-1].sections] == ["agent", "/proc/uptime"]
    assert talk.process.returncode == 0


@BOTH
def test_without_heartbeat_the_agent_ends(kind, open_talk) -> None:
    """A collector that is gone without a word leaves nothing running."""
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=100, heartbeat_s=1, reads=(Read(path="/proc/uptime"),)))
    assert talk.rest()
    assert talk.process.wait(60) == 0


def test_a_heartbeat_keeps_the_agent(open_talk) -> None:
    """With beats it goes on beyond the heartbeat time."""
    talk = open_talk("python3")
    talk.plan(Plan(interval_ms=100, heartbeat_s=3, reads=(Read(path="/proc/uptime"),)))
    (first, *_) = frames = talk.frames(1)
    while frames[-1].boottime_ns - first.boottime_ns < 4 * 10**9:
        talk.send(BEAT_MESSAGE)
        frames = talk.frames(1)
    assert talk.process.poll() is None


@BOTH
def test_the_end_of_its_input_ends_the_agent(kind, open_talk) -> None:
    """A closed connection is an end without complaint."""
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=50, reads=(Read(path="/proc/uptime"),)))
    talk.frames(1)
    assert talk.close() == (0, "")


def test_a_closed_output_ends_the_agent_quietly(open_talk) -> None:
    """No traceback when nobody reads."""
    talk = open_talk("python3")
    talk.plan(Plan(interval_ms=20, reads=(Read(path="/proc/uptime"),)))
    talk.frames(1)
    assert talk.process.stdout is not None
    talk.process.stdout.close()
    assert talk.process.wait(60) == 0
    assert talk.process.stderr is not None
    assert talk.process.stderr.read() == b""


def test_a_stalled_output_drops_the_oldest_frames_and_never_stalls_sampling(open_talk, tmp_path) -> None:
    """The queue is bounded; what was dropped is counted, and the stream is readable afterwards."""
    noise = tmp_path / "noise"
    talk = open_talk("python3")
    noise.write_bytes(os.urandom(60_000))
    talk.plan(
        Plan(interval_ms=10, queue_bytes=200_000, reads=(Read(path=str(noise)), Read(path="/proc/uptime")))
    )
    seen = talk.frames(1)
    for _ in range(100):  # nobody reads meanwhile; each frame is new and hard to compress
        noise.write_bytes(os.urandom(60_000))
        time.sleep(0.01)
    seen += talk.frames(20)  # what is dropped to make room for a frame is counted in the next
    talk.send(END_MESSAGE)
    frames = seen + talk.rest()
    last = frames[-1]
    assert last.dropped > 0
    assert talk.decoder.rejected == 0
    assert last.seq == len(frames) + last.dropped
    gaps = [b.deadline_ns - a.deadline_ns for a, b in itertools.pairwise(frames)]
    assert max(gaps) > 10_000_000


@pytest.mark.parametrize(
    "message",
    [
        b"nonsense\n",
        b"plan x\n",
        b"plan 99999999\n",
        b"x" * 100,
        plan_message(b"not a plan\n"),
        plan_message(b"leapprof-plan\t1\nread\t1\nend\n"),
        plan_message(b"leapprof-plan\t1\nread\tx\t/proc/stat\nend\n"),
        plan_message(b"leapprof-plan\t1\nmagic\t1\nend\n"),
        plan_message(b"leapprof-plan\t1\naction\tattach\t/tmp/elsewhere\t1\nend\n"),
        plan_message(b"leapprof-plan\t2\nend\n"),
    ],
)
def test_a_bad_message_is_refused_in_one_line(message, open_talk) -> None:
    """Exit status 2 and a sentence; no traceback."""
    talk = open_talk("python3")
    with contextlib.suppress(BrokenPipeError):
        talk.send(message)
    assert talk.process.wait(60) == 2
    status, errors = talk.close()
    assert status == 2
    assert errors.startswith("leapprof agent: ")
    assert errors.count("\n") == 1


def test_slow_groups_are_stretched_when_reading_takes_too_long(open_talk) -> None:
    """Over budget the agent reads the slow groups half as often, and says so.

    That many files are ten times the budget of 5 ms where one takes 6 us, so a machine may be far faster.
    """
    talk = open_talk("python3")
    many = tuple(Read(path=f"/proc/sys/../{n % 7 * './'}loadavg") for n in range(8000))
    talk.plan(Plan(interval_ms=10, reads=many))
    notes = [s.text for f in talk.frames(12) for s in f.sections if s.name == "agent"]
    assert any(b"stretched slow " in note for note in notes)


@BOTH
def test_frames_are_sent_together_when_the_plan_says_so(kind, open_talk) -> None:
    """So many in one piece; each as it was read, and the last ones at the end."""
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=20, reads=(Read(path="/proc/uptime"),), send_every_ticks=10))
    pieces = []
    while sum(map(len, pieces)) < 31:
        pieces.append(talk.frames(1))
    talk.send(END_MESSAGE)
    frames = [frame for piece in pieces for frame in piece] + talk.rest()
    assert max(len(piece) for piece in pieces) >= 8
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    gaps = {b.deadline_ns - a.deadline_ns for a, b in itertools.pairwise(frames[:-1])}
    assert all(gap % 20_000_000 == 0 for gap in gaps)
    uptimes = [float(frame.sections[-1].text.split()[0]) for frame in frames]
    assert uptimes == sorted(uptimes)
    assert talk.decoder.rejected == 0


@BOTH
def test_the_first_frames_are_sent_at_once(kind, open_talk) -> None:
    """A collector that has begun sees so soon, not after the minutes that a thousand frames together take."""
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=200, reads=(Read(path="/proc/uptime"),), send_every_ticks=1000))
    assert len(talk.frames(2)) < 10

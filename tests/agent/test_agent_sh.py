"""The sh agent, run by dash and by busybox sh, takes the same plan and sends readable frames."""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leapprof.agent.plan import (
    BEAT_MESSAGE,
    END_MESSAGE,
    CgroupFile,
    ChildFile,
    Command,
    ConfigRead,
    HttpGet,
    Link,
    Listing,
    Match,
    Plan,
    ProcessFile,
    Read,
    StatVfs,
    plan_message,
)
from leapprof.ingest.reads import KEEP_LINES
from leapprof.model import ReadStatus
from leapprof.probes.settings import parse_page_size

SHELLS = pytest.mark.parametrize("kind", ["dash", "busybox"])
WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"


@pytest.fixture
def nodeos(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that has a name of its own, a child, and a key on its command line."""
    program = tmp_path / f"node{os.getpid()}"
    shutil.copy(shutil.which("dash") or "/bin/sh", program)
    words = [
        "--data-dir",
        "/data/eos",
        f"--signature-provider=EOS=KEY:{WIF}",
        "--agent-name",
        WIF,
        f"--{WIF}",
        WIF,
    ]
    argv = [program, "-c", "echo; sleep 60; :", "x", *words, f"-p{WIF}", f"--data-dir=/data/{WIF}"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while [Path(f"/proc/{kid}/comm").read_text() for kid in children.read_text().split()] != ["sleep\n"]:
            time.sleep(0.01)  # the child does not exist yet, or is still what it came of
        yield process
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@SHELLS
def test_a_survey_reads_what_cat_can_read(kind, open_talk, section, tmp_path) -> None:
    """Files, globs, listings, links and filesystems come like from the Python agent."""
    odd = tmp_path / "no line end"
    odd.write_text("a b\nc")
    (tmp_path / "empty").write_text("")
    talk = open_talk(kind)
    talk.plan(
        Plan(
            ticks=1,
            reads=(
                Read(path="/proc/stat", keep=("cpu ", "btime")),
                Read(path="/proc/no-such-file"),
                Read(path="/proc/sys/kernel/*max"),
                Read(path=str(odd)),
                Read(path=str(tmp_path / "empty")),
                Read(path="/proc/version"),
            ),
            listings=(Listing(path="/proc/sys/kernel/random"),),
            links=(Link(path="/proc/self"),),
            statvfs=(StatVfs(path="/"),),
            https=(HttpGet(match_id="eos", address="127.0.0.1:1", path="/x"),),
            configs=(ConfigRead(match_id="eos", path=str(odd)),),
            commands=(Command(name="c", argv=("true",)),),
        )
    )
    (frame,) = talk.frames(1)
    assert [line.split()[0] for line in section(frame, "/proc/stat").text.splitlines()] == [b"cpu", b"btime"]
    assert section(frame, "/proc/no-such-file").status is ReadStatus.ABSENT
    assert section(frame, "/proc/sys/kernel/pid_max").text.strip().isdigit()
    assert section(frame, str(odd)).text == b"a b\nc\n"
    assert section(frame, str(tmp_path / "empty")).text == b""
    assert section(frame, "/proc/version").text == Path("/proc/version").read_bytes()
    assert b"boot_id\n" in section(frame, "list:/proc/sys/kernel/random").text
    assert section(frame, "link:/proc/self").text.isdigit()
    assert b"f_frsize " in section(frame, "statvfs:/").text
    assert section(frame, "agent").text.startswith(b"kind sh\nleft_out http,config,commands,threads,")
    assert not [s for s in frame.sections if s.name.startswith(("http/", "config/", "command/"))]
    assert abs(frame.wall_ns - time.time_ns()) < 60 * 10**9
    talk.plan(Plan(ticks=1, reads=(Read(path="/proc/uptime"),)))
    assert talk.frames(1)[0].seq == 2
    assert talk.close() == (0, "")
    assert talk.decoder.rejected == 0


@pytest.mark.parametrize("kind", ["python3", "dash", "busybox"])
def test_every_agent_reads_the_size_of_a_page_from_its_own_mappings(kind, open_talk, section) -> None:
    """No program is needed for it; of the dozens of lines of a mapping one leaves the host."""
    talk = open_talk(kind)
    path = "/proc/self/smaps"
    talk.plan(Plan(ticks=1, reads=(Read(path=path, keep=KEEP_LINES[path]),)))
    (frame,) = talk.frames(1)
    text = section(frame, path).text.decode()
    assert parse_page_size(text) == os.sysconf("SC_PAGE_SIZE")
    assert all(line.startswith("KernelPageSize") for line in text.splitlines())
    assert talk.close() == (0, "")


@SHELLS
def test_ticks_sit_on_deadlines_and_end_reads_everything_once_more(kind, open_talk) -> None:
    """Slow groups come at their period, and all in the last frame."""
    reads = (
        Read(path="/proc/uptime"),
        Read(path="/proc/loadavg", every_ticks=3),
        Read(path="/proc/mounts", every_ticks=0),
    )
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=100, reads=reads))
    frames = talk.frames(5)
    talk.send(BEAT_MESSAGE + END_MESSAGE)
    frames += talk.rest()
    steps = [b.deadline_ns - a.deadline_ns for a, b in itertools.pairwise(frames[:-1])]
    assert all(step > 0 and step % 100_000_000 == 0 for step in steps)
    slow = [any(s.name == "/proc/loadavg" for s in f.sections) for f in frames[:5]]
    assert slow == [True, False, False, True, False]
    assert "/proc/mounts" in {s.name for s in frames[-1].sections}
    assert talk.close() == (0, "")
    assert talk.decoder.rejected == 0


@SHELLS
def test_a_process_and_its_children_are_found(kind, open_talk, nodeos) -> None:
    """Sections carry pid and start time, also of children."""
    talk = open_talk(kind)
    talk.plan(
        Plan(
            interval_ms=100,
            matches=(Match(id="eos", kind="exe_name", value=Path(str(nodeos.args[0])).name),),
            process_files=(ProcessFile(name="stat"), ProcessFile(name="status", keep=("VmRSS:",))),
            child_files=(ChildFile(name="stat"),),
            cgroup_files=(CgroupFile(name="cpu.stat"),),
        )
    )
    frames = talk.frames(2)
    start = Path(f"/proc/{nodeos.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    for frame in frames[:2]:
        sections = {s.name: s for s in frame.sections}
        stat = sections[f"nodeos/eos/{nodeos.pid}/{start}/stat"]
        assert stat.text.startswith(b"%d (" % nodeos.pid)
        assert sections[f"nodeos/eos/{nodeos.pid}/{start}/status"].text.startswith(b"VmRSS:\t")
        children = [s.text for name, s in sections.items() if name.startswith("child/eos/")]
        assert [b"(sleep)" in text for text in children] == [True]
    os.killpg(nodeos.pid, signal.SIGKILL)
    nodeos.wait()
    talk.until(lambda frame: not any(s.name.startswith("nodeos/") for s in frame.sections))


@SHELLS
def test_no_key_of_a_command_line_leaves_the_host(kind, open_talk, nodeos) -> None:
    """Only plain paths of allowed options keep their value."""
    talk = open_talk(kind)
    talk.plan(
        Plan(
            ticks=1,
            matches=(Match(id="eos", kind="pid", value=str(nodeos.pid)),),
            process_files=(ProcessFile(name="cmdline", every_ticks=0),),
            allowed_options=("data-dir", "agent-name"),
        )
    )
    (frame,) = talk.frames(1)
    everything = b"".join(s.name.encode() + s.text for s in frame.sections)
    assert WIF.encode() not in everything
    assert b"KEY:" not in everything
    words = next(s.text for s in frame.sections if s.name.endswith("/cmdline")).split(b"\0")
    assert words[:4] == [Path(str(nodeos.args[0])).name.encode(), b"-c", b"***", b"***"]
    assert words[4:9] == [b"--data-dir", b"/data/eos", b"--signature-provider=***", b"--agent-name", b"***"]
    assert words[9:] == [b"--?", b"***", b"***", b"--data-dir=***"]


@SHELLS
def test_a_command_line_that_ends_with_an_option_does_not_end_the_agent(kind, open_talk, tmp_path) -> None:
    """The next plan is answered, and the option is there without a value."""
    program = shutil.copy(shutil.which("dash") or "/bin/sh", tmp_path / "node")
    words = [program, "-c", "sleep 60; :", "x", "--replay-blockchain"]
    with subprocess.Popen(words, start_new_session=True) as process:
        talk = open_talk(kind)
        plan = Plan(
            ticks=1,
            matches=(Match(id="eos", kind="pid", value=str(process.pid)),),
            process_files=(ProcessFile(name="cmdline", every_ticks=0),),
        )
        try:
            talk.plan(plan)
            frames = talk.frames(1)
            talk.plan(plan)
            frames += talk.frames(1)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    assert [frame.seq for frame in frames] == [1, 2]


@SHELLS
def test_nothing_is_left_running_at_the_end_of_input(kind, open_talk) -> None:
    """A closed connection ends the agent and what it started."""
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=100, reads=(Read(path="/proc/uptime"),)))
    talk.frames(2)
    assert talk.close() == (0, "")
    left = [p for p in Path("/proc").glob("[0-9]*/stat") if is_child(p, talk.process.pid)]
    assert left == []


def is_child(stat: Path, parent: int) -> bool:
    """Whether that process has that parent, or is in its group."""
    try:
        return str(parent) in stat.read_text().rsplit(")", 1)[1].split()[1:3]
    except OSError:
        return False


@SHELLS
def test_without_heartbeat_the_agent_ends(kind, open_talk) -> None:
    """A collector that is gone without a word leaves nothing running."""
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=200, heartbeat_s=1, reads=(Read(path="/proc/uptime"),)))
    assert talk.rest()
    assert talk.process.wait(60) == 0


@SHELLS
def test_a_new_plan_replaces_a_running_one(kind, open_talk) -> None:
    """The next plan begins within a tick; sequence numbers go on."""
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=100, reads=(Read(path="/proc/uptime"),)))
    before = talk.frames(2)
    talk.plan(Plan(ticks=1, reads=(Read(path="/proc/version"),)))
    after = talk.frames(1)
    while "/proc/version" not in {s.name for s in after[-1].sections}:
        after += talk.frames(1)
    assert after[-1].seq == len(before) + len(after)
    assert talk.close() == (0, "")


@SHELLS
@pytest.mark.parametrize(
    "message",
    [b"nonsense\n", plan_message(b"not a plan\n"), plan_message(b"leapprof-plan\t1\nmagic\t1\nend\n")],
)
def test_a_bad_message_is_refused_in_one_line(kind, message, open_talk) -> None:
    """Exit status 2 and a sentence."""
    talk = open_talk(kind)
    talk.send(message)
    assert talk.process.wait(60) == 2
    assert talk.close()[1].startswith("leapprof agent: ")

"""The agent reads of a log what may leave and nothing else, and a few bytes of a file where that is asked for."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.agent import agent
from leapprof.agent.plan import Command, LogMark, Match, Peek, Plan, ProcessFile
from leapprof.model import ReadStatus

WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
PUBLIC = "EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV"
MARKS = (
    LogMark(text="Non-default options:", is_options=True),
    LogMark(text="Blockchain started"),
    LogMark(text='CHAINBASE: Writing "state"'),
)
HEAD = "info  2026-11-30T16:05:02.134 nodeos    main.cpp:169                  main                 ] "
LOG = (
    f"{HEAD}Non-default options: plugin = eosio::chain_plugin, signature-provider = {PUBLIC}=KEY:{WIF}, "
    f"agent-name = {WIF}, data-dir = /srv/eos, secret = hunter2\n"
    f"{HEAD}Blockchain started; head block is #7 {WIF} and more\n"
    f"{HEAD}Received block 0123456789abcdef... #8 @ 2026-11-30T16:05:02.000 signed by eosio {WIF}\n"
    f'Nov 30 16:06:00 host nodeos[7]: CHAINBASE: Writing "state" database file, this could take a moment...\n'
    f"private key {WIF}\n"
)
SHOWN = (
    "2026-11-30T16:05:02.134\tNon-default options: plugin = eosio::chain_plugin, data-dir = /srv/eos\n"
    "2026-11-30T16:05:02.134\tBlockchain started; head block is #7\n"
    '~2026-11-30T16:05:02.134\tCHAINBASE: Writing "state" database file, this could take a moment...\n'
)
BOTH = pytest.mark.parametrize("kind", ["python3", "python3.6"])
ALL = pytest.mark.parametrize("kind", ["python3", "python3.6", "dash", "busybox"])


@pytest.fixture
def logging(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A process whose standard error is a file that holds a log."""
    log = tmp_path / "nodeos.log"
    log.write_text(LOG)
    with (
        log.open("ab") as file,
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stderr=file) as process,
    ):
        yield process, log
        process.kill()


def plan(pid: int, **changes: object) -> Plan:
    """Return a plan that reads the log of a process at each tick."""
    chosen: dict = {
        "interval_ms": 50,
        "matches": (Match(id="eos", kind="pid", value=str(pid)),),
        "process_files": (ProcessFile(name="stat"), ProcessFile(name="log")),
        "log_marks": MARKS,
        "allowed_options": ("plugin", "agent-name", "data-dir"),
        **changes,
    }
    return Plan(**chosen)


def logs(frames: list) -> list[tuple[ReadStatus, str]]:
    """Return what the log sections of frames hold."""
    return [(s.status, s.text.decode()) for f in frames for s in f.sections if s.name.endswith("/log")]


@BOTH
def test_marked_lines_leave_and_no_key_does(kind, open_talk, logging) -> None:
    """Time and message of marked lines, of options those that are allowed; then only what is added."""
    process, log = logging
    talk = open_talk(kind)
    talk.plan(plan(process.pid))
    assert logs(talk.frames(1))[0] == (ReadStatus.OK, SHOWN)
    with log.open("a") as file:
        file.write(f"{HEAD}Blockchain started; head block is #9\n{HEAD}Blockchain sta")
    later = "".join(text for _, text in logs(talk.until(lambda frame: any(t for _, t in logs([frame])))))
    later += "".join(text for _, text in logs(talk.frames(3)))
    assert later == "2026-11-30T16:05:02.134\tBlockchain started; head block is #9\n"


def test_the_last_lines_of_a_process_that_ended_are_read(open_talk, logging) -> None:
    """What nodeos says while it stops comes when the process has gone, once."""
    process, log = logging
    talk = open_talk("python3")
    talk.plan(plan(process.pid))
    talk.frames(2)
    process.kill()
    process.wait()
    with log.open("a") as file:
        file.write('CHAINBASE: Writing "state" database file, complete.\n')
    frames = talk.until(lambda frame: not any(s.name.endswith("/stat") for s in frame.sections))
    frames += talk.frames(2)
    assert "".join(t for _, t in logs(frames)) in (
        '-\tCHAINBASE: Writing "state" database file, complete.\n',
        "",
    )
    assert not any(s.name.startswith("nodeos/") for s in frames[-1].sections)


def test_a_log_that_was_truncated_is_read_from_its_start(open_talk, logging) -> None:
    """As after logrotate's copytruncate."""
    process, log = logging
    talk = open_talk("python3")
    talk.plan(plan(process.pid))
    talk.frames(1)
    log.write_text("x Blockchain started; head block is #1\n")
    talk.until(lambda frame: "-\tBlockchain started; head block is #1\n" in [t for _, t in logs([frame])])


def test_a_pipe_is_never_opened(open_talk) -> None:
    """What we read of a pipe would be missing where it ends; it is named instead."""
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        talk = open_talk("python3")
        talk.plan(plan(process.pid, ticks=1))
        assert logs(talk.frames(1)) == [(ReadStatus.FAILED, "its log goes to a pipe")]
        process.kill()


def test_a_command_that_prints_a_log_is_filtered(open_talk, section) -> None:
    """An allowed journalctl leaves on the host what a file would."""
    talk = open_talk("python3")
    talk.plan(
        Plan(
            ticks=1,
            commands=(Command(name="log", argv=("printf", "%b", LOG.replace("\n", "\\n")), is_log=True),),
            log_marks=MARKS,
            allowed_options=("plugin", "data-dir"),
        )
    )
    (frame,) = talk.frames(1)
    assert section(frame, "command/log").text.decode() == "exit 0\n" + SHOWN


@ALL
def test_a_peek_gives_size_and_the_bytes_asked_for(kind, open_talk, section, tmp_path) -> None:
    """Byte 8 of a state file tells whether it is dirty; nothing else of it leaves."""
    state = tmp_path / "shared_memory.bin"
    state.write_bytes(b"EOSIODB3\x01" + b"secret" * 2000)
    talk = open_talk(kind)
    names = (str(state), str(tmp_path / "missing"), str(tmp_path))
    talk.plan(Plan(ticks=1, interval_ms=1000, peeks=tuple(Peek(path=n, offset=8, count=1) for n in names)))
    (frame,) = talk.frames(1)
    lines = section(frame, f"peek:{state}").text.decode().splitlines()
    assert lines[0] == f"size {state.stat().st_size}"
    assert lines[1].startswith("allocated ")
    assert lines[2] == "bytes 1"
    assert section(frame, f"peek:{names[1]}").status is ReadStatus.ABSENT
    assert section(frame, f"peek:{names[2]}").status is ReadStatus.FAILED


PIECES = st.sampled_from(
    [
        "Non-default options:",
        "Blockchain started",
        " = ",
        ", ",
        "plugin",
        " ",
        "\n",
        "\t",
        "] ",
        "x",
        "KEY:",
        "-",
    ]
)


@given(
    parts=st.lists(PIECES | st.sampled_from([WIF, PUBLIC, f"KEY:{WIF}", "a1" * 32]), max_size=30),
    key=st.sampled_from([WIF, PUBLIC, "a1" * 32]),
)
def test_no_line_of_a_log_lets_a_key_through(parts: list[str], key: str) -> None:
    """Wherever a key stands in a log, it stays on the host."""
    marks = [(b"options" if m.is_options else b"line", m.text.encode()) for m in MARKS]
    shown = agent.filter_log("".join([*parts, key]).encode(), marks, frozenset([b"plugin", b"x"]))
    for secret in (WIF, PUBLIC, "a1" * 32):
        assert secret.encode() not in shown
    assert all(line.count(b"\t") == 1 for line in shown.splitlines())

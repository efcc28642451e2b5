"""The Python agent finds nodeos processes, follows them, and gives no key away."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leapprof.agent.plan import ChildFile, ConfigRead, Match, Plan, ProcessFile
from leapprof.model import Frame

WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
BOTH = pytest.mark.parametrize("kind", ["python3", "python3.6"])
SURVEY = {"ticks": 1, "interval_ms": 1000}


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen]:
    """A process of a name of its own: a copy of sleep."""
    program = tmp_path / "nodeos-test"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    with subprocess.Popen([program, "60"]) as process:
        yield process
        process.kill()


@BOTH
def test_a_process_is_found_and_its_files_are_read(kind, open_talk, section, sleeper) -> None:
    """Section names carry pid and start time; threads are summed by name."""
    talk = open_talk(kind)
    names = ("stat", "status", "schedstat", "limits", "threads", "exe", "cwd", "cmdline")
    files = tuple(ProcessFile(name=name) for name in names)
    talk.plan(
        Plan(**SURVEY, matches=(Match(id="eos", kind="exe_name", value="nodeos-test"),), process_files=files)
    )
    (frame,) = talk.frames(1)
    start = Path(f"/proc/{sleeper.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    base = f"nodeos/eos/{sleeper.pid}/{start}/"
    assert {s.name for s in frame.sections if s.name.startswith("nodeos/")} == {base + name for name in names}
    name, utime_ticks, stime_ticks, count = section(frame, base + "threads").text.split()
    assert (name, count) == (b"nodeos-test", b"1")
    assert int(utime_ticks) + int(stime_ticks) < 100
    assert section(frame, base + "exe").text.endswith(b"/nodeos-test")
    assert section(frame, base + "cmdline").text.split(b"\0")[1:] == [b"***"]


@contextlib.contextmanager
def session(*argv: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a session of its own, ended with all that it started."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_neither_the_agent_nor_a_shell_that_names_nodeos_is_matched(open_talk) -> None:
    """A command line that merely holds the words is no nodeos."""
    word = f"nodeos-test-{os.getpid()}"
    with session("sh", "-c", f": {word}; sleep 60; :"):
        talk = open_talk("python3")
        kinds = (("a", "cmdline", word), ("b", "exe_name", word), ("c", "cmdline", "leapprof-agent"))
        matches = tuple(Match(id=name, kind=kind, value=value) for name, kind, value in kinds)
        talk.plan(Plan(**SURVEY, matches=matches, process_files=(ProcessFile(name="stat"),)))
        (frame,) = talk.frames(1)
    names = [s.name for s in frame.sections]
    assert not [name for name in names if name.startswith(("nodeos/a/", "nodeos/b/"))]
    assert not [name for name in names if f"/{talk.process.pid}/" in name]


@BOTH
def test_children_of_a_nodeos_are_its_children_and_no_roots(kind, open_talk, tmp_path) -> None:
    """A child with the same executable is added to its parent."""
    program = tmp_path / "nodeos (x) y"
    shutil.copy(shutil.which("dash") or "/bin/sh", program)
    with session(program, "-c", "(echo; while :; do sleep 60; done); :") as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        talk = open_talk(kind)
        talk.plan(
            Plan(
                **SURVEY,
                matches=(Match(id="eos", kind="exe_name", value=program.name),),
                process_files=(ProcessFile(name="stat"),),
                child_files=(ChildFile(name="stat"),),
            )
        )
        (frame,) = talk.frames(1)
    roots = [int(s.name.split("/")[2]) for s in frame.sections if s.name.startswith("nodeos/")]
    children = [s.text.split(b")")[0] for s in frame.sections if s.name.startswith("child/")]
    assert roots == [parent.pid]
    assert any(b"(nodeos (x" in child for child in children)


def pids_of(frame: Frame) -> list[str]:
    """Return the pid of each section of a nodeos."""
    return [s.name.split("/")[2] for s in frame.sections if s.name.startswith("nodeos/")]


def test_a_nodeos_that_ends_leaves_no_half_sections(open_talk, tmp_path) -> None:
    """After the end of a process there is nothing of it, and a new one is found without waiting for the next scan."""
    program = tmp_path / "nodeos-again"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    plan = Plan(
        interval_ms=50,
        scan_every_ticks=100_000,
        matches=(Match(id="eos", kind="exe_name", value=program.name),),
        process_files=(ProcessFile(name="stat"), ProcessFile(name="status")),
    )
    talk = open_talk("python3")
    with subprocess.Popen([program, "60"]) as first:
        talk.plan(plan)
        assert len(talk.frames(1)[0].sections) == 3
        first.kill()
    gone = talk.until(lambda frame: not pids_of(frame))
    assert {len(pids_of(frame)) for frame in gone} <= {0, 2}
    with subprocess.Popen([program, "60"]) as second:
        (*_, found) = talk.until(pids_of)
        second.kill()
    assert pids_of(found) == [str(second.pid)] * 2


@BOTH
def test_keys_never_cross_the_network(kind, open_talk, section, tmp_path) -> None:
    """Neither a config file nor a command line gives away a key, whatever its option is called."""
    config = tmp_path / "config.ini"
    config.write_text(
        f"# old key {WIF}\nplugin = eosio::chain_plugin # {WIF}\n"
        f"signature-provider = EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV=KEY:{WIF}\n"
        f'peer-private-key = ["EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV","{WIF}"]\n'
        f"agent-name = {WIF}\n{WIF}\n{WIF} = 1\nblocks-dir = PVT_K1_abc\n"
        f"p2p-peer-address = https://user:hunter2@host:1\nchain-threads = 4\n[x]\nchain-threads = 5\n"
        f"http-server-address = {'ab' * 32}\nunknown = {WIF[:30]}"
    )
    allowed = (
        "plugin",
        "agent-name",
        "blocks-dir",
        "chain-threads",
        "http-server-address",
        "data-dir",
        "p2p-peer-address",
    )
    words = [
        "-c",
        "sleep 60 & wait",
        "nodeos-keys",
        f"--signature-provider=EOS=KEY:{WIF}",
        "--agent-name",
        WIF,
    ]
    words += [
        "--data-dir",
        "/data/eos",
        "--plugin=eosio::net_plugin",
        WIF,
        f"-p{WIF}",
        f"--{WIF}",
        "--x",
        WIF,
    ]
    (tmp_path / "nodeos-shell").symlink_to(shutil.which("sh") or "/bin/sh")
    with session(tmp_path / "nodeos-shell", *words) as process:
        talk = open_talk(kind)
        talk.plan(
            Plan(
                **SURVEY,
                matches=(Match(id="eos", kind="pid", value=str(process.pid)),),
                process_files=(ProcessFile(name="cmdline"),),
                configs=(ConfigRead(match_id="eos", path=str(config)),),
                allowed_options=allowed,
            )
        )
        (frame,) = talk.frames(1)
    everything = b"".join(s.name.encode() + s.text for s in frame.sections)
    for secret in (WIF.encode(), b"KEY:", b"PVT_", b"EOS6MRy", b"hunter2", b"abab", WIF[:30].encode()):
        assert secret not in everything
    lines = section(frame, "config/eos").text.decode().split("\n")
    assert "2\tplugin\teosio::chain_plugin" in lines
    assert "3\tsignature-provider\t" in lines
    assert "6\t?\t" in lines
    assert "7\t?\t" in lines
    assert "10\tchain-threads\t4" in lines
    assert "12\tx.chain-threads\t" in lines
    shown = next(s.text for s in frame.sections if s.name.endswith("/cmdline")).split(b"\0")
    assert shown[4:9] == [b"--signature-provider=***", b"--agent-name", b"***", b"--data-dir", b"/data/eos"]
    assert shown[9:] == [b"--plugin=eosio::net_plugin", b"***", b"-p***", b"--?", b"--x", b"***"]


def test_what_ends_is_told_at_once(open_talk, tmp_path) -> None:
    """A frame in which a process is gone waits for no others, though the plan sends many together."""
    program = tmp_path / "nodeos-told"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    talk = open_talk("python3")
    with subprocess.Popen([program, "60"]) as first:
        talk.plan(
            Plan(
                interval_ms=50,
                scan_every_ticks=100_000,
                send_every_ticks=100_000,
                matches=(Match(id="eos", kind="exe_name", value=program.name),),
                process_files=(ProcessFile(name="stat"), ProcessFile(name="status", keep=("VmRSS:",))),
            )
        )
        assert len(talk.frames(3)[0].sections) == 3
        time.sleep(0.5)
        first.kill()
    frames = talk.until(lambda frame: not pids_of(frame))
    names = [[s.name.rpartition("/")[2] for s in frame.sections if s.name != "agent"] for frame in frames]
    assert names[0] == ["stat", "status"]
    assert names[-1] == []

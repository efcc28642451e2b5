"""The Python agent, run as a child the way that a host runs it, under the oldest and the present Python."""

import ast
import contextlib
import http.server
import itertools
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import leapprof.agent.bootstrap
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
from leapprof.model import ReadStatus

BOTH = pytest.mark.parametrize("kind", ["python3", "python3.6"])
WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
SOURCE = Path(leapprof.agent.bootstrap.__file__).parent / "agent.py"
SURVEY = {"ticks": 1, "interval_ms": 1000}


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen]:
    """A process of a name of its own: a copy of sleep."""
    program = tmp_path / "nodeos-test"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    with subprocess.Popen([program, "60"]) as process:
        yield process
        process.kill()


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
        Plan(interval_ms=20, reads=(Read(path="/proc/uptime"), Read(path="/proc/meminfo", every_ticks=3)))
    )
    frames = talk.frames(8)
    steps = [b.deadline_ns - a.deadline_ns for a, b in itertools.pairwise(frames)]
    assert all(step > 0 and step % 20_000_000 == 0 for step in steps)
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
    assert section(frame, base + "threads").text.split() == [b"nodeos-test", b"0", b"0", b"1"]
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


def test_a_nodeos_that_ends_leaves_no_half_sections(open_talk, tmp_path) -> None:
    """After the end of a process there is nothing of it, and a new one is found within two ticks."""
    program = tmp_path / "nodeos-again"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    plan = Plan(
        interval_ms=50,
        scan_every_ticks=1000,
        matches=(Match(id="eos", kind="exe_name", value=program.name),),
        process_files=(ProcessFile(name="stat"), ProcessFile(name="status")),
    )
    talk = open_talk("python3")
    with subprocess.Popen([program, "60"]) as first:
        talk.plan(plan)
        assert len(talk.frames(1)[0].sections) == 3
        first.kill()
    gone = talk.frames(4)[-1]
    assert not [s for s in gone.sections if s.name.startswith("nodeos/")]
    with subprocess.Popen([program, "60"]) as second:
        frames = talk.frames(6)
        second.kill()
    found = {s.name.split("/")[2] for f in frames for s in f.sections if s.name.startswith("nodeos/")}
    assert found == {str(second.pid)}


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


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers of the kinds that servers give."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "nodeos/5.0.3", ""

    def log_message(self, *args) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer by path."""
        if self.path == "/slow":
            time.sleep(1)
            self.close_connection = True
            return
        self.send_response(503 if self.path == "/busy" else 200)
        body = b"nodeos_a 1\nnodeos_b 2\nother 3\n" * (5000 if self.path == "/long" else 1)
        if self.path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for part in (body[:7], body[7:]):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
            return
        if self.path != "/close":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.path == "/close"


@pytest.fixture
def server() -> Iterator[str]:
    """An HTTP server of this machine; its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()


@BOTH
def test_http_answers_are_read_and_cut_to_the_named_lines(kind, open_talk, section, server) -> None:
    """Status, elapsed time and server lead; bodies come plain, chunked or until the end."""
    paths = ("/plain", "/chunked", "/close", "/busy")
    gets = [HttpGet(match_id="eos", address=server, path=path, keep=("nodeos_",)) for path in paths]
    gets.append(HttpGet(match_id="eos", address=server, path="/slow", timeout_s=0.1))
    gets.append(HttpGet(match_id="eos", address=server, path="/long", max_bytes=50_000))
    gets.append(HttpGet(match_id="eos", address="127.0.0.1:1", path="/refused"))
    gets.append(HttpGet(match_id="eos", address="example.org:80", path="/name"))
    talk = open_talk(kind)
    talk.plan(Plan(**SURVEY, https=tuple(gets)))
    (frame,) = talk.frames(1)
    for path in paths:
        head, _, body = section(frame, f"http/eos{path}").text.partition(b"\n")
        status, elapsed_us, name = head.split(b" ", 2)
        assert (status, name) == (b"503" if path == "/busy" else b"200", b"nodeos/5.0.3")
        assert int(elapsed_us) > 0
        assert body == b"nodeos_a 1\nnodeos_b 2\n"
    assert section(frame, "http/eos/slow").status is ReadStatus.FAILED
    assert section(frame, "http/eos/long").status is ReadStatus.CUT
    assert section(frame, "http/eos/refused").text == b"Connection refused"
    assert section(frame, "http/eos/name").text == b"not a numeric address"


def test_a_server_that_does_not_answer_never_stalls_sampling(open_talk) -> None:
    """Ticks go on while a request waits for its time-out."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        talk = open_talk("python3")
        get = HttpGet(match_id="eos", address=address, path="/x", every_ticks=1, timeout_s=0.4)
        talk.plan(Plan(interval_ms=50, https=(get,), reads=(Read(path="/proc/uptime"),)))
        frames = talk.frames(14)
    answers = [s for f in frames for s in f.sections if s.name == "http/eos/x"]
    assert answers
    assert {s.text for s in answers} == {b"no answer within 400 ms"}
    assert len(answers) < len(frames) / 2


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


@BOTH
def test_without_heartbeat_the_agent_ends(kind, open_talk) -> None:
    """A collector that is gone without a word leaves nothing running."""
    talk = open_talk(kind)
    talk.plan(Plan(interval_ms=100, heartbeat_s=1, reads=(Read(path="/proc/uptime"),)))
    assert talk.rest()
    assert talk.process.wait(10) == 0


def test_a_heartbeat_keeps_the_agent(open_talk) -> None:
    """With beats it goes on beyond the heartbeat time."""
    talk = open_talk("python3")
    talk.plan(Plan(interval_ms=300, heartbeat_s=1, reads=(Read(path="/proc/uptime"),)))
    for _ in range(5):
        assert talk.frames(1)
        talk.send(BEAT_MESSAGE)
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
    assert talk.process.wait(10) == 0
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
    for _ in range(100):  # nobody reads meanwhile; each frame is new and hard to compress
        noise.write_bytes(os.urandom(60_000))
        time.sleep(0.01)
    talk.send(END_MESSAGE)
    frames = talk.rest()
    last = frames[-1]
    assert last.dropped > 0
    assert talk.decoder.rejected == 0
    assert last.seq == len(frames) + last.dropped
    gaps = [b.deadline_ns - a.deadline_ns for a, b in itertools.pairwise(frames)]
    assert max(gaps) > 10_000_000


@BOTH
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
def test_a_bad_message_is_refused_in_one_line(kind, message, open_talk) -> None:
    """Exit status 2 and a sentence; no traceback."""
    if kind == "python3.6" and message != b"nonsense\n":
        pytest.skip("one is enough here")
    talk = open_talk(kind)
    with contextlib.suppress(BrokenPipeError):
        talk.send(message)
    assert talk.process.wait(10) == 2
    status, errors = talk.close()
    assert status == 2
    assert errors.startswith("leapprof agent: ")
    assert errors.count("\n") == 1


PROC_ENTRY = {"comm": "nodeos", "stat": "10 (nodeos) S 1 10 10 0 -1 0 0 0 0 0 7 8 0 0 20 0 3 0 1234 1 1\n"}


def make_root(root: Path, mounts: str, cgroup: str, files: dict[str, str]) -> None:
    """Lay out a /proc with one nodeos, and a /sys."""
    for path, text in {
        "proc/self/mountinfo": mounts,
        "proc/10/cgroup": cgroup,
        "proc/10/stat": PROC_ENTRY["stat"],
        "proc/10/comm": PROC_ENTRY["comm"],
        "proc/10/cmdline": "/usr/bin/nodeos\0",
        **files,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


UNIT = "/system.slice/nodeos.service"
V2 = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
V1 = (
    "31 1 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "32 1 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "33 1 0:29 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
)
HYBRID = V1 + "34 1 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
V1_GROUPS = f"5:memory:{UNIT}\n4:cpu,cpuacct:{UNIT}\n3:blkio:{UNIT}\n"
V1_FILES = {
    f"sys/fs/cgroup/cpu,cpuacct{UNIT}/cpuacct.usage": "123\n",
    f"sys/fs/cgroup/memory{UNIT}/memory.usage_in_bytes": "456\n",
    f"sys/fs/cgroup/memory{UNIT}/cgroup.procs": "10\n",
    f"sys/fs/cgroup/blkio{UNIT}/blkio.throttle.io_service_bytes": "8:0 Read 1\n",
}
CASES = {
    "v2": (
        V2,
        f"0::{UNIT}\n",
        {
            f"sys/fs/cgroup{UNIT}/cpu.stat": "usage_usec 9\n",
            f"sys/fs/cgroup{UNIT}/io.stat": "8:0 rbytes=1\n",
            f"sys/fs/cgroup{UNIT}/memory.current": "5\n",
            f"sys/fs/cgroup{UNIT}/cgroup.procs": "10\n11\n",
        },
        {"cpu.stat": b"usage_usec 9\n", "io.stat": b"8:0 rbytes=1\n", "memory.current": b"5\n"},
        b"own 0\npath /system.slice/nodeos.service\n",
    ),
    "v1": (
        V1,
        V1_GROUPS,
        V1_FILES,
        {
            "cpuacct.usage": b"123\n",
            "blkio.throttle.io_service_bytes": b"8:0 Read 1\n",
            "memory.usage_in_bytes": b"456\n",
        },
        b"own 1\npath /system.slice/nodeos.service\n",
    ),
    "hybrid": (
        HYBRID,
        V1_GROUPS + f"0::{UNIT}\n",
        {**V1_FILES, f"sys/fs/cgroup/unified{UNIT}/cpu.stat": "usage_usec 9\n"},
        {
            "cpu.stat": b"usage_usec 9\n",
            "blkio.throttle.io_service_bytes": b"8:0 Read 1\n",
            "memory.usage_in_bytes": b"456\n",
        },
        b"own 1\npath /system.slice/nodeos.service\n",
    ),
}


@pytest.mark.parametrize("layout", list(CASES))
def test_cgroups_are_found_in_each_layout(layout, open_talk, section, tmp_path) -> None:
    """Files of cgroup v2 go by their names, v1 ones by theirs; the hint says whether the cgroup is nodeos's own."""
    mounts, cgroup, files, expected, hint = CASES[layout]
    make_root(tmp_path, mounts, cgroup, files)
    talk = open_talk("python3")
    talk.plan(
        Plan(
            **SURVEY,
            root=str(tmp_path),
            matches=(Match(id="eos", kind="unit", value="nodeos.service"),),
            cgroup_files=tuple(CgroupFile(name=name) for name in ("cpu.stat", "io.stat", "memory.current")),
        )
    )
    (frame,) = talk.frames(1)
    assert section(frame, "cgroup/eos/pids").text == hint
    found = {s.name.removeprefix("cgroup/eos/"): s.text for s in frame.sections if s.status is ReadStatus.OK}
    assert {name: found[name] for name in expected} == expected


def test_slow_groups_are_stretched_when_reading_takes_too_long(open_talk) -> None:
    """Over budget the agent reads the slow groups half as often, and says so."""
    talk = open_talk("python3")
    many = tuple(Read(path=f"/proc/sys/../{n % 7 * './'}stat") for n in range(800))
    talk.plan(Plan(interval_ms=10, reads=many))
    notes = [s.text for f in talk.frames(12) for s in f.sections if s.name == "agent"]
    assert any(b"stretched slow " in note for note in notes)

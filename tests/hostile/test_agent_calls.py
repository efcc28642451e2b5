"""What the agent does on the observed host, as the kernel sees it: it writes no file, runs no program, dials nobody."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leapprof.agent.bootstrap import python_command, python_payload, sh_command, sh_payload
from leapprof.agent.plan import END_MESSAGE, Command, Connect, Plan, encode_plan, plan_message
from leapprof.model.access import NodeosSelector
from leapprof.recorder.planning import RecordOptions, sampling_plan, survey_plan

STRACE = shutil.which("strace")
needs_strace = pytest.mark.skipif(STRACE is None, reason="needs strace")
CALLS = (
    "open,openat,openat2,creat,execve,execveat,connect,bind,unlink,unlinkat,rename,renameat,renameat2,mkdir,"
    "mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,fchownat,"
    "kill,tgkill,pidfd_send_signal,ptrace,process_vm_readv,process_vm_writev,mknod,mknodat,setxattr,mount,umount2,"
    "utimensat"
)
READING = re.compile(r"^(open|openat|openat2)\(")
WRITABLE = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
HARMLESS = re.compile(r'"/dev/(null|tty)"')
READERS = {
    *(
        "sh",
        "dash",
        "bash",
        "busybox",
        "cat",
        "dd",
        "date",
        "sleep",
        "sed",
        "grep",
        "awk",
        "gawk",
        "mawk",
        "head",
    ),
    *(
        "tail",
        "ls",
        "readlink",
        "od",
        "tr",
        "wc",
        "sort",
        "cut",
        "stat",
        "df",
        "getconf",
        "id",
        "uname",
        "expr",
    ),
    *("env", "timeout", "mktemp", "basename", "dirname", "true", "test", "printf"),
}
SELECTORS = (NodeosSelector(id="n", kind="cmdline", value="lp-nobody-is-called-so"),)


def traced(
    tmp_path: Path, command: str, payload: bytes, plans: list[Plan], programs: bool = False
) -> list[str]:
    """Run an agent under strace through some plans; return its system calls after it took the first plan."""
    log = tmp_path / "calls"
    assert STRACE is not None
    words = [STRACE, "-f", "-qq", "-s", "200", "-e", f"trace={CALLS}", "-o", str(log), "sh", "-c", command]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(payload)
    process.stdin.flush()
    for plan in plans:
        process.stdin.write(plan_message(encode_plan(plan)))
        process.stdin.flush()
        time.sleep(1.5)
    out, err = process.communicate(END_MESSAGE, timeout=120)
    assert b"LPF1 " in out, err
    pairs = [row.partition(" ") for row in log.read_text(errors="replace").splitlines()]
    own = {f"kill({pid}," for pid, _, _ in pairs}  # the shell agent ends its own timer
    rows = [call.strip() for _, _, call in pairs]
    return [row for row in rows if "ENOENT" not in row and row.split(" ")[0] not in own]


def sampling(*commands: Command) -> Plan:
    """Return the plan of a recording, ten ticks a second."""
    return sampling_plan(SELECTORS, (), RecordOptions(interval_s=0.1), commands)


def written(calls: list[str]) -> list[str]:
    """Return the calls that open something for writing, or change the host in another way."""
    opened = [c for c in calls if READING.match(c) and WRITABLE.search(c) and not HARMLESS.search(c)]
    quiet = ("open", "execve", "connect", "---", "+++", "exit", "<...")
    return opened + [call for call in calls if not call.startswith(quiet)]


def executed(calls: list[str]) -> list[str]:
    """Return the programs that were started."""
    return [
        match[1] for call in calls if (match := re.match(r'execve(?:at)?\("([^"]+)"', call)) and "= 0" in call
    ]


@needs_strace
def test_the_python_agent_writes_nothing_and_runs_nothing(tmp_path: Path) -> None:
    """Survey and sampling: no file opened for writing, no program started, no connection made, no signal sent."""
    calls = traced(
        tmp_path, python_command(sys.executable), python_payload(), [survey_plan(SELECTORS), sampling()]
    )
    assert len([call for call in calls if READING.match(call)]) > 50, "strace saw nothing"
    assert written(calls) == []
    assert {Path(program).name for program in executed(calls)} <= {"sh", Path(sys.executable).name}
    assert [call for call in calls if call.startswith(("connect", "kill", "ptrace", "process_vm"))] == []


@needs_strace
def test_the_python_agent_runs_what_was_allowed_and_nothing_else(tmp_path: Path) -> None:
    """The words of the plan are executed as they are, without a shell; no other program is."""
    allowed = Command(name="smart-vda", argv=("smartctl", "--json", "-x", "/dev/null; touch /tmp/x"))
    calls = traced(tmp_path, python_command(sys.executable), python_payload(), [sampling(allowed)])
    started = [call for call in calls if call.startswith("execve(") and "smartctl" in call]
    assert {Path(program).name for program in executed(calls)} <= {
        "sh",
        Path(sys.executable).name,
        "smartctl",
    }
    for call in started:
        assert '["smartctl", "--json", "-x", "/dev/null; touch /tmp/x"]' in call
    assert written(calls) == []


@needs_strace
def test_the_shell_agent_writes_nothing_on_the_host(tmp_path: Path) -> None:
    """It opens no file for writing but /dev/null, and starts only programs that read and print."""
    calls = traced(tmp_path, sh_command(), sh_payload(), [sampling()])
    assert written(calls) == []
    assert {Path(program).name for program in executed(calls)} <= READERS


@needs_strace
def test_the_python_agent_connects_to_the_named_address_alone(tmp_path: Path) -> None:
    """`connect` of a plan dials its one address as often as asked, and writes nothing to it."""
    plan = Plan(interval_ms=100, connects=(Connect(address="127.0.0.1:9", count=3, timeout_s=1),))
    calls = traced(tmp_path, python_command(sys.executable), python_payload(), [plan])
    dialled = [call for call in calls if call.startswith("connect(")]
    assert len(dialled) == 3
    assert all('sin_port=htons(9), sin_addr=inet_addr("127.0.0.1")' in call for call in dialled)
    assert written(calls) == []

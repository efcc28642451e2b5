"""What the agent remembers of processes from scan to scan is what a first look would find."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from leapprof.agent import agent as host_agent

MATCHES = [(b"a", b"exe_name", b"nodeos"), (b"b", b"cmdline", b"--data-dir /b")]
KINDS = {
    "nodeos": b"/opt/nodeos\0--x\0",
    "other": b"/opt/cleos\0",
    "by line": b"/opt/python3\0--data-dir\0/b\0",
    "carrier": b"/bin/sh\0-c\0x --data-dir /b\0",
    "kernel": b"",
}
STEPS = st.lists(
    st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 30), st.booleans()), max_size=6),
    min_size=1,
    max_size=8,
)


def add(proc: Path, pid: int, kind: str, ppid: int) -> None:
    """Make the files of a process."""
    folder = proc / str(pid)
    folder.mkdir()
    numbers = " ".join(["0"] * 17)
    (folder / "stat").write_text(f"{pid} (x y) S {ppid} {numbers} {1000 + pid} 0 0\n")
    (folder / "cmdline").write_bytes(KINDS[kind])


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_scans_that_go_on_find_what_a_first_scan_finds(steps) -> None:
    """Whatever came and went: the same roots and the same children, and nothing is kept of what is gone."""
    with tempfile.TemporaryDirectory() as folder:
        proc = Path(folder)
        matcher, alive, next_pid = host_agent.Matcher(bytes(proc), MATCHES), [], 100
        for step in steps:
            for kind, index, goes in step:
                if goes and alive:
                    shutil.rmtree(proc / str(alive.pop(index % len(alive))))
                else:
                    parent = 2 if kind == "kernel" else ([1, *alive][index % (len(alive) + 1)])
                    add(proc, next_pid, kind, parent)
                    alive.append(next_pid)
                    next_pid += 1
            found = matcher.scan()
            assert found == host_agent.Matcher(bytes(proc), MATCHES).scan()
        assert set(matcher.known) == set(alive)
        assert sorted(pid for pids in matcher.children.values() for pid in pids) == sorted(alive)
        assert all(matcher.children.values())

"""The Python agent finds the cgroup of a process under cgroup v1, v2 and both beside each other."""

from pathlib import Path

import pytest

from leapprof.agent.plan import CgroupFile, Match, Plan
from leapprof.model import ReadStatus

SURVEY = {"ticks": 1, "interval_ms": 1000}

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

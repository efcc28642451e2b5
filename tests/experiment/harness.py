"""Stand-ins on a "host" behind a real sshd, started and stopped by scripts, for tests that run playbooks."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leapprof.standin.runner import free_address

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from leapprof.cli.main import main; main()")
START_TIMEOUT_S = 120.0

_START = """#!/bin/sh
cd {directory}
echo start >> calls
snapshot=; [ -e snapshot ] && snapshot=--from-snapshot && rm -f snapshot
PYTHONPATH={root} setsid {python} -m leapprof.standin --data-dir {directory}/data --config-dir {directory} \
 --used-mb 2 --transactions-per-s 20 --rows-per-transaction 4 --work-kib-per-transaction 64 \
 --pretend-version "$(cat version)" $snapshot >> log 2>&1 < /dev/null &
echo $! > pid
"""
_STOP = """#!/bin/sh
cd {directory}
echo stop >> calls
pid=$(cat pid)
kill -TERM "$pid" 2>/dev/null || exit 0
while [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status"; do sleep 0.02; done
"""


def started(*words: str) -> "subprocess.Popen[str]":
    """Start the program as a process of its own, in a group of its own."""
    return subprocess.Popen(
        [*PROGRAM, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@dataclass
class Node:
    """One stand-in: its directory holds config.ini, scripts, and ``calls``: a line for each start and stop."""

    directory: Path
    address: str

    @property
    def selector(self) -> str:
        return f"cmdline:leapprof.standin --data-dir {self.directory}/data"

    @property
    def config(self) -> Path:
        return self.directory / "config.ini"

    @property
    def calls(self) -> list[str]:
        path = self.directory / "calls"
        return path.read_text().split() if path.exists() else []

    @property
    def start_command(self) -> str:
        return f"{self.directory}/start.sh"

    @property
    def stop_command(self) -> str:
        return f"{self.directory}/stop.sh"

    def pid(self) -> int:
        return int((self.directory / "pid").read_text())

    def is_running(self) -> bool:
        with contextlib.suppress(OSError, ValueError):
            return "\nState:\tZ" not in Path(f"/proc/{self.pid()}/status").read_text()
        return False

    def kill(self) -> None:
        """End it as a crash does: its state stays dirty."""
        with contextlib.suppress(ProcessLookupError, OSError, ValueError):
            os.kill(self.pid(), signal.SIGKILL)
        while self.is_running():
            time.sleep(0.01)

    def start(self) -> None:
        """Start it and wait until it applies blocks."""
        subprocess.run([self.start_command], check=True)
        deadline = time.monotonic() + START_TIMEOUT_S
        log = self.directory / "log"
        while "Received block" not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        (self.directory / "calls").unlink()

    def overrides(self, number: int = 0) -> list[str]:
        """Return --set options that make a playbook mean this node as its host of that number."""
        return ["--set", f"hosts.{number}.nodeos={json.dumps(self.selector)}"]


def make_node(
    directory: Path, *, version: str = "v5.0.3", lines: tuple[str, ...] = (), state: str = ""
) -> Node:
    """Write the files of a node that is not started."""
    directory.mkdir(parents=True)
    address = free_address()
    node = Node(directory=directory, address=address)
    text = [
        "# a node of the tests",
        f"http-server-address = {address}",
        "chain-state-db-size-mb = 16   # MiB",
        "chain-state-db-guard-size-mb = 1",
        "plugin = eosio::chain_api_plugin",
        *([f"state-dir = {state}"] if state else []),
        *lines,
    ]
    node.config.write_text("\n".join(text) + "\n")
    node.config.chmod(0o640)
    (directory / "version").write_text(version)
    (directory / "log").touch()
    names = {
        "directory": shlex.quote(str(directory)), "root": shlex.quote(str(ROOT)), "python": shlex.quote(sys.executable)
    }  # fmt: skip
    for name, script in (("start.sh", _START), ("stop.sh", _STOP)):
        path = directory / name
        path.write_text(script.format(**names))
        path.chmod(0o755)
    return node


@contextlib.contextmanager
def running(directory: Path, **changes: object) -> Iterator[Node]:
    """Run a node; whatever became of it is ended afterwards."""
    node = make_node(directory, **changes)  # type: ignore[arg-type]
    try:
        node.start()
        yield node
    finally:
        node.kill()


def write_inventory(path: Path, ssh_config: Path, alias: str, names: tuple[str, ...]) -> Path:
    """Write an inventory whose hosts are all the same sshd."""
    blocks = [f'[hosts.{name}]\naddress = "{alias}"\nssh_config = "{ssh_config}"\n' for name in names]
    path.write_text("\n".join(blocks))
    return path


def run_directory(out: Path) -> Path:
    """Return the one run below a directory."""
    found = [path for path in out.iterdir() if (path / "run.json").exists()]
    assert len(found) == 1, found
    return found[0]


def log_entries(run: Path) -> list[dict]:
    """Return the lines of a run's log."""
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]

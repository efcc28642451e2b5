"""A small laboratory: sshds on loopback ports, two stand-ins for nodeos, and leapprof run as a program.

``wax-owner`` logs in as the user whom its stand-in belongs to, and comes through a jump host; ``wax-other``
logs in as the same unprivileged user and looks at a stand-in of root. ``bare-…`` are the same two where no
Python is found.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from leapprof.assess.load import LoadedRecording, load
from tests.support.sshd import Sshd, free_port, sshd

WITHOUT = {
    "wax-owner": "needs, as root, a Python 3.11 that the unprivileged user may run",
    "wax-other": "needs root: the process of another user",
}
CLI = "import sys; from leapprof.cli.main import main; main()"
ROOT = Path(__file__).resolve().parents[2]
READY_S, ENDED_S, PROGRAM_S = 120.0, 60.0, 120.0
WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
"""The private key of libfc's own tests: nobody's."""
MODERN_KEY = "PVT_K1_2bfGi9rYsXQSXXTvJbDAPhHLQUojjaNLomdm3cEJ1XTzMqUt3V"
PRODUCER, PEER = "plantedbpxyz", "planted-peer.example.org:9876"
PUBLIC_KEY = "EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV"

CONFIG = f"""\
# signature-provider = {PUBLIC_KEY}=KEY:{WIF}
signature-provider = {PUBLIC_KEY}=KEY:{WIF}
peer-private-key = ["{PUBLIC_KEY}","{MODERN_KEY}"]
producer-name = {PRODUCER}
p2p-peer-address = {PEER}
agent-name = {MODERN_KEY}
no-such-option = {WIF}
chain-threads = 2
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a program ended."""

    code: int
    out: str
    err: str


def environment() -> dict[str, str]:
    """Return what a program of ours is started with: 80 columns, and compiled modules are kept, as they usually are."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "COLUMNS": "80"}


def leapprof(*words: object) -> Done:
    """Run leapprof as a program of its own, to its end."""
    done = subprocess.run(
        [sys.executable, "-c", CLI, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=PROGRAM_S,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment(),
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(code=done.returncode, out=done.stdout, err=done.stderr)


def wait_for(condition: Callable[[], object], seconds: float = READY_S) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.25)


@dataclass(slots=True, kw_only=True)
class StandIn:
    """A stand-in for nodeos that can be started again, as some user. Holds a private key wherever one can stand.

    Attributes:
        data_dir: everything of it, and how it is recognised.
        user: whose process it is; None: of who runs the tests.
        python: a Python that this user may run.
    """

    data_dir: Path
    user: str | None
    python: str
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    def start(self, mode: str) -> None:
        """Start it and wait until it applies blocks."""
        config = self.data_dir / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.ini").write_text(CONFIG + f"http-server-address = 127.0.0.1:{free_port()}\n")
        if self.user is not None:
            for path in (self.data_dir, config, config / "config.ini"):
                shutil.chown(path, self.user)
        log = self.data_dir.with_suffix(".log")
        words = ("--config-dir", config, "--data-dir", self.data_dir, "--database-map-mode", mode)
        size = ("--chain-state-db-size-mb", 64, "--used-mb", 24, "--work-kib-per-transaction", 64)
        key = f"--signature-provider={PUBLIC_KEY}=KEY:{WIF}"
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [self.python, "-m", "leapprof.standin", *map(str, words + size), key, "--end-with-parent"],
                stderr=file,
                stdin=subprocess.DEVNULL,
                cwd="/",
                env={"PYTHONPATH": str(ROOT), "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
                **({"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}),
            )
        wait_for(lambda: b"Received block" in log.read_bytes() or self._has_ended(log))

    def _has_ended(self, log: Path) -> bool:
        assert self.process is not None and self.process.poll() is None, log.read_text()
        return False

    def stop(self) -> None:
        """End it as an operator would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(ENDED_S)
            self.process = None

    def restart(self, mode: str) -> None:
        """End it and start it in a map mode."""
        self.stop()
        self.start(mode)


@dataclass(slots=True, kw_only=True)
class Lab:
    """What runs, and the files that lead there."""

    directory: Path
    main: Sshd
    jump: Sshd
    bare: Sshd
    standins: dict[str, StandIn]
    down: socket.socket = field(default_factory=socket.socket)

    @property
    def inventory(self) -> Path:
        """leapprof.toml of the laboratory."""
        return self.directory / "leapprof.toml"

    def write_files(self) -> None:
        """Write the ssh configuration and the inventory."""
        blocks = [self.jump.config_block()]
        lines = [f'[defaults]\nssh_config = "{self.directory}/ssh_config"\n']
        for prefix, server in (("", self.main), ("bare-", self.bare)):
            for name, standin in self.standins.items():
                jump = ("ProxyJump jump",) if prefix + name == "wax-owner" else ()
                blocks.append(server.config_block(*jump, alias=f"{prefix}{name}"))
                lines.append(f'[hosts.{prefix}{name}]\nnodeos = ["eos=cmdline:{standin.data_dir}"]\n')
        self.down.bind(("127.0.0.1", 0))  # nobody else can listen there
        blocks.append(self.main.config_block(f"Port {self.down.getsockname()[1]}", alias="down"))
        lines.append("[hosts.down]\n")
        (self.directory / "ssh_config").write_text("".join(blocks))
        self.inventory.write_text("".join(lines))

    def hosts(self, prefix: str = "") -> tuple[str, ...]:
        """Return the names of the hosts that can be recorded."""
        return tuple(f"{prefix}{name}" for name in self.standins)

    def words(self, *hosts: str, out: Path, phase: str, interval: str = "500ms") -> tuple[str, ...]:
        """Return the words of a record command."""
        words = (
            "--inventory",
            str(self.inventory),
            "--out",
            str(out),
            "--phase",
            phase,
            "--interval",
            interval,
        )
        return ("record", *hosts, *words, "--json")


@dataclass(slots=True, kw_only=True)
class Recorder:
    """A running `leapprof record`."""

    out: Path
    process: "subprocess.Popen[str]"

    def samples(self, host: str) -> int:
        """Return how many samples of a host can be read by now."""
        found = self._load(host)
        return found.table("host", ()).rows if found else 0

    def events(self, host: str) -> list[str]:
        """Return the kinds of the events of a host by now."""
        found = self._load(host)
        return [event.kind for event in found.manifest.events] if found else []

    def _load(self, host: str) -> LoadedRecording | None:
        found = list(self.out.glob(f"{host}-*/recording.json"))
        return load(found[0].parent) if found else None

    def wait_for_samples(self, hosts: tuple[str, ...], count: int) -> None:
        """Wait until each host has so many samples more than now."""
        wanted = {host: self.samples(host) + count for host in hosts}
        self._wait(lambda: all(self.samples(host) >= wanted[host] for host in hosts))

    def wait_for_events(self, hosts: tuple[str, ...], kind: str, count: int = 1) -> None:
        """Wait until each host has so many events of a kind."""
        self._wait(lambda: all(self.events(host).count(kind) >= count for host in hosts))

    def _wait(self, condition: Callable[[], bool]) -> None:
        wait_for(lambda: self.process.poll() is not None or condition())
        assert self.process.poll() is None, self.process.communicate()

    def end(self, number: int) -> Done:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PROGRAM_S)
        assert "Traceback" not in err, err
        return Done(code=self.process.returncode, out=out, err=err)


@contextlib.contextmanager
def recorder(words: tuple[str, ...], out: Path) -> Iterator[Recorder]:
    """Run `leapprof record` in the background."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLI, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=environment(),
    )
    try:
        yield Recorder(out=out, process=process)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def recordings(done: Done) -> dict[str, Path]:
    """Return host → directory of what `leapprof record --json` says."""
    rows = json.loads(done.out)["recordings"]
    return {row["host"]: Path(row["recording"]) for row in rows if row["recording"]}


def shown(path: Path) -> dict[str, Any]:
    """Return what `leapprof show --json` says of a recording."""
    done = leapprof("show", path, "--json")
    assert done.code == 0, done.err
    document: dict[str, Any] = json.loads(done.out)
    return document


def python_of(user: str) -> str | None:
    """Return a Python 3.11 or newer that a user may run, with our sources in reach; None when there is none."""
    words = ("-B", "-c", "import sys; assert sys.version_info >= (3, 11); import leapprof.standin.main")
    names = (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")
    for name in filter(os.path.exists, names):
        with contextlib.suppress(PermissionError):
            done = subprocess.run(
                [name, *words],
                env={"PYTHONPATH": str(ROOT)},
                user=user,
                extra_groups=[],
                capture_output=True,
                check=False,
                cwd="/",
            )
            if done.returncode == 0:
                return name
    return None


def path_without_python(directory: Path) -> Path:
    """Make a directory for PATH that holds every program of this machine but Python."""
    programs = directory / "programs"
    programs.mkdir()
    for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
        for program in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if not program.name.startswith(("python", "pypy", "2to3")):
                with contextlib.suppress(FileExistsError):
                    (programs / program.name).symlink_to(program)
    return programs


@contextlib.contextmanager
def laboratory(directory: Path, user: str) -> Iterator[Lab]:
    """Run sshds and stand-ins; the observed processes are in map mode ``mapped``."""
    programs = path_without_python(directory)
    standins = make_standins(directory, user)
    with contextlib.ExitStack() as stack:
        main, jump = (stack.enter_context(sshd(directory, alias=a, user=user)) for a in ("main", "jump"))
        bare = stack.enter_context(sshd(directory, alias="bare", user=user, path=str(programs)))
        for standin in standins.values():
            stack.callback(standin.stop)
            standin.start("mapped")
        lab = Lab(directory=directory, main=main, jump=jump, bare=bare, standins=standins)
        stack.callback(lab.down.close)
        lab.write_files()
        yield lab


def make_standins(directory: Path, user: str) -> dict[str, StandIn]:
    """Return a stand-in of the user who logs in, and as root one of root, neither started."""
    if os.getuid() != 0:
        return {"wax-owner": StandIn(data_dir=directory / "nodeos-owner", user=None, python=sys.executable)}
    python = python_of(user)
    standins = {}
    if python is not None:
        standins["wax-owner"] = StandIn(data_dir=directory / "nodeos-owner", user=user, python=python)
    standins["wax-other"] = StandIn(data_dir=directory / "nodeos-other", user=None, python=sys.executable)
    return standins


def of(recorded: dict[str, Path], host: str) -> Path:
    """Return the recording of a host; skips where this machine cannot have such a host."""
    short = host.removeprefix("bare-")
    if host not in recorded and short in WITHOUT and not recorded.keys() >= {"wax-owner", "wax-other"}:
        pytest.skip(WITHOUT[short])
    return recorded[host]

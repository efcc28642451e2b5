"""A real sshd on a loopback port, with keys, known_hosts and ssh configuration of its own.

    with sshd(tmp_path) as server:
        source = open_source(server.host())

Works as root and as a normal user (then it can only let that user in).
"""

import contextlib
import functools
import getpass
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from leapprof.model.access import HostConfig

SSHD = shutil.which("sshd") or next(
    (p for p in ("/usr/sbin/sshd", "/usr/local/sbin/sshd") if os.path.exists(p)), None
)
needs_sshd = pytest.mark.skipif(
    SSHD is None or shutil.which("ssh-keygen") is None or shutil.which("ssh") is None,
    reason="needs sshd, ssh and ssh-keygen (Debian: openssh-server)",
)
START_TIMEOUT_S = 60.0
TEST_USER = "leapprof-test"


def free_port() -> int:
    """Return a loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_key(path: Path, *, kind: str = "ed25519", passphrase: str = "") -> Path:
    """Make a key pair, if it is not there, and return the private one's path."""
    if path.exists():
        return path
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", path.name, "-f", str(path)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return path


def unprivileged_user() -> str:
    """Return a user other than root who has a shell and may be logged in as; skips where there is none."""
    if os.getuid() != 0:
        return getpass.getuser()
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(TEST_USER).pw_name
    if shutil.which("useradd") is None:
        pytest.skip("needs useradd to make an unprivileged user")
    made = subprocess.run(
        ["useradd", "-m", "-s", "/bin/sh", "-p", "*", TEST_USER], capture_output=True, check=False
    )
    for _ in range(100 if made.returncode else 1):  # another worker of the same run may be making it
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(TEST_USER).pw_name
        time.sleep(0.1)
    pytest.skip(f"needs useradd to make an unprivileged user: {made.stderr!r}")


def run_as(user: str, argv: list[str]) -> "subprocess.Popen[bytes]":
    """Start a program as a user (as root only), e.g. a process that the logged-in user may look at."""
    if os.getuid() != 0:
        return subprocess.Popen(argv)
    return subprocess.Popen(argv, user=user, group=pwd.getpwnam(user).pw_gid, extra_groups=[])


@dataclass
class Sshd:
    """A running sshd. ``directory`` holds everything; ``alias`` is its name in ``ssh_config``."""

    directory: Path
    port: int
    user: str
    alias: str
    options: tuple[str, ...] = ()
    key_types: tuple[str, ...] = ("ed25519",)
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def user_key(self) -> Path:
        return self.directory / "user_key"

    @property
    def known_hosts(self) -> Path:
        return self.directory / "known_hosts"

    @property
    def ssh_config(self) -> Path:
        return self.directory / "ssh_config"

    @property
    def log(self) -> Path:
        return self.directory / "sshd.log"

    def host_key(self, kind: str = "ed25519") -> Path:
        return self.directory / f"host_key_{kind}"

    def public_host_key(self, kind: str = "ed25519") -> str:
        """Return ``type base64`` of a host key."""
        return " ".join(self.host_key(kind).with_suffix(".pub").read_text().split()[:2])

    def host(self, **changes: Any) -> HostConfig:
        """Return the HostConfig that reaches this sshd through its ssh_config."""
        host = HostConfig(name=self.alias, address=self.alias, ssh_config=str(self.ssh_config))
        return replace(host, **changes)

    def write_files(self) -> None:
        """Make keys and files."""
        self.directory.mkdir(mode=0o755, exist_ok=True)
        for kind in self.key_types:
            make_key(self.host_key(kind), kind=kind)
        make_key(self.user_key)
        authorized = self.directory / "authorized_keys"
        authorized.write_text(self.user_key.with_suffix(".pub").read_text())
        authorized.chmod(0o644)
        # sshd takes the first SetEnv line alone
        set_env = [o.removeprefix("SetEnv ") for o in self.options if o.startswith("SetEnv ")]
        lines = [
            f"ListenAddress 127.0.0.1:{self.port}",
            *(f"HostKey {self.host_key(kind)}" for kind in self.key_types),
            f"AuthorizedKeysFile {authorized}",
            f"PidFile {self.directory / 'sshd.pid'}",
            "StrictModes no",
            *filter(
                _takes, ("UsePAM no", "PerSourcePenalties no")
            ),  # many log-ins of one address fail, as they should
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PermitRootLogin prohibit-password",
            "PermitUserEnvironment no",
            "AllowTcpForwarding yes",
            "LogLevel VERBOSE",
            "PrintMotd no",
            # whatever the start-up files of who runs the tests do, it is not part of them
            " ".join([f"SetEnv HOME={self.directory}", *set_env]),
            *(option for option in self.options if not option.startswith("SetEnv ")),
        ]
        (self.directory / "sshd_config").write_text("\n".join(lines) + "\n")
        self.known_hosts.write_text(
            "".join(f"[127.0.0.1]:{self.port} {self.public_host_key(kind)}\n" for kind in self.key_types)
        )
        self.ssh_config.write_text(self.config_block())

    def config_block(self, *lines: str, alias: str | None = None) -> str:
        """Return a Host block of ssh_config for this sshd, with further lines."""
        basic = (
            "HostName 127.0.0.1",
            f"Port {self.port}",
            f"User {self.user}",
            f"IdentityFile {self.user_key}",
            "IdentityAgent none",
            f"UserKnownHostsFile {self.known_hosts}",
            "GlobalKnownHostsFile /dev/null",
        )
        names = {line.split()[0] for line in lines}
        kept = [line for line in basic if line.split()[0] not in names]
        return "\n  ".join([f"Host {alias or self.alias}", *kept, *lines]) + "\n"

    def start(self) -> None:
        """Start it (again, on the same port) and wait until it greets."""
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        self.process = subprocess.Popen(
            [str(SSHD), "-D", "-f", str(self.directory / "sshd_config"), "-E", str(self.log)],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                if probe.recv(4):
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"sshd did not start: {self.log.read_text() if self.log.exists() else ''}")

    def connection_pids(self) -> list[int]:
        """Return the pids of the processes that serve connections, and of theirs."""
        if self.process is None:
            return []
        found, todo = [], [self.process.pid]
        while todo:
            parent = todo.pop()
            for child in _children(parent):
                found.append(child)
                todo.append(child)
        return found

    def kill_connections(self) -> None:
        """End all connections at once, as a network or a restart does; sshd goes on listening."""
        for pid in self.connection_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """End sshd and its connections; the port refuses until start()."""
        if self.process is None:
            return
        children = self.connection_pids()
        self.process.kill()
        self.process.wait()
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process = None


@contextlib.contextmanager
def restored(server: Sshd) -> Iterator[Sshd]:
    """Lend a running sshd to one test: afterwards it runs and its files are as they were; its log begins anew."""
    kept = {path: path.read_bytes() for path in server.directory.iterdir() if path != server.log}
    server.log.write_bytes(b"")
    try:
        yield server
    finally:
        for path in server.directory.iterdir():
            if path not in kept and path != server.log:
                path.unlink()
        for path, content in kept.items():
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)
                path.chmod(0o600)
        if server.process is None:
            server.start()
        else:
            server.kill_connections()


def _children(parent: int) -> list[int]:
    with contextlib.suppress(OSError):
        texts = [t.read_text() for t in Path(f"/proc/{parent}/task").glob("*/children")]
        return [int(word) for text in texts for word in text.split()]
    return []


@functools.cache
def _takes(option: str) -> bool:
    done = subprocess.run(
        [str(SSHD), "-T", "-o", option, "-f", "/dev/null"], capture_output=True, check=False
    )
    return b"Unsupported option" not in done.stderr and b"Bad configuration option" not in done.stderr


def _start_somewhere(server: Sshd) -> None:
    """Start it; on another port when somebody else took the chosen one in between."""
    for attempts_left in (2, 1, 0):
        try:
            server.start()
        except RuntimeError:
            if not attempts_left:
                raise
            server.stop()
            server.port = free_port()
            server.write_files()
        else:
            return


@contextlib.contextmanager
def sshd(
    directory: Path,
    *,
    alias: str = "target",
    user: str | None = None,
    options: tuple[str, ...] = (),
    key_types: tuple[str, ...] = ("ed25519",),
    path: str | None = None,
) -> Iterator[Sshd]:
    """Run an sshd below directory.

    Args:
        directory: an existing directory; sshd's files go to ``directory/alias``.
        alias: its name in ssh_config.
        user: who logs in; None: who runs the tests.
        options: further lines of sshd_config, e.g. ``ForceCommand …``.
        key_types: host keys to make.
        path: PATH of the programs started, e.g. a directory without python3.
    """
    # a login shell may set PATH anew from its start-up files, so it is set after them
    forced = f'ForceCommand PATH={path}; export PATH; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"'
    extra = options + ((forced,) if path else ())
    server = Sshd(
        directory=directory / alias,
        port=free_port(),
        user=user or getpass.getuser(),
        alias=alias,
        options=extra,
        key_types=key_types,
    )
    server.write_files()
    if user and os.getuid() == 0:
        # the user must be able to walk to authorized_keys; pytest makes its directories 0700
        for parent in [server.directory, *server.directory.parents]:
            if parent == Path("/tmp") or parent.stat().st_uid != 0:
                break
            with contextlib.suppress(PermissionError):
                parent.chmod(parent.stat().st_mode | 0o011)
    try:
        _start_somewhere(server)
        yield server
    finally:
        server.stop()


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


@contextlib.contextmanager
def ssh_agent(directory: Path, *keys: Path) -> Iterator[str]:
    """Run an ssh-agent that holds keys and yield its socket."""
    sock = directory / "agent.sock"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(sock)], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not _listens(sock):  # the file is there a little before
            assert time.monotonic() < deadline and process.poll() is None, "ssh-agent did not start"
            time.sleep(0.01)
        env = {**os.environ, "SSH_AUTH_SOCK": str(sock)}
        for key in keys:
            subprocess.run(["ssh-add", "-q", str(key)], env=env, check=True, capture_output=True)
        yield str(sock)
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def silent_server() -> Iterator[int]:
    """Listen on a loopback port, accept nothing and say nothing; yields the port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        yield listener.getsockname()[1]

"""Logging in with keys: the agent's and those in files. There is no password, and no prompt."""

import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import paramiko  # noqa: TID253 (imported lazily by sources/__init__.py)
from paramiko.agent import AgentKey, AgentSSH  # noqa: TID253
from paramiko.pkey import UnknownKeyType  # noqa: TID253

from leapprof.errors import ConnectError, quoted
from leapprof.sources.known_hosts import parse_known_hosts
from leapprof.sources.ssh_errors import translated
from leapprof.sources.ssh_settings import SshSettings

AGENT_TIMEOUT_S = 30.0
_FIDO = "sk-"


class _Agent(AgentSSH):
    """An ssh-agent behind a socket whose path we choose and whose answers we do not await for ever."""

    def __init__(self, path: str) -> None:
        super().__init__()
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(AGENT_TIMEOUT_S)
        try:
            connection.connect(path)
            self._connect(connection)  # type: ignore[attr-defined]
        except BaseException:
            connection.close()
            raise
        self._socket = connection

    def close(self) -> None:
        self._socket.close()


@dataclass(slots=True)
class _Attempts:
    """What was tried and what could not be, for the message when nothing works."""

    tried: list[str] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)
    only_openssh: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    agent_problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    label: str
    load: Callable[[], paramiko.PKey | None]


def _public_blob(path: str) -> bytes | None:
    """Return the public key beside a private one, where it can be read."""
    with contextlib.suppress(OSError):
        keys = parse_known_hosts("* " + Path(path + ".pub").read_text("utf-8", "replace"), path)
        return keys[0].blob if keys else None
    return None


def _load_file(path: str, attempts: _Attempts) -> paramiko.PKey | None:
    try:
        return paramiko.PKey.from_path(path)
    except FileNotFoundError:
        return None
    except (TypeError, paramiko.PasswordRequiredException):
        # cryptography raises TypeError for an encrypted key without a passphrase
        attempts.encrypted.append(path)
    except UnknownKeyType:
        attempts.only_openssh.append(path)
    except (ValueError, OSError, paramiko.SSHException):
        fido = (_public_type(path) or "").startswith(_FIDO)
        (attempts.only_openssh if fido else attempts.unreadable).append(path)
    return None


def _public_type(path: str) -> str | None:
    with contextlib.suppress(OSError):
        return Path(path + ".pub").read_text("utf-8", "replace").partition(" ")[0]
    return None


def _agent_keys(agent: _Agent | None, attempts: _Attempts) -> list[AgentKey]:
    keys: list[AgentKey] = []
    for key in agent.get_keys() if agent else ():
        if key.get_name().startswith(_FIDO) or "-cert-" in key.get_name():
            attempts.only_openssh.append(f"agent's {key.get_name()} {quoted(key.comment)}")
        else:
            keys.append(key)
    return keys


def _candidates(settings: SshSettings, keys: list[AgentKey], attempts: _Attempts) -> Iterator[_Candidate]:
    """Yield keys in the order to try: configured ones that the agent holds, files, then the agent's others.

    Unlike ssh, files come before the agent's other keys: a server ends a connection after MaxAuthTries
    (6) keys, and a full agent would use them up before the configured file has its turn.
    """
    wanted = {blob for path in settings.identity_files if (blob := _public_blob(path))}
    held = {key.blob for key in keys}

    def of_agent(key: AgentKey) -> _Candidate:
        return _Candidate(f"agent's {quoted(key.comment)}", lambda: key)

    def of_file(path: str) -> _Candidate:
        return _Candidate(path, lambda: _load_file(path, attempts))

    yield from (of_agent(key) for key in keys if key.blob in wanted)
    yield from (of_file(path) for path in settings.identity_files if _public_blob(path) not in held)
    if not settings.identities_only:
        yield from (of_agent(key) for key in keys if key.blob not in wanted)


def _open_agent(settings: SshSettings, attempts: _Attempts) -> _Agent | None:
    if settings.identity_agent is None:
        return None
    try:
        return _Agent(settings.identity_agent)
    except (OSError, paramiko.SSHException) as error:
        attempts.agent_problem = f"the ssh-agent at {settings.identity_agent} does not answer ({error})"
        return None


def _is_accepted(transport: paramiko.Transport, user: str, key: paramiko.PKey) -> bool:
    try:
        missing = transport.auth_publickey(user, key)
    except paramiko.AuthenticationException as error:
        if "timeout" in str(error):  # paramiko (5.1) has no class of its own for it
            raise TimeoutError(str(error)) from error
        return False
    return not missing and transport.is_authenticated()


def _try_all(transport: paramiko.Transport, settings: SshSettings, attempts: _Attempts) -> bool:
    agent = _open_agent(settings, attempts)
    try:
        for candidate in _candidates(settings, _agent_keys(agent, attempts), attempts):
            key = candidate.load()
            if key is None:
                continue
            attempts.tried.append(candidate.label)
            if _is_accepted(transport, settings.user, key):
                return True
            if not transport.is_active():
                return False
        return False
    finally:
        if agent is not None:
            agent.close()


def _explain(settings: SshSettings, attempts: _Attempts) -> str:
    tried = ", ".join(attempts.tried) or "no usable key"
    parts = [f"user {quoted(settings.user)} is not let in (tried: {tried})"]
    if attempts.encrypted:
        path = attempts.encrypted[0]
        parts.append(f"{path} is encrypted: unlock it once in ssh-agent with: ssh-add {path}")
    if attempts.agent_problem:
        parts.append(attempts.agent_problem)
    elif settings.identity_agent is None and not attempts.tried:
        parts.append("no ssh-agent is running (SSH_AUTH_SOCK is not set)")
    if attempts.unreadable:
        parts.append(f"cannot be read as keys: {', '.join(attempts.unreadable)}")
    beyond = [*attempts.only_openssh, *settings.wants]
    if beyond:
        parts.append(f"{', '.join(beyond)}: only --transport openssh can use these")
    if attempts.tried:
        parts.append(
            "put the public half of one into the host's authorized_keys, or name another IdentityFile"
        )
    return "; ".join(parts)


def log_in(transport: paramiko.Transport, host: str, settings: SshSettings, timeout_s: float) -> None:
    """Authenticate with a key; the server's own key has been checked before.

    Raises:
        ConnectError: no key is accepted; the message says which were tried and what to do.
        SourceTimeoutError: the server does not answer.
    """
    attempts = _Attempts()
    transport.auth_timeout = timeout_s
    with translated(host, "logging in", timeout_s):
        if _try_all(transport, settings, attempts):
            return
    raise ConnectError(host, _explain(settings, attempts))

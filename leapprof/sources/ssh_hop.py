"""One hop of an SSH connection: transport, host key, log-in. Every step has a time-out."""

import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterator

import paramiko  # noqa: TID253 (imported lazily by sources/__init__.py)

from leapprof.errors import ConfigError, ConnectError, HostKeyError, SourceError, SourceTimeoutError, quoted
from leapprof.sources.base import Timeouts
from leapprof.sources.known_hosts import (
    KeyCheck,
    KeyVerdict,
    KnownKey,
    check_key,
    fingerprint,
    known_types,
    lookup_names,
    read_known_hosts,
    read_revoked,
)
from leapprof.sources.liveness import WatchedLink
from leapprof.sources.proxy import ProxyProcess
from leapprof.sources.ssh_auth import log_in
from leapprof.sources.ssh_errors import translated
from leapprof.sources.ssh_settings import DEFAULT_PORT, SshSettings

# paramiko writes tracebacks of failed connections to its log, and without any handler Python prints them
logging.getLogger("paramiko").addHandler(logging.NullHandler())

_RSA_TYPES = ("rsa-sha2-512", "rsa-sha2-256")
# An RSA key is listed as ssh-rsa whatever its signature algorithm: RFC 8332, section 3
_FILE_OF_TYPE = {"ssh-ed25519": "ed25519", "ssh-rsa": "rsa"}


def place(settings: SshSettings) -> str:
    """Return ``host:port`` of a hop as messages show it."""
    name = f"[{settings.hostname}]" if ":" in settings.hostname else settings.hostname
    return f"{name}:{settings.port}"


def refusal(settings: SshSettings, key: paramiko.PKey, check: KeyCheck) -> str:
    """Return why the host's key is refused and how the operator accepts it after looking."""
    shown = f"{place(settings)} shows the {key.get_name()} key {fingerprint(key.asbytes())}"
    kind = _FILE_OF_TYPE.get(key.get_name(), "ecdsa")
    compare = (
        "compare this fingerprint with the host's own "
        f"(there: ssh-keygen -lf /etc/ssh/ssh_host_{kind}_key.pub), then "
    )
    if check.verdict is KeyVerdict.REVOKED:
        where = f" in {check.line.path} line {check.line.line_no}" if check.line else ""
        return f"{shown}, which is revoked{where}; do not connect: ask who runs the host for its new key"
    if check.verdict is KeyVerdict.CHANGED and check.line:
        line = check.line
        listed = line.patterns[0]
        name = settings.hostname if listed.startswith("|") and settings.port == DEFAULT_PORT else listed
        if listed.startswith("|") and settings.port != DEFAULT_PORT:
            name = f"[{settings.hostname}]:{settings.port}"
        return (
            f"{shown}, but {line.path} line {line.line_no} has {fingerprint(line.blob)}: the key has CHANGED. "
            "Either the host was set up anew or somebody is in between. Find out which; if it is the host, "
            f"{compare}remove the line with: ssh-keygen -R '{name}' -f '{line.path}' "
            f"and connect once with: {settings.by_hand}"
        )
    if check.has_authority:
        return (
            f"{shown}; known_hosts trusts this host through a certificate authority: use --transport openssh"
        )
    others = f" (known of it: {', '.join(check.other_types)})" if check.other_types else ""
    return f"{shown}, which is not in known_hosts{others}; {compare}connect once with: {settings.by_hand}"


def _algorithms(offered: tuple[str, ...], configured: tuple[str, ...], known: tuple[str, ...]) -> list[str]:
    """Return the host key algorithms to ask for: those whose key is known first, else in ssh's order."""
    usable = [name for name in configured if name in offered] if configured else list(offered)
    wanted = {name for key in known for name in (_RSA_TYPES if key == "ssh-rsa" else (key,))}
    return sorted(usable, key=lambda name: name not in wanted)


def _no_banner(host: str, settings: SshSettings, limits: Timeouts, error: Exception | None) -> SourceError:
    """Return what it means that no line of SSH came: paramiko (5.1) words every end of the wait alike."""
    cause = error.__context__ or error if error is not None else None
    if isinstance(cause, EOFError | ConnectionError):
        return ConnectError(host, f"{place(settings)} closed the connection before it said it speaks SSH")
    if cause is None or isinstance(cause, TimeoutError):
        return SourceTimeoutError(host, f"SSH banner from {place(settings)}", limits.banner_s)
    if isinstance(cause, OSError) and cause.strerror:
        return ConnectError(host, f"{cause.strerror} before {place(settings)} answered")
    return ConnectError(host, f"{place(settings)} does not speak SSH: {quoted(str(error))}")


def _start(
    transport: paramiko.Transport,
    host: str,
    settings: SshSettings,
    limits: Timeouts,
    proxy: ProxyProcess | None,
) -> None:
    """Exchange banners and keys."""
    limit_s = limits.banner_s + limits.connect_s
    transport.banner_timeout = limits.banner_s
    transport.handshake_timeout = limit_s
    transport.channel_timeout = limits.channel_s
    done = threading.Event()
    transport.start_client(event=done)
    in_time = done.wait(limit_s)
    if in_time and transport.is_active():
        return
    if not transport.remote_version:
        ending = proxy.ending if proxy else None
        if ending:
            raise ConnectError(host, f"{ending} before {place(settings)} answered; try it by hand")
        raise _no_banner(host, settings, limits, transport.get_exception() if in_time else None)
    if not in_time:
        raise SourceTimeoutError(host, f"end of the key exchange with {place(settings)}", limit_s)
    raise transport.get_exception() or ConnectError(host, f"{place(settings)} ended the key exchange")


def _check_host_key(
    host: str, settings: SshSettings, key: paramiko.PKey, keys: tuple[KnownKey, ...], names: tuple[str, ...]
) -> None:
    check = check_key(keys, names, key.get_name(), key.asbytes())
    if settings.revoked_host_keys and key.asbytes() in read_revoked(settings.revoked_host_keys):
        check = KeyCheck(verdict=KeyVerdict.REVOKED)
    if check.verdict is not KeyVerdict.KNOWN:
        raise HostKeyError(host, refusal(settings, key, check))


def _prepare(transport: paramiko.Transport, host: str, settings: SshSettings, known: tuple[str, ...]) -> None:
    options = transport.get_security_options()
    algorithms = _algorithms(tuple(options.key_types), settings.host_key_algorithms, known)
    if not algorithms:
        raise ConfigError(
            "none of them is known to this transport; use --transport openssh",
            path=host,
            key="HostKeyAlgorithms",
        )
    options.key_types = algorithms
    transport.use_compression(settings.compression)


def close_hop(transport: paramiko.Transport) -> None:
    """Close a transport and what it runs over: paramiko (5.1) leaves the socket open when the peer ended it."""
    with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
        transport.close()
    with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
        transport.sock.close()


@contextlib.contextmanager
def _closed_on_error(close: Callable[[], None]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        close()
        raise


def open_hop(
    link: "socket.socket | paramiko.Channel",
    host: str,
    settings: SshSettings,
    limits: Timeouts,
    *,
    proxy: ProxyProcess | None = None,
) -> paramiko.Transport:
    """Speak SSH over a link: check the host's key, then log in.

    Raises:
        HostKeyError: the host's key is unknown, changed or revoked; nothing of ours was shown to it.
        ConnectError: it cannot be spoken with, or does not let us in.
        SourceTimeoutError: it does not answer.
    """
    doing = f"connecting to {place(settings)}"
    with _closed_on_error(link.close), translated(host, doing, limits.banner_s):
        keys = read_known_hosts(settings.known_hosts_files)
        names = lookup_names(settings.hostname, settings.port, settings.host_key_alias)
        transport = paramiko.Transport(WatchedLink(link))  # type: ignore[arg-type]  # acts as a socket
        transport.daemon = True
        with _closed_on_error(lambda: close_hop(transport)):
            _prepare(transport, host, settings, known_types(keys, names))
            _start(transport, host, settings, limits, proxy)
            _check_host_key(host, settings, transport.get_remote_server_key(), keys, names)
            log_in(transport, host, settings, limits.auth_s)
            transport.set_keepalive(max(1, int(limits.keepalive_s)))
    return transport


def connect_tcp(host: str, settings: SshSettings, limits: Timeouts) -> socket.socket:
    """Open the TCP connection of the first hop.

    Raises:
        ConnectError: refused, no route, or the name is not known.
        SourceTimeoutError: no answer.
    """
    target = place(settings)
    try:
        link = socket.create_connection((settings.hostname, settings.port), limits.connect_s)
    except TimeoutError as error:
        raise SourceTimeoutError(host, f"TCP connection to {target}", limits.connect_s) from error
    except OSError as error:
        raise ConnectError(host, f"cannot connect to {target}: {error.strerror or error}") from error
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # unanswered keepalives end the connection: RFC 5482; paramiko awaits no answer to its own
        patience_ms = int(limits.keepalive_s * 3000)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience_ms)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def open_tunnel(
    via: paramiko.Transport, jump: SshSettings, host: str, settings: SshSettings, limits: Timeouts
) -> paramiko.Channel:
    """Open a connection to the next hop through the one before.

    Raises:
        ConnectError: the jump host cannot reach it; the message names the jump host.
    """
    target = (settings.hostname, settings.port)
    try:
        with translated(host, f"connecting to {place(settings)}", limits.channel_s):
            return via.open_channel("direct-tcpip", target, ("127.0.0.1", 0), timeout=limits.channel_s)
    except SourceError as error:
        raise ConnectError(
            host, f"jump host {jump.alias} cannot connect to {place(settings)}: {error.problem}"
        ) from error

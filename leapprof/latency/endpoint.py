"""What is probed: a URL or HOST:PORT of the operator, taken apart."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from leapprof.errors import ConfigError, quoted

MAX_PORT = 65_535
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_SECURE = frozenset({"https", "wss"})
MAX_ADDRESS_CHARS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a service listens.

    Attributes:
        host: name or address, IPv6 without brackets.
        tls: it is spoken to through TLS.
        prefix: path in front of every request, without a slash at its end.
    """

    host: str
    port: int
    tls: bool = False
    prefix: str = ""

    @property
    def authority(self) -> str:
        """Return ``host:port``, IPv6 in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_url(text: str, schemes: tuple[str, ...]) -> Endpoint:
    """Return the endpoint of a URL; without a scheme the first of those allowed is meant.

    Raises:
        ConfigError: it is no such URL, or carries a password, a query or a fragment.
    """
    allowed = " or ".join(f"{scheme}://HOST:PORT" for scheme in schemes)
    if len(text) > MAX_ADDRESS_CHARS or any(c.isspace() or not c.isprintable() for c in text):
        raise ConfigError(f"{quoted(text)} is no URL: write {allowed}", key="URL")
    try:
        parts = urlsplit(text if "://" in text else f"{schemes[0]}://{text}")
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"{quoted(text)} is no URL ({error}): write {allowed}", key="URL") from error
    if parts.scheme not in schemes or not parts.hostname or port == 0:
        raise ConfigError(f"{quoted(text)} is no URL of this probe: write {allowed}", key="URL")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError("a password, query or fragment does not belong here", key="URL")
    return Endpoint(
        host=parts.hostname,
        port=port or _DEFAULT_PORTS[parts.scheme],
        tls=parts.scheme in _SECURE,
        prefix=parts.path.rstrip("/"),
    )


def parse_host_port(text: str) -> Endpoint:
    """Return the endpoint of ``HOST:PORT`` or ``[IPv6]:PORT``.

    Raises:
        ConfigError: it has another form.
    """
    host, colon, port = text.rpartition(":")
    bare = host.strip("[]")
    is_ipv6 = ":" in bare
    if (
        not (colon and bare and port.isascii() and port.isdigit())
        or not 0 < int(port[:6]) <= MAX_PORT
        or is_ipv6 != host.startswith("[")
        or any(c.isspace() or not c.isprintable() or c in "/@" for c in bare)
    ):
        raise ConfigError(f"{quoted(text)} is no HOST:PORT, nor [IPv6]:PORT", key="HOST:PORT")
    return Endpoint(host=bare, port=int(port))

"""How a Prometheus-compatible server is reached. Secrets come from the environment or a file, never an argument."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from leapprof.config.secrets import read_secret
from leapprof.errors import ConfigError

TOKEN_VARIABLE = "LEAPPROF_PROMETHEUS_TOKEN"  # noqa: S105 - the name of a variable
USER_VARIABLE = "LEAPPROF_PROMETHEUS_USER"
TENANT_VARIABLE = "LEAPPROF_PROMETHEUS_TENANT"
PASSWORD_VARIABLE = "LEAPPROF_PROMETHEUS_PASSWORD"  # noqa: S105 - the name of a variable
DEFAULT_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAccess:
    """A server and how to get in.

    Attributes:
        url: root of its API: ``http://host:9090``; without user and password.
        token, user, password: None where not used.
        tenant: of Mimir and its kin, which want one in a header of its own; None: none is sent.
        ca_file: certificates to trust instead of the system's.
        timeout_s: of one answer.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tenant: str | None = None
    ca_file: Path | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S

    @property
    def shown(self) -> str:
        """Return the server as messages call it."""
        return urlsplit(self.url).netloc


def server_access(
    url: str,
    environment: Mapping[str, str],
    *,
    token_file: Path | None = None,
    basic_auth_file: Path | None = None,
    ca_file: Path | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> ServerAccess:
    """Return how a server is reached.

    Args:
        url: as the operator gave it.
        environment: LEAPPROF_PROMETHEUS_TOKEN, or …_USER and …_PASSWORD, and …_TENANT.
        token_file: holds a bearer token; it goes before the environment.
        basic_auth_file: holds ``user:password``.
        ca_file: certificates to trust.
        timeout_s: of one answer.

    Raises:
        ConfigError: the URL is none, holds a password, or a file cannot be read.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError("is no URL such as http://host:9090", key="URL")
    if parts.username or parts.password:
        raise ConfigError(
            f"leave user and password out of the URL: put them into ${USER_VARIABLE} and "
            f"${PASSWORD_VARIABLE}, or into a file for --basic-auth-file",
            key="URL",
        )
    if ca_file is not None and not ca_file.is_file():
        raise ConfigError("does not exist", path=str(ca_file), key="--ca-file")
    token = read_secret(token_file) if token_file else environment.get(TOKEN_VARIABLE) or None
    user, password = environment.get(USER_VARIABLE) or None, environment.get(PASSWORD_VARIABLE)
    if basic_auth_file:
        user, colon, password = read_secret(basic_auth_file).partition(":")
        if not colon:
            raise ConfigError("holds no user:password", path=str(basic_auth_file), key="--basic-auth-file")
    return ServerAccess(
        url=url.rstrip("/"),
        token=token,
        user=user,
        password=password,
        tenant=environment.get(TENANT_VARIABLE) or None,
        ca_file=ca_file,
        timeout_s=timeout_s,
    )

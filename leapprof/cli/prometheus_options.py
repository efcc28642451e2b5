"""How the commands open a Prometheus-compatible server."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leapprof.importers.prom_server import Server


def open_server(
    url: str, token_file: Path | None, basic_auth_file: Path | None, ca_file: Path | None, timeout: str
) -> "Server":
    """Return a server as the options and the environment say.

    Raises:
        ConfigError: an option is wrong.
    """
    from leapprof.cli.values import parse_duration_s
    from leapprof.importers.prom_access import server_access
    from leapprof.importers.prom_server import Server

    access = server_access(
        url,
        os.environ,
        token_file=token_file,
        basic_auth_file=basic_auth_file,
        ca_file=ca_file,
        timeout_s=parse_duration_s(timeout, "--timeout"),
    )
    return Server(access)

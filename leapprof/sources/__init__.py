"""How bytes are fetched from hosts, handed on as received; the program to run is an argument.

Each transport is imported when it is first used: paramiko alone costs a quarter of a second.
"""

from pathlib import Path

from leapprof.errors import ConfigError
from leapprof.model.access import HostConfig
from leapprof.sources.base import Channel, ChannelClosedError, CommandResult, Source, Timeouts

__all__ = ["Channel", "ChannelClosedError", "CommandResult", "Source", "Timeouts", "open_source"]


def open_source(host: HostConfig, *, timeouts: Timeouts | None = None) -> Source:
    """Return the source of a host; nothing is connected until its first ``open`` or ``run``.

    Raises:
        ConfigError: the transport is not known.
    """
    limits = timeouts or Timeouts()
    if host.transport == "ssh":
        from leapprof.sources.ssh import SshSource

        return SshSource(host, limits)
    if host.transport == "openssh":
        from leapprof.sources.openssh import OpensshSource

        return OpensshSource(host, limits)
    if host.transport == "local":
        from leapprof.sources.local import LocalSource

        return LocalSource(host.name)
    if host.transport == "replay" and host.replay:
        from leapprof.sources.replay import ReplaySource

        return ReplaySource(host.name, Path(host.replay))
    raise ConfigError(
        f"{host.transport!r} is not a transport (ssh, openssh, local)", path=host.name, key="transport"
    )

"""What ssh itself would use to reach a host, as ``ssh -G`` resolves it.

OpenSSH's own answer is taken because paramiko's reader (5.1) follows no ``Include`` and evaluates no
``Match exec``; it is used only where no ``ssh`` is installed, and a finding says so.
"""

import shutil
import subprocess

from leapprof.errors import MAX_QUOTED_CHARS, ConfigError, SourceTimeoutError, quoted
from leapprof.model.access import HostConfig
from leapprof.sources.ssh_settings import SshSettings, by_hand, settings_from, ssh_arguments

SSH_G_TIMEOUT_S = 15.0


def parse_ssh_g(text: str) -> dict[str, list[str]]:
    """Return what ``ssh -G`` printed: option in lower case → its values in order."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        found.setdefault(name.lower(), []).append(value.strip())
    return found


def resolve(host: HostConfig) -> SshSettings:
    """Ask the system's ssh how it would reach the host.

    Raises:
        ConfigError: ssh's configuration is wrong.
        SourceTimeoutError: ssh does not answer (a ``Match exec`` that hangs).
    """
    program = shutil.which("ssh")
    if program is None:
        from leapprof.sources.ssh_config_fallback import resolve_without_ssh

        return resolve_without_ssh(host)
    argv = [program, "-G", *ssh_arguments(host), "--", host.address]
    try:
        done = subprocess.run(  # noqa: S603 (the system's ssh; the address cannot be an option after --)
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=SSH_G_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SourceTimeoutError(host.name, "answer of `ssh -G`", SSH_G_TIMEOUT_S) from error
    if done.returncode:
        problem = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"])[0]
        shown = quoted(problem[-MAX_QUOTED_CHARS:])  # the problem stands at the end, after a long path
        raise ConfigError(f"ssh does not accept its configuration: {shown}", path=host.name)
    options = parse_ssh_g(done.stdout.decode("utf-8", "replace"))
    return settings_from(host.address, options, by_hand=by_hand(host))

"""Runs commands on a host or on this machine; what they print is bounded and escaped."""

import os
import re
import shlex
import subprocess
from collections.abc import Mapping

from leapprof.errors import CommandError, SourceError, SourceTimeoutError
from leapprof.sources import Source

MAX_SHOWN_CHARS = 400
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_][A-Za-z0-9_.\-]*)\}")


def filled(text: str, names: Mapping[str, str]) -> str:
    """Return a command with its ``{name}`` replaced, each quoted for the shell; unknown ones stay."""
    return _PLACEHOLDER.sub(lambda m: shlex.quote(names[m[1]]) if m[1] in names else m[0], text)


def filled_plain(text: str, names: Mapping[str, str]) -> str:
    """Return a path or unit with its ``{name}`` replaced as it is."""
    return _PLACEHOLDER.sub(lambda m: names.get(m[1], m[0]), text)


def with_sudo(script: str, *, sudo: bool) -> str:
    """Return a script as one command for the login shell of a host, whichever that is."""
    command = f"sh -c {shlex.quote(script)}"
    return f"sudo -n {command}" if sudo else command


def shown(data: bytes) -> str:
    """Return output fit for a message: one line, printable, bounded."""
    text = " ".join(data.decode("utf-8", "backslashreplace").split())
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"


def run_checked(source: Source, command: str, timeout_s: float) -> bytes:
    """Run a command on a host and return its output.

    Raises:
        CommandError: it ended with a status other than 0.
        SourceError: the host failed, or it took too long.
    """
    result = source.run(command, timeout_s)
    if result.exit_status != 0:
        raise CommandError(
            source.name, command, result.exit_status, shown(result.stderr) or shown(result.stdout)
        )
    return result.stdout


def run_here(command: str, timeout_s: float, environment: Mapping[str, str] | None = None) -> int:
    """Run a command of the playbook on this machine and return its exit status; its output goes to stderr.

    Raises:
        SourceError: it cannot be started, or took too long (and was ended).
    """
    try:
        done = subprocess.run(  # noqa: S602 - a command line that the operator wrote into the playbook
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=2,
            start_new_session=True,  # Ctrl-C is for leapprof: what was begun is finished
            timeout=timeout_s,
            env={**os.environ, **(environment or {})},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SourceTimeoutError("collector", "end of the command", timeout_s) from error
    except OSError as error:
        raise SourceError("collector", f"cannot start {command!r}: {error.strerror}") from error
    return done.returncode

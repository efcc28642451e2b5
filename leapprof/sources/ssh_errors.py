"""The one place where exceptions of paramiko, sockets and keys become ours."""

import contextlib
from collections.abc import Iterator

import paramiko  # noqa: TID253 (imported lazily by sources/__init__.py)
from paramiko.ber import BERException  # noqa: TID253
from paramiko.buffered_pipe import PipeTimeout  # noqa: TID253
from paramiko.hostkeys import InvalidHostKey  # noqa: TID253
from paramiko.packet import NeedRekeyException  # noqa: TID253
from paramiko.pkey import UnknownKeyType  # noqa: TID253
from paramiko.sftp import SFTPError  # noqa: TID253
from paramiko.ssh_exception import IncompatiblePeer  # noqa: TID253

from leapprof.errors import ConnectError, HostKeyError, SourceError, SourceTimeoutError, quoted
from leapprof.sources.base import ChannelClosedError

_OPENSSH_HINT = "; --transport openssh may manage"


def _text(error: BaseException) -> str:
    return quoted(str(error) or type(error).__name__)


def _of_ssh(error: Exception, host: str, doing: str) -> SourceError:
    match error:
        case paramiko.BadHostKeyException() | InvalidHostKey():
            return HostKeyError(host, f"its host key is not accepted: {type(error).__name__}")
        case IncompatiblePeer():
            return ConnectError(host, f"no common algorithm while {doing}: {_text(error)}{_OPENSSH_HINT}")
        case paramiko.AuthenticationException():
            return ConnectError(host, f"authentication failed while {doing}: {_text(error)}")
        case _:
            return ConnectError(host, f"{_text(error)} while {doing}")


def translate(error: Exception, host: str, doing: str, timeout_s: float) -> SourceError:
    """Return the error of our tree that says what a foreign one means."""
    match error:
        case TimeoutError() | PipeTimeout():
            return SourceTimeoutError(host, f"answer while {doing}", timeout_s)
        case EOFError():
            return ChannelClosedError(host, f"the connection was closed while {doing}")
        case OSError() if error.strerror:
            return ConnectError(host, f"{error.strerror} while {doing}")
        case _:
            return _of_ssh(error, host, doing)


FOREIGN = (
    paramiko.SSHException,
    InvalidHostKey,
    UnknownKeyType,
    BERException,
    NeedRekeyException,
    SFTPError,
    OSError,
    EOFError,
)


@contextlib.contextmanager
def translated(host: str, doing: str, timeout_s: float) -> Iterator[None]:
    """Let only errors of our tree out.

    Args:
        host: whose name the message shall bear.
        doing: what was being done, to follow "while": ``connecting to 10.0.0.1:22``.
        timeout_s: the time-out in force, named if it runs out.
    """
    try:
        yield
    except FOREIGN as error:
        raise translate(error, host, doing, timeout_s) from error

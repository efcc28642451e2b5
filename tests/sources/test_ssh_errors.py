"""Every exception that paramiko knows becomes one of ours."""

import importlib
import inspect
import pkgutil

import paramiko
import pytest
from paramiko.auth_strategy import AuthResult

from leapprof.errors import ConnectError, HostKeyError, SourceError, SourceTimeoutError
from leapprof.sources.ssh_errors import translated


def exception_classes() -> list[type[Exception]]:
    """Return every exception class that is defined in any module of paramiko."""
    found = set()
    for module in pkgutil.iter_modules(paramiko.__path__):
        if module.name in ("_winapi", "win_pageant", "win_openssh"):
            continue
        for _, value in inspect.getmembers(
            importlib.import_module(f"paramiko.{module.name}"), inspect.isclass
        ):
            if issubclass(value, Exception) and value.__module__.startswith("paramiko"):
                found.add(value)
    return sorted(found, key=lambda cls: cls.__name__)


def an_instance(cls: type[Exception]) -> Exception:
    """Return an exception of a class; those whose message needs certain parts get them."""
    result = AuthResult(strategy=None)
    parts = {
        "AuthFailure": (result,),
        "BadAuthenticationType": ("boom", ["publickey"]),
        "ChannelException": (2, "boom"),
        "ProxyCommandFailure": ("nc", "boom"),
        "BadHostKeyException": ("h", paramiko.ECDSAKey.generate(), paramiko.ECDSAKey.generate()),
        "NoValidConnectionsError": ({("h", 22): OSError("boom")},),
        "CouldNotCanonicalize": ("boom",),
        "InvalidHostKey": ("line", ValueError("boom")),
    }
    if cls.__name__ == "UnknownKeyType":
        return cls(key_type="boom", key_bytes=b"x")
    if issubclass(cls, paramiko.ssh_exception.IncompatiblePeer) or cls.__name__ not in parts:
        return cls("boom")
    return cls(*parts[cls.__name__])


@pytest.mark.parametrize("cls", exception_classes())
def test_no_exception_of_paramiko_gets_out(cls):
    """Each is translated into a SourceError that names the host."""
    error = an_instance(cls)
    with pytest.raises(SourceError, match="web-1") as caught, translated("web-1", "connecting", 3):
        raise error
    assert caught.value.exit_code == 3


def test_all_of_them_are_looked_at():
    """The list is not empty by mistake."""
    names = {cls.__name__ for cls in exception_classes()}
    assert {"SSHException", "InvalidHostKey", "UnknownKeyType", "NoValidConnectionsError"} <= names


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("timed out"), SourceTimeoutError),
        (ConnectionRefusedError(111, "Connection refused"), ConnectError),
        (EOFError(), SourceError),
        (paramiko.BadHostKeyException("h", None, None), HostKeyError),
        (paramiko.AuthenticationException("no"), ConnectError),
    ],
)
def test_kinds_are_kept_apart(error, kind):
    """Time-outs, refusals and host keys stay different things."""
    with pytest.raises(kind), translated("web-1", "connecting", 3):
        raise error


def test_bugs_of_ours_are_not_hidden():
    """Only foreign exceptions are translated."""
    with pytest.raises(KeyError), translated("web-1", "connecting", 3):
        raise KeyError("x")

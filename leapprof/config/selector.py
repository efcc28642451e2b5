"""How the operator says which processes are a nodeos: ``unit:nodeos.service``, ``eos=pid:4711``, ``port:8888``."""

import re

from leapprof.errors import ConfigError, quoted
from leapprof.model.access import NodeosSelector

AGENT_KINDS = ("exe_name", "comm", "cmdline", "pid", "unit")
"""Kinds that an agent matches itself."""
SURVEY_KINDS = ("name", "data-dir", "port", "pid-file")
"""Kinds that the survey of the host resolves: what leapprof calls it, its data directory, its HTTP port, a pid file."""
KINDS = (*AGENT_KINDS, *SURVEY_KINDS)
MAX_COMM_CHARS = 15  # TASK_COMM_LEN of the kernel is 16 with its zero byte
MAX_PORT = 65_535

_ALIASES = {"exe": "exe_name", "pidfile": "pid-file", "pid_file": "pid-file", "data_dir": "data-dir"}
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@\-]{0,63}\Z")
_KIND = re.compile(r"(?:(?P<id>[^:=/]{1,64})=)?(?:(?P<kind>[a-z_-]{1,16}):)?(?P<value>.+)\Z", re.DOTALL)
_UNSAFE_IN_ID = re.compile(r"[^A-Za-z0-9_.@\-]+")
_DIGITS = re.compile(r"[0-9]{1,9}\Z", re.ASCII)
_MAX_VALUE_CHARS = 256
_PLAIN_NAMES = frozenset({"data", "data-dir", "datadir", "nodeos-data"})
_NAMED_BY_VALUE = frozenset({"exe_name", "unit", "cmdline", "comm", "name", "data-dir"})


def parse_selector(text: str) -> NodeosSelector:
    """Return the selector that ``[id=]kind:value`` means.

    A bare number is a pid, a bare ``NAME.service`` a unit, any other bare word an executable's name. Without an id
    it is made of the value: ``unit:nodeos-eos.service`` is ``nodeos-eos``.

    Raises:
        ConfigError: the kind is not known or the value cannot be one.
    """
    found = _KIND.match(text)
    named, said, value = (found["id"], found["kind"], found["value"]) if found else (None, None, "")
    kind = _ALIASES.get(said, said) if said else _kind_of(value)
    known = kind in KINDS and bool(value.strip()) and value.isprintable() and len(value) <= _MAX_VALUE_CHARS
    if not known or kind is None or (named is not None and not _ID.match(named)):
        raise ConfigError(
            f"{quoted(text)} is not accepted: write exe:NAME, unit:NAME.service, pid:NUMBER, pid-file:PATH, "
            "data-dir:PATH, port:NUMBER, name:NAME, comm:NAME or cmdline:TEXT, with ID= in front to name it",
            key="nodeos",
        )
    _check_value(kind, value)
    return NodeosSelector(id=named or _id_of(kind, value), kind=kind, value=value)


def _kind_of(value: str) -> str | None:
    if ":" in value:
        return None
    if _DIGITS.match(value):
        return "pid"
    return "unit" if value.endswith(".service") else "exe_name"


def _check_value(kind: str, value: str) -> None:
    problem = None
    if kind == "pid" and not _DIGITS.match(value):
        problem = "is not a process id: write exe:NAME for a name"
    if kind == "port" and not (_DIGITS.match(value) and 0 < int(value) <= MAX_PORT):
        problem = "is not a port: give 1 to 65535"
    if kind == "comm" and len(value) > MAX_COMM_CHARS:
        problem = f"is too long: a comm has at most {MAX_COMM_CHARS} characters"
    if kind in ("data-dir", "pid-file") and not value.startswith("/"):
        problem = "is not an absolute path"
    if problem:
        raise ConfigError(f"{quoted(value)} {problem}; write exe:NAME, unit:NAME.service …", key="nodeos")


def _id_of(kind: str, value: str) -> str:
    if kind not in _NAMED_BY_VALUE:
        return "nodeos"
    if kind == "data-dir":
        value = next((p for p in reversed(value.split("/")) if p and p not in _PLAIN_NAMES), "nodeos")
    return _UNSAFE_IN_ID.sub("-", value.removesuffix(".service")).strip("-.@")[:64] or "nodeos"

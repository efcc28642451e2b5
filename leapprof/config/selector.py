"""How the operator says which processes are a nodeos: ``unit:nodeos.service``, ``eos=pid:4711``."""

import re

from leapprof.errors import ConfigError, quoted
from leapprof.model.access import NodeosSelector

KINDS = ("exe_name", "comm", "cmdline", "pid", "unit")
MAX_COMM_CHARS = 15  # TASK_COMM_LEN of the kernel is 16 with its zero byte
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,63}\Z")
_UNSAFE_IN_ID = re.compile(r"[^A-Za-z0-9_.\-]+")


def parse_selector(text: str) -> NodeosSelector:
    """Return the selector that ``[id=]kind:value`` means; a bare word is an executable's name.

    Without an id it is made of the value: ``unit:nodeos-eos.service`` is ``nodeos-eos``.

    Raises:
        ConfigError: the kind is not known or the value cannot be one.
    """
    head, colon, value = text.partition(":")
    named, equals, kind = head.rpartition("=")
    if not colon:
        named, equals, value = text.rpartition("=")
        kind = "exe_name"
    if kind not in KINDS or not value or not value.isprintable() or (equals and not _ID.match(named)):
        raise ConfigError(
            f"{quoted(text)} is no selector: expected [id=]kind:value with kind one of {', '.join(KINDS)}",
            key="nodeos",
        )
    if kind == "pid" and not (value.isascii() and value.isdigit()):
        raise ConfigError(f"{quoted(value)} is not a process id", key="nodeos")
    if kind == "comm" and len(value) > MAX_COMM_CHARS:
        raise ConfigError(f"a comm has at most {MAX_COMM_CHARS} characters: {quoted(value)}", key="nodeos")
    fallback = _UNSAFE_IN_ID.sub("-", value.removesuffix(".service")).strip("-.")[:64] or "nodeos"
    return NodeosSelector(id=named or fallback, kind=kind, value=value)

"""Spools: samplers that outlive their connection, and what is asked of them.

A spool is a directory on the host named ``leapprof-spool-<name>``, of mode 0700 and of the user who samples.
The agent keeps its frames there in segments; the oldest is dropped when there are too many. Only the Python
agent has spools. Directories may begin with ``~/``.
"""

from dataclasses import dataclass

from leapprof.agent.plan import encode_line, encode_lines
from leapprof.errors import ConfigError, ParseError
from leapprof.model import Frame

SPOOL_PREFIX = "leapprof-spool-"
DEFAULT_PARENT = "/var/tmp"  # noqa: S108 - on the host; outlives a reboot, and the agent checks owner and mode
SECTION_PREFIX = "spool:"
MAX_NAME_CHARS = 64

STOP_MESSAGE = b"stop\n"
"""Ends the sampler whose spool this connection follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolStatus:
    """What is known of one spool on a host.

    Attributes:
        path: of the directory.
        pid: of its sampler; None when none is noted.
        alive: that sampler still runs.
        run: run id of the newest segment; None in an empty spool.
        oldest_seq, newest_seq: of the newest run; None when there is none.
        segments, size_bytes: what it holds.
        removed: it was cleaned up.
        problem: why it was refused or could not be removed; None when all is well.
    """

    path: str
    pid: int | None = None
    alive: bool = False
    run: str | None = None
    oldest_seq: int | None = None
    newest_seq: int | None = None
    segments: int = 0
    size_bytes: int = 0
    removed: bool = False
    problem: str | None = None


def spool_path(name: str, parent: str = DEFAULT_PARENT) -> str:
    """Return the directory of a spool.

    Raises:
        ConfigError: the name is not plain, or the parent neither absolute nor below ``~``.
    """
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if not (plain.isascii() and plain.isalnum()) or len(name) > MAX_NAME_CHARS:
        raise ConfigError(f"{name!r} is not a plain name of letters, digits and . _ -", key="spool")
    return f"{_checked_parent(parent)}/{SPOOL_PREFIX}{name}"


def _checked_parent(parent: str) -> str:
    if parent != "~" and not parent.startswith(("/", "~/")):
        raise ConfigError(f"{parent!r} is not an absolute path on the host", key="spool")
    return parent.rstrip("/")


def _checked_path(path: str) -> str:
    parent, slash, base = path.rpartition("/")
    if not slash or not base.startswith(SPOOL_PREFIX):
        raise ConfigError(f"{path!r} is not named {SPOOL_PREFIX}NAME", key="spool")
    return spool_path(base.removeprefix(SPOOL_PREFIX), parent or "/")


def attach_plan(path: str, from_seq: int = 0) -> bytes:
    """Return the plan that follows a spool.

    Args:
        path: of the spool.
        from_seq: the newest sequence number already held; 0 for all that is there, earlier runs too.
            Frames come from the key frame at or before it, so some may come again.
    """
    return encode_lines([encode_line("action", "attach", _checked_path(path), from_seq)])


def list_plan(parent: str = DEFAULT_PARENT) -> bytes:
    """Return the plan that asks for the spools in a directory."""
    return encode_lines([encode_line("action", "list", _checked_parent(parent))])


def stop_plan(path: str) -> bytes:
    """Return the plan that ends the sampler of a spool and keeps what it holds."""
    return encode_lines([encode_line("action", "stop", _checked_path(path))])


def clean_plan(path: str) -> bytes:
    """Return the plan that removes a spool without living sampler."""
    return encode_lines([encode_line("action", "clean", _checked_path(path))])


def _count(fields: dict[str, str], name: str) -> int:
    word = fields.get(name, "0")
    if not (word.isascii() and word.isdigit() and len(word) <= 20):
        raise ParseError("spool status", f"a number for {name}", line=word)
    return int(word)


def _status(path: str, text: bytes) -> SpoolStatus:
    fields: dict[str, str] = {}
    for line in text.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(" ")
        fields[name] = value
    run = fields.get("run", "-")
    return SpoolStatus(
        path=path,
        pid=_count(fields, "pid") or None,
        alive=fields.get("alive") == "1",
        run=None if run == "-" else run,
        oldest_seq=_count(fields, "oldest_seq") or None,
        newest_seq=_count(fields, "newest_seq") or None,
        segments=_count(fields, "segments"),
        size_bytes=_count(fields, "bytes"),
        removed=fields.get("removed") == "1",
        problem=fields.get("refused") or fields.get("failed"),
    )


def read_answer(frame: Frame) -> tuple[SpoolStatus, ...]:
    """Return the spools that an answer to list, stop or clean is about.

    Raises:
        ParseError: a status has another form.
    """
    return tuple(
        _status(section.name.removeprefix(SECTION_PREFIX), section.text)
        for section in frame.sections
        if section.name.startswith(SECTION_PREFIX)
    )

"""The stand-in's options: its own, and those of nodeos that it understands.

config.ini is read by nodeos's rules as far as they matter here (boost program_options: ``#`` starts a
comment, split at the first ``=``, the command line wins over the file). Options of nodeos that the
stand-in does not use are accepted and listed in its log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from leapprof.errors import ConfigError, ParseError

DEFAULT_HTTP_ADDRESS = "127.0.0.1:8888"  # nodeos's own default (programs/nodeos/main.cpp)
MAX_STATE_MB = 8 * 2**20  # chain_plugin.cpp v5.0.3: 8 TiB

_Kind = TypeVar("_Kind", bound=StrEnum)


class MapMode(StrEnum):
    """How the state file is mapped (chainbase pinnable_mapped_file.cpp)."""

    MAPPED = "mapped"
    MAPPED_PRIVATE = "mapped_private"


class WriteBack(StrEnum):
    """What ``mapped_private`` writes at exit: used pages, or each used 1 GiB step in full.

    The latter is what chainbase does on a kernel without soft-dirty tracking.
    """

    USED = "used"
    STEPS = "steps"


class Advice(StrEnum):
    """Read-ahead of the mapping: ``random`` keeps folios at 4 KiB, ``normal`` leaves it to the kernel.

    With read-ahead the page cache may hold the file in 2 MiB folios, and one dirty byte writes 2 MiB.
    """

    RANDOM = "random"
    NORMAL = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What one run of the stand-in does.

    Attributes:
        state_size_mb, used_mb: MiB; size of the sparse file, and the part of it that holds state.
        transactions_per_s: mean; the number in a block is Poisson distributed.
        rows_per_transaction: each row dirties its own page and that of an index node.
        hot_share: share of the used pages that is hot.
        hot_probability: probability that a row is a hot one.
        work_kib_per_transaction: KiB hashed for each transaction, which is where the CPU time goes.
        growth_kib_per_s: KiB by which the used part grows each second.
        from_snapshot: discard the state and fill it anew.
        end_with_parent: end when the program that started it has gone.
        unused: names of options that were given and have no effect here.
        given: every option as it was given, for the log.
    """

    data_dir: Path
    state_dir: Path
    blocks_dir: Path
    map_mode: MapMode
    state_size_mb: int
    used_mb: int
    transactions_per_s: float
    rows_per_transaction: int
    hot_share: float
    hot_probability: float
    work_kib_per_transaction: int
    growth_kib_per_s: int
    http_address: str
    exporter_address: str | None
    pretend_version: str
    write_back: WriteBack
    advice: Advice
    from_snapshot: bool
    seed: int
    end_with_parent: bool = False
    unused: tuple[str, ...] = ()
    given: tuple[tuple[str, str], ...] = ()


_USED_NAMES = frozenset(
    {
        "data-dir", "config-dir", "state-dir", "blocks-dir", "database-map-mode", "chain-state-db-size-mb",
        "used-mb", "transactions-per-s", "rows-per-transaction", "hot-share", "hot-probability",
        "work-kib-per-transaction", "growth-kib-per-s", "http-server-address", "prometheus-exporter-address",
        "pretend-version", "write-back", "page-advice", "from-snapshot", "seed", "end-with-parent",
    }
)  # fmt: skip


def parse_command_line(arguments: Sequence[str]) -> dict[str, str]:
    """Return name → value of ``--name value``, ``--name=value`` and bare ``--name`` (``true``).

    Raises:
        ConfigError: an argument that belongs to no option.
    """
    found: dict[str, str] = {}
    waiting: str | None = None
    for argument in arguments:
        if argument.startswith("--"):
            waiting, equals, value = argument[2:].partition("=")
            found[waiting] = value if equals else "true"
            waiting = None if equals else waiting
        elif waiting is None:
            raise ConfigError("an argument without an option", key=argument)
        else:
            found[waiting] = argument
            waiting = None
    return found


def parse_config(text: str) -> dict[str, str]:
    """Return name → value of a config.ini; of a repeated option the last.

    Raises:
        ParseError: a line without ``=``.
    """
    found: dict[str, str] = {}
    for line_no, raw in enumerate(text.splitlines(), start=1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise ParseError("config.ini", "name = value", line=raw, line_no=line_no)
        found[name.strip()] = value.strip()
    return found


def read_options(arguments: Sequence[str]) -> Options:
    """Return the options of the command line, and below them those of ``--config-dir``'s config.ini.

    Raises:
        ConfigError: a value that cannot be used, or a file that cannot be read.
        ParseError: a line of config.ini without ``=``.
    """
    given = parse_command_line(arguments)
    if "config-dir" in given:
        path = Path(given["config-dir"]) / "config.ini"
        try:
            text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        except OSError as error:
            raise ConfigError(str(error), path=str(path)) from error
        given = {**parse_config(text), **given}
    return _options(given)


def _number(given: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    text = given.get(name, str(default))
    try:
        value = float(text)
    except ValueError:
        raise ConfigError(f"expected a number, found {text!r}", key=name) from None
    if not low <= value <= high:
        raise ConfigError(f"expected {low:g} to {high:g}, found {text}", key=name)
    return value


def _choice(given: Mapping[str, str], name: str, kind: type[_Kind], default: _Kind) -> _Kind:
    text = given.get(name, default.value)
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(f"expected {', '.join(kind)}, found {text!r}", key=name) from None


def _options(given: Mapping[str, str]) -> Options:
    if "data-dir" not in given:
        raise ConfigError("is missing", key="data-dir")
    data_dir = Path(given["data-dir"]).absolute()
    size_mb = int(_number(given, "chain-state-db-size-mb", 1024, 2, MAX_STATE_MB))
    return Options(
        data_dir=data_dir,
        state_dir=data_dir / given.get("state-dir", "state"),
        blocks_dir=data_dir / given.get("blocks-dir", "blocks"),
        map_mode=_choice(given, "database-map-mode", MapMode, MapMode.MAPPED),
        state_size_mb=size_mb,
        used_mb=int(_number(given, "used-mb", min(256, size_mb - 1), 1, size_mb - 1)),
        transactions_per_s=_number(given, "transactions-per-s", 10, 0, 100_000),
        rows_per_transaction=int(_number(given, "rows-per-transaction", 50, 0, 100_000)),
        hot_share=_number(given, "hot-share", 0.2, 0.001, 1),
        hot_probability=_number(given, "hot-probability", 0.8, 0, 1),
        work_kib_per_transaction=int(_number(given, "work-kib-per-transaction", 1024, 0, 2**20)),
        growth_kib_per_s=int(_number(given, "growth-kib-per-s", 0, 0, 2**20)),
        http_address=given.get("http-server-address", DEFAULT_HTTP_ADDRESS),
        exporter_address=given.get("prometheus-exporter-address"),
        pretend_version=given.get("pretend-version", "v5.0.3"),
        write_back=_choice(given, "write-back", WriteBack, WriteBack.USED),
        advice=_choice(given, "page-advice", Advice, Advice.RANDOM),
        from_snapshot=given.get("from-snapshot", "false") != "false",
        end_with_parent=given.get("end-with-parent", "false") != "false",
        seed=int(_number(given, "seed", 1, 0, 2**31)),
        unused=tuple(sorted(set(given) - _USED_NAMES)),
        given=tuple(sorted(given.items())),
    )

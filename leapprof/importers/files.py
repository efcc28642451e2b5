"""Reads the files that importers parse: bounded, and with the operator's path in every message."""

from collections.abc import Iterator
from pathlib import Path

from leapprof.errors import ConfigError, unreadable
from leapprof.importers.benchmark_nodeos import parse_benchmark
from leapprof.importers.blocks import Imported
from leapprof.importers.mapping import parse_mapping
from leapprof.importers.naming import safe_name
from leapprof.importers.smart_history import parse_smart_history
from leapprof.importers.sysstat import parse_sadf
from leapprof.importers.table_text import parse_table

MAX_BYTES = 2**30


def read_text(path: Path) -> str:
    """Return the text of a file; bytes that are no UTF-8 become replacement characters.

    Raises:
        ConfigError: it cannot be read, or is over 1 GiB.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError("is over 1 GiB: cut it into parts (say, by day)", path=str(path))
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from error


def read_sysstat(path: Path) -> tuple[Imported, ...]:
    """Return the hosts of a file made by ``sadf -j``."""
    return parse_sadf(read_text(path))


def read_table(path: Path, mapping: Path) -> tuple[Imported, ...]:
    """Return the host of a table in text."""
    return (parse_table(read_text(path), parse_mapping(read_text(mapping), str(mapping))),)


def read_smart(name: str, paths: tuple[Path, ...]) -> tuple[Imported, ...]:
    """Return the drives of smartctl's or Scrutiny's documents; a directory stands for its ``*.json``."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    return (parse_smart_history(name, (read_text(file) for file in files)),)


def read_benchmark(directory: Path) -> tuple[Imported, ...]:
    """Return the runs of a directory of benchmark-nodeos.

    Raises:
        ConfigError: it holds no ``stats*.txt``.
    """
    runs = tuple(_runs(directory))
    if not runs:
        raise ConfigError("holds no stats*.txt of benchmark-nodeos", path=str(directory))
    return runs


def _runs(directory: Path) -> Iterator[Imported]:
    for stats in sorted(directory.glob("stats*.txt")):
        host = stats.with_name("host" + stats.name.removeprefix("stats"))
        name = safe_name("run" + stats.stem.removeprefix("stats").replace("_", "-"))
        yield parse_benchmark(name, read_text(stats), read_text(host) if host.is_file() else "")

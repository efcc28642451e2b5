"""Writes tables of a recording as CSV or Parquet files.

Texts come from hosts: a thread may be called ``=HYPERLINK(…)``. In CSV such a text gets a leading apostrophe,
as in reports.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from leapprof.assess.load import LoadedRecording
from leapprof.errors import ConfigError
from leapprof.model import Table
from leapprof.report.csv import guarded
from leapprof.store.guard import translated
from leapprof.store.segments import to_arrow


def export_tables(recording: LoadedRecording, out: Path, form: str) -> Iterator[Path]:
    """Write one file a table and yield its path.

    Args:
        recording: what to write.
        out: directory; made when it does not exist.
        form: ``csv`` or ``parquet``.

    Raises:
        ConfigError: a file is there already.
        StoreError: the disk refuses, or the recording is damaged.
    """
    with translated(out):
        out.mkdir(parents=True, exist_ok=True)
    targets = {name: out / f"{name}.{form}" for name in recording.table_names}
    taken = [str(path) for path in targets.values() if path.exists()]
    if taken:
        raise ConfigError(f"{', '.join(taken)} exists already; give another directory", key="out")
    for name, path in targets.items():
        _write(recording, name, path, form)
        yield path


def _write(recording: LoadedRecording, name: str, path: Path, form: str) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    table = recording.table(name)
    data = to_arrow(_guarded(table) if form == "csv" else table)
    with whole_or_not(path):
        if form == "csv":
            pyarrow.csv.write_csv(data, path)
        else:
            pyarrow.parquet.write_table(data, path, compression="zstd")


@contextmanager
def whole_or_not(path: Path) -> Iterator[None]:
    """Write a new file: half of one is removed when the disk refuses, so that the export can be made again.

    Raises:
        StoreError: the disk refuses.
    """
    with translated(path):
        try:
            yield
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _guarded(table: Table) -> Table:
    texts = {name: values.copy() for name, values in table.texts.items()}
    for values in texts.values():
        for text in {text for text in values if text is not None}:
            safe = guarded(text)
            if safe != text:
                values[values == text] = safe
    return replace(table, texts=texts)

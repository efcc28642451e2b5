"""Writes a recording as OpenMetrics, for `promtool tsdb create-blocks-from openmetrics`."""

from itertools import chain
from pathlib import Path

from leapprof.assess.load import LoadedRecording
from leapprof.cli.export_files import whole_or_not
from leapprof.errors import ConfigError
from leapprof.ingest.exposition import manifest_lines, table_lines
from leapprof.store.guard import translated

FILE_NAME = "recording.openmetrics"


def export_openmetrics(recording: LoadedRecording, out: Path) -> Path:
    """Write one file and return its path.

    Args:
        recording: what to write.
        out: directory; made when it does not exist.

    Raises:
        ConfigError: the file is there already.
        StoreError: the disk refuses, or the recording is damaged.
    """
    manifest = recording.manifest
    labels = {"host": manifest.host.name, "phase": manifest.phase}
    path = out / FILE_NAME
    with translated(out):
        out.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("x", encoding="utf-8")
        except FileExistsError as error:
            raise ConfigError(f"{path} exists already; give another directory", key="out") from error
    with whole_or_not(path), file:
        tables = (table_lines(recording.table(name), labels) for name in recording.table_names)
        for text in chain(manifest_lines(manifest, labels), *tables):
            file.write(text)
        file.write("# EOF\n")
    return path

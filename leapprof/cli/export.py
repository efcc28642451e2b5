"""`leapprof export`: the way out, as CSV or Parquet (one file a table) or OpenMetrics (one file)."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from leapprof.cli.options import JsonOption, check_writable


class ExportFormat(StrEnum):
    """What a recording can become."""

    CSV = "csv"
    PARQUET = "parquet"
    OPENMETRICS = "openmetrics"


def command(
    recording: Annotated[Path, typer.Argument(help="Directory of a recording.", metavar="RECORDING")],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Directory for the files; made when it does not exist.",
            callback=check_writable,
            metavar="DIR",
        ),
    ],
    form: Annotated[
        ExportFormat, typer.Option("--format", help="csv, parquet or openmetrics.")
    ] = ExportFormat.CSV,
    as_json: JsonOption = False,
) -> None:
    """Write each table of a recording to a file of its own; a missing value is an empty field or a null.

    OpenMetrics is one file for `promtool tsdb create-blocks-from openmetrics`.

    Counters stay as they were read. Times are nanoseconds: boottime_ns on the host's CLOCK_BOOTTIME, wall_ns since
    the epoch. Existing files are never overwritten.
    """
    from leapprof.assess.load import load
    from leapprof.cli.export_files import export_tables
    from leapprof.cli.export_openmetrics import export_openmetrics

    loaded = load(recording)
    if form is ExportFormat.OPENMETRICS:
        paths = [export_openmetrics(loaded, out)]
    else:
        paths = list(export_tables(loaded, out, form.value))
    if as_json:
        document = {"format": 1, "files": [str(path) for path in paths]}
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
        return
    for path in paths:
        sys.stdout.write(f"{path}\n")

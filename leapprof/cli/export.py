"""`leapprof export`: the way out, as CSV or Parquet; one file a table."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ExportFormat(StrEnum):
    """What a recording can become."""

    CSV = "csv"
    PARQUET = "parquet"


def command(
    recording: Annotated[Path, typer.Argument(help="Directory of a recording.")],
    out: Annotated[Path, typer.Option("--out", help="Directory for the files; made when it does not exist.")],
    form: Annotated[ExportFormat, typer.Option("--format", help="csv or parquet.")] = ExportFormat.CSV,
) -> None:
    """Write each table of a recording to a file of its own; a missing value is an empty field or a null.

    Counters stay as they were read. Times are nanoseconds: boottime_ns on the host's CLOCK_BOOTTIME, wall_ns since
    the epoch. Existing files are never overwritten.
    """
    from leapprof.assess.load import load
    from leapprof.cli.export_files import export_tables

    for path in export_tables(load(recording), out, form.value):
        sys.stdout.write(f"{path}\n")

"""`leapprof show`: what is in a recording."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from leapprof.assess.samples import RecordingTables
    from leapprof.assess.summary import SummaryRow


def command(
    recording: Annotated[
        Path, typer.Argument(help="Directory of a recording; it may still be recording.", metavar="RECORDING")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show facts, nodeos, stages, starts and stops, gaps, events, cost and a summary of a recording."""
    from leapprof.assess.cached import CachedTables
    from leapprof.assess.load import load
    from leapprof.assess.summary import summarize

    tables = CachedTables(load(recording))
    rows = summarize(tables)
    if as_json:
        sys.stdout.write(_json(tables, rows))
        return
    from rich.console import Console

    from leapprof.cli.show_view import render

    render(tables, rows, Console(file=sys.stdout))


def _json(tables: "RecordingTables", rows: "tuple[SummaryRow, ...]") -> str:
    from leapprof.assess.own_voice import own_voices
    from leapprof.assess.starts import measure_starts
    from leapprof.cli.show_lines import stage_seconds, stage_sources
    from leapprof.store.codec import encode

    document = {
        "format": 1,
        "recording": encode(tables.manifest),
        "stages": encode(stage_seconds(tables)),
        "stage_sources": encode(stage_sources(tables)),
        "starts": encode(measure_starts(tables)),
        "api": encode(own_voices(tables)),
        "summary": [encode(row) for row in rows],
    }
    return json.dumps(document, indent=1) + "\n"

"""`leapprof run`: a planned experiment, from phases to report."""

from pathlib import Path
from typing import Annotated

import typer

from leapprof.cli.options import JsonOption


def command(
    playbook: Annotated[
        Path,
        typer.Argument(help="A playbook, or the directory of a run.", show_default=False, metavar="PLAYBOOK"),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Directory in which each run gets its own.", metavar="DIR")
    ] = Path("runs"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every step and command; ask and change nothing.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Change the hosts without asking again.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the unfinished run.")] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Say how far the last run is, and what the hosts are.")
    ] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Replace a value: phase.duration=2h, hosts.0.host=eos-2.", metavar="PATH=VALUE"
        ),
    ] = None,
    assume_done: Annotated[
        list[str] | None,
        typer.Option("--assume-done", help="With --resume: this step was done.", metavar="STEP"),
    ] = None,
    run_again: Annotated[
        list[str] | None,
        typer.Option("--run-again", help="With --resume: this step was not done.", metavar="STEP"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a playbook: record, change, record, compare, judge.

    Exit codes: 0 all expectations met, 12 one is not, 13 cannot tell, 130 interrupted; --resume goes on where it was.
    """
    from leapprof.cli.run_playbook import RunRequest, run

    run(
        RunRequest(
            playbook=playbook,
            out=out,
            dry_run=dry_run,
            apply=apply,
            resume=resume,
            status=status,
            overrides=tuple(overrides or ()),
            assume_done=tuple(assume_done or ()),
            run_again=tuple(run_again or ()),
            as_json=as_json,
        )
    )

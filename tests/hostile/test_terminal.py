"""A host cannot write to the operator's terminal: no control character that it sent is printed."""

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from rich.console import Console

from leapprof.cli.live_view import LiveObserver, live_table
from leapprof.cli.record_run import _raise_outcome
from leapprof.errors import SourceError, printable
from leapprof.model import Event, Finding, Host, Nodeos, Recording, SamplingCost, Severity, Topology
from leapprof.recorder.hosts import SessionResult
from leapprof.store import RecordingWriter

CLI = "import sys; from leapprof.cli.main import main; main()"
EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e[red]x[/red]"
"""Clears the screen, sets the title, an 8-bit CSI, turns the writing direction, and rich's own markup."""
CONTROLS = ("\x1b", "\x07", "\x9b", "\u202e")


def check(text: str) -> None:
    """Nothing that a terminal obeys is in the text."""
    assert not [c for c in CONTROLS if c in text], repr(text)


def recording(path: Path) -> Path:
    """Write a recording whose every text is hostile."""
    nodeos = Nodeos(id="eos", pid=1, start_ticks=1, version=EVIL, executable=EVIL, data_dir=EVIL, unit=EVIL)
    manifest = Recording(
        host=Host(name=EVIL, boot_id=EVIL, facts={"kernel": EVIL, EVIL: EVIL}),
        nodeos=(nodeos,),
        topology=Topology(),
        phase="",
        interval_s=1.0,
        started_wall_ns=10**18,
        ended_wall_ns=10**18 + 10**9,
        transport="ssh",
        cost=SamplingCost(agent="python", samples=1, cpu_s=None, rss_bytes=None, wire_bytes=0),
        events=(Event(boottime_ns=1, wall_ns=10**18, kind=EVIL, subject=EVIL, detail=EVIL),),
        findings=(Finding(code="x", severity=Severity.WARNING, message=EVIL, hint=EVIL, subject=EVIL),),
        denied=(EVIL,),
        absent=(EVIL,),
        commands=(EVIL,),
    )
    with RecordingWriter.create(path, manifest):
        pass
    return path


def test_show_prints_no_control_character(tmp_path: Path) -> None:
    """Names, versions, events and findings of a hostile host are shown with escapes or question marks."""
    path = recording(tmp_path / "r")
    done = subprocess.run(
        [sys.executable, "-c", CLI, "show", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "owned" in done.stdout
    check(done.stdout + done.stderr)


def test_a_message_prints_no_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    """What a host wrote to its standard error is in a message with escapes."""
    failed = SessionResult(host="h", directory=None, error=SourceError("h", f"ended: {EVIL}"))
    with pytest.raises(typer.Exit):
        _raise_outcome((failed,), False, Path())
    told = capsys.readouterr().err
    assert "owned" in told
    check(told)
    check(printable(EVIL))


def test_an_error_of_the_program_prints_no_control_character(tmp_path: Path) -> None:
    """Also the last message of a command, which names a path."""
    path = tmp_path / "\x1b[2J-none"
    done = subprocess.run(
        [sys.executable, "-c", CLI, "show", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 5
    check(done.stdout + done.stderr)


def test_the_live_view_prints_no_control_character() -> None:
    """Troubles, versions and names of a hostile host are shown with escapes."""
    out = io.StringIO()
    console = Console(file=out, width=200)
    observer = LiveObserver(["h"], console)
    manifest = Recording(
        host=Host(name="h", boot_id="b"),
        nodeos=(Nodeos(id="eos", pid=1, start_ticks=1, version=EVIL),),
        topology=Topology(),
        phase="",
        interval_s=1.0,
        started_wall_ns=None,
        ended_wall_ns=None,
        transport="ssh",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )
    observer.started("h", Path("r"), manifest)
    observer.trouble("h", EVIL)
    lines = [replace(line, host=EVIL, write_bytes_per_s={EVIL: 1.0}) for line in observer.lines()]
    console.print(live_table(lines, 200))
    assert "owned" in out.getvalue()
    check(out.getvalue())

"""A host cannot write to the operator's terminal: no control character that it sent is printed."""

import io
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from rich.console import Console

from leapprof.agent.spool import SpoolStatus
from leapprof.cli.agents_view import _text as agents_text
from leapprof.cli.doctor_view import _text as doctor_text
from leapprof.cli.live_view import LiveObserver, live_table
from leapprof.cli.record_run import _raise_outcome
from leapprof.errors import SourceError, printable
from leapprof.ingest.survey import read_survey
from leapprof.model import (
    ClockOffset,
    Device,
    DeviceKind,
    Event,
    Finding,
    Host,
    Nodeos,
    Recording,
    SamplingCost,
    Severity,
    Topology,
)
from leapprof.recorder.diagnosis import Diagnosis
from leapprof.recorder.hosts import SessionResult
from leapprof.recorder.session import HostSurvey
from leapprof.store import RecordingWriter
from leapprof.store.codec import CodecError, decode
from tests.hostile.targets import frame_of
from tests.support.program import leapprof

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
    assert done.returncode == 2
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


SAMPLES = Path(__file__).parent.parent.parent / "samples" / "nodeos-v5"
CODES = (0, 2, 4, 6, 7, 10, 11, 12, 13)
"""Whatever these words make of a recording, a config or a playbook: no failure but ours."""


def spoilt(source: Path, target: Path) -> Path:
    """Copy a recording with a hostile end to each text of its manifest that may be any text."""
    shutil.copytree(source, target)
    path = target / "recording.json"
    document = json.loads(path.read_text())
    number = document.pop("format")

    def spoil(node: dict | list) -> None:
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            if isinstance(value, dict | list):
                spoil(value)
            elif isinstance(value, str) and key not in (
                "id",
                "name",
                "nodeos",
            ):  # which join it to its tables
                node[key] = value + EVIL
                try:
                    decode(Recording, document)
                except CodecError:
                    node[key] = value

    spoil(document)
    document["host"]["facts"][EVIL] = EVIL
    path.write_text(json.dumps({"format": number, **document}))
    return target


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return two recordings of a real node whose every text is hostile."""
    root = tmp_path_factory.mktemp("spoilt")
    return tuple(str(spoilt(SAMPLES / name, root / name)) for name in ("mapped", "mapped_private"))


@pytest.mark.parametrize(
    "words",
    [
        ("show",), ("show", "--json"), ("wear",), ("wear", "--json"), ("wear", "--format", "md"), ("compare",),
        ("compare", "--json"), ("compare", "--public"),
        ("config", "check", "tests/nodeos/data/default-5.0.3.ini", "--target", "leap-5.0", "--recording"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_recording_of_somebody_else_is_printed_with_escapes(
    pair: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Every command that prints of a recording, in text and in JSON; the report's files too."""
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
    more = (*pair, "--out", str(tmp_path)) if words[0] == "compare" else pair[:1]
    done = leapprof(*words, *more)
    assert done.code in CODES, done.err
    check(done.out + done.err)
    for path in tmp_path.rglob("report.*"):
        if path.suffix in (".md", ".json", ".csv"):
            check(path.read_text())


def test_a_config_of_somebody_else_is_printed_with_escapes(tmp_path: Path) -> None:
    """Names, values and sections of a config.ini, and the names of files and versions."""
    path, other = tmp_path / "c.ini", tmp_path / "d.ini"
    names = (
        f"chain-threads = 2{EVIL}",
        f"{EVIL} = 3",
        f"plugin = x{EVIL}",
        f"[{EVIL}]",
        f"agent-name = {EVIL}",
        EVIL,
    )
    path.write_text("\n".join(names))
    other.write_text("chain-threads = 3\n")
    for words in (
        ("check", str(path), "--target", "leap-5.0"), ("check", str(path), "--target", "leap-5.0", "--json"),
        ("check", str(path), "--target", EVIL), ("check", str(tmp_path / "\x1b[2J"), "--target", "leap-5.0"),
        ("diff", str(path), str(other)), ("diff", str(path), str(other), "--json"), ("explain", EVIL),
    ):  # fmt: skip
        done = leapprof("config", *words)
        assert done.code in CODES, done.err
        check(done.out + done.err)


def test_a_table_of_delays_is_printed_with_escapes(tmp_path: Path) -> None:
    """A recording of somebody else, whose region is a sequence for the terminal."""
    path = tmp_path / "rtt"
    shutil.copytree(SAMPLES.parent / "latency" / "rtt" / "before", path)
    manifest = json.loads((path / "recording.json").read_text())
    manifest["host"]["facts"]["region"] = EVIL
    (path / "recording.json").write_text(json.dumps(manifest))
    for words in ((str(path),), (str(path), "--json")):
        done = leapprof("latency", "table", *words)
        assert done.code == 0, done.err
        assert "owned" in done.out
        check(done.out + done.err)


def test_an_import_is_printed_with_escapes(tmp_path: Path) -> None:
    """Names of devices in a table in text, on the way in and when the recording is shown."""
    table, mapping, out = tmp_path / "t.csv", tmp_path / "m.toml", tmp_path / "out"
    table.write_text(f"t,v,d\n2026-01-01T00:00:00Z,1,a{EVIL}\n2026-01-01T00:00:10Z,2,a{EVIL}\n")
    mapping.write_text(
        'host = "h\\u001b[2J"\n[time]\ncolumn = "t"\n[[sections]]\ndevice_column = "d"\n[[sections.columns]]\n'
        'column = "v"\ntable = "device"\nto = "write_sectors_total"\nkind = "counter"\n'
    )
    done = leapprof(
        "import", "csv", str(table), "--mapping", str(mapping), "--phase", "before", "--out", str(out)
    )
    assert done.code == 0, done.err
    (made,) = out.iterdir()
    for shown in (
        done,
        leapprof("show", str(made)),
        leapprof("show", str(made), "--json"),
        leapprof("wear", str(made)),
    ):
        assert shown.code in CODES, shown.err
        check(shown.out + shown.err)


PLAYBOOK = """
playbook: 1
title: "a\\u009b\\u202e"
hosts: [{host: eos}]
phase: {duration: 1s, interval: 200ms}
a: {map_mode: mapped}
b: {map_mode: mapped_private}
change: {manual: {say: "do it \\u009b31m \\u202e now"}}
"""


def test_a_playbook_of_somebody_else_is_printed_with_escapes(tmp_path: Path) -> None:
    """Its title and what it says; control characters of ASCII, and raw ones, are refused with a message."""
    path = tmp_path / "p.yml"
    for text, code in (
        (PLAYBOOK, 0),
        (PLAYBOOK.replace("now", EVIL), 2),
        (PLAYBOOK.replace("now", "\\e[2J"), 2),
    ):
        path.write_text(text)
        done = leapprof("run", str(path), "--dry-run")
        assert done.code == code, done
        check(done.out + done.err)


def test_the_doctor_and_the_list_of_agents_print_no_control_character() -> None:
    """What a survey found, and the names and problems of spools."""
    nodeos = Nodeos(
        id="eos", pid=1, start_ticks=1, version=EVIL, executable=EVIL, data_dir=EVIL, unit=EVIL, log=EVIL
    )
    offset = ClockOffset(taken_wall_ns=1, offset_s=0.0, round_trip_s=0.0)
    survey = read_survey(frame_of(b""), "h")
    drive = Device(name=EVIL[:20], major_minor="8:0", kind=DeviceKind.DISK, model=EVIL)
    host = replace(survey.host, facts={"kernel": EVIL, "distribution": EVIL, "cpu_model": EVIL})
    survey = replace(survey, host=host, nodeos=(nodeos,), topology=Topology(devices=(drive,)))
    findings = (Finding(code="x", severity=Severity.WARNING, message=EVIL, hint=EVIL, subject=EVIL),)
    surveyed = HostSurvey(survey=survey, agent="python", offset=offset, findings=findings)
    told = doctor_text(Diagnosis(host="h", transport="ssh", surveyed=surveyed, findings=findings))
    assert "owned" in told
    check(told)
    told = agents_text([("h", (SpoolStatus(path=f"/{EVIL}", run=EVIL, problem=EVIL),))], "/var/tmp")
    assert "owned" in told
    check(told)

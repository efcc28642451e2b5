"""leapprof compare, as it is called: exit codes, folders, formats."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from leapprof.cli.compare import command
from leapprof.errors import ConfigError, NoRecordingError

SAMPLES = Path(__file__).parent.parent.parent / "samples"
BEFORE, AFTER = (str(SAMPLES / "nodeos-v5" / mode) for mode in ("mapped", "mapped_private"))
ACROSS = (str(SAMPLES / "nodeos-v5-long" / mode) for mode in ("mapped", "mapped_private"))

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(command)


def run(*arguments):
    """Run the command; an error of ours is raised as main() would see it."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_two_recordings_become_a_report_in_a_folder_of_its_own(tmp_path):
    """Headline and table on the terminal, files in a dated folder whose number counts up."""
    first = run(BEFORE, AFTER, "--out", tmp_path, "--format", "json")
    assert first.exit_code == 0
    assert "Too short for a verdict" in first.output
    assert "nodeos.state_resident_bytes" in first.output
    run(BEFORE, AFTER, "--out", tmp_path, "--format", "json")
    folders = sorted(p.name for p in tmp_path.iterdir())
    assert [name[-2:] for name in folders] == ["-1", "-2"]
    assert folders[0].startswith("compare-20")
    files = [tmp_path / name / "report.json" for name in folders]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_json_goes_to_standard_output_and_is_a_document(tmp_path):
    """For machines: nothing but report.json."""
    result = run(BEFORE, AFTER, "--out", tmp_path, "--format", "json", "--json")
    document = json.loads(result.stdout)
    assert document["format"] == 1
    assert {m["grade"] for m in document["metrics"]} == {"too_short"}


def test_two_nodes_at_the_same_time_need_across(tmp_path):
    """The long pair ran side by side."""
    before, after = ACROSS
    with pytest.raises(ConfigError, match="overlap"):
        run(before, after, "--out", tmp_path)
    result = run(
        before, after, "--across", "--out", tmp_path, "--format", "md", "--fail-on", "regression,inconclusive"
    )
    assert result.exit_code == 11
    assert "device-differs" in result.output
    assert "Writes to loop0 (state, blocks; part of what its drive takes): 4." in " ".join(
        result.output.split()
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--format", "pdf"),
        ("--fail-on", "anything"),
        ("--window", "soon"),
        ("--window", "1h..later"),
        ("--window", "1e999h"),
        ("--change-at", "auto"),
    ],
)
def test_a_wrong_option_says_what_is_right(tmp_path, arguments):
    """Exit code 2 before anything is read or written."""
    with pytest.raises(ConfigError):
        run(BEFORE, AFTER, "--out", tmp_path, *arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("moment", ["2024-05-01T12:00:00", "yesterday"])
def test_a_moment_needs_a_form_and_a_time_zone(tmp_path, moment):
    """Local time of which machine would be a guess."""
    with pytest.raises(ConfigError, match="--change-at"):
        run(BEFORE, "--change-at", moment, "--out", tmp_path)


def test_one_recording_needs_a_change(tmp_path):
    """There is nothing to compare it with."""
    with pytest.raises(ConfigError, match="--change-at"):
        run(BEFORE, "--out", tmp_path)


def test_a_folder_that_is_no_recording_is_said(tmp_path):
    """Exit code 2, as of any other path that was named and is something else."""
    with pytest.raises(NoRecordingError):
        run(tmp_path, AFTER, "--out", tmp_path / "out")


def test_the_window_is_what_was_asked_for(tmp_path):
    """Two minutes in the middle of each."""
    result = run(BEFORE, AFTER, "--window", "1min..3min", "--out", tmp_path, "--format", "json", "--json")
    metrics = {m["name"]: m for m in json.loads(result.stdout)["metrics"]}
    assert metrics["host.cpu_percent"]["before"]["covered_seconds"] == pytest.approx(120, abs=3)


def test_a_rating_becomes_years_of_the_drive(tmp_path):
    """From the command line, or from the inventory's entry of the host."""
    before, after = (SAMPLES / "nodeos-v5-long" / mode for mode in ("mapped", "mapped_private"))
    common = (before, after, "--across", "--out", tmp_path, "--format", "json", "--json")
    drive = json.loads(run(*common, "--rated-tbw", "vda=600").stdout)["wear"][0]
    assert drive["rated_tbw"] == 600
    assert drive["lifetime_years"]["before"]["low"] < 600 / 127 < drive["lifetime_years"]["before"]["high"]
    inventory = tmp_path / "leapprof.toml"
    inventory.write_text('[hosts.captured]\naddress = "10.0.0.1"\ndevices.vda = { rated_tbw = 900 }\n')
    drive = json.loads(run(*common, "--inventory", inventory).stdout)["wear"][0]
    assert drive["rated_tbw"] == 900
    with pytest.raises(ConfigError, match="no drive 'sda'"):
        run(*common, "--rated-tbw", "sda=1")


def test_alternating_phases_are_an_even_number(tmp_path):
    """Three recordings are no pairs; four are put in the order of time."""
    with pytest.raises(ConfigError, match="even number"):
        run(BEFORE, AFTER, BEFORE, "--out", tmp_path)


def test_headroom_for_a_stated_utilisation(tmp_path):
    """Half of what the node has now, so fewer peers than it has."""
    month = str(SAMPLES / "eosphere" / "month")
    at = ("--change-at", "2024-01-22T20:00:00Z", "--target-cpu", "30")
    document = json.loads(run(month, *at, "--out", tmp_path, "--format", "json", "--json").stdout)
    room = document["headroom"]
    assert room["why"] == "as stated"
    assert room["clients"][1] < room["peers"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--control", BEFORE, AFTER), "is the comparison itself"),
        (("--control", BEFORE, AFTER, "--control-nodeos", "b"), "takes the place of --control"),
        (("--control-nodeos", "b"), "not one of several nodeos: nodeos"),
    ],
)
def test_a_control_is_another_node(tmp_path, arguments, message):
    """Taken off itself, everything would be unchanged."""
    with pytest.raises(ConfigError, match=message):
        run(BEFORE, AFTER, *arguments, "--out", tmp_path)
    assert not list(tmp_path.iterdir())

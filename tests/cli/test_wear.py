"""leapprof wear, as it is called: ratings, guests, pairs, forms of output, and what it refuses."""

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import leapprof
from leapprof.cli.wear import command
from leapprof.errors import ConfigError, NoRecordingError, NotEnoughDataError, ParseError

SAMPLES = Path(__file__).parent.parent.parent / "samples"
MAPPED, PRIVATE = (SAMPLES / "nodeos-v5-long" / mode for mode in ("mapped", "mapped_private"))
FOLIOS = SAMPLES / "nodeos-v5" / "mapped"

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(command)


def run(*arguments):
    """Run the command and return what it printed; an error of ours is raised as main() would see it."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def flat(*arguments):
    """Return what was printed as one line."""
    return " ".join(run(*arguments).split())


def document(*arguments):
    """Return what was printed as JSON."""
    return json.loads(run(*arguments, "--json"))


def test_the_published_pair_is_129_and_under_1_tb_a_year():
    """4.03 MB/s are 127 TB a year; the same load in mapped_private takes 24 kB/s of its own device."""
    mapped = document(MAPPED)
    assert 120 < mapped["devices"][0]["steady_tb_per_year"] < 132
    assert mapped["devices"][0]["writers"][0]["bytes_per_s"] == pytest.approx(4.03e6, rel=0.02)
    private = document(PRIVATE)
    assert private["devices"][0]["writers"][0]["bytes_per_s"] == pytest.approx(24e3, rel=0.1)
    assert private["logical"][0]["device"] == "loop1"


def test_a_rating_becomes_years():
    """600 TBW at 127 TB a year are 4.7 years, with an interval; a price becomes costs."""
    text = flat(MAPPED, "--rated-tbw", "600", "--price", "120")
    assert "its rating of 600 TBW lasts 4.7 years" in text
    assert "25.4 a year of the drive's price" in text


def test_a_named_drive_is_found_in_the_table():
    """The guest's disk has no model of its own."""
    assert "rating of 360 TBW" in flat(MAPPED, "--drive", "CT1000MX500SSD1")
    assert "rating of 360 TBW" in flat(MAPPED, "--drive", "vda=CT1000MX500SSD1")


def test_large_folios_are_said_with_what_to_try():
    """The recording with FilePmdMapped of 860 MiB."""
    text = flat(FOLIOS)
    assert "mapped in 2 MiB pieces" in text
    assert "read_ahead_kb is 8192 now" in text


def test_markdown_can_be_pasted():
    """Headings, tables, no line drawn by hand."""
    text = run(MAPPED, "--format", "md")
    assert text.startswith("## Wear of captured")
    assert "| who | rate | told by |" in text


def test_no_line_of_text_is_longer_than_80_columns():
    """For a terminal."""
    assert max(len(line) for line in run(MAPPED, "--what-if", "mapped_private").splitlines()) <= 80


@pytest.mark.parametrize(
    "pair", [["mapped_private"], [PRIVATE], [SAMPLES / "nodeos-v5-long"], [MAPPED, PRIVATE]]
)
def test_a_measured_pair_projects_the_change(pair):
    """By name, by this host's other recording, by a folder of two, by both."""
    options = ["--what-if", *pair]
    change = document(MAPPED, *options)["devices"][0]["what_if"]
    assert change["tb_per_year"] == pytest.approx(0.78, rel=0.1)
    assert change["ci95"]["low"] < change["tb_per_year"] < change["ci95"]["high"]
    assert "measured pair" in change["source"]


def test_a_pair_may_also_be_named_by_two_options():
    """--what-if BEFORE --what-if AFTER means the same as --what-if BEFORE AFTER."""
    once = document(MAPPED, "--what-if", MAPPED, PRIVATE)
    assert document(MAPPED, "--what-if", MAPPED, "--what-if", PRIVATE) == once


def test_the_named_pair_brings_what_its_restarts_wrote():
    """12 exits of 2.1 GB a year are in the projection, as recorded of the same node."""
    change = document(MAPPED, "--what-if", "mapped_private")["devices"][0]["what_if"]
    without = document(MAPPED, "--what-if", PRIVATE)["devices"][0]["what_if"]
    assert change["tb_per_year"] - without["tb_per_year"] == pytest.approx(12 * 2.13e9 / 1e12, rel=0.05)
    assert any("a restart after the change wrote 2.1" in note for note in change["notes"])


def test_the_life_after_the_change_is_said():
    """At its rating, and in the table of common ones."""
    text = flat(MAPPED, "--what-if", "mapped_private", "--rated-tbw", "60")
    assert "After the change: 0.8" in text
    assert "its rating of 60 TBW lasts 75 years" in text
    assert "after change" in run(MAPPED, "--what-if", "mapped_private")


def test_a_named_pair_needs_a_checkout(tmp_path, monkeypatch):
    """An installed leapprof has no samples and says so."""
    monkeypatch.setattr(leapprof, "__file__", str(tmp_path / "leapprof" / "__init__.py"))
    with pytest.raises(ConfigError, match="only a checkout"):
        run(MAPPED, "--what-if", "mapped_private")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing-here"], "known pairs: mapped_private"),
        (["mapped_private", "heap", "heap"], "twice"),
        ([SAMPLES / "nodeos-v5"], "holds 4 recordings"),
    ],
)
def test_what_is_no_pair_is_refused(words, said):
    """With what would be one."""
    with pytest.raises(ConfigError, match=said):
        run(MAPPED, *(w for word in words for w in ("--what-if", word)))


def test_the_mode_that_runs_already_is_no_change():
    """mapped_private to mapped_private."""
    with pytest.raises(ConfigError, match="already"):
        run(PRIVATE, "--what-if", "mapped_private")


def test_a_reconstructed_pair_is_refused():
    """Published figures are no measurement."""
    with pytest.raises(NotEnoughDataError, match="RECONSTRUCTED"):
        pair = SAMPLES / "eosphere"
        run(MAPPED, "--what-if", pair / "drive-mapped", "--what-if", pair / "drive-mapped_private")


def test_guests_of_one_drive_add_up():
    """Two guests, one drive of 1,000 TBW."""
    found = document(MAPPED, PRIVATE, "--one-drive", "--rated-tbw", "1000")
    (drive,) = found["devices"]
    assert drive["steady_tb_per_year"] == pytest.approx(254, rel=0.02)
    assert drive["rating"] == 1000


def test_a_hypervisors_recording_is_paired_with_its_guests():
    """Its drive is what lasts; the guest is a writer of it."""
    found = document(PRIVATE, "--hypervisor", f"vda={MAPPED}", "--rated-tbw", "600")
    (drive,) = found["devices"]
    assert drive["writers"][0]["who"] == "guest captured"
    assert drive["rating"] == 600


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([MAPPED, PRIVATE], "--hypervisor RECORDING or --one-drive"),
        ([MAPPED, "--one-drive", "--hypervisor", PRIVATE], "not together"),
        ([MAPPED, "--one-drive", "--what-if", "heap"], "of one guest alone"),
        ([MAPPED, "--hypervisor", f"sdz={PRIVATE}"], "say on which of its drives"),
        ([MAPPED, "--one-drive", "--rated-tbw", "1", "--drive", "CT1000MX500SSD1"], "say it once"),
        ([MAPPED, "--one-drive", "--smart", "x"], "takes --drive"),
        ([MAPPED, "--format", "xml"], "none of text, md, json"),
        ([MAPPED, "--rated-tbw", "nan"], "no number above 0"),
        ([MAPPED, "--rated-tbw", "-1"], "no number above 0"),
        ([MAPPED, "--rated-tbw", "1e12"], "no number above 0"),
        ([MAPPED, "--rated-tbw", "sda=600"], "no drive 'sda' here; there are vda"),
        ([MAPPED, "--price", "dear"], "no number above 0"),
        ([MAPPED, "--dwpd", "1"], "size of the drive"),
        ([MAPPED, "--drive", "INTEL"], "no rating of 'INTEL' is known"),
        ([MAPPED, "--drive", "SAMSUNG MZQL2"], "960 GB: 1,752 TBW"),
        ([MAPPED, "--volume", "gp9"], "gp3, premium-v2 or IOPS:MB/s"),
        ([MAPPED, "--volume", "inf:1"], "is no volume"),
        ([MAPPED, "--volume", "3000:nan"], "is no volume"),
    ],
)
def test_wrong_words_are_refused_with_the_right_ones(words, said):
    """Exit code 2, one line."""
    with pytest.raises(ConfigError, match=said):
        run(*words)


def test_files_that_are_not_what_they_should_be(tmp_path):
    """A missing file, no SMART document, no table of ratings, no recording."""
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        run(MAPPED, "--smart", tmp_path / "absent.json")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("vendor,product\nA,B\n")
    with pytest.raises(ParseError):
        run(MAPPED, "--smart", wrong)
    with pytest.raises(ParseError, match=f"{wrong}, line 1: expected vendor,"):
        run(MAPPED, "--ratings", wrong)
    with pytest.raises(NoRecordingError):
        run(tmp_path)


def test_a_smart_file_says_what_was_written(tmp_path):
    """A document of smartctl, and a rating of one's own."""
    smart = tmp_path / "smart.json"
    log = {"data_units_written": 20_000_000, "percentage_used": 40, "power_on_hours": 9000}
    smart.write_text(json.dumps({"model_name": "MINE", "nvme_smart_health_information_log": log}))
    ratings = tmp_path / "mine.csv"
    ratings.write_text(
        "vendor,product,model_regex,capacity_gb_decimal,rated_tbw_decimal_TB,dwpd,warranty_years,grade,source\n"
        "Me,Mine,^MINE$,1000,700,,,,label\n"
    )
    (drive,) = document(MAPPED, "--smart", f"vda={smart}", "--ratings", ratings)["devices"]
    assert (drive["rating"], drive["percent_used"]) == (700, 40)
    assert drive["written_tb"] == pytest.approx(10.24)
    assert drive["years"][0]["years"] == pytest.approx(0.6 * 700 / drive["steady_tb_per_year"])


def test_an_inventory_knows_the_drives(tmp_path):
    """[hosts.captured.devices]: what it says is taken, the command line wins."""
    inventory = tmp_path / "leapprof.toml"
    inventory.write_text('[hosts.captured]\naddress = "10.0.0.1"\ndevices.vda = { rated_tbw = 900 }\n')
    assert document(MAPPED, "--inventory", inventory)["devices"][0]["rating"] == 900
    assert document(MAPPED, "--inventory", inventory, "--rated-tbw", "60")["devices"][0]["rating"] == 60


def test_restarts_a_year_are_the_operators_word():
    """Always printed, with where it comes from."""
    assert "52 a year: as you say with --restarts-per-year" in flat(MAPPED, "--restarts-per-year", "52")
    assert "12 a year: the default" in flat(MAPPED)


def test_a_copied_recording_reads_alike(tmp_path):
    """Nothing but the folder is needed."""
    shutil.copytree(MAPPED, tmp_path / "copy")
    assert run(tmp_path / "copy") == run(MAPPED)

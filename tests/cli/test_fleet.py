"""`leapprof fleet` through the program."""

import json
import subprocess
import sys

import pytest

from tests.support.fleets import recorded


def _program(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from leapprof.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Return a file of four changed hosts and two controls."""
    directory = tmp_path_factory.mktemp("pairs")
    lines = []
    for number in range(6):
        control = number >= 4
        before = recorded(directory, f"h{number}", "before", 0.6, number)
        after = recorded(directory, f"h{number}", "after", 0.6 if control else 0.4, 100 + number)
        lines += ["[[pairs]]", f'host = "h{number}"', f'before = "{before.name}"', f'after = "{after.name}"']
        lines += ["control = true"] if control else []
    file = directory / "pairs.toml"
    file.write_text("\n".join(lines))
    return file


def test_pairs_of_recordings_are_one_verdict(pairs):
    """Four hosts fell by 20 points, two controls did not."""
    done = _program("fleet", "--pairs", str(pairs), "--json")
    assert done.returncode == 0, done.stderr
    (cpu,) = [m for m in json.loads(done.stdout)["metrics"] if m["name"] == "host.cpu_percent"]
    assert cpu["verdict"] == "improved"
    assert cpu["difference"]["value"] == pytest.approx(-20, abs=1)
    assert (cpu["changed"]["hosts"], cpu["controls"]["hosts"]) == (4, 2)


def test_the_text_says_what_the_json_says(pairs):
    """Hosts, verdict, interval."""
    done = _program("fleet", "--pairs", str(pairs))
    assert "4 hosts compared, 2 controls" in done.stdout
    assert "host.cpu_percent: improved" in done.stdout


def test_a_report_of_a_fleet_draws_every_host(pairs, tmp_path):
    """HTML with a forest plot, Markdown and JSON; hosts have no reports of their own, and nothing links to one."""
    done = _program("fleet", "--pairs", str(pairs), "--out", str(tmp_path / "report"))
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (tmp_path / "report").iterdir()) == [
        "report.html",
        "report.json",
        "report.md",
    ]
    page = (tmp_path / "report" / "report.html").read_text()
    assert page.count('<li class="host">h') >= 4
    assert "together, beyond the controls" in page
    assert 'href="#hosts"' not in page
    assert "CPU of the host" in (tmp_path / "report" / "report.md").read_text()
    again = _program("fleet", "--pairs", str(pairs), "--out", str(tmp_path / "report"))
    assert again.returncode != 0
    assert "report.html" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either --pairs FILE or --prometheus URL"),
        (("--pairs", "nowhere.toml"), "nowhere.toml"),
        (("--prometheus", "http://127.0.0.1:1"), "--change-at"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    """Exit code 2 and one line."""
    done = _program("fleet", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_hosts_that_are_too_short_are_named_or_all_there_is(tmp_path):
    """One of two is a finding; without the other nothing is left to compare, which is no empty verdict."""
    lines = []
    for name, hours in (("long", 2.0), ("short", 0.1)):
        found = [recorded(tmp_path, name, phase, 0.5, 1, hours=hours).name for phase in ("before", "after")]
        lines.append(f'[[pairs]]\nhost = "{name}"\nbefore = "{found[0]}"\nafter = "{found[1]}"\n')
    both, alone = tmp_path / "both.toml", tmp_path / "alone.toml"
    both.write_text("".join(lines))
    alone.write_text(lines[1])
    done = _program("fleet", "--pairs", str(both))
    assert (done.returncode, "1 host compared, 0 controls" in done.stdout) == (0, True), done.stderr
    assert "in no summary: short" in done.stdout
    done = _program("fleet", "--pairs", str(alone))
    assert (done.returncode, done.stdout) == (6, "")
    assert "no changed host that is long enough" in done.stderr

"""`leapprof compare` of directories of several hosts, through the program."""

import json
import re
from html import unescape

import pytest

from tests.support.fleets import recorded
from tests.support.program import leapprof


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Return a directory as `leapprof record` leaves it: three hosts in both phases, and one that is missing after."""
    directory = tmp_path_factory.mktemp("recordings")
    for i in range(3):
        recorded(directory, f"wax-{i}", "before", 0.6, i)
        recorded(directory, f"wax-{i}", "after", 0.4, 100 + i)
    recorded(directory, "wax-9", "before", 0.6, 9, hours=0.1)
    return directory


@pytest.fixture(scope="module")
def report(fleet, tmp_path_factory):
    """Return what the program printed, and the folder of the report."""
    out = tmp_path_factory.mktemp("out")
    done = leapprof("compare", str(fleet), "--out", str(out), "--format", "html,md,json")
    assert done.code == 0, done.err
    return done.out, next(out.iterdir())


def test_the_terminal_shows_the_summary_then_each_host(report):
    """Headline, the metric with its hosts, who is missing, where the reports are."""
    text = " ".join(report[0].split())
    assert text.startswith(
        "3 hosts: no change seen in facts or config - 3 hosts: of 1 headline metric 1 improved."
    )
    assert re.search(r"wax-1 (59|60)\.\d % → (39|40)\.\d %, −(19|20)\.\d points ✓ improved", text)
    assert "warning host-without-partner (wax-9): wax-9 was recorded before the change and not after" in text
    assert "hosts/wax-2/report.html" in report[0]
    assert max(map(len, report[0].splitlines()[:-6])) <= 80


def test_every_host_has_a_report_of_its_own_that_the_summary_links(report):
    """Links of the page and of the post lead to files that are there."""
    folder = report[1]
    page = (folder / "report.html").read_text()
    links = re.findall(r'href="(hosts/[^"]+)"', page)
    assert len(links) == 3
    links += re.findall(r"\]\(<(hosts/[^>]+)>\)", (folder / "report.md").read_text())
    assert len(links) == 6
    assert all((folder / link).is_file() for link in links)
    assert page.count("<svg viewBox") == 1
    assert "script-src 'none'" in unescape(page)


def test_every_number_of_the_summary_is_in_report_json(report):
    """The difference and its intervals, printed as units.py prints them."""
    document = json.loads((report[1] / "report.json").read_text())
    assert document["kind"] == "fleet"
    (cpu,) = [m for m in document["metrics"] if m["name"] == "host.cpu_percent"]
    numbers = [cpu["before_mean"], cpu["after_mean"], cpu["difference"]["value"], *cpu["difference"]["ci95"]]
    numbers += cpu["changed"]["prediction95"]
    known = {f"{abs(n):.3g}" for n in numbers} | {"95", "1", "3"}
    said = re.findall(r"(?<![\w.-])\d+(?:\.\d+)?", " ".join(document["headline"]))
    assert [n for n in said if f"{float(n):.3g}" not in known] == []
    assert [r["folder"] for r in document["reports"]] == ["hosts/wax-0", "hosts/wax-1", "hosts/wax-2"]


def test_public_reports_name_no_host(fleet, tmp_path):
    """The same alias in the summary, in the host's report and in the names of folders."""
    done = leapprof("compare", str(fleet), "--out", str(tmp_path), "--public")
    assert done.code == 0, done.err
    texts = {p: p.read_text() for p in tmp_path.rglob("*") if p.suffix in {".html", ".md", ".json", ".csv"}}
    assert [p for p, text in texts.items() if "wax-" in text or "wax-" in str(p.relative_to(tmp_path))] == []
    assert "wax-" not in done.out
    own = json.loads(next(tmp_path.rglob("hosts/host-2/report.json")).read_text())
    assert own["before"]["host"]["name"] == "host-2"


def test_json_and_the_exit_code_are_those_of_the_fleet(fleet, tmp_path):
    """A machine reads the summary; a host that got worse fails the call."""
    given = ("compare", str(fleet), "--out", str(tmp_path), "--format", "json")
    done = leapprof(*given, "--json", "--fail-on", "regression")
    assert done.code == 0
    assert len(json.loads(done.out)["hosts"]) >= 3
    worse = tmp_path / "worse"
    for i in range(2):
        recorded(worse, f"w{i}", "before", 0.4, i)
        recorded(worse, f"w{i}", "after", 0.6, 50 + i)
    assert leapprof("compare", str(worse), "--out", str(tmp_path), "--fail-on", "regression").code == 10


def test_a_control_among_the_recordings_is_no_changed_host(fleet, tmp_path):
    """Its recordings lie in the same directory; named with --control it is taken out and off."""
    control = [str(next(fleet.glob(f"wax-2-{phase}-*"))) for phase in ("before", "after")]
    done = leapprof(
        "compare", str(fleet), "--control", *control, "--out", str(tmp_path), "--format", "json", "--json"
    )
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert [(r["host"], r["control"]) for r in document["reports"]] == [
        ("wax-0", False),
        ("wax-1", False),
        ("wax-2", True),
    ]
    (cpu,) = [m for m in document["metrics"] if m["name"] == "host.cpu_percent"]
    assert cpu["difference"]["value"] == pytest.approx(0, abs=1.5)
    assert "one-control" in {f["code"] for f in document["findings"]}


def test_controls_of_several_hosts_are_not_for_one(fleet, tmp_path):
    """Which of them would it be?"""
    pair = [str(next(fleet.glob(f"wax-0-{phase}-*"))) for phase in ("before", "after")]
    done = leapprof("compare", *pair, "--control", str(fleet), str(fleet), "--out", str(tmp_path))
    assert done.code == 2
    assert "--control: names several hosts" in done.err


def test_directories_that_hold_one_recording_each_are_one_comparison(tmp_path):
    """As if the recordings themselves were named."""
    for phase, busy in (("before", 0.6), ("after", 0.4)):
        recorded(tmp_path / phase, "wax-1", phase, busy, 1)
    done = leapprof(
        "compare", *(str(tmp_path / p) for p in ("before", "after")), "--out", str(tmp_path / "out")
    )
    assert done.code == 0, done.err
    folder = next((tmp_path / "out").iterdir())
    assert not (folder / "hosts").exists()
    assert json.loads((folder / "report.json").read_text())["before"]["host"]["name"] == "wax-1"

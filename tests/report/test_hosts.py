"""The report of several hosts: names of hosts in files, folders, links and JSON."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leapprof.assess.fleet import fleet
from leapprof.assess.fleet_hosts import of_comparison
from leapprof.assess.fleet_texts import headline, method, title
from leapprof.assess.many_hosts import HostComparison, HostsComparison, SharedFinding
from leapprof.model import Estimate, Finding, Severity
from leapprof.report import Format
from leapprof.report.fleet_json import hosts_json
from leapprof.report.fleet_view import hosts_view
from leapprof.report.hosts import folders_of, write_hosts
from leapprof.report.public import publish_hosts
from tests.support.comparisons import SCRIPT, sample

NASTY = ("../../etc", "a|b](x)", f"eos-1{SCRIPT}", "eos/1", "eos 1")
TEXTS = frozenset({Format.HTML, Format.MD, Format.JSON})


def compared(names, *, controls=()):
    """Return the comparison of hosts that all measured the same."""
    made = sample()
    known = tuple(replace(m, before=_with_error(m.before), after=_with_error(m.after)) for m in made.metrics)
    hosts = tuple(HostComparison(host=name, comparison=_of_host(made, name, known)) for name in names)
    others = tuple(HostComparison(host=name, comparison=_of_host(made, name, known)) for name in controls)
    whole = fleet(
        [
            *(d for h in hosts for d in of_comparison(h.host, h.comparison, is_control=False)),
            *(d for h in others for d in of_comparison(h.host, h.comparison, is_control=True)),
        ]
    )
    comparisons = [h.comparison for h in hosts]
    finding = Finding(
        code="host-without-partner",
        severity=Severity.WARNING,
        message=f"{names[0]} …",
        hint="…",
        subject=names[0],
    )
    return HostsComparison(
        title=title(comparisons),
        fleet=whole,
        hosts=hosts,
        controls=others,
        findings=(finding,),
        shared=(SharedFinding(code="x", severity=Severity.INFO, hosts=names, message="…", hint="…"),),
        headline=headline(whole),
        method=method(len(comparisons)),
        repeat=("leapprof compare recordings",),
    )


def _with_error(estimate: Estimate | None) -> Estimate | None:
    return None if estimate is None else replace(estimate, standard_error=0.01 * abs(estimate.mean))


def _of_host(made, name, metrics):
    sides = (
        replace(side, recording=replace(side.recording, host=replace(side.recording.host, name=name)))
        for side in (made.before, made.after)
    )
    before, after = sides
    return replace(made, before=before, after=after, metrics=metrics)


def test_every_host_has_a_folder_below_the_summary_whatever_its_name():
    """No two in one, none outside, nothing that a link or a shell would take for something else."""
    folders = folders_of(compared(NASTY, controls=NASTY))
    assert len(set(folders.values())) == 2 * len(NASTY)
    for folder in folders.values():
        assert Path(folder).parts[0] in {"hosts", "controls"}
        assert len(Path(folder).parts) == 2
        assert set(Path(folder).name) <= set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
        )
        assert not Path(folder).name.startswith(".")


def test_names_of_hosts_open_no_tag_and_no_link(tmp_path):
    """What a host is called is text."""
    found = compared(NASTY, controls=("ctl",))
    paths = write_hosts(found, tmp_path, TEXTS)
    page, post, _ = (path.read_text() for path in paths[:3])
    assert SCRIPT not in page
    assert "a|b](x)" not in post
    assert len(paths) == 3 * (1 + len(NASTY) + 1)


def test_one_more_host_and_who_says_it_are_in_view_and_json():
    """Each metric has its hosts, controls last; each key is documented."""
    found = compared(("a1", "a2", "a3"), controls=("c1",))
    view = hosts_view(found, folders_of(found))
    assert all(
        [line.is_control for line in row.lines] == sorted(line.is_control for line in row.lines)
        for row in view.rows
    )
    assert [row.folder for row in view.hosts] == ["hosts/a1", "hosts/a2", "hosts/a3", "controls/c1"]
    drawn = [row for row in view.rows if row.forest]
    assert drawn
    assert all(row.headline for row in drawn)
    document = hosts_json(found, folders_of(found))
    text = (Path(__file__).parents[2] / "docs" / "report-json.md").read_text()
    metric, host = document["metrics"][0], document["hosts"][0]
    keys = {*document, *metric, *metric["changed"], *metric["controls"], *host, *document["reports"][0]}
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []
    json.dumps(document, allow_nan=False)


def test_aliases_are_the_same_in_the_summary_and_in_every_report():
    """A stranger can tell hosts apart and nothing else."""
    shown = publish_hosts(compared(("validator-berlin", "validator-paris"), controls=("validator-rome",)))
    assert [h.host for h in shown.hosts] == ["host-1", "host-2"]
    assert [h.comparison.before.recording.host.name for h in shown.hosts] == ["host-1", "host-2"]
    assert {d.host for d in shown.fleet.hosts} == {"host-1", "host-2", "host-3"}
    assert [v.metric.name for v in shown.fleet.verdicts] == [
        v.metric.name for v in compared(("x", "y")).fleet.verdicts
    ]
    assert "validator" not in repr(hosts_json(shown, folders_of(shown)))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_hosts_say_what_is_missing(count):
    """One host is no summary; two have no prediction of a third."""
    rows = hosts_view(compared(tuple("abc")[:count]), {}).rows
    assert all((row.one_more == "–") == (count < 3) for row in rows)
    assert all((row.difference.interval == "") == (count < 2) for row in rows)


def test_a_host_is_named_once_in_its_line_and_its_spread_is_in_points() -> None:
    """The title of its report begins with its name, which stands beside it already."""
    view = hosts_view(compared(tuple("abc")), {})
    assert [host.title for host in view.hosts if host.title.startswith(host.host + ":")] == []
    cpu = next(row for row in view.rows if row.name == "host.cpu_percent")
    assert "points" in cpu.between
    assert "+" not in cpu.between

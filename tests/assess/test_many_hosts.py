"""Several hosts, each compared and all together: controls, hosts that fail, what the sentences say."""

import shutil
from dataclasses import replace

import pytest

from leapprof.assess.host_pairs import HostPair, Paired, pair_hosts
from leapprof.assess.many_hosts import compare_hosts, unlike_changes
from leapprof.assess.material import CompareOptions
from leapprof.errors import NotEnoughDataError
from leapprof.model import Verdict
from tests.support.fleets import recorded


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Return a directory of four hosts that fell by 20 points, and one with three that did not."""
    directory = tmp_path_factory.mktemp("fleet")
    for i in range(4):
        recorded(directory / "changed", f"h{i}", "before", 0.6, i)
        recorded(directory / "changed", f"h{i}", "after", 0.4, 100 + i)
    for i in range(3):
        recorded(directory / "controls", f"c{i}", "before", 0.5, 20 + i)
        recorded(directory / "controls", f"c{i}", "after", 0.55, 120 + i)
    return directory


def _compared(changed, controls=None):
    return compare_hosts(changed, controls, lambda pair: CompareOptions(repeat=(pair.host,)))


def _cpu(compared):
    (found,) = [v for v in compared.fleet.verdicts if v.metric.name == "host.cpu_percent"]
    return found


def test_all_hosts_together_are_one_verdict(fleet):
    """Each host has its own comparison; the summary holds the four of them."""
    found = _compared(pair_hosts([fleet / "changed"]))
    cpu = _cpu(found)
    assert cpu.verdict is Verdict.IMPROVED
    assert cpu.value == pytest.approx(-20, abs=1)
    assert cpu.changed.prediction95.low < -20 < cpu.changed.prediction95.high
    assert [one.host for one in found.hosts] == ["h0", "h1", "h2", "h3"]
    assert found.headline[0] == "4 hosts: of 1 headline metric 1 improved."
    assert "by themselves 4 improved: improved" in found.headline[1]
    assert found.repeat == ("h0", "h1", "h2", "h3")


def test_shared_controls_are_taken_off_the_summary_alone(fleet):
    """They rose by 5 points: the change made 25."""
    found = _compared(pair_hosts([fleet / "changed"]), pair_hosts([fleet / "controls"]))
    cpu = _cpu(found)
    assert cpu.value == pytest.approx(-25, abs=1)
    assert cpu.controls.hosts == 3
    assert all(one.comparison.control is None for one in found.hosts)
    assert "beyond the controls" in found.headline[1]


def test_a_single_control_is_taken_off_each_host_and_once_off_the_summary(fleet):
    """Its error is common to all hosts: it does not shrink with their number."""
    controls = pair_hosts([fleet / "controls"])
    one = Paired(pairs=controls.pairs[:1], findings=())
    found, plain = _compared(pair_hosts([fleet / "changed"]), one), _compared(pair_hosts([fleet / "changed"]))
    assert _cpu(found).value == pytest.approx(-25, abs=1)
    assert _cpu(found).controls.hosts == 1
    assert _width(_cpu(found)) > _width(_cpu(plain))
    assert all(h.comparison.control["control host"] == "c0" for h in found.hosts)
    assert "one-control" in {f.code for f in found.findings}


def test_a_control_of_its_own_is_taken_off_each_host(fleet):
    """Controls that have the hosts' names: another node of the same host."""
    changed, controls = pair_hosts([fleet / "changed"]), pair_hosts([fleet / "controls"])
    own = tuple(
        HostPair(host=f"h{i}", before=p.before, after=p.after)
        for i, p in enumerate((*controls.pairs, controls.pairs[0]))
    )
    found = _compared(changed, Paired(pairs=own, findings=()))
    assert _cpu(found).value == pytest.approx(-25, abs=1)
    assert _cpu(found).controls is None
    assert all(d.effect_of for d in found.fleet.hosts)
    assert len(found.controls) == 4


def test_a_host_that_cannot_be_compared_does_not_stop_the_others(fleet, tmp_path):
    """Two recordings of one time, and one that lost its tables."""
    shutil.copytree(fleet / "changed", tmp_path / "all")
    for table in next((tmp_path / "all").glob("h1-after-*")).glob("*.parquet"):
        table.write_bytes(b"PAR1 no more")
    changed = pair_hosts([tmp_path / "all"])
    pairs = tuple(
        HostPair(host=p.host, before=p.before, after=p.before if p.host == "h2" else p.after)
        for p in changed.pairs
    )
    found = _compared(Paired(pairs=pairs, findings=changed.findings))
    assert [one.host for one in found.hosts] == ["h0", "h3"]
    assert [(f.code, f.subject) for f in found.findings] == [
        ("host-not-compared", "h1"),
        ("host-not-compared", "h2"),
    ]
    assert _cpu(found).changed.hosts == 2


def test_hosts_that_are_too_short_for_intervals_are_named(fleet, tmp_path):
    """Their own means are shown; the summary is of the others."""
    for i, phase in enumerate(("before", "after")):
        recorded(tmp_path, "short", phase, 0.5, i, hours=0.25)
    short = HostPair(
        host="short", before=next(tmp_path.glob("*-before-*")), after=next(tmp_path.glob("*-after-*"))
    )
    changed = pair_hosts([fleet / "changed"])
    found = _compared(Paired(pairs=(*changed.pairs, short), findings=()))
    (finding,) = [f for f in found.findings if f.code == "host-too-short"]
    assert "short" in finding.message
    assert _cpu(found).changed.hosts == 4


def test_hosts_that_were_changed_in_different_ways_are_told_apart(fleet):
    """A mean over two changes is of neither."""
    found = _compared(pair_hosts([fleet / "changed"]))
    assert "changes-differ" not in {f.code for f in found.findings}
    first, *others = found.hosts
    other = replace(first.comparison, method={**first.comparison.method, "change": "nodeos v1 → v2"})
    (finding,) = unlike_changes([replace(first, comparison=other), *others])
    assert "nodeos v1 → v2 (h0)" in finding.message
    assert "(h1, h2, h3)" in finding.message


def test_no_host_at_all_is_an_error(fleet):
    """Nothing to compare, and why."""
    with pytest.raises(NotEnoughDataError, match="h0 was recorded before"):
        _compared(
            pair_hosts([*(fleet / "changed").glob("h[01]-before-*"), *(fleet / "changed").glob("h2-after-*")])
        )


def _width(verdict):
    return verdict.ci95.high - verdict.ci95.low

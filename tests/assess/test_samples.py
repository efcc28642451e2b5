"""What the comparisons of samples/ say: verdict, grade and reason of every headline metric, as reviewed.

``LEAPPROF_UPDATE_GOLDEN=1 pytest tests/assess/test_samples.py`` writes golden/samples.json anew; read the difference.
"""

import json
import os
from functools import cache
from pathlib import Path

import pytest

from leapprof.analysis.windows import HOUR_S
from leapprof.assess.compare import compare, compare_cut
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.assess.sides import WindowChoice
from leapprof.model import Grade
from leapprof.units import DAY_S, NS_PER_S
from samples.make_reports import EOS_CHANGE_NS
from tests.support.sample_comparisons import FOLDERS, comparison

GOLDEN = Path(__file__).parent / "golden" / "samples.json"
SAMPLES = Path(__file__).parent.parent.parent / "samples"


def said(folder):
    """Return what the golden file keeps of a comparison."""
    found = compared(folder)
    return {
        "title": found.title,
        "warnings": [f.code for f in found.findings if f.severity != "info"],
        "metrics": {
            f"{m.name} {m.subject.device or m.subject.nodeos or 'host'}": [m.verdict, m.grade, m.reason]
            for m in found.metrics
            if m.headline
        },
    }


MORE = {
    "nodeos-v5-swap": ("nodeos-v5/mapped_private", "nodeos-v5/mapped_private-swap"),
    "eosphere-memory-modes": ("eosphere/memory-mapped", "eosphere/memory-second-start"),
}
"""Pairs that have no report."""


@cache
def compared(folder):
    """Return the comparison of a report, or of a pair without one."""
    if folder not in MORE:
        return comparison(folder)
    repeat = " ".join(("leapprof compare", *(f"samples/{name}" for name in MORE[folder])))
    return compare(
        *(load(SAMPLES / name) for name in MORE[folder]), CompareOptions(across=True, repeat=(repeat,))
    )


def test_every_recording_of_the_samples_is_in_a_pair():
    """None lies there without a verdict that is held to."""
    recordings = {path.parent.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("recording.json")}
    named = {
        word for folder in (*FOLDERS, *MORE) for line in compared(folder).repeat for word in line.split()
    }
    assert recordings - {word.removeprefix("samples/") for word in named} == set()


@pytest.mark.parametrize("folder", [*FOLDERS, *MORE])
def test_every_pair_of_the_samples_says_what_was_reviewed(folder):
    """A change of a verdict is a change that somebody has to have looked at."""
    kept = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("LEAPPROF_UPDATE_GOLDEN"):
        kept[folder] = said(folder)
        GOLDEN.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert kept[folder] == said(folder)


def test_of_two_nodes_the_changed_one_improved_and_the_other_did_not_move():
    """Two real hours: the writes of a's state fell beyond its control, b's are unchanged, and each is told apart."""
    found = comparison("standin-two-hours")
    writes = {m.subject.device: m for m in found.metrics if m.name == "device.write_bytes_per_s"}
    assert writes["loop0"].verdict == "improved"
    assert writes["loop0"].adjusted_for.startswith("beyond the control b, which moved by ")
    assert writes["loop2"].verdict == "unchanged"
    assert "state, blocks of a" in found.headline[1]
    cpu = {m.subject.nodeos: m.verdict for m in found.metrics if m.name == "nodeos.cpu_cores"}
    assert cpu == {"a": "unchanged", "b": "unchanged"}


def test_two_real_hours_end_in_verdicts_of_full_grade():
    """Nodes beside each other: another map mode divides the writes by some hundred, an equal node writes as much."""
    for folder, device, verdict in (
        ("standin-side-by-side", "loop0", "improved"),
        ("standin-side-by-side-same", "loop1", "unchanged"),
    ):
        found = comparison(folder)
        assert min(side.window.compared_s for side in (found.before, found.after)) > 2 * HOUR_S
        (writes,) = (
            m for m in found.metrics if m.name == "device.write_bytes_per_s" and m.subject.device == device
        )
        assert (writes.verdict, writes.grade, writes.headline) == (verdict, Grade.FULL, True)


def test_the_published_cases_end_as_they_deserve():
    """EOS: CPU and writes down, the silent default is named. WAX: CPU up, the thread options are named."""
    eos = comparison("eosphere-cpu")
    assert "v4.0.4 → v5.0.0" in eos.title
    assert verdicts(eos) == {"host.cpu_percent": "improved", "nodeos.cpu_cores": "improved"}
    assert "eos-vm-oc-enable" in message(eos, "version-defaults-differ")
    assert verdicts(comparison("eosphere-drive"))["device.write_bytes_per_s"] == "improved"
    wax = comparison("wax-cpu")
    assert verdicts(wax) == {"host.cpu_percent": "regressed", "nodeos.cpu_cores": "regressed"}
    assert {c.option for c in wax.config_changes} == {"chain-threads", "net-threads", "producer-threads"}
    assert "2 config option(s) changed at the same time: chain-threads, producer-threads" in message(
        wax, "confounded-by-config"
    ), "net-threads is 4 by default from Leap 4.0 on, so writing it down changed nothing"
    assert "eos-vm-oc-enable" in message(wax, "version-defaults-differ")
    assert wax.headline[-1].startswith("Changed at the same time and possibly the cause: chain-threads ")
    assert all("eos-vm-oc-enable false → auto" in found.headline[-1] for found in (eos, wax))
    assert not any("p2p-listen-endpoint" in found.headline[-1] for found in (eos, wax)), (
        "only written otherwise"
    )


def test_two_weeks_in_which_nothing_was_changed_are_unchanged():
    """A continuous recording cut where nothing happened: seven days before, seven days after."""
    moment_ns = EOS_CHANGE_NS - 7 * DAY_S * NS_PER_S
    week = WindowChoice(from_s=0.0, to_s=7.0 * DAY_S - 3600)
    found = compare_cut(load(SAMPLES / "eosphere" / "month"), moment_ns, CompareOptions(window=week))
    assert "no change seen" in found.title
    assert verdicts(found) == {"host.cpu_percent": "unchanged", "nodeos.cpu_cores": "unchanged"}
    assert {m.grade for m in found.metrics if m.headline} == {Grade.FULL}


def test_room_for_peers_is_that_of_the_published_case():
    """85 % → 60 % at 180 to 195 peers: about 255 to 276."""
    room = comparison("eosphere-cpu").headroom
    assert (room.clients.low, room.clients.high) == pytest.approx((253, 275), abs=3)
    at = {point.clients: (point.percent.low, point.percent.high) for point in room.at}
    assert at[250] == pytest.approx((77, 83), abs=1.5)
    assert at[300] == pytest.approx((92, 100), abs=1.5)
    assert "in proportion to the number of incoming peers" in room.assumption


def verdicts(found):
    """Return the verdicts of the headline metrics."""
    return {m.name: m.verdict.value for m in found.metrics if m.headline}


def message(found, code):
    """Return the message of a finding."""
    return next(f.message for f in found.findings if f.code == code)


def test_the_headline_is_about_the_device_that_carries_the_state_most_directly():
    """The drive below comes second, with whose bytes are in it."""
    _, first, second, *_ = comparison("nodeos-v5-long").headline
    assert first.startswith("Writes to loop0 (state, blocks; part of what its drive takes)")
    assert first.endswith("improved (preliminary).")
    assert "below loop0, with the bytes of all other writers" in second

"""Swap where there is none is no question: shown, outside the headline and of every family of p values."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.compare import compare
from leapprof.assess.fleet import fleet
from leapprof.assess.fleet_hosts import of_comparison
from leapprof.assess.immovable import NO_SWAP
from leapprof.assess.pairs import compare_pairs
from leapprof.model import Column, Verdict
from tests.support.recordings import NS, START_WALL_NS, level, made, noisy

SECONDS = 6600
SWAP = ("host.swap_used_bytes", "nodeos.swap_bytes")
DAY_NS = 86_400 * NS


def recording(number, *, swap_bytes=0.0, in_swap_bytes=0.0, surveyed=None, cores=0.5):
    """Return a recording of a host with so much swap, or with none that is known."""
    one = made(
        seconds=SECONDS,
        phase="after" if number % 2 else "before",
        start_wall_ns=START_WALL_NS + number * DAY_NS,
        cpu_cores=noisy(SECONDS, cores, seed=number),
        write_bytes=noisy(SECONDS, 4e6, seed=number + 50),
        facts={} if surveyed is None else {"swap_total_bytes": surveyed},
    )
    swap = level(np.full(SECONDS, swap_bytes))
    used = level(np.full(SECONDS, in_swap_bytes))
    host, nodeos = one.tables["host"], one.tables["nodeos"]
    tables = {
        **one.tables,
        "host": replace(host, integers={**host.integers, "swap_total_bytes": swap, "swap_free_bytes": swap}),
        "nodeos": replace(nodeos, integers={**nodeos.integers, "swap_bytes": used}),
    }
    return replace(one, tables=tables)


def compared(before=None, after=None):
    """Return the comparison of two days; what is given makes the host of one."""
    return compare(recording(0, **(before or {})), recording(1, **{**(before or {}), **(after or {})}))


def in_headline(comparison):
    """Return which metrics of swap the headline counts."""
    return {m.name for m in comparison.metrics if m.headline and m.name in SWAP}


@pytest.mark.parametrize("surveyed", [None, "0"])
def test_a_host_without_swap_has_no_swap_in_its_headline(surveyed):
    """Told by its survey, or where an import has none by every sample; the table has it, and says why."""
    found = compared({"surveyed": surveyed})
    assert in_headline(found) == set()
    assert not any("wap" in sentence for sentence in found.headline)
    rows = [m for m in found.metrics if m.name in SWAP]
    assert [(m.name, m.before.mean, m.after.mean) for m in rows] == [(name, 0.0, 0.0) for name in SWAP]
    for row in rows:
        assert row.verdict is Verdict.UNCHANGED
        assert (row.p_value, row.p_adjusted, row.immovable) == (None, None, NO_SWAP)
        assert (row.reason, row.needed_seconds) == ("neither side has swap, so it cannot move", None)


@pytest.mark.parametrize(
    "before",
    [
        {"swap_bytes": 8e9},
        {"swap_bytes": 8e9, "surveyed": "8000000000"},
        {"surveyed": "8000000000"},
        {"surveyed": "not permitted"},
    ],
    ids=["unused", "unused and surveyed", "switched off later", "not permitted"],
)
def test_swap_that_is_there_and_unused_stays_a_question(before):
    """It may be used after the change; so may swap of which nobody knows whether it is there."""
    found = compared(before)
    assert in_headline(found) == set(SWAP)
    assert {m.immovable for m in found.metrics} == {None}


def test_swap_on_one_side_is_a_question():
    """Whoever adds swap with the change wants to see it."""
    assert in_headline(compared(after={"swap_bytes": 8e9})) == set(SWAP)


def test_absent_is_not_zero():
    """Where SwapTotal was never read, nothing says that there is no swap."""
    sides = []
    for number in (0, 1):
        one = recording(number)
        host = one.tables["host"]
        absent = Column(values=np.zeros(SECONDS, np.int64), present=np.zeros(SECONDS, bool))
        whole = {**host.integers, "swap_total_bytes": absent, "swap_free_bytes": absent}
        sides.append(replace(one, tables={**one.tables, "host": replace(host, integers=whole)}))
    assert in_headline(compare(*sides)) == {"nodeos.swap_bytes"}


def test_a_container_that_hides_the_swap_of_its_host_does_not_hide_what_is_in_it():
    """SwapTotal of 0 beside a process with pages in swap: that metric stays a question."""
    assert in_headline(compared({"in_swap_bytes": 1e9})) == {"nodeos.swap_bytes"}


def test_what_cannot_move_is_in_no_family_of_p_values():
    """Holm multiplies the smallest p value by the number of questions: two fewer without swap."""
    factors = []
    for swap_bytes in (8e9, 0.0):
        found = compare(recording(0, swap_bytes=swap_bytes), recording(1, swap_bytes=swap_bytes, cores=0.51))
        asked = [m for m in found.metrics if m.headline and m.p_value is not None]
        least = min(asked, key=lambda m: m.p_value)
        factors.append(len(asked))
        assert least.p_adjusted == pytest.approx(min(least.p_value * len(asked), 1.0))
    assert factors[0] - factors[1] == len(SWAP)


def test_pairs_and_fleets_ask_no_such_question_either():
    """Four alternating phases of one host, and two hosts."""
    pairs = compare_pairs([recording(number) for number in range(4)])
    assert in_headline(pairs) == set()
    assert all(m.reason.startswith(NO_SWAP) for m in pairs.metrics if m.name in SWAP)
    one, other = compared(), compared({"surveyed": "0"})
    hosts = [*of_comparison("h1", one, is_control=False), *of_comparison("h2", other, is_control=False)]
    verdicts = {v.metric.name: v for v in fleet(hosts).verdicts}
    assert [verdicts[name].metric.headline for name in SWAP] == [False, False]
    assert [verdicts[name].p_adjusted for name in SWAP] == [None, None]
    mixed = [*of_comparison("h1", one, is_control=False)]
    mixed += of_comparison("h2", compared({"swap_bytes": 8e9}), is_control=False)
    assert {v.metric.name: v.metric.headline for v in fleet(mixed).verdicts}["host.swap_used_bytes"]

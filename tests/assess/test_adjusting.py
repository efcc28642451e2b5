"""Another load: of several nodeos on a host each follows its own."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.compare import compare
from tests.support.recordings import NS, START_WALL_NS, noisy, pair, stacked

SECONDS = 7200


def with_second(recording, other):
    """Return a recording with a second nodeos, which is what another recording has."""
    tables = dict(recording.tables)
    for name in ("nodeos", "chain"):
        theirs = other.tables[name]
        renamed = replace(
            theirs, texts={**theirs.texts, "nodeos": np.full(theirs.rows, "second", dtype=object)}
        )
        tables[name] = stacked([recording.tables[name], renamed])
    second = replace(other.manifest.nodeos[0], id="second", state_dir=None)
    return replace(
        recording,
        tables=tables,
        manifest=replace(recording.manifest, nodeos=(*recording.manifest.nodeos, second)),
    )


def sides(first, second, *, seed):
    """Return both sides of a nodeos whose CPU is a hundredth of its transactions."""
    loads = (noisy(SECONDS, mean, seed=seed + i, phi=0.999) for i, mean in enumerate((first, second)))
    made = [{"transactions": load, "cpu_cores": 0.01 * load} for load in loads]
    return pair(seconds=SECONDS, before=made[0], after=made[1])


def test_of_two_nodeos_each_is_compared_at_its_own_load():
    """One's load rose by a tenth and its CPU with it: nothing is left at equal load. The other's stayed."""
    busier, same = sides(50, 55, seed=1), sides(30, 30, seed=5)
    found = compare(*(with_second(a, b) for a, b in zip(busier, same, strict=True)))
    cpu = {m.subject.nodeos: m for m in found.metrics if m.name == "nodeos.cpu_cores"}
    assert cpu["eos"].difference.value > 0.05
    assert cpu["eos"].adjusted.value == pytest.approx(0, abs=0.02)
    assert cpu["eos"].adjusted_for.startswith("at equal load, for the transactions were ")
    assert cpu["second"].adjusted is None
    assert cpu["second"].confounded == ()


def test_windows_of_a_day_and_a_half_are_compared_hour_by_hour():
    """Begun twelve hours apart, one holds the busy half of the day twice and the other the quiet one."""
    seconds, later = 36 * 3600, 60 * 3600
    sides_of_day = [
        {"cpu_cores": 2 + 0.6 * np.sin(2 * np.pi * (start + np.arange(seconds)) / 86_400)}
        for start in (0, later)
    ]
    before, after = pair(
        seconds=seconds,
        before=sides_of_day[0],
        after={**sides_of_day[1], "start_wall_ns": START_WALL_NS + later * NS},
    )
    cpu = next(m for m in compare(before, after).metrics if m.name == "nodeos.cpu_cores")
    assert abs(cpu.difference.value) > 0.2
    assert cpu.adjusted.value == pytest.approx(0.0, abs=0.01)
    assert cpu.adjusted_for.startswith("with each hour of the day counted alike")

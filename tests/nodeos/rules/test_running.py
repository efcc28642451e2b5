"""Rules about how nodeos will run with the memory there is."""

import pytest

from leapprof.nodeos.grammar import parse_config
from leapprof.nodeos.host_facts import HostFacts
from leapprof.nodeos.rules import check_config, running, would_start
from leapprof.nodeos.versions import parse_version
from leapprof.units import GIB, MIB

OURS = {rule.code for rule in running.RULES}


def findings(size_gib=128, mode="mapped_private", **facts):
    """Return the findings of these rules for a host of 32 GiB of RAM and plenty of swap."""
    text = f"database-map-mode = {mode}\nchain-state-db-size-mb = {size_gib * 1024}\n"
    known = {"ram_bytes": 32 * GIB, "swap_bytes": 256 * GIB, **facts}
    found = check_config(parse_config(text), parse_version("leap-5.0"), facts=HostFacts(**known))
    return [f for f in found if f.code in OURS]


@pytest.mark.parametrize(
    ("size_gib", "mode", "codes"),
    [
        (128, "mapped_private", ["state-above-ram"]),
        (129, "mapped_private", ["state-far-above-ram"]),
        (32, "mapped_private", []),
        (128, "mapped", []),
        (128, "heap", []),
    ],
)
def test_how_far_memory_is_oversubscribed(size_gib, mode, codes):
    """Four times the RAM is what operators have published; it says so and lets it start."""
    found = findings(size_gib, mode)
    assert [f.code for f in found] == codes
    assert would_start(found)


def test_the_ratio_is_said():
    """State size against RAM, with the swap that carries the rest."""
    (found,) = findings(64)
    assert "2.0 times as much" in found.message
    assert "256 GiB of swap" in found.message


def test_a_used_state_larger_than_ram_is_told():
    """After a snapshot all of it is anonymous."""
    codes = [f.code for f in findings(64, state_used_bytes=40 * GIB)]
    assert "state-used-above-ram" in codes
    assert "state-used-above-ram" not in [f.code for f in findings(64, state_used_bytes=8 * GIB)]


@pytest.mark.parametrize(
    ("facts", "is_short"),
    [
        ({}, False),
        ({"memory_pressure_share": 0.02, "swap_in_bytes_per_s": 0.0, "refault_bytes_per_s": 0.0}, False),
        ({"memory_pressure_share": 0.2}, True),
        ({"swap_in_bytes_per_s": 60.0 * MIB}, True),
        ({"swap_in_bytes_per_s": 30.0 * MIB, "refault_bytes_per_s": 30.0 * MIB}, True),
    ],
)
def test_a_host_that_was_short_of_memory_is_told(facts, is_short):
    """Measured pressure, swap-ins and refaults; what was not measured is not 0."""
    found = [f for f in findings(16, "mapped", **facts) if f.code == "memory-short"]
    assert bool(found) is is_short
    assert all("not known" in f.message for f in found)

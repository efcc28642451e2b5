"""Rules about the memory that the state needs."""

import pytest

from leapprof.nodeos.grammar import parse_config
from leapprof.nodeos.host_facts import HostFacts, Overcommit
from leapprof.nodeos.rules import check_config, running
from leapprof.nodeos.versions import parse_version
from leapprof.units import GIB, MIB

KB = 1024


def codes(mode, size_mib, target="leap-5.0", **facts):
    """Return the codes found for a map mode and state size on a host."""
    text = f"database-map-mode = {mode}\nchain-state-db-size-mb = {size_mib}\n"
    findings = check_config(parse_config(text), parse_version(target), facts=HostFacts(**facts))
    left_out = {"default-restated", *(rule.code for rule in running.RULES)}
    return [f.code for f in findings if f.code not in left_out]


def test_the_published_host_carries_the_published_state():
    """32 GiB of RAM and 128 GiB of swap carry 131072 MiB in mapped_private."""
    host = {"ram_bytes": 32 * GIB, "swap_bytes": 128 * GIB, "overcommit": Overcommit.HEURISTIC}
    assert codes("mapped_private", 131_072, **host) == []


def test_without_enough_swap_it_does_not():
    """The same state with 64 GiB of swap is refused at start."""
    host = {"ram_bytes": 32 * GIB, "swap_bytes": 64 * GIB, "overcommit": Overcommit.HEURISTIC}
    assert codes("mapped_private", 131_072, **host) == ["state-above-ram-and-swap"]


@pytest.mark.parametrize(
    ("mode", "target", "size_mib", "starts"),
    [
        ("mapped_private", "v5.0.3", 24_576, True),
        ("mapped_private", "v5.0.3", 28_672, False),
        ("mapped_private", "v5.0.3", 102_400, False),
        ("mapped", "v5.0.3", 102_400, True),
        ("heap", "v4.0.6", 24_576, True),
        ("heap", "v4.0.6", 28_672, False),
        ("mapped", "v4.0.6", 102_400, True),
    ],
)
def test_the_rule_agrees_with_what_a_real_nodeos_did(mode, target, size_mib, starts):
    """On a host with 26,781,244 kB of RAM and swap, real nodeos started and refused these very sizes."""
    ram = 24_000_000 * KB
    host = {"ram_bytes": ram, "swap_bytes": 26_781_244 * KB - ram, "overcommit": Overcommit.HEURISTIC}
    assert ("state-above-ram-and-swap" not in codes(mode, size_mib, target, **host)) is starts


def test_strict_overcommit_counts_what_the_commit_limit_leaves():
    """With vm.overcommit_memory = 2 the commit limit decides, less what is committed already."""
    host = {
        "ram_bytes": 64 * GIB,
        "swap_bytes": 128 * GIB,
        "overcommit": Overcommit.NEVER,
        "commit_limit_bytes": 160 * GIB,
        "committed_bytes": 40 * GIB,
    }
    assert codes("mapped_private", 131_072, **host) == ["state-above-commit-limit"]
    assert codes("mapped_private", 65_536, **host) == []


def test_always_overcommit_starts_with_a_warning():
    """With vm.overcommit_memory = 1 nodeos starts, and may be killed later."""
    host = {"ram_bytes": 16 * GIB, "swap_bytes": 0, "overcommit": Overcommit.ALWAYS}
    assert codes("mapped_private", 131_072, **host) == ["state-above-memory"]


def test_locked_needs_its_limit_and_the_ram():
    """Locked is refused above RLIMIT_MEMLOCK, and above the RAM whatever the limit."""
    host = {"ram_bytes": 64 * GIB, "swap_bytes": 64 * GIB}
    assert codes("locked", 32_768, memlock_bytes=8 * MIB, **host) == ["state-above-memlock"]
    assert codes("locked", 32_768, memlock_unlimited=True, **host) == []
    assert codes("locked", 65_536, memlock_unlimited=True, **host) == ["state-locked-above-ram"]


def test_heap_above_the_ram_goes_to_swap():
    """Heap takes its whole size: above the RAM, within RAM and swap, it starts with a warning."""
    assert codes("heap", 65_536, ram_bytes=32 * GIB, swap_bytes=64 * GIB) == ["state-heap-above-ram"]


def test_a_host_that_is_not_known_is_said_to_be_unchecked():
    """Without facts a private mode gives a note and no verdict."""
    assert codes("mapped_private", 131_072) == ["state-memory-unchecked"]
    assert codes("mapped", 131_072) == []


def test_an_existing_file_is_never_shrunk():
    """A smaller size than the file's has no effect, and the file's size is what needs memory."""
    host = {"ram_bytes": 32 * GIB, "swap_bytes": 0, "state_file_bytes": 64 * GIB}
    assert codes("mapped_private", 16_384, **host) == ["state-above-ram-and-swap", "state-does-not-shrink"]


def test_a_state_that_is_full_stops_nodeos():
    """With less than the guard left nodeos stops at once."""
    assert codes("mapped", 65_536, state_used_bytes=64 * GIB - 100 * MIB) == ["state-full"]
    assert codes("mapped", 65_536, state_used_bytes=63 * GIB) == []

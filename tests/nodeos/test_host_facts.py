"""What a manifest or a survey says of a host becomes the facts that the rules judge by."""

import pytest

from leapprof.model import Host, Nodeos, Topology
from leapprof.nodeos.grammar import parse_config
from leapprof.nodeos.host_facts import HostFacts, host_facts
from leapprof.nodeos.rules import check_config
from leapprof.nodeos.versions import parse_version
from leapprof.units import GIB


def facts(nodeos_facts: dict[str, str], *, running: bool = True, **host: str) -> HostFacts:
    """Return the facts of a host with one nodeos."""
    named = {f"nodeos.eos.{name}": value for name, value in nodeos_facts.items()}
    nodeos = (
        Nodeos(id="eos", pid=7, start_ticks=1, state_dir="/srv/state", map_mode="mapped") if running else None
    )
    return host_facts(Host(name="h", boot_id="b", facts={**host, **named}), Topology(), nodeos)


def codes(text: str, known: HostFacts) -> set[str]:
    """Return the codes found for a config."""
    return {f.code for f in check_config(parse_config(text), parse_version("leap-5.0"), facts=known)}


def test_state_file_filesystem_and_time_out_are_taken_over() -> None:
    """Numbers as numbers, words as what they mean."""
    known = facts(
        {
            "state_filesystem": "tmpfs",
            "state_filesystem_bytes": "1000",
            "state_file_bytes": "2000",
            "state_dirty": "yes",
            "stop_timeout_s": "90",
        },
        soft_dirty="no",
    )
    assert (known.state_filesystem, known.state_filesystem_bytes, known.state_file_bytes) == (
        "tmpfs",
        1000,
        2000,
    )
    assert (known.state_dirty, known.stop_timeout_s, known.soft_dirty) == (True, 90.0, False)


@pytest.mark.parametrize(
    ("text", "seconds"), [("infinity", float("inf")), ("0.5", 0.5), ("soon", None), ("", None), ("-1", None)]
)
def test_a_time_out_that_is_none_is_not_known(text: str, seconds: float | None) -> None:
    """Neither 0 nor the default is made up."""
    assert facts({"stop_timeout_s": text}).stop_timeout_s == seconds


def test_what_is_not_there_is_not_known() -> None:
    """A host without facts."""
    assert facts({}, running=False) == HostFacts()


def test_rules_about_the_host_fire() -> None:
    """A tmpfs with another mode, a stop that takes longer than its time-out, a kernel without soft-dirty support."""
    known = facts(
        {"state_filesystem": "tmpfs", "state_filesystem_bytes": str(GIB), "stop_timeout_s": "10"},
        soft_dirty="no",
    )
    found = codes("database-map-mode = mapped_private\nchain-state-db-size-mb = 131072\n", known)
    assert {
        "tmpfs-wants-mapped",
        "stop-timeout-short",
        "soft-dirty-missing",
        "tmpfs-trips-resource-monitor",
    } <= found


def test_a_stop_without_limit_is_never_too_short() -> None:
    """TimeoutStopSec=infinity."""
    known = facts({"stop_timeout_s": "infinity"})
    text = "database-map-mode = mapped_private\nchain-state-db-size-mb = 131072\n"
    assert "stop-timeout-short" not in codes(text, known)


def test_the_dirty_flag_of_a_running_nodeos_is_right() -> None:
    """It is set while the state is open; only without a process it tells of a crash."""
    assert "state-dirty" not in codes("plugin = eosio::chain_plugin\n", facts({"state_dirty": "yes"}))

"""What the rules need to know of the host that a config.ini is for. Everything may be unknown (None)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from leapprof.model import Host, Nodeos, Topology


class Overcommit(IntEnum):
    """vm.overcommit_memory (Linux Documentation/mm/overcommit-accounting.rst)."""

    HEURISTIC = 0
    ALWAYS = 1
    NEVER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Facts of one host and of the nodeos that is to start there.

    Attributes:
        ram_bytes, swap_bytes: MemTotal and SwapTotal.
        overcommit: vm.overcommit_memory.
        commit_limit_bytes, committed_bytes: CommitLimit and Committed_AS.
        memlock_bytes: soft RLIMIT_MEMLOCK of nodeos; None also when unlimited, see memlock_unlimited.
        memlock_unlimited: RLIMIT_MEMLOCK is unlimited.
        cores: online.
        state_filesystem: type of the filesystem of the state directory (tmpfs, ext4, zfs …).
        state_filesystem_bytes: its size.
        state_file_bytes: apparent size of shared_memory.bin; None without one.
        state_used_bytes: bytes of the state in use, as db_size says.
        state_dirty: byte 8 of shared_memory.bin is not 0.
        nodeos_running: nodeos runs, so that the dirty flag is set by right.
        soft_dirty: the kernel tracks written pages (CONFIG_MEM_SOFT_DIRTY).
        stop_timeout_s: how long the supervisor waits before it kills (TimeoutStopSec).
        state_drives, blocks_drives: kernel names of the drives below both directories.
        drive_write_bytes_per_s: what the state's drive takes in a stretch.
        memory_pressure_share: share of time in which some task waited for memory (/proc/pressure/memory, some).
        swap_in_bytes_per_s, refault_bytes_per_s: read back from swap, and of dropped file pages.
    """

    ram_bytes: int | None = None
    swap_bytes: int | None = None
    overcommit: Overcommit | None = None
    commit_limit_bytes: int | None = None
    committed_bytes: int | None = None
    memlock_bytes: int | None = None
    memlock_unlimited: bool = False
    cores: int | None = None
    state_filesystem: str | None = None
    state_filesystem_bytes: int | None = None
    state_file_bytes: int | None = None
    state_used_bytes: int | None = None
    state_dirty: bool | None = None
    nodeos_running: bool = False
    soft_dirty: bool | None = None
    stop_timeout_s: float | None = None
    state_drives: frozenset[str] = frozenset()
    blocks_drives: frozenset[str] = frozenset()
    drive_write_bytes_per_s: float | None = None
    memory_pressure_share: float | None = None
    swap_in_bytes_per_s: float | None = None
    refault_bytes_per_s: float | None = None


def host_facts(
    host: Host, topology: Topology, nodeos: Nodeos | None, *, state_used_bytes: int | None = None
) -> HostFacts:
    """Return what a recording's manifest, or a survey, says of the host and of one nodeos; the rest stays unknown.

    Args:
        host: with its facts.
        topology: of the host.
        nodeos: that the config.ini is for, as it was found running; None when there is none.
        state_used_bytes: as its database size said last.
    """
    state_dir = nodeos.state_dir if nodeos else None
    mount = topology.mount_of(state_dir) if state_dir else None
    overcommit = _number(host.facts, "overcommit_memory")
    drives = _drives(topology, nodeos)
    memlock = host.facts.get(f"nodeos.{nodeos.id}.locked_memory_limit_bytes", "") if nodeos else ""
    # What a running nodeos has mapped privately is committed already, and given back before the next start.
    is_counted_twice = nodeos is not None and nodeos.map_mode not in (None, "mapped")
    return HostFacts(
        ram_bytes=_number(host.facts, "mem_total_bytes"),
        swap_bytes=_number(host.facts, "swap_total_bytes"),
        overcommit=Overcommit(overcommit) if overcommit in tuple(Overcommit) else None,
        commit_limit_bytes=_number(host.facts, "commit_limit_bytes"),
        committed_bytes=None if is_counted_twice else _number(host.facts, "committed_as_bytes"),
        memlock_bytes=int(memlock) if _DIGITS.match(memlock) else None,
        memlock_unlimited=memlock == "unlimited",
        cores=_number(host.facts, "cores"),
        state_filesystem=_fact(host, nodeos, "state_filesystem") or (mount.filesystem if mount else None),
        state_filesystem_bytes=_of_nodeos(host, nodeos, "state_filesystem_bytes"),
        state_file_bytes=_of_nodeos(host, nodeos, "state_file_bytes"),
        state_dirty={"yes": True, "no": False}.get(_fact(host, nodeos, "state_dirty")),
        stop_timeout_s=_seconds(_fact(host, nodeos, "stop_timeout_s")),
        state_used_bytes=state_used_bytes,
        soft_dirty={"yes": True, "no": False}.get(host.facts.get("soft_dirty", "")),
        state_drives=drives["state"],
        blocks_drives=drives["blocks"],
        nodeos_running=nodeos is not None,
    )


def _drives(topology: Topology, nodeos: Nodeos | None) -> dict[str, frozenset[str]]:
    if nodeos is None:
        return {"state": frozenset(), "blocks": frozenset()}
    paths = {"state": nodeos.state_dir, "blocks": nodeos.blocks_dir}
    return {
        role: frozenset(nodeos.roles.get(role) or (topology.drive_of(path) if path else ()))
        for role, path in paths.items()
    }


def _fact(host: Host, nodeos: Nodeos | None, name: str) -> str:
    return host.facts.get(f"nodeos.{nodeos.id}.{name}", "") if nodeos else ""


def _of_nodeos(host: Host, nodeos: Nodeos | None, name: str) -> int | None:
    text = _fact(host, nodeos, name)
    return int(text) if _DIGITS.match(text) else None


def _seconds(text: str) -> float | None:
    """Return a number of seconds; infinite for ``infinity``, None when it is neither."""
    if text == "infinity":
        return float("inf")
    return float(text) if _DECIMAL.match(text) else None


def _number(facts: Mapping[str, str], name: str) -> int | None:
    text = facts.get(name, "")
    return int(text) if _DIGITS.match(text) else None


_DIGITS = re.compile(r"\d{1,19}\Z", re.ASCII)
_DECIMAL = re.compile(r"\d{1,12}(\.\d{1,12})?\Z", re.ASCII)

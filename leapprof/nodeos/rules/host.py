"""Rules about the host beyond memory: filesystem of the state, cores, stopping, drives, the dirty flag.

Sources: chainbase pinnable_mapped_file.cpp (Leap 5.0: tmpfs only with mapped; byte 8 of the file is the
dirty flag); resource_monitor_plugin; systemd.service(5) for the stop timeout.
"""

import math
from collections.abc import Iterator

from leapprof.model import Severity
from leapprof.nodeos.rules.memory import GUARD, MODE, SIZE, state_size_bytes
from leapprof.nodeos.rules.rule import Case, Hit, Rule
from leapprof.units import GIB, format_bytes_per_s, format_memory

# Seen on a virtio disk: a mapped_private state of 2.1 GB took 37 s to write back (Leap 5.0.3), 58 MB/s.
# Drives of servers take more; the assumption is on the careful side and said in the message.
ASSUMED_WRITE_BYTES_PER_S = 100e6

_THREAD_POOLS = ("chain-threads", "net-threads", "http-threads", "producer-threads", "vote-threads")


def _tmpfs_with(case: Case) -> Iterator[Hit]:
    mode = case.value(MODE)
    if case.host.state_filesystem == "tmpfs" and mode is not None and mode != "mapped":
        yield Hit(line=case.line(MODE), option=MODE, words={"mode": mode})


def _tmpfs_trips_monitor(case: Case) -> Iterator[Hit]:
    whole, size = case.host.state_filesystem_bytes, state_size_bytes(case)
    if case.host.state_filesystem != "tmpfs" or whole is None or size is None:
        return
    if case.has("resource-monitor-not-shutdown-on-threshold-exceeded"):
        return
    left_gib = case.number("resource-monitor-space-absolute-gb")
    percent = case.number("resource-monitor-space-threshold")
    if left_gib is None and percent is None:
        return
    allowed = whole - left_gib * GIB if left_gib is not None else whole * (percent or 0) // 100
    if size > allowed:
        words = {
            "size": format_memory(size),
            "allowed": format_memory(max(allowed, 0)),
            "whole": format_memory(whole),
        }
        yield Hit(line=case.line(SIZE), option=SIZE, words=words)


def _above_filesystem(case: Case) -> Iterator[Hit]:
    whole, size = case.host.state_filesystem_bytes, state_size_bytes(case)
    if case.host.state_filesystem == "tmpfs" or whole is None or size is None or size <= whole:
        return
    yield Hit(
        line=case.line(SIZE), option=SIZE, words={"size": format_memory(size), "whole": format_memory(whole)}
    )


def _pool_above_cores(case: Case) -> Iterator[Hit]:
    cores = case.host.cores
    for name in (*_THREAD_POOLS, "read-only-threads"):
        threads = case.number(name)
        if cores is not None and threads is not None and case.has(name) and threads > cores:
            yield Hit(line=case.line(name), option=name, words={"threads": threads, "cores": cores})


def flush_bytes(case: Case) -> int | None:
    """Return what a clean stop has to write at worst, or None when it cannot be said.

    heap and locked write the whole state; mapped_private without soft-dirty support writes every GiB that
    is not all zero, with it (after a snapshot start) all that is used; mapped has little left to write.
    """
    mode, size, used = case.value(MODE), state_size_bytes(case), case.host.state_used_bytes
    if mode in ("heap", "locked"):
        return used if used is not None else size
    if mode == "mapped_private":
        known = used if used is not None else size
        return None if known is None else math.ceil(known / GIB) * GIB
    return None


def _stop_too_short(case: Case) -> Iterator[Hit]:
    amount, timeout_s = flush_bytes(case), case.host.stop_timeout_s
    if amount is None or timeout_s is None:
        return
    speed = case.host.drive_write_bytes_per_s or ASSUMED_WRITE_BYTES_PER_S
    needed_s = amount / speed
    if needed_s > timeout_s:
        words = {
            "mode": case.value(MODE),
            "amount": format_memory(amount),
            "speed": format_bytes_per_s(speed),
            "needed": math.ceil(needed_s),
            "timeout": f"{timeout_s:g}",
        }
        yield Hit(line=case.line(MODE), option=MODE, words=words)


def _no_soft_dirty(case: Case) -> Iterator[Hit]:
    if case.value(MODE) == "mapped_private" and case.host.soft_dirty is False:
        yield Hit(line=case.line(MODE), option=MODE)


def _dirty(case: Case) -> Iterator[Hit]:
    if case.host.state_dirty and not case.host.nodeos_running:
        yield Hit()


def _same_drive(case: Case) -> Iterator[Hit]:
    shared = case.host.state_drives & case.host.blocks_drives
    if shared and case.value(MODE) == "mapped":
        yield Hit(line=case.line(MODE), option=MODE, words={"drives": ", ".join(sorted(shared))})


def _snapshot_needed(case: Case) -> Iterator[Hit]:
    """Yield when the state's file header differs between both versions (EOSIODB2, EOSIODB3, CHAINB01)."""
    if case.source is None:
        return
    before, after = (_state_format(t.version.family, t.version.numbers[0]) for t in (case.source, case.table))
    if before != after:
        yield Hit(words={"source": case.source.release})


_LEAP_5 = 5


def _state_format(family: str, major: int) -> str:
    if family == "spring":
        return "CHAINB01"
    return "EOSIODB3" if family == "leap" and major >= _LEAP_5 else "EOSIODB2"


def _guard_above_size(case: Case) -> Iterator[Hit]:
    size, guard = case.number(SIZE), case.number(GUARD)
    if size is not None and guard is not None and guard >= size:
        yield Hit(
            line=case.line(GUARD) or case.line(SIZE), option=GUARD, words={"guard": guard, "size": size}
        )


RULES = (
    Rule(
        code="tmpfs-wants-mapped",
        severity=Severity.ERROR,
        applies=_tmpfs_with,
        message="The state lies on tmpfs, and {target} takes only database-map-mode = mapped there, not {mode}.",
        hint="Use mapped, or move the state to a drive.",
        source="chainbase pinnable_mapped_file.cpp, Leap 5.0",
        since="leap-5.0",
    ),
    Rule(
        code="tmpfs-held-twice",
        severity=Severity.WARNING,
        applies=_tmpfs_with,
        message="The state lies on tmpfs and {mode} holds it in memory once more.",
        hint="Use database-map-mode = mapped on tmpfs.",
        source="chainbase pinnable_mapped_file.cpp, Leap 4.0",
        until="leap-5.0",
    ),
    Rule(
        code="tmpfs-trips-resource-monitor",
        severity=Severity.WARNING,
        applies=_tmpfs_trips_monitor,
        message="nodeos stops itself when the tmpfs of {whole} holds {allowed}, before the state reaches {size}.",
        hint="Make the tmpfs larger, or raise resource-monitor-space-threshold.",
        source="resource_monitor_plugin",
    ),
    Rule(
        code="state-above-filesystem",
        severity=Severity.WARNING,
        applies=_above_filesystem,
        message="The state may grow to {size}, and its filesystem has {whole}: the file is sparse and starts anyway.",
        hint="Lower {option}, or move the state: a full filesystem ends in a crash and a dirty state.",
        source="chainbase pinnable_mapped_file.cpp: the file is made with ftruncate",
    ),
    Rule(
        code="threads-above-cores",
        severity=Severity.WARNING,
        applies=_pool_above_cores,
        message="{option} = {threads}, and the host has {cores} cores.",
        hint="Set it to {cores} or less, and change one thread option at a time when comparing.",
        source="chain_plugin, net_plugin, http_plugin, producer_plugin",
    ),
    Rule(
        code="stop-timeout-short",
        severity=Severity.WARNING,
        applies=_stop_too_short,
        message="A clean stop in {mode} may write {amount}: {needed} s at {speed}, killed after {timeout} s.",
        hint="Set TimeoutStopSec above {needed} s; a kill leaves the state dirty.",
        source="chainbase pinnable_mapped_file.cpp; systemd.service(5)",
    ),
    Rule(
        code="soft-dirty-missing",
        severity=Severity.INFO,
        applies=_no_soft_dirty,
        message="The kernel does not track written pages, so each clean stop writes all of the used state.",
        hint="Expect long stops, or use a kernel with CONFIG_MEM_SOFT_DIRTY.",
        source="chainbase pagemap_accessor.hpp, Leap 5.0",
    ),
    Rule(
        code="state-dirty",
        severity=Severity.ERROR,
        applies=_dirty,
        message="The state is marked dirty, the last stop was not clean: nodeos exits with 2.",
        hint="Start from a snapshot, or replay.",
        source="chainbase: Database dirty flag set",
    ),
    Rule(
        code="state-and-blocks-share-drive",
        severity=Severity.INFO,
        applies=_same_drive,
        message="State and block log share the drive {drives}, so its writes cannot be told apart by device.",
        hint="Read nodeos.dirtied_bytes_per_s beside the device's writes, or move one of them.",
        source="chainbase pinnable_mapped_file.cpp",
    ),
    Rule(
        code="snapshot-needed",
        severity=Severity.WARNING,
        applies=_snapshot_needed,
        message="{target} cannot read the state of {source}; it starts from a snapshot or replays.",
        hint="Take a snapshot before the change; with a private map mode measure after a second clean start.",
        source="chainbase: Database format not compatible",
    ),
    Rule(
        code="state-guard-above-size",
        severity=Severity.ERROR,
        applies=_guard_above_size,
        message="{option} = {guard} leaves nothing of chain-state-db-size-mb = {size}: nodeos stops at once.",
        hint="Raise chain-state-db-size-mb.",
        source="chain controller: database guard",
    ),
)

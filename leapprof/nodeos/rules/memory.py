"""Rules about the memory that the state needs, in each map mode.

Sources: chainbase pinnable_mapped_file.cpp (Leap 3.1 to Spring 1.2); Linux
Documentation/mm/overcommit-accounting.rst: a private writable mapping is refused above RAM + swap in mode 0,
above what the commit limit leaves in mode 2. Seen on Leap 5.0.3 and 4.0.6: mapped_private of 28,672 MiB and
heap of the same are refused with 26,153 MiB of RAM and swap, 24,576 MiB starts; mapped starts at any size.
"""

from collections.abc import Iterator

from leapprof.model import Severity
from leapprof.nodeos.host_facts import Overcommit
from leapprof.nodeos.rules.rule import Case, Hit, Rule
from leapprof.units import MIB, format_memory

SIZE, GUARD, MODE = "chain-state-db-size-mb", "chain-state-db-guard-size-mb", "database-map-mode"
PRIVATE_MODES = frozenset({"mapped_private", "heap", "locked"})


def state_size_bytes(case: Case) -> int | None:
    """Return how large the state will be mapped: an existing file never shrinks."""
    configured = case.number(SIZE)
    if configured is None:
        return None
    return max(configured * MIB, case.host.state_file_bytes or 0)


def _hit(case: Case, option: str = SIZE, **words: object) -> Hit:
    line = case.line(option) or case.line(MODE)
    return Hit(line=line, option=option, words={"mode": case.value(MODE), **words})


def _is_private(case: Case) -> bool:
    return case.value(MODE) in PRIVATE_MODES


def _ram_and_swap(case: Case) -> int | None:
    if case.host.ram_bytes is None or case.host.swap_bytes is None:
        return None
    return case.host.ram_bytes + case.host.swap_bytes


def _above_ram_and_swap(case: Case) -> Iterator[Hit]:
    size, limit = state_size_bytes(case), _ram_and_swap(case)
    if not _is_private(case) or size is None or limit is None or size <= limit:
        return
    if case.host.overcommit in (None, Overcommit.HEURISTIC):
        yield _hit(case, size=format_memory(size), limit=format_memory(limit))


def _above_commit_limit(case: Case) -> Iterator[Hit]:
    size, limit = state_size_bytes(case), case.host.commit_limit_bytes
    if not _is_private(case) or size is None or limit is None:
        return
    left = limit - (case.host.committed_bytes or 0)
    if case.host.overcommit is Overcommit.NEVER and size > left:
        yield _hit(case, size=format_memory(size), left=format_memory(max(left, 0)))


def _above_memory_but_allowed(case: Case) -> Iterator[Hit]:
    size, limit = state_size_bytes(case), _ram_and_swap(case)
    allowed = case.host.overcommit is Overcommit.ALWAYS
    if _is_private(case) and allowed and size is not None and limit is not None and size > limit:
        yield _hit(case, size=format_memory(size), limit=format_memory(limit))


def _locked_above_limit(case: Case) -> Iterator[Hit]:
    size, limit = state_size_bytes(case), case.host.memlock_bytes
    if case.value(MODE) != "locked" or case.host.memlock_unlimited or size is None or limit is None:
        return
    if size > limit:
        yield _hit(case, MODE, size=format_memory(size), limit=format_memory(limit))


def _locked_above_ram(case: Case) -> Iterator[Hit]:
    size, ram = state_size_bytes(case), case.host.ram_bytes
    if case.value(MODE) == "locked" and size is not None and ram is not None and size >= ram:
        yield _hit(case, MODE, size=format_memory(size), limit=format_memory(ram))


def _heap_above_ram(case: Case) -> Iterator[Hit]:
    size, ram, whole = state_size_bytes(case), case.host.ram_bytes, _ram_and_swap(case)
    if case.value(MODE) != "heap" or size is None or ram is None or whole is None:
        return
    if ram < size <= whole:
        yield _hit(case, size=format_memory(size), limit=format_memory(ram))


def _private_of_unknown_memory(case: Case) -> Iterator[Hit]:
    size = state_size_bytes(case)
    if _is_private(case) and size is not None and _ram_and_swap(case) is None:
        yield _hit(case, size=format_memory(size))


def _used_above_size(case: Case) -> Iterator[Hit]:
    size, used, guard = state_size_bytes(case), case.host.state_used_bytes, case.number(GUARD)
    if size is None or used is None or guard is None:
        return
    if used + guard * MIB >= size:
        words = {
            "used": format_memory(used),
            "size": format_memory(size),
            "guard": format_memory(guard * MIB),
        }
        yield _hit(case, **words)


def _size_shrinks(case: Case) -> Iterator[Hit]:
    configured, existing = case.number(SIZE), case.host.state_file_bytes
    if configured is not None and existing is not None and configured * MIB < existing:
        yield _hit(case, size=format_memory(configured * MIB), existing=format_memory(existing))


_KERNEL = "chainbase pinnable_mapped_file.cpp; Linux overcommit-accounting"

RULES = (
    Rule(
        code="state-above-ram-and-swap",
        severity=Severity.ERROR,
        applies=_above_ram_and_swap,
        message="{mode} needs {size} for the state, and the host has {limit} of RAM and swap together.",
        hint="Add swap, lower {option}, or use database-map-mode = mapped.",
        source=_KERNEL,
    ),
    Rule(
        code="state-above-commit-limit",
        severity=Severity.ERROR,
        applies=_above_commit_limit,
        message="{mode} needs {size} for the state, and vm.overcommit_memory = 2 leaves {left}.",
        hint="Raise vm.overcommit_ratio, add swap, or set vm.overcommit_memory = 0.",
        source=_KERNEL,
    ),
    Rule(
        code="state-above-memory",
        severity=Severity.WARNING,
        applies=_above_memory_but_allowed,
        message="{mode} maps {size} for the state; the host has {limit} of RAM and swap, and allows more.",
        hint="Add swap before the state grows beyond it: nodeos would be killed, and its state left dirty.",
        source=_KERNEL,
    ),
    Rule(
        code="state-memory-unchecked",
        severity=Severity.INFO,
        applies=_private_of_unknown_memory,
        message="{mode} needs {size} of RAM and swap for the state; the host's memory is not known here.",
        hint="Check with --recording or --host, or compare with MemTotal + SwapTotal of /proc/meminfo.",
        source=_KERNEL,
    ),
    Rule(
        code="state-above-memlock",
        severity=Severity.ERROR,
        applies=_locked_above_limit,
        message="locked needs {size} of locked memory, and the limit of nodeos is {limit}.",
        hint="Set LimitMEMLOCK=infinity in its unit, or ulimit -l unlimited.",
        source="chainbase: Failed to mlock database",
    ),
    Rule(
        code="state-locked-above-ram",
        severity=Severity.ERROR,
        applies=_locked_above_ram,
        message="locked needs {size} of RAM, and the host has {limit}.",
        hint="Lower chain-state-db-size-mb, or use another database-map-mode.",
        source="chainbase: Failed to mlock database",
    ),
    Rule(
        code="state-heap-above-ram",
        severity=Severity.WARNING,
        applies=_heap_above_ram,
        message="heap takes all {size} of the state at start, more than the RAM of {limit}: much goes to swap.",
        hint="Lower {option} to what the state needs, or use mapped_private (Leap 5.0 and later).",
        source="chainbase pinnable_mapped_file.cpp",
    ),
    Rule(
        code="state-full",
        severity=Severity.ERROR,
        applies=_used_above_size,
        message="The state uses {used}; with {size} and a guard of {guard} nodeos stops at once.",
        hint="Raise {option}.",
        source="chain controller: database guard",
    ),
    Rule(
        code="state-does-not-shrink",
        severity=Severity.INFO,
        applies=_size_shrinks,
        message="{option} is {size}, but the existing state file has {existing} and is never shrunk.",
        hint="Start from a snapshot to get a smaller file.",
        source="chainbase pinnable_mapped_file.cpp",
    ),
)

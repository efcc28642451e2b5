"""Rules about how nodeos will run with the memory there is, beyond whether it starts.

Sources: published by operators: 131,072 MiB of mapped_private state on 32 GiB of RAM with 96 to 128 GiB of swap carried
an EOS node (EOS-Nation/bpconfig README; EOSphere, Leap 5 performance testing); Linux Documentation/accounting/psi.rst
for memory pressure.
"""

from collections.abc import Iterator

from leapprof.model import Severity
from leapprof.nodeos.rules.memory import MODE, PRIVATE_MODES, SIZE, state_size_bytes
from leapprof.nodeos.rules.rule import Case, Hit, Rule
from leapprof.units import MIB, format_bytes_per_s, format_memory

PUBLISHED_RATIO = 4.0
"""State size against RAM of the published case."""
PRESSURE_SHARE = 0.1
BUSY_BYTES_PER_S = 50 * MIB
PERCENT = 100


def _oversubscribed(case: Case, *, is_beyond: bool) -> Iterator[Hit]:
    size, ram, swap = state_size_bytes(case), case.host.ram_bytes, case.host.swap_bytes
    if case.value(MODE) != "mapped_private" or size is None or not ram or swap is None:
        return  # heap and locked have rules of their own
    if not ram < size <= ram + swap or (size / ram > PUBLISHED_RATIO) is not is_beyond:
        return
    words = {
        "mode": case.value(MODE),
        "size": format_memory(size),
        "ram": format_memory(ram),
        "swap": format_memory(swap),
        "ratio": f"{size / ram:.1f}",
    }
    yield Hit(line=case.line(SIZE) or case.line(MODE), option=SIZE, words=words)


def _within(case: Case) -> Iterator[Hit]:
    yield from _oversubscribed(case, is_beyond=False)


def _beyond(case: Case) -> Iterator[Hit]:
    yield from _oversubscribed(case, is_beyond=True)


def _used_above_ram(case: Case) -> Iterator[Hit]:
    used, ram = case.host.state_used_bytes, case.host.ram_bytes
    if case.value(MODE) in PRIVATE_MODES and used is not None and ram is not None and used > ram:
        words = {"used": format_memory(used), "ram": format_memory(ram)}
        yield Hit(line=case.line(MODE), option=MODE, words=words)


def _short_of_memory(case: Case) -> Iterator[Hit]:
    pressure, swap_in, refault = (
        case.host.memory_pressure_share, case.host.swap_in_bytes_per_s, case.host.refault_bytes_per_s,
    )  # fmt: skip
    back = (swap_in or 0.0) + (refault or 0.0)
    if (pressure or 0.0) < PRESSURE_SHARE and back < BUSY_BYTES_PER_S:
        return
    words = {
        "pressure": "not known" if pressure is None else f"{pressure * PERCENT:.1f} % of the time",
        "swap_in": "not known" if swap_in is None else format_bytes_per_s(swap_in),
        "refault": "not known" if refault is None else format_bytes_per_s(refault),
    }
    yield Hit(line=case.line(MODE), option=MODE, words=words)


RULES = (
    Rule(
        code="state-above-ram",
        severity=Severity.INFO,
        applies=_within,
        message="{mode} with {size} on {ram} of RAM, {ratio} times as much: what is not used lies in {swap} of swap.",
        hint="Expect it to run: 128 GiB on 32 GiB of RAM carried an EOS node; watch swap-ins and memory pressure.",
        source="EOS-Nation/bpconfig README; EOSphere, Leap 5 performance testing",
    ),
    Rule(
        code="state-far-above-ram",
        severity=Severity.WARNING,
        applies=_beyond,
        message="{mode} with {size} on {ram} of RAM, {ratio} times as much: more than was ever published as working.",
        hint="It starts; whether it keeps up depends on how much of the state is used: measure, or add RAM.",
        source="EOS-Nation/bpconfig README; EOSphere, Leap 5 performance testing",
    ),
    Rule(
        code="state-used-above-ram",
        severity=Severity.WARNING,
        applies=_used_above_ram,
        message="The state uses {used}, and the host has {ram} of RAM: after a snapshot start all of it is anonymous.",
        hint="Make the second start a clean one, and compare only runs after it.",
        source="chainbase pinnable_mapped_file.cpp",
    ),
    Rule(
        code="memory-short",
        severity=Severity.WARNING,
        applies=_short_of_memory,
        message="The host was short of memory: tasks waited {pressure}, swap-ins {swap_in}, refaults {refault}.",
        hint="The working set does not fit: add RAM, or let other programs leave the host, before a private map mode.",
        source="Linux Documentation/accounting/psi.rst; mm/workingset.c",
    ),
)

"""/proc/cpuinfo: model and number of CPUs, and whether a hypervisor shows itself (arch/*/kernel/cpu/proc.c)."""

from dataclasses import dataclass

_MAX_MODEL_CHARS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuInfo:
    """What the CPUs are.

    Attributes:
        model: ``model name`` of x86, ``Hardware`` or implementer and part of ARM; None when not said.
        logical_cpus: number of ``processor`` lines; None without any.
        is_virtual: x86 flag ``hypervisor``; None where there are no flags.
    """

    model: str | None = None
    logical_cpus: int | None = None
    is_virtual: bool | None = None


def parse_cpuinfo(text: str) -> CpuInfo:
    """Return what /proc/cpuinfo says, whole or cut to some keys; any text has a meaning."""
    first: dict[str, str] = {}
    cpus = 0
    for line in text.split("\n"):
        key, colon, value = line.partition(":")
        name = key.strip()
        if colon:
            cpus += name == "processor"
            first.setdefault(name, value.strip())
    arm = " ".join(first[key] for key in ("CPU implementer", "CPU part") if key in first)
    model = first.get("model name") or first.get("Hardware") or arm
    flags = first.get("flags")
    return CpuInfo(
        model=model[:_MAX_MODEL_CHARS] or None,
        logical_cpus=cpus or None,
        is_virtual=None if flags is None else "hypervisor" in flags.split(),
    )

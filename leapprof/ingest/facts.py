"""Facts of a host from the survey: name → text. What is not known is not there.

The machine id is confidential (machine-id(5)): only a keyed hash of it is kept, to know a host again.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import TypeVar

from leapprof.errors import ParseError
from leapprof.model import Host, Mount
from leapprof.probes.cgroup_path import parse_cgroup_path
from leapprof.probes.cpu_online import parse_cpu_online
from leapprof.probes.cpuinfo import parse_cpuinfo
from leapprof.probes.meminfo import parse_meminfo
from leapprof.probes.settings import parse_assignments, parse_choice, parse_line, parse_page_size

T = TypeVar("T")

_SALT = b"leapprof machine id 1\n"
_HASH_CHARS = 16
BOOT_CONFIG = "/boot/config-"

_LINES = {
    "kernel": "/proc/sys/kernel/osrelease",
    "overcommit_memory": "/proc/sys/vm/overcommit_memory",
    "overcommit_ratio": "/proc/sys/vm/overcommit_ratio",
    "swappiness": "/proc/sys/vm/swappiness",
    "dirty_ratio": "/proc/sys/vm/dirty_ratio",
    "dirty_bytes": "/proc/sys/vm/dirty_bytes",
    "dirty_background_ratio": "/proc/sys/vm/dirty_background_ratio",
    "dirty_background_bytes": "/proc/sys/vm/dirty_background_bytes",
    "dirty_expire_centisecs": "/proc/sys/vm/dirty_expire_centisecs",
    "dirty_writeback_centisecs": "/proc/sys/vm/dirty_writeback_centisecs",
    "nr_hugepages": "/proc/sys/vm/nr_hugepages",
    "zswap": "/sys/module/zswap/parameters/enabled",
    "clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
}
_CHOICES = {
    "thp_enabled": "/sys/kernel/mm/transparent_hugepage/enabled",
    "thp_defrag": "/sys/kernel/mm/transparent_hugepage/defrag",
    "thp_shmem_enabled": "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
}
# DMI vendor or product → name, as systemd-detect-virt has it (src/basic/virt.c).
_HYPERVISORS = (
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("Amazon EC2", "amazon"),
    ("QEMU", "qemu"),
    ("VMware", "vmware"),
    ("innotek", "oracle"),
    ("VirtualBox", "oracle"),
    ("Xen", "xen"),
    ("Bochs", "bochs"),
    ("Parallels", "parallels"),
    ("Microsoft Corporation", "microsoft"),
    ("Google", "google"),
)


def read_host(texts: Mapping[str, str], name: str, mounts: tuple[Mount, ...]) -> Host:
    """Return what the survey's texts say of the machine.

    Args:
        texts: section name → text of the readings that succeeded.
        name: as the operator called it.
        mounts: of the host, for cgroups and hidepid.
    """
    facts = {key: _line(texts, path) for key, path in _LINES.items()}
    facts |= {key: parse_choice(texts.get(path, "")) for key, path in _CHOICES.items()}
    facts |= _machine(texts)
    facts["virtualization"] = _virtualization(texts, mounts)
    facts["distribution"] = parse_assignments(texts.get("/etc/os-release", "")).get("PRETTY_NAME")
    facts["soft_dirty"] = _soft_dirty(texts, facts.get("kernel"))
    facts["cgroup_version"] = _cgroup_version(mounts)
    facts["hidepid"] = _hidepid(mounts)
    return Host(
        name=name,
        boot_id=_line(texts, "/proc/sys/kernel/random/boot_id") or "",
        machine_id=_hashed(_line(texts, "/etc/machine-id")),
        facts={key: value for key, value in sorted(facts.items()) if value is not None},
    )


def parsed(parse: Callable[[str], T], text: str | None) -> T | None:
    """Return the parsed text; None without text or when it is unreadable."""
    try:
        return None if text is None else parse(text)
    except ParseError:
        return None


def _line(texts: Mapping[str, str], path: str) -> str | None:
    return parse_line(texts.get(path, ""))


def _hashed(machine_id: str | None) -> str | None:
    if machine_id is None:
        return None
    return hashlib.sha256(_SALT + machine_id.encode()).hexdigest()[:_HASH_CHARS]


def _machine(texts: Mapping[str, str]) -> dict[str, str | None]:
    cpus = parse_cpuinfo(texts.get("/proc/cpuinfo", ""))
    online = parsed(parse_cpu_online, texts.get("/sys/devices/system/cpu/online"))
    memory = parsed(parse_meminfo, texts.get("/proc/meminfo"))
    numbers = {
        "cores": online.cpus_online if online else cpus.logical_cpus,
        "mem_total_bytes": memory.mem_total_bytes if memory else None,
        "swap_total_bytes": memory.swap_total_bytes if memory else None,
        "commit_limit_bytes": memory.commit_limit_bytes if memory else None,
        "committed_as_bytes": memory.committed_as_bytes if memory else None,
        "page_size_bytes": parse_page_size(texts.get("/proc/self/smaps", "")),
    }
    words = {key: None if value is None else str(value) for key, value in numbers.items()}
    return words | {"cpu_model": cpus.model}


def _virtualization(texts: Mapping[str, str], mounts: tuple[Mount, ...]) -> str | None:
    first = parsed(parse_cgroup_path, texts.get("/proc/1/cgroup"))
    if any(mount.filesystem == "fuse.lxcfs" for mount in mounts) or (first and first.is_container):
        return "container"
    if any(mount.point == "/" and mount.filesystem == "overlay" for mount in mounts):
        return "container"
    hypervisor = _line(texts, "/sys/hypervisor/type")
    if hypervisor:
        return hypervisor
    is_virtual = parse_cpuinfo(texts.get("/proc/cpuinfo", "")).is_virtual
    vendor, product = (_line(texts, f"/sys/class/dmi/id/{file}") for file in ("sys_vendor", "product_name"))
    if is_virtual is False:
        return "none"
    described = f"{product or ''} {vendor or ''}"
    named = next((name for mark, name in _HYPERVISORS if mark in described), None)
    return named or ("unknown hypervisor" if is_virtual else None)


def _soft_dirty(texts: Mapping[str, str], kernel: str | None) -> str | None:
    """Return whether the kernel tracks written pages, from its configuration; None when not readable."""
    text = texts.get(f"{BOOT_CONFIG}{kernel}")
    if text is None:
        return None
    return "yes" if parse_assignments(text).get("CONFIG_MEM_SOFT_DIRTY") == "y" else "no"


def _cgroup_version(mounts: tuple[Mount, ...]) -> str | None:
    kinds = {mount.filesystem for mount in mounts} & {"cgroup", "cgroup2"}
    if not kinds:
        return None
    return "hybrid" if len(kinds) > 1 else ("2" if "cgroup2" in kinds else "1")


def _hidepid(mounts: tuple[Mount, ...]) -> str | None:
    """Return proc's hidepid option; ``0`` when proc is mounted without it, None without a proc."""
    for mount in reversed(mounts):
        if mount.point == "/proc" and mount.filesystem == "proc":
            options = dict(option.partition("=")[::2] for option in mount.options.split(","))
            return options.get("hidepid", "0")
    return None

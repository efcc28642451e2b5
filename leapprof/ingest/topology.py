"""The block devices of a host from the survey's sections, each with what it lies on, down to its drives.

Source: /sys/class/block (Documentation/ABI/testing/sysfs-class-block): a partition's link runs through its
disk, ``slaves/`` names what dm, md and bcache lie on. Wear is counted on leaves alone.
"""

from collections.abc import Mapping
from dataclasses import replace

from leapprof.errors import ParseError
from leapprof.ingest import pools
from leapprof.ingest.kinds import kind_of
from leapprof.model import Device, DeviceKind, Mount, Swap, Topology
from leapprof.probes.block import BlockFiles, parse_block_files
from leapprof.probes.diskstats import DiskCounters, parse_diskstats
from leapprof.probes.mountinfo import parse_mountinfo
from leapprof.probes.swaps import parse_swaps
from leapprof.probes.text import MAX_NAME_CHARS

BLOCK = "/sys/class/block/"
_LISTING = "list:/sys/class/block"
_MPATH_UUID = "mpath-"
_MAX_DEVICES = 4096


def build_topology(texts: Mapping[str, str]) -> Topology:
    """Return the topology that the texts of a survey's sections show.

    Args:
        texts: section name → text of the readings that succeeded (see ingest.reads).
    """
    files = _block_files(texts)
    mounts = _mounts(texts)
    devices = {name: _device(name, block, texts) for name, block in files.items()}
    devices = _without_second_paths(devices, files)
    devices = _below_silent_heads(devices, texts)
    devices = _over_fabrics(devices, texts)
    devices = _with_mounts(devices, mounts)
    zfs = pools.zfs_pools(texts, files)
    devices = _with_pools(devices, zfs, pools.zvol_pools(texts))
    members = zfs | pools.btrfs_members(texts, mounts, pools.device_paths(devices, files))
    topology = Topology(
        devices=tuple(devices.values()), mounts=mounts, swaps=_swaps(texts), pool_members=members
    )
    topology = _with_loops(topology)
    return replace(topology, pool_members=members | pools.overlay_members(topology))


def swap_drives(topology: Topology) -> tuple[str, ...]:
    """Return the kernel names of the drives that swap areas lie on, sorted; zram counts as itself."""
    found: set[str] = set()
    for swap in topology.swaps:
        device = _device_at(topology, swap.path)
        found.update(topology.leaves_of(device) if device else topology.drive_of(swap.path))
    return tuple(sorted(found))


def _device_at(topology: Topology, path: str) -> str | None:
    name = path.rsplit("/", 1)[-1] if path.startswith("/dev/") else ""
    return name if topology.device(name) else None


def _names(texts: Mapping[str, str]) -> list[str]:
    listed = texts.get(_LISTING, "").split("\n")
    if not any(listed):
        listed = [name[len("link:" + BLOCK) :] for name in texts if name.startswith("link:" + BLOCK)]
    names = [name for name in listed if 0 < len(name) <= MAX_NAME_CHARS and "/" not in name]
    return sorted(names)[:_MAX_DEVICES]


def _block_files(texts: Mapping[str, str]) -> dict[str, BlockFiles]:
    by_device: dict[str, dict[str, str]] = {name: {} for name in _names(texts)}
    for section, text in texts.items():
        if section.startswith(BLOCK):
            name, _, file = section[len(BLOCK) :].partition("/")
            if name in by_device:
                by_device[name][file] = text
    found = {name: parse_block_files(files) for name, files in by_device.items()}
    # A loop device without a file is nothing yet.
    return {
        name: block
        for name, block in found.items()
        if block.is_attached or block.is_partition or not name.startswith("loop")
    }


def _device(name: str, block: BlockFiles, texts: Mapping[str, str]) -> Device:
    link = texts.get(f"link:{BLOCK}{name}", "").strip()
    slaves = texts.get(f"list:{BLOCK}{name}/slaves", "").split()
    return Device(
        name=name,
        major_minor=block.major_minor,
        kind=kind_of(name, link, block),
        parents=_disk_of(link) if block.is_partition else tuple(sorted(slaves)),
        size_bytes=block.size_bytes,
        model=block.model,
        serial=block.serial,
        wwid=block.wwid,
        rotational=block.rotational,
        read_ahead_kb=block.read_ahead_kb,
        logical_block_bytes=block.logical_block_bytes,
        backing_file=block.backing_file,
    )


def _disk_of(link: str) -> tuple[str, ...]:
    """Return the disk of a partition: the link is ``…/block/sda/sda1``."""
    parts = link.split("/")
    return (parts[-2],) if len(parts) > 2 else ()


def _without_second_paths(devices: dict[str, Device], files: Mapping[str, BlockFiles]) -> dict[str, Device]:
    """Count a drive that is reached by several paths once: at its head.

    NVMe: nvme0c0n1 is a path of nvme0n1; without a head it is the disk. Device-mapper multipath: the slaves
    of a ``mpath-`` device are paths, the device itself is the disk.
    """
    found = dict(devices)
    for name, device in devices.items():
        if device.kind is DeviceKind.MULTIPATH_PATH:
            if _head_name(name) not in devices:
                found[name] = replace(device, kind=DeviceKind.DISK)
        elif (files[name].dm_uuid or "").startswith(_MPATH_UUID):
            paths = [found[path] for path in device.parents if path in found]
            found[name] = _multipath_head(device, paths)
            found |= {path.name: replace(path, kind=DeviceKind.MULTIPATH_PATH) for path in paths}
    return found


def _below_silent_heads(devices: dict[str, Device], texts: Mapping[str, str]) -> dict[str, Device]:
    """Count the paths where the kernel does not count at the head.

    Older kernels account NVMe multipath I/O to the paths alone, and the head stays at 0 (as in atop).
    """
    try:
        counters = parse_diskstats(texts.get("/proc/diskstats", ""))
    except ParseError:
        return devices
    found = dict(devices)
    for name, device in devices.items():
        head = _head_name(name)
        is_path = device.kind is DeviceKind.MULTIPATH_PATH and head in devices and head != name
        if is_path and name in counters and head in counters and _is_silent(counters[head], counters[name]):
            found[name] = replace(device, kind=DeviceKind.DISK)
            found[head] = replace(found[head], parents=(*found[head].parents, name))
    return found


def _is_silent(head: DiskCounters, path: DiskCounters) -> bool:
    return head.reads_total == 0 and head.writes_total == 0 and bool(path.reads_total or path.writes_total)


def _over_fabrics(devices: dict[str, Device], texts: Mapping[str, str]) -> dict[str, Device]:
    """Mark NVMe heads whose paths run over a network: the head's own link does not show it."""
    found = dict(devices)
    for name, device in devices.items():
        is_remote = "/nvme-fabrics/" in texts.get(f"link:{BLOCK}{name}", "")
        head = _head_name(name)
        if device.kind is DeviceKind.MULTIPATH_PATH and is_remote and head in devices:
            found[head] = replace(devices[head], kind=DeviceKind.NETWORK)
    return found


def _head_name(path: str) -> str:
    """Return nvme0n1 for nvme0c3n1."""
    controller, _, rest = path.partition("c")
    return f"{controller}n{rest.partition('n')[2]}"


def _multipath_head(device: Device, paths: list[Device]) -> Device:
    first = paths[0] if paths else device
    return replace(
        device, kind=first.kind, parents=(), model=first.model, serial=first.serial, wwid=first.wwid
    )


def _with_mounts(devices: dict[str, Device], mounts: tuple[Mount, ...]) -> dict[str, Device]:
    found = dict(devices)
    by_number = {device.major_minor: name for name, device in devices.items() if device.major_minor}
    for mount in mounts:
        name = by_number.get(mount.major_minor)
        if name:
            device = found[name]
            points = (*device.mounts, mount.point)
            found[name] = replace(device, mounts=points, filesystem=device.filesystem or mount.filesystem)
    return found


def _with_pools(
    devices: dict[str, Device], zfs: Mapping[str, tuple[str, ...]], zvols: Mapping[str, str]
) -> dict[str, Device]:
    found = dict(devices)
    for name, device in devices.items():
        if device.kind is DeviceKind.ZVOL:
            found[name] = replace(device, parents=zfs.get(zvols.get(name, ""), ()))
    return found


def _with_loops(topology: Topology) -> Topology:
    """Put each loop device onto what its file lies on; its drive is unknown when the file is."""
    devices = []
    for device in topology.devices:
        file = device.backing_file if device.kind is DeviceKind.LOOP else None
        below = topology.device_of(file) if file else None
        if below is not None and below.name != device.name:
            device = replace(device, parents=(below.name,))
        elif file and below is None:
            device = replace(device, parents=topology.drive_of(file))
        devices.append(device)
    return replace(topology, devices=tuple(devices))


def _mounts(texts: Mapping[str, str]) -> tuple[Mount, ...]:
    try:
        return parse_mountinfo(texts.get("/proc/self/mountinfo", ""))
    except ParseError:
        return ()


def _swaps(texts: Mapping[str, str]) -> tuple[Swap, ...]:
    try:
        return parse_swaps(texts.get("/proc/swaps", ""))
    except ParseError:
        return ()

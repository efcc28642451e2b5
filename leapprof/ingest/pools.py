"""Filesystems and volumes that span drives without a line in sysfs: ZFS pools, btrfs, overlay.

btrfs lists its devices in /sys/fs/btrfs/<uuid>/devices. ZFS tells its members to nobody but ``zpool``:
where the operator allows ``zpool list -vHPL`` (command ``zpool``) that is used; else partitions that OpenZFS
labelled ``zfs-…`` are the members when there is exactly one pool.
"""

from collections.abc import Mapping

from leapprof.model import Device, Mount, Topology
from leapprof.probes.block import BlockFiles

BTRFS_PREFIX, BTRFS_SUFFIX = "list:/sys/fs/btrfs/", "/devices"
ZFS_LISTING = "list:/proc/spl/kstat/zfs"
ZPOOL_COMMAND = "command/zpool"
_ZFS_LABEL = "zfs-"
_ZVOL_LINK = "link:/dev/zvol/"


def zfs_pools(texts: Mapping[str, str], files: Mapping[str, BlockFiles]) -> dict[str, tuple[str, ...]]:
    """Return pool → kernel names of its members, as far as they are known."""
    told = _zpool_list(texts.get(ZPOOL_COMMAND, ""), files)
    if told:
        return told
    # Pools are directories beside files such as arcstats; sysfs-like listings do not say which is which.
    mounted = _pools_in_use(texts)
    labelled = tuple(
        sorted(name for name, block in files.items() if (block.partition_label or "").startswith(_ZFS_LABEL))
    )
    return {mounted[0]: labelled} if len(mounted) == 1 and labelled else {}


def _pools_in_use(texts: Mapping[str, str]) -> list[str]:
    """Return the pools that zvols or mounts name."""
    found = {name[len(_ZVOL_LINK) :].split("/")[0] for name in texts if name.startswith(_ZVOL_LINK)}
    for line in texts.get("/proc/self/mountinfo", "").split("\n"):
        _, _, right = line.partition(" - zfs ")
        if right:
            found.add(right.split(" ")[0].split("/")[0])
    return sorted(found - {""})


def _zpool_list(text: str, files: Mapping[str, BlockFiles]) -> dict[str, tuple[str, ...]]:
    """Return the members of each pool of ``zpool list -vHPL``: pools begin a line, members are indented."""
    pools: dict[str, list[str]] = {}
    pool = ""
    # The first line is the command's exit status.
    for line in text.split("\n"):
        if line and not line[0].isspace():
            pool = line.split("\t")[0]
            pools[pool] = []
        elif pool and line.split():
            name = line.split()[0].rsplit("/", 1)[-1]
            if name in files:
                pools[pool].append(name)
    return {name: tuple(sorted(members)) for name, members in pools.items() if members}


def zvol_pools(texts: Mapping[str, str]) -> dict[str, str]:
    """Return zvol (``zd16``) → its pool, from the links in /dev/zvol."""
    return {
        text.strip().rsplit("/", 1)[-1]: name[len(_ZVOL_LINK) :].split("/")[0]
        for name, text in texts.items()
        if name.startswith(_ZVOL_LINK)
    }


def btrfs_members(
    texts: Mapping[str, str], mounts: tuple[Mount, ...], names: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return source of each btrfs mount → kernel names of all devices of that filesystem.

    Args:
        texts: sections of the survey.
        mounts: of the host.
        names: device path (``/dev/mapper/data``) → kernel name.
    """
    filesystems = [
        tuple(sorted(text.split()))
        for name, text in texts.items()
        if name.startswith(BTRFS_PREFIX) and name.endswith(BTRFS_SUFFIX) and text.split()
    ]
    found = {}
    for source in {mount.source for mount in mounts if mount.filesystem == "btrfs"}:
        name = names.get(source, "")
        fitting = [members for members in filesystems if name in members]
        if not fitting and len(filesystems) == 1:
            fitting = filesystems
        if fitting:
            found[source] = fitting[0]
    return found


def overlay_members(topology: Topology) -> dict[str, tuple[str, ...]]:
    """Return source of overlay mounts → drives of their upper directories, where all of a source agree."""
    drives: dict[str, set[tuple[str, ...]]] = {}
    for mount in topology.mounts:
        if mount.filesystem == "overlay":
            below = topology.mount_of(_upper_directory(mount))
            known = below is not None and below.filesystem != "overlay"
            drives.setdefault(mount.source, set()).add(
                topology.drive_of(_upper_directory(mount)) if known else ()
            )
    return {source: found.pop() for source, found in drives.items() if len(found) == 1 and () not in found}


def _upper_directory(mount: Mount) -> str:
    for option in mount.options.split(","):
        if option.startswith("upperdir="):
            return option[len("upperdir=") :]
    return ""


def device_paths(devices: Mapping[str, Device], files: Mapping[str, BlockFiles]) -> dict[str, str]:
    """Return device path → kernel name, with the names that device-mapper gives."""
    paths = {f"/dev/{name.replace('!', '/')}": name for name in devices}
    for name, block in files.items():
        if block.dm_name:
            paths[f"/dev/mapper/{block.dm_name}"] = name
    return paths

"""What is known of a host, its nodeos processes and its block devices."""

from dataclasses import dataclass, field
from enum import StrEnum


class DeviceKind(StrEnum):
    """What a block device is, as far as wear is concerned."""

    DISK = "disk"
    PARTITION = "partition"
    DEVICE_MAPPER = "dm"
    MD = "md"
    BCACHE = "bcache"
    LOOP = "loop"
    ZRAM = "zram"
    RAM = "ram"
    NETWORK = "network"
    VIRTUAL = "virtual"
    ZVOL = "zvol"
    MULTIPATH_PATH = "multipath_path"
    OTHER = "other"


WEARLESS_KINDS = frozenset({DeviceKind.ZRAM, DeviceKind.RAM, DeviceKind.NETWORK})


_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One block device as sysfs shows it.

    Attributes:
        name: kernel name (``nvme0n1``, ``dm-0``).
        major_minor: ``major:minor``.
        kind: see DeviceKind.
        parents: kernel names of the devices that this one lies on: slaves/ of sysfs, the disk of a
            partition, the drive of a loop file. Empty for a leaf.
        size_bytes: None when not readable.
        model, serial, wwid: as sysfs gives them, stripped; None when absent.
        rotational: None when not known.
        read_ahead_kb, logical_block_bytes: queue settings; None when absent.
        mounts: mount points on this very device.
        filesystem: its type when mounted.
        backing_file: of a loop device.
    """

    name: str
    major_minor: str
    kind: DeviceKind
    parents: tuple[str, ...] = ()
    size_bytes: int | None = None
    model: str | None = None
    serial: str | None = None
    wwid: str | None = None
    rotational: bool | None = None
    read_ahead_kb: int | None = None
    logical_block_bytes: int | None = None
    mounts: tuple[str, ...] = ()
    filesystem: str | None = None
    backing_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One line of mountinfo.

    Attributes:
        point: mount point, unescaped.
        major_minor: ``major:minor`` of the filesystem.
        filesystem: ext4, xfs, zfs, tmpfs …
        source: device path or pool name.
        options: mount options and super options, comma-joined.
    """

    point: str
    major_minor: str
    filesystem: str
    source: str
    options: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """One line of /proc/swaps: its path, kind (partition or file) and size."""

    path: str
    kind: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """The block devices of a host, from each logical view down to its drives.

    Attributes:
        devices: all block devices.
        mounts: all mounts, in the order of mountinfo (a later one hides an earlier one).
        swaps: swap areas.
        pool_members: ZFS pool or btrfs filesystem source → kernel names of its member devices.
    """

    devices: tuple[Device, ...] = ()
    mounts: tuple[Mount, ...] = ()
    swaps: tuple[Swap, ...] = ()
    pool_members: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def device(self, name: str) -> Device | None:
        """Return the device of that kernel name, or None."""
        return next((d for d in self.devices if d.name == name), None)

    def leaves_of(self, name: str) -> tuple[str, ...]:
        """Return the physical devices below a device, sorted; the device itself if it is a leaf.

        A cycle (a damaged sysfs) ends the walk and is not an error.
        """
        found: set[str] = set()
        seen: set[str] = set()
        stack = [name]
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            device = self.device(current)
            parents = device.parents if device else ()
            if parents:
                stack.extend(parents)
            else:
                found.add(current)
        return tuple(sorted(found))

    def physical(self) -> tuple[Device, ...]:
        """Return the leaves that can wear or be limited: no zram, ram or bare multipath path.

        A loop device or zvol without a known drive is no drive of its own either.
        """
        skipped = WEARLESS_KINDS | {DeviceKind.MULTIPATH_PATH, DeviceKind.LOOP, DeviceKind.ZVOL}
        return tuple(d for d in self.devices if not d.parents and d.kind not in skipped)

    def mount_of(self, path: str) -> Mount | None:
        """Return the mount that a path lies on (the longest, and of equals the latest, mount point)."""
        best: Mount | None = None
        for mount in self.mounts:
            point = mount.point.rstrip("/") or "/"
            inside = path == point or path.startswith(point if point == "/" else point + "/")
            if inside and (best is None or len(point) >= len(best.point.rstrip("/") or "/")):
                best = mount
        return best

    def device_of(self, path: str) -> Device | None:
        """Return the block device that a path's filesystem lies on; None for tmpfs, pools, network."""
        mount = self.mount_of(path)
        if mount is None:
            return None
        return next((d for d in self.devices if d.major_minor == mount.major_minor), None)

    def drive_of(self, path: str) -> tuple[str, ...]:
        """Return the kernel names of the drives that a path's bytes end up on; empty when unknown."""
        device = self.device_of(path)
        if device is not None:
            return self.leaves_of(device.name)
        mount = self.mount_of(path)
        if mount is None:
            return ()
        pools = self.pool_members
        members = pools.get(mount.source) or pools.get(mount.source.split("/")[0], ())
        return tuple(sorted({leaf for name in members for leaf in self.leaves_of(name)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodeos:
    """One nodeos process as it was found on a host.

    Attributes:
        id: stable short name within the recording (unit name, data directory's name, or ``nodeos``).
        pid, start_ticks: identity together with the boot id.
        version: as the Server header or get_info says, e.g. ``v5.0.3``; None when not known.
        map_mode: mapped, mapped_private, heap or locked; None when not known.
        executable, config_dir, data_dir, state_dir, blocks_dir: absolute paths; None when not permitted.
        http_address: ``host:port`` of its HTTP API; None when not known.
        unit, cgroup: systemd unit and cgroup path, when in one.
        cgroup_is_own: the cgroup holds this process and its children alone.
        options: config as allowed to leave the host: name → values in order. A value that may not
            leave is None.
        roles: role (state, blocks, state-history, …) → kernel names of its drives.
        stand_in: it is leapprof's own stand-in and no nodeos.
        executable_deleted: its program file was replaced or removed since it started.
        container: name of the container runtime's cgroup that it runs in; None outside of containers.
        root: prefix of its own paths as the host sees them (``/proc/<pid>/root`` in a container), else empty.
        log: where its log goes, or why that cannot be read; None when not asked.
    """

    id: str
    pid: int
    start_ticks: int
    version: str | None = None
    map_mode: str | None = None
    executable: str | None = None
    config_dir: str | None = None
    data_dir: str | None = None
    state_dir: str | None = None
    blocks_dir: str | None = None
    http_address: str | None = None
    unit: str | None = None
    cgroup: str | None = None
    cgroup_is_own: bool = False
    options: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stand_in: bool = False
    executable_deleted: bool = False
    container: str | None = None
    root: str = ""
    log: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One machine.

    Attributes:
        name: as the operator called it (inventory name, alias).
        boot_id: /proc/sys/kernel/random/boot_id at the start.
        machine_id: a hash of /etc/machine-id, to know the host again; never the id itself.
        facts: name → text of what describes the machine: kernel, cpu_model, cores, mem_total_bytes,
            swap_total_bytes, virtualization, overcommit_memory, thp_enabled, dirty_ratio, …
    """

    name: str
    boot_id: str
    machine_id: str | None = None
    facts: dict[str, str] = field(default_factory=dict)

    def number(self, name: str) -> int | None:
        """Return the whole number that a fact holds; None when it holds none, or one that no counter does."""
        text = self.facts.get(name, "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else None

"""What drives carry, what lies above them, and which disks wear elsewhere."""

from leapprof.assess.sides import CutSide
from leapprof.assess.steady import steady_writes
from leapprof.ingest.topology import swap_drives
from leapprof.model import Device, DeviceKind, Recording, Topology
from leapprof.model.wear import LogicalWrites


def roles_of(recording: Recording) -> dict[str, tuple[str, ...]]:
    """Return drive → the roles that it carries: of all nodeos of the host, of the system, of swap."""
    found: dict[str, set[str]] = {}
    for nodeos in recording.nodeos:
        for role, drives in nodeos.roles.items():
            for drive in drives:
                found.setdefault(drive, set()).add(role)
    topology = recording.topology
    for drive in topology.drive_of("/"):
        found.setdefault(drive, set()).add("os")
    for drive in swap_drives(topology):
        found.setdefault(drive, set()).add("swap")
    return {drive: tuple(sorted(roles)) for drive, roles in found.items()}


def views_of(topology: Topology, drive: str) -> tuple[str, ...]:
    """Return the devices above a drive, partitions apart: views of it."""
    return tuple(
        d.name
        for d in topology.devices
        if d.parents and d.kind is not DeviceKind.PARTITION and drive in topology.leaves_of(d.name)
    )


def logical_writes(side: CutSide) -> tuple[LogicalWrites, ...]:
    """Return the stacked devices that carry state or blocks, with what their own counters say."""
    topology = side.tables.manifest.topology
    roles: dict[str, set[str]] = {}
    for nodeos in side.tables.manifest.nodeos:
        for role, path in (("state", nodeos.state_dir), ("blocks", nodeos.blocks_dir)):
            device = topology.device_of(path) if path else None
            if device is not None and device.parents and device.kind is not DeviceKind.PARTITION:
                roles.setdefault(device.name, set()).add(role)
    found = []
    for name, carried in sorted(roles.items()):
        writes = steady_writes(side, where={"device": name})
        if writes is not None:
            found.append(
                LogicalWrites(
                    device=name,
                    roles=tuple(sorted(carried)),
                    drives=topology.leaves_of(name),
                    bytes_per_s=writes.bytes_per_s,
                )
            )
    return tuple(found)


def network_disks(topology: Topology) -> tuple[Device, ...]:
    """Return the network disks: they do not wear here, but have limits."""
    return tuple(d for d in topology.devices if d.kind is DeviceKind.NETWORK and not d.parents)

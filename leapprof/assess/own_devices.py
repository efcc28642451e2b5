"""Partitions and volumes that hold the data of one nodeos alone: their counters are its own."""

from pathlib import PurePosixPath

from leapprof.model import Device, Nodeos, Recording, Topology


def own_devices(recording: Recording, nodeos: Nodeos, drive: str) -> tuple[str, ...]:
    """Return the devices on a drive that are mounted for the data of this nodeos and for nothing else.

    Only on a single drive: how a volume spreads over several is not known.
    """
    topology = recording.topology
    paths = _paths(nodeos)
    found: dict[str, Device] = {}
    for path in paths:
        device = topology.device_of(path)
        if (
            device is not None
            and topology.leaves_of(device.name) == (drive,)
            and _is_own(topology, device, paths)
        ):
            found[device.name] = device
    others = (p for n in recording.nodeos if n.id != nodeos.id for p in _paths(n))
    shared = {device.name for p in others if (device := topology.device_of(p)) is not None}
    return () if shared & set(found) else tuple(sorted(found))


def _paths(nodeos: Nodeos) -> list[str]:
    return [p for p in (nodeos.state_dir, nodeos.blocks_dir, nodeos.data_dir) if p]


def _is_own(topology: Topology, device: Device, paths: list[str]) -> bool:
    """Return whether a device on a drive is mounted for these paths alone, and not for the system."""
    points = [m.point for m in topology.mounts if m.major_minor == device.major_minor]
    return bool(device.parents and points) and all(
        point != "/" and any(PurePosixPath(p).is_relative_to(point) for p in paths) for point in points
    )

"""What a comparison is about: pairs of nodeos processes and of block devices, with what each device carries."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from leapprof.assess.sides import pair_devices, pair_nodeos
from leapprof.model import Device, DeviceKind, Nodeos, Recording, Subject

ROLE_ORDER = ("state", "blocks", "state-history", "snapshots", "swap", "os")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeosPair:
    """A nodeos on both sides; None where it was not found."""

    before: Nodeos | None
    after: Nodeos | None

    @property
    def subject(self) -> Subject:
        """Return it as the subject of a metric, by the name that it has before."""
        nodeos = self.before or self.after
        assert nodeos is not None
        return Subject(nodeos=nodeos.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePair:
    """A device on both sides.

    Attributes:
        role: what it carries, comma-joined; None: nothing that leapprof knows of.
        view_of: drives below a logical device; empty for a physical one.
        direct: a logical device that holds the state, and less beside it than any drive does: its writes
            tell more of the state than those of the drive below.
    """

    before: Device | None
    after: Device | None
    role: str | None
    view_of: tuple[str, ...] = ()
    direct: bool = False

    @property
    def device(self) -> Device:
        """Return the device as it was before, else after."""
        found = self.before or self.after
        assert found is not None
        return found

    @property
    def subject(self) -> Subject:
        """Return it as the subject of a metric."""
        return Subject(device=self.device.name, role=self.role)


def nodeos_pairs(before: Recording, after: Recording) -> tuple[NodeosPair, ...]:
    """Return the pairs, then those that are on one side alone."""
    first, second = before.nodeos, after.nodeos
    pairs = pair_nodeos(first, second)
    paired_before, paired_after = {a.id for a, _ in pairs}, {b.id for _, b in pairs}
    return (
        *(NodeosPair(before=a, after=b) for a, b in pairs),
        *(NodeosPair(before=n, after=None) for n in first if n.id not in paired_before),
        *(NodeosPair(before=None, after=n) for n in second if n.id not in paired_after),
    )


def device_pairs(first: Recording, second: Recording) -> tuple[DevicePair, ...]:
    """Return drives first, then the logical devices that carry a role: views of the drives below them."""
    roles_before, roles_after = roles_of(first), roles_of(second)
    shown_before, shown_after = shown_devices(first, roles_before), shown_devices(second, roles_after)
    pairs = pair_devices(shown_before, shown_after)
    left = tuple(d for d in shown_before if d.name not in {a.name for a, _ in pairs})
    left_after = tuple(d for d in shown_after if d.name not in {b.name for _, b in pairs})
    by_role = _pairs_by_role(left, left_after, roles_before, roles_after)
    paired, paired_after = {a.name for a, _ in by_role}, {b.name for _, b in by_role}
    both: list[tuple[Device | None, Device | None]] = [
        *pairs,
        *by_role,
        *((d, None) for d in left if d.name not in paired),
        *((None, d) for d in left_after if d.name not in paired_after),
    ]
    found = [_pair(a, b, roles_before, roles_after, first if a else second) for a, b in both]
    of_drives = {p.role for p in found if not p.view_of}
    marked = [replace(p, direct=bool(p.view_of) and _tells_more(p.role, of_drives)) for p in found]
    return tuple(sorted(marked, key=lambda p: (bool(p.view_of), p.role is None, p.device.name)))


def _tells_more(role: str | None, of_drives: set[str | None]) -> bool:
    """Return whether a logical device holds the state and less beside it than any drive does."""
    return role is not None and "state" in role.split(", ") and role not in of_drives


def _pairs_by_role(
    before: tuple[Device, ...],
    after: tuple[Device, ...],
    roles_before: dict[str, set[str]],
    roles_after: dict[str, set[str]],
) -> tuple[tuple[Device, Device], ...]:
    """Return devices that are not the same drive but carry the same: each the only one of its roles and level."""

    def key(device: Device, roles: dict[str, set[str]]) -> tuple[bool, tuple[str, ...]]:
        return bool(device.parents), tuple(sorted(roles.get(device.name, ())))

    first, second = [key(d, roles_before) for d in before], [key(d, roles_after) for d in after]
    return tuple(
        (before[first.index(k)], after[second.index(k)])
        for k in dict.fromkeys(first)
        if k[1] and first.count(k) == 1 and second.count(k) == 1
    )


def _pair(
    a: Device | None,
    b: Device | None,
    roles_before: dict[str, set[str]],
    roles_after: dict[str, set[str]],
    recording: Recording,
) -> DevicePair:
    names = (roles_before.get(a.name, set()) if a else set()) | (
        roles_after.get(b.name, set()) if b else set()
    )
    device = a or b
    assert device is not None
    return DevicePair(
        before=a,
        after=b,
        role=", ".join(sorted(names, key=_role_rank)) or None,
        view_of=recording.topology.leaves_of(device.name) if device.parents else (),
    )


def _role_rank(role: str) -> tuple[int, str]:
    return (ROLE_ORDER.index(role) if role in ROLE_ORDER else len(ROLE_ORDER), role)


def roles_of(recording: Recording) -> dict[str, set[str]]:
    """Return what each device carries: by the drives that roles name, and by the device right below a path."""
    roles: dict[str, set[str]] = {}
    for name, role in (*_nodeos_roles(recording), *_host_roles(recording)):
        roles.setdefault(name, set()).add(role)
    return roles


def devices_of_states(recording: Recording) -> dict[str, tuple[str, ...]]:
    """Return the devices right below the states of the nodeos processes, with the names of these."""
    found: dict[str, tuple[str, ...]] = {}
    for nodeos in recording.nodeos:
        device = recording.topology.device_of(nodeos.state_dir) if nodeos.state_dir else None
        if device is not None:
            found[device.name] = (*found.get(device.name, ()), nodeos.id)
    return found


def _nodeos_roles(recording: Recording) -> Iterator[tuple[str, str]]:
    """Yield (device, role) of what the nodeos processes keep where."""
    topology = recording.topology
    for nodeos in recording.nodeos:
        for role, names in nodeos.roles.items():
            yield from ((name, role) for name in names)
        for role, path in (("state", nodeos.state_dir), ("blocks", nodeos.blocks_dir)):
            device = topology.device_of(path) if path else None
            if device is not None:
                yield device.name, role
                yield from ((leaf, role) for leaf in topology.leaves_of(device.name))


def _host_roles(recording: Recording) -> Iterator[tuple[str, str]]:
    """Yield (device, role) of the system's root and of swap."""
    topology = recording.topology
    yield from ((name, "os") for name in topology.drive_of("/"))
    for swap in recording.topology.swaps:
        name = swap.path.rsplit("/", 1)[-1] if swap.kind == "partition" else ""
        leaves = topology.leaves_of(name) if topology.device(name) else topology.drive_of(swap.path)
        yield from ((leaf, "swap") for leaf in leaves)


def shown_devices(recording: Recording, roles: dict[str, set[str]]) -> tuple[Device, ...]:
    """Return the drives and the logical devices that carry a role."""
    drives = recording.topology.physical()
    views = tuple(
        d
        for d in recording.topology.devices
        if d.parents and d.name in roles and d.kind is not DeviceKind.ZRAM
    )
    return (*drives, *views)

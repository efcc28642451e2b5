"""The device graph: leaves, drives of paths, and graphs that lead nowhere."""

from leapprof.model import Device, DeviceKind, Mount, Topology


def device(name: str, number: int, *parents: str, kind: DeviceKind = DeviceKind.DISK) -> Device:
    """Return a device whose major:minor is 8:number."""
    return Device(name=name, major_minor=f"8:{number}", kind=kind, parents=parents)


def mount(point: str, major_minor: str, source: str = "/dev/x", filesystem: str = "ext4") -> Mount:
    """Return a mount."""
    return Mount(point=point, major_minor=major_minor, filesystem=filesystem, source=source, options="rw")


MIRROR = Topology(
    devices=(
        device("sda", 0),
        device("sdb", 16),
        device("sda1", 1, "sda", kind=DeviceKind.PARTITION),
        device("sdb1", 17, "sdb", kind=DeviceKind.PARTITION),
        device("md0", 100, "sda1", "sdb1", kind=DeviceKind.MD),
        device("dm-0", 101, "md0", kind=DeviceKind.DEVICE_MAPPER),
        device("zram0", 102, kind=DeviceKind.ZRAM),
    ),
    mounts=(mount("/", "8:1"), mount("/srv", "8:101"), mount("/srv/tank", "0:50", "tank/state", "zfs")),
    pool_members={"tank": ("sdb1",)},
)


def test_each_leg_of_a_mirror_wears() -> None:
    """A volume on a mirror ends on both drives."""
    assert MIRROR.leaves_of("dm-0") == ("sda", "sdb")


def test_the_longest_mount_point_decides() -> None:
    """/srv/data lies on the volume, /srvx on the root partition, a pool on its members."""
    assert MIRROR.drive_of("/srv/data/state") == ("sda", "sdb")
    assert MIRROR.drive_of("/srvx") == ("sda",)
    assert MIRROR.drive_of("/srv/tank/blocks") == ("sdb",)


def test_a_later_mount_hides_an_earlier_one() -> None:
    """Of two mounts on one point the later one counts."""
    topology = Topology(devices=MIRROR.devices, mounts=(*MIRROR.mounts, mount("/srv", "8:1")))
    assert topology.drive_of("/srv/data") == ("sda",)


def test_only_drives_that_can_wear_are_physical() -> None:
    """Partitions, volumes and zram are not counted."""
    assert [d.name for d in MIRROR.physical()] == ["sda", "sdb"]


def test_a_cycle_ends() -> None:
    """A damaged sysfs leads to no leaf and to no endless walk."""
    loop = Topology(devices=(device("a", 1, "b"), device("b", 2, "a")))
    assert loop.leaves_of("a") == ()


def test_unknown_paths_have_no_drive() -> None:
    """Nothing mounted, nothing known."""
    assert Topology().drive_of("/srv") == ()

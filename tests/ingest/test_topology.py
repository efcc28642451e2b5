"""Block devices are followed down to the drives that wear, whatever lies between."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leapprof.ingest.topology import build_topology, swap_drives
from leapprof.model import DeviceKind, Topology
from tests.ingest import layouts


def physical(topology: Topology) -> list[str]:
    """Return the names of the devices that wear."""
    return sorted(device.name for device in topology.physical())


@pytest.mark.parametrize(
    ("layout", "path", "drives"),
    [
        ("PLAIN_NVME", "/var/lib/nodeos", ("nvme0n1",)),
        ("PLAIN_NVME", "/proc/1", ()),
        ("SATA_WITH_SWAP_PARTITION", "/var", ("sda",)),
        ("SATA_WITH_SWAP_PARTITION", "/srv/eos", ("sdaa",)),
        ("SATA_WITH_SWAP_PARTITION", "/srvx", ("sda",)),
        ("LVM_ON_MD_RAID1", "/var/lib/nodeos", ("sda", "sdb")),
        ("LUKS_ON_LVM", "/data/state", ("nvme0n1",)),
        ("ZFS_MIRROR", "/tank/blocks/blocks.log", ("sda", "sdb")),
        ("ZFS_MIRROR", "/state", ("sda", "sdb")),
        ("ZFS_MIRROR", "/etc", ("nvme0n1",)),
        ("TWO_ZFS_POOLS_TOLD_BY_ZPOOL", "/fast/state", ("sda",)),
        ("TWO_ZFS_POOLS_TOLD_BY_ZPOOL", "/slow", ("sdb",)),
        ("BTRFS_RAID1", "/srv", ("nvme0n1", "nvme1n1")),
        ("BCACHE", "/srv", ("nvme0n1", "sda")),
        ("NVME_MULTIPATH", "/", ("nvme0n1",)),
        ("NVME_MULTIPATH_OF_AN_OLDER_KERNEL", "/", ("nvme0c0n1", "nvme0c1n1")),
        ("DM_MULTIPATH", "/", ("dm-0",)),
        ("CLOUD_VIRTIO", "/data", ("vda",)),
        ("LOOP_FILE", "/state", ("nvme0n1",)),
        ("ZRAM_SWAP", "/state", ()),
        ("DOCKER_OVERLAY", "/var/lib/docker/overlay2/a/merged/data", ("nvme1n1",)),
        ("INSIDE_A_CONTAINER", "/root", ()),
        ("INSIDE_A_CONTAINER", "/data/state", ("nvme0n1",)),
        ("CYCLE", "/", ()),
    ],
)
def test_path_leads_to_its_drives(layout: str, path: str, drives: tuple[str, ...]) -> None:
    """What is written below a path wears these drives; nothing is guessed where that is not known."""
    assert build_topology(layouts.ALL[layout]).drive_of(path) == drives


@pytest.mark.parametrize(
    ("layout", "drives"),
    [
        ("PLAIN_NVME", ["nvme0n1"]),
        ("SATA_WITH_SWAP_PARTITION", ["sda", "sdaa"]),
        ("LVM_ON_MD_RAID1", ["sda", "sdb"]),
        ("LUKS_ON_LVM", ["nvme0n1"]),
        ("ZFS_MIRROR", ["nvme0n1", "sda", "sdb"]),
        ("BCACHE", ["nvme0n1", "sda"]),
        ("NVME_MULTIPATH", ["nvme0n1"]),
        ("NVME_MULTIPATH_OF_AN_OLDER_KERNEL", ["nvme0c0n1", "nvme0c1n1"]),
        ("NVME_PATH_WITHOUT_HEAD", ["nvme0c0n1"]),
        ("NVME_OVER_FABRICS", []),
        ("DM_MULTIPATH", ["dm-0"]),
        ("NETWORK_DISKS", []),
        ("LOOP_FILE", ["nvme0n1"]),
        ("ZRAM_SWAP", ["nvme0n1"]),
    ],
)
def test_each_drive_is_counted_once(layout: str, drives: list[str]) -> None:
    """Logical views, partitions, second paths, zram and loop devices are no drives."""
    assert physical(build_topology(layouts.ALL[layout])) == drives


def test_partition_is_known_by_its_attribute_and_not_by_its_name() -> None:
    """The name sdaa begins with sda and is a disk; nvme0n1p1 has the attribute."""
    topology = build_topology(layouts.SATA_WITH_SWAP_PARTITION)
    kinds = {device.name: device.kind for device in topology.devices}
    assert kinds["sda1"] is DeviceKind.PARTITION
    assert kinds["sdaa"] is DeviceKind.DISK
    found = topology.device("sda1")
    assert found is not None
    assert found.parents == ("sda",)


def test_attributes_of_a_drive_are_read_and_stripped() -> None:
    """Size counts sectors of 512 bytes; sysfs pads models with blanks."""
    drive = build_topology(layouts.PLAIN_NVME).device("nvme0n1")
    assert drive is not None
    assert (drive.size_bytes, drive.model, drive.serial) == (
        1_024_000_000,
        "SAMSUNG MZQL23T8HCLS-00A07",
        "S64G  1",
    )
    assert (drive.rotational, drive.logical_block_bytes, drive.read_ahead_kb) == (False, 512, None)


def test_mounts_are_listed_with_their_device() -> None:
    """A device knows its mount points and its filesystem."""
    root = build_topology(layouts.PLAIN_NVME).device("nvme0n1p2")
    assert root is not None
    assert (root.mounts, root.filesystem) == (("/",), "ext4")


def test_swap_leads_to_drives_and_zram_to_itself() -> None:
    """A partition, a file and a logical volume are followed; zram wears nothing but is named."""
    assert swap_drives(build_topology(layouts.SATA_WITH_SWAP_PARTITION)) == ("sda", "sdaa")
    assert swap_drives(build_topology(layouts.LVM_ON_MD_RAID1)) == ("sda", "sdb")
    assert swap_drives(build_topology(layouts.ZRAM_SWAP)) == ("zram0",)
    assert swap_drives(build_topology(layouts.PLAIN_NVME)) == ()


@pytest.mark.parametrize(
    ("layout", "device", "kind"),
    [
        ("CLOUD_VIRTIO", "vda", DeviceKind.VIRTUAL),
        ("AMAZON_EBS", "nvme0n1", DeviceKind.VIRTUAL),
        ("NETWORK_DISKS", "nbd0", DeviceKind.NETWORK),
        ("NETWORK_DISKS", "rbd0", DeviceKind.NETWORK),
        ("NETWORK_DISKS", "drbd0", DeviceKind.NETWORK),
        ("NETWORK_DISKS", "sdc", DeviceKind.NETWORK),
        ("NVME_OVER_FABRICS", "nvme0n1", DeviceKind.NETWORK),
        ("NVME_MULTIPATH", "nvme0c0n1", DeviceKind.MULTIPATH_PATH),
        ("DM_MULTIPATH", "sda", DeviceKind.MULTIPATH_PATH),
        ("ZRAM_SWAP", "zram0", DeviceKind.ZRAM),
        ("ZRAM_SWAP", "ram0", DeviceKind.RAM),
        ("ZFS_MIRROR", "zd0", DeviceKind.ZVOL),
        ("BCACHE", "bcache0", DeviceKind.BCACHE),
        ("LVM_ON_MD_RAID1", "md0", DeviceKind.MD),
        ("LVM_ON_MD_RAID1", "dm-0", DeviceKind.DEVICE_MAPPER),
    ],
)
def test_kind_of_a_device(layout: str, device: str, kind: DeviceKind) -> None:
    """Drivers' names, links and models tell what a device is."""
    found = build_topology(layouts.ALL[layout]).device(device)
    assert found is not None
    assert found.kind is kind


def test_loop_device_with_a_deleted_file_has_no_known_drive() -> None:
    """Its bytes go somewhere, and nobody can say where; a loop device without a file is not listed."""
    topology = build_topology(layouts.LOOP_FILE)
    lost = topology.device("loop1")
    assert lost is not None
    assert (lost.parents, lost.backing_file) == ((), None)
    assert topology.device("loop2") is None


def test_cycle_of_slaves_ends() -> None:
    """A damaged sysfs does not hang the walk."""
    assert build_topology(layouts.CYCLE).leaves_of("dm-0") == ()


def test_host_without_anything_has_an_empty_topology() -> None:
    """In a container without sysfs there are no devices, and that is no error."""
    topology = build_topology({})
    assert (topology.devices, topology.mounts, topology.swaps) == ((), (), ())


SECTION_NAMES = sorted({name for layout in layouts.ALL.values() for name in layout})


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(SECTION_NAMES) | st.text(max_size=40), st.text(max_size=60), max_size=12)
)
def test_any_texts_give_a_topology(texts: dict[str, str]) -> None:
    """Names and texts come from the host; none of them breaks the topology or its walks."""
    topology = build_topology(texts)
    for device in topology.devices:
        assert len(device.name) <= 64
        topology.leaves_of(device.name)
    topology.drive_of("/x")
    swap_drives(topology)

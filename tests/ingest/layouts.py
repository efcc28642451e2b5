"""Small hosts as their sections: ways in which nodes are set up, from one drive to pools, volumes and virtual disks."""

PCI = "../../devices/pci0000:00/0000:00:1d.0/0000:03:00.0"
VIRTUAL = "../../devices/virtual/block"
Texts = dict[str, str]


def device(name: str, number: str, link: str, sectors: int = 2_000_000, **files: str) -> Texts:
    """Return the sections of one block device; ``queue__rotational="0"`` is the file queue/rotational."""
    base = f"/sys/class/block/{name}"
    texts = {f"link:{base}": link, f"{base}/dev": f"{number}\n", f"{base}/size": f"{sectors}\n"}
    return texts | {f"{base}/{key.replace('__', '/')}": f"{value}\n" for key, value in files.items()}


def stacked(name: str, number: str, slaves: str, **files: str) -> Texts:
    """Return the sections of a device that lies on others."""
    texts = device(name, number, f"{VIRTUAL}/{name}", **files)
    return texts | {f"list:/sys/class/block/{name}/slaves": slaves.replace(" ", "\n") + "\n"}


def partition(disk: str, name: str, number: str, **files: str) -> Texts:
    """Return the sections of a partition: its link runs through its disk."""
    return device(name, number, f"{PCI}/block/{disk}/{name}", partition="1", **files)


def nvme(name: str, number: str, model: str = "SAMSUNG MZQL23T8HCLS-00A07") -> Texts:
    """Return a plain NVMe drive."""
    files = {
        "device__model": model.ljust(40),
        "device__serial": "S64G  1",
        "queue__rotational": "0",
        "wwid": "eui.36",
    }
    return device(name, number, f"{PCI}/nvme/nvme0/{name}", queue__logical_block_size="512", **files)


def mounts(*lines: str) -> Texts:
    """Return mountinfo; each line is ``major:minor point type source [super options]``."""
    rows = []
    for position, line in enumerate(lines):
        number, point, kind, source, *options = line.split(" ")
        rows.append(
            f"{position + 20} 1 {number} / {point} rw - {kind} {source} {' '.join(options) or 'rw'}\n"
        )
    return {"/proc/self/mountinfo": "".join(rows)}


def swaps(*lines: str) -> Texts:
    """Return /proc/swaps; each line is ``path type``."""
    rows = [f"{line.split(' ')[0]}\t\t{line.split(' ')[1]}\t1048572\t0\t-2\n" for line in lines]
    return {"/proc/swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n" + "".join(rows)}


def host(*parts: Texts) -> Texts:
    """Return all sections of a host, with the listing of its block devices."""
    texts = {name: text for part in parts for name, text in part.items()}
    names = [
        name.removeprefix("link:/sys/class/block/")
        for name in texts
        if name.startswith("link:/sys/class/block/")
    ]
    return texts | {"list:/sys/class/block": "".join(f"{name}\n" for name in names)}


PLAIN_NVME = host(
    nvme("nvme0n1", "259:0"),
    partition("nvme0n1", "nvme0n1p1", "259:1"),
    partition("nvme0n1", "nvme0n1p2", "259:2"),
    mounts("259:1 /boot ext4 /dev/nvme0n1p1", "259:2 / ext4 /dev/nvme0n1p2", "0:21 /proc proc proc"),
    swaps(),
)
SATA_WITH_SWAP_PARTITION = host(
    device("sda", "8:0", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block/sda", device__model="CT1000MX500SSD1"),
    partition("sda", "sda1", "8:1"),
    partition("sda", "sda2", "8:2"),
    device("sdaa", "65:160", f"{PCI}/ata2/host1/target1:0:0/1:0:0:0/block/sdaa", queue__rotational="1"),
    mounts("8:1 / ext4 /dev/sda1", "65:160 /srv xfs /dev/sdaa"),
    swaps("/dev/sda2 partition", "/srv/swap\\040file file"),
)
LVM_ON_MD_RAID1 = host(
    device("sda", "8:0", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block/sda"),
    partition("sda", "sda1", "8:1"),
    device("sdb", "8:16", f"{PCI}/ata2/host1/target1:0:0/1:0:0:0/block/sdb"),
    partition("sdb", "sdb1", "8:17"),
    stacked("md0", "9:0", "sda1 sdb1", md__level="raid1"),
    stacked("dm-0", "253:0", "md0", dm__name="vg-root", dm__uuid="LVM-abc"),
    stacked("dm-1", "253:1", "md0", dm__name="vg-swap", dm__uuid="LVM-def"),
    mounts("253:0 / ext4 /dev/mapper/vg-root"),
    swaps("/dev/dm-1 partition"),
)
LUKS_ON_LVM = host(
    nvme("nvme0n1", "259:0"),
    partition("nvme0n1", "nvme0n1p3", "259:3"),
    stacked("dm-0", "254:0", "nvme0n1p3", dm__name="vg-data", dm__uuid="LVM-abc"),
    stacked("dm-1", "254:1", "dm-0", dm__name="data_crypt", dm__uuid="CRYPT-LUKS2-0"),
    mounts("259:3 /boot ext4 /dev/nvme0n1p3", "254:1 /data xfs /dev/mapper/data_crypt"),
)
ZFS_MIRROR = host(
    device("sda", "8:0", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block/sda"),
    partition("sda", "sda1", "8:1", uevent="MAJOR=8\nPARTNAME=zfs-0123456789abcdef"),
    partition("sda", "sda9", "8:9", uevent="MAJOR=8\nPARTN=9"),
    device("sdb", "8:16", f"{PCI}/ata2/host1/target1:0:0/1:0:0:0/block/sdb"),
    partition("sdb", "sdb1", "8:17", uevent="MAJOR=8\nPARTNAME=zfs-fedcba9876543210"),
    nvme("nvme0n1", "259:0"),
    device("zd0", "230:0", f"{VIRTUAL}/zd0"),
    {"link:/dev/zvol/tank/nodeos/state": "../../../zd0"},
    mounts(
        "259:0 / ext4 /dev/nvme0n1", "0:41 /tank/blocks zfs tank/nodeos/blocks", "230:0 /state ext4 /dev/zd0"
    ),
)
TWO_ZFS_POOLS_TOLD_BY_ZPOOL = host(
    device("sda", "8:0", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block/sda"),
    partition("sda", "sda1", "8:1", uevent="PARTNAME=zfs-1"),
    device("sdb", "8:16", f"{PCI}/ata2/host1/target1:0:0/1:0:0:0/block/sdb"),
    partition("sdb", "sdb1", "8:17", uevent="PARTNAME=zfs-2"),
    {
        "command/zpool": "fast\t928G\t1G\t927G\t-\t-\t0%\t0%\t1.00x\tONLINE\t-\n\t/dev/sda1\t928G\t1G\n"
        "slow\t9T\t1G\t9T\t-\t-\t0%\t0%\t1.00x\tONLINE\t-\n\tmirror-0\t9T\n\t/dev/sdb1\t-\t-\n"
    },
    mounts("0:41 /fast zfs fast", "0:42 /slow zfs slow/blocks"),
)
BTRFS_RAID1 = host(
    nvme("nvme0n1", "259:0"),
    nvme("nvme1n1", "259:1"),
    stacked("dm-0", "254:0", "nvme1n1", dm__name="crypt", dm__uuid="CRYPT-LUKS2-0"),
    {"list:/sys/fs/btrfs/9a1/devices": "nvme0n1\ndm-0\n"},
    mounts("0:25 / btrfs /dev/mapper/crypt rw,subvol=/@"),
)
BCACHE = host(
    device("sda", "8:0", f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block/sda", queue__rotational="1"),
    nvme("nvme0n1", "259:0"),
    stacked("bcache0", "252:0", "sda nvme0n1", bcache__state="clean"),
    mounts("252:0 /srv ext4 /dev/bcache0"),
)
NVME_MULTIPATH = host(
    device("nvme0c0n1", "259:1", f"{PCI}/nvme/nvme0/nvme0c0n1", hidden="1"),
    device("nvme0c1n1", "259:2", "../../devices/pci0000:80/0000:83:00.0/nvme/nvme1/nvme0c1n1", hidden="1"),
    device(
        "nvme0n1",
        "259:0",
        "../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1",
        device__model="KIOXIA CM6",
    ),
    mounts("259:0 / ext4 /dev/nvme0n1"),
)
NVME_MULTIPATH_OF_AN_OLDER_KERNEL = host(
    NVME_MULTIPATH,
    {
        "/proc/diskstats": " 259 1 nvme0c0n1 3 0 24 0 3 0 24 0 0 0 0\n 259 2 nvme0c1n1 5 0 8 0 5 0 8 0 0 0 0\n"
        " 259 0 nvme0n1 0 0 0 0 0 0 0 0 0 0 0\n"
    },
)
NVME_PATH_WITHOUT_HEAD = host(device("nvme0c0n1", "259:1", f"{PCI}/nvme/nvme0/nvme0c0n1", hidden="1"))
NVME_OVER_FABRICS = host(
    device("nvme0c0n1", "259:1", "../../devices/virtual/nvme-fabrics/ctl/nvme0/nvme0c0n1", hidden="1"),
    device("nvme0n1", "259:0", "../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1"),
)
DM_MULTIPATH = host(
    device(
        "sda",
        "8:0",
        f"{PCI}/host1/port-1:0/target1:0:0/1:0:0:0/block/sda",
        device__model="ST8000",
        wwid="naa.5",
    ),
    device(
        "sdb",
        "8:16",
        f"{PCI}/host2/port-2:0/target2:0:0/2:0:0:0/block/sdb",
        device__model="ST8000",
        wwid="naa.5",
    ),
    stacked("dm-0", "253:0", "sda sdb", dm__name="mpatha", dm__uuid="mpath-3600508"),
    mounts("253:0 / ext4 /dev/mapper/mpatha"),
)
CLOUD_VIRTIO = host(
    device("vda", "254:0", "../../devices/pci0000:00/0000:00:02.0/virtio1/block/vda", queue__rotational="1"),
    partition("vda", "vda1", "254:1"),
    mounts("254:1 / ext4 /dev/vda1"),
)
AMAZON_EBS = host(nvme("nvme0n1", "259:0", model="Amazon Elastic Block Store"))
NETWORK_DISKS = host(
    device("nbd0", "43:0", f"{VIRTUAL}/nbd0"),
    device("rbd0", "252:0", "../../devices/rbd/0/block/rbd0"),
    device("drbd0", "147:0", f"{VIRTUAL}/drbd0"),
    device("sdc", "8:32", "../../devices/platform/host3/session1/target3:0:0/3:0:0:0/block/sdc"),
)
LOOP_FILE = host(
    nvme("nvme0n1", "259:0"),
    device("loop0", "7:0", f"{VIRTUAL}/loop0", loop__backing_file="/srv/state.img"),
    device("loop1", "7:1", f"{VIRTUAL}/loop1", loop__backing_file="/srv/gone.img (deleted)"),
    device("loop2", "7:2", f"{VIRTUAL}/loop2"),
    mounts("259:0 / ext4 /dev/nvme0n1", "7:0 /state ext4 /dev/loop0", "7:1 /lost ext4 /dev/loop1"),
)
ZRAM_SWAP = host(
    nvme("nvme0n1", "259:0"),
    device("zram0", "253:0", f"{VIRTUAL}/zram0"),
    device("ram0", "1:0", f"{VIRTUAL}/ram0"),
    mounts("259:0 / ext4 /dev/nvme0n1", "0:40 /state tmpfs tmpfs"),
    swaps("/dev/zram0 partition"),
)
DOCKER_OVERLAY = host(
    nvme("nvme0n1", "259:0"),
    nvme("nvme1n1", "259:5"),
    mounts(
        "259:0 / ext4 /dev/nvme0n1",
        "259:5 /var/lib/docker xfs /dev/nvme1n1",
        "0:50 /var/lib/docker/overlay2/a/merged overlay overlay rw,upperdir=/var/lib/docker/overlay2/a/diff",
    ),
)
INSIDE_A_CONTAINER = host(
    nvme("nvme0n1", "259:0"),
    mounts(
        "0:50 / overlay overlay rw,upperdir=/var/lib/docker/overlay2/a/diff",
        "259:0 /data ext4 /dev/nvme0n1",
    ),
)
CYCLE = host(
    stacked("dm-0", "253:0", "dm-1"), stacked("dm-1", "253:1", "dm-0"), mounts("253:0 / ext4 /dev/dm-0")
)

ALL = {name: value for name, value in list(globals().items()) if name.isupper() and isinstance(value, dict)}

"""What kind of device a block device is, as far as wear is concerned.

Names are those that kernel drivers give to whole disks (Documentation/admin-guide/devices.txt); what is
a partition is never read from a name. Models of virtual disks: QEMU, VMware, Hyper-V, VirtualBox and the block
storage of Amazon, Google and Azure as they name themselves.
"""

import re

from leapprof.model import DeviceKind
from leapprof.probes.block import BlockFiles

_BY_NAME: tuple[tuple[re.Pattern[str], DeviceKind], ...] = (
    (re.compile(r"zram\d+"), DeviceKind.ZRAM),
    (re.compile(r"ram\d+|pmem\d+.*"), DeviceKind.RAM),
    (re.compile(r"loop\d+"), DeviceKind.LOOP),
    (re.compile(r"dm-\d+"), DeviceKind.DEVICE_MAPPER),
    (re.compile(r"md(\d+|_.+)"), DeviceKind.MD),
    (re.compile(r"bcache\d+"), DeviceKind.BCACHE),
    (re.compile(r"zd\d+"), DeviceKind.ZVOL),
    (re.compile(r"(nbd|rbd|drbd)\d+"), DeviceKind.NETWORK),
    (re.compile(r"(sr|fd|scd)\d+"), DeviceKind.OTHER),
)
_HIDDEN_PATH = re.compile(r"nvme\d+c\d+n\d+")
_NETWORK_LINK = re.compile(r"/session\d+/target|/nvme-fabrics/|/rport-")
_VIRTUAL_LINK = re.compile(r"/virtio\d+/|/vbd-\d+/")
_VIRTUAL_MODEL = re.compile(
    r"QEMU|VMware|Virtual[ _]disk|VBOX|Msft|MSFT|Amazon E|PersistentDisk|nvme_card|Google|DO Volume|BlockVolume"
    r"|HC Volume",
    re.IGNORECASE,
)


def kind_of(name: str, link: str, files: BlockFiles) -> DeviceKind:
    """Return the kind of a device.

    Args:
        name: kernel name.
        link: target of its symbolic link in /sys/class/block; empty when not known.
        files: its files in sysfs.
    """
    if files.is_partition:
        return DeviceKind.PARTITION
    if files.is_hidden or _HIDDEN_PATH.fullmatch(name):
        return DeviceKind.MULTIPATH_PATH
    for pattern, kind in _BY_NAME:
        if pattern.fullmatch(name):
            return kind
    if _NETWORK_LINK.search(link):
        return DeviceKind.NETWORK
    described = f"{files.vendor or ''} {files.model or ''}"
    if _VIRTUAL_LINK.search(link) or _VIRTUAL_MODEL.search(described):
        return DeviceKind.VIRTUAL
    return DeviceKind.DISK

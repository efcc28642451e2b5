"""The survey sections of a recording that no agent made: what the host's files would have said, from what is known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leapprof.model import ReadStatus, Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A block device of the host.

    Attributes:
        name, major_minor: of the kernel.
        size_bytes: None when it is not known.
        read_ahead_kb: queue setting.
        mount, filesystem, mount_options: where it is mounted, if anywhere.
        backing_file: of a loop device.
        virtual: a virtio disk, as a guest sees it.
        model: as sysfs gives it; None when it is not known.
    """

    name: str
    major_minor: str
    size_bytes: int | None = None
    read_ahead_kb: int | None = None
    mount: str | None = None
    filesystem: str = "ext4"
    mount_options: str = "rw,relatime"
    backing_file: str | None = None
    virtual: bool = False
    model: str | None = None


def _sysfs_path(disk: Disk) -> str:
    if disk.backing_file is not None:
        return f"../../devices/virtual/block/{disk.name}"
    if disk.virtual:
        return f"../../devices/pci0000:00/0000:00:01.0/virtio0/block/{disk.name}"
    return f"../../devices/pci0000:00/0000:00:02.0/nvme/nvme0/{disk.name}"


def _disk_texts(disk: Disk) -> dict[str, str]:
    base = f"/sys/class/block/{disk.name}"
    texts = {
        f"link:{base}": _sysfs_path(disk),
        f"{base}/dev": disk.major_minor + "\n",
        f"list:{base}/slaves": "",
    }
    if disk.size_bytes is not None:
        texts[f"{base}/size"] = f"{disk.size_bytes // 512}\n"
    if disk.read_ahead_kb is not None:
        texts[f"{base}/queue/read_ahead_kb"] = f"{disk.read_ahead_kb}\n"
    if disk.backing_file is not None:
        texts[f"{base}/loop/backing_file"] = disk.backing_file + "\n"
    if disk.model is not None:
        texts[f"{base}/device/model"] = disk.model + "\n"
    return texts


def _mountinfo(disks: Iterable[Disk]) -> str:
    lines = [
        f"{number} 1 {d.major_minor} / {d.mount} {d.mount_options} - {d.filesystem} /dev/{d.name} rw"
        for number, d in enumerate(disks, 20)
        if d.mount
    ]
    return "\n".join(lines) + "\n"


def device_texts(disks: tuple[Disk, ...]) -> dict[str, str]:
    """Return path → text of everything that describes these block devices and their mounts."""
    texts = {"list:/sys/class/block": "\n".join(d.name for d in disks) + "\n"}
    for disk in disks:
        texts |= _disk_texts(disk)
    return texts | {"/proc/self/mountinfo": _mountinfo(disks)}


def vm_texts(listing: str) -> dict[str, str]:
    """Return the files below /proc/sys/vm from lines of ``name value``."""
    pairs = (line.split() for line in listing.splitlines())
    return {f"/proc/sys/vm/{pair[0]}": pair[1] + "\n" for pair in pairs if len(pair) == 2}


def as_sections(texts: Mapping[str, str]) -> tuple[Section, ...]:
    """Return the texts as sections of a frame, in the order of their names."""
    return tuple(
        Section(name=name, status=ReadStatus.OK, text=text.encode()) for name, text in sorted(texts.items())
    )


def config_section(nodeos_id: str, config: str, allowed: frozenset[str]) -> Section:
    """Return a config.ini as an agent lets it leave the host: names and lines of all, values of the allowed."""
    rows = []
    for number, line in enumerate(config.splitlines(), 1):
        bare = line.split("#")[0]
        if "=" in bare:
            name, _, value = (part.strip() for part in bare.partition("="))
            rows.append(f"{number}\t{name}\t{value if name in allowed else ''}")
    return Section(
        name=f"config/{nodeos_id}", status=ReadStatus.OK, text="".join(row + "\n" for row in rows).encode()
    )

"""/sys/class/block/NAME: what one block device is (Documentation/ABI/{stable,testing}/sysfs-block*).

Files are given by their path below the device (``queue/rotational``); each may be missing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.settings import parse_line
from leapprof.probes.text import MAX_INTEGER, integer
from leapprof.units import SECTOR_BYTES

DELETED = " (deleted)"
_MAX_PATH_CHARS = 4096
_MAJOR_MINOR = re.compile(r"[0-9]{1,7}:[0-9]{1,7}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFiles:
    """The files of one device in sysfs, parsed; None where there is none.

    Attributes:
        size_bytes: sysfs counts in sectors of 512 bytes whatever the drive's block size.
        is_partition: there is a ``partition`` file. A name never says so (sda, sdaa; nvme0n1, nvme0n1p1).
        is_hidden: a path of NVMe native multipath.
        backing_file: of a loop device; None too when the file was deleted.
        is_attached: a loop device has a backing file, deleted or not.
        partition_label: GPT name, from uevent.
    """

    major_minor: str
    size_bytes: int | None
    is_partition: bool
    is_hidden: bool
    rotational: bool | None
    read_ahead_kb: int | None
    logical_block_bytes: int | None
    model: str | None
    vendor: str | None
    serial: str | None
    wwid: str | None
    dm_name: str | None
    dm_uuid: str | None
    backing_file: str | None
    is_attached: bool
    partition_label: str | None


def parse_block_files(files: Mapping[str, str]) -> BlockFiles:
    """Return what the files say. A file with an unreadable number counts as missing."""
    lines = {name: parse_line(text, _MAX_PATH_CHARS) for name, text in files.items()}
    major_minor = lines.get("dev") or ""
    backing = lines.get("loop/backing_file")
    sectors = _integer(lines.get("size"))
    rotational = _integer(lines.get("queue/rotational"))
    return BlockFiles(
        major_minor=major_minor if _MAJOR_MINOR.fullmatch(major_minor) else "",
        size_bytes=None
        if sectors is None or sectors > MAX_INTEGER // SECTOR_BYTES
        else sectors * SECTOR_BYTES,
        is_partition="partition" in files,
        is_hidden=lines.get("hidden") == "1",
        rotational=None if rotational is None else rotational == 1,
        read_ahead_kb=_integer(lines.get("queue/read_ahead_kb")),
        logical_block_bytes=_integer(lines.get("queue/logical_block_size")),
        model=lines.get("device/model"),
        vendor=lines.get("device/vendor"),
        serial=lines.get("device/serial"),
        wwid=lines.get("wwid") or lines.get("device/wwid"),
        dm_name=lines.get("dm/name"),
        dm_uuid=lines.get("dm/uuid"),
        backing_file=None if backing is None or backing.endswith(DELETED) else backing,
        is_attached=backing is not None,
        partition_label=_label(files.get("uevent", "")),
    )


def _integer(line: str | None) -> int | None:
    try:
        return None if line is None else integer(line, "block", line)
    except ParseError:
        return None


def _label(uevent: str) -> str | None:
    for line in uevent.split("\n"):
        if line.startswith("PARTNAME="):
            return parse_line(line[len("PARTNAME=") :])
    return None

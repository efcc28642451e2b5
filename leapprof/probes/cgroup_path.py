"""/proc/PID/cgroup: the cgroups of a process, of version 1, 2 or both beside each other (cgroups(7)).

Lines are ``hierarchy:controllers:path``; version 2 has hierarchy 0 and no controllers.
"""

import re
from dataclasses import dataclass

from leapprof.errors import ParseError

_FIELDS = 3
_MAX_PATH_CHARS = 4096
_UNIT = re.compile(r"[A-Za-z0-9:_.\\@-]{1,255}\.(?:service|scope)", re.ASCII)
_CONTAINER = re.compile(r"docker|lxc|libpod|kubepods|containerd|crio|machine\.slice|garden", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupPath:
    """Where a process is.

    Attributes:
        path: of version 2 where it is not the root, else the longest of version 1.
        unit: the last ``.service`` or ``.scope`` in it; None outside of systemd.
        is_container: the path names a container runtime.
    """

    path: str
    unit: str | None
    is_container: bool


def parse_cgroup_path(text: str) -> CgroupPath:
    """Return the cgroup of a process.

    Raises:
        ParseError: no line, or a line of another form.
    """
    unified, longest = "", ""
    for line in text.split("\n"):
        if not line:
            continue
        fields = line.split(":", _FIELDS - 1)
        if len(fields) != _FIELDS or not fields[2].startswith("/"):
            raise ParseError("cgroup_path", "'hierarchy:controllers:/path'", line=line)
        if not fields[1]:
            unified = fields[2]
        longest = max(longest, fields[2], key=len)
    path = unified if len(unified) > 1 else longest
    if not path:
        raise ParseError("cgroup_path", "at least one line", line=text)
    path = path[:_MAX_PATH_CHARS]
    units = [part for part in path.split("/") if _UNIT.fullmatch(part)]
    return CgroupPath(
        path=path, unit=units[-1] if units else None, is_container=_CONTAINER.search(path) is not None
    )

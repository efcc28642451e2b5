"""What `leapprof doctor` prints of one nodeos: a label and a text a line. Pure."""

from collections.abc import Iterator, Mapping

from leapprof.model import Nodeos, Topology
from leapprof.units import format_memory

UNKNOWN = "not known"
_DIRTY = {"yes": "marked as in use", "no": "clean"}


def nodeos_title(nodeos: Nodeos) -> str:
    """Return the head line of one nodeos."""
    return f"{'stand-in (no nodeos)' if nodeos.stand_in else 'nodeos'} {nodeos.id}"


def nodeos_lines(nodeos: Nodeos, facts: Mapping[str, str], topology: Topology) -> Iterator[tuple[str, str]]:
    """Yield label and text of what is known, and not known, of one nodeos.

    Args:
        nodeos: of the survey.
        facts: of the host; those of this nodeos begin with ``nodeos.<id>.``.
        topology: of the host.
    """
    start = f"nodeos.{nodeos.id}."
    own = {name[len(start) :]: value for name, value in facts.items() if name.startswith(start)}
    yield "process", ", ".join(_process_parts(nodeos))
    yield "version", _version(nodeos, own)
    yield "map mode", nodeos.map_mode or UNKNOWN
    yield "API", nodeos.http_address or f"{UNKNOWN}: no address on its command line or in its config"
    yield "config", _config(nodeos)
    for label, path in (
        ("data", nodeos.data_dir),
        ("state", nodeos.state_dir),
        ("blocks", nodeos.blocks_dir),
    ):
        yield label, _place(label, path, nodeos, own, topology)
    if "state_file_bytes" in own:
        yield "state file", _state_file(own)
    yield "log", nodeos.log or UNKNOWN
    yield "stop", _stop(own)


def _process_parts(nodeos: Nodeos) -> Iterator[str]:
    yield f"pid {nodeos.pid}"
    if nodeos.executable:
        yield nodeos.executable + (" (replaced since it started)" if nodeos.executable_deleted else "")
    if nodeos.container:
        yield f"in {nodeos.container}"
    yield f"unit {nodeos.unit}" if nodeos.unit else "no systemd unit of its own"


def _version(nodeos: Nodeos, own: Mapping[str, str]) -> str:
    version = (
        f"{nodeos.version} (its API says so)" if nodeos.version else f"{UNKNOWN}: its API did not answer"
    )
    return f"{version}, full version {own['full_version']}" if "full_version" in own else version


def _config(nodeos: Nodeos) -> str:
    if not nodeos.options:
        return f"{UNKNOWN}: neither file nor command line nor log could be read"
    hidden = sum(any(value is None for value in values) for values in nodeos.options.values())
    kept = f", {hidden} with a value that stays on the host" if hidden else ""
    return (
        f"{nodeos.config_dir or 'no --config-dir on its command line'}; {len(nodeos.options)} options{kept}"
    )


def _place(role: str, path: str | None, nodeos: Nodeos, own: Mapping[str, str], topology: Topology) -> str:
    if path is None:
        return f"{UNKNOWN}: not on its command line"
    mount, filesystem = own.get(f"{role}_mount"), own.get(f"{role}_filesystem")
    if mount is None and not nodeos.root:
        found = topology.mount_of(path)
        mount, filesystem = (found.point, found.filesystem) if found else (None, None)
    where = f" on {mount} ({filesystem})" if mount else ""
    drives = nodeos.roles.get(role, ())
    return f"{path}{where}" + (f", drive {', '.join(drives)}" if drives else "")


def _state_file(own: Mapping[str, str]) -> str:
    size = format_memory(int(own["state_file_bytes"]))
    taken = own.get("state_file_allocated_bytes")
    on_disk = f", {format_memory(int(taken))} of it on disk" if taken else ""
    whole, free = (own.get(f"state_filesystem_{name}") for name in ("bytes", "available_bytes"))
    room = (
        f"; filesystem {format_memory(int(whole))}, {format_memory(int(free))} free" if whole and free else ""
    )
    return f"{size}{on_disk}, {_DIRTY.get(own.get('state_dirty', ''), 'dirty or not: not permitted')}{room}"


def _stop(own: Mapping[str, str]) -> str:
    seconds = own.get("stop_timeout_s")
    if seconds is None:
        return f"{UNKNOWN} how long its supervisor waits before it kills"
    source = own.get("stop_timeout_source", "")
    return f"never killed ({source})" if seconds == "infinity" else f"killed after {seconds} s ({source})"

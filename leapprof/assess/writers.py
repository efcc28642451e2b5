"""Who wrote to a device: each nodeos as its cgroup says, swap as the kernel says, and the rest."""

from collections.abc import Mapping

from leapprof.analysis.rates import counter_total
from leapprof.assess.device_writes import boot_breaks, time_s_of
from leapprof.assess.load import LoadedRecording
from leapprof.ingest.topology import swap_drives
from leapprof.model.wear import Writer

PAGE_BYTES = 4096


def _rate_of(recording: LoadedRecording, table: str, column: str, where: Mapping[str, str]) -> float | None:
    found = recording.table(table, (column,), where=dict(where) or None)
    if found is None or found.rows < 2 or column not in found.integers:
        return None
    total = counter_total(time_s_of(found), found.integers[column], boot_breaks(found))
    return total.per_s if total else None


def _swap_writer(recording: LoadedRecording, device: str) -> Writer | None:
    drives = swap_drives(recording.manifest.topology)
    if device not in drives:
        return None
    pages_per_s = _rate_of(recording, "host", "swap_out_pages_total", {})
    if len(drives) > 1:
        return Writer(
            who="swap", bytes_per_s=None, meter="swap lies on several drives; pswpout does not say on which"
        )
    if pages_per_s is None:
        return Writer(who="swap", bytes_per_s=None, meter="pswpout of /proc/vmstat was not readable")
    return Writer(who="swap", bytes_per_s=pages_per_s * PAGE_BYTES, meter="pswpout of /proc/vmstat")


def writers(recording: LoadedRecording, device: str, bytes_per_s: float) -> tuple[Writer, ...]:
    """Return who wrote to a device of this rate; a share that cannot be known says so."""
    found: list[Writer] = []
    for nodeos in recording.manifest.nodeos:
        rate = None
        if nodeos.cgroup_is_own:
            where = {"nodeos": nodeos.id, "device": device}
            rate = _rate_of(recording, "nodeos_device", "cgroup_write_bytes_total", where)
        meter = "cgroup io.stat" if rate is not None else "no cgroup of its own with io.stat: not known"
        found.append(Writer(who=nodeos.id, bytes_per_s=rate, meter=meter))
    swap = _swap_writer(recording, device)
    if swap is not None:
        found.append(swap)
    known = sum(w.bytes_per_s for w in found if w.bytes_per_s is not None)
    unknown = [w.who for w in found if w.bytes_per_s is None]
    meter = "device counter minus the above" + (f"; holds {', '.join(unknown)} too" if unknown else "")
    found.append(Writer(who="the rest", bytes_per_s=max(bytes_per_s - known, 0.0), meter=meter))
    return tuple(found)

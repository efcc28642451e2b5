"""Who wrote to a drive: each nodeos as its cgroup says, swap as the kernel says, and the rest.

cgroup v2 counts a bio at every queue that it passes: a stacked device and the drive below it both have a line. Only the
drive's own line is taken, so that nothing is added twice. pswpout counts pages that went to a swap device: what zswap
kept in memory is not in it (mm/page_io.c, count_swpout_vm_event).
"""

from leapprof.assess.own_devices import own_devices
from leapprof.assess.sides import CutSide
from leapprof.assess.steady import NODEOS_WRITES, SWAP_WRITES, steady_writes
from leapprof.ingest.topology import swap_drives
from leapprof.model import DeviceKind, Nodeos
from leapprof.model.wear import Writer

REST = "the rest"
SWAP = "swap"


def writers(side: CutSide, device: str, bytes_per_s: float) -> tuple[Writer, ...]:
    """Return who wrote to a drive of this rate; a share that cannot be known says so."""
    found = [_nodeos_writer(side, nodeos, device) for nodeos in side.tables.manifest.nodeos]
    swap = _swap_writer(side, device)
    if swap is not None:
        found.append(swap)
    known = sum(w.bytes_per_s for w in found if w.bytes_per_s is not None)
    unknown = [w.who for w in found if w.bytes_per_s is None]
    if known == 0 and len(unknown) == len(found):
        meter = f"device counter: all of it, {_listed(unknown)} in it" if unknown else "device counter"
    else:
        meter = "device counter less the above" + (f", {_listed(unknown)} in it" if unknown else "")
    found.append(Writer(who=REST, bytes_per_s=max(bytes_per_s - known, 0.0), meter=meter))
    return tuple(found)


def _listed(names: list[str]) -> str:
    return " and ".join(names)


def _nodeos_writer(side: CutSide, nodeos: Nodeos, device: str) -> Writer:
    seen = _devices_with_lines(side, nodeos.id) if nodeos.cgroup_is_own else []
    if device in seen:
        writes = steady_writes(side, NODEOS_WRITES, {"nodeos": nodeos.id, "device": device})
        if writes is not None:
            return Writer(who=nodeos.id, bytes_per_s=writes.bytes_per_s, meter="cgroup io.stat")
    own = _own_device(side, nodeos, device)
    if own is not None:
        return own
    if not nodeos.cgroup_is_own:
        return Writer(who=nodeos.id, bytes_per_s=None, meter="not known: it has no cgroup of its own")
    above = [d for d in seen if device in side.tables.manifest.topology.leaves_of(d)]
    if above:
        meter = f"not known: io.stat counts at {_listed(above)}, above this drive"
        return Writer(who=nodeos.id, bytes_per_s=None, meter=meter)
    if seen:
        return Writer(who=nodeos.id, bytes_per_s=0.0, meter="cgroup io.stat has no line of this drive")
    return Writer(who=nodeos.id, bytes_per_s=None, meter="not known: its cgroup has no io.stat")


def _own_device(side: CutSide, nodeos: Nodeos, drive: str) -> Writer | None:
    """Return what a partition or volume of its own takes, when the data of this nodeos alone lies there."""
    devices = own_devices(side.tables.manifest, nodeos, drive)
    rates = [steady_writes(side, where={"device": name}) for name in devices]
    known = [r.bytes_per_s for r in rates if r is not None]
    if not devices or len(known) != len(devices):
        return None
    meter = f"all of {_listed(list(devices))}, where its data lies"
    return Writer(who=nodeos.id, bytes_per_s=sum(known), meter=meter)


def _devices_with_lines(side: CutSide, nodeos: str) -> list[str]:
    table = side.tables.table("nodeos_device", ("cgroup_write_bytes_total",), {"nodeos": nodeos})
    names = table.texts.get("device") if table is not None and table.rows else None
    return sorted({str(name) for name in names if name is not None}) if names is not None else []


def _swap_writer(side: CutSide, device: str) -> Writer | None:
    topology = side.tables.manifest.topology
    drives = swap_drives(topology)
    if device not in drives:
        return None
    if len(drives) > 1:
        kinds = {topology.device(d).kind for d in drives if topology.device(d)}  # type: ignore[union-attr]
        where = "zram and on drives" if DeviceKind.ZRAM in kinds else "several drives"
        return Writer(
            who=SWAP, bytes_per_s=None, meter=f"not known: swap lies on {where}, pswpout does not say which"
        )
    writes = steady_writes(side, SWAP_WRITES)
    if writes is None:
        return Writer(who=SWAP, bytes_per_s=None, meter="not known: pswpout was not readable")
    return Writer(who=SWAP, bytes_per_s=writes.bytes_per_s, meter="pswpout of /proc/vmstat")

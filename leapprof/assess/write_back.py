"""What decides how the kernel writes the same state back: never to be credited to nodeos.

Measured on a nodeos 5.0.3 in `mapped` at one load: 17 times the writes with 2 MiB folios (read_ahead_kb 8192) of those
with 4 KiB folios.
"""

from leapprof.assess.folios import large_folio_bytes
from leapprof.assess.sides import CutSide
from leapprof.model import Recording
from leapprof.units import format_memory

WRITES = frozenset({"device.write_bytes_per_s", "device.writes_per_s", "nodeos.device_write_bytes_per_s"})
LIKE = 0.8
"""Large folios of both sides that differ by less are one condition."""
_FACTS = {
    "kernel": "kernel",
    "thp_enabled": "transparent huge pages",
    "dirty_ratio": "dirty_ratio",
    "dirty_bytes": "dirty_bytes",
    "dirty_background_ratio": "dirty_background_ratio",
    "dirty_background_bytes": "dirty_background_bytes",
    "dirty_expire_centisecs": "dirty_expire_centisecs",
    "dirty_writeback_centisecs": "dirty_writeback_centisecs",
}


def conditions(recording: Recording) -> dict[str, str]:
    """Return name → text of what decides write-back on a host, as far as it is known."""
    facts = {name: recording.host.facts.get(fact) for fact, name in _FACTS.items()}
    for nodeos in recording.nodeos:
        if nodeos.state_dir is None:
            continue
        mount, device = (
            recording.topology.mount_of(nodeos.state_dir),
            recording.topology.device_of(nodeos.state_dir),
        )
        facts["filesystem of the state"] = mount.filesystem if mount else None
        ahead = device.read_ahead_kb if device else None
        facts["read-ahead of the state's device"] = f"{ahead} kB" if ahead is not None else None
    return {name: text for name, text in facts.items() if text is not None}


def apart(first: Recording, second: Recording) -> tuple[str, ...]:
    """Return ``kernel 5.15 and 6.1`` for each condition that both know and that differs."""
    one, other = conditions(first), conditions(second)
    return tuple(f"{n} {one[n]} and {other[n]}" for n in one if n in other and one[n] != other[n])


def write_back_clauses(before: CutSide, after: CutSide) -> tuple[str, ...]:
    """Return what else than nodeos may have changed the writes of a device, each a clause for a verdict."""
    differing = apart(before.side.recording, after.side.recording)
    clauses = [f"the kernel writes back otherwise: {', '.join(differing)}"] if differing else []
    large = [large_folio_bytes(side) for side in (before, after)]
    if large[0] and large[1] and LIKE <= large[0] / large[1] <= 1 / LIKE:
        return tuple(clauses)
    clauses += [
        f"{side.side.label} {format_memory(size)} of the state were mapped in 2 MiB pieces, which multiplies the "
        "writes of mapped"
        for side, size in zip((before, after), large, strict=True)
        if size is not None
    ]
    return tuple(clauses)

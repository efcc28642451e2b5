"""What differs between both sides beside the numbers: facts of host, devices and nodeos, and config lines."""

from leapprof.assess.defaults import with_defaults
from leapprof.assess.sides import CutSide
from leapprof.assess.subjects import DevicePair, NodeosPair
from leapprof.model import ConfigChange, Device, FactDifference, Mount, Nodeos, Recording
from leapprof.nodeos.diff import diff_options
from leapprof.nodeos.explain import group_of

VOLATILE_FACTS = frozenset({"uptime_s", "boot_time", "load_average"})
VOLATILE_ENDINGS = (".state_dirty", ".state_file_allocated_bytes", ".state_filesystem_available_bytes")


def fact_differences(
    before: CutSide, after: CutSide, nodeos: tuple[NodeosPair, ...], devices: tuple[DevicePair, ...]
) -> tuple[FactDifference, ...]:
    """Return all facts of both sides, equal ones too: a report prints them."""
    first, second = before.side.recording, after.side.recording
    found = [
        *_pairs("host", first.host.facts, second.host.facts),
        *(fact for pair in nodeos for fact in _nodeos_facts(pair, first, second)),
        *(fact for pair in devices for fact in _device_facts(pair)),
    ]
    return tuple(found)


def config_changes(nodeos: tuple[NodeosPair, ...]) -> tuple[ConfigChange, ...]:
    """Return the config lines that differ, of processes that are on both sides and whose config was read."""
    return tuple(
        with_defaults(
            ConfigChange(nodeos=pair.before.id, option=c.option, before=c.before, after=c.after), pair
        )
        for pair in nodeos
        if pair.before and pair.after and pair.before.options and pair.after.options
        for c in diff_options(pair.before.options, pair.after.options)
    )


def change_text(nodeos: tuple[NodeosPair, ...], changes: tuple[ConfigChange, ...]) -> str:
    """Return in a few words what was changed, as far as facts and config show."""
    said = []
    for pair in nodeos:
        if pair.before is None or pair.after is None:
            continue
        said += [
            f"{name} {a} → {b}"
            for name, a, b in (
                ("nodeos", pair.before.version, pair.after.version),
                ("map mode", pair.before.map_mode, pair.after.map_mode),
            )
            if a and b and a != b
        ]
    others = dict.fromkeys(c.option for c in changes if c.option != "database-map-mode")
    moving = [option for option in others if can_move(option)]
    if moving:
        said.append(_options(len(moving)))
    elif others and not said:
        said.append(f"{_options(len(others))} that move no metric")
    return ", ".join(dict.fromkeys(said)) or "no change seen in facts or config"


def _options(count: int) -> str:
    return f"{count} config option{'s' if count > 1 else ''}"


def can_move(option: str) -> bool:
    """Return whether an option can move a metric: not where things lie or listen, nor one without known effect."""
    return group_of(option) != "none" and not option.endswith(("-dir", "-endpoint", "-address"))


def _pairs(subject: str, before: dict[str, str], after: dict[str, str]) -> list[FactDifference]:
    """Return the facts that either side knows."""
    names = sorted(n for n in {*before, *after} - VOLATILE_FACTS if not n.endswith(VOLATILE_ENDINGS))
    return [FactDifference(name=n, subject=subject, before=before.get(n), after=after.get(n)) for n in names]


def _nodeos_facts(pair: NodeosPair, first: Recording, second: Recording) -> list[FactDifference]:
    """Return facts of a nodeos and of the filesystem below its state."""
    return _pairs(
        pair.subject.nodeos or "nodeos",
        _described(pair.before, first) if pair.before else {},
        _described(pair.after, second) if pair.after else {},
    )


def _described(nodeos: Nodeos, recording: Recording) -> dict[str, str]:
    """Return the facts of a nodeos as texts; what is not known is left out."""
    mount: Mount | None = recording.topology.mount_of(nodeos.state_dir) if nodeos.state_dir else None
    facts = {
        "version": nodeos.version,
        "map_mode": nodeos.map_mode,
        "state_filesystem": mount.filesystem if mount else None,
        "state_mount_options": mount.options if mount else None,
    }
    return {name: text for name, text in facts.items() if text is not None}


def _device_facts(pair: DevicePair) -> list[FactDifference]:
    """Return the facts of a device."""
    return _pairs(
        pair.device.name,
        _device(pair.before) if pair.before else {},
        _device(pair.after) if pair.after else {},
    )


def _device(device: Device) -> dict[str, str]:
    """Return the facts of a device as texts; what is not known is left out."""
    facts = {
        "model": device.model,
        "kind": str(device.kind),
        "size_bytes": device.size_bytes,
        "read_ahead_kb": device.read_ahead_kb,
        "filesystem": device.filesystem,
        "logical_block_bytes": device.logical_block_bytes,
    }
    return {name: str(text) for name, text in facts.items() if text is not None}

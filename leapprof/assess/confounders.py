"""Findings: what else differs between both sides and could explain the difference as well."""

from collections.abc import Iterable, Iterator, Sequence

from leapprof.analysis.windows import hours_covered, share_hours
from leapprof.assess.adjusting import LOAD_METRIC
from leapprof.assess.facts import can_move
from leapprof.assess.folios import large_folio_bytes
from leapprof.assess.material import Material, warning
from leapprof.assess.sides import is_same_device
from leapprof.model import ConfigChange, Device, Evidence, FactDifference, Finding, MetricComparison, evidence
from leapprof.units import format_memory, significant

MAP_MODE_OPTION = "database-map-mode"
MOST_NAMED = 12
LOAD_RATIO = 1.2
STEAL_PERCENT = 1.0

_FACTS = {
    "kernel": "another kernel writes back, reads ahead and caches otherwise",
    "state_filesystem": "another filesystem writes the same state otherwise",
    "filesystem": "another filesystem writes the same data otherwise",
    "state_mount_options": "other mount options can move writes",
    "read_ahead_kb": "read-ahead decides the size of folios, and with large ones a dirty byte writes up to 2 MiB",
    "cores": "another number of CPUs",
    "cpu_model": "another CPU",
    "mem_total_bytes": "another amount of memory",
    "swap_total_bytes": "another amount of swap",
    "thp_enabled": "transparent huge pages change memory and writes",
    "dirty_ratio": "the kernel writes back dirty pages by it",
    "dirty_background_ratio": "the kernel writes back dirty pages by it",
    "dirty_expire_centisecs": "the kernel writes back dirty pages by it",
    "dirty_writeback_centisecs": "the kernel writes back dirty pages by it",
    "virtualization": "another kind of machine",
    "region": "another place has another network",
    "latency_rate": "another rate makes other queues",
    "latency_connections": "other connections make other queues",
    "latency_timeout": "another time-out makes other failures",
    "latency_size": "packets of another size",
    "latency_transport": "UDP and TCP wait for different things",
    "latency_family": "IPv4 and IPv6 may take other routes",
    "latency_body": "another body is another question",
    "latency_probe": "another probe measures something else",
    "model": "another drive",
}


def confounders(material: Material) -> Iterator[Finding]:
    """Yield one finding per kind of thing that differs beside the stated change."""
    yield from _config(material)
    yield from _defaults(material)
    for fact in material.facts:
        if fact.changed and fact.name in _FACTS:
            yield _fact(fact)
    yield from _moved(material)
    yield from _hours(material)
    yield from _load(material)
    yield from _steal(material)
    yield from _large_folios(material)


def beside(
    facts: Sequence[FactDifference], changes: Sequence[ConfigChange], defaults: Sequence[ConfigChange]
) -> str | None:
    """Return the sentence that names what else changed than version and map mode; None where nothing did."""
    named = _told(_others(changes))
    named += [f"{f.name} {f.before} → {f.after}" for f in facts if f.changed and f.name in _FACTS]
    silent = _told(d for d in defaults if can_move(d.option))
    parts = [_listed(named)] if named else []
    parts += [f"defaults of the version: {_listed(silent)}"] if silent else []
    return f"Changed at the same time and possibly the cause: {'; '.join(parts)}." if parts else None


def _told(changes: Iterable[ConfigChange]) -> list[str]:
    return [
        f"{c.option} {_set_to(c.before, c.before_default)} → {_set_to(c.after, c.after_default)}"
        for c in changes
    ]


def _set_to(value: str | None, default: str | None) -> str:
    if value is None:
        return "not set" if default is None else f"not set ({default})"
    return value or "not set"


def _listed(named: Sequence[str]) -> str:
    unique = list(dict.fromkeys(named))
    return ", ".join(unique[:MOST_NAMED]) + (" …" if len(unique) > MOST_NAMED else "")


def _others(changes: Sequence[ConfigChange]) -> list[ConfigChange]:
    """Return the changes of options beside the map mode that can move a metric."""
    return [c for c in changes if c.option != MAP_MODE_OPTION and c.takes_effect and can_move(c.option)]


def _config(material: Material) -> Iterator[Finding]:
    """Yield what was changed in config.ini beside the map mode."""
    others = [c.option for c in _others(material.changes)]
    mode = any(c.option == MAP_MODE_OPTION for c in material.changes)
    version = any(f.name == "version" and f.changed for f in material.facts)
    if others and (mode or version or len(others) > 1):
        yield warning(
            "confounded-by-config",
            f"{len(others)} config option(s) changed at the same time: {_listed(others)}.",
            "Change one thing at a time, or repeat with these options as they were before.",
            evidence=evidence("count", options=len(others)),
        )
    if mode and version:
        yield warning(
            "version-and-mode-changed",
            "The nodeos version and the map mode changed at the same time, so neither's effect is known alone.",
            "Record a third phase with only one of the two changed.",
        )


def _defaults(material: Material) -> Iterator[Finding]:
    """Yield options whose default another version changed, where config.ini does not set them."""
    defaults = [c for c in material.defaults if can_move(c.option)]
    for nodeos in dict.fromkeys(c.nodeos for c in defaults):
        moved = [f"{c.option} {c.before} → {c.after}" for c in defaults if c.nodeos == nodeos]
        yield warning(
            "version-defaults-differ",
            f"The versions have different defaults for {len(moved)} option(s) that config.ini does not set: "
            f"{'; '.join(moved[:MOST_NAMED])}{' …' if len(moved) > MOST_NAMED else ''}.",
            "Set these options to one value on both sides if the version alone is to be compared.",
            subject=nodeos,
            evidence=evidence("count", options=len(moved)),
        )


def _fact(fact: FactDifference) -> Finding:
    """Return the finding of a fact that differs."""
    return warning(
        "fact-differs",
        f"{fact.subject}: {fact.name} was {fact.before} before and is {fact.after} after: {_FACTS[fact.name]}.",
        "Repeat both phases with this unchanged, or compare these two settings for their own sake.",
        subject=fact.subject,
    )


def _moved(material: Material) -> Iterator[Finding]:
    """Yield the devices that are compared because they carry the same, though they are not the same."""
    for pair in material.devices:
        if pair.before and pair.after and not is_same_device(pair.before, pair.after):
            yield warning(
                "device-differs",
                f"{pair.role} lies on {_called(pair.before)} before and on {_called(pair.after)} after: compared by "
                "what they carry, another device is part of the difference.",
                "Keep the data where it is if the device itself is not the change.",
                subject=pair.device.name,
            )


def _called(device: Device) -> str:
    return f"{device.name} ({device.model})" if device.model else device.name


def _hours(material: Material) -> Iterator[Finding]:
    """Yield a finding when both windows do not cover the same hours of the day."""
    before, after = (
        hours_covered(s.side.window.start_wall_ns, s.side.window.end_wall_ns) for s in material.sides
    )
    if share_hours(before, after):
        return
    adjusted = any(m.adjusted is not None for m in material.metrics)
    yield warning(
        "time-of-day-confounded",
        f"Before covers the hours {_ranges(before)} UTC, after {_ranges(after)} UTC: load swings with the day.",
        "Look at the differences at equal load in this report."
        if adjusted
        else "Record the same hours of the day, or whole days, on both sides.",
        evidence=tuple(
            Evidence(name=f"hours {label}", value=hour, unit="hour")
            for label, hours in (("before", before), ("after", after))
            for run in _runs(hours)
            for hour in dict.fromkeys(run)
        ),
    )


def _ranges(hours: frozenset[int]) -> str:
    """Return hours as ``0-5, 22-23``."""
    return ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in _runs(hours))


def _runs(hours: frozenset[int]) -> list[tuple[int, int]]:
    """Return the first and last hour of each run of hours."""
    firsts = [hour for hour in sorted(hours) if hour - 1 not in hours]
    lasts = [hour for hour in sorted(hours) if hour + 1 not in hours]
    return list(zip(firsts, lasts, strict=True))


def _load(material: Material) -> Iterator[Finding]:
    """Yield a finding when the chain was busier on one side."""
    for metric in material.metrics:
        if metric.name != LOAD_METRIC or metric.ratio is None:
            continue
        if 1 / LOAD_RATIO <= metric.ratio.value <= LOAD_RATIO:
            continue
        assert metric.before is not None
        assert metric.after is not None
        yield warning(
            "load-differs",
            f"The load was {significant(metric.before.mean)} transactions/s before and "
            f"{significant(metric.after.mean)} after.",
            "Read the differences at equal load where the report has them; otherwise repeat at a like load.",
            subject=metric.subject.nodeos,
            evidence=evidence(metric.unit, before=metric.before.mean, after=metric.after.mean),
        )


def _steal(material: Material) -> Iterator[Finding]:
    """Yield a finding when the hypervisor took CPU time away."""
    metric = _metric(material, "host.steal_percent")
    for side in (metric.before, metric.after) if metric else ():
        if side is not None and side.mean > STEAL_PERCENT:
            yield warning(
                "cpu-stolen",
                f"The hypervisor gave {significant(side.mean)} % of the CPU time to other machines.",
                "CPU figures of this host depend on its neighbours; repeat on dedicated CPUs if you can.",
                evidence=evidence("percent", stolen=side.mean),
            )
            return


def _large_folios(material: Material) -> Iterator[Finding]:
    """Yield a finding when the state of a `mapped` nodeos lies in large folios: each dirty byte writes 2 MiB."""
    for cut in material.sides:
        largest = large_folio_bytes(cut)
        if largest is not None:
            yield warning(
                "large-folios",
                f"{cut.side.label}: {format_memory(largest)} of file pages are mapped in 2 MiB pieces, so in mapped "
                "mode one dirty byte writes 2 MiB (17 times the writes of 4 KiB pages were measured at a like load).",
                "Lower /sys/block/<drive>/queue/read_ahead_kb, or keep the state on a filesystem without large "
                "folios, and compare only recordings that agree in this.",
                evidence=evidence("bytes", file_pages_in_2_mib_pieces=largest),
            )


def _metric(material: Material, name: str) -> MetricComparison | None:
    """Return the first comparison of a metric."""
    return next((m for m in material.metrics if m.name == name), None)

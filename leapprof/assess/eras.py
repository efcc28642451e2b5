"""What a nodeos was on either side of a change within one recording, told by the recording's events.

A manifest says what was found at the start. What changed later is in its events (``version-changed``,
``map-mode-changed``, ``config-changed``): those that belong to the change are applied to the side after it.
The events name options without their values, so the value after is not shown, but that it changed is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from leapprof.assess.samples import RecordingTables
from leapprof.model import Event, Nodeos, Recording, Table
from leapprof.units import NS_PER_S

LATE_NOTICE_S = 600.0
"""A stated time may be this much later than what was seen: people round up."""
_NOW = re.compile(r"^.* before, (?P<now>.+) now$")
MAP_MODE_OPTION = "database-map-mode"
NOT_SET = "not set"
DEFAULT_MAP_MODE = "mapped"
"""chain_plugin's default in every version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """A recording whose manifest says what nodeos was in one part of it."""

    tables: RecordingTables
    manifest: Recording

    def table(
        self, name: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> Table:
        """Return the rows of a table, of one subject if asked."""
        return self.tables.table(name, columns, where)


def eras(
    recording: RecordingTables, change_wall_ns: int, until_wall_ns: int | None = None
) -> tuple[Era, Era]:
    """Return the recording as it was before a change, and after it.

    Args:
        recording: one that goes on over the change.
        change_wall_ns: when the change was made.
        until_wall_ns: what happened later than this is of neither side; None: its end.
    """
    edge_ns = change_wall_ns - round(LATE_NOTICE_S * NS_PER_S)
    events = sorted(recording.manifest.events, key=lambda e: e.wall_ns)
    before = _at(recording.manifest, (e for e in events if e.wall_ns < edge_ns))
    seen = (e for e in events if until_wall_ns is None or e.wall_ns <= until_wall_ns)
    return Era(tables=recording, manifest=before), Era(
        tables=recording, manifest=_at(recording.manifest, seen)
    )


def _at(manifest: Recording, events: Iterable[Event]) -> Recording:
    """Return the manifest with its nodeos as some events leave them."""
    found = {nodeos.id: nodeos for nodeos in manifest.nodeos}
    for event in events:
        if event.subject in found:
            found[event.subject] = _changed(found[event.subject], event)
    return replace(manifest, nodeos=tuple(found[nodeos.id] for nodeos in manifest.nodeos))


def _changed(nodeos: Nodeos, event: Event) -> Nodeos:
    """Return a nodeos after one event."""
    if event.kind == "config-changed":
        return replace(nodeos, options=_options(nodeos, event.detail))
    match = _NOW.match(event.detail)
    if match is None:
        return nodeos
    now = match["now"]
    if event.kind == "version-changed":
        return replace(nodeos, version=now)
    if event.kind != "map-mode-changed":
        return nodeos
    options = {name: values for name, values in nodeos.options.items() if name != MAP_MODE_OPTION}
    if now == NOT_SET:
        return replace(nodeos, map_mode=DEFAULT_MAP_MODE, options=options)
    return replace(nodeos, map_mode=now, options={**options, MAP_MODE_OPTION: (now,)})


def _options(nodeos: Nodeos, detail: str) -> dict[str, tuple[str | None, ...]]:
    """Return the options with those that an event names as not shown."""
    _, _, named = detail.partition(": ")
    names = [name.strip() for name in named.removesuffix(" …").split(",")]
    hidden = {name: (None,) for name in names if name and name != MAP_MODE_OPTION}
    return {**nodeos.options, **hidden}

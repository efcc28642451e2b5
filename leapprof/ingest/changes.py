"""Changes of a nodeos within a recording: its version, its options, its map mode.

A change is told by name; the values of options are left out but for the map mode, which is one of four words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from leapprof.ingest.services import MAP_MODES, Options

MAP_MODE = "database-map-mode"
MAP_MODE_CHANGED = "map-mode-changed"
_MAX_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A version-changed, config-changed or map-mode-changed of one nodeos."""

    kind: str
    id: str
    detail: str


class ChangeTracker:
    """Remembers what each nodeos was last. What is seen first is no change."""

    def __init__(self) -> None:
        """Start before the first frame."""
        self._versions: dict[str, str] = {}
        self._options: dict[tuple[str, str], Options] = {}
        self._modes: dict[str, str] = {}

    def add(
        self, versions: Mapping[str, str], options: Mapping[tuple[str, str], Options]
    ) -> tuple[Change, ...]:
        """Return what changed.

        Args:
            versions: nodeos id → version, of those that said it.
            options: (nodeos id, ``command line`` or ``config file``) → all options there.
        """
        changes = []
        for nodeos_id, version in sorted(versions.items()):
            last = self._versions.setdefault(nodeos_id, version)
            if last != version:
                self._versions[nodeos_id] = version
                changes.append(
                    Change(kind="version-changed", id=nodeos_id, detail=f"{last} before, {version} now")
                )
        for key, found in sorted(options.items()):
            before = self._options.setdefault(key, found)
            if before != found:
                self._options[key] = found
                changes += self._of_options(*key, before, found)
        return tuple(changes)

    def _of_options(self, nodeos_id: str, place: str, before: Options, after: Options) -> list[Change]:
        """Return the changes of one place; the map mode's once, though command line, file and log may all tell it."""
        changes = _option_changes(nodeos_id, place, before, after)
        mode = _mode(after)
        if self._modes.get(nodeos_id) == mode:
            changes = [change for change in changes if change.kind != MAP_MODE_CHANGED]
        elif any(change.kind == MAP_MODE_CHANGED for change in changes):
            self._modes[nodeos_id] = mode
        return changes


def _option_changes(nodeos_id: str, place: str, before: Options, after: Options) -> list[Change]:
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    shown = ", ".join(names[:_MAX_NAMED]) + (" …" if len(names) > _MAX_NAMED else "")
    changes = [Change(kind="config-changed", id=nodeos_id, detail=f"{place}: {shown}")]
    if MAP_MODE in names:
        detail = f"{_mode(before)} before, {_mode(after)} now"
        changes.append(Change(kind=MAP_MODE_CHANGED, id=nodeos_id, detail=detail))
    return changes


def _mode(options: Options) -> str:
    mode = next(iter(options.get(MAP_MODE, ())), None)
    return mode if mode in MAP_MODES else "not set"

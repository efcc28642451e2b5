"""A recording whose tables are read once per comparison, each with every column that a comparison asks for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from leapprof.assess.eras import Era
from leapprof.assess.load import KEY_COLUMNS, LoadedRecording
from leapprof.assess.metrics import columns_of
from leapprof.assess.process_life import LIFE_COLUMNS
from leapprof.assess.samples import IDENTITY_COLUMNS, RecordingTables
from leapprof.assess.stages import with_stages
from leapprof.model import Recording, Table
from leapprof.store.segments import select

STAGE = "stage"
_MORE_COLUMNS = {
    "host": ("cpus_online", "file_pmd_mapped_bytes"),
    "nodeos": (STAGE, *LIFE_COLUMNS),
    "chain": ("http_status", "http_elapsed_us", "http_errors", "state_used_bytes"),
}
_ASKED_AGAIN = {
    "host": _MORE_COLUMNS["host"],
    "nodeos": (STAGE, *IDENTITY_COLUMNS["nodeos"], *LIFE_COLUMNS),
    "chain": (*columns_of("chain"), *_MORE_COLUMNS["chain"]),
}
"""What findings and starts ask for when the metrics of a table are done."""

_Where = Mapping[str, str]
_Key = tuple[str, tuple[tuple[str, str], ...]]


def from_disk(recording: RecordingTables) -> LoadedRecording | None:
    """Return what is read when these tables are asked for; None where they do not come from disk."""
    if isinstance(recording, CachedTables | Era):
        return from_disk(recording.tables)
    return recording if isinstance(recording, LoadedRecording) else None


def _key(name: str, where: _Where | None) -> _Key:
    return name, tuple(sorted((where or {}).items()))


class SideTables(RecordingTables, Protocol):
    """Tables of one side of a comparison, which somebody keeps until they are released."""

    def prepare(self, name: str, wheres: Iterable[_Where]) -> None:
        """Read a table for some subjects at once."""
        ...

    def release(self, name: str, where: _Where | None = None) -> None:
        """Forget what was read of a table, or of one subject of it, but what is asked for again."""
        ...


class CachedTables(SideTables):
    """Reads a table of one subject once; ``release`` gives the memory back when its metrics are done."""

    def __init__(self, tables: RecordingTables) -> None:
        """Keep the recording that is read."""
        self.tables = tables
        self._read: dict[_Key, tuple[Table, frozenset[str]]] = {}
        self._released: set[str] = set()

    @property
    def manifest(self) -> Recording:
        """Return the manifest."""
        return self.tables.manifest

    def table(self, name: str, columns: Sequence[str] | None = None, where: _Where | None = None) -> Table:
        """Return the rows of a table of one subject; see RecordingTables."""
        found, asked = self._read.get(_key(name, where), (None, frozenset[str]()))
        if found is not None and asked.issuperset(columns or ()):
            return found
        whole, known = self._read.get(_key(name, None), (None, frozenset[str]()))
        if where and whole is not None and known.issuperset({*asked, *(columns or ())}):
            return self._keep(name, select(whole, where), known, where)
        return self._from_disk(name, self._wanted(name, {*asked, *(columns or ())}), where)

    def prepare(self, name: str, wheres: Iterable[_Where]) -> None:
        """Read a table for some subjects at once, which takes little longer than for one."""
        stored = from_disk(self.tables)
        missing = [where for where in wheres if _key(name, where) not in self._read]
        if stored is None or not missing or _key(name, None) in self._read:
            return
        wanted = self._wanted(name, set())
        for where, found in zip(missing, stored.tables(name, tuple(wanted - {STAGE}), missing), strict=True):
            self._keep_told(name, found, wanted, where)

    def release(self, name: str, where: _Where | None = None) -> None:
        """Forget what was read of a table, or of one subject of it, but what is asked for again."""
        self._released.add(name)
        kept = {*KEY_COLUMNS, *_ASKED_AGAIN.get(name, ())}
        for key in [k for k in self._read if k[0] == name and (where is None or k == _key(name, where))]:
            found, asked = self._read.pop(key)
            if name in _ASKED_AGAIN:
                integers = {n: c for n, c in found.integers.items() if n in kept}
                self._read[key] = replace(found, integers=integers), asked & kept

    def _wanted(self, name: str, asked: set[str]) -> frozenset[str]:
        """Return what is read when these are asked for: all that will be, until the table is released."""
        if name not in self._released:
            asked |= {*columns_of(name), *_MORE_COLUMNS.get(name, ())}
        return frozenset({*KEY_COLUMNS, *IDENTITY_COLUMNS.get(name, ()), *asked})

    def _from_disk(self, name: str, wanted: frozenset[str], where: _Where | None) -> Table:
        """Read a table and keep it; stages are told from what is kept, not from other readings of the same files."""
        if from_disk(self.tables) is None:
            return self._keep(name, self.tables.table(name, tuple(wanted), where), wanted, where)
        return self._keep_told(name, self.tables.table(name, tuple(wanted - {STAGE}), where), wanted, where)

    def _keep_told(self, name: str, found: Table, wanted: frozenset[str], where: _Where | None) -> Table:
        """Keep what was read, with its stages if they are wanted."""
        self._keep(name, found, wanted, where)
        if STAGE in wanted and found.rows:
            return self._keep(name, with_stages(found, self, where), wanted, where)
        return found

    def _keep(self, name: str, found: Table, asked: frozenset[str], where: _Where | None) -> Table:
        self._read[_key(name, where)] = found, asked
        return found

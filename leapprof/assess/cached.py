"""A recording whose tables are read once per comparison, each with every column that a comparison asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from leapprof.assess.eras import Era
from leapprof.assess.load import LoadedRecording
from leapprof.assess.metrics import columns_of
from leapprof.assess.samples import IDENTITY_COLUMNS, RecordingTables
from leapprof.assess.stages import with_stages
from leapprof.model import Recording, Table

STAGE = "stage"
_OF_MANY = frozenset({"device", "nodeos_device"})
"""Tables of many subjects, each of which is compared: read once for all."""
_ASKED_AGAIN = frozenset({"chain"})
_SUBJECTS = frozenset({"device", "nodeos"})
_MORE_COLUMNS = {
    "host": ("cpus_online", "file_pmd_mapped_bytes"),
    "nodeos": (STAGE, "start_ticks", "io_write_bytes_total", "rss_anon_bytes"),
    "chain": ("http_status", "state_used_bytes"),
}


def _is_stored(tables: RecordingTables) -> bool:
    """Return whether a recording comes from disk, whose stages are told when they are read."""
    return isinstance(tables.tables if isinstance(tables, Era) else tables, LoadedRecording)


class CachedTables:
    """Reads a table of one subject once; ``release`` gives the memory back when its metrics are done."""

    def __init__(self, tables: RecordingTables) -> None:
        """Keep the recording that is read."""
        self._tables = tables
        self._read: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Table, frozenset[str]]] = {}

    @property
    def manifest(self) -> Recording:
        """Return the manifest."""
        return self._tables.manifest

    def table(
        self, name: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> Table:
        """Return the rows of a table of one subject; see RecordingTables."""
        if where and name in _OF_MANY and set(where) <= _SUBJECTS:
            return self._of_subject(name, columns, where)
        key = (name, tuple(sorted((where or {}).items())))
        found, asked = self._read.get(key, (None, frozenset[str]()))
        if found is None or not asked.issuperset(columns or ()):
            keys = ("boottime_ns", "wall_ns", "boot", *IDENTITY_COLUMNS.get(name, ()))
            wanted = (
                *keys,
                *columns_of(name),
                *_MORE_COLUMNS.get(name, ()),
                *(columns or ()),
                *sorted(asked),
            )
            found = self._keep(key, dict.fromkeys(wanted), where)
        return found

    def _keep(
        self,
        key: tuple[str, tuple[tuple[str, str], ...]],
        wanted: Mapping[str, None],
        where: Mapping[str, str] | None,
    ) -> Table:
        """Read a table and keep it; stages are told from what is kept, not from other readings of the same files."""
        name = key[0]
        told = name == "nodeos" and _is_stored(self._tables)
        names = tuple(column for column in wanted if not (told and column == STAGE))
        found = self._tables.table(name, names, where)
        self._read[key] = found, frozenset(wanted)
        if told and found.rows:
            found = with_stages(found, self, where)
            self._read[key] = found, frozenset(wanted)
        return found

    def _of_subject(self, name: str, columns: Sequence[str] | None, where: Mapping[str, str]) -> Table:
        """Return the rows of one of many subjects, from one reading of the table for all of them."""
        whole = self.table(name, columns)
        keep = np.ones(whole.rows, dtype=np.bool_)
        for column, wanted in where.items():
            texts = whole.texts.get(column)
            keep &= texts == wanted if texts is not None else np.zeros(whole.rows, dtype=np.bool_)
        if keep.all():
            return whole
        at = np.flatnonzero(keep)
        return replace(
            whole,
            rows=int(at.size),
            integers={
                n: replace(c, values=c.values[at], present=c.present[at]) for n, c in whole.integers.items()
            },
            texts={n: t[at] for n, t in whole.texts.items()},
        )

    def release(self, name: str) -> None:
        """Forget what was read of a table, unless findings and starts ask for it again."""
        if name in _ASKED_AGAIN:
            return
        self._read = {key: table for key, table in self._read.items() if key[0] != name}

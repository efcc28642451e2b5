"""A recording whose tables are read once per comparison, each with every column that a comparison asks for."""

from collections.abc import Mapping, Sequence

from leapprof.assess.metrics import columns_of
from leapprof.assess.samples import IDENTITY_COLUMNS, RecordingTables
from leapprof.model import Recording, Table

_MORE_COLUMNS = {"host": ("cpus_online", "file_pmd_mapped_bytes"), "nodeos": ("stage",)}


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
            found = self._tables.table(name, tuple(dict.fromkeys(wanted)), where)
            self._read[key] = found, frozenset(wanted)
        return found

    def release(self, name: str) -> None:
        """Forget what was read of a table."""
        self._read = {key: table for key, table in self._read.items() if key[0] != name}

"""Tables of a recording in memory: integers stay integers, and a missing one is not a number."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One integer column.

    Attributes:
        values: (n,) int64; 0 where not present, never to be used there.
        present: (n,) bool; False where the reading was absent, denied or failed.
    """

    values: NDArray[np.int64]
    present: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """One table of a recording: host, nodeos, device, nodeos_device, chain, thread, smart, latency.

    Attributes:
        name: of the table.
        rows: number of rows; rows of one subject are in the order of time.
        integers: column name → Column. Every table has ``seq``, ``boottime_ns``, ``wall_ns`` and ``boot``
            (counts boots of the host within the recording, from 0), all always present.
        texts: column name → (n,) object array of str or None (``nodeos``, ``device``, ``stage``, ``thread``).
    """

    name: str
    rows: int
    integers: dict[str, Column]
    texts: dict[str, NDArray[np.object_]]

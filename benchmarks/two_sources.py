"""One host seen twice, by leapprof over SSH and by exporters that a Prometheus scrapes: the same means and verdicts?

    python -m benchmarks.two_sources BEFORE AFTER --prometheus http://metrics:9090
    python -m benchmarks.two_sources RECORDING --prometheus http://metrics:9090
    python -m benchmarks.two_sources BEFORE AFTER --openmetrics window.om.gz   # what benchmarks.server_window kept

Of each recording the same stretch is fetched from the server. Means are those of the recording between the first and
the last scrape against those of the scrapes; verdicts, of two recordings, are what `compare` makes of each pair as it
is. A host of the server whose history begins later is compared over what both have.
"""

import argparse
import gzip
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from leapprof.assess.compare import compare
from leapprof.assess.liveness import Stretches
from leapprof.assess.load import LoadedRecording, load
from leapprof.assess.material import CompareOptions
from leapprof.assess.metrics import spec_of
from leapprof.assess.rows import measure_rows
from leapprof.assess.sides import WindowChoice, cut_side
from leapprof.importers.blocks import Imported
from leapprof.importers.prom_access import server_access
from leapprof.importers.prom_server import Server
from leapprof.importers.prom_targets import FetchRequest
from leapprof.importers.prometheus import fetch
from leapprof.importers.recording import write_recording
from leapprof.model import Comparison, DeviceKind, Subject, Topology, Verdict
from leapprof.units import NS_PER_S, format_value
from tests.importers.servers import make_blocks, prometheus

SHORTER_S = 60.0
NOTHING = Stretches(start_s=np.empty(0), end_s=np.empty(0))
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One metric of one subject.

    Attributes:
        own, other: its mean in each recording, as leapprof and as the server has it.
        verdicts: by both ways; None of one recording, and where one way refuses the comparison.
    """

    name: str
    subject: str
    own: tuple[float, ...]
    other: tuple[float, ...]
    verdicts: tuple[Verdict, Verdict] | None

    @property
    def off(self) -> float:
        """Return the largest relative difference of the means; 0 where both are 0."""
        pairs = zip(self.own, self.other, strict=True)
        return max(abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0 for a, b in pairs)


def rows_of(recordings: Sequence[Path], server: Server, directory: Path) -> list[Row]:
    """Return what both sources hold; the server's part is written below a directory."""
    own = [load(path) for path in recordings]
    rows: dict[Key, Row] = {}
    for others in _imports(server, own, directory):
        for row in _rows(own, others):
            rows.setdefault((row.name, row.subject), row)
    return [rows[key] for key in sorted(rows)]


def _rows(own: Sequence[LoadedRecording], others: Sequence[LoadedRecording]) -> Iterator[Row]:
    means = [_means(a, b) for a, b in zip(own, others, strict=True)]
    shortest_s = min(_end_s(one) - _start_s(one) for one in others)
    late = any(_start_s(b) - _start_s(a) > SHORTER_S for a, b in zip(own, others, strict=True))
    options = CompareOptions(window=WindowChoice(last_s=shortest_s) if late else None)
    both = [_verdicts(compare(a, b, options)) for a, b in (own, others)] if len(own) == 2 else None
    for key in means[0]:
        if all(key in of_one for of_one in means):
            own_mean, other_mean = zip(*(of_one[key] for of_one in means), strict=True)
            verdicts = (both[0][key], both[1][key]) if both and key in both[0] and key in both[1] else None
            yield Row(name=key[0], subject=key[1], own=own_mean, other=other_mean, verdicts=verdicts)


def _means(own: LoadedRecording, other: LoadedRecording) -> dict[Key, tuple[float, float]]:
    """Return the means of what both hold of the stretch between the first and the last scrape.

    Nothing of it is left out: only the recording knows when nodeos was not at the head.
    """
    start_s = _start_s(own)
    choice = WindowChoice(from_s=max(_start_s(other) - start_s, 0.0), to_s=_end_s(other) - start_s)
    mine, theirs = _whole(own, choice), _whole(other, WindowChoice(from_s=0.0))
    return {key: (mine[key], theirs[key]) for key in mine if key in theirs}


def _whole(recording: LoadedRecording, choice: WindowChoice) -> dict[Key, float]:
    side = replace(cut_side(recording, "before", choice), left_out=NOTHING)
    return {
        _key(row.spec.name, row.subject): row.before.estimate.mean
        for row in measure_rows(side, side)
        if row.before is not None
    }


def _key(name: str, subject: Subject) -> Key:
    return name, subject.device or (subject.nodeos or "").removeprefix("nodeos-")


def _imports(
    server: Server, own: Sequence[LoadedRecording], directory: Path
) -> Iterator[tuple[LoadedRecording, ...]]:
    """Yield the server's recordings of each host that it has in the stretches of all of ours."""
    found: dict[str, list[LoadedRecording]] = {}
    for one in own:
        request = FetchRequest(selector="", start_s=int(_start_s(one)), end_s=int(_end_s(one)) + 1)
        for imported in fetch(server, request):
            shown = replace(imported, topology=_with_loops(imported))
            path = write_recording(shown, directory, phase=one.manifest.phase, command="")
            found.setdefault(imported.host.name, []).append(load(path))
    yield from (tuple(parts) for parts in found.values() if len(parts) == len(own))


def _with_loops(imported: Imported) -> Topology:
    """Return its devices with loop devices as drives: no exporter says that state lies on them, and here it does."""
    devices = (
        replace(device, kind=DeviceKind.VIRTUAL) if device.kind is DeviceKind.LOOP else device
        for device in imported.topology.devices
    )
    return Topology(devices=tuple(devices))


def _start_s(recording: LoadedRecording) -> float:
    return (recording.manifest.started_wall_ns or 0) / NS_PER_S


def _end_s(recording: LoadedRecording) -> float:
    return (recording.manifest.ended_wall_ns or 0) / NS_PER_S


def _verdicts(comparison: Comparison) -> dict[Key, Verdict]:
    return {_key(m.name, m.subject): m.verdict for m in comparison.metrics if m.refused is None}


def table(rows: Sequence[Row]) -> str:
    """Return the rows as Markdown."""
    lines = ["| metric | over SSH | by Prometheus | off by | verdicts |", "|---|---|---|---|---|"]
    for row in rows:
        own, other = (
            ", ".join(format_value(mean, spec_of(row.name).unit) for mean in side)
            for side in (row.own, row.other)
        )
        verdicts = " / ".join(dict.fromkeys(row.verdicts or ()))
        name = f"`{row.name}` {row.subject}".rstrip()
        lines.append(f"| {name} | {own} | {other} | {100 * row.off:.2f} % | {verdicts} |")
    return "\n".join(lines)


@contextmanager
def served(file: Path, directory: Path) -> Iterator[str]:
    """Yield the URL of a Prometheus that holds what benchmarks.server_window kept."""
    text = gzip.decompress(file.read_bytes()).decode()
    with prometheus(directory / "server", blocks=make_blocks(text, directory)) as url:
        yield url


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("recordings", nargs="+", type=Path)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--prometheus", metavar="URL")
    source.add_argument("--openmetrics", type=Path, metavar="FILE")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="leapprof-two-sources-") as name, ExitStack() as stack:
        directory = Path(name)
        url = asked.prometheus or stack.enter_context(served(asked.openmetrics, directory))
        server = stack.enter_context(Server(server_access(url, {})))
        print(table(rows_of(asked.recordings, server, directory)))


if __name__ == "__main__":
    main()

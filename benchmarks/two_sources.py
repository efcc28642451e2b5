"""One host seen twice, by leapprof over SSH and by exporters that a Prometheus scrapes: the same means and verdicts?

    python -m benchmarks.two_sources BEFORE AFTER --prometheus http://metrics:9090
    python -m benchmarks.two_sources RECORDING --prometheus http://metrics:9090

Of each recording the same stretch is fetched from the server. Means are those of the recording between the first and
the last scrape against those of the scrapes; verdicts, of two recordings, are what `compare` makes of each pair as it
is. A host of the server whose history begins later is compared over what both have.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from leapprof.assess.compare import compare
from leapprof.assess.load import LoadedRecording, load
from leapprof.assess.material import CompareOptions
from leapprof.assess.sides import WindowChoice
from leapprof.importers.blocks import Imported
from leapprof.importers.prom_access import server_access
from leapprof.importers.prom_server import Server
from leapprof.importers.prom_targets import FetchRequest
from leapprof.importers.prometheus import fetch
from leapprof.importers.recording import write_recording
from leapprof.model import Comparison, DeviceKind, MetricComparison, Topology, Verdict
from leapprof.units import NS_PER_S, format_value

SHORTER_S = 60.0
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One metric of one subject.

    Attributes:
        own, other: its mean in each recording, as leapprof and as the server has it.
        verdicts: by both ways; None of one recording.
    """

    name: str
    subject: str
    unit: str
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
    both = [_metrics(compare(a, b, options)) for a, b in (own, others)] if len(own) == 2 else None
    for key in means[0]:
        if all(key in of_one for of_one in means):
            first = means[0][key][0]
            yield Row(
                name=key[0],
                subject=key[1],
                unit=first.unit,
                own=tuple(_mean(of_one[key][0]) for of_one in means),
                other=tuple(_mean(of_one[key][1]) for of_one in means),
                verdicts=(both[0][key].verdict, both[1][key].verdict) if both else None,
            )


def _means(
    own: LoadedRecording, other: LoadedRecording
) -> dict[Key, tuple[MetricComparison, MetricComparison]]:
    """Return what both hold of the stretch between the first and the last scrape."""
    start_s = _start_s(own)
    choice = WindowChoice(from_s=max(_start_s(other) - start_s, 0.0), to_s=_end_s(other) - start_s)
    mine = _metrics(compare(own, own, CompareOptions(across=True, window=choice)))
    theirs = _metrics(compare(other, other, CompareOptions(across=True, window=WindowChoice(from_s=0.0))))
    return {key: (mine[key], theirs[key]) for key in mine if key in theirs}


def _mean(metric: MetricComparison) -> float:
    assert metric.before is not None
    return metric.before.mean


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


def _metrics(comparison: Comparison) -> dict[Key, MetricComparison]:
    return {
        (m.name, m.subject.device or (m.subject.nodeos or "").removeprefix("nodeos-")): m
        for m in comparison.metrics
        if m.before is not None and m.after is not None
    }


def table(rows: Sequence[Row]) -> str:
    """Return the rows as Markdown."""
    lines = ["| metric | over SSH | by Prometheus | off by | verdicts |", "|---|---|---|---|---|"]
    for row in rows:
        own, other = (
            ", ".join(format_value(mean, row.unit) for mean in side) for side in (row.own, row.other)
        )
        verdicts = " / ".join(dict.fromkeys(row.verdicts or ()))
        name = f"`{row.name}` {row.subject}".rstrip()
        lines.append(f"| {name} | {own} | {other} | {100 * row.off:.2f} % | {verdicts} |")
    return "\n".join(lines)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("recordings", nargs="+", type=Path)
    parser.add_argument("--prometheus", required=True)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="leapprof-two-sources-") as name,
        Server(server_access(asked.prometheus, {})) as server,
    ):
        print(table(rows_of(asked.recordings, server, Path(name))))


if __name__ == "__main__":
    main()

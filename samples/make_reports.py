"""Makes reports/ from samples/: python -m samples.make_reports [DIRECTORY]. The same input gives the same bytes."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from leapprof.assess.compare import compare, compare_cut
from leapprof.assess.control import with_neighbour
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.assess.pairs import compare_pairs
from leapprof.model import Comparison, MetricComparison, PublishedFigure
from leapprof.report import Format, write
from leapprof.units import NS_PER_S, format_bytes_per_s, format_tb_per_year, significant

HERE = Path(__file__).parent
REPORTS = HERE.parent / "reports"
FORMATS = frozenset({Format.HTML, Format.MD, Format.JSON})
EOS_CHANGE_NS = int(datetime(2024, 1, 22, 20, tzinfo=UTC).timestamp()) * NS_PER_S


def _pair(before: str, after: str, *, across: bool = False) -> Comparison:
    repeat = f"leapprof compare samples/{before} samples/{after}" + (" --across" if across else "")
    return compare(load(HERE / before), load(HERE / after), CompareOptions(across=across, repeat=(repeat,)))


def _alternating(*names: str) -> Comparison:
    repeat = "leapprof compare --pairs " + " ".join(f"samples/{name}" for name in names)
    return compare_pairs([load(HERE / name) for name in names], CompareOptions(repeat=(repeat,)))


def _cut(recording: str, change_ns: int, change: str) -> Comparison:
    repeat = f"leapprof compare samples/{recording} --change-at {change}"
    return compare_cut(load(HERE / recording), change_ns, CompareOptions(repeat=(repeat,)))


def _metric(comparison: Comparison, name: str, device: str | None = None) -> MetricComparison:
    found = (
        m for m in comparison.metrics if m.name == name and (device is None or m.subject.device == device)
    )
    return next(found)


def _percent(metric: MetricComparison) -> str:
    assert metric.before is not None
    assert metric.after is not None
    return f"{significant(metric.before.mean)} % → {significant(metric.after.mean)} %"


def _two_hours() -> Comparison:
    folder, control = "standin-two-hours", "b"
    comparison = with_neighbour(_pair(f"{folder}/before", f"{folder}/after"), control)
    repeat = f"leapprof compare samples/{folder}/before samples/{folder}/after --control-nodeos {control}"
    return replace(comparison, repeat=(*comparison.repeat[:-1], repeat))


def _eos_month() -> Comparison:
    comparison = _cut("eosphere/month", EOS_CHANGE_NS, "2024-01-22T20:00:00Z")
    cpu = _metric(comparison, "host.cpu_percent")
    figures = (
        PublishedFigure(
            what="CPU, share of four cores, EOS",
            published="85 % → 60 %",
            ours=_percent(cpu),
            why_different="rebuilt from the published levels, so they come back; the map mode was not stated",
        ),
        PublishedFigure(
            what="how sure",
            published="not stated",
            ours=f"{cpu.verdict} ({cpu.grade})",
            why_different="one node, one change, other changes at the same time not excluded",
        ),
    )
    return replace(comparison, published=figures)


def _eos_drive() -> Comparison:
    comparison = _pair("eosphere/drive-mapped", "eosphere/drive-mapped_private")
    (row,) = [w for w in comparison.wear if w.device == "vda"]
    assert row.before is not None
    assert row.after is not None
    figures = (
        PublishedFigure(
            what="writes to drive 1",
            published="4 MB/s → 12 kB/s",
            ours=f"{format_bytes_per_s(row.before.bytes_per_s)} → {format_bytes_per_s(row.after.bytes_per_s)}",
            why_different="rebuilt from the published rates; warm-up is left out",
        ),
        PublishedFigure(
            what="TB written a year, before",
            published="about 120 TBW",
            ours=format_tb_per_year(row.before.tb_per_year),
            why_different="4 MB/s is 126 decimal TB in 365 days; 120 comes out only of 4 MiB/s counted in TiB",
        ),
        PublishedFigure(
            what="TB written a year, after",
            published="0.378 TBW",
            ours=format_tb_per_year(row.after.tb_per_year),
            why_different="12 kB/s is 0.378 decimal TB in 365 days: this one was counted in decimal units",
        ),
        PublishedFigure(
            what="what a stop adds",
            published="the exit writes the state; bytes not stated",
            ours="not measured",
            why_different="no stop lies in these recordings; one of a real nodeos wrote 2.1 GB",
        ),
    )
    return replace(comparison, published=figures)


def _wax() -> Comparison:
    comparison = _pair("wax/before", "wax/after")
    cpu = _metric(comparison, "host.cpu_percent")
    figures = (
        PublishedFigure(
            what="CPU, share of four cores, WAX",
            published="40 % → 55 %",
            ours=_percent(cpu),
            why_different="rebuilt from the published levels, so they come back",
        ),
        PublishedFigure(
            what="what raised it",
            published="not known: three thread options were changed with the upgrade",
            ours=f"{cpu.verdict} ({cpu.grade}), confounded by config",
            why_different="the options are named; only a recording with one of both changed can tell",
        ),
    )
    return replace(comparison, published=figures)


PLANTED = {
    "request": "requests to a server that answers sooner afterwards",
    "rtt": "round trips through one network, twice",
    "stream": "blocks of a server that sends them more punctually afterwards",
    "forward": "a relay of UDP that holds packets for less afterwards",
}
"""Probe of samples/latency → title of its report."""


def _latency(probe: str) -> Comparison:
    return replace(_pair(f"latency/{probe}/before", f"latency/{probe}/after"), title=PLANTED[probe])


def _temporal() -> Comparison:
    comparison = _pair("temporal/self-hosted", "temporal/cloud", across=True)
    median, high = (_metric(comparison, f"latency.histogram.{name}_s") for name in ("p50", "p90"))
    width = "rebuilt from these figures; interpolated inside one bucket each, whose ends are the interval"
    figures = (
        PublishedFigure(
            what="workflow end to end, p50, self-hosted and cloud",
            published="750 ms and 376 ms, 50.1 %",
            ours=_delays(median),
            why_different=width,
        ),
        PublishedFigure(
            what="workflow end to end, p90, self-hosted and cloud",
            published="950 ms and 476 ms, 50.1 %",
            ours=_delays(high),
            why_different=width,
        ),
        PublishedFigure(
            what="how sure",
            published="not stated",
            ours="500 to 1000 ms against 250 to 500 ms is all that such buckets tell",
            why_different="750 and 950 ms come out when all calls are in a bucket from 500 to 1000 ms, 376 and 476 "
            "when 99.5 % are in one from 250 to 500 ms: equal ratios are those of the buckets",
        ),
    )
    return replace(comparison, published=figures)


def _delays(metric: MetricComparison) -> str:
    assert metric.before is not None
    assert metric.after is not None
    before_s, after_s = metric.before.mean, metric.after.mean
    share = significant(100 * after_s / before_s)
    return f"{significant(before_s * 1000)} ms and {significant(after_s * 1000)} ms, {share} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCase:
    """One report: its folder below reports/ and how it is made."""

    folder: str
    make: Callable[[], Comparison]


CASES = (
    ReportCase(
        folder="nodeos-v5-long",
        make=lambda: _pair("nodeos-v5-long/mapped", "nodeos-v5-long/mapped_private", across=True),
    ),
    ReportCase(
        folder="nodeos-v5-starts",
        make=lambda: _pair("nodeos-v5-starts/mapped", "nodeos-v5-starts/mapped_private", across=True),
    ),
    ReportCase(folder="nodeos-v5", make=lambda: _pair("nodeos-v5/mapped", "nodeos-v5/mapped_private")),
    ReportCase(
        folder="nodeos-v5-folios", make=lambda: _pair("nodeos-v5/mapped", "nodeos-v5/mapped-4k-folios")
    ),
    ReportCase(folder="nodeos-v4", make=lambda: _pair("nodeos-v4/mapped", "nodeos-v4/heap")),
    ReportCase(
        folder="standin-abab",
        make=lambda: _alternating(
            "standin-abab/1-mapped",
            "standin-abab/2-mapped_private",
            "standin-abab/3-mapped",
            "standin-abab/4-mapped_private",
        ),
    ),
    ReportCase(folder="standin-two-hours", make=_two_hours),
    ReportCase(
        folder="standin-side-by-side",
        make=lambda: _pair("standin-side-by-side/mapped", "standin-side-by-side/mapped_private", across=True),
    ),
    ReportCase(
        folder="standin-side-by-side-same",
        make=lambda: _pair(
            "standin-side-by-side/mapped_private", "standin-side-by-side/mapped_private-again", across=True
        ),
    ),
    ReportCase(
        folder="standin-same-private",
        make=lambda: _pair("standin-abab/2-mapped_private", "standin-abab/4-mapped_private"),
    ),
    ReportCase(
        folder="standin-same-mapped", make=lambda: _pair("standin-abab/1-mapped", "standin-abab/3-mapped")
    ),
    ReportCase(folder="eosphere-cpu", make=_eos_month),
    ReportCase(folder="eosphere-drive", make=_eos_drive),
    ReportCase(folder="wax-cpu", make=_wax),
    ReportCase(
        folder="eosphere-memory",
        make=lambda: _pair("eosphere/memory-first-start", "eosphere/memory-second-start", across=True),
    ),
    ReportCase(folder="temporal", make=_temporal),
    *(ReportCase(folder=f"latency-{probe}", make=partial(_latency, probe)) for probe in PLANTED),
)


def main() -> None:
    """Make all reports anew."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else REPORTS
    for case in CASES:
        folder = target / case.folder
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        for path in write(case.make(), folder, FORMATS, public=False):
            sys.stdout.write(f"{path.relative_to(target)}\n")


if __name__ == "__main__":
    main()

"""Compares the pairs of a run, judges the expectations, writes a report a pair and a summary of all."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from leapprof.assess.compare import compare
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.assess.pairs import combined
from leapprof.assess.sides import WindowChoice
from leapprof.config.playbook import expectations_of
from leapprof.config.playbook_schema import Playbook
from leapprof.errors import StoreError
from leapprof.experiment.judge import judge, worst
from leapprof.experiment.pairs import Pair, pairs_of
from leapprof.experiment.runlog import REPORTS
from leapprof.experiment.steps import safe_name
from leapprof.model import Comparison, ExpectationResult, Outcome
from leapprof.report import Format, write
from leapprof.report.public import publish

SUMMARY = "summary"
FORMAT = 1
_EXIT_CODES = {Outcome.MET: 0, Outcome.NOT_MET: 12, Outcome.CANNOT_TELL: 13}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """One pair, compared."""

    pair: Pair
    results: tuple[ExpectationResult, ...]
    headline: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What the whole run says; outcome None without expectations."""

    pairs: tuple[PairResult, ...]
    outcome: Outcome | None
    summary: Path

    @property
    def exit_code(self) -> int:
        """Return 0, 12 or 13."""
        return 0 if self.outcome is None else _EXIT_CODES[self.outcome]


def write_reports(
    directory: Path, playbook: Playbook, recordings: Sequence[Mapping[str, str]], run_id: str
) -> RunResult:
    """Write all reports into ``report/``, whole or not at all: a partial one of a killed run is replaced.

    Args:
        directory: of the run.
        playbook: of the run.
        recordings: host → recording, one mapping a period.
        run_id: for the titles.

    Raises:
        NotEnoughDataError, StoreError: a recording cannot be compared, or the disk refuses.
    """
    partial, final = directory / f"{REPORTS}.part", directory / REPORTS
    try:
        for old in (partial, final):
            shutil.rmtree(old, ignore_errors=True)
        partial.mkdir()
        pairs = _named(playbook, pairs_of(playbook, recordings))
        compared = {pair.name: _compared(directory, playbook, pair, run_id) for pair in pairs}
        found = [_write_pair(partial, playbook, pair, _with_control(pair, pairs, compared)) for pair in pairs]
        found += [
            _write_pair(partial, playbook, *whole) for whole in _alternations(playbook, pairs, compared)
        ]
        outcome = _outcome(playbook, found)
        _write_summary(partial, playbook, found, outcome)
        partial.rename(final)
        _sync(directory)
    except OSError as error:
        raise StoreError(str(final), error.strerror or str(error)) from error
    return RunResult(pairs=tuple(found), outcome=outcome, summary=final / f"{SUMMARY}.md")


def _named(playbook: Playbook, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return pairs whose names, which become folders and headings, tell no host where the report is public."""
    if not playbook.report.public:
        return tuple(pairs)
    return tuple(replace(pair, name=f"pair-{number}") for number, pair in enumerate(pairs, 1))


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _compared(directory: Path, playbook: Playbook, pair: Pair, run_id: str) -> Comparison:
    options = CompareOptions(
        title=f"{playbook.title}: {pair.name}{' (control)' if pair.is_control else ''}",
        window=WindowChoice(from_s=playbook.phase.warm_up),
        across=playbook.design == "crossover",
        repeat=(
            f"leapprof run PLAYBOOK   # run {run_id}",
            f"leapprof compare {pair.before} {pair.after} --window {playbook.phase.warm_up:g}s..",
        ),
    )
    comparison = compare(load(directory / pair.before), load(directory / pair.after), options)
    if pair.is_control:
        return comparison
    return _judged(playbook, pair, comparison)


def _judged(playbook: Playbook, pair: Pair, comparison: Comparison) -> Comparison:
    """Return a comparison with the expectations about hosts, or about its probe."""
    about = (e for e in expectations_of(None, playbook) if e.probe == pair.probe)
    return replace(comparison, expectations=tuple(judge(expectation, comparison) for expectation in about))


def _alternations(
    playbook: Playbook, pairs: Sequence[Pair], compared: Mapping[str, Comparison]
) -> Iterator[tuple[Pair, Comparison]]:
    """Yield for each probe of alternating phases all its pairs together: how runs differ stands beside the delays."""
    for probe in playbook.probes:
        mine = [pair for pair in pairs if pair.host == probe.label and pair.probe]
        if len(mine) > 1:
            pair = replace(mine[-1], name=f"{safe_name(probe.label)}-all", before=mine[0].before)
            whole = combined([compared[one.name] for one in mine])
            yield pair, _judged(playbook, pair, replace(whole, title=f"{playbook.title}: {pair.name}"))


def _with_control(pair: Pair, pairs: Sequence[Pair], compared: Mapping[str, Comparison]) -> Comparison:
    """Return a pair's comparison with what happened on the control hosts in the same two periods."""
    controls = [
        p for p in pairs if p.is_control and not pair.is_control and set(p.periods) == set(pair.periods)
    ]
    if not controls:
        return compared[pair.name]
    texts = {
        f"{control.host}, {metric.name}": f"{metric.verdict}: {metric.reason}"
        for control in controls
        for metric in compared[control.name].metrics
        if metric.name in ("nodeos.cpu_cores", "host.cpu_percent", "chain.transactions_per_s")
    }
    return replace(compared[pair.name], control={**(compared[pair.name].control or {}), **texts})


def _write_pair(partial: Path, playbook: Playbook, pair: Pair, comparison: Comparison) -> PairResult:
    """Write the report of a pair; what the summary says of it is as public as the report."""
    formats = frozenset(Format(name) for name in playbook.report.formats)
    paths = write(comparison, partial / pair.name, formats, public=playbook.report.public)
    shown = publish(comparison) if playbook.report.public else comparison
    return PairResult(
        pair=pair,
        results=shown.expectations,
        headline=shown.headline,
        files=tuple(str(path.relative_to(partial)) for path in paths),
    )


def _outcome(playbook: Playbook, found: Sequence[PairResult]) -> Outcome | None:
    if not playbook.expectations:
        return None
    judged = [result.outcome for pair in found for result in pair.results]
    return worst(judged) if judged else Outcome.CANNOT_TELL


def summary_lines(
    playbook: Playbook, found: Sequence[PairResult], outcome: Outcome | None
) -> tuple[str, ...]:
    """Return the summary of a run as Markdown: expectations first. Pure."""
    lines = [f"# {playbook.title}", ""]
    if outcome is not None:
        lines += [f"**Expectations: {outcome.value}.**", ""]
    for pair in found:
        kind = " (control, left alone)" if pair.pair.is_control else ""
        lines += [f"## {pair.pair.name}{kind}", ""]
        for result in pair.results:
            subject = f"[{result.subject}]" if result.subject else ""
            lines.append(
                f"- {result.outcome.value}: `{result.metric}{subject}: {result.text}` {result.reason}"
            )
        lines += [f"- {sentence}" for sentence in pair.headline]
        pages = [file for file in pair.files if file.endswith((".html", ".md"))]
        lines += [f"- [{file}]({file})" for file in pages[:1]]
        lines.append("")
    return tuple(lines)


def _write_summary(
    partial: Path, playbook: Playbook, found: Sequence[PairResult], outcome: Outcome | None
) -> None:
    text = "\n".join(summary_lines(playbook, found, outcome)) + "\n"
    (partial / f"{SUMMARY}.md").write_text(text, encoding="utf-8", errors="backslashreplace")
    rows = [
        {
            "name": pair.pair.name,
            "is_control": pair.pair.is_control,
            "before": pair.pair.before if not playbook.report.public else None,
            "after": pair.pair.after if not playbook.report.public else None,
            "expectations": [asdict(result) for result in pair.results],
            "headline": list(pair.headline),
            "files": list(pair.files),
        }
        for pair in found
    ]
    document = {
        "format": FORMAT,
        "title": playbook.title,
        "design": playbook.design,
        "outcome": None if outcome is None else outcome.value,
        "pairs": rows,
    }
    (partial / f"{SUMMARY}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

"""Which of the nodeos that a survey found the operator means, for selectors that an agent cannot match itself. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from leapprof.config.selector import AGENT_KINDS
from leapprof.ingest.processes import UNNAMED_MATCH
from leapprof.ingest.survey import Survey
from leapprof.model import Finding, Nodeos, Severity
from leapprof.model.access import NodeosSelector

PROGRAM = "nodeos"
SURVEY_SELECTORS = (
    NodeosSelector(id=UNNAMED_MATCH, kind="exe_name", value=PROGRAM),
    # nodeos names its main thread itself, so a renamed program is still found (programs/nodeos/main.cpp)
    NodeosSelector(id=UNNAMED_MATCH, kind="comm", value=PROGRAM),
    NodeosSelector(id=UNNAMED_MATCH, kind="cmdline", value="leapprof.standin"),
)


def survey_selectors(selectors: Sequence[NodeosSelector]) -> tuple[NodeosSelector, ...]:
    """Return what an agent is to look for so that every selector finds its nodeos in the survey."""
    if not selectors:
        return SURVEY_SELECTORS
    own = tuple(s for s in selectors if s.kind in AGENT_KINDS)
    if len(own) == len(selectors):
        return own
    by_directory = tuple(
        NodeosSelector(id=UNNAMED_MATCH, kind="cmdline", value=s.value)
        for s in selectors
        if s.kind == "data-dir"
    )
    return (*own, *by_directory, *SURVEY_SELECTORS)


def pid_files(selectors: Sequence[NodeosSelector]) -> tuple[str, ...]:
    """Return the pid files to read."""
    return tuple(s.value for s in selectors if s.kind == "pid-file")


def select(
    survey: Survey, selectors: Sequence[NodeosSelector], texts: Mapping[str, str]
) -> tuple[Survey, tuple[Finding, ...]]:
    """Return the survey with the chosen nodeos alone, under the selectors' names, and what could not be found.

    Args:
        survey: with its answers.
        selectors: of the operator; without one of a survey's kinds everything stays.
        texts: section → text of the first answer, for pid files.
    """
    if all(s.kind in AGENT_KINDS for s in selectors):
        return survey, ()
    names: dict[str, str] = {}
    findings = []
    for selector in selectors:
        chosen = [n for n in survey.nodeos if n.id not in names and _fits(selector, n, texts)]
        if not chosen:
            findings.append(_none(selector, survey.nodeos))
        for number, nodeos in enumerate(chosen, 1):
            names[nodeos.id] = selector.id if number == 1 else f"{selector.id}-{number}"
    return _renamed(survey, names), tuple(findings)


def _fits(selector: NodeosSelector, nodeos: Nodeos, texts: Mapping[str, str]) -> bool:
    value = selector.value
    if selector.kind == "name":
        return nodeos.id == value
    if selector.kind == "data-dir":
        return (nodeos.data_dir or "").rstrip("/") == value.rstrip("/")
    if selector.kind == "port":
        return (nodeos.http_address or "").rpartition(":")[2] == value
    if selector.kind == "pid-file":
        return texts.get(value, "").strip() == str(nodeos.pid)
    return nodeos.id == selector.id  # an agent's kind: the survey has named it so


def _none(selector: NodeosSelector, found: Sequence[Nodeos]) -> Finding:
    there = ", ".join(f"{n.id} (pid {n.pid})" for n in found) or "none at all"
    return Finding(
        code="selector-finds-none",
        severity=Severity.WARNING,
        message=f"no nodeos fits {selector.kind}:{selector.value}; found: {there}",
        hint="`leapprof doctor` without --nodeos lists each nodeos with its name, directories and port",
        subject=selector.id,
    )


def _renamed(survey: Survey, names: Mapping[str, str]) -> Survey:
    """Return the survey with the named nodeos alone."""
    kept = [(n, p) for n, p in zip(survey.nodeos, survey.found, strict=True) if n.id in names]
    gone = {n.id for n in survey.nodeos} - set(names)

    def is_kept(reading: str) -> bool:
        return not any(f"/{one}/" in reading for one in gone)

    def renamed(text: str, mark: str) -> str:
        for before, after in names.items():
            for scope in ("nodeos", "child", "cgroup"):
                start = f"{scope}{mark}{before}{mark}"
                if text.startswith(start):
                    return f"{scope}{mark}{after}{mark}{text[len(start) :]}"
        return text

    facts = {
        renamed(name, "."): value
        for name, value in survey.host.facts.items()
        if not any(name.startswith(f"nodeos.{one}.") for one in gone)
    }
    return replace(
        survey,
        host=replace(survey.host, facts=facts),
        nodeos=tuple(replace(n, id=names[n.id]) for n, _ in kept),
        found=tuple(replace(p, id=names[p.id]) for _, p in kept),
        denied=tuple(sorted(renamed(r, "/") for r in survey.denied if is_kept(r))),
        absent=tuple(sorted(renamed(r, "/") for r in survey.absent if is_kept(r))),
    )

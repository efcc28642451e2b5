"""Judges a config.ini for a version of nodeos, and for a host: rules as rows."""

from collections.abc import Sequence

from leapprof.model import Finding, Severity
from leapprof.nodeos.grammar import Config
from leapprof.nodeos.host_facts import HostFacts
from leapprof.nodeos.options import OptionTable, load_tables, table_for
from leapprof.nodeos.rules import conflicts, host, memory, names, running, settings
from leapprof.nodeos.rules.rule import Case, Hit, Rule
from leapprof.nodeos.versions import Version

__all__ = ["RULES", "Case", "Hit", "Rule", "check_config", "would_start"]

RULES: tuple[Rule, ...] = (
    *names.RULES,
    *settings.RULES,
    *conflicts.RULES,
    *memory.RULES,
    *running.RULES,
    *host.RULES,
)


def check_config(
    config: Config,
    target: Version,
    *,
    source: Version | None = None,
    facts: HostFacts | None = None,
    tables: Sequence[OptionTable] | None = None,
) -> tuple[Finding, ...]:
    """Return the findings about a config.ini, in the order of its lines, those without a line last.

    Args:
        config: as parsed.
        target: version that is to start with it.
        source: version that it comes from, to find defaults that change silently.
        facts: of the host; without them the rules about the host are silent.
        tables: option tables of all versions, instead of the package's own.

    Raises:
        ValueError: there is no option table for the target or the source.
    """
    history = tuple(load_tables() if tables is None else tables)
    case = Case(
        config=config,
        table=table_for(target, history),
        history=history,
        source=None if source is None else table_for(source, history),
        host=HostFacts() if facts is None else facts,
    )
    found = [*config.findings, *(finding for rule in RULES for finding in rule.findings(case))]
    return tuple(sorted(found, key=_place))


def would_start(findings: Sequence[Finding]) -> bool:
    """Return whether nodeos would start: nothing found is an error."""
    return all(finding.severity is not Severity.ERROR for finding in findings)


def _place(finding: Finding) -> tuple[bool, int, str, str]:
    return (finding.line is None, finding.line or 0, finding.code, finding.option or "")

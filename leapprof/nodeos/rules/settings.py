"""Rules about single values: their type, their range, their default, and what changed silently.

Sources: option tables; values.py for how nodeos reads; start-up assertions of chain_plugin, net_plugin,
http_plugin, producer_plugin, state_history_plugin and resource_monitor_plugin (Leap 3.1 to Spring 1.2).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from leapprof.model import Severity
from leapprof.nodeos.explain import MOVES_NOTHING, group_of
from leapprof.nodeos.options import Option
from leapprof.nodeos.privacy import SECRET_OPTIONS, shown_value
from leapprof.nodeos.rules.rule import Case, Hit, Rule
from leapprof.nodeos.values import read_value
from leapprof.nodeos.versions import parse_version


def _values_with(code: str) -> Callable[[Case], Iterator[Hit]]:
    def applies(case: Case) -> Iterator[Hit]:
        for entry, option, read in case.known:
            if read.code == code and option.name not in SECRET_OPTIONS:
                problem = read.problem + _since_when(case, entry.name, entry.value)
                words = {"shown": shown_value(entry.name, entry.value), "problem": problem}
                yield Hit(line=entry.line, option=entry.name, words=words)

    return applies


def _since_when(case: Case, name: str, value: str) -> str:
    """Return which releases have a word that the target has not; empty when none has."""
    having = [t.release for t in case.history if name in t.options and value in t.options[name].values]
    return f" ({', '.join(having)} have it)" if having else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Values that nodeos asserts at start, beyond the type; both ends are allowed."""

    option: str
    low: int
    high: int
    source: str
    since: str = ""
    until: str = ""


_MAX_UINT16, _MAX_UINT32, _MAX_UINT64 = 2**16 - 1, 2**32 - 1, 2**64 - 1
_MAX_STATE_MIB = 8 * 2**20
_MAX_INT64 = 2**63 - 1
_MAX_MB = _MAX_INT64 // 2**20 - 1

RANGES = (
    Range(option="chain-threads", low=1, high=_MAX_UINT16, source="chain_plugin"),
    Range(option="net-threads", low=1, high=_MAX_UINT16, source="net_plugin"),
    Range(option="http-threads", low=1, high=_MAX_UINT16, source="http_plugin"),
    Range(option="http-max-bytes-in-flight-mb", low=-1, high=_MAX_MB, source="http_plugin", since="leap-3.1"),
    Range(
        option="http-max-response-time-ms", low=-1, high=_MAX_INT64, source="http_plugin", since="leap-3.2"
    ),
    Range(option="producer-threads", low=1, high=_MAX_UINT16, source="producer_plugin"),
    Range(option="eos-vm-oc-compile-threads", low=1, high=_MAX_UINT64, source="chain_plugin"),
    Range(option="signature-cpu-billable-pct", low=0, high=100, source="chain_plugin"),
    Range(option="read-only-read-window-time-us", low=10_001, high=_MAX_UINT32, source="producer_plugin"),
    Range(option="read-only-threads", low=0, high=8, source="producer_plugin", until="leap-5.0"),
    Range(option="read-only-threads", low=0, high=128, source="producer_plugin", since="leap-5.0"),
    Range(
        option="state-history-log-retain-blocks", low=1000, high=_MAX_UINT32, source="state_history_plugin"
    ),
    Range(option="resource-monitor-interval-seconds", low=1, high=300, source="resource_monitor_plugin"),
    Range(option="resource-monitor-space-threshold", low=6, high=99, source="resource_monitor_plugin"),
    Range(option="resource-monitor-warning-interval", low=1, high=450, source="resource_monitor_plugin"),
    Range(
        option="chain-state-db-size-mb", low=1, high=_MAX_STATE_MIB, source="chain_plugin", since="leap-5.0"
    ),
)


ON_DEMAND = frozenset({"state_history_plugin"})
"""Plugins that nodeos starts only when asked to (programs/nodeos/main.cpp): without, nobody reads their options."""


def _out_of_range(case: Case) -> Iterator[Hit]:
    for row in RANGES:
        if row.since and case.version.order < parse_version(row.since).order:
            continue
        if row.until and case.version.order >= parse_version(row.until).order:
            continue
        if row.source in ON_DEMAND and row.source not in case.plugins:
            continue
        value = case.number(row.option)
        if case.has(row.option) and value is not None and not row.low <= value <= row.high:
            words: dict[str, object] = {"value": value, "low": row.low, "high": row.high, "where": row.source}
            yield Hit(line=case.line(row.option), option=row.option, words=words)


def _restated(case: Case) -> Iterator[Hit]:
    names = [
        entry.name
        for entry, option, read in case.known
        if read.value is not None
        and option.default is not None
        and option.name not in SECRET_OPTIONS
        and len(case.by_name[entry.name]) == 1
        and read_value(option, option.default).value == read.value
    ]
    if names:
        more = len(names) - MAX_LISTED
        listed = ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
        yield Hit(line=case.line(names[0]), words={"names": listed})


MAX_LISTED = 12


# The third field of an endpoint caps its sync rate, and 0 is no cap: the same as the two fields before it.
_SAME_MEANING = frozenset({("0.0.0.0:9876", "0.0.0.0:9876:0"), ("0.0.0.0:9876:0", "0.0.0.0:9876")})


def _differing_defaults(case: Case) -> Iterator[tuple[Option, Option]]:
    if case.source is None:
        return
    for name, after in case.table.options.items():
        before = case.source.options.get(name)
        if before is None or name in case.by_name or name in SECRET_OPTIONS:
            continue
        if before.default != after.default and (before.default, after.default) not in _SAME_MEANING:
            yield before, after


def _changed_defaults(*, moving: bool) -> Callable[[Case], Iterator[Hit]]:
    def applies(case: Case) -> Iterator[Hit]:
        for before, after in _differing_defaults(case):
            group = group_of(after.name)
            if (group != MOVES_NOTHING) is moving:
                assert case.source is not None
                words: dict[str, object] = {
                    "source": case.source.release,
                    "before": _shown_default(before),
                    "after": _shown_default(after),
                    "group": group.replace("_", " "),
                    "advice": _keep_advice(before),
                }
                yield Hit(option=after.name, words=words)

    return applies


def _shown_default(option: Option) -> str:
    return "none" if option.default is None else option.default


def _keep_advice(before: Option) -> str:
    return "Set it" if before.default is None else f"Set it to {before.default} to compare like with like"


def _rule(code: str, severity: Severity, message: str, hint: str) -> Rule:
    return Rule(
        code=code,
        severity=severity,
        applies=_values_with(code),
        message=message,
        hint=hint,
        source="boost program_options, tried",
    )


_PROBLEM = "{option} = {shown} {problem}."

RULES = (
    _rule("value-empty", Severity.ERROR, "{option} {problem}.", "Give it a value, or remove the line."),
    _rule("value-not-a-number", Severity.ERROR, _PROBLEM, "Write decimal digits without unit or separators."),
    _rule("value-out-of-range", Severity.ERROR, _PROBLEM, "Write a number of that range."),
    _rule("value-not-a-boolean", Severity.ERROR, _PROBLEM, "Write true or false."),
    _rule("value-not-one-of", Severity.ERROR, _PROBLEM, "Write one of these words, in this spelling."),
    _rule("value-not-a-path", Severity.ERROR, _PROBLEM, "Put the whole path into double quotes."),
    _rule(
        "value-wraps", Severity.WARNING, _PROBLEM, "Write the number that is meant; the option has no sign."
    ),
    _rule("value-quoted", Severity.WARNING, _PROBLEM, "Remove the quotes."),
    _rule("flag-always-on", Severity.WARNING, _PROBLEM, "Remove the line if it is meant to be off."),
    Rule(
        code="value-refused",
        severity=Severity.ERROR,
        applies=_out_of_range,
        message="{option} = {value} is refused at start: {where} of {target} wants {low} to {high}.",
        hint="Write a number from {low} to {high}, or remove the line.",
        source="start-up assertions of the plugins",
    ),
    Rule(
        code="default-restated",
        severity=Severity.INFO,
        applies=_restated,
        message="These lines only repeat the default of {target}: {names}.",
        hint="Remove them, so that later defaults apply; nodeos warns of them too.",
        source="appbase, application_base.cpp",
    ),
    Rule(
        code="default-changed",
        severity=Severity.WARNING,
        applies=_changed_defaults(moving=True),
        message="{option} is not in the file, and its default changes: {before} in {source}, {after} in {target}.",
        hint="{advice}, or expect a change of {group}.",
        source="option tables",
    ),
    Rule(
        code="default-changed-minor",
        severity=Severity.INFO,
        applies=_changed_defaults(moving=False),
        message="{option} is not in the file, and its default changes: {before} in {source}, {after} in {target}.",
        hint="{advice} if that is wanted; it moves none of the measured resources.",
        source="option tables",
    ),
)

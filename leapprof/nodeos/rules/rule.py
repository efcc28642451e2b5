"""What a rule is, and the case that it judges."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from leapprof.model import Finding, Severity
from leapprof.nodeos.grammar import Config, Entry
from leapprof.nodeos.host_facts import HostFacts
from leapprof.nodeos.options import Option, OptionTable
from leapprof.nodeos.values import Parsed, Read, read_value
from leapprof.nodeos.versions import Version, parse_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One place where a rule applies; words fill its message and hint."""

    line: int | None = None
    option: str | None = None
    words: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A config.ini and what it is to be judged by.

    Attributes:
        config: as parsed.
        table: options of the target version.
        history: tables of all versions, oldest first.
        source: options of the version that the file comes from, if said.
        host: facts of the host, if known.
    """

    config: Config
    table: OptionTable
    history: tuple[OptionTable, ...]
    source: OptionTable | None
    host: HostFacts

    @property
    def version(self) -> Version:
        """Return the target version."""
        return self.table.version

    @cached_property
    def by_name(self) -> dict[str, tuple[Entry, ...]]:
        """Return the entries of each option."""
        found: dict[str, list[Entry]] = {}
        for entry in self.config.entries:
            found.setdefault(entry.name, []).append(entry)
        return {name: tuple(entries) for name, entries in found.items()}

    @cached_property
    def known(self) -> tuple[tuple[Entry, Option, Read], ...]:
        """Return the entries that the target accepts by name, each with what nodeos makes of its value."""
        options = self.table.options
        return tuple(
            (entry, options[entry.name], read_value(options[entry.name], entry.value))
            for entry in self.config.entries
            if entry.name in options and options[entry.name].in_file
        )

    @cached_property
    def _first_values(self) -> dict[str, Parsed]:
        values: dict[str, Parsed] = {}
        for entry, _, read in self.known:
            if read.value is not None:
                values.setdefault(entry.name, read.value)
        return values

    def line(self, name: str) -> int | None:
        """Return the first line of an option, or None when it is not in the file."""
        entries = self.by_name.get(name)
        return entries[0].line if entries else None

    def has(self, name: str) -> bool:
        """Return whether the file has a line for an option that the target knows."""
        return name in self.by_name and name in self.table.options

    def value(self, name: str) -> Parsed | None:
        """Return the value that nodeos would use: of the file, else the default; None when it has neither."""
        if name in self._first_values:
            return self._first_values[name]
        option = self.table.options.get(name)
        if option is None or option.default is None or name in self.by_name:
            return None
        return read_value(option, option.default).value

    def number(self, name: str) -> int | None:
        """Return an integer value, or None."""
        value = self.value(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @cached_property
    def plugins(self) -> dict[str, int]:
        """Return the plugins that the file asks for, without namespace, each with its first line.

        Values are split on blanks and commas (appbase, application_base.cpp).
        """
        found: dict[str, int] = {}
        for entry in self.by_name.get("plugin", ()):
            for name in entry.value.replace(",", " ").split():
                found.setdefault(name.removeprefix("eosio::"), entry.line)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A row: when it holds, for which versions, how bad it is, and what to say.

    Attributes:
        code: of the finding.
        severity: error exactly when nodeos would refuse to start.
        applies: finds the places.
        message, hint: templates of one sentence each, filled with the words of the hit.
        source: where the rule is taken from.
        since, until: first version, and first version no more, that it holds for (``leap-5.0``).
    """

    code: str
    severity: Severity
    applies: Callable[[Case], Iterable[Hit]]
    message: str
    hint: str
    source: str
    since: str = ""
    until: str = ""

    def holds_for(self, version: Version) -> bool:
        """Return whether the rule is one of this version."""
        if self.since and version.order < parse_version(self.since).order:
            return False
        return not (self.until and version.order >= parse_version(self.until).order)

    def findings(self, case: Case) -> list[Finding]:
        """Return the findings of this rule; none when it is not one of the target version."""
        if not self.holds_for(case.version):
            return []
        return [self._finding(case, hit) for hit in self.applies(case)]

    def _finding(self, case: Case, hit: Hit) -> Finding:
        words = {"target": case.table.release, "option": hit.option, **hit.words}
        return Finding(
            code=self.code,
            severity=self.severity,
            message=self.message.format(**words),
            hint=self.hint.format(**words),
            line=hit.line,
            option=hit.option,
        )

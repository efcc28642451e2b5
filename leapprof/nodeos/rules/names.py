"""Rules about names: what is unknown, removed, not there yet, for the command line only, or said twice.

Source of all: the option tables (sources of ten releases) and appbase, which collects every name that it
does not know and ends with ``Unknown option … inside the config file``.
"""

import difflib
from collections.abc import Iterator

from leapprof.model import Severity
from leapprof.nodeos.grammar import BOM
from leapprof.nodeos.options import OptionTable
from leapprof.nodeos.privacy import shown_name
from leapprof.nodeos.rules.rule import Case, Hit, Rule

# What stands in for a removed option, or why none is needed. From the release notes of Leap 3.1 to 5.0 and
# Spring 1.0, and from the sources of both sides.
REPLACEMENTS = {
    "cpu-effort-percent": "set produce-block-offset-ms instead (450 ms is its default)",
    "last-block-cpu-effort-percent": "set produce-block-offset-ms instead (450 ms is its default)",
    "last-block-time-offset-us": "set produce-block-offset-ms instead (450 ms is its default)",
    "produce-time-offset-us": "set produce-block-offset-ms instead (450 ms is its default)",
    "disable-subjective-billing": "set disable-subjective-p2p-billing and disable-subjective-api-billing",
    "prometheus-exporter-address": "metrics are served on http-server-address, or by http-category-address",
    "producer-threads": "nothing replaces it: its work went to chain-threads and net-threads",
    "incoming-defer-ratio": "deferred transactions are gone, nothing replaces it",
    "max-scheduled-transaction-time-per-block-ms": "deferred transactions are gone, nothing replaces it",
    "max-nonprivileged-inline-action-size": "it is a limit of the chain's own configuration now",
    "disable-api-persisted-trx": "nothing replaces it; see transaction-retry-max-storage-size-gb",
    "https-server-address": "put a reverse proxy in front of http-server-address",
    "https-certificate-chain-file": "put a reverse proxy in front of http-server-address",
    "https-private-key-file": "put a reverse proxy in front of http-server-address",
    "https-ecdh-curve": "put a reverse proxy in front of http-server-address",
    "https-client-root-cert": "nothing replaces it",
    "https-client-validate-peers": "nothing replaces it",
    "private-key": "use signature-provider",
    "max-login-requests": "login_plugin is gone, nothing replaces it",
    "max-login-timeout": "login_plugin is gone, nothing replaces it",
    "database-hugepage-path": "heap and locked use huge pages by themselves",
    "reversible-blocks-db-size-mb": "reversible blocks lie in a file that needs no size",
    "reversible-blocks-db-guard-size-mb": "reversible blocks lie in a file that needs no guard",
    "filter-on": "history_plugin is gone; use state_history_plugin or trace_api_plugin",
    "filter-out": "history_plugin is gone; use state_history_plugin or trace_api_plugin",
    "backing-store": "the state is always kept by chainbase",
    "context-free-data-compression": "nothing replaces it",
}
_NO_VERSION = "no version that leapprof knows has it"
MAX_TYPO_CHARS = 2
# Looking for the name that was meant takes time; after so many unknown ones the file is not for nodeos.
MAX_ADVISED = 50
_NO_ADVICE = "nothing with another name replaces it"


def _releases_with(case: Case, name: str) -> list[OptionTable]:
    return [t for t in case.history if name in t.options and t.options[name].in_file]


def _unaccepted(case: Case) -> Iterator[Hit]:
    for entry in case.config.entries:
        option = case.table.options.get(entry.name)
        if option is None:
            yield Hit(line=entry.line, option=entry.name)


def _removed(case: Case) -> Iterator[Hit]:
    for hit in _unaccepted(case):
        assert hit.option is not None
        earlier = [t for t in _releases_with(case, hit.option) if t.version.order < case.version.order]
        if earlier:
            last = case.history.index(earlier[-1])
            words = {
                "removed_in": case.history[last + 1].release,
                "advice": _replacement(case, hit.option),
            }
            yield Hit(line=hit.line, option=hit.option, words=words)


def _replacement(case: Case, name: str) -> str:
    later = [t.release for t in _releases_with(case, name) if t.version.order > case.version.order]
    return f"it is back in {later[0]}" if later else REPLACEMENTS.get(name, _NO_ADVICE)


def _not_yet(case: Case) -> Iterator[Hit]:
    for hit in _unaccepted(case):
        assert hit.option is not None
        having = _releases_with(case, hit.option)
        if having and all(t.version.order > case.version.order for t in having):
            yield Hit(line=hit.line, option=hit.option, words={"added_in": having[0].release})


def _unknown(case: Case) -> Iterator[Hit]:
    strangers = (h for h in _unaccepted(case) if not any(h.option in t.options for t in case.history))
    for count, hit in enumerate(strangers):
        assert hit.option is not None
        shown = shown_name(hit.option)
        advice = _advice(case, hit.option) if count < MAX_ADVISED else _NO_VERSION
        yield Hit(line=hit.line, option=shown, words={"shown": shown, "advice": advice})


def _advice(case: Case, name: str) -> str:
    if name.startswith(BOM):
        return "save the file without a byte order mark"
    if name.startswith(";"):
        return "start a comment with #"
    bare = name.lstrip("-").lower().replace("_", "-").rpartition(".")[2]
    if bare in case.table.options:
        return f"nodeos spells it {bare}"
    alike = [o for o in case.table.options if o[:1] == bare[:1] and abs(len(o) - len(bare)) <= MAX_TYPO_CHARS]
    close = difflib.get_close_matches(bare, alike, n=1, cutoff=0.8)
    return f"did you mean {close[0]}?" if close else _NO_VERSION


def _command_line_only(case: Case) -> Iterator[Hit]:
    for entry in case.config.entries:
        option = case.table.options.get(entry.name)
        if option is not None and not option.in_file:
            yield Hit(line=entry.line, option=entry.name)


def _repeated(case: Case) -> Iterator[Hit]:
    for name, entries in case.by_name.items():
        option = case.table.options.get(name)
        if option is not None and option.in_file and not option.multi:
            for entry in entries[1:]:
                yield Hit(line=entry.line, option=name, words={"first": entries[0].line})


def _gone_plugins(case: Case) -> Iterator[Hit]:
    for name, line in case.plugins.items():
        if name not in case.table.plugins:
            having = [t.release for t in case.history if name in t.plugins]
            known = f"only {', '.join(having)} have it" if having else _NO_VERSION
            yield Hit(line=line, option="plugin", words={"plugin": shown_name(name), "known": known})


_TABLES = "option tables, sources of EOSIO 2.0 to Spring 2.0-dev"

RULES = (
    Rule(
        code="option-removed",
        severity=Severity.ERROR,
        applies=_removed,
        message="{option} was removed in {removed_in}; {target} does not start while it is in the file.",
        hint="Remove the line: {advice}.",
        source=_TABLES,
    ),
    Rule(
        code="option-not-yet",
        severity=Severity.ERROR,
        applies=_not_yet,
        message="{option} came with {added_in}; {target} does not know it.",
        hint="Remove the line for this version.",
        source=_TABLES,
    ),
    Rule(
        code="option-unknown",
        severity=Severity.ERROR,
        applies=_unknown,
        message="{shown} is no option of nodeos; it does not start with an unknown name in the file.",
        hint="Correct or remove the line: {advice}.",
        source="appbase, application_base.cpp",
    ),
    Rule(
        code="option-command-line-only",
        severity=Severity.ERROR,
        applies=_command_line_only,
        message="{option} is known to {target} on the command line alone, not in config.ini.",
        hint="Remove the line, and pass --{option} when starting if it is wanted.",
        source=_TABLES,
    ),
    Rule(
        code="option-repeated",
        severity=Severity.ERROR,
        applies=_repeated,
        message="{option} stands in line {first} already, and {target} takes it only once.",
        hint="Keep one of the lines.",
        source="boost program_options: cannot be specified more than once",
    ),
    Rule(
        code="plugin-unknown",
        severity=Severity.ERROR,
        applies=_gone_plugins,
        message="{target} has no plugin {plugin}.",
        hint="Remove it from the plugin lines: {known}.",
        source="programs/nodeos/CMakeLists.txt; appbase: unable to find plugin",
    ),
)

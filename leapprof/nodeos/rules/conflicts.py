"""Rules about options that do not go together, or that need each other.

Sources: start-up assertions of chain_plugin, http_plugin, producer_plugin, state_history_plugin and
trace_api_plugin, Leap 3.1 to Spring 1.2.
"""

import re
from collections.abc import Callable, Iterator

from leapprof.model import Severity
from leapprof.nodeos.rules.rule import Case, Hit, Rule

_PARTITION = ("blocks-log-stride", "max-retained-block-files", "blocks-retained-dir", "blocks-archive-dir")
_PROVIDER = re.compile(r"[^=\s]+=[A-Z]+:\S+\Z")
_CATEGORY_ADDRESS = "http-category-address"

# Which plugin serves an API category (http_plugin, Leap 5.0).
_CATEGORY_PLUGINS = {
    "chain_ro": "chain_api_plugin",
    "chain_rw": "chain_api_plugin",
    "db_size": "db_size_api_plugin",
    "net_ro": "net_api_plugin",
    "net_rw": "net_api_plugin",
    "producer_ro": "producer_api_plugin",
    "producer_rw": "producer_api_plugin",
    "snapshot": "producer_api_plugin",
    "trace_api": "trace_api_plugin",
    "prometheus": "prometheus_plugin",
    "test_control": "test_control_api_plugin",
}


def _both(option: str, *others: str) -> Callable[[Case], Iterator[Hit]]:
    def applies(case: Case) -> Iterator[Hit]:
        for other in others:
            if case.has(option) and case.has(other):
                yield Hit(line=case.line(other), option=other, words={"other": option})

    return applies


def _read_only_threads_on_producer(case: Case) -> Iterator[Hit]:
    if case.has("producer-name") and (case.number("read-only-threads") or 0) > 0:
        yield Hit(line=case.line("read-only-threads"), option="read-only-threads")


def _retry_on_producer(case: Case) -> Iterator[Hit]:
    name = "transaction-retry-max-storage-size-gb"
    if case.has("producer-name") and (case.number(name) or 0) > 0:
        yield Hit(line=case.line(name), option=name)


def _retry_too_often(case: Case) -> Iterator[Hit]:
    interval, forgets = (
        case.number("transaction-retry-interval-sec"),
        case.number("p2p-dedup-cache-expire-time-sec"),
    )
    if not (case.number("transaction-retry-max-storage-size-gb") or 0) or interval is None or forgets is None:
        return
    if interval < 2 * forgets:
        line = case.line("transaction-retry-interval-sec") or case.line("p2p-dedup-cache-expire-time-sec")
        words = {"interval": interval, "least": 2 * forgets}
        yield Hit(line=line, option="transaction-retry-interval-sec", words=words)


def _trace_api_without_abis(case: Case) -> Iterator[Hit]:
    wants = "trace_api_plugin" in case.plugins
    if wants and not case.has("trace-rpc-abi") and not case.has("trace-no-abis"):
        yield Hit(line=case.plugins["trace_api_plugin"], option="plugin")


def _trace_api_both(case: Case) -> Iterator[Hit]:
    if "trace_api_plugin" in case.plugins:
        yield from _both("trace-rpc-abi", "trace-no-abis")(case)


def _category_without_switch(case: Case) -> Iterator[Hit]:
    if case.has(_CATEGORY_ADDRESS) and case.value("http-server-address") != _CATEGORY_ADDRESS:
        yield Hit(line=case.line(_CATEGORY_ADDRESS), option=_CATEGORY_ADDRESS)


def _category_not_known(case: Case) -> Iterator[Hit]:
    for entry in case.by_name.get(_CATEGORY_ADDRESS, ()) if case.has(_CATEGORY_ADDRESS) else ():
        category, comma, _ = entry.value.partition(",")
        if not comma or category not in _CATEGORY_PLUGINS:
            words = {"known": ", ".join(_CATEGORY_PLUGINS)}
            yield Hit(line=entry.line, option=_CATEGORY_ADDRESS, words=words)


def _category_with_socket(case: Case) -> Iterator[Hit]:
    if case.has(_CATEGORY_ADDRESS) and case.value("unix-socket-path"):
        yield Hit(line=case.line("unix-socket-path"), option="unix-socket-path")


def _category_without_plugin(case: Case) -> Iterator[Hit]:
    for entry in case.by_name.get(_CATEGORY_ADDRESS, ()):
        category = entry.value.partition(",")[0].strip()
        plugin = _CATEGORY_PLUGINS.get(category)
        if plugin is not None and plugin not in case.plugins:
            words = {"category": category, "plugin": plugin}
            yield Hit(line=entry.line, option=_CATEGORY_ADDRESS, words=words)


def _history_two_ways(case: Case) -> Iterator[Hit]:
    if "state_history_plugin" in case.plugins:
        yield from _both("state-history-log-retain-blocks", "state-history-stride")(case)


def _history_without_plugin(case: Case) -> Iterator[Hit]:
    for name in ("trace-history", "chain-state-history"):
        if case.has(name) and case.value(name) is True and "state_history_plugin" not in case.plugins:
            yield Hit(line=case.line(name), option=name)


def _malformed_provider(case: Case) -> Iterator[Hit]:
    for entry in case.by_name.get("signature-provider", ()):
        if not _PROVIDER.match(entry.value):
            yield Hit(line=entry.line, option="signature-provider")


RULES = (
    Rule(
        code="block-log-two-ways",
        severity=Severity.ERROR,
        applies=_both("block-log-retain-blocks", *_PARTITION),
        message="{option} and {other} exclude each other: the block log is either cut or split.",
        hint="Remove one of them.",
        source="chain_plugin, Leap 4.0",
    ),
    Rule(
        code="state-history-two-ways",
        severity=Severity.ERROR,
        applies=_history_two_ways,
        message="{option} and {other} exclude each other: state history is either cut or split.",
        hint="Remove one of them.",
        source="state_history_plugin, Leap 4.0",
    ),
    Rule(
        code="read-only-threads-on-producer",
        severity=Severity.ERROR,
        applies=_read_only_threads_on_producer,
        message="{option} is refused on a node with producer-name.",
        hint="Remove {option}, or serve read-only transactions from another node.",
        source="producer_plugin, Leap 4.0",
    ),
    Rule(
        code="transaction-retry-on-producer",
        severity=Severity.ERROR,
        applies=_retry_on_producer,
        message="{option} is refused on a node with producer-name.",
        hint="Remove {option}, or take transactions at another node.",
        source="chain_plugin: Transaction retry not allowed on producer nodes.",
    ),
    Rule(
        code="transaction-retry-too-often",
        severity=Severity.ERROR,
        applies=_retry_too_often,
        message="{option} = {interval} is less than twice p2p-dedup-cache-expire-time-sec ({least} s).",
        hint="Set {option} to {least} or more.",
        source="chain_plugin, Leap 3.1",
    ),
    Rule(
        code="trace-api-without-abis",
        severity=Severity.ERROR,
        applies=_trace_api_without_abis,
        message="trace_api_plugin wants trace-rpc-abi or trace-no-abis, and the file has neither.",
        hint="Add trace-no-abis = true, or a trace-rpc-abi line for each contract.",
        source="trace_api_plugin",
    ),
    Rule(
        code="trace-api-both-abis",
        severity=Severity.ERROR,
        applies=_trace_api_both,
        message="{option} and {other} exclude each other.",
        hint="Remove one of them; trace-no-abis counts with any value.",
        source="trace_api_plugin",
    ),
    Rule(
        code="http-category-without-switch",
        severity=Severity.ERROR,
        applies=_category_without_switch,
        message="{option} counts only with http-server-address = http-category-address.",
        hint="Set http-server-address = http-category-address, or remove the {option} lines.",
        source="http_plugin, Leap 5.0",
    ),
    Rule(
        code="http-category-unknown",
        severity=Severity.ERROR,
        applies=_category_not_known,
        message="An {option} line does not start with a category that nodeos knows and a comma.",
        hint="Write CATEGORY,ADDRESS with one of {known}.",
        source="http_plugin, Leap 5.0",
    ),
    Rule(
        code="http-category-with-socket",
        severity=Severity.ERROR,
        applies=_category_with_socket,
        message="{option} is refused beside http-category-address.",
        hint="Remove it, and name the socket in an http-category-address line.",
        source="http_plugin, Leap 5.0",
    ),
    Rule(
        code="http-category-without-plugin",
        severity=Severity.ERROR,
        applies=_category_without_plugin,
        message="The API category {category} needs {plugin}, which the file does not enable.",
        hint="Add plugin = eosio::{plugin}, or remove the line.",
        source="http_plugin, Leap 5.0",
    ),
    Rule(
        code="state-history-without-plugin",
        severity=Severity.WARNING,
        applies=_history_without_plugin,
        message="{option} does nothing: state_history_plugin is not enabled.",
        hint="Add plugin = eosio::state_history_plugin, or remove the line.",
        source="state_history_plugin",
    ),
    Rule(
        code="signature-provider-malformed",
        severity=Severity.WARNING,
        applies=_malformed_provider,
        message="A signature-provider has not the form PUBLIC_KEY=KEY:PRIVATE_KEY (or KEOSD:URL).",
        hint="Correct it: nodeos starts without the key, and fills its log with errors.",
        source="seen on Leap 5.0.3: 9 MB of log lines in seconds",
    ),
)

"""Comparison → the same Comparison, fit for strangers: hosts, addresses, peers, people become aliases.

First everything secret is collected, from the fields that are known to hold it and by its form, each
with the kind of its alias (host-1, peer-2 …, numbered in the order of the report). Then every string of
the comparison is rewritten, the longest secret first, so that a name which contains another is not left
half. Numbers, metric names, units and verdicts are not touched.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from leapprof.assess.many_hosts import HostComparison, HostsComparison
from leapprof.model import Comparison, Device, Nodeos, Side
from leapprof.report.aliases import Aliases, add_host, add_patterns, add_value, rewriter

_KIND_OF_OPTION = {
    "producer-name": "producer",
    "p2p-peer-address": "peer",
    "p2p-auto-bp-peer": "peer",
    "p2p-server-address": "address",
    "p2p-listen-endpoint": "address",
    "http-server-address": "address",
    "http-category-address": "address",
    "http-alias": "address",
    "bnet-endpoint": "address",
    "state-history-endpoint": "address",
    "prometheus-exporter-address": "address",
    "access-control-allow-origin": "address",
    "agent-name": "agent-name",
    "peer-key": "key",
    "signature-provider": "key",
    "actor-whitelist": "account",
    "actor-blacklist": "account",
    "contract-whitelist": "account",
    "contract-blacklist": "account",
    "trusted-producer": "producer",
    "sender-bypass-whiteblacklist": "account",
}
_KIND_OF_FACT = {
    "hostname": "host",
    "fqdn": "host",
    "nodename": "host",
    "domainname": "host",
    "agent-name": "agent-name",
    "agent_name": "agent-name",
    "product_serial": "serial",
    "product_uuid": "serial",
    "board_serial": "serial",
    "chassis_serial": "serial",
    "user": "user",
    "latency_account": "account",
}
_KINDS = {**_KIND_OF_OPTION, **_KIND_OF_FACT}
# Our own words. What a host says itself, its version for one, is rewritten like any text.
_UNTOUCHED_FIELDS = frozenset({"unit", "code", "kind", "verdict", "grade", "better", "option", "transport"})
_NAMED_BY_METRIC = ("metrics", "charts", "per_unit", "run_pairs", "control_effects")
_WWID_TAIL_CHARS = 7


def _add_nodeos(aliases: Aliases, nodeos: Nodeos) -> None:
    for option, values in nodeos.options.items():
        kind = _KIND_OF_OPTION.get(option)
        for value in values if kind else ():
            add_value(aliases, value or "", kind or "")
    add_value(aliases, nodeos.http_address or "", "address")


def _add_device(aliases: Aliases, device: Device) -> None:
    if device.serial:
        aliases.add(device.serial, "serial")
    if device.wwid:
        alias = aliases.add(device.wwid, "wwid")
        tail = device.wwid.rpartition(".")[2]
        if len(tail) >= _WWID_TAIL_CHARS:
            aliases.same(tail, alias)


def _add_side(aliases: Aliases, side: Side) -> None:
    host = side.recording.host
    add_host(aliases, host.name)
    for name, value in host.facts.items():
        if name in _KIND_OF_FACT:
            add_value(aliases, value, _KIND_OF_FACT[name])
    aliases.add(host.boot_id, "boot")
    if host.machine_id:
        aliases.add(host.machine_id, "machine")
    for nodeos in side.recording.nodeos:
        _add_nodeos(aliases, nodeos)
    for device in side.recording.topology.devices:
        _add_device(aliases, device)


def _collect(aliases: Aliases, comparison: Comparison) -> None:
    for side in (comparison.before, comparison.after):
        _add_side(aliases, side)
    pairs = [(c.option, c.before, c.after) for c in comparison.config_changes]
    pairs += [(f.name, f.before, f.after) for f in comparison.facts]
    for name, before, after in pairs:
        if name in _KINDS:
            for value in (before, after):
                if value not in (None, "(not shown)"):
                    add_value(aliases, value or "", _KINDS[name])
    for text in _strings(comparison):
        add_patterns(aliases, text)


def _strings(value: Any, field: str = "") -> Iterator[str]:  # noqa: ANN401 - walks any of our values
    """Yield every string within a value that may hold something of a host."""
    if isinstance(value, Enum) or field in _UNTOUCHED_FIELDS:
        return
    if isinstance(value, str):
        yield value
        return
    parts: list[tuple[str, Any]] = []
    if isinstance(value, Mapping):
        yield from map(str, value)
        parts = [("", item) for item in value.values()]
    elif isinstance(value, tuple):
        parts = [("", item) for item in value]
    elif is_dataclass(value):
        parts = [(part.name, getattr(value, part.name)) for part in fields(value)]
    for name, item in parts:
        yield from _strings(item, name)


def _rewritten(value: Any, rewrite: Callable[[str], str], field: str = "") -> Any:  # noqa: ANN401
    if isinstance(value, Enum) or field in _UNTOUCHED_FIELDS:
        return value
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, Mapping):
        return {rewrite(str(key)): _rewritten(item, rewrite) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_rewritten(item, rewrite) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: _rewritten(getattr(value, f.name), rewrite, f.name) for f in fields(value)}
        return replace(value, **parts)
    return value


def publish(comparison: Comparison) -> Comparison:
    """Return the comparison with aliases for hosts, addresses, peers, producers, serials, keys and home paths."""
    aliases = Aliases()
    _collect(aliases, comparison)
    return _published(comparison, rewriter(aliases))


def publish_hosts(compared: HostsComparison) -> HostsComparison:
    """Return the comparison of several hosts with aliases, the same ones in the report of each."""
    aliases = Aliases()
    for one in (*compared.hosts, *compared.controls):
        add_host(aliases, one.host)
    for one in (*compared.hosts, *compared.controls):
        _collect(aliases, one.comparison)
    for finding in compared.findings:
        for text in _strings(finding):
            add_patterns(aliases, text)
    for missing in compared.findings:
        add_host(aliases, missing.subject or "")
    rewrite = rewriter(aliases)
    published = _rewritten(replace(compared, hosts=(), controls=()), rewrite)
    assert isinstance(published, HostsComparison)
    verdicts = tuple(
        replace(new, metric=old.metric)
        for new, old in zip(published.fleet.verdicts, compared.fleet.verdicts, strict=True)
    )
    differences = tuple(
        replace(new, metric=old.metric)
        for new, old in zip(published.fleet.hosts, compared.fleet.hosts, strict=True)
    )
    return replace(
        published,
        fleet=replace(published.fleet, verdicts=verdicts, hosts=differences),
        hosts=tuple(_host_published(one, rewrite) for one in compared.hosts),
        controls=tuple(_host_published(one, rewrite) for one in compared.controls),
    )


def _host_published(one: HostComparison, rewrite: Callable[[str], str]) -> HostComparison:
    return HostComparison(host=rewrite(one.host), comparison=_published(one.comparison, rewrite))


def _published(comparison: Comparison, rewrite: Callable[[str], str]) -> Comparison:
    """Return a comparison with every secret replaced; names of metrics stay."""
    published = _rewritten(comparison, rewrite)
    assert isinstance(published, Comparison)
    named: dict[str, Any] = {
        field: tuple(
            replace(new, name=old.name)
            for new, old in zip(getattr(published, field), getattr(comparison, field), strict=True)
        )
        for field in _NAMED_BY_METRIC
    }
    return replace(published, **named)

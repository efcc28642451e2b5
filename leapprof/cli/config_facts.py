"""Facts of a host for `leapprof config check`: from a recording, or asked of the host itself."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from leapprof.errors import ConfigError
from leapprof.model import Nodeos, Table
from leapprof.nodeos.host_facts import HostFacts, host_facts
from leapprof.units import NS_PER_S


def facts_of_recording(path: Path, nodeos: str | None) -> HostFacts:
    """Return what a recording knows of its host and of one nodeos.

    Args:
        path: directory of the recording.
        nodeos: id of the nodeos; None when there is at most one.

    Raises:
        StoreError: it is no recording, or damaged.
        ConfigError: there is no such nodeos, or there are several.
    """
    from leapprof.assess.load import load  # pyarrow is slow to import

    loaded = load(path)
    manifest = loaded.manifest
    chosen = _chosen(manifest.nodeos, nodeos)
    used = None
    if chosen is not None:
        column = loaded.table("chain", ["state_used_bytes"], {"nodeos": chosen.id}).integers.get(
            "state_used_bytes"
        )
        present = column.values[column.present] if column is not None else np.zeros(0, dtype=np.int64)
        used = int(present[-1]) if present.size else None
    facts = host_facts(manifest.host, manifest.topology, chosen, state_used_bytes=used)
    return _with_memory_load(facts, loaded.table("host", _LOAD_COLUMNS))


_LOAD_COLUMNS = ("memory_pressure_some_us_total", "swap_in_pages_total", "refault_file_total")
PAGE_BYTES = 4096
US_PER_S = 1_000_000


def _with_memory_load(facts: HostFacts, host: Table) -> HostFacts:
    """Return the facts with how short of memory the host was: pressure, swap-ins, refaults of file pages."""
    from leapprof.analysis.rates import counter_total

    time_s = host.integers["boottime_ns"].values / NS_PER_S

    def per_s(name: str) -> float | None:
        column = host.integers.get(name)
        found = counter_total(time_s, column) if column is not None and host.rows else None
        return found.per_s if found is not None else None

    pressure, swap_in, refault = (
        per_s("memory_pressure_some_us_total"), per_s("swap_in_pages_total"), per_s("refault_file_total"),
    )  # fmt: skip
    return replace(
        facts,
        memory_pressure_share=None if pressure is None else pressure / US_PER_S,
        swap_in_bytes_per_s=None if swap_in is None else swap_in * PAGE_BYTES,
        refault_bytes_per_s=None if refault is None else refault * PAGE_BYTES,
    )


def facts_of_host(name: str, nodeos: str | None, inventory: Path | None = None) -> HostFacts:
    """Ask a host what it is, and return what the rules need of it.

    Args:
        name: inventory name, ssh alias, ``user@host:port`` or ``local``.
        nodeos: how it is recognised (``unit:NAME`` …), or its name as doctor prints it; None when there is at
            most one.
        inventory: file to look the name up in.

    Raises:
        SourceError: the host cannot be reached.
        ConfigError: no such host, no such nodeos, or several.
    """
    from leapprof.config.inventory import resolve_hosts
    from leapprof.config.selector import parse_selector
    from leapprof.recorder.clock import SystemClock
    from leapprof.recorder.link import AgentLink, choose_agent
    from leapprof.recorder.session import survey_host
    from leapprof.sources import open_source

    is_selector = nodeos is not None and ":" in nodeos
    hosts = resolve_hosts([name], inventory)
    if len(hosts) != 1:
        raise ConfigError(f"names {len(hosts)} hosts; name one", key="--host")
    source = open_source(hosts[0])
    try:
        with AgentLink.open(source, choose_agent(source), SystemClock()) as link:
            selectors = (parse_selector(nodeos),) if nodeos and is_selector else hosts[0].nodeos
            survey = survey_host(link, hosts[0], selectors).survey
    finally:
        source.close()
    chosen = _chosen(survey.nodeos, None if is_selector else nodeos)
    return host_facts(survey.host, survey.topology, chosen)


def _chosen(found: Sequence[Nodeos], wanted: str | None) -> Nodeos | None:
    if wanted is None and len(found) <= 1:
        return found[0] if found else None
    chosen = next((nodeos for nodeos in found if nodeos.id == wanted), None)
    if chosen is None:
        raise ConfigError(f"choose one of {', '.join(sorted(n.id for n in found)) or 'none'}", key="--nodeos")
    return chosen

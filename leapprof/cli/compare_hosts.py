"""`leapprof compare` of several hosts: directories of recordings, paired by host name, and their controls."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from leapprof.errors import ConfigError, printable

if TYPE_CHECKING:
    from leapprof.assess.host_pairs import HostPair, Paired
    from leapprof.assess.many_hosts import HostsComparison
    from leapprof.assess.material import CompareOptions


def compared_hosts(
    recordings: Sequence[Path],
    control: tuple[Path, Path] | None,
    options_of: "Callable[[Path], CompareOptions]",
) -> "HostsComparison | None":
    """Return the comparison of several hosts; None when the operator named one.

    Args:
        recordings: BEFORE and AFTER as named.
        control: of hosts that were not changed.
        options_of: what the operator asked for, by a host's recording before.

    Raises:
        ConfigError: nothing says what is before and what after, or controls of several hosts for one.
        NotEnoughDataError: not one host can be compared.
    """
    from leapprof.assess.host_pairs import pair_hosts

    changed = pair_hosts(recordings)
    controls = _controls(control) if control else None
    if changed is None or changed.alone is not None:
        if controls is not None and len(controls.pairs) > 1:
            raise ConfigError("names several hosts, and the comparison is of one", key="--control")
        return None
    from leapprof.assess.many_hosts import compare_hosts

    if controls is not None:
        changed = _without(changed, controls)
    return compare_hosts(
        changed, controls, lambda pair: _options(pair, options_of), (_command(recordings, control),)
    )


def _options(pair: "HostPair", options_of: "Callable[[Path], CompareOptions]") -> "CompareOptions":
    if sys.stderr.isatty():
        sys.stderr.write(f"comparing {printable(pair.host)}\n")
    repeat = f"leapprof compare {pair.before.name} {pair.after.name}"
    return replace(options_of(pair.before), repeat=(repeat,))


def _controls(control: tuple[Path, Path]) -> "Paired":
    """Return the controls: of each host, or the one pair."""
    from leapprof.assess.host_pairs import HostPair, Paired, of_one_host, pair_hosts
    from leapprof.store.manifest import read_manifest

    paired = pair_hosts(control)
    if paired is not None:
        return paired
    before, after = of_one_host(control)
    host = read_manifest(before).host.name
    return Paired(pairs=(HostPair(host=host, before=before, after=after),), findings=())


def _without(changed: "Paired", controls: "Paired") -> "Paired":
    """Return the changed hosts without those whose very recordings are the controls'."""
    taken = {pair.before.resolve() for pair in controls.pairs}
    return replace(changed, pairs=tuple(p for p in changed.pairs if p.before.resolve() not in taken))


def _command(recordings: Sequence[Path], control: tuple[Path, Path] | None) -> str:
    words = ["leapprof", "compare", *(path.name for path in recordings)]
    return " ".join(words + (["--control", *(path.name for path in control)] if control else []))

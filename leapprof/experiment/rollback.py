"""Whether a host can be taken back: only where it can be proved from the playbook. Pure.

Sources: chainbase's header ids (pinnable_mapped_file.hpp: EOSIODB2 in Leap 3.1 to 4.0, EOSIODB3 in 5.0, CHAINB01 in
Spring 1); nodeos refuses a file with another id. Switching map modes between clean stops is free in both
directions (Leap tests/db_modes_test.sh). Snapshot formats: 6 in Leap, 8 in Spring 1, which also reads older ones.
A state on tmpfs is not counted on after a stop.
"""

from dataclasses import dataclass

from leapprof.config.playbook_schema import Playbook, Situation
from leapprof.nodeos.versions import Version, parse_version

_FORMATS = {"eosio": "EOSIO", "spring": "CHAINB01"}
_MAJOR_WITH_NEW_FORMAT = 5
STATE_OPTIONS = frozenset({"state-dir", "data-dir"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Whether a roll-back is offered, and the sentence that says why or why not."""

    holds: bool
    reason: str


def state_format(version: Version) -> str:
    """Return which state files a version reads."""
    if version.family == "leap":
        return "EOSIODB3" if version.numbers[0] >= _MAJOR_WITH_NEW_FORMAT else "EOSIODB2"
    return _FORMATS[version.family]


def prove_roll_back(playbook: Playbook) -> Proof:
    """Return whether situation a can be restored on a host that was taken to b."""
    change = playbook.change
    if change is None:
        return Proof(holds=False, reason="nothing is changed, so there is nothing to roll back")
    if change.manual is not None:
        return Proof(holds=False, reason="a manual change is taken back by hand")
    if change.command is not None and change.command.to_a is None:
        return Proof(holds=False, reason="change.command.to_a is missing: leapprof knows no way back")
    reason = _why_state_is_lost(playbook)
    if not _touches_nodeos(playbook):
        return Proof(holds=True, reason="change.command.to_a takes it back, and no nodeos is touched")
    if reason is None:
        return Proof(holds=True, reason="both sides read the same state, and it stays on disk")
    return _by_snapshot(playbook, reason)


def needs_snapshot(playbook: Playbook) -> bool:
    """Return whether a's nodeos could not go on with the state that b leaves."""
    return _why_state_is_lost(playbook) is not None


def _touches_nodeos(playbook: Playbook) -> bool:
    return any(entry.runs_nodeos for entry in playbook.changed_hosts)


def _why_state_is_lost(playbook: Playbook) -> str | None:
    """Return why a's nodeos could not go on with the state that b leaves; None when it can."""
    if not _touches_nodeos(playbook):
        return None
    if "tmpfs" in (playbook.a.state_on, playbook.b.state_on):
        return "a state on tmpfs is gone after a stop"
    change = playbook.change
    moved = (
        change is not None
        and change.config is not None
        and STATE_OPTIONS & {*change.config.set, *change.config.remove}
    )
    if moved:
        return "the state directory is another one"
    return _why_versions_differ(playbook)


def _why_versions_differ(playbook: Playbook) -> str | None:
    before, after = (_version(s) for s in (playbook.a, playbook.b))
    only_config = playbook.change is not None and playbook.change.command is None
    runs_commands = playbook.restart is not None and playbook.restart.prepare
    if before is None or after is None:
        if only_config and not runs_commands and playbook.a.version == playbook.b.version:
            return None  # lines of config.ini change no version
        return "a.version and b.version are not both given, so that the same state format cannot be proved"
    if state_format(before) != state_format(after):
        return f"{before.name} and {after.name} have different state formats"
    return None


def _by_snapshot(playbook: Playbook, reason: str) -> Proof:
    back = playbook.roll_back
    if back is None or back.snapshot is None:
        return Proof(holds=False, reason=f"{reason}; name a snapshot under roll_back that a's version loads")
    made, loads = _parsed(back.snapshot_version), _version(playbook.a)
    if made is None or loads is None:
        return Proof(
            holds=False, reason=f"{reason}; roll_back.snapshot_version and a.version must say that it loads"
        )
    if not back.prepare:
        return Proof(holds=False, reason=f"{reason}; roll_back.prepare must put the snapshot in place")
    if made.order > loads.order and state_format(made) != state_format(loads):
        return Proof(holds=False, reason=f"{reason}; {loads.name} does not load a snapshot of {made.name}")
    return Proof(holds=True, reason=f"{reason}, but {loads.name} loads the snapshot {back.snapshot}")


def _version(situation: Situation) -> Version | None:
    return _parsed(situation.version)


def _parsed(text: str | None) -> Version | None:
    try:
        return parse_version(text) if text else None
    except ValueError:
        return None

"""What each host is now, and how far a run is, told from its log alone. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from leapprof.config.playbook_schema import Playbook
from leapprof.experiment.runlog import Entry
from leapprof.experiment.steps import Step, plan_steps

_WHAT = {
    "edit": "config.ini",
    "command": "the command",
    "stop": "the stop of nodeos",
    "prepare": "a prepare command",
    "start": "the start of nodeos",
    "manual": "the operator's change",
}


def host_states(playbook: Playbook, entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return one sentence a host: what leapprof did to it, and what was begun and not finished."""
    return tuple(_host_state(entry.host, entries) for entry in playbook.hosts)


def _host_state(host: str, entries: Sequence[Entry]) -> str:
    mine = [e for e in entries if e.data.get("host") == host and e.kind in ("intent", "done")]
    if not mine:
        return f"{host}: as it was, nothing was changed"
    done = {e.step for e in mine if e.kind == "done"}
    begun = [e for e in mine if e.kind == "intent" and e.step not in done]
    parts = [
        part for part in (_config_state(mine), _process_state(mine, begun), _situation(mine, begun)) if part
    ]
    parts += [
        f"{_WHAT.get(str(e.data.get('what')), e.step)}: step {e.step} was begun and not seen to end; --resume finds out"
        for e in begun[-1:]
    ]
    return f"{host}: {'; '.join(parts) or 'nothing of what was done is left'}"


def _config_state(mine: Sequence[Entry]) -> str | None:
    edits = [e for e in mine if e.data.get("what") == "edit" and e.kind == "done"]
    if not edits or edits[-1].data.get("suffix") is None:
        return None
    data = edits[-1].data
    if data.get("to") == "a":
        return f"{data['path']} is back as it was"
    return f"{data['path']} is edited, its backup is {data['path']}.{data['suffix']}.bak"


def _process_state(mine: Sequence[Entry], begun: Sequence[Entry]) -> str | None:
    moves = [e for e in mine if e.data.get("what") in ("stop", "start") and e.kind == "done"]
    if not moves:
        return None
    if moves[-1].data["what"] == "start":
        return "nodeos was restarted and came up"
    if begun and begun[-1].data.get("what") == "start":
        return "nodeos was stopped"
    dirty = " with a dirty state" if moves[-1].data.get("dirty") else ""
    return f"nodeos is stopped{dirty} and was not started again"


def _situation(mine: Sequence[Entry], begun: Sequence[Entry]) -> str | None:
    if begun:
        return None
    return f"on its way to situation {mine[-1].data['to']}" if mine[-1].data.get("what") != "start" else None


def status_lines(playbook: Playbook, entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return what `leapprof run --status` prints."""
    steps = plan_steps(playbook)
    lines = [f"{_mark(step, entries):>8}  {step.id}  {step.title}" for step in steps]
    planned = {step.id for step in steps}
    more = dict.fromkeys(e.step for e in entries if e.kind in ("intent", "done") and e.step not in planned)
    lines += [f"{_mark_of(step, entries):>8}  {step}" for step in more]
    failed = [e for e in entries if e.kind == "failed"]
    if failed:
        lines += ["", f"last failure, {_time(failed[-1].wall_ns)}: {failed[-1].data.get('problem', '')}"]
    ended = [e for e in entries if e.kind == "ended"]
    lines += ["", *host_states(playbook, entries)]
    lines.append(f"ended: {ended[-1].data.get('outcome')}" if ended else "not ended; go on with --resume")
    return tuple(lines)


def _mark(step: Step, entries: Sequence[Entry]) -> str:
    return _mark_of(step.id, entries)


def _mark_of(step: str, entries: Sequence[Entry]) -> str:
    kinds = {e.kind for e in entries if e.step == step}
    for kind, mark in (
        ("ended", "done"),
        ("done", "done"),
        ("failed", "failed"),
        ("intent", "begun"),
        ("begun", "begun"),
    ):
        if kind in kinds:
            return mark
    return ""


def _time(wall_ns: int) -> str:
    return datetime.fromtimestamp(wall_ns // 10**9, tz=UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def summary_of(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return done and failed steps for machines."""
    return {
        "done": [e.step for e in entries if e.kind == "done"],
        "failed": [{"step": e.step, "problem": e.data.get("problem")} for e in entries if e.kind == "failed"],
        "ended": next((dict(e.data) for e in reversed(entries) if e.kind == "ended"), None),
    }

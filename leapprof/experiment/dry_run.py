"""Every step and every command of a playbook, in order, with times. Pure: no host is asked."""

from itertools import groupby

from leapprof.config.playbook_schema import Playbook
from leapprof.experiment.rollback import prove_roll_back
from leapprof.experiment.steps import Step, StepKind, plan_steps
from leapprof.units import format_duration


def dry_run_lines(playbook: Playbook) -> tuple[str, ...]:
    """Return what `leapprof run --dry-run` prints."""
    hosts = "1 host" if len(playbook.hosts) == 1 else f"{len(playbook.hosts)} hosts"
    lines = [
        playbook.title,
        f"design {playbook.design}, {hosts}, up to {playbook.max_parallel} changed at once",
        "",
    ]
    elapsed_s, is_exact = 0.0, True
    for _, group in groupby(plan_steps(playbook), key=lambda step: (step.stage, step.kind is StepKind.GATES)):
        steps = list(group)
        for step in steps:
            clock = _clock(elapsed_s) + ("" if is_exact else "+")
            mark = "!" if step.changes_host else " "
            lines.append(f"{mark} {clock:>10}  {_titled(step)}")
            lines += [f"                 {command}" for command in step.commands]
            is_exact = is_exact and step.seconds is not None
            elapsed_s += 0.0 if step.kind is StepKind.GATES else step.seconds or 0.0
        if steps[0].kind is StepKind.GATES:  # all hosts wait at once
            elapsed_s += max(step.seconds or 0.0 for step in steps)
            is_exact = False
    proof = prove_roll_back(playbook)
    offered = "offered" if proof.holds else "not offered"
    lines += [
        "",
        f"at least {format_duration(elapsed_s)}; + marks times that depend on the hosts, ! marks what changes a host",
        f"roll-back: {offered}: {proof.reason}",
        "nothing was asked of any host and nothing was changed",
    ]
    return tuple(lines)


def _titled(step: Step) -> str:
    about = f" {step.host}:" if step.host else ""
    way = f" (to {step.to})" if step.changes_host else ""
    takes = f", {format_duration(step.seconds)}" if step.seconds else ""
    return f"{step.id}{way}{about} {step.title}{takes}"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"

"""What `leapprof doctor` asks and prints."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from leapprof.cli.doctor_lines import nodeos_lines, nodeos_title
from leapprof.cli.folding import folded, terminal_width
from leapprof.cli.record_run import chosen_hosts
from leapprof.config.selector import parse_selector
from leapprof.model import Device
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.diagnosis import Diagnosis, diagnose_hosts
from leapprof.recorder.session import HostSurvey
from leapprof.store.codec import Json, encode
from leapprof.units import format_bytes


def run(
    hosts: Sequence[str],
    nodeos: Sequence[str],
    inventory: Path | None,
    transport: str | None,
    *,
    as_json: bool,
) -> None:
    """Ask the hosts and print what was seen.

    Raises:
        ConfigError: a value of the command line is not accepted.
        typer.Exit: a host cannot be sampled.
    """
    selectors = tuple(parse_selector(text) for text in nodeos)
    found = diagnose_hosts(chosen_hosts(hosts, inventory, transport), selectors, SystemClock())
    width = terminal_width()
    sys.stdout.write(_json(found) if as_json else "\n\n".join(_text(one, width) for one in found) + "\n")
    codes = [one.error.exit_code for one in found if one.error is not None]
    if codes:
        raise typer.Exit(min(codes))


def _json(found: Sequence[Diagnosis]) -> str:
    rows: list[dict[str, Json]] = []
    for one in found:
        row: dict[str, Json] = {
            "host": one.host,
            "transport": one.transport,
            "error": None if one.error is None else str(one.error),
            "findings": encode(one.findings),
        }
        if one.surveyed is not None:
            survey = one.surveyed.survey
            row |= {"agent": one.surveyed.agent, "clock": encode(one.surveyed.offset)}
            row |= {"facts": encode(survey.host), "nodeos": encode(survey.nodeos)}
            row |= {"topology": encode(survey.topology), "denied": encode(survey.denied)}
        rows.append(row)
    return json.dumps({"format": 1, "hosts": rows}, indent=1) + "\n"


def _text(one: Diagnosis, width: int | None = None) -> str:
    state = "cannot be sampled" if one.surveyed is None else "can be sampled"
    lines = [f"{one.host} ({one.transport}): {state}"]
    if one.surveyed is not None:
        lines += _survey_lines(one.surveyed, width)
    for finding in one.findings:
        subject = f"{finding.subject}: " if finding.subject and finding.subject != one.host else ""
        lines.append(folded(f"  {finding.severity}: ", f"{subject}{finding.message} ({finding.code})", width))
        lines.append(folded("    → ", finding.hint, width))
    return "\n".join(lines)


def _survey_lines(surveyed: HostSurvey, width: int | None) -> list[str]:
    survey, offset = surveyed.survey, surveyed.offset
    facts = survey.host.facts
    described = ", ".join(facts[name] for name in ("distribution", "kernel", "cpu_model") if name in facts)
    lines = [
        _row("agent", surveyed.agent, width),
        _row("host", described or "not known", width),
        _row(
            "clock", f"{offset.offset_s:+.4f} s off ours, give or take {offset.round_trip_s / 2:.4f} s", width
        ),
        *(_row("drive", _device_text(device), width) for device in survey.topology.physical()),
    ]
    for nodeos in survey.nodeos:
        lines.append(folded("  ", nodeos_title(nodeos), width))
        lines += [
            _row("  " + label, text, width) for label, text in nodeos_lines(nodeos, facts, survey.topology)
        ]
    return lines


def _device_text(device: Device) -> str:
    size = "size not known" if device.size_bytes is None else format_bytes(device.size_bytes)
    return f"{device.name}: {device.model or device.kind}, {size}"


def _row(label: str, text: str, width: int | None) -> str:
    return folded(f"  {label:<12} ", text, width)

"""What `leapprof doctor` asks and prints."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from leapprof.cli.record_run import chosen_hosts
from leapprof.config.selector import parse_selector
from leapprof.model import Device, Nodeos
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
    sys.stdout.write(_json(found) if as_json else "\n\n".join(_text(one) for one in found) + "\n")
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


def _text(one: Diagnosis) -> str:
    lines = [
        f"{one.host} ({one.transport}): {'cannot be sampled' if one.surveyed is None else 'can be sampled'}"
    ]
    if one.surveyed is not None:
        lines += _survey_lines(one.surveyed)
    for finding in one.findings:
        subject = f"{finding.subject}: " if finding.subject and finding.subject != one.host else ""
        lines += [f"  {finding.severity}: {subject}{finding.message} ({finding.code})", f"    {finding.hint}"]
    return "\n".join(_plain(line) for line in lines)


def _survey_lines(surveyed: HostSurvey) -> list[str]:
    facts, offset = surveyed.survey.host.facts, surveyed.offset
    described = ", ".join(facts[name] for name in ("distribution", "kernel", "cpu_model") if name in facts)
    return [
        f"  agent: {surveyed.agent}",
        f"  host: {described}",
        f"  clock: {offset.offset_s:+.4f} s off ours, give or take {offset.round_trip_s / 2:.4f} s",
        *(_nodeos_line(nodeos) for nodeos in surveyed.survey.nodeos),
        *(_device_line(device) for device in surveyed.survey.topology.physical()),
    ]


def _nodeos_line(nodeos: Nodeos) -> str:
    parts = [
        f"pid {nodeos.pid}",
        f"version {nodeos.version or 'not known'}",
        f"map mode {nodeos.map_mode or 'not known'}",
        *(f"{role} on {', '.join(drives)}" for role, drives in sorted(nodeos.roles.items()) if drives),
    ]
    return f"  nodeos {nodeos.id}: " + ", ".join(parts)


def _device_line(device: Device) -> str:
    size = "size not known" if device.size_bytes is None else format_bytes(device.size_bytes)
    return f"  drive {device.name}: {device.model or device.kind}, {size}"


def _plain(text: str) -> str:
    """Return text of a host fit for a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text[:500])

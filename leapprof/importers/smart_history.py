"""SMART history: smartctl's JSON documents, and Scrutiny's ``/api/device/<wwn>/details`` → table ``smart``.

Scrutiny keeps what ``smartctl --json`` said each time its collector ran; its details answer holds the attributes of
each of those moments. They are put back into the form of smartctl's document and read by the same parser, so that
units (attribute 241, NVMe data units) are decided in one place. Scrutiny keeps numbers of ATA attributes and drops the
names that say their units (webapp/backend/pkg/models/measurements/smart_ata_attribute.go): one document of smartctl of
the same drive beside its history gives them back.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from leapprof.errors import ParseError
from leapprof.importers.blocks import Block, Imported, wall_ns_of
from leapprof.importers.devices import DeviceFacts, devices_of
from leapprof.ingest.smart import SECTION, SmartRow, smart_row
from leapprof.model import Finding, Host, Severity
from leapprof.units import DAY_S, NS_PER_S

PROBE = "smart history"
MAX_ATTRIBUTES = 300
Json = dict[str, Any]
_Reading = tuple[int, SmartRow]
_Names = dict[tuple[str, int], str]
WRITE_ATTRIBUTES = (225, 241, 246, 249)
"""Numbers under which SATA drives count what was written, in units that their names tell."""
MAX_DIGITS = 3


def parse_smart_history(name: str, texts: Iterable[str]) -> Imported:
    """Return the readings of drives.

    Args:
        name: of the host.
        texts: documents of smartctl with their time, and details of Scrutiny, in any order.

    Raises:
        ParseError: a text is neither.
    """
    documents = [_object(text) for text in texts]
    names = _attribute_names(documents)
    readings: list[_Reading] = []
    for document in documents:
        readings += _scrutiny(document, names) if "data" in document else [_smartctl(document)]
    if not readings:
        raise ParseError(PROBE, "at least one reading")
    readings.sort(key=lambda r: r[0])
    drives = tuple(sorted({str(row.texts["device"]) for _, row in readings}))
    facts = {
        str(row.texts["device"]): DeviceFacts(model=row.texts["model"], serial=row.texts["serial"])
        for _, row in readings
    }
    return Imported(
        host=Host(name=name, boot_id=""),
        source=f"SMART documents of {', '.join(drives)}, {len(readings)} readings",
        interval_s=_usual_s([t for t, _ in readings]),
        blocks=tuple(_block([r for r in readings if r[1].texts["device"] == drive]) for drive in drives),
        topology=devices_of(drives, facts).topology,
        findings=_without_names(documents, names),
    )


def _usual_s(times_ns: list[int]) -> float:
    steps = np.diff(np.unique(np.array(times_ns, dtype=np.int64)))
    return float(np.median(steps)) / NS_PER_S if steps.size else float(DAY_S)


def _block(readings: Sequence[_Reading]) -> Block:
    unique = [r for i, r in enumerate(readings) if i == 0 or r[0] > readings[i - 1][0]]
    names = [n for n in unique[0][1].integers if any(row.integers[n] is not None for _, row in unique)]
    return Block(
        table="smart",
        texts=dict(unique[-1][1].texts),
        wall_ns=np.array([t for t, _ in unique], dtype=np.int64),
        columns={
            n: np.array([np.nan if (v := row.integers[n]) is None else v for _, row in unique], dtype=float)
            for n in names
        },
    )


def _object(text: str) -> Json:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(PROBE, "JSON of smartctl or of Scrutiny", line=text[:80]) from error
    if not isinstance(document, dict):
        raise ParseError(PROBE, "a JSON object", line=text[:80])
    return document


def _smartctl(document: Json) -> _Reading:
    when = document.get("local_time")
    seconds = when.get("time_t") if isinstance(when, dict) else None
    if not isinstance(seconds, int) or not 0 < seconds < 2**33:
        raise ParseError(PROBE, "local_time.time_t, which `smartctl --json` prints")
    return seconds * NS_PER_S, smart_row(SECTION, "exit 0\n" + json.dumps(document))


def _attribute_names(documents: Sequence[Json]) -> _Names:
    """Return (serial number, number of an ATA attribute) → its name, of smartctl's documents."""
    names: _Names = {}
    for document in documents:
        attributes = document.get("ata_smart_attributes")
        table = attributes.get("table") if isinstance(attributes, dict) else None
        for row in table if isinstance(table, list) else ():
            if isinstance(row, dict) and isinstance(row.get("id"), int):
                names[str(document.get("serial_number")), row["id"]] = str(row.get("name", ""))
    return names


def _without_names(documents: Sequence[Json], names: _Names) -> tuple[Finding, ...]:
    """Return a finding of the drives whose writes stand in Scrutiny's history under a number alone."""
    drives = set()
    for document in documents:
        if "data" in document:
            device, results = _history(document)
            counted = any(
                str(number) in (r.get("attrs") or ()) for r in results for number in WRITE_ATTRIBUTES
            )
            if counted and not any(serial == device.get("serial_number") for serial, _ in names):
                drives.add(str(device.get("device_name")))
    if not drives:
        return ()
    return (
        Finding(
            code="smart-names-missing",
            severity=Severity.WARNING,
            message=f"Scrutiny drops the names of ATA attributes, which say what a unit is: writes of "
            f"{', '.join(sorted(drives))} cannot be read.",
            hint="Give one document of `smartctl --json -a` of each drive beside its history.",
        ),
    )


def _history(document: Json) -> tuple[Json, list[Json]]:
    """Return drive and readings of Scrutiny's answer.

    Raises:
        ParseError: it has another form.
    """
    data = document.get("data")
    device = data.get("device") if isinstance(data, dict) else None
    results = data.get("smart_results") if isinstance(data, dict) else None
    if not isinstance(device, dict) or not isinstance(results, list):
        raise ParseError(PROBE, "data.device and data.smart_results, as Scrutiny's details answer has them")
    return device, [result for result in results if isinstance(result, dict)]


def _scrutiny(document: Json, names: _Names) -> list[_Reading]:
    device, results = _history(document)
    return [_scrutiny_reading(device, result, names) for result in results]


def _scrutiny_reading(device: Json, result: Json, names: _Names) -> _Reading:
    attributes = result.get("attrs")
    if not isinstance(attributes, dict):
        raise ParseError(PROBE, "attrs of each reading")
    try:
        moment = datetime.fromisoformat(str(result.get("date")))
    except ValueError as error:
        raise ParseError(PROBE, "an ISO date of each reading", line=str(result.get("date"))) from error
    wall_ns = wall_ns_of(moment) if moment.tzinfo else None
    if wall_ns is None:
        raise ParseError(PROBE, "a date since 1970 with its time zone", line=str(result.get("date")))
    name = str(device.get("device_name") or "")
    document: Json = {
        "device": {"name": f"/dev/{name}"},
        "model_name": _model(device.get("model_name")),
        "serial_number": device.get("serial_number"),
        "power_on_time": {"hours": result.get("power_on_hours")},
        "temperature": {"current": result.get("temp")},
    }
    items = list(attributes.items())[:MAX_ATTRIBUTES]
    if "data_units_written" in attributes:
        document["device"]["protocol"] = "NVMe"
        document["nvme_smart_health_information_log"] = {
            k: v.get("value") for k, v in items if isinstance(v, dict)
        }
    else:
        document["device"]["protocol"] = "ATA"
        serial = str(device.get("serial_number"))
        rows = [_ata(k, v, names, serial) for k, v in items if isinstance(v, dict)]
        document["ata_smart_attributes"] = {"table": rows}
    return wall_ns, smart_row(SECTION, "exit 0\n" + json.dumps(document))


def _model(name: object) -> object:
    """Return a model as smartctl writes it: Scrutiny has it from udev, which puts underscores for blanks."""
    return name.replace("_", " ") if isinstance(name, str) and " " not in name else name


def _ata(key: str, attribute: Json, names: _Names, serial: str) -> Json:
    number = int(key) if key.isdecimal() and len(key) <= MAX_DIGITS else None
    return {
        "id": number,
        "name": names.get((serial, number or 0), ""),
        "value": attribute.get("value"),
        "thresh": attribute.get("thresh"),
        "raw": {"value": attribute.get("raw_value"), "string": attribute.get("raw_string", "")},
    }

"""`leapprof wear`: TB a year and lifetime per drive, from one recording."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leapprof.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from leapprof.assess.forecast import ForecastOptions
    from leapprof.endurance.ratings import Rating
    from leapprof.endurance.smart import SmartReading
    from leapprof.model import Recording, Topology

MAX_SMART_BYTES = 4 * 2**20
LARGEST_TBW = 1e9


def command(
    recording: Annotated[Path, typer.Argument(help="Directory of a recording.")],
    drive: Annotated[
        list[str], typer.Option(help="Model of a drive in the table of ratings: [DEVICE=]MODEL.")
    ] = [],  # noqa: B006 - typer copies it
    rated_tbw: Annotated[list[str], typer.Option(help="Rated endurance, decimal TB: [DEVICE=]TB.")] = [],  # noqa: B006
    dwpd: Annotated[
        list[str], typer.Option(help="Rated drive writes a day over five years: [DEVICE=]N.")
    ] = [],  # noqa: B006
    restarts_per_year: Annotated[
        float | None, typer.Option(min=0, help="Stops and starts of nodeos a year.")
    ] = None,
    smart: Annotated[
        list[str],
        typer.Option(
            help="[DEVICE=]FILE with the output of `smartctl --json -x` or `nvme smart-log -o json`."
        ),
    ] = [],  # noqa: B006
    volume: Annotated[
        list[str], typer.Option(help="Cloud volume: [DEVICE=]gp3, premium-v2 or IOPS:MB/s.")
    ] = [],  # noqa: B006
    ratings: Annotated[
        Path | None, typer.Option(help="CSV of your own drive ratings, with the columns of leapprof's table.")
    ] = None,
    what_if: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="A measured pair BEFORE AFTER of the planned change: projects it on this host."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say where a host's writes go, how many TB a year that is, and how long each drive lasts."""
    from leapprof.assess.forecast import forecast
    from leapprof.assess.load import load
    from leapprof.assess.what_if import with_what_if
    from leapprof.report.wear_json import wear_json
    from leapprof.report.wear_text import wear_lines

    loaded = load(recording)
    options = _options(loaded.manifest, drive, rated_tbw, dwpd, smart, volume, ratings)
    result = forecast(loaded, dataclasses.replace(options, restarts_per_year=restarts_per_year))
    if what_if is not None:
        result = with_what_if(result, load(what_if[0]), load(what_if[1]))
    if as_json:
        sys.stdout.write(json.dumps(wear_json(result), indent=2, allow_nan=False) + "\n")
    else:
        sys.stdout.write("\n".join(wear_lines(result)) + "\n")


def _options(
    manifest: "Recording",
    drive: list[str],
    rated_tbw: list[str],
    dwpd: list[str],
    smart: list[str],
    volume: list[str],
    ratings: Path | None,
) -> "ForecastOptions":
    from leapprof.assess.forecast import ForecastOptions
    from leapprof.assess.volumes import parse_volume
    from leapprof.endurance.ratings import parse_ratings

    topology = manifest.topology
    more = parse_ratings(_read(ratings), grade="user") if ratings else ()
    given: dict[str, Rating] = {}
    for device, value in _assigned("--drive", drive, topology):
        given[device] = _named_drive(device, value, topology, more)
    for key, values in (("--rated-tbw", rated_tbw), ("--dwpd", dwpd)):
        for device, value in _assigned(key, values, topology):
            given[device] = _stated(key, device, value, topology)
    volumes = dict(_assigned("--volume", volume, topology))
    for name in volumes.values():
        parse_volume(name)
    return ForecastOptions(
        ratings=given,
        smart={d: _smart(Path(file)) for d, file in _assigned("--smart", smart, topology)},
        volume=volumes,
        more_ratings=more,
    )


def _assigned(key: str, values: list[str], topology: "Topology") -> list[tuple[str, str]]:
    """Return device and value of each `[DEVICE=]VALUE`; without a device there must be just one drive."""
    physical = [d.name for d in topology.physical()]
    found = []
    for text in values:
        device, separator, value = text.partition("=")
        if not separator:
            if len(physical) != 1:
                raise ConfigError(
                    f"this recording has {len(physical)} drives ({', '.join(physical)}); say which: DEVICE={text}",
                    key=key,
                )
            device, value = physical[0], text
        if device not in physical:
            raise ConfigError(f"no drive {device!r} here; there are {', '.join(physical)}", key=key)
        found.append((device, value))
    return found


def _named_drive(device: str, model: str, topology: "Topology", more: "tuple[Rating, ...]") -> "Rating":
    from leapprof.endurance.ratings import find_rating

    known = topology.device(device)
    capacity = known.size_bytes if known else None
    found = (find_rating(model, capacity, more) if more else None) or find_rating(model, capacity)
    found = found or find_rating(model, None)
    if found is None:
        raise ConfigError(
            f"no rating of {model!r} with this capacity is known; give --rated-tbw {device}=TB from its data sheet",
            key="--drive",
        )
    return found


def _stated(key: str, device: str, text: str, topology: "Topology") -> "Rating":
    from leapprof.endurance.ratings import Rating, tbw_from_dwpd

    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < LARGEST_TBW:
        raise ConfigError(f"{text!r} is no rating; give a number above 0", key=key)
    known = topology.device(device)
    size = known.size_bytes if known else None
    if key == "--dwpd" and size is None:
        raise ConfigError(f"the size of {device} is not known; give --rated-tbw instead", key=key)
    return Rating(
        vendor="",
        product="your rating",
        model_regex="",
        capacity_bytes=size or 0,
        rated_tbw=number if key == "--rated-tbw" else tbw_from_dwpd(number, size or 0),
        dwpd=number if key == "--dwpd" else None,
        warranty_years=5.0,
        grade="user",
        source=f"{key} {text}",
    )


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_SMART_BYTES + 1).decode("utf-8", errors="replace")
    except OSError as error:
        raise StoreError(str(path), f"cannot be read: {error.strerror}") from error


def _smart(path: Path) -> "SmartReading":
    from leapprof.endurance.smart import parse_smart

    return parse_smart(_read(path))

"""`leapprof wear`: TB a year and lifetime per drive, from one recording, or from guests and their hypervisor."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leapprof.cli.options import InventoryOption, JsonOption
from leapprof.errors import ConfigError

if TYPE_CHECKING:
    from leapprof.assess.load import LoadedRecording
    from leapprof.cli.wear_options import Said
    from leapprof.model.wear import WearForecast

FORMATS = ("text", "md", "json")


def command(
    recordings: Annotated[
        list[Path],
        typer.Argument(
            help="Directory of a recording; several guests with --hypervisor or --one-drive.",
            metavar="RECORDING",
            show_default=False,
        ),
    ],
    drive: Annotated[
        list[str], typer.Option(help="Model of a drive in the table of ratings.", metavar="[DEVICE=]MODEL")
    ] = [],  # noqa: B006 - typer copies it
    rated_tbw: Annotated[
        list[str], typer.Option(help="Rated endurance, decimal TB.", metavar="[DEVICE=]TB")
    ] = [],  # noqa: B006
    dwpd: Annotated[
        list[str], typer.Option(help="Rated drive writes a day over five years.", metavar="[DEVICE=]N")
    ] = [],  # noqa: B006
    ratings: Annotated[
        Path | None,
        typer.Option(
            help="CSV of your own drive ratings, with the columns of leapprof's table.", metavar="FILE"
        ),
    ] = None,
    price: Annotated[
        list[str], typer.Option(help="Price of the drive, any currency.", metavar="[DEVICE=]PRICE")
    ] = [],  # noqa: B006
    restarts_per_year: Annotated[
        float | None, typer.Option(min=0, max=1e6, help="Stops and starts of nodeos a year.", metavar="N")
    ] = None,
    smart: Annotated[
        list[str],
        typer.Option(
            help="Output of `smartctl --json -x` or `nvme smart-log -o json`.", metavar="[DEVICE=]FILE"
        ),
    ] = [],  # noqa: B006
    volume: Annotated[
        list[str], typer.Option(help="Cloud volume: gp3, premium-v2 or IOPS:MB/s.", metavar="[DEVICE=]VOLUME")
    ] = [],  # noqa: B006
    hypervisor: Annotated[
        str | None,
        typer.Option(
            help="Recording of the hypervisor whose drive the recorded guests' disks lie on.",
            metavar="[DRIVE=]RECORDING",
        ),
    ] = None,
    one_drive: Annotated[
        bool, typer.Option("--one-drive", help="The disks of all these guests lie on one drive: add them up.")
    ] = False,
    what_if: Annotated[
        list[str],
        typer.Option(
            help="Project a measured change on this host: two recordings, BEFORE AFTER; this host's recording after "
            "it; a folder of two; or, in a checkout, the name of a pair of samples/: mapped_private, heap, 4k-folios.",
            metavar="BEFORE AFTER",
        ),
    ] = [],  # noqa: B006
    inventory: InventoryOption = None,
    output: Annotated[
        str, typer.Option("--format", help="text, md (to be pasted) or json.", metavar="FORMAT")
    ] = "text",
    as_json: JsonOption = False,
) -> None:
    """Say where a host's writes go, how many TB a year that is, and how long each drive lasts."""
    from leapprof.assess.load import load
    from leapprof.cli.wear_options import Said

    if output not in FORMATS:
        raise ConfigError(f"{output!r} is none of {', '.join(FORMATS)}", key="--format")
    said = Said(
        drive=drive,
        rated_tbw=rated_tbw,
        dwpd=dwpd,
        ratings=ratings,
        price=price,
        restarts_per_year=restarts_per_year,
        smart=smart,
        volume=volume,
        inventory=inventory,
    )
    recordings, what_if = _pair_apart(recordings, what_if)
    loaded = [load(path) for path in recordings]
    if one_drive or hypervisor is not None:
        if one_drive and hypervisor is not None:
            raise ConfigError("not together with --hypervisor, which tells the drive", key="--one-drive")
        if what_if:
            raise ConfigError("of one guest alone: without --hypervisor and --one-drive", key="--what-if")
        result = _of_guests(loaded, hypervisor, said)
    else:
        result = _of_one(loaded, what_if, said)
    _print(result, "json" if as_json else output)


def _pair_apart(recordings: list[Path], what_if: list[str]) -> tuple[list[Path], list[str]]:
    """Return both anew: of ``RECORDING --what-if BEFORE AFTER`` the parser leaves AFTER with the recordings."""
    if len(recordings) == 2 and len(what_if) == 1:
        return recordings[:1], [what_if[0], str(recordings[1])]
    return recordings, what_if


def _of_one(loaded: "list[LoadedRecording]", what_if: list[str], said: "Said") -> "WearForecast":
    from leapprof.assess.forecast import forecast
    from leapprof.assess.what_if import with_what_if
    from leapprof.cli.wear_options import forecast_options
    from leapprof.cli.wear_pairs import find_pair

    if len(loaded) != 1:
        raise ConfigError(
            "several recordings are guests of one machine: say --hypervisor RECORDING or --one-drive",
            key="RECORDING",
        )
    result = forecast(loaded[0], forecast_options(loaded[0].manifest, said))
    if what_if:
        pair = find_pair(what_if, loaded[0])
        result = with_what_if(result, pair.before, pair.after, pair.name, pair.stops)
    return result


def _of_guests(loaded: "list[LoadedRecording]", hypervisor: str | None, said: "Said") -> "WearForecast":
    from leapprof.assess.forecast import ForecastOptions, forecast
    from leapprof.assess.guests import on_one_drive, with_guests
    from leapprof.assess.load import load
    from leapprof.cli.wear_options import forecast_options, shared_drive, split_device

    options = ForecastOptions(restarts_per_year=said.restarts_per_year)
    guests = [forecast(one, options) for one in loaded]
    if hypervisor is None:
        drive, source = shared_drive(said)
        return on_one_drive(guests, drive, source)
    device, path = split_device(hypervisor)
    host = load(Path(path))
    drives = [d.name for d in host.manifest.topology.physical()]
    if device is None and len(drives) == 1:
        device = drives[0]
    if device not in drives:
        raise ConfigError(
            f"say on which of its drives ({', '.join(drives)}) the guests' disks lie: DRIVE={path}",
            key="--hypervisor",
        )
    return with_guests(forecast(host, forecast_options(host.manifest, said)), str(device), guests)


def _print(result: "WearForecast", output: str) -> None:
    from leapprof.cli.folding import summary_width
    from leapprof.report.wear_json import wear_json
    from leapprof.report.wear_markdown import wear_markdown
    from leapprof.report.wear_text import wear_lines

    if output == "json":
        sys.stdout.write(json.dumps(wear_json(result), indent=2, allow_nan=False) + "\n")
    elif output == "md":
        sys.stdout.write(wear_markdown(result))
    else:
        sys.stdout.write("\n".join(wear_lines(result, summary_width())) + "\n")

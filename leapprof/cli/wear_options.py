"""What an operator says to `leapprof wear` about drives, as the forecast wants it."""

from dataclasses import dataclass
from pathlib import Path

from leapprof.assess.carried import network_disks
from leapprof.assess.forecast import ForecastOptions
from leapprof.assess.lives import Drive
from leapprof.assess.volumes import parse_volume
from leapprof.config.inventory import resolve_hosts
from leapprof.endurance.ratings import (
    Rating,
    find_rating,
    known_ratings,
    matching,
    parse_ratings,
    tbw_from_dwpd,
)
from leapprof.endurance.smart import SmartReading, parse_smart
from leapprof.errors import ConfigError, unreadable
from leapprof.model import DeviceKind, Recording, Topology
from leapprof.model.access import DeviceRating
from leapprof.units import format_bytes, significant

MAX_FILE_BYTES = 4 * 2**20
LARGEST = 1e9
MOST_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The options as they were given; lists hold ``[DEVICE=]VALUE``."""

    drive: list[str]
    rated_tbw: list[str]
    dwpd: list[str]
    ratings: Path | None
    price: list[str]
    restarts_per_year: float | None
    smart: list[str]
    volume: list[str]
    inventory: Path | None = None


def split_device(text: str) -> tuple[str | None, str]:
    """Return device and value of ``[DEVICE=]VALUE``; a slash before the sign is part of a path."""
    device, separator, value = text.partition("=")
    return (device, value) if separator and "/" not in device else (None, text)


def forecast_options(manifest: Recording, said: Said) -> ForecastOptions:
    """Return what was said of the drives of a recording: by the inventory, and over it by the command line.

    Raises:
        ConfigError: a device that is not there, a value that is none, or a file that cannot be read.
        ParseError: a file is not what it should be.
    """
    topology = manifest.topology
    more = _own_ratings(said.ratings)
    given = _of_inventory(manifest, said.inventory, more)
    for device, value in _assigned("--drive", said.drive, topology):
        given[device] = _named_drive("--drive", device, value, topology, more)
    for key, values in (("--rated-tbw", said.rated_tbw), ("--dwpd", said.dwpd)):
        for device, value in _assigned(key, values, topology):
            given[device] = _stated(key, device, positive(key, value), topology)
    volumes = dict(_assigned("--volume", said.volume, topology))
    for name in volumes.values():
        parse_volume(name)
    return ForecastOptions(
        ratings=given,
        restarts_per_year=said.restarts_per_year,
        smart={d: _smart(Path(file)) for d, file in _assigned("--smart", said.smart, topology)},
        volume=volumes,
        price={d: positive("--price", text) for d, text in _assigned("--price", said.price, topology)},
        more_ratings=more,
    )


def _own_ratings(path: Path | None) -> tuple[Rating, ...]:
    return () if path is None else parse_ratings(_read(path), grade="user", name=str(path))


def shared_drive(said: Said) -> tuple[Drive, str | None]:
    """Return what was said of the one drive below several guests, and where its rating comes from.

    Raises:
        ConfigError: a device was named, or more than one rating.
    """
    more = _own_ratings(said.ratings)
    for key, values in (("--smart", said.smart), ("--volume", said.volume), ("--dwpd", said.dwpd)):
        if values:
            raise ConfigError("the one drive below guests takes --drive, --rated-tbw and --price", key=key)
    if len(said.rated_tbw) + len(said.drive) > 1 or len(said.price) > 1:
        raise ConfigError("say it once, of the one drive", key="--one-drive")
    price = positive("--price", said.price[0]) if said.price else None
    if said.drive:
        rating = _by_model("--drive", said.drive[0], None, more)
        drive = Drive(rated_tbw=rating.rated_tbw, warranty_years=rating.warranty_years, price=price)
        return drive, f"{rating.vendor} {rating.product} ({rating.source})"
    if said.rated_tbw:
        rated = positive("--rated-tbw", said.rated_tbw[0])
        return Drive(rated_tbw=rated, price=price), "your rating (--rated-tbw)"
    return Drive(price=price), None


def positive(key: str, text: str) -> float:
    """Return the number above 0 that a text says.

    Raises:
        ConfigError: it says none.
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < LARGEST:
        raise ConfigError(f"{text!r} is no number above 0", key=key)
    return number


def stated_tbw(manifest: Recording, rated_tbw: list[str], inventory: Path | None) -> dict[str, float]:
    """Return device → rated TBW that inventory and, over it, the command line say of a recording's drives.

    Raises:
        ConfigError: a device that is not there, or a value that is none.
    """
    found = {name: rating.rated_tbw for name, rating in _of_inventory(manifest, inventory, ()).items()}
    for device, text in _assigned("--rated-tbw", rated_tbw, manifest.topology):
        found[device] = positive("--rated-tbw", text)
    return found


def _of_inventory(manifest: Recording, inventory: Path | None, more: tuple[Rating, ...]) -> dict[str, Rating]:
    """Return device → rating that the inventory says of the recording's host; drives that are not there are left."""
    if inventory is None:
        return {}
    found = {}
    for host in resolve_hosts([manifest.host.name], inventory):
        for rating in host.devices:
            if manifest.topology.device(rating.device) is not None:
                chosen = _of_entry(rating, manifest.topology, more)
                if chosen is not None:
                    found[rating.device] = chosen
    return found


def _of_entry(entry: DeviceRating, topology: Topology, more: tuple[Rating, ...]) -> Rating | None:
    if entry.rated_tbw is not None:
        return _stated("rated_tbw", entry.device, entry.rated_tbw, topology)
    if entry.dwpd is not None:
        return _stated("dwpd", entry.device, entry.dwpd, topology)
    return _named_drive("drive", entry.device, entry.drive, topology, more) if entry.drive else None


def _assigned(key: str, values: list[str], topology: Topology) -> list[tuple[str, str]]:
    """Return device and value of each ``[DEVICE=]VALUE``; without a device there must be just one drive."""
    drives = [d.name for d in (*topology.physical(), *network_disks(topology))]
    found = []
    for text in values:
        device, value = split_device(text)
        if device is None:
            if len(drives) != 1:
                raise ConfigError(
                    f"this recording has {len(drives)} drives ({', '.join(drives)}); say which: DEVICE={text}",
                    key=key,
                )
            device = drives[0]
        if device not in drives:
            raise ConfigError(f"no drive {device!r} here; there are {', '.join(drives)}", key=key)
        found.append((device, value))
    return found


def _named_drive(key: str, device: str, model: str, topology: Topology, more: tuple[Rating, ...]) -> Rating:
    """Return the rating of a model; a virtual disk is smaller than the drive below it."""
    known = topology.device(device)
    is_real = known is not None and known.kind is not DeviceKind.VIRTUAL
    return _by_model(key, model, known.size_bytes if known is not None and is_real else None, more)


def _by_model(key: str, model: str, capacity: int | None, more: tuple[Rating, ...]) -> Rating:
    found = (find_rating(model, capacity, more) if more else None) or find_rating(model, capacity)
    found = found or find_rating(model, None)
    if found is not None:
        return found
    sizes = sorted({(r.capacity_bytes, r.rated_tbw) for r in matching(model, (*more, *known_ratings()))})
    told = "; ".join(f"{format_bytes(size)}: {significant(tbw, 4)} TBW" for size, tbw in sizes[:MOST_NAMED])
    problem = f"{model!r} is rated by its capacity ({told})" if sizes else f"no rating of {model!r} is known"
    raise ConfigError(f"{problem}; say --rated-tbw TB from the drive's data sheet", key=key)


def _stated(key: str, device: str, number: float, topology: Topology) -> Rating:
    known = topology.device(device)
    size = known.size_bytes if known else None
    if key.endswith("dwpd") and (size is None or (known is not None and known.kind is DeviceKind.VIRTUAL)):
        raise ConfigError(
            f"drive writes a day need the size of the drive, and that of {device} is not known; say --rated-tbw",
            key=key,
        )
    return Rating(
        vendor="",
        product="your rating",
        model_regex="",
        capacity_bytes=size or 0,
        rated_tbw=tbw_from_dwpd(number, size or 0) if key.endswith("dwpd") else number,
        dwpd=number if key.endswith("dwpd") else None,
        warranty_years=5.0,
        grade="user",
        source=f"{key} {number:g}",
    )


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1).decode("utf-8", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from error


def _smart(path: Path) -> SmartReading:
    return parse_smart(_read(path))

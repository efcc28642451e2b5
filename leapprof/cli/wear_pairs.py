"""Which measured pair `leapprof wear --what-if` means: paths, or the name of one in the samples of a checkout."""

from dataclasses import dataclass
from pathlib import Path

import leapprof
from leapprof.assess.load import LoadedRecording, load
from leapprof.errors import ConfigError

KEY = "--what-if"
MANIFEST = "recording.json"
STOPS = {"mapped_private": "nodeos-v5-starts/mapped_private"}
"""Where the stops and starts of a pair's second node are, when they were recorded apart."""
SAMPLES = {
    "mapped_private": ("nodeos-v5-long/mapped", "nodeos-v5-long/mapped_private"),
    "heap": ("nodeos-v4/mapped", "nodeos-v4/heap"),
    "4k-folios": ("nodeos-v5/mapped", "nodeos-v5/mapped-4k-folios"),
}
"""Pairs of a real nodeos, measured; what was reconstructed from published figures is not here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two recordings, before and after a change, what to call them, and where stops after the change are."""

    before: LoadedRecording
    after: LoadedRecording
    name: str
    stops: LoadedRecording | None = None


def find_pair(values: list[str], here: LoadedRecording) -> Pair:
    """Return the pair that an operator names.

    Args:
        values: one: a recording of this host after the change, a folder of two recordings, or a name of SAMPLES;
            two: BEFORE and AFTER.
        here: the recording that the projection is for.

    Raises:
        ConfigError: no such pair.
        StoreError: a recording cannot be read.
    """
    if len(values) > 2:
        raise ConfigError("give it once, or twice: BEFORE, then AFTER", key=KEY)
    if len(values) == 2:
        return Pair(before=load(Path(values[0])), after=load(Path(values[1])), name="")
    path = Path(values[0])
    if (path / MANIFEST).is_file():
        return Pair(before=here, after=load(path), name="")
    if path.is_dir():
        return _in_folder(path)
    if values[0] in SAMPLES:
        return _sample(values[0], here)
    raise ConfigError(
        f"{values[0]!r} is no recording, no folder of two, and no measured pair; known pairs: {', '.join(SAMPLES)}",
        key=KEY,
    )


def _in_folder(path: Path) -> Pair:
    found = [load(p) for p in sorted(path.iterdir()) if (p / MANIFEST).is_file()]
    by_phase = {one.manifest.phase: one for one in found}
    if len(found) != 2 or set(by_phase) != {"before", "after"}:
        raise ConfigError(
            f"{path} holds {len(found)} recordings, not one of phase before and one of phase after", key=KEY
        )
    return Pair(before=by_phase["before"], after=by_phase["after"], name="")


def _sample(name: str, here: LoadedRecording) -> Pair:
    modes = {n.map_mode for n in here.manifest.nodeos}
    if name in modes:
        raise ConfigError(f"nodeos runs in {name} here already", key=KEY)
    samples = Path(leapprof.__file__).parent.parent / "samples"
    before, after = (samples / part for part in SAMPLES[name])
    if not ((before / MANIFEST).is_file() and (after / MANIFEST).is_file()):
        raise ConfigError(
            f"{name!r} is a pair of samples/, which only a checkout of leapprof holds; give two recordings of your own",
            key=KEY,
        )
    stops = samples / STOPS[name] if name in STOPS else None
    return Pair(
        before=load(before),
        after=load(after),
        name=f"samples/{SAMPLES[name][0]} → {SAMPLES[name][1]}",
        stops=load(stops) if stops is not None and (stops / MANIFEST).is_file() else None,
    )

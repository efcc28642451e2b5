"""Which recordings of several hosts belong together: directories of them, paired by host and phase."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leapprof.assess.material import warning
from leapprof.errors import ConfigError, StoreError
from leapprof.model import Finding, Recording, evidence
from leapprof.store.manifest import MANIFEST_NAME, read_manifest
from leapprof.store.named import check_named, first_of

BEFORE, AFTER = "before", "after"
MOST_SIDES = 2
MOST_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One recording."""

    path: Path
    manifest: Recording

    @property
    def host(self) -> str:
        """Return the host as the operator called it."""
        return self.manifest.host.name


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPair:
    """The recordings of one host before and after."""

    host: str
    before: Path
    after: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The hosts that can be compared, and what is to be said of the others."""

    pairs: tuple[HostPair, ...]
    findings: tuple[Finding, ...]

    @property
    def alone(self) -> HostPair | None:
        """Return the pair when it is of one host and there is nothing to be said of others."""
        return self.pairs[0] if len(self.pairs) == 1 and not self.findings else None


def recordings_below(path: Path) -> tuple[Path, ...]:
    """Return the recordings right below a directory; the path itself if it is one, or holds none."""
    if (path / MANIFEST_NAME).exists() or not path.is_dir():
        return (path,)
    below = tuple(sorted(p.parent for p in path.glob(f"*/{MANIFEST_NAME}")))
    return below or (path,)


def pair_hosts(given: Sequence[Path]) -> Paired | None:
    """Return the hosts of what an operator named, paired; None when it is not about several hosts.

    Args:
        given: BEFORE and AFTER, each a recording or a directory of them; one directory of both phases; or
            recordings of several hosts in both phases. Where phases are given, they say which side it is.

    Raises:
        ConfigError: nothing says which recordings are before and which after.
        NoRecordingError: something that was named, and not only found below it, is no recording.
    """
    sides = [recordings_below(path) for path in given]
    are_directories = any(len(side) > 1 for side in sides)
    if not are_directories and len(given) < MOST_SIDES + 1:
        return None
    for path, side in zip(given, sides, strict=True):
        if side == (path,):
            check_named(path)
    findings: list[Finding] = []
    opened = [tuple(_opened(side, findings)) for side in sides]
    if not are_directories and len({found.host for side in opened for found in side}) == 1:
        return None
    before, after = _split(opened)
    return _paired(before, after, findings)


def of_one_host(given: Sequence[Path]) -> tuple[Path, ...]:
    """Return the recordings that an operator named, directories of one host's recordings resolved.

    Raises:
        ConfigError: nothing says which recordings are before and which after.
    """
    paired = pair_hosts(given)
    if paired is not None and paired.alone is not None:
        return paired.alone.before, paired.alone.after
    return tuple(below[0] if len(below := recordings_below(path)) == 1 else path for path in given)


def _opened(paths: Iterable[Path], findings: list[Finding]) -> Iterator[Found]:
    """Yield the recordings that can be read; the others become findings."""
    for path in paths:
        try:
            yield Found(path=path, manifest=read_manifest(path))
        except StoreError as error:
            findings.append(
                warning(
                    "recording-unreadable",
                    f"{path.name} cannot be read: {error.problem}.",
                    "See what is in it with leapprof show; the other hosts are compared without it.",
                    subject=path.name,
                )
            )


def _split(sides: Sequence[Sequence[Found]]) -> tuple[list[Found], list[Found]]:
    """Return the recordings before and after: by their phases, else by the two arguments.

    Raises:
        ConfigError: neither tells.
    """
    every = list({found.path: found for side in sides for found in side}.values())
    before, after = ([f for f in every if f.manifest.phase == phase] for phase in (BEFORE, AFTER))
    if before and after and len(before) + len(after) == len(every):
        return before, after
    if len(sides) != MOST_SIDES:
        raise ConfigError(
            f"several recordings ({first_of([found.path for found in every])}): name BEFORE and AFTER, each a "
            "recording or a directory of several hosts', or recordings of the phases before and after",
            key="RECORDING",
        )
    return list(sides[0]), list(sides[1])


def _paired(before: Sequence[Found], after: Sequence[Found], findings: list[Finding]) -> Paired:
    """Return the pairs by host name; whoever has no partner is named."""
    first, second = _by_host(before, BEFORE, findings), _by_host(after, AFTER, findings)
    for host in sorted({*first} ^ {*second}):
        has, lacks = (BEFORE, AFTER) if host in first else (AFTER, BEFORE)
        findings.append(
            warning(
                "host-without-partner",
                f"{host} was recorded {has} the change and not {lacks}: it is not compared.",
                f"Record it {lacks} as well under the same name, or leave it out.",
                subject=host,
            )
        )
    pairs = tuple(
        HostPair(host=host, before=first[host].path, after=second[host].path)
        for host in sorted({*first} & {*second})
    )
    return Paired(pairs=pairs, findings=tuple(findings))


def _by_host(side: Sequence[Found], label: str, findings: list[Finding]) -> dict[str, Found]:
    """Return one recording a host, the latest; others of it are named."""
    chosen: dict[str, Found] = {}
    for found in sorted(side, key=lambda f: f.manifest.started_wall_ns or 0):
        chosen[found.host] = found
    for host, latest in chosen.items():
        left = [f.path.name for f in side if f.host == host and f.path != latest.path]
        if left:
            findings.append(
                warning(
                    "several-recordings",
                    f"{host} has {len(left) + 1} recordings {label} the change: {latest.path.name}, the latest, is "
                    f"compared, and not {', '.join(left[:MOST_NAMED])}.",
                    "Keep the recordings of one comparison in a directory of their own.",
                    subject=host,
                    evidence=evidence("count", recordings=len(left) + 1),
                )
            )
    return chosen

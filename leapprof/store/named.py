"""What an operator named as a recording: a directory with a manifest, or a mistake that is told apart from damage."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from leapprof.errors import NoRecordingError, StoreError
from leapprof.store.journal import JOURNAL_NAME
from leapprof.store.manifest import MANIFEST_NAME

MOST_NAMED = 3
_MOST_LOOKED_AT = 1000
_SEGMENTS = "*-[0-9]*.parquet"
_ADVICE = "give the directory that `leapprof record` printed"


def check_named(path: Path) -> None:
    """Refuse a path that is no recording's directory; where recordings lie below it, name them.

    Raises:
        NoRecordingError: it is not there, cannot be read, is a file, or is a directory of something else.
        StoreError: it was a recording, and its manifest is gone.
    """
    try:
        with (path / MANIFEST_NAME).open("rb"):
            return
    except (
        FileNotFoundError,
        NotADirectoryError,
        ValueError,
    ):  # ValueError: a name with a NUL, as TOML can say
        pass
    except OSError as error:
        raise NoRecordingError(str(path), f"cannot be read: {error.strerror or error}") from error
    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise NoRecordingError(str(path), f"{what}; {_ADVICE}")
    below = recordings_in(path)
    if below:
        raise NoRecordingError(str(path), _holding(below), tuple(map(str, below)))
    if (path / JOURNAL_NAME).exists() or any(path.glob(_SEGMENTS)):
        raise StoreError(str(path), f"its {MANIFEST_NAME} is gone; restore it from a copy")
    raise NoRecordingError(str(path), f"is no recording: it has no {MANIFEST_NAME}; {_ADVICE}")


def recordings_in(path: Path) -> tuple[Path, ...]:
    """Return the recordings one directory below, else those two below; a bounded number, in order of name."""
    for pattern in (f"*/{MANIFEST_NAME}", f"*/*/{MANIFEST_NAME}"):
        found = sorted(manifest.parent for manifest in islice(path.glob(pattern), _MOST_LOOKED_AT))
        if found:
            return tuple(found)
    return ()


def _holding(below: tuple[Path, ...]) -> str:
    if len(below) == 1:
        return f"is no recording itself but holds one: {below[0]}"
    return f"is no recording itself but holds {len(below)}: {first_of(below)}; name one of them"


def first_of(paths: Sequence[Path]) -> str:
    """Return the first few of some recordings, and how many more there are."""
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return ", ".join(map(str, paths[:MOST_NAMED])) + more

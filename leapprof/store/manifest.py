"""recording.json: the manifest of a recording, replaced as a whole or not at all."""

import json
import os
from pathlib import Path

from leapprof.errors import FormatVersionError, StoreError
from leapprof.model import Recording
from leapprof.store.codec import CodecError, Json, decode, encode
from leapprof.store.guard import translated

MANIFEST_NAME = "recording.json"
FORMAT = 1
"""The format of a recording. Its history:

1: recording.json, journal.sqlite with one table of frames, ``<table>-NNNN.parquet``.
"""
_MAX_MANIFEST_BYTES = 64 * 2**20  # a year of hourly gaps is below 1 MiB; more is a foreign file


def write_manifest(directory: Path, manifest: Recording) -> None:
    """Write a manifest: temporary file, fsync, rename, fsync of the directory.

    Raises:
        StoreError: the disk refuses.
    """
    body = encode(manifest)
    assert isinstance(body, dict)
    document: dict[str, Json] = {"format": FORMAT, **body}
    replace_file(directory / MANIFEST_NAME, (json.dumps(document, indent=1) + "\n").encode())


def read_manifest(directory: Path) -> Recording:
    """Return the manifest of a recording.

    Raises:
        FormatVersionError: a newer leapprof wrote it.
        StoreError: there is none, or it is damaged.
    """
    path = directory / MANIFEST_NAME
    document = _read_document(directory, path)
    found = document.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise StoreError(str(path), "is not a manifest of leapprof: it has no format number")
    if found > FORMAT:
        raise FormatVersionError(str(path), found, FORMAT)
    try:
        return decode(Recording, document)
    except CodecError as error:
        raise StoreError(str(path), f"is damaged ({error}); {_what_is_left(directory)}") from error


def _read_document(directory: Path, path: Path) -> dict[str, Json]:
    if not path.is_file():
        raise StoreError(
            str(directory),
            f"is no recording: it has no {MANIFEST_NAME}; give the directory that `leapprof record` printed",
        )
    with translated(path):
        if path.stat().st_size > _MAX_MANIFEST_BYTES:
            raise StoreError(str(path), "is too large for a manifest of leapprof")
        text = path.read_bytes()
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(str(path), f"is damaged: no JSON ({error}); {_what_is_left(directory)}") from error
    if not isinstance(document, dict):
        raise StoreError(str(path), "is not a manifest of leapprof: no JSON object")
    return document


def _what_is_left(directory: Path) -> str:
    segments = len(list(directory.glob("*-[0-9]*.parquet")))
    return (
        f"restore it from a copy; the {segments} sealed files beside it are plain Parquet and stay readable"
        if segments
        else "restore it from a copy"
    )


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file as a whole, readable by its owner only, safe against a crash at any moment.

    Raises:
        StoreError: the disk refuses; the file is as it was.
    """
    temporary = path.with_name(path.name + ".tmp")
    with translated(path):
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make renames in a directory survive a power loss."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

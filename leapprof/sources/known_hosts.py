"""known_hosts, read strictly: which keys a host may show, which are revoked, where each is written.

The format is that of sshd(8), section SSH_KNOWN_HOSTS FILE FORMAT. paramiko's own reader (5.1) raises on
``@cert-authority`` and ``@revoked`` lines and knows no wildcards, so it is not used.
"""

import base64
import binascii
import fnmatch
import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from leapprof.errors import ConfigError

DEFAULT_PORT = 22
MAX_FILE_BYTES = 32 * 1024 * 1024
_KRL_MAGIC = b"SSHKRL\n\x00"


class Marker(StrEnum):
    """What a line says of its key."""

    HOST = ""
    CERT_AUTHORITY = "@cert-authority"
    REVOKED = "@revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """One line: the patterns it is about, its key, and where it stands."""

    marker: Marker
    patterns: tuple[str, ...]
    key_type: str
    blob: bytes
    path: str
    line_no: int


class KeyVerdict(StrEnum):
    """What known_hosts says of a key that a host showed."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCheck:
    """A verdict with the line that it rests on.

    Attributes:
        line: the line of the known, changed or revoking key; None for an unknown one.
        other_types: key types that are known of the host when this one is not.
        has_authority: the host is trusted through a certificate authority.
    """

    verdict: KeyVerdict
    line: KnownKey | None = None
    other_types: tuple[str, ...] = ()
    has_authority: bool = False


def _parse_line(line: str, path: str, line_no: int) -> KnownKey | None:
    """Return the key of one line; None for comments and lines that are no keys (as ssh skips them)."""
    words = line.split()
    marker = Marker.HOST
    if words and words[0].startswith("@"):
        if words[0] not in (Marker.CERT_AUTHORITY, Marker.REVOKED):
            return None
        marker = Marker(words.pop(0))
    if len(words) < 3 or words[0].startswith("#"):
        return None
    try:
        blob = base64.b64decode(words[2], validate=True)
    except (binascii.Error, ValueError):
        return None
    return KnownKey(
        marker=marker,
        patterns=tuple(words[0].split(",")),
        key_type=words[1],
        blob=blob,
        path=path,
        line_no=line_no,
    )


def parse_known_hosts(text: str, path: str) -> tuple[KnownKey, ...]:
    """Return the keys of one known_hosts file; lines that are no keys are skipped, as ssh does."""
    parsed = (_parse_line(line, path, number) for number, line in enumerate(text.splitlines(), 1))
    return tuple(key for key in parsed if key is not None)


def _read(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_FILE_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=path) from error


def read_known_hosts(paths: Iterable[str]) -> tuple[KnownKey, ...]:
    """Return the keys of all these files; a file that does not exist is empty.

    Raises:
        ConfigError: a file is there and cannot be read.
    """
    return tuple(
        key for path in paths for key in parse_known_hosts(_read(path).decode("utf-8", "replace"), path)
    )


def read_revoked(path: str) -> frozenset[bytes]:
    """Return the keys of a RevokedHostKeys file (one public key a line).

    Raises:
        ConfigError: it is not there, or is a binary revocation list, which only OpenSSH reads.
    """
    data = _read(path)
    if data.startswith(_KRL_MAGIC):
        raise ConfigError("a binary key revocation list needs --transport openssh", path=path)
    if not data:
        # ssh too refuses all hosts when the file cannot be read: ssh_config(5), RevokedHostKeys
        raise ConfigError("RevokedHostKeys names a file that is missing or empty", path=path)
    text = data.decode("utf-8", "replace")
    lines = (f"* {line}" for line in text.splitlines() if not line.lstrip().startswith("#"))
    keys = (_parse_line(line, path, number) for number, line in enumerate(lines, 1))
    return frozenset(key.blob for key in keys if key is not None)


def _hash_matches(pattern: str, name: str) -> bool:
    """Say whether ``|1|salt|hash`` is the hash of name: HMAC-SHA1 keyed by the salt."""
    parts = pattern.split("|")
    if len(parts) != 4 or parts[1] != "1":
        return False
    try:
        salt, wanted = (base64.b64decode(part, validate=True) for part in parts[2:])
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), hashlib.sha1).digest(), wanted)


def _pattern_matches(pattern: str, name: str) -> bool:
    if pattern.startswith("|"):
        return _hash_matches(pattern, name)
    # brackets mean a port here and a set of characters to fnmatch
    plain = pattern.lower().replace("[", "[[]")
    return fnmatch.fnmatchcase(name, plain)


def names_host(key: KnownKey, name: str) -> bool:
    """Say whether a line is about a host's name; a ``!pattern`` that matches excludes it."""
    matched = False
    for pattern in key.patterns:
        if pattern.startswith("!"):
            if _pattern_matches(pattern[1:], name):
                return False
        elif _pattern_matches(pattern, name):
            matched = True
    return matched


def lookup_names(hostname: str, port: int, alias: str | None) -> tuple[str, ...]:
    """Return the names under which a host is looked up, the first that is listed counts.

    ssh looks for ``[host]:port`` and, when that is not listed, for a key without a port that is the
    same (sshconnect.c, check_host_key).
    """
    if alias:
        return (alias.lower(),)
    name = hostname.lower()
    return (name,) if port == DEFAULT_PORT else (f"[{name}]:{port}", name)


def known_types(keys: Sequence[KnownKey], names: Sequence[str]) -> tuple[str, ...]:
    """Return the key types that are listed for the host, to ask it for one of them."""
    listed = (
        key.key_type for name in names for key in keys if key.marker is Marker.HOST and names_host(key, name)
    )
    return tuple(dict.fromkeys(listed))


def check_key(keys: Sequence[KnownKey], names: Sequence[str], key_type: str, blob: bytes) -> KeyCheck:
    """Return what known_hosts says of the key that a host showed.

    A revoked key is refused whatever else is listed, under whichever of its names.
    """
    about = [[key for key in keys if names_host(key, name)] for name in names]
    for key in (key for lines in about for key in lines):
        if key.marker is Marker.REVOKED and key.blob == blob:
            return KeyCheck(verdict=KeyVerdict.REVOKED, line=key)
    hosts = [[key for key in lines if key.marker is Marker.HOST] for lines in about]
    same = next((key for lines in hosts for key in lines if key.blob == blob), None)
    first = hosts[0] if hosts else []
    changed = next((key for key in first if key.key_type == key_type and key.blob != blob), None)
    if same is not None and (changed is None or same in first):
        return KeyCheck(verdict=KeyVerdict.KNOWN, line=same)
    if changed is not None:
        return KeyCheck(verdict=KeyVerdict.CHANGED, line=changed)
    return KeyCheck(
        verdict=KeyVerdict.UNKNOWN,
        other_types=tuple(dict.fromkeys(key.key_type for key in first)),
        has_authority=any(key.marker is Marker.CERT_AUTHORITY for lines in about for key in lines),
    )


def fingerprint(blob: bytes) -> str:
    """Return a key's fingerprint as ``ssh-keygen -l`` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")

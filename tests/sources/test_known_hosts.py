"""known_hosts, compared with what ssh-keygen itself writes and finds."""

import base64
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ConfigError
from leapprof.sources.known_hosts import (
    KeyVerdict,
    check_key,
    fingerprint,
    known_types,
    lookup_names,
    parse_known_hosts,
    read_known_hosts,
    read_revoked,
)

ONE, TWO = b"\0\0\0\x0bssh-ed25519one", b"\0\0\0\x0bssh-ed25519two"
B_ONE, B_TWO = base64.b64encode(ONE).decode(), base64.b64encode(TWO).decode()
TYPE = "ssh-ed25519"


def verdict(text: str, blob: bytes = ONE, *, host: str = "web", port: int = 22, alias: str | None = None):
    """Return what a known_hosts text says of a key."""
    return check_key(parse_known_hosts(text, "kh"), lookup_names(host, port, alias), TYPE, blob)


@pytest.mark.parametrize(
    "names",
    ["web", "other,web", "WEB", "w*", "w?b,!wab", "*", "web,10.0.0.1"],
)
def test_listed_keys_are_known(names):
    """Lists, wildcards and any case name the host."""
    assert verdict(f"# comment\n\n{names} {TYPE} {B_ONE} a comment\n").verdict is KeyVerdict.KNOWN


@pytest.mark.parametrize("names", ["webx", "!web,*", "*,!w*", "[web]:2222", "we[b]"])
def test_lines_about_other_hosts_do_not_count(names):
    """A negated pattern excludes, a port belongs to the name, brackets are no set of characters."""
    assert verdict(f"{names} {TYPE} {B_ONE}\n").verdict is KeyVerdict.UNKNOWN


def test_a_port_other_than_22_is_part_of_the_name():
    """[host]:port comes first; the same key under the bare name is accepted as ssh accepts it."""
    assert verdict(f"[web]:2222 {TYPE} {B_ONE}\n", port=2222).verdict is KeyVerdict.KNOWN
    assert verdict(f"web {TYPE} {B_ONE}\n", port=2222).verdict is KeyVerdict.KNOWN
    assert verdict(f"web {TYPE} {B_TWO}\n", port=2222).verdict is KeyVerdict.UNKNOWN
    both = f"[web]:2222 {TYPE} {B_TWO}\nweb {TYPE} {B_ONE}\n"
    assert verdict(both, port=2222).verdict is KeyVerdict.CHANGED


def test_an_alias_replaces_host_and_port():
    """HostKeyAlias is the only name that is looked up."""
    assert verdict(f"alias {TYPE} {B_ONE}\n", port=2222, alias="Alias").verdict is KeyVerdict.KNOWN
    assert verdict(f"[web]:2222 {TYPE} {B_ONE}\n", port=2222, alias="x").verdict is KeyVerdict.UNKNOWN


def test_a_changed_key_names_its_line():
    """Another key of the same type is a change, and the line is known."""
    check = verdict(f"\n# x\nweb {TYPE} {B_TWO}\n")
    assert check.verdict is KeyVerdict.CHANGED
    assert (check.line.path, check.line.line_no) == ("kh", 3)


def test_one_of_several_listed_keys_is_enough():
    """A host that is being moved to a new key may have both listed."""
    assert verdict(f"web {TYPE} {B_TWO}\nweb {TYPE} {B_ONE}\n").verdict is KeyVerdict.KNOWN


def test_a_revoked_key_is_refused_even_if_it_is_listed_too():
    """@revoked wins over everything."""
    text = f"web {TYPE} {B_ONE}\n@revoked * {TYPE} {B_ONE}\n"
    assert verdict(text).verdict is KeyVerdict.REVOKED
    assert verdict(text, port=2222).verdict is KeyVerdict.REVOKED


def test_a_certificate_authority_is_no_host_key():
    """An authority's key does not make a host known, but is mentioned."""
    check = verdict(f"@cert-authority * {TYPE} {B_ONE}\n")
    assert check.verdict is KeyVerdict.UNKNOWN
    assert check.has_authority


def test_other_types_of_an_unknown_key_are_told():
    """The operator hears that the host is known by another key type."""
    check = verdict(f"web ssh-rsa {B_TWO}\n")
    assert check.verdict is KeyVerdict.UNKNOWN
    assert check.other_types == ("ssh-rsa",)


def test_types_to_ask_for_are_those_that_are_listed():
    """Types of the host alone, each once."""
    keys = parse_known_hosts(f"web ssh-rsa {B_ONE}\nx ssh-dss {B_ONE}\nweb {TYPE} {B_ONE}\n", "kh")
    assert known_types(keys, ("web",)) == ("ssh-rsa", TYPE)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_hashed_names_and_fingerprints_are_those_of_ssh_keygen(tmp_path):
    """Names that ssh-keygen hashed are found, and fingerprints are the same as it prints."""
    path = tmp_path / "kh"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "k")], check=True)
    key_type, key = (tmp_path / "k.pub").read_text().split()[:2]
    path.write_text(f"web,[web]:2222 {key_type} {key}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(path)], check=True, capture_output=True)
    assert "web" not in path.read_text()
    keys = read_known_hosts([str(path), str(tmp_path / "missing")])
    blob = base64.b64decode(key)
    for port in (22, 2222):
        assert check_key(keys, lookup_names("web", port, None), key_type, blob).verdict is KeyVerdict.KNOWN
    assert check_key(keys, ("other",), key_type, blob).verdict is KeyVerdict.UNKNOWN
    printed = subprocess.run(
        ["ssh-keygen", "-lf", str(tmp_path / "k.pub")], check=True, capture_output=True, text=True
    )
    assert fingerprint(blob) in printed.stdout


def test_a_file_of_revoked_keys_must_be_there_and_be_text(tmp_path):
    """Revocation fails closed: a missing or binary list is an error, not an empty list."""
    path = tmp_path / "revoked"
    with pytest.raises(ConfigError, match="missing or empty"):
        read_revoked(str(path))
    path.write_bytes(b"SSHKRL\n\0rest")
    with pytest.raises(ConfigError, match="--transport openssh"):
        read_revoked(str(path))
    path.write_text(f"# gone\n{TYPE} {B_ONE} comment\n")
    assert read_revoked(str(path)) == frozenset({ONE})


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    """A directory in its place is no empty known_hosts."""
    with pytest.raises(ConfigError, match="cannot be read"):
        read_known_hosts([str(tmp_path)])


PIECES = [
    "@revoked",
    "@cert-authority",
    "@x",
    "web",
    "|1|",
    "|1|YQ==|Yg==",
    TYPE,
    B_ONE,
    "*",
    "!",
    ",",
    " ",
    "\n",
    "#",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=30))
def test_any_text_is_read_and_never_makes_another_key_known(pieces):
    """No text raises, and none makes a key known that it does not hold."""
    keys = parse_known_hosts("".join(pieces), "kh")
    assert check_key(keys, ("web",), TYPE, TWO).verdict is not KeyVerdict.KNOWN

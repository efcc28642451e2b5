"""Hosts that must not be spoken with, or that do not answer as hosts do: exit code 3 and what to do."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.lab import Done, Lab, StandIn, leapprof, recordings, shown
from tests.support.sshd import Sshd, make_key, needs_sshd, sshd, unprivileged_user

pytestmark = needs_sshd
TOLD = 'echo "Welcome to planted-motd"; printf "LPF1 torn \\001 frame\\n"; echo "<script>" >&2'
"""What a start-up file may print before every command: words, half a frame, and something on stderr."""


def record(server: Sshd, out: Path, *standins: StandIn, line: str = "") -> Done:
    """Record a second from an sshd, with a further line in its ssh configuration."""
    config, inventory = out / "ssh_config", out / "leapprof.toml"
    out.mkdir(exist_ok=True)
    config.write_text(server.config_block(*filter(None, [line])))
    found = [f"{one.data_dir.name.removeprefix('nodeos-')}=cmdline:{one.data_dir}" for one in standins]
    selectors = f"nodeos = {json.dumps(found)}\n" if found else ""
    inventory.write_text(f'[hosts.{server.alias}]\nssh_config = "{config}"\n{selectors}')
    words = ("--inventory", inventory, "--out", out / "recordings", "--phase", "before", "--duration", "1s")
    return leapprof("record", server.alias, *words, "--interval", "200ms", "--json")


def unknown(server: Sshd, directory: Path) -> str:
    """Know no host at all."""
    (directory / "hosts").write_text("")
    return f"UserKnownHostsFile {directory}/hosts"


def changed(server: Sshd, directory: Path) -> str:
    """Know the host by another key."""
    key = make_key(directory / "other").with_suffix(".pub").read_text()
    (directory / "hosts").write_text(f"[127.0.0.1]:{server.port} {' '.join(key.split()[:2])}\n")
    return f"UserKnownHostsFile {directory}/hosts"


def revoked(server: Sshd, directory: Path) -> str:
    """Know the host's key, and that it is revoked."""
    key = server.public_host_key()
    (directory / "hosts").write_text(f"[127.0.0.1]:{server.port} {key}\n@revoked * {key}\n")
    return f"UserKnownHostsFile {directory}/hosts"


def wrong_key(server: Sshd, directory: Path) -> str:
    """Have a key that the host does not accept."""
    return f"IdentityFile {make_key(directory / 'mine')}\n  IdentitiesOnly yes"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (unknown, ("is not in known_hosts", "SHA256:", "ssh-keygen -lf")),
        (changed, ("CHANGED", "ssh-keygen -R")),
        (revoked, ("revoked",)),
        (wrong_key, ("is not let in", "mine", "authorized_keys")),
    ],
    ids=["unknown", "changed", "revoked", "wrong-key"],
)
def test_a_host_that_must_not_be_spoken_with_is_refused(
    lab: Lab, tmp_path: Path, spoil: Callable[[Sshd, Path], str], said: tuple[str, ...]
) -> None:
    """Exit code 3, what is wrong and how to go on; no recording is begun, no key is learnt."""
    line = spoil(lab.main, tmp_path)
    known = (tmp_path / "hosts").read_text() if (tmp_path / "hosts").exists() else None
    done = record(lab.main, tmp_path / "x", line=line)
    assert done.code == 3
    assert [word for word in said if word.lower() not in done.err.lower()] == [], done.err
    assert recordings(done) == {}
    assert list((tmp_path / "x").glob("recordings/*")) == []
    assert known is None or (tmp_path / "hosts").read_text() == known


@pytest.mark.parametrize("answer", ["head -c 100000 /dev/urandom", "echo LPF1 not a frame", "exit 7"])
def test_a_host_that_answers_with_garbage_fails_alone_and_soon(tmp_path: Path, answer: str) -> None:
    """Whatever comes instead of an agent is an error of the host, in one printable line."""
    with sshd(tmp_path, alias="odd", user=unprivileged_user(), options=(f"ForceCommand {answer}",)) as server:
        done = record(server, tmp_path / "x")
    assert done.code == 3, done
    lines = [line for line in done.err.splitlines() if line.startswith("leapprof: ")]
    assert len(lines) == 1
    assert lines[0].startswith("leapprof: odd failed: the program ended with status ")
    assert "look at the login shell" in lines[0]
    assert all(character.isprintable() for character in done.err.replace("\n", ""))


def test_a_host_that_prints_before_every_command_is_recorded(lab: Lab, tmp_path: Path) -> None:
    """Words of a start-up file are no frame: they are thrown away and counted, and the recording is whole.

    As the owner of nodeos and as another user.
    """
    forced = f'ForceCommand {TOLD}; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"'
    with sshd(tmp_path, alias="noisy", user=unprivileged_user(), options=(forced,)) as server:
        done = record(server, tmp_path / "x", *lab.standins.values())
    assert done.code == 0, done.err
    manifest = shown(recordings(done)["noisy"])["recording"]
    assert manifest["cost"]["samples"] >= 2
    assert [nodeos["version"] for nodeos in manifest["nodeos"]] == ["v5.0.3"] * len(lab.standins)
    assert ("nodeos/other/io" in manifest["denied"]) is ("wax-other" in lab.standins)
    assert "nodeos/owner/io" not in manifest["denied"]

"""What must not leave a host, and what a public report hides: planted texts are looked for in every byte."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from leapprof.agent.frame import decode_body
from leapprof.assess.load import load
from leapprof.store import open_recording
from tests.e2e.lab import MODERN_KEY, PEER, PRODUCER, WIF, of
from tests.support.sshd import needs_sshd

pytestmark = needs_sshd
ALL_HOSTS = pytest.mark.parametrize("host", ["wax-owner", "wax-other", "bare-wax-owner", "bare-wax-other"])
KEYS = (WIF.encode(), MODERN_KEY.encode(), MODERN_KEY.removeprefix("PVT_K1_").encode())


def contents(directory: Path) -> Iterator[bytes]:
    """Yield every byte of the files of a directory."""
    for path in directory.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


def unpacked(recording: Path) -> Iterator[bytes]:
    """Yield what a recording holds in compressed form: texts of tables, sections of frames."""
    loaded = load(recording)
    for name in loaded.table_names:
        for column in loaded.table(name).texts.values():
            yield repr(set(column.tolist())).encode()
    for body in open_recording(recording).frames():
        yield from (section.name.encode() + section.text for section in decode_body(body).sections)


@ALL_HOSTS
def test_no_private_key_is_in_a_recording_or_a_report(pair, troubled, killed, report, host) -> None:
    """Keys of config.ini, of its comments and of the command line are in no byte, packed or not."""
    recorded = [of(pair.before, host), of(pair.after, host)]
    recorded += [paths[host] for paths in (troubled.paths, killed) if host in paths]
    for directory in recorded:
        for data in (*contents(directory), *unpacked(directory)):
            assert not [key for key in KEYS if key in data]
    for data in contents(report(host)):
        assert not [key for key in KEYS if key in data]
    for done in (pair.done_before, pair.done_after, troubled.done):
        assert not [key for key in KEYS if key in (done.out + done.err).encode()]


@pytest.mark.parametrize("host", ["wax-owner", "wax-other"])
def test_a_public_report_names_no_host_producer_or_peer(report, host) -> None:
    """All that the same report without --public names is hidden, in every format and in what is printed."""
    planted = {host, PRODUCER, PEER.partition(":")[0]}
    private = b"".join(contents(report(host)))
    assert [word for word in planted if word.encode() not in private] == []
    for data in contents(report(host, "--public")):
        assert [word for word in {*planted, "wax-owner", "wax-other"} if word.encode() in data] == []

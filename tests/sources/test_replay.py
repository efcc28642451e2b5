"""Wire bytes instead of a host."""

import gzip

import pytest

from leapprof.errors import SourceError
from leapprof.model.access import HostConfig
from leapprof.sources import ChannelClosedError, open_source
from leapprof.sources.base import CommandResult
from leapprof.sources.replay import ReplaySource
from tests.support.reading import read_until_closed


@pytest.mark.parametrize("name", ["wire.frames", "wire.frames.gz"])
def test_a_file_of_wire_bytes_is_replayed(tmp_path, name):
    """The bytes come as they are in the file, compressed or not, and from the start each time."""
    wire = bytes(range(256)) * 3000
    path = tmp_path / name
    path.write_bytes(gzip.compress(wire) if name.endswith("gz") else wire)
    with open_source(HostConfig(name="h", address="", transport="replay", replay=str(path))) as source:
        for _ in range(2):
            assert read_until_closed(source.open("agent"))[0] == wire


def test_chunks_come_one_a_read_and_may_be_paced():
    """Each read gives one chunk, after the wait that the caller chose."""
    waits = []
    channel = ReplaySource("h", [b"a", b"", b"b"], wait=lambda: waits.append(1)).open("agent")
    assert [channel.read(0) for _ in range(3)] == [b"a", b"", b"b"]
    assert len(waits) == 3
    channel.write(b"beat\n")
    assert channel.written == b"beat\n"
    with pytest.raises(ChannelClosedError):
        channel.read(0)


@pytest.mark.parametrize("content", [None, b"no gzip at all", gzip.compress(b"x" * 100000)[:-20]])
def test_a_file_that_cannot_be_read_is_an_error_of_ours(tmp_path, content):
    """Missing, foreign and torn files are SourceErrors."""
    path = tmp_path / "wire.gz"
    if content is not None:
        path.write_bytes(content)
    channel = ReplaySource("h", path).open("agent")
    with pytest.raises(SourceError, match="cannot replay"):
        for _ in range(100):
            channel.read(0)


def test_commands_have_prepared_answers():
    """A prepared command answers, any other is not found."""
    answer = CommandResult(exit_status=0, stdout=b"/usr/bin/python3\n", stderr=b"")
    source = ReplaySource("h", [], results={"command -v python3": answer})
    assert source.run("command -v python3", 1) == answer
    assert source.run("other", 1).exit_status == 127

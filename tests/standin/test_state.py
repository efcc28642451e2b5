"""Tests of leapprof.standin.state."""

import os

import pytest

from leapprof.standin.options import Advice, MapMode, WriteBack
from leapprof.standin.state import FILE_NAME, PAGE_BYTES, StateError, filesystem_type, open_state

MIB = 2**20


def opened(directory, mode=MapMode.MAPPED, size_mb=8, fresh=False):
    """Open a small state."""
    return open_state(directory, mode, size_mb, Advice.RANDOM, fresh=fresh)


def closed(state, write_back=WriteBack.USED):
    """Close a state and return the percentages it told."""
    told = []
    state.close(write_back, told.append)
    return told


def test_the_file_is_sparse_and_has_its_full_size(tmp_path):
    """``ls`` shows the configured size, ``du`` what is used."""
    state = opened(tmp_path)
    closed(state)
    stat = (tmp_path / FILE_NAME).stat()
    assert stat.st_size == 8 * MIB
    assert stat.st_blocks * 512 < MIB


def test_the_dirty_flag_is_byte_8_and_set_while_open(tmp_path):
    """A look at one byte of the file tells a running or killed program from a clean one."""
    state = opened(tmp_path)
    during = (tmp_path / FILE_NAME).read_bytes()[:9]
    closed(state)
    assert (during, (tmp_path / FILE_NAME).read_bytes()[:9]) == (b"LEAPPROF\x01", b"LEAPPROF\x00")


def test_a_dirty_state_is_refused_with_2(tmp_path):
    """A killed run is found at the next start."""
    closed(opened(tmp_path))
    with (tmp_path / FILE_NAME).open("r+b") as file:
        os.pwrite(file.fileno(), b"\x01", 8)
    with pytest.raises(StateError, match="Database dirty flag set") as caught:
        opened(tmp_path)
    assert caught.value.exit_code == 2


def test_a_snapshot_start_discards_a_dirty_state(tmp_path):
    """From a snapshot there is nothing to mourn."""
    closed(opened(tmp_path))
    with (tmp_path / FILE_NAME).open("r+b") as file:
        os.pwrite(file.fileno(), b"\x01", 8)
    closed(opened(tmp_path, fresh=True))


def test_a_foreign_file_is_refused(tmp_path):
    """A file of a real nodeos is never touched."""
    (tmp_path / FILE_NAME).write_bytes(b"EOSIODB3" + bytes(MIB))
    with pytest.raises(StateError, match="not compatible"):
        opened(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes()[:8] == b"EOSIODB3"


def test_a_second_program_gets_no_access(tmp_path):
    """One state, one writer."""
    state = opened(tmp_path)
    with pytest.raises(StateError, match="Could not gain write access"):
        opened(tmp_path)
    closed(state)


def test_mapped_reaches_the_file_at_once(tmp_path):
    """A shared page is the file's page."""
    state = opened(tmp_path)
    state.fill(MIB)
    state.touch(3, b"stamp")
    start = 3 * PAGE_BYTES + 64
    assert (tmp_path / FILE_NAME).read_bytes()[start : start + 5] == b"stamp"
    closed(state)


@pytest.mark.parametrize("write_back", list(WriteBack))
def test_mapped_private_reaches_the_file_at_exit_alone(tmp_path, write_back):
    """A private page stays in memory until the clean exit."""
    if filesystem_type(tmp_path) == "tmpfs":
        pytest.skip("the temporary directory lies on tmpfs, which mapped_private refuses")
    state = opened(tmp_path, MapMode.MAPPED_PRIVATE)
    state.fill(MIB)
    state.touch(3, b"stamp")
    start = 3 * PAGE_BYTES + 64
    assert (tmp_path / FILE_NAME).read_bytes()[start : start + 5] == bytes(5)
    told = closed(state, write_back)
    assert (tmp_path / FILE_NAME).read_bytes()[start : start + 5] == b"stamp"
    assert told[-1] == 100


def test_steps_write_more_of_the_file_than_used_pages(tmp_path):
    """Without soft-dirty tracking the used step is written in full, zeros included."""
    blocks = []
    for write_back in WriteBack:
        directory = tmp_path / write_back
        directory.mkdir()
        if filesystem_type(directory) == "tmpfs":
            pytest.skip("the temporary directory lies on tmpfs, which mapped_private refuses")
        state = opened(directory, MapMode.MAPPED_PRIVATE)
        state.fill(MIB)
        closed(state, write_back)
        blocks.append((directory / FILE_NAME).stat().st_blocks * 512)
    assert blocks[0] < 2 * MIB
    assert blocks[1] >= 8 * MIB


def test_counts_survive_a_restart_in_either_mode(tmp_path):
    """Head block and transactions go on where they were."""
    state = opened(tmp_path)
    state.fill(MIB)
    state.counts.head_block, state.counts.transactions = 7, 70
    closed(state)
    again = opened(tmp_path)
    assert (again.counts.used_bytes, again.counts.head_block, again.counts.transactions) == (MIB, 7, 70)
    closed(again)


def test_a_smaller_size_does_not_shrink_the_file(tmp_path):
    """Chainbase grows only."""
    closed(opened(tmp_path, size_mb=8))
    state = opened(tmp_path, size_mb=2)
    assert state.size_bytes == 8 * MIB
    closed(state)


def test_the_filesystem_is_that_of_the_longest_and_latest_mount(tmp_path):
    """A later mount on the same point hides the earlier one."""
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(
        "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:5 / /deep rw - xfs x rw\n3 1 0:6 / /deep rw - tmpfs t rw\nbroken\n",
        encoding="utf-8",
    )
    assert filesystem_type(tmp_path, mountinfo) == "ext4"
    assert filesystem_type(type(tmp_path)("/deep/state"), mountinfo) == "tmpfs"
    assert filesystem_type(type(tmp_path)("/deeper"), mountinfo) == "ext4"

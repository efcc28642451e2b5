"""Files of a report: known to be writable before the work, whole or not there."""

import errno
import os

import pytest

from leapprof.errors import StoreError
from leapprof.report.files import ReportFiles


def test_files_are_in_place_after_commit_and_not_before(tmp_path):
    """Until then only parts are there."""
    with ReportFiles(tmp_path / "r", {"a.txt": 0, "charts/b.png": 10}) as files:
        files.write("a.txt", b"one")
        files.write("charts/b.png", b"two")
        assert not (tmp_path / "r" / "a.txt").exists()
        paths = files.commit()
    assert [p.read_bytes() for p in paths] == [b"one", b"two"]
    assert sorted(p.name for p in (tmp_path / "r").rglob("*")) == ["a.txt", "b.png", "charts"]


def test_a_failure_leaves_no_parts(tmp_path):
    """Whatever goes wrong between."""
    with pytest.raises(RuntimeError), ReportFiles(tmp_path, {"a.txt": 0}):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_never_overwritten(tmp_path):
    """The second one is refused, and the first stays."""
    (tmp_path / "b.txt").write_text("first")
    with pytest.raises(StoreError, match="never overwritten"):
        ReportFiles(tmp_path, {"a.txt": 0, "b.txt": 0})
    assert [p.name for p in tmp_path.iterdir()] == ["b.txt"]


def test_a_directory_that_cannot_be_written_is_a_store_error(tmp_path):
    """Here a file stands where the directory should be."""
    (tmp_path / "r").write_text("")
    with pytest.raises(StoreError):
        ReportFiles(tmp_path / "r", {"a.txt": 0})


def test_a_full_disk_is_known_before_the_work(tmp_path, monkeypatch):
    """The space of each file is taken at the start."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(StoreError, match="No space left"):
        ReportFiles(tmp_path, {"a.txt": 100})
    assert list(tmp_path.iterdir()) == []


def test_a_filesystem_that_cannot_reserve_is_no_failure(tmp_path, monkeypatch):
    """EOPNOTSUPP is not a full disk."""

    def unsupported(*_):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", unsupported)
    with ReportFiles(tmp_path, {"a.txt": 100}) as files:
        files.write("a.txt", b"x")
        assert files.commit()[0].read_bytes() == b"x"

"""Mounts that nobody else sees and that end with the test, however it ends: a mount namespace of the calling thread."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_CLONE_NEWNS = 0x20000


@contextmanager
def own_mounts() -> Iterator[bool]:
    """Give this thread, and the threads and programs that it starts, mounts of their own; yields whether it could.

    A process that is killed takes its mounts with it, and they the loop devices that are let go of by the last
    (losetup --detach, after the mount).
    """
    libc = ctypes.CDLL(None, use_errno=True)
    before, here = os.open("/proc/thread-self/ns/mnt", os.O_RDONLY), Path.cwd()
    can = libc.unshare(_CLONE_NEWNS) == 0
    try:
        if can:
            subprocess.run(["mount", "--make-rprivate", "/"], check=True, capture_output=True, timeout=60)
        yield can
    finally:
        if (
            can and libc.setns(before, _CLONE_NEWNS) == 0
        ):  # refused while a thread that was begun here lives: it stays
            with suppress(OSError):
                os.chdir(here)
        os.close(before)


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """Mount a file system of this size in memory, for all threads; skips the test where nobody may."""
    path.mkdir(parents=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    if os.geteuid() or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mount: a tmpfs needs root")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=False)


def fill(directory: Path, leave_bytes: int) -> None:
    """Leave so many bytes free."""
    free = os.statvfs(directory)
    size = free.f_bavail * free.f_frsize - leave_bytes
    with (
        suppress(OSError),
        (directory / "ballast").open("wb", buffering=0) as out,
    ):  # others may write meanwhile
        out.write(b"\0" * max(size, 0))

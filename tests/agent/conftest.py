"""How tests talk to an agent: as a child process, by the bootstrap that a host gets."""

import contextlib
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leapprof.agent.bootstrap import python_command, python_payload, sh_command, sh_payload
from leapprof.agent.frame import FrameDecoder
from leapprof.agent.plan import Plan, encode_plan, plan_message
from leapprof.model import Frame, Section

PATIENCE_S = 120.0  # of a machine that is busy with something else


def find_python36() -> str | None:
    """Return a Python 3.6, the oldest that the agent runs on, or None."""
    versions = Path(os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))) / "versions"
    # pyenv's own first: what it puts into PATH refuses to run when 3.6 is not switched on
    found = versions.glob("3.6.*/bin/python3.6") if os.access(versions, os.R_OK | os.X_OK) else ()
    return next((str(p) for p in found), shutil.which("python3.6"))


class Talk:
    """One conversation with an agent."""

    def __init__(self, command: str, payload: bytes) -> None:
        self.process = subprocess.Popen(
            ["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.decoder = FrameDecoder("test")
        self.send(payload)

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def plan(self, plan: Plan) -> None:
        self.send(plan_message(encode_plan(plan)))

    def frames(self, count: int) -> list[Frame]:
        """Wait for so many frames; all that came meanwhile are returned."""
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        frames: list[Frame] = []
        limit = time.monotonic() + PATIENCE_S
        while len(frames) < count and time.monotonic() < limit:
            if select.select([fd], [], [], 1.0)[0]:
                data = os.read(fd, 65536)
                if not data:
                    break
                frames += self.decoder.feed(data)
        return frames

    def until(self, seen: Callable[[Frame], bool]) -> list[Frame]:
        """Wait for the first frame of which that is true; all that came meanwhile are returned."""
        frames: list[Frame] = []
        while not any(map(seen, frames)):
            came = self.frames(1)
            assert came, "no such frame came"
            frames += came
        return frames

    def rest(self) -> list[Frame]:
        """Read to the end of the agent's output."""
        return self.frames(1_000_000)

    def close(self) -> tuple[int, str]:
        """Close stdin and return exit status and stderr."""
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        assert self.process.stderr is not None
        errors = self.process.stderr.read().decode()
        self.process.stderr.close()
        return self.process.wait(PATIENCE_S), errors


def section(frame: Frame, name: str) -> Section:
    """Return the one section of that name."""
    found = [s for s in frame.sections if s.name == name]
    assert len(found) == 1, [s.name for s in frame.sections]
    return found[0]


@pytest.fixture(name="section")
def section_fixture() -> Callable[[Frame, str], Section]:
    """Hand the function to tests."""
    return section


def start_talk(kind: str) -> Talk:
    """Start an agent by name: python3, python3.6, dash, busybox."""
    if kind.startswith("python"):
        python = sys.executable if kind == "python3" else find_python36()
        if python is None:
            pytest.skip("needs a Python 3.6")
        return Talk(python_command(python), python_payload())
    if shutil.which(kind) is None:
        pytest.skip(f"needs {kind}")
    return Talk(sh_command("busybox sh" if kind == "busybox" else kind), sh_payload())


@pytest.fixture
def open_talk() -> Iterator[Callable[[str], Talk]]:
    """Starts agents, and ends them after the test."""
    talks: list[Talk] = []

    def start(kind: str) -> Talk:
        talks.append(start_talk(kind))
        return talks[-1]

    yield start
    for talk in talks:
        if talk.process.poll() is None:
            talk.process.kill()
        for stream in (talk.process.stdin, talk.process.stdout, talk.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        talk.process.wait()

"""The bootstrap gets an agent onto a host through its shell, whichever that is."""

import shutil
import subprocess

import pytest

from leapprof.agent.bootstrap import python_command, python_payload, sh_command, sh_payload


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh", "fish", "csh"])
def test_the_command_lines_work_in_each_login_shell(shell: str) -> None:
    """Nothing in them is special to one shell; the payload is read to the byte."""
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    for command, payload in ((python_command(), python_payload()), (sh_command(), sh_payload())):
        done = subprocess.run(
            [shell, "-c", command], input=payload + b"end\n", capture_output=True, timeout=30, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_payload_that_is_cut_short_ends_the_bootstrap() -> None:
    """A connection that is lost at once leaves nothing running."""
    done = subprocess.run(
        ["sh", "-c", python_command()], input=python_payload()[:-1], timeout=30, check=False
    )
    assert done.returncode == 2


def test_payloads_are_small() -> None:
    """They are sent anew with each connection."""
    assert len(python_payload()) < 26_000
    assert len(sh_payload()) < 16_000
    assert b"\n#" not in sh_payload()

"""Tests of names of recordings' directories."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ConfigError
from leapprof.recorder.naming import check_phase, recording_directory

NOON_NS = 1_790_000_000_000_000_000


def test_the_name_says_host_phase_and_start() -> None:
    """An operator finds a recording by its name."""
    path = recording_directory(Path("/r"), "root@eos-1:22", "before", NOON_NS)
    assert path == Path("/r/root-eos-1-22-before-20260921T141320Z")
    assert recording_directory(Path("/r"), "eos-1", "", NOON_NS).name == "eos-1-20260921T141320Z"


@given(st.text())
def test_no_host_name_leads_outside(host: str) -> None:
    """Whatever a host is called, its recording is a plain name directly below the directory."""
    path = recording_directory(Path("/r"), host, "x", NOON_NS)
    assert path.parent == Path("/r")
    assert not path.name.startswith(".")
    assert path.name.isascii()


@pytest.mark.parametrize("phase", ["../x", "a b", ".hidden", "-x", "x" * 65, "a\n"])
def test_a_phase_that_is_no_name_is_refused(phase: str) -> None:
    """The message says which form is accepted."""
    with pytest.raises(ConfigError, match=r"phase: .* is not accepted"):
        check_phase(phase)

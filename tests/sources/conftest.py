"""A real sshd for this folder's tests: one for those that leave it alone, fresh ones for the others."""

import pytest

from leapprof.sources import Timeouts
from tests.support.sshd import sshd


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A running sshd that tests do not change."""
    with sshd(tmp_path_factory.mktemp("shared")) as server:
        yield server


@pytest.fixture
def server(tmp_path):
    """A running sshd of the test's own."""
    with sshd(tmp_path) as running:
        yield running


@pytest.fixture
def short():
    """Time-outs short enough to wait for."""
    return Timeouts(connect_s=1.0, banner_s=1.0, auth_s=5.0, channel_s=5.0)

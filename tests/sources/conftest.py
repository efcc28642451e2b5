"""Real sshds for this folder's tests, started once a file and put back in order after each test."""

import pytest

from leapprof.sources import Timeouts
from tests.support.sshd import restored, sshd


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A running sshd that tests do not change."""
    with sshd(tmp_path_factory.mktemp("shared")) as server:
        yield server


@pytest.fixture
def server(shared):
    """A running sshd whose files a test may change, and which it may stop."""
    with restored(shared) as lent:
        yield lent


@pytest.fixture(scope="module")
def shared_pair(tmp_path_factory):
    """A jump host and a target."""
    directory = tmp_path_factory.mktemp("pair")
    with sshd(directory, alias="jump") as jump, sshd(directory, alias="target") as target:
        target.ssh_config.write_text(target.config_block("ProxyJump jump") + jump.config_block())
        yield jump, target


@pytest.fixture
def pair(shared_pair):
    """A target that is reached through a jump host, in one ssh_config; a test may stop both."""
    with restored(shared_pair[0]) as jump, restored(shared_pair[1]) as target:
        yield jump, target


@pytest.fixture
def short():
    """Time-outs short enough to wait for."""
    return Timeouts(connect_s=1.0, banner_s=1.0, auth_s=5.0, channel_s=5.0)

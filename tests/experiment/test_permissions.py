"""A user who may look at a node and not change it: the check says so, and nothing is touched."""

import os

import pytest

from tests.experiment.harness import running, write_inventory
from tests.support.program import leapprof
from tests.support.sshd import needs_sshd, sshd, unprivileged_user

pytestmark = [
    needs_sshd,
    pytest.mark.skipif(os.getuid() != 0, reason="needs root, to run a node of another user"),
]
BOOK = """
playbook: 1
title: not allowed
inventory: leapprof.toml
hosts: [{{host: eos-1, nodeos: "{selector}"}}]
phase: {{duration: 1s, interval: 200ms}}
change: {{config: {{file: {config}, set: {{database-map-mode: mapped_private}}}}}}
restart: {{commands: {{stop: {stop}, start: {start}}}, stop_timeout: 20s}}
"""


@pytest.mark.parametrize(("mode", "says"), [(0o600, "config.ini"), (0o644, "restart.sudo: true")])
def test_what_may_not_be_read_is_said_before_anything_is_changed(tmp_path, mode, says):
    """First the config, then the dirty flag of the state: without them a change would be a gamble."""
    user = unprivileged_user()
    with (
        running(tmp_path / "node", lines=("database-map-mode = mapped",)) as node,
        sshd(tmp_path, user=user) as server,
    ):
        node.config.chmod(mode)
        node.directory.chmod(0o755)
        (node.directory / "data" / "state").chmod(0o755)
        write_inventory(tmp_path / "leapprof.toml", server.ssh_config, server.alias, ("eos-1",))
        path = tmp_path / "book.yml"
        path.write_text(
            BOOK.format(
                selector=node.selector, config=node.config, stop=node.stop_command, start=node.start_command
            )
        )
        done = leapprof("run", str(path), "--apply", "--out", str(tmp_path / "runs"))
        assert done.code == 3, done.err
        assert says in done.err
        assert "eos-1: as it was, nothing was changed" in done.err
        assert node.calls == []
        assert "database-map-mode = mapped\n" in node.config.read_text()

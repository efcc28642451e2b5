"""Tests of the closed list of commands."""

import pytest

from leapprof.config.commands import is_allowed
from leapprof.config.inventory import resolve_hosts
from leapprof.errors import ConfigError

READS = (
    "smartctl --json=c -a /dev/nvme0",
    "sudo -n smartctl --json=c -x /dev/sda",
    "/usr/sbin/smartctl -j -a -d megaraid,3 /dev/sda",
    "sudo -n nvme smart-log /dev/nvme0 -o json",
    "sudo -n nvme ocp smart-add-log /dev/nvme0n1 -o json",
    "zpool list -vHPL",
    "journalctl -u nodeos.service -o cat -n 2000",
    "docker logs nodeos",
    "/usr/bin/nodeos --full-version",
)
OTHERS = (
    "", "sudo -n", "sh -c reboot", "rm -rf /", "sudo smartctl -a /dev/sda", "smartctl -t long /dev/sda",
    "smartctl -s off /dev/sda", "smartctl -X /dev/sda", "nvme format /dev/nvme0n1", "nvme sanitize /dev/nvme0",
    "nvme", "zpool destroy tank", "journalctl --vacuum-time=1s", "journalctl --rotate", "docker run evil",
    "nodeos --hard-replay-blockchain", "nodeos", "cat /etc/shadow", "env smartctl -a /dev/sda",
)  # fmt: skip


@pytest.mark.parametrize("command", READS)
def test_what_reads_is_allowed(command: str) -> None:
    """The commands of the documentation, with sudo -n or without."""
    assert is_allowed(command.split())


@pytest.mark.parametrize("command", OTHERS)
def test_what_is_not_in_the_list_is_not_allowed(command: str) -> None:
    """Other programs, and options that change something."""
    assert not is_allowed(command.split())


def test_an_inventory_with_another_command_is_refused(tmp_path) -> None:
    """The message names the programs of the list."""
    path = tmp_path / "leapprof.toml"
    path.write_text('[hosts.a]\ncommands.x = ["sh", "-c", "reboot"]\n')
    with pytest.raises(ConfigError, match="smartctl"):
        resolve_hosts(("a",), path)

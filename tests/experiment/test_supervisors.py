"""Restarts by systemd and docker: programs of these names on the PATH of the host check what they are told."""

import os
import shlex

import pytest

from tests.experiment.harness import running, write_inventory
from tests.support.program import leapprof
from tests.support.sshd import needs_sshd, sshd

pytestmark = needs_sshd
CANNOT_TELL = 13
BOOK = """
playbook: 1
title: restarted by a supervisor
inventory: leapprof.toml
hosts: [{{host: eos-1, nodeos: "{selector}", vars: {{unit: eos main}}}}]
phase: {{duration: 1s, interval: 200ms}}
change: {{config: {{set: {{database-map-mode: mapped_private}}}}}}
report: {{formats: [json]}}
"""
SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >> {calls}
case "$1" in
  show) [ "$4" = "eos main.service" ] && echo LoadState=loaded || echo LoadState=not-found
        echo "TimeoutStopUSec=$(cat {timeout})";;
  stop) exec {stop};;
  start) exec {start};;
esac
"""
DOCKER = """#!/bin/sh
echo "docker $*" >> {calls}
case "$1" in
  stop) exec {stop};;
  start) exec {start};;
esac
"""
SUDO = """#!/bin/sh
[ "$1" = -n ] || exit 9
shift
echo sudo >> {calls}
exec "$@"
"""


@pytest.fixture
def host(tmp_path):
    """Run a node behind an sshd whose PATH begins with our systemctl, docker and sudo."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (tmp_path / "timeout").write_text("1min 30s")
    with (
        running(tmp_path / "node", lines=("database-map-mode = mapped",)) as node,
        sshd(tmp_path, path=f"{bin_dir}:{os.environ['PATH']}") as server,
    ):
        names = {
            "calls": tmp_path / "calls", "timeout": tmp_path / "timeout",
            "stop": node.stop_command, "start": node.start_command,
        }  # fmt: skip
        quoted = {name: shlex.quote(str(value)) for name, value in names.items()}
        for name, script in (("systemctl", SYSTEMCTL), ("docker", DOCKER), ("sudo", SUDO)):
            (bin_dir / name).write_text(script.format(**quoted))
            (bin_dir / name).chmod(0o755)
        write_inventory(tmp_path / "leapprof.toml", server.ssh_config, server.alias, ("eos-1",))
        (tmp_path / "book.yml").write_text(BOOK.format(selector=node.selector))
        yield node


def run(tmp_path, restart: str):
    """Run the playbook with this way to restart."""
    out = str(tmp_path / "runs")
    return leapprof("run", str(tmp_path / "book.yml"), "--apply", "--out", out, "--set", f"restart={restart}")


def test_systemd_with_sudo(host, tmp_path):
    """The unit's name is one word, whatever it holds, and sudo never asks."""
    done = run(tmp_path, "{systemd: '{unit}.service', sudo: true, stop_timeout: 20s}")
    assert done.code == 0, done.err
    calls = (tmp_path / "calls").read_text().splitlines()
    assert "systemctl stop -- eos main.service" in calls
    assert "systemctl start -- eos main.service" in calls
    assert "sudo" in calls
    assert "database-map-mode = mapped_private" in host.config.read_text()
    assert host.calls == ["stop", "start"]


def test_a_unit_that_would_kill_nodeos_too_early_is_refused(host, tmp_path):
    """The write-back may take longer than TimeoutStopSec: nothing is changed."""
    done = run(tmp_path, "{systemd: '{unit}.service', stop_timeout: 20m}")
    assert done.code == 2
    assert "raise TimeoutStopSec" in done.err
    assert "as it was, nothing was changed" in done.err
    assert host.calls == []
    assert "database-map-mode = mapped\n" in host.config.read_text()


def test_a_unit_that_systemd_does_not_know_is_refused(host, tmp_path):
    """Before anything is stopped."""
    done = run(tmp_path, "{systemd: other.service, stop_timeout: 20s}")
    assert done.code == 3
    assert "knows no unit" in done.err
    assert host.calls == []


def test_docker_is_told_how_long_to_wait(host, tmp_path):
    """Its own 10 s would end nodeos in the middle of the write-back."""
    done = run(tmp_path, "{docker: eos, stop_timeout: 20s}")
    assert done.code == 0, done.err
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["docker stop --time 20 -- eos", "docker start -- eos"]
    assert host.calls == ["stop", "start"]

"""Every shipped playbook, run from end to end against the stand-in behind a real sshd, with times of seconds.

The windows are too short for verdicts, and that is expected: the outcome is "cannot tell".
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from leapprof.config.playbook import read_playbook
from leapprof.experiment.dry_run import dry_run_lines
from tests.experiment.harness import (
    ROOT,
    Node,
    log_entries,
    run_directory,
    running,
    write_inventory,
)
from tests.support.program import leapprof
from tests.support.sshd import Sshd, needs_sshd, sshd

PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.yml"))
SHORT = (
    "phase.duration=1s", "phase.warm_up=400ms", "phase.interval=200ms",
    "gates.settle.time=0s", "gates.head_lag={below_blocks: 100, lasting: 0s, timeout: 60s}",
)  # fmt: skip
CANNOT_TELL = 13


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    """Run one sshd for all tests of the module."""
    with sshd(tmp_path_factory.mktemp("sshd")) as running_server:
        yield running_server


def run(server: Sshd, tmp_path: Path, playbook: str, nodes: list[Node], *more: str):
    """Run a shipped playbook with shortened times on these nodes."""
    names = tuple(f"eos-{number}" for number in range(1, len(nodes) + 1))
    inventory = write_inventory(tmp_path / "leapprof.toml", server.ssh_config, server.alias, names)
    words = ["--set", f"inventory={inventory}"]
    for number, node in enumerate(nodes):
        words += node.overrides(number)
        words += ["--set", f"hosts.{number}.vars={{dir: {json.dumps(str(node.directory))}}}"]
    if playbook != "mapped-to-mapped-private":
        words += ["--set", "report.formats=[md, json]"]
    text = (ROOT / "playbooks" / f"{playbook}.yml").read_text()
    sets = [*SHORT, *more]
    if "restart:" in text:
        sets += [
            "restart.systemd=null", "restart.sudo=false", "restart.stop_timeout=60s", "restart.start_timeout=60s",
            "restart.between=300ms", "restart.commands={stop: '{dir}/stop.sh', start: '{dir}/start.sh'}",
        ]  # fmt: skip
    if "memory_settled:" in text:
        sets.append("gates.memory_settled={within_percent: 50, lasting: 500ms, timeout: 60s}")
    for value in sets:
        words += ["--set", value]
    path = ROOT / "playbooks" / f"{playbook}.yml"
    return leapprof("run", str(path), "--out", str(tmp_path / "runs"), "--apply", *words)


def summary(tmp_path: Path) -> dict:
    """Return what the summary of the run says."""
    return json.loads((run_directory(tmp_path / "runs") / "report" / "summary.json").read_text())


def sides(tmp_path: Path, pair: str) -> tuple[dict, dict]:
    """Return nodeos of both sides of a report."""
    report = json.loads((run_directory(tmp_path / "runs") / "report" / pair / "report.json").read_text())
    assert report["expectations"], "a report begins with what was expected"
    return report["before"]["nodeos"][0], report["after"]["nodeos"][0]


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_is_explained_at_its_top_and_can_be_planned(path: Path):
    """A shipped playbook opens with a comment and passes the strict check as it is."""
    assert path.read_text().startswith("# ")
    assert dry_run_lines(read_playbook(path))


@needs_sshd
def test_mapped_to_mapped_private(server, tmp_path):
    """One line of config.ini is changed, nodeos restarted once, and the report shows both modes."""
    with running(tmp_path / "node", lines=("database-map-mode = mapped  # as ever",)) as node:
        done = run(server, tmp_path, "mapped-to-mapped-private", [node])
        assert done.code == CANNOT_TELL, done.err
        assert node.calls == ["stop", "start"]
        assert "database-map-mode = mapped_private # as ever" in node.config.read_text()
        before, after = sides(tmp_path, "eos-1")
        assert (before["map_mode"], after["map_mode"]) == ("mapped", "mapped_private")
        assert done.out.startswith("expectations: cannot tell")


@needs_sshd
def test_tmpfs_to_mapped_private(server, tmp_path):
    """The state moves from tmpfs to a drive by a snapshot, and nodeos is started a second time."""
    memory = Path("/dev/shm") / f"leapprof-test-{os.getpid()}-{tmp_path.name}"
    if not memory.parent.is_dir():
        pytest.skip("needs a tmpfs at /dev/shm")
    try:
        with running(tmp_path / "node", state=str(memory), lines=("database-map-mode = mapped",)) as node:
            done = run(
                server, tmp_path, "tmpfs-to-mapped-private", [node],
                f"change.config.set.state-dir={tmp_path}/node/state-on-disk",
                "restart.prepare=[{run: 'touch {dir}/snapshot', verify: 'test -e {dir}/snapshot'}]",
            )  # fmt: skip
            assert done.code == CANNOT_TELL, done.err
            assert node.calls == ["stop", "start", "stop", "start"]
            assert (tmp_path / "node" / "state-on-disk" / "shared_memory.bin").exists()
            log = log_entries(run_directory(tmp_path / "runs"))
            dirs = [
                e["data"]["state_dir"]
                for e in log
                if e["kind"] == "done" and e["step"].endswith("start-eos-1")
            ]
            assert dirs == [f"{tmp_path}/node/state-on-disk"] * 2, "the flag is read where the state is"
    finally:
        shutil.rmtree(memory, ignore_errors=True)


@needs_sshd
@pytest.mark.parametrize(
    ("playbook", "before", "after", "line"),
    [
        ("leap-4-to-leap-5", "v4.0.6", "v5.0.3", "cpu-effort-percent = 80"),
        ("leap-5-to-spring-1", "v5.0.3", "v1.2.2", "producer-threads = 2"),
    ],
)
def test_an_upgrade(server, tmp_path, playbook, before, after, line):
    """Lines that the new version refuses are commented out, the new version starts from a snapshot, and twice."""
    with running(tmp_path / "node", version=before, lines=(line,)) as node:
        install = f"printf {after} > {{dir}}/version"
        done = run(
            server, tmp_path, playbook, [node],
            f"restart.prepare=[{{run: '{install}', verify: 'grep -q {after} {{dir}}/version'}}, "
            "{run: 'rm -rf {dir}/data/state; touch {dir}/snapshot', verify: 'test ! -e {dir}/data/state'}]",
        )  # fmt: skip
        assert done.code == CANNOT_TELL, done.err
        assert node.calls == ["stop", "start", "stop", "start"]
        assert f"# {line}" in node.config.read_text()
        assert tuple(side["version"] for side in sides(tmp_path, "eos-1")) == (before, after)


@needs_sshd
def test_thread_counts(server, tmp_path):
    """There and back twice: two pairs, and the file is what it was in between."""
    with running(tmp_path / "node", lines=("chain-threads = 2",)) as node:
        done = run(server, tmp_path, "thread-counts", [node])
        assert done.code == CANNOT_TELL, done.err
        assert node.calls == ["stop", "start"] * 3
        assert [pair["name"] for pair in summary(tmp_path)["pairs"]] == ["eos-1-1", "eos-1-2"]
        for pair in ("eos-1-1", "eos-1-2"):
            before, after = sides(tmp_path, pair)
            assert before["options"]["chain-threads"] == ["2"]
            assert after["options"]["chain-threads"] == ["4"]


@needs_sshd
def test_max_clients(server, tmp_path):
    """An option that is not in the file is added at its end."""
    with running(tmp_path / "node") as node:
        done = run(server, tmp_path, "max-clients", [node])
        assert done.code == CANNOT_TELL, done.err
        assert node.config.read_text().endswith("max-clients = 100\n")


@needs_sshd
def test_a_a_null(server, tmp_path):
    """Nothing is changed, nothing restarted, and nobody is asked for --apply."""
    with running(tmp_path / "node") as node:
        config = node.config.read_bytes()
        done = run(server, tmp_path, "a-a-null", [node])
        assert done.code == CANNOT_TELL, done.err
        assert node.calls == []
        assert node.config.read_bytes() == config
        assert not [e for e in log_entries(run_directory(tmp_path / "runs")) if e["kind"] == "intent"]


@needs_sshd
def test_fleet_canary(server, tmp_path):
    """One is changed, the two others are recorded beside it, and its report shows what happened to them."""
    with (
        running(tmp_path / "node1") as canary,
        running(tmp_path / "node2") as second,
        running(tmp_path / "node3") as third,
    ):
        done = run(server, tmp_path, "fleet-canary", [canary, second, third])
        assert done.code == CANNOT_TELL, done.err
        assert (canary.calls, second.calls, third.calls) == (["stop", "start"], [], [])
        report = json.loads(
            (run_directory(tmp_path / "runs") / "report" / "eos-1" / "report.json").read_text()
        )
        assert any(name.startswith("eos-2") for name in report["control"])
        assert [pair["is_control"] for pair in summary(tmp_path)["pairs"]] == [False, True, True]

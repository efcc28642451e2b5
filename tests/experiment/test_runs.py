"""Runs that go wrong: each leaves the host as it was, or says exactly what it is now."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.experiment.harness import (
    Node,
    log_entries,
    run_directory,
    running,
    started,
    write_inventory,
)
from tests.support.program import leapprof
from tests.support.sshd import needs_sshd, sshd

pytestmark = needs_sshd
CANNOT_TELL = 13
KILLS = int(os.environ.get("LEAPPROF_TEST_KILLS", "1"))
PLAYBOOK = """
playbook: 1
title: mapped, then mapped_private
inventory: leapprof.toml
hosts: [{{host: eos-1, nodeos: "{selector}"}}]
phase: {{duration: 1s, interval: 200ms}}
a: {{map_mode: mapped}}
b: {{map_mode: mapped_private}}
change: {{config: {{set: {{database-map-mode: mapped_private}}}}}}
restart:
  stop_timeout: 60s
  start_timeout: 60s
  commands: {{stop: "{stop}", start: "{start}"}}
expectations: {{nodeos.cpu_percent: decrease >= 10 %}}
report: {{formats: [json]}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Run one sshd for all tests of the module."""
    with sshd(tmp_path_factory.mktemp("sshd")) as running_server:
        yield running_server


@pytest.fixture
def node(tmp_path):
    """Run one node in mapped."""
    with running(tmp_path / "node", lines=("database-map-mode = mapped",)) as one:
        yield one


@pytest.fixture
def playbook(tmp_path, server, node):
    """Write a playbook that takes the node to mapped_private."""
    write_inventory(tmp_path / "leapprof.toml", server.ssh_config, server.alias, ("eos-1",))
    path = tmp_path / "book.yml"
    path.write_text(PLAYBOOK.format(selector=node.selector, stop=node.stop_command, start=node.start_command))
    return path


def words(playbook: Path, *sets: str) -> list[str]:
    """Return the arguments of a run that may change the host."""
    more = [word for value in sets for word in ("--set", value)]
    return ["run", str(playbook), "--out", str(playbook.parent / "runs"), "--apply", *more]


def resume(playbook: Path):
    """Go on with the run."""
    return leapprof("run", str(playbook), "--out", str(playbook.parent / "runs"), "--apply", "--resume")


def is_untouched(node: Node) -> bool:
    """Return whether file and process are as they were."""
    return (
        node.calls == [] and "database-map-mode = mapped\n" in node.config.read_text() and node.is_running()
    )


def one_correct_report(playbook: Path, node: Node) -> None:
    """Check that there is one report, of both sides, and that one change was made."""
    run = run_directory(playbook.parent / "runs")
    reports = list(run.glob("**/report.json"))
    assert [str(path.relative_to(run)) for path in reports] == ["report/eos-1/report.json"]
    report = json.loads(reports[0].read_text())
    modes = [report[side]["nodeos"][0]["map_mode"] for side in ("before", "after")]
    assert modes == ["mapped", "mapped_private"]
    assert report["expectations"][0]["outcome"] == "cannot tell"
    assert node.calls == ["stop", "start"], "the change was made once"
    assert node.config.read_text().count("database-map-mode = mapped_private") == 1
    assert node.is_running()
    assert [entry["kind"] for entry in log_entries(run)].count("ended") == 1


def goes_on_after_a_kill(playbook: Path, node: Node, moment: str) -> None:
    """Go on until the run has ended, and check its one report and its one change."""
    if not list(playbook.parent.glob("runs/*/run.json")):
        assert leapprof(*words(playbook)).code == CANNOT_TELL
    run = run_directory(playbook.parent / "runs")
    if not any(entry["kind"] == "ended" for entry in log_entries(run)):
        done = resume(playbook)
        assert done.code == CANNOT_TELL, f"killed {moment}: {done.err}"
    one_correct_report(playbook, node)


@pytest.mark.parametrize("moment", range(KILLS))
def test_a_killed_run_goes_on_and_makes_the_change_once(playbook, node, moment):
    """Kill -9 at any moment: --resume ends with one correct report and exactly one change."""
    seed = f"{os.environ.get('LEAPPROF_TEST_SEED', '1')} {moment}"
    delay_s = random.Random(seed).uniform(1.0, 9.0)
    process = started(*words(playbook))
    try:
        process.communicate(timeout=delay_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    goes_on_after_a_kill(playbook, node, f"after {delay_s:.2f} s")


@pytest.mark.parametrize("step", ["004-edit-eos-1", "005-stop-eos-1", "006-start-eos-1"])
def test_a_run_killed_in_the_middle_of_a_change_makes_it_once(playbook, node, step):
    """Kill -9 right behind the intent: whether the host did it or not, it is done once."""
    process = started(*words(playbook))
    wait_for_step(playbook, step, "intent")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    goes_on_after_a_kill(playbook, node, f"in {step}")


def length_s(gap: dict) -> float:
    """Return the length of a gap of a report."""
    return (gap["end_wall_ns"] - gap["start_wall_ns"]) / 1e9


def test_a_sampler_with_a_spool_goes_on_while_the_collector_is_dead(playbook, node, tmp_path):
    """After kill -9 in a phase, --resume follows the sampler: the recording has no gap where nobody listened."""
    process = started(*words(playbook, f"phase.spool={tmp_path}", "phase.duration=4s"))
    wait_for_samples(playbook, 2)
    killed_ns = time.time_ns()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    time.sleep(2.0)
    done = resume(playbook)
    assert done.code == CANNOT_TELL, done.err
    report = json.loads(next(playbook.parent.glob("runs/*/report/eos-1/report.json")).read_text())
    after = report["after"]
    assert after["started_wall_ns"] < killed_ns < after["ended_wall_ns"]
    assert all(length_s(gap) < 1.0 for gap in after["gaps"]), (
        "a tick may be late; nobody listened for two seconds"
    )
    assert not list(tmp_path.glob("leapprof-spool-*")), "spools are removed when their phase is recorded"
    assert node.calls == ["stop", "start"]


def test_a_gate_that_does_not_open_ends_the_run_before_anything_is_changed(playbook, node):
    """The message says what was waited for, and that the host is as it was."""
    done = leapprof(*words(playbook, "gates.file={path: /nonexistent/file, timeout: 500ms}"))
    assert done.code == 3
    assert "gate file did not open within" in done.err
    assert "/nonexistent/file" in done.err
    assert "eos-1: as it was, nothing was changed" in done.err
    assert is_untouched(node)


def test_a_gate_that_fails_after_the_change_rolls_it_back(playbook, node):
    """The config is byte for byte what it was, and nodeos runs with it."""
    before = node.config.read_bytes()
    flag = node.directory / "flag"
    flag.touch()
    gate = f"{{run: 'rm {flag}', timeout: 3s}}"  # opens once
    done = leapprof(*words(playbook, f"gates.command={gate}", "roll_back={on_failed_gate: true}"))
    assert done.code == 3
    assert "rolled back to situation a" in done.err
    assert node.config.read_bytes() == before
    assert node.calls == ["stop", "start", "stop", "start"]
    assert node.is_running()


def test_a_breached_guard_rolls_back_and_pages(playbook, node):
    """A guard that is breached after the change takes the host back, and the operator is paged."""
    page = playbook.parent / "page"
    before = node.config.read_bytes()
    process = started(
        *words(
            playbook, "phase.duration=8s", "guards.node_down={lasting: 200ms, then: roll_back}", "roll_back={}",
            f"guards.page='echo \"$LEAPPROF_REASON\" >> {page}'",
        )
    )  # fmt: skip
    try:
        wait_for_samples(playbook, 2)
        subprocess.run([node.stop_command], check=True)
        _, err = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 3, err
    assert "guard node_down: nodeos does not run; rolled back to situation a" in err
    assert page.read_text() == "eos-1: guard node_down: nodeos does not run\n"
    assert node.config.read_bytes() == before
    assert node.calls == ["stop", "start", "stop", "start"]
    assert node.is_running()
    assert "config.ini is back as it was; nodeos was restarted and came up" in err


def test_a_roll_back_that_was_killed_is_finished(playbook, node):
    """--resume finishes the roll-back first, and records nothing on a host that is neither a nor b."""
    before = node.config.read_bytes()
    sets = ("phase.duration=8s", "guards.node_down={lasting: 200ms, then: roll_back}", "roll_back={}")
    process = started(*words(playbook, *sets))
    wait_for_samples(playbook, 2)
    subprocess.run([node.stop_command], check=True)
    wait_for_step(playbook, "rollback-008-record-01-edit", "intent")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    done = resume(playbook)
    assert done.code == 3, done.err
    assert "a roll-back was under way: rolled back to situation a" in done.err
    assert node.config.read_bytes() == before
    assert node.calls == ["stop", "start", "stop", "start"]
    assert len(list(run_directory(playbook.parent / "runs").glob("recordings/*/recording.json"))) == 2


def test_a_nodeos_that_dies_is_not_started_into_a_dirty_state(playbook, node):
    """A killed nodeos leaves a dirty state: the roll-back puts the file back, and does not start it."""
    process = started(
        *words(
            playbook,
            "phase.duration=8s",
            "guards.node_down={lasting: 200ms, then: roll_back}",
            "roll_back={}",
        )
    )
    try:
        wait_for_samples(playbook, 2)
        node.kill()
        _, err = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 3, err
    assert "guard node_down" in err or "the roll-back stopped" in err
    assert "the state is dirty" in err
    assert "nodeos is stopped" in err
    assert "database-map-mode = mapped\n" in node.config.read_text()
    assert node.calls == ["stop", "start"]


def test_a_guard_that_stops_leaves_the_run_to_be_resumed(playbook, node):
    """Stop ends the run and changes nothing."""
    done = leapprof(*words(playbook, "guards.memory_available={below: 1000 TB, then: stop}"))
    assert done.code == 3
    assert "guard memory_available" in done.err
    assert is_untouched(node)


def test_a_guard_that_pauses_begins_the_phase_anew(playbook, node):
    """Pause gives the recording up, waits for the gates, and tries again, three times at most."""
    done = leapprof(*words(playbook, "guards.memory_available={below: 1000 TB, then: pause}"))
    assert done.code == 3
    assert "guards were breached 3 times" in done.err
    assert is_untouched(node)


def test_a_config_that_nodeos_would_refuse_is_not_written(playbook, node):
    """The check refuses it with 7; no backup, no new file, no restart."""
    done = leapprof(
        *words(playbook, "change.config.set={chain-threads: 0}", "b={options: {chain-threads: 0}}")
    )
    assert done.code == 7
    assert "nodeos would refuse it after the change" in done.err
    assert is_untouched(node)
    assert sorted(path.name for path in node.directory.glob("config.ini*")) == ["config.ini"]


def test_a_producing_nodeos_is_not_restarted(playbook, node):
    """A producer-name whose schedule cannot be read counts as producing, unless the playbook says so in words."""
    node.config.write_text(node.config.read_text() + "producer-name = standin\n")
    done = leapprof(*words(playbook))
    assert done.code == 2
    assert "the schedule cannot be read" in done.err
    assert is_untouched(node)
    words_of_operator = "restart.producing=restart it although it produces"
    assert leapprof(*words(playbook, words_of_operator)).code == CANNOT_TELL


def test_a_lost_host_ends_the_run_and_says_what_the_host_is(playbook, node, server):
    """Lost before the change: the gate times out, nothing was changed; --resume goes on when it is back."""
    server.stop()
    try:
        done = leapprof(*words(playbook))
    finally:
        server.start()
    assert done.code == 3
    assert "eos-1: as it was" in done.err
    assert is_untouched(node)
    assert resume(playbook).code == CANNOT_TELL
    one_correct_report(playbook, node)


def test_a_host_lost_in_the_middle_of_a_stop_is_found_again(playbook, node, server):
    """The message says that the stop was begun and that nobody saw its end; --resume finds out, and goes on."""
    stop = node.directory / "stop.sh"
    stop.write_text(stop.read_text().replace("echo stop >> calls", "echo stop >> calls; sleep 4"))
    process = started(*words(playbook))
    try:
        wait_for_step(playbook, "005-stop-eos-1", "intent")
        time.sleep(0.5)
        server.stop()
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
        server.start()
    assert process.returncode == 3, err
    assert "step 005-stop-eos-1 was begun and not seen to end" in err
    assert "config.ini is edited, its backup is" in err
    assert resume(playbook).code == CANNOT_TELL
    assert node.calls.count("start") == 1
    assert node.is_running()


@pytest.mark.parametrize("step", ["003-record", "008-record"])
def test_ctrl_c_says_what_the_host_is_and_the_run_goes_on_later(playbook, node, step):
    """130; before the change nothing was changed, after it the message names file and backup."""
    process = started(*words(playbook, "phase.duration=3s"))
    try:
        wait_for_step(playbook, step, "begun")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 130, err
    if step == "003-record":
        assert "as it was, nothing was changed" in err
        assert is_untouched(node)
    else:
        assert ".bak" in err
        assert "nodeos was restarted and came up" in err
    assert resume(playbook).code == CANNOT_TELL
    one_correct_report(playbook, node)


def test_nothing_is_changed_without_apply(playbook, node):
    """Without --apply and without a terminal the run is refused before a host is asked."""
    done = leapprof("run", str(playbook), "--out", str(playbook.parent / "runs"))
    assert done.code == 2
    assert "--apply" in done.err
    assert not (playbook.parent / "runs").exists()
    assert is_untouched(node)


def test_a_command_without_verify_stops_and_asks(playbook, node, tmp_path):
    """A command that was begun when leapprof died is not run again; the operator says whether it was done."""
    ran = tmp_path / "ran"
    command = f"{{to_b: {{run: 'echo x >> {ran}; sleep 3', on: host}}}}"
    process = started(*words(playbook, f"change={{command: {command}}}", "a={}", "b={}", "restart=null"))
    while not ran.exists() and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    done = resume(playbook)
    assert done.code == 2, done.err
    assert "has no verify" in done.err
    assert "--assume-done 004-command-eos-1" in done.err
    out = str(playbook.parent / "runs")
    done = leapprof(
        "run", str(playbook), "--out", out, "--apply", "--resume", "--assume-done", "004-command-eos-1"
    )
    assert done.code == CANNOT_TELL, done.err
    assert ran.read_text() == "x\n"


def test_a_manual_change_is_waited_for(playbook, node):
    """The operator is told what to do, and the run goes on when leapprof sees it."""
    process = started(
        *words(playbook, "change={manual: {say: 'set mapped_private on {host}, restart'}}", "restart=null")
    )
    try:
        wait_for_step(playbook, "004-manual-eos-1", "intent")
        node.config.write_text(node.config.read_text().replace("= mapped\n", "= mapped_private\n"))
        subprocess.run([node.stop_command], check=True)
        subprocess.run([node.start_command], check=True)
        _, err = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == CANNOT_TELL, err
    assert "set mapped_private on eos-1, restart" in err


def two_hosts(tmp_path: Path, server, first: Node, second: Node, side: str = "a") -> Path:
    """Write a playbook of two nodes; the second one's first situation is side."""
    write_inventory(tmp_path / "leapprof.toml", server.ssh_config, server.alias, ("eos-1", "eos-2"))
    hosts = "".join(
        f"  - {{host: eos-{n}, nodeos: '{node.selector}', first: {begin}, vars: {{dir: '{node.directory}'}}}}\n"
        for n, node, begin in ((1, first, "a"), (2, second, side))
    )
    text = PLAYBOOK.format(selector="x", stop="{dir}/stop.sh", start="{dir}/start.sh")
    path = tmp_path / "book.yml"
    path.write_text(text.replace('hosts: [{host: eos-1, nodeos: "x"}]', "hosts:\n" + hosts))
    return path


def test_a_crossover_changes_hosts_in_both_directions_at_once(tmp_path, server):
    """One host goes from a to b while the other goes from b to a, two at a time; each pair compares a with b."""
    lines = ("database-map-mode = mapped",)
    with (
        running(tmp_path / "node1", lines=lines) as first,
        running(tmp_path / "node2", lines=lines) as second,
    ):
        path = two_hosts(tmp_path, server, first, second, "b")
        text = path.read_text().replace("playbook: 1", "playbook: 1\ndesign: crossover\nmax_parallel: 2")
        path.write_text(text)
        done = leapprof(*words(path))
        assert done.code == CANNOT_TELL, done.err
        assert (first.calls, second.calls) == (["stop", "start"], ["stop", "start"] * 2)
        for host in ("eos-1", "eos-2"):
            report = json.loads(next(tmp_path.glob(f"runs/*/report/{host}/report.json")).read_text())
            modes = [report[side]["nodeos"][0]["map_mode"] for side in ("before", "after")]
            assert modes == ["mapped", "mapped_private"]


def test_after_a_failed_change_no_other_host_is_changed(tmp_path, server):
    """The first host's stop fails: the second one is not even begun, and both are described."""
    lines = ("database-map-mode = mapped",)
    with (
        running(tmp_path / "node1", lines=lines) as first,
        running(tmp_path / "node2", lines=lines) as second,
    ):
        path = two_hosts(tmp_path, server, first, second)
        (first.directory / "stop.sh").write_text("#!/bin/sh\necho cannot >&2\nexit 1\n")
        done = leapprof(*words(path))
        assert done.code == 3
        assert "ended with status 1" in done.err
        assert "step 006-stop-eos-1 was begun and not seen to end" in done.err
        assert "eos-2: as it was, nothing was changed" in done.err
        assert first.is_running()
        assert is_untouched(second)


def test_status_tells_steps_and_hosts(playbook, node):
    """After a run each step is done and the host is described; without a run there is nothing to tell."""
    runs = str(playbook.parent / "runs")
    assert leapprof("run", str(playbook), "--out", runs, "--status").code == 2
    assert leapprof(*words(playbook)).code == CANNOT_TELL
    done = leapprof("run", str(playbook), "--out", runs, "--status")
    assert "    done  005-stop-eos-1" in done.out
    assert ".bak" in done.out
    assert "ended: cannot tell" in done.out
    assert leapprof("run", str(playbook), "--out", runs, "--resume", "--apply").code == 2


def wait_for_step(playbook: Path, step: str, kind: str) -> None:
    """Wait until the log of the run says that a step is so far."""
    deadline = time.monotonic() + 180
    runs = playbook.parent / "runs"
    while time.monotonic() < deadline:
        logs = list(runs.glob("*/log.jsonl")) if runs.exists() else []
        if logs and any(
            f'"kind": "{kind}", "step": "{step}"' in line for line in logs[0].read_text().splitlines()
        ):
            return
        time.sleep(0.02)
    raise AssertionError(f"{step} did not come so far")


def wait_for_samples(playbook: Path, recordings: int) -> None:
    """Wait until the last of that many recordings holds frames."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        found = sorted(
            playbook.parent.glob("runs/*/recordings/*/recording.json"), key=lambda p: p.stat().st_ctime
        )
        if len(found) >= recordings:
            time.sleep(1.0)
            return
        time.sleep(0.02)
    raise AssertionError("nothing was recorded")

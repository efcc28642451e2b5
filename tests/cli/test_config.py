"""`leapprof config`."""

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from leapprof.cli.main import main
from leapprof.model import Host, Nodeos, Recording, SamplingCost, Topology
from leapprof.store import RecordingWriter

DEV_KEY = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
KEY_LINE = f"signature-provider = EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV=KEY:{DEV_KEY}\n"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a command printed and ended with."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(monkeypatch, capsys):
    """Return what runs the program with arguments, as an operator does."""

    def program(*arguments, text=""):
        monkeypatch.setattr(sys, "argv", ["leapprof", "config", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Result(returncode=ended.value.code or 0, stdout=printed.out, stderr=printed.err)

    return program


@pytest.fixture
def file(tmp_path):
    """Return a config.ini with a key, a fine line and one that 5.0 removed."""
    path = tmp_path / "config.ini"
    path.write_text(KEY_LINE + "net-threads = 8\ncpu-effort-percent = 70\n", encoding="utf-8")
    return path


def test_a_config_that_would_start_ends_with_0(file, run):
    """4.0 takes the file, and its findings go to stdout."""
    result = run("check", str(file), "--target", "leap-4.0")
    assert result.returncode == 0
    assert "nothing found" in result.stdout


def test_a_config_that_nodeos_refuses_ends_with_7(file, run):
    """5.0 refuses the file: the line is on stdout, the verdict on stderr."""
    result = run("check", str(file), "--target", "leap-5.0")
    assert result.returncode == 7
    assert f"{file}:3: error: cpu-effort-percent was removed in leap-5.0" in result.stdout
    assert "would refuse it (1 error)" in result.stderr


def test_json_has_the_findings_of_the_contract(file, run):
    """--json prints findings with exactly the promised keys."""
    result = run("check", str(file), "--target", "v5.0.3", "--source", "v4.0.6", "--json")
    document = json.loads(result.stdout)
    assert {tuple(row) for row in document["findings"]} == {
        ("code", "severity", "line", "option", "message", "hint")
    }
    assert ("option-removed", 3) in [(row["code"], row["line"]) for row in document["findings"]]


def test_standard_input_is_read_as_a_file(run):
    """- reads from standard input."""
    assert run("check", "-", "--target", "leap-5.0", text="max-clients = 100\n").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", "FILE", "--target", "leap-9"], 2),
        (["check", "FILE", "--target", "leap-5.0", "--source", "yesterday"], 2),
        (["check", "FILE"], 2),
        (["check", "/nonexistent/config.ini", "--target", "leap-5.0"], 2),
        (["explain", "no-such-option"], 2),
        (["diff", "FILE", "/nonexistent/config.ini"], 2),
        (["check", "FILE", "--target", "leap-5.0", "--recording", "/nonexistent"], 2),
    ],
)
def test_what_is_wrong_ends_with_its_exit_code(file, arguments, status, run):
    """Unknown versions and options are usage errors, and so is what was named and is not there."""
    result = run(*[str(file) if a == "FILE" else a for a in arguments])
    assert result.returncode == status
    assert "Traceback" not in result.stderr


def test_a_binary_file_is_unreadable(tmp_path, run):
    """A file with NUL bytes is no config.ini."""
    path = tmp_path / "shared_memory.bin"
    path.write_bytes(b"EOSIODB3\0\0")
    assert run("check", str(path), "--target", "leap-5.0").returncode == 4


def test_diff_groups_by_what_can_move(file, tmp_path, run):
    """Diff tells threads under CPU, and hides the key that differs."""
    after = tmp_path / "after.ini"
    after.write_text("net-threads = 4\n", encoding="utf-8")
    result = run("diff", str(file), str(after))
    assert "can move cpu:\n  cpu-effort-percent: 70 → (not set)\n  net-threads: 8 → 4\n" in result.stdout
    assert "signature-provider: *** → (not set)" in result.stdout
    rows = json.loads(run("diff", str(file), str(after), "--json").stdout)["changes"]
    assert {"option": "net-threads", "group": "cpu", "before": "8", "after": "4"} in rows


def test_explain_tells_defaults_over_the_versions(run):
    """Explain prints each stretch with its type and default."""
    result = run("explain", "eos-vm-oc-enable")
    assert "eosio-2.0 to leap-4.0: switch, default false" in result.stdout
    assert "leap-5.0 to spring-2.0: enum, one of auto, all, none, default auto" in result.stdout
    assert json.loads(run("explain", "eos-vm-oc-enable", "--json").stdout)["group"] == "cpu"


def test_the_key_in_a_config_is_never_printed(file, run):
    """Neither output nor error of any command repeats the private key."""
    for arguments in (
        ["check", str(file), "--target", "leap-5.0", "--source", "leap-4.0"],
        ["check", str(file), "--target", "leap-3.1", "--json"],
        ["diff", str(file), "/dev/null"],
        ["explain", DEV_KEY],
    ):
        result = run(*arguments)
        assert DEV_KEY not in result.stdout + result.stderr


def recording_of(directory, **facts):
    """Write a recording of a host with these facts and one nodeos, and return its directory."""
    manifest = Recording(
        host=Host(name="node", boot_id="boot", facts=facts),
        nodeos=(Nodeos(id="eos", pid=7, start_ticks=1, map_mode="mapped"),),
        topology=Topology(),
        phase="before",
        interval_s=1.0,
        started_wall_ns=1,
        ended_wall_ns=2,
        transport="replay",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )
    writer = RecordingWriter.create(directory, manifest)
    writer.close()
    return directory


def test_a_recording_tells_whether_the_host_has_the_memory(tmp_path, run):
    """The published host carries the published state, one with half the swap does not."""
    config = tmp_path / "config.ini"
    config.write_text(
        "database-map-mode = mapped_private\nchain-state-db-size-mb = 131072\n", encoding="utf-8"
    )
    gib = 2**30
    for swap_gib, status in ((128, 0), (64, 7)):
        facts = {
            "mem_total_bytes": str(32 * gib),
            "swap_total_bytes": str(swap_gib * gib),
            "overcommit_memory": "0",
        }
        where = recording_of(tmp_path / f"recording-{swap_gib}", **facts)
        result = run("check", str(config), "--target", "leap-5.0", "--recording", str(where))
        assert result.returncode == status
        assert ("state-above-ram-and-swap" in result.stdout) is (status == 7)


def test_a_nodeos_that_is_not_in_the_recording_is_a_usage_error(tmp_path, file, run):
    """--nodeos names one of the recording, or the names that there are are told."""
    where = recording_of(tmp_path / "recording")
    result = run("check", str(file), "--target", "leap-4.0", "--recording", str(where), "--nodeos", "wax")
    assert result.returncode == 2
    assert "choose one of eos" in result.stderr


def test_this_very_host_can_be_asked(tmp_path, run):
    """--host local samples this machine once: a state of 8 TiB is more than it has."""
    config = tmp_path / "config.ini"
    config.write_text("database-map-mode = heap\nchain-state-db-size-mb = 8388608\n", encoding="utf-8")
    result = run(
        "check",
        str(config),
        "--target",
        "leap-5.0",
        "--host",
        "local",
        "--json",
        "--nodeos",
        "unit:none.service",
    )
    codes = [row["code"] for row in json.loads(result.stdout)["findings"]]
    assert result.returncode == (7 if "state-above-ram-and-swap" in codes else 0)
    assert codes[0].startswith("state-above-")
    assert "state-memory-unchecked" not in codes


def test_a_host_is_looked_up_in_the_inventory(tmp_path, run):
    """--host takes the inventory's names, as record and doctor do."""
    inventory = tmp_path / "hosts.toml"
    inventory.write_text(
        '[hosts.here]\ntransport = "local"\nnodeos = ["unit:none.service"]\n', encoding="utf-8"
    )
    config = tmp_path / "config.ini"
    config.write_text("database-map-mode = heap\nchain-state-db-size-mb = 8388608\n", encoding="utf-8")
    words = (
        "check",
        str(config),
        "--target",
        "leap-5.0",
        "--host",
        "here",
        "--inventory",
        str(inventory),
        "--json",
    )
    codes = [row["code"] for row in json.loads(run(*words).stdout)["findings"]]
    assert "state-memory-unchecked" not in codes
    assert any(code.startswith("state-above-") for code in codes)


def test_memory_measured_in_a_recording_is_judged(tmp_path, run):
    """--recording brings pressure, swap-ins and refaults; a quiet host gives no finding of them."""
    config = tmp_path / "config.ini"
    config.write_text("database-map-mode = mapped_private\nchain-state-db-size-mb = 4096\n", encoding="utf-8")
    sample = str(Path(__file__).parents[2] / "samples" / "nodeos-v5-long" / "mapped_private")
    done = run("check", str(config), "--target", "v5.0.3", "--recording", sample, "--json")
    assert "memory-short" not in done.stdout
    assert done.returncode == 0

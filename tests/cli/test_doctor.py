"""`leapprof doctor` on a machine that runs the stand-in lists it with everything that is known."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from leapprof.cli.doctor_lines import nodeos_lines
from leapprof.model import Nodeos, Topology
from leapprof.standin.runner import Running, free_address
from tests.support.program import leapprof

WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A stand-in in mapped_private, and its address."""
    base, address = tmp_path_factory.mktemp("doctor"), free_address()
    config = base / "config"
    config.mkdir()
    (config / "config.ini").write_text(
        f"database-map-mode = mapped_private\nchain-state-db-size-mb = 64\nsignature-provider = EOS=KEY:{WIF}\n"
        f"http-server-address = {address}\n"
    )
    arguments = ("--config-dir", str(config), "--used-mb", "8")
    with Running(base / "node" / "data", arguments, base / "log") as running:
        running.wait_until_ready()
        yield base, address


def test_doctor_lists_it_with_everything(standin: tuple[Path, str]) -> None:
    """Process, version, mode, API, config, directories with filesystem and drive, state file, log."""
    base, address = standin
    code, out, _ = leapprof("doctor", "local", "--nodeos", f"node=data-dir:{base / 'node' / 'data'}")
    assert code == 0
    assert "stand-in (no nodeos) node" in out
    lines = {
        line[4:14].strip(): line[15:]
        for line in out.splitlines()
        if line.startswith("    ") and line[4] != "→"
    }
    assert lines["version"] == "v5.0.3 (its API says so)"
    assert lines["map mode"] == "mapped_private"
    assert lines["API"] == address
    assert lines["config"].startswith(f"{base / 'config'}; ")
    assert "with a value that stays on the host" in lines["config"]
    for name in ("state", "blocks"):
        assert lines[name].startswith(f"{base / 'node' / 'data' / name} on /")
    assert lines["state file"].startswith("64.0 MiB, ")
    assert "marked as in use" in lines["state file"]
    assert lines["log"] == "read"
    assert WIF not in out
    assert all(c.isprintable() or c == "\n" for c in out)


def test_doctor_as_json_holds_the_same(standin: tuple[Path, str]) -> None:
    """For machines: facts under nodeos.<id>."""
    base, address = standin
    code, out, _ = leapprof(
        "doctor", "local", "--json", "--nodeos", f"node=port:{address.rpartition(':')[2]}"
    )
    assert code == 0
    (host,) = json.loads(out)["hosts"]
    (nodeos,) = host["nodeos"]
    assert (nodeos["id"], nodeos["log"], nodeos["executable_deleted"]) == ("node", "read", False)
    facts = host["facts"]["facts"]
    assert facts["nodeos.node.state_file_bytes"] == str(64 * 2**20)
    assert facts["nodeos.node.state_dirty"] == "yes"
    assert int(facts["nodeos.node.state_filesystem_bytes"]) > 0
    assert base.name


def test_a_state_on_this_host_is_checked_against_it(standin: tuple[Path, str], tmp_path: Path) -> None:
    """`config check --host` knows the state file: it never shrinks."""
    base, _ = standin
    config = tmp_path / "config.ini"
    config.write_text("chain-state-db-size-mb = 32\nchain-state-db-guard-size-mb = 8\n")
    words = (
        "--target",
        "leap-5.0",
        "--host",
        "local",
        "--json",
        "--nodeos",
        f"data-dir:{base / 'node' / 'data'}",
    )
    code, out, _ = leapprof("config", "check", str(config), *words)
    assert "state-does-not-shrink" in [row["code"] for row in json.loads(out)["findings"]]
    assert code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--nodeos", "what:x"), "write exe:NAME"),
        (("--nodeos", "port:0"), "is not a port"),
        (("--nodeos", "data-dir:srv"), "is not an absolute path"),
        (("--transport", "pigeon"), "'pigeon' is not accepted"),
    ],
)
def test_wrong_words_say_what_is_accepted(words: tuple[str, ...], message: str) -> None:
    """Exit code 2, one line, no traceback."""
    code, out, err = leapprof("doctor", "local", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_what_is_not_known_says_so() -> None:
    """No line is empty, and no value is made up."""
    lines = dict(nodeos_lines(Nodeos(id="eos", pid=7, start_ticks=1), {}, Topology()))
    assert lines["process"] == "pid 7, no systemd unit of its own"
    for label in ("version", "map mode", "API", "config", "data", "state", "blocks", "log", "stop"):
        assert lines[label].startswith("not known")


def test_a_replaced_program_a_container_and_a_time_out_are_said() -> None:
    """With the fact's own source."""
    nodeos = Nodeos(
        id="eos", pid=7, start_ticks=1, executable="/usr/bin/nodeos", executable_deleted=True, version="v5.0.3",
        container="docker 0123456789ab", root="/proc/7/root", state_dir="/data/state", roles={"state": ("sda",)},
    )  # fmt: skip
    facts = {
        "nodeos.eos.stop_timeout_s": "300",
        "nodeos.eos.stop_timeout_source": "/etc/systemd/system/eos.service",
        "nodeos.eos.state_mount": "/data",
        "nodeos.eos.state_filesystem": "xfs",
        "nodeos.eos.full_version": "v5.0.3-abc",
        "nodeos.other.state_mount": "/wrong",
    }
    lines = dict(nodeos_lines(nodeos, facts, Topology()))
    assert "/usr/bin/nodeos (replaced since it started), in docker 0123456789ab" in lines["process"]
    assert lines["version"] == "v5.0.3 (its API says so), full version v5.0.3-abc"
    assert lines["state"] == "/data/state on /data (xfs), drive sda"
    assert lines["stop"] == "killed after 300 s (/etc/systemd/system/eos.service)"

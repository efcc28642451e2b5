"""`leapprof config`."""

import json
import subprocess
import sys

import pytest

DEV_KEY = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
KEY_LINE = f"signature-provider = EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV=KEY:{DEV_KEY}\n"
PROGRAM = [sys.executable, "-c", "from leapprof.cli.main import main; main()", "config"]


def run(*arguments, text=None):
    """Run the program as an operator does."""
    return subprocess.run(
        [*PROGRAM, *arguments], input=text, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def file(tmp_path):
    """Return a config.ini with a key, a fine line and one that 5.0 removed."""
    path = tmp_path / "config.ini"
    path.write_text(KEY_LINE + "net-threads = 8\ncpu-effort-percent = 70\n", encoding="utf-8")
    return path


def test_a_config_that_would_start_ends_with_0(file):
    """4.0 takes the file, and its findings go to stdout."""
    result = run("check", str(file), "--target", "leap-4.0")
    assert result.returncode == 0
    assert "nothing found" in result.stdout


def test_a_config_that_nodeos_refuses_ends_with_7(file):
    """5.0 refuses the file: the line is on stdout, the verdict on stderr."""
    result = run("check", str(file), "--target", "leap-5.0")
    assert result.returncode == 7
    assert f"{file}:3: error: cpu-effort-percent was removed in leap-5.0" in result.stdout
    assert "would refuse it (1 error)" in result.stderr


def test_json_has_the_findings_of_the_contract(file):
    """--json prints findings with exactly the promised keys."""
    result = run("check", str(file), "--target", "v5.0.3", "--source", "v4.0.6", "--json")
    document = json.loads(result.stdout)
    assert {tuple(row) for row in document["findings"]} == {
        ("code", "severity", "line", "option", "message", "hint")
    }
    assert ("option-removed", 3) in [(row["code"], row["line"]) for row in document["findings"]]


def test_standard_input_is_read_as_a_file():
    """- reads from standard input."""
    assert run("check", "-", "--target", "leap-5.0", text="max-clients = 100\n").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", "FILE", "--target", "leap-9"], 2),
        (["check", "FILE", "--target", "leap-5.0", "--source", "yesterday"], 2),
        (["check", "FILE"], 2),
        (["check", "/nonexistent/config.ini", "--target", "leap-5.0"], 4),
        (["explain", "no-such-option"], 2),
        (["diff", "FILE", "/nonexistent/config.ini"], 4),
        (["check", "FILE", "--target", "leap-5.0", "--recording", "/nonexistent"], 5),
    ],
)
def test_what_is_wrong_ends_with_its_exit_code(file, arguments, status):
    """Unknown versions and options are usage errors, unreadable files and recordings are told apart."""
    result = run(*[str(file) if a == "FILE" else a for a in arguments])
    assert result.returncode == status
    assert "Traceback" not in result.stderr


def test_a_binary_file_is_unreadable(tmp_path):
    """A file with NUL bytes is no config.ini."""
    path = tmp_path / "shared_memory.bin"
    path.write_bytes(b"EOSIODB3\0\0")
    assert run("check", str(path), "--target", "leap-5.0").returncode == 4


def test_diff_groups_by_what_can_move(file, tmp_path):
    """Diff tells threads under CPU, and hides the key that differs."""
    after = tmp_path / "after.ini"
    after.write_text("net-threads = 4\n", encoding="utf-8")
    result = run("diff", str(file), str(after))
    assert "can move cpu:\n  cpu-effort-percent: 70 → (not set)\n  net-threads: 8 → 4\n" in result.stdout
    assert "signature-provider: *** → (not set)" in result.stdout
    rows = json.loads(run("diff", str(file), str(after), "--json").stdout)["changes"]
    assert {"option": "net-threads", "group": "cpu", "before": "8", "after": "4"} in rows


def test_explain_tells_defaults_over_the_versions():
    """Explain prints each stretch with its type and default."""
    result = run("explain", "eos-vm-oc-enable")
    assert "eosio-2.0 to leap-4.0: switch, default false" in result.stdout
    assert "leap-5.0 to spring-2.0: enum, one of auto, all, none, default auto" in result.stdout
    assert json.loads(run("explain", "eos-vm-oc-enable", "--json").stdout)["group"] == "cpu"


def test_the_key_in_a_config_is_never_printed(file):
    """Neither output nor error of any command repeats the private key."""
    for arguments in (
        ["check", str(file), "--target", "leap-5.0", "--source", "leap-4.0"],
        ["check", str(file), "--target", "leap-3.1", "--json"],
        ["diff", str(file), "/dev/null"],
        ["explain", DEV_KEY],
    ):
        result = run(*arguments)
        assert DEV_KEY not in result.stdout + result.stderr

"""Planted keys are looked for in every byte that leapprof writes: files, output, messages, temporary files."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leapprof.agent.frame import decode_body
from leapprof.assess.load import load
from leapprof.store import open_recording

CLI = "import sys; from leapprof.cli.main import main; main()"
WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
"""The private key of libfc's own tests: nobody's."""
MODERN = "PVT_K1_2bfGi9rYsXQSXXTvJbDAPhHLQUojjaNLomdm3cEJ1XTzMqUt3V"
PASSWORD = "planted-wallet-password"
PUBLIC = "EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV"
SECRETS = (WIF, MODERN, MODERN.removeprefix("PVT_K1_"), PASSWORD)
CONFIG = f"""\
# signature-provider = {PUBLIC}=KEY:{WIF}
signature-provider = {PUBLIC}=KEY:{MODERN}
signature-provider={PUBLIC} = KEY:{WIF}
[private]
peer-private-key = ["{PUBLIC}","{WIF}"]
agent-name = {WIF}
agent-name = http://user:{PASSWORD}@host
chain-threads = {MODERN}
{WIF}
{WIF} = 1
plugin = eosio::chain_plugin # {WIF}
"""
LOG = f"""\
info  2026-01-31T12:00:00.000 nodeos    main.cpp:1  main ] nodeos version v5.0.3 key {WIF}
info  2026-01-31T12:00:00.000 nodeos    producer_plugin.cpp:1  init ] signature-provider = {PUBLIC}=KEY:{WIF}
error 2026-01-31T12:00:01.000 nodeos    main.cpp:1  main ] {MODERN}
warn  2026-01-31T12:00:01.000 nodeos    controller.cpp:1  replay ] --private-key={WIF} database dirty flag set
"""
BUSY = "import sys, time\nsys.stderr.write(open(sys.argv[1]).read()); sys.stderr.flush()\ntime.sleep(600)"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory):
    """Record, show, export, check and compare a process that has keys everywhere; return every byte by where it was."""
    root = tmp_path_factory.mktemp("secrets")
    data_dir, out, temporary = root / "nodeos-data", root / "out", root / "tmp"
    for directory in (data_dir / "config", out, temporary):
        directory.mkdir(parents=True)
    config = data_dir / "config" / "config.ini"
    config.write_text(CONFIG)
    (data_dir / "log").write_text(LOG)
    words = [
        "nodeos", "-c", BUSY, str(data_dir / "log"), f"--signature-provider={PUBLIC}=KEY:{WIF}",
        "--private-key", MODERN, WIF, "--data-dir", str(data_dir), "--config-dir",
        str(config.parent), f"--agent-name={PASSWORD}{WIF}",
    ]  # fmt: skip
    with (data_dir / "stderr").open("wb") as err:
        process = subprocess.Popen(words, executable=sys.executable, stderr=err)
    try:
        found = _work(out, temporary, data_dir, config)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    for directory in (out, temporary):
        found |= {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    for path in out.glob("*/recording.json"):
        found |= _unpacked(path.parent)
    return found


def _work(out: Path, temporary: Path, data_dir: Path, config: Path) -> dict[str, bytes]:
    """Run the commands that see the process or its config; return what they printed."""
    found: dict[str, bytes] = {}
    environment = {**os.environ, "TMPDIR": str(temporary), "COLUMNS": "200"}

    def run(*words: object) -> None:
        done = subprocess.run(
            [sys.executable, "-c", CLI, *map(str, words)],
            capture_output=True, check=False, timeout=120, env=environment, cwd=temporary,
        )  # fmt: skip
        found["output of " + " ".join(map(str, words))] = done.stdout + done.stderr

    chosen = ("--nodeos", f"eos=cmdline:{data_dir}")
    for phase in ("before", "after"):
        run(
            "record",
            "local",
            "--out",
            out,
            "--phase",
            phase,
            "--duration",
            "3s",
            "--interval",
            "200ms",
            *chosen,
        )
    killed = subprocess.Popen(
        [sys.executable, "-c", CLI, "record", "local", "--out", str(out), "--phase", "killed", *chosen],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(out.glob("*killed*/journal.sqlite-wal")) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    killed.kill()
    killed.wait()
    recordings = sorted(path.parent for path in out.glob("*/recording.json"))
    for path in recordings:
        run("show", path)
        run("show", path, "--json")
    run("doctor", "local", *chosen)
    run("doctor", "local", "--json", *chosen)
    run("export", recordings[0], "--out", out / "export", "--format", "csv")
    run("compare", recordings[1], recordings[0], "--out", out / "reports")
    run("config", "check", config, "--target", "leap-5.0")
    run("config", "diff", config, config)
    run("record", "local", "--out", out, "--phase", f"x{WIF}/", *chosen)
    return found


def _unpacked(recording: Path) -> dict[str, bytes]:
    """Return what a recording holds in compressed form."""
    loaded = load(recording)
    found = {
        f"{recording.name}: {name}.{column}": repr(set(values.tolist())).encode()
        for name in loaded.table_names
        for column, values in loaded.table(name).texts.items()
    }
    for number, body in enumerate(open_recording(recording).frames()):
        sections = decode_body(body).sections
        found[f"{recording.name}: frame {number}"] = b"".join(s.name.encode() + s.text for s in sections)
    return found


def test_the_planted_process_was_seen(written) -> None:
    """There are recordings, a journal of the killed one, a report, and the config was read."""
    names = "\n".join(written)
    assert len(re.findall(r"recording\.json", names)) == 3
    assert "report.html" in names
    assert "killed" in names and "frame 0" in names
    shown = next(
        text for name, text in written.items() if name.startswith("output of show") and "--json" in name
    )
    assert b"signature-provider" in shown


def test_no_planted_key_is_in_any_byte(written) -> None:
    """Keys of the config, its comments, the command line and the log are nowhere, packed or not."""
    commands = ("output of record", "output of config")
    leaks = [
        (name, secret)
        for name, text in written.items()
        for secret in SECRETS
        if secret.encode() in text and not (name.startswith(commands) and secret in name)
    ]
    assert leaks == []

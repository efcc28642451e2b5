"""No byte of a key crosses the channel or reaches a disk: config, comments, command line and log, with either agent."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leapprof.agent.frame import FrameDecoder
from leapprof.assess.compare import compare
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.model import Frame
from leapprof.model.access import HostConfig, NodeosSelector
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.link import AgentLink, choose_agent
from leapprof.recorder.planning import RecordOptions
from leapprof.recorder.session import HostSession, survey_host
from leapprof.report import Format, write
from leapprof.sources.base import CommandResult
from leapprof.sources.local import LocalSource
from leapprof.sources.process import ProcessChannel
from leapprof.standin.runner import free_address

WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
OTHER = "5JxWfZ3e7bKLbBGQbT3pcHJNNvRqq9xyNGZ5Vz5KJwzJ8yN5Qme"
PVT = "PVT_K1_2bfGi9rYsXQSXXTvJbDAPhHLQUojjaNLomdm3cEJ1XTzMqUt3V"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
PUBLIC = "EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV"
PASSWORD = "hunter2-of-the-operator"
SECRETS = (WIF, OTHER, PVT, HEX, PUBLIC, PASSWORD, WIF[:20], WIF[-20:], PVT[7:40], HEX[:24])

CONFIG = f"""# key of last year {WIF}
plugin = eosio::chain_api_plugin # {OTHER}
signature-provider = {PUBLIC}=KEY:{WIF}
peer-private-key = ["{PUBLIC}","{OTHER}"]
private-key = ["{PUBLIC}","{WIF}"]
agent-name = {PVT}
http-alias = https://user:{PASSWORD}@node
{HEX} = {HEX}
my-own-thing = {PASSWORD}
database-map-mode = mapped_private
chain-state-db-size-mb = 64
"""
HEAD = "info  2099-01-01T00:00:00.000 nodeos    main.cpp:62          log_non_default_opti ] "
LOG = (
    f"{HEAD}Non-default options: signature-provider = {PUBLIC}=KEY:{WIF}, agent-name = {PVT}, net-threads = 4, "
    f"{HEX} = {HEX}, my-own-thing = {PASSWORD}\n"
    f"{HEAD}entered shutdown... {OTHER}\n{HEAD}Blockchain started; head block is #{HEX}\nbare {WIF}\n"
    f"{HEAD}unlocked with {PASSWORD}\n"
)


class TappedChannel:
    """A channel that keeps what crosses it."""

    def __init__(self, inner: ProcessChannel, wire: bytearray) -> None:
        self.inner, self.wire = inner, wire

    @property
    def stderr_tail(self) -> str:
        return self.inner.stderr_tail

    def read(self, timeout_s: float) -> bytes:
        data = self.inner.read(timeout_s)
        self.wire += data
        return data

    def write(self, data: bytes) -> None:
        self.inner.write(data)

    def close(self) -> None:
        self.inner.close()


class Tapped(LocalSource):
    """This machine, with a tap, as another user if asked, and without Python if asked."""

    def __init__(self, *, python: bool = True, user: int | None = None) -> None:
        super().__init__("local")
        self.python, self.user, self.wires = python, user, list[bytearray]()

    def open(self, command: str) -> TappedChannel:  # type: ignore[override]
        argv: tuple[str, ...] = ("/bin/sh", "-c", command)
        if self.user is not None:
            argv = ("setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *argv)
        self.wires.append(bytearray())
        channel = ProcessChannel(self.name, argv)
        self._channels.append(channel)
        return TappedChannel(channel, self.wires[-1])

    def run(self, command: str, timeout_s: float) -> CommandResult:
        if not self.python:
            return CommandResult(exit_status=127, stdout=b"", stderr=b"")
        return super().run(command, timeout_s)

    def frames(self) -> list[Frame]:
        """Return all frames that crossed."""
        return [frame for wire in self.wires for frame in FrameDecoder("tap").feed(bytes(wire))]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A stand-in with keys in its config, on its command line and in its log."""
    base = tmp_path_factory.mktemp("keys")
    (base / "config").mkdir()
    (base / "config" / "config.ini").write_text(CONFIG + f"http-server-address = {free_address()}\n")
    (base / "log").write_text(LOG)
    words = [
        sys.executable, "-m", "leapprof.standin", "--data-dir", str(base / "data"),
        "--config-dir", str(base / "config"),
        "--used-mb", "8", f"--signature-provider={PUBLIC}=KEY:{WIF}", "--agent-name", PVT, f"--{HEX}", OTHER,
    ]  # fmt: skip
    with (base / "log").open("ab") as log, subprocess.Popen(words, stderr=log, cwd=base) as process:
        deadline = time.monotonic() + 60
        while "Received block" not in (base / "log").read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        with (base / "log").open("a") as more:
            more.write(LOG)
        yield process, base
        process.terminate()


def record(source: Tapped, node: subprocess.Popen[bytes], out: Path, phase: str) -> Path:
    """Record two seconds."""
    return HostSession(
        host=HostConfig(name="local", address="", transport="local"),
        source=source,  # type: ignore[arg-type]
        out=out,
        options=RecordOptions(
            phase=phase,
            interval_s=0.2,
            duration_s=2.0,
            selectors=(NodeosSelector(id="eos", kind="pid", value=str(node.pid)),),
        ),
        clock=SystemClock(),
        stop=threading.Event(),
    ).run()


def everything(path: Path) -> bytes:
    """Return all that a recording holds, unpacked, and its files as they are."""
    loaded = load(path)
    texts = [repr(loaded.manifest)]
    for name in loaded.table_names:
        texts += [str(sorted({str(v) for v in column})) for column in loaded.table(name).texts.values()]
    return " ".join(texts).encode() + b"".join(f.read_bytes() for f in sorted(path.rglob("*")) if f.is_file())


@pytest.mark.parametrize("python", [True, False], ids=["python", "sh"])
def test_no_key_crosses_the_channel_or_reaches_a_disk(node, tmp_path: Path, python: bool) -> None:
    """Frames as they crossed, recordings on disk, and every report made of them."""
    process, _ = node
    source = Tapped(python=python)
    before, after = (record(source, process, tmp_path, phase) for phase in ("before", "after"))
    frames = source.frames()
    assert len(frames) > 4
    crossed = b"".join(s.name.encode() + b"\n" + s.text for f in frames for s in f.sections)
    assert b"net-threads = 4" in crossed or not python
    assert b"database-map-mode" in crossed or not python
    (tmp_path / "report").mkdir()
    made = compare(load(before), load(after), CompareOptions(across=True))
    write(made, tmp_path / "report", frozenset(Format) - {Format.PNG}, public=False)
    reports = b"".join(f.read_bytes() for f in sorted((tmp_path / "report").rglob("*")) if f.is_file())
    for place in (
        crossed,
        *(bytes(wire) for wire in source.wires),
        everything(before),
        everything(after),
        reports,
    ):
        for secret in SECRETS:
            assert secret.encode() not in place, secret
    options = load(before).manifest.nodeos[0].options
    if python:
        assert options["net-threads"] == ("4",)
        assert options["chain-state-db-size-mb"] == ("64",)


needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="needs root and setpriv, to become another user",
)


@needs_root
@pytest.mark.parametrize("python", [True, False], ids=["python", "sh"])
def test_another_user_finds_nodeos_too(node, python: bool) -> None:
    """Command line, unit and cgroup are readable for all; what is refused is named."""
    process, base = node
    source = Tapped(python=python, user=65534)
    selector = NodeosSelector(id="eos", kind="data-dir", value=str(base / "data"))
    with AgentLink.open(source, choose_agent(source), SystemClock()) as link:  # type: ignore[arg-type]
        surveyed = survey_host(link, HostConfig(name="local", address="", transport="local"), (selector,))
    (nodeos,) = surveyed.survey.nodeos
    assert (nodeos.pid, nodeos.data_dir) == (process.pid, str(base / "data"))
    assert nodeos.state_dir == str(base / "data" / "state")
    assert nodeos.roles.get("state") is not None
    assert "nodeos/eos/exe" in surveyed.survey.denied
    assert nodeos.log in ("not permitted", None)
    if python:
        assert nodeos.log == "not permitted"
        assert "nodeos/eos/log" in surveyed.survey.denied
    for secret in SECRETS:
        assert secret.encode() not in b"".join(s.text for f in source.frames() for s in f.sections)

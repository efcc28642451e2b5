"""One laboratory and a few recordings of it, which this folder's tests share."""

import functools
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lab import Done, Lab, laboratory, leapprof, of, recorder, recordings, shown
from tests.support.sshd import unprivileged_user

DURATION = "5s"
AWAY_S = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Recordings of every host before and after the map mode was changed, and how the recorders ended."""

    before: dict[str, Path]
    after: dict[str, Path]
    done_before: Done
    done_after: Done


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubled:
    """Recordings in which a connection was killed, nodeos restarted, and sshd stopped for a while."""

    paths: dict[str, Path]
    done: Done


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """Everything that runs; a key is planted where leapprof could find one.

    Its directory lies outside of pytest's, whose mode every further run of pytest resets: another user has to get in.
    """
    with (
        tempfile.TemporaryDirectory(prefix="leapprof-lab-") as directory,
        laboratory(Path(directory), unprivileged_user()) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def pair(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Every host recorded in mapped, with one that is down; then in mapped_private."""
    out = tmp_path_factory.mktemp("recordings")
    hosts = (*lab.hosts(), *lab.hosts("bare-"))
    before = leapprof(*lab.words(*hosts, "down", out=out, phase="before"), "--duration", DURATION)
    for standin in lab.standins.values():
        standin.restart("mapped_private")
    after = leapprof(*lab.words(*hosts, out=out, phase="after"), "--duration", DURATION)
    return Pair(before=recordings(before), after=recordings(after), done_before=before, done_after=after)


@pytest.fixture(scope="session")
def troubled(lab: Lab, pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> Troubled:
    """One recording a host through all that happens to a host, ended by SIGTERM."""
    del pair  # its recordings are made first: here the map mode is changed
    out, hosts = tmp_path_factory.mktemp("troubled"), lab.hosts()
    with recorder(lab.words(*hosts, out=out, phase=""), out) as running:
        running.wait_for_samples(hosts, 9)
        lab.main.kill_connections()
        running.wait_for_events(hosts, "connection-lost")
        running.wait_for_samples(hosts, 3)
        for standin in lab.standins.values():
            standin.restart("mapped")
        running.wait_for_events(hosts, "nodeos-restarted")
        lab.main.stop()
        time.sleep(AWAY_S)
        lab.main.start()
        running.wait_for_events(hosts, "connection-lost", 2)
        running.wait_for_samples(hosts, 3)
        done = running.end(signal.SIGTERM)
    return Troubled(paths=recordings(done), done=done)


@pytest.fixture(scope="session")
def killed(lab: Lab, troubled: Troubled, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Recordings whose recorder was killed."""
    del troubled  # it counts restarts, so it comes first
    out, hosts = tmp_path_factory.mktemp("killed"), lab.hosts()
    with recorder(lab.words(*hosts, out=out, phase="killed"), out) as running:
        running.wait_for_samples(hosts, 5)
        running.end(signal.SIGKILL)
    return {host: next(out.glob(f"{host}-*")) for host in hosts}


@pytest.fixture(scope="session")
def documents() -> Callable[[Path], dict[str, Any]]:
    """Returns a recording as `leapprof show --json` shows it, asked once."""
    return functools.cache(shown)


@pytest.fixture(scope="session")
def report(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Returns the folder with the report of a host's pair, made once."""

    @functools.cache
    def made(host: str, *options: str) -> Path:
        out = tmp_path_factory.mktemp("reports")
        sides = (of(pair.before, host), of(pair.after, host))
        done = leapprof("compare", *sides, "--out", out, "--format", "html,md,json,csv", *options)
        assert done.code == 0, done.err
        (folder,) = out.iterdir()
        (folder / "stdout.txt").write_text(done.out + done.err)
        return folder

    return made

"""A nodeos with another root filesystem, as in a container, is seen from the host with its own paths."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leapprof.model.access import HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.link import AgentLink
from leapprof.recorder.session import survey_host
from leapprof.sources.local import LocalSource

DASH = shutil.which("dash")


def can_unshare() -> bool:
    """Return whether this machine lets us mount in a namespace of our own."""
    if os.geteuid() != 0 or DASH is None or shutil.which("unshare") is None:
        return False
    return (
        subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "t", "/mnt"], capture_output=True).returncode
        == 0
    )


pytestmark = pytest.mark.skipif(not can_unshare(), reason="needs root, unshare, mount and dash")


@pytest.fixture
def contained(tmp_path: Path) -> Iterator[int]:
    """A program called nodeos whose root is a tmpfs of its own; its pid."""
    base = str(tmp_path)
    script = (
        f"mount -t tmpfs root {base} && cp {DASH} {base}/nodeos && mkdir -p {base}/config {base}/data/state; "
        f"for lib in $(ldd {DASH} | grep -o '/[^ ]*'); do mkdir -p {base}${{lib%/*}}; cp $lib {base}$lib; done; "
        f"printf 'database-map-mode = mapped\\nnet-threads = 7\\n' >{base}/config/config.ini; "
        f"printf 'EOSIODB3\\1xyz' >{base}/data/state/shared_memory.bin; mkfifo {base}/f; echo 'read x </f' >{base}/go; "
        f"exec chroot {base} /nodeos /go --data-dir /data --config-dir /config"
    )
    with subprocess.Popen(["unshare", "-m", "sh", "-c", script], stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if os.readlink(f"/proc/{process.pid}/exe").endswith("/nodeos"):
                break
            time.sleep(0.05)
        yield process.pid
        process.kill()


def test_its_files_are_read_through_its_own_root(contained: int) -> None:
    """Config, state file and filesystem are those that it sees itself."""
    with AgentLink.open(LocalSource("local"), "python", SystemClock()) as link:
        survey = survey_host(link, HostConfig(name="local", address="", transport="local"), ()).survey
    (nodeos,) = [n for n in survey.nodeos if n.pid == contained]
    assert nodeos.root == f"/proc/{contained}/root"
    assert (nodeos.data_dir, nodeos.state_dir) == ("/data", "/data/state")
    assert nodeos.options["net-threads"] == ("7",)
    assert nodeos.map_mode == "mapped"
    own = {
        name.rpartition(".")[2]: value
        for name, value in survey.host.facts.items()
        if f".{nodeos.id}." in name
    }
    assert own["state_filesystem"] == "tmpfs"
    assert (own["state_file_bytes"], own["state_dirty"]) == ("12", "yes")

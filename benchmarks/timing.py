"""What sampling costs and how punctual it is, from recordings.

    python -m benchmarks.timing recordings/wax-1-before-20260101T000000Z
    python -m benchmarks.timing --run record wax-1 wax-2 --out recordings --phase before --duration 10m

With ``--run`` the words after it are given to leapprof, and what the recorder wrote to its own disk is printed too
(``write_bytes`` of /proc/PID/io: what was sent to the block layer, page cache included; proc(5)).
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from leapprof.assess.load import LoadedRecording, load
from leapprof.units import NS_PER_S

CLI = "import sys; from leapprof.cli.main import main; main()"
QUANTILES = (0.5, 0.9, 0.99, 1.0)
NS_PER_MS = 1e6


def punctuality_ms(recording: LoadedRecording) -> dict[str, float]:
    """Return quantiles of how late samples were taken after their deadlines, milliseconds.

    The first and the last frame of a run of the agent are left out: they are taken when the plan arrives and when
    the end is asked for, not at a tick.
    """
    host = recording.table("host", ("deadline_ns",))
    late = host.integers["boottime_ns"].values - host.integers["deadline_ns"].values
    return {f"p{100 * q:g}": float(np.quantile(late[1:-1] / NS_PER_MS, q)) for q in QUANTILES}


def figures(path: Path) -> dict[str, object]:
    """Return the figures of one recording."""
    recording = load(path)
    manifest, cost = recording.manifest, recording.manifest.cost
    sealed = sum(file.stat().st_size for file in path.glob("*.parquet"))
    lasted_s = ((manifest.ended_wall_ns or 0) - (manifest.started_wall_ns or 0)) / NS_PER_S
    return {
        "host": manifest.host.name,
        "transport": manifest.transport,
        "agent": cost.agent,
        "interval_s": manifest.interval_s,
        "seconds": round(lasted_s, 1),
        "samples": cost.samples,
        "gaps": len(manifest.gaps),
        "frames_rejected": cost.rejected_frames,
        "late_ms": {name: round(value, 3) for name, value in punctuality_ms(recording).items()},
        "agent_cpu_us_per_sample": None if cost.cpu_s is None else round(1e6 * cost.cpu_s / cost.samples, 1),
        "agent_rss_bytes": cost.rss_bytes,
        "wire_bytes_per_sample": round(cost.wire_bytes / cost.samples, 1),
        "sealed_bytes_per_sample": round(sealed / cost.samples, 1),
        "clock_offset_s": [offset.offset_s for offset in manifest.clock_offsets],
    }


def run_recorder(words: list[str]) -> tuple[list[Path], dict[str, object]]:
    """Run `leapprof record` and return its recordings, and what it wrote and used."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLI, *words, "--json"], stdout=subprocess.PIPE, text=True
    )
    written, cpu_ticks, began = 0, 0, time.monotonic()
    while process.poll() is None:
        written, cpu_ticks = _used(process.pid) or (written, cpu_ticks)
        time.sleep(0.2)
    assert process.stdout is not None
    rows = json.loads(process.stdout.read())["recordings"]
    used = {"written_bytes": written, "cpu_s": cpu_ticks / 100, "seconds": round(time.monotonic() - began, 1)}
    return [Path(row["recording"]) for row in rows if row["recording"]], used


def _used(pid: int) -> tuple[int, int] | None:
    """Return bytes written and CPU ticks of a process; None when it is about to end."""
    try:
        io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return int(io["write_bytes"]), int(stat[11]) + int(stat[12])


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--run", nargs=argparse.REMAINDER, help="words for leapprof, beginning with record")
    asked = parser.parse_args()
    paths, used = asked.recordings, {}
    if asked.run:
        paths, used = run_recorder([word for word in asked.run if word != "--json"])
    found = [figures(path) for path in paths]
    document: dict[str, object] = {"recordings": found}
    if used:
        ticks = max((load(path).manifest.cost.samples for path in paths), default=1)
        document["recorder"] = {**used, "written_bytes_per_tick": round(used["written_bytes"] / ticks)}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()

"""Frames of a host that was never sampled: built so that they say what EOSphere published, and no more.

Published ("Leap 5 performance testing", EOSphere, February 2024): an EOS mainnet public P2P node with 180–195
peers on 4 cores, 32 GB RAM, 128 GB swap, Ubuntu 22.04 on KVM; drive 1 (256 GB) holds OS and state, drive 2 (4 TB,
ZFS) the blocks. From Leap 4.0.4 to 5.0.0 on 2024-01-22 20:00, CPU went from 85 % to 60 % on a chart of a month. Drive 1
took 4 MB/s in mapped and 12 kB/s in mapped_private, both at 10–15 transactions a second. Three charts of memory: the
first start in mapped_private after a snapshot, the second start, and mapped.

Invented, because a recording needs it: the shape around those levels (a daily wave and slow noise on CPU, bursts
every 5 and 30 s on the drive), memory sizes, and that 20:00 was UTC. The noise is a fixed pseudo-random sequence.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.model import Frame, ReadStatus, Section
from leapprof.units import DAY_S, GIB, NS_PER_S, SECTOR_BYTES
from samples.survey_texts import Disk, as_sections, device_texts

CORES = 4
RAM_KB = 32 * GIB // 1024
SWAP_KB = 128 * GIB // 1024
HZ = 100
SOURCE = (
    'Reconstructed from figures published by EOSphere in "Leap 5 performance testing" (February 2024). '
    "Nothing here was measured by leapprof; the shape around the published levels is invented."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """What the reconstructed host does; arrays hold one value a frame, None: nothing is known of it.

    Attributes:
        start_wall_s: of the first frame, seconds since the epoch.
        interval_s: between frames.
        version, map_mode, start_ticks: of nodeos, per frame (a new start_ticks is a restart).
        cpu_cores: CPU of nodeos during the interval before each frame.
        write_bytes: to drive 1 during the interval before each frame.
        transactions: during the interval before each frame.
        rss_anon_kb, rss_file_kb, swap_kb: memory of nodeos.
        peers: incoming connections.
        ram_kb: of the host.
    """

    start_wall_s: int
    interval_s: int
    version: list[str]
    map_mode: list[str]
    start_ticks: list[int]
    peers: NDArray[np.int64]
    cpu_cores: NDArray[np.float64] | None = None
    write_bytes: NDArray[np.float64] | None = None
    transactions: NDArray[np.float64] | None = None
    rss_anon_kb: NDArray[np.int64] | None = None
    rss_file_kb: NDArray[np.int64] | None = None
    swap_kb: NDArray[np.int64] | None = None
    ram_kb: int = RAM_KB


def slow_noise(rng: np.random.Generator, count: int, correlation: float) -> NDArray[np.float64]:
    """Return (count,) unit-variance noise, each value correlated with the one before."""
    steps = rng.standard_normal(count) * np.sqrt(1 - correlation**2)
    out = np.empty(count)
    value = rng.standard_normal()
    for index in range(count):
        value = correlation * value + steps[index]
        out[index] = value
    return out


def daily_wave(start_wall_s: int, interval_s: int, count: int) -> NDArray[np.float64]:
    """Return (count,) a wave of one day, 1 in the evening and -1 in the morning (UTC)."""
    hours = (start_wall_s + interval_s * np.arange(count)) % DAY_S / 3600
    return np.cos(2 * np.pi * (hours - 19) / 24)


def bursts(rng: np.random.Generator, interval_s: int, count: int, bytes_per_s: float) -> NDArray[np.float64]:
    """Return (count,) bytes an interval: a slow load in bursts, mean exactly as asked."""
    shape = np.exp(0.25 * slow_noise(rng, count, 0.9)) * (1 + 0.6 * (np.arange(count) * interval_s % 30 == 0))
    return shape / shape.mean() * bytes_per_s * interval_s


def survey(host: str, nodeos_id: str, start_ticks: int, more: dict[str, str]) -> tuple[Section, ...]:
    """Return the sections of the host's survey; `more` is added to them."""
    disks = (
        Disk(name="vda", major_minor="252:0", size_bytes=256_060_514_304, virtual=True, mount="/"),
        Disk(
            name="vdb",
            major_minor="252:16",
            size_bytes=4_000_787_030_016,
            virtual=True,
            mount="/blocks",
            filesystem="zfs",
        ),
    )
    command = (
        "nodeos",
        "--config-dir",
        "/srv/eos/config",
        "--data-dir",
        "/srv/eos/data",
        "--blocks-dir",
        "/blocks",
    )
    texts = device_texts(disks) | {
        "/proc/swaps": f"Filename\tType\tSize\tUsed\tPriority\n/swapfile file {SWAP_KB} 0 -2\n",
        "/proc/sys/kernel/random/boot_id": f"{host}-reconstructed\n",
        "/proc/cpuinfo": "processor\t: 0\n\nprocessor\t: 1\n\nprocessor\t: 2\n\nprocessor\t: 3\n",
        "/etc/os-release": 'PRETTY_NAME="Ubuntu 22.04 LTS"\n',
        "/sys/class/dmi/id/sys_vendor": "QEMU\n",
        f"nodeos/{nodeos_id}/1000/{start_ticks}/cmdline": "\0".join(command) + "\0",
    }
    return as_sections(texts | more)


def _host_texts(s: Scenario, index: int, totals: dict[str, float]) -> dict[str, str]:
    uptime_s = 10_000_000 + index * s.interval_s
    texts = {"/proc/uptime": f"{uptime_s}.00 0.00\n"}
    if s.cpu_cores is not None:
        busy, idle = totals["ticks"], uptime_s * HZ * CORES - totals["ticks"]
        texts["/proc/stat"] = f"cpu  {int(busy)} 0 0 {int(idle)} 0 0 0 0 0 0\n"
    texts["/proc/meminfo"] = f"MemTotal: {s.ram_kb} kB\n"
    if s.swap_kb is not None:
        texts["/proc/meminfo"] += f"SwapTotal: {SWAP_KB} kB\nSwapFree: {SWAP_KB - int(s.swap_kb[index])} kB\n"
    if s.write_bytes is not None:
        sectors = int(totals["written_bytes"] // SECTOR_BYTES)
        texts["/proc/diskstats"] = f" 252 0 vda 0 0 0 0 {sectors // 64} 0 {sectors} 0 0 0 0\n"
    return texts


def _process_texts(s: Scenario, index: int, totals: dict[str, float]) -> dict[str, str]:
    texts = {}
    if s.cpu_cores is not None:
        ticks, start = int(totals["nodeos_ticks"]), s.start_ticks[index]
        fields = ["S", *["0"] * 10, str(ticks), "0", *["0"] * 6, str(start), "0", "0", *["0"] * 28]
        texts["stat"] = f"1000 (nodeos) {' '.join(fields)}\n"
    if s.rss_anon_kb is not None and s.rss_file_kb is not None and s.swap_kb is not None:
        rss_kb = int(s.rss_anon_kb[index] + s.rss_file_kb[index])
        texts["status"] = (
            f"Name:\tnodeos\nVmRSS:\t{rss_kb} kB\nRssAnon:\t{s.rss_anon_kb[index]} kB\n"
            f"RssFile:\t{s.rss_file_kb[index]} kB\nRssShmem:\t0 kB\nVmSwap:\t{s.swap_kb[index]} kB\n"
        )
    return texts


def _advance(s: Scenario, index: int, totals: dict[str, float]) -> None:
    """Add what happened in the interval before a frame."""
    if s.start_ticks[index] != s.start_ticks[index - 1]:
        totals["nodeos_ticks"] = 0.0
    cores = 0.0 if s.cpu_cores is None else float(s.cpu_cores[index])
    totals["nodeos_ticks"] += cores * s.interval_s * HZ
    totals["ticks"] += cores * s.interval_s * HZ
    totals["written_bytes"] += 0.0 if s.write_bytes is None else float(s.write_bytes[index])
    totals["transactions"] += 0.0 if s.transactions is None else float(s.transactions[index])


def _chain_texts(s: Scenario, index: int, totals: dict[str, float]) -> dict[str, str]:
    wall_s = s.start_wall_s + index * s.interval_s
    stamp = np.datetime64(wall_s, "s").astype(str)
    info = (
        f'{{"head_block_num":{350_000_000 + 2 * index * s.interval_s},"last_irreversible_block_num":'
        f'{349_999_670 + 2 * index * s.interval_s},"head_block_time":"{stamp}.000",'
        f'"server_version_string":"{s.version[index]}","head_block_producer":"","chain_id":""}}'
    )
    texts = {"v1/chain/get_info": info}
    if s.version[index] >= "v5":
        texts["v1/prometheus/metrics"] = f"nodeos_p2p_clients {s.peers[index]}\n"
        if s.transactions is not None:
            count = int(totals["transactions"])
            texts["v1/prometheus/metrics"] += (
                f"nodeos_trxs_incoming_total {count}\nnodeos_trxs_produced_total 0\n"
            )
    return texts


def frames(
    s: Scenario, *, nodeos_id: str, first: tuple[Section, ...], config: dict[str, str] | None
) -> Iterator[Frame]:
    """Yield the scenario's frames.

    Args:
        s: the scenario.
        nodeos_id: name of the nodeos in section names.
        first: survey sections that lead the first frame.
        config: option → value, as a config file would show it; None: it was not readable.
    """
    totals = {"ticks": 0.0, "nodeos_ticks": 0.0, "written_bytes": 5e12, "transactions": 1e9}
    options = "".join(f"{n}\t{k}\t{v}\n" for n, (k, v) in enumerate((config or {}).items(), 1))
    for index in range(len(s.version)):
        if index:
            _advance(s, index, totals)
        texts = _host_texts(s, index, totals)
        prefix = f"nodeos/{nodeos_id}/1000/{s.start_ticks[index]}/"
        texts |= {prefix + name: text for name, text in _process_texts(s, index, totals).items()}
        texts |= {
            f"http/{nodeos_id}/{path}": f"200 0 nodeos/{s.version[index]}\n{body}"
            for path, body in _chain_texts(s, index, totals).items()
        }
        sections = [Section(name=n, status=ReadStatus.OK, text=t.encode()) for n, t in texts.items()]
        if index == 0:
            sections = [*first, *sections]
        if index == 0 and config is not None:
            sections.append(Section(name=f"config/{nodeos_id}", status=ReadStatus.OK, text=options.encode()))
        boottime_ns = (10_000_000 + index * s.interval_s) * NS_PER_S
        yield Frame(
            seq=index + 1,
            boottime_ns=boottime_ns,
            wall_ns=(s.start_wall_s + index * s.interval_s) * NS_PER_S,
            deadline_ns=boottime_ns,
            agent_cpu_ns=None,
            agent_rss_bytes=None,
            dropped=0,
            sections=tuple(sections),
        )

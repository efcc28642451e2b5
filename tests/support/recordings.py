"""Recordings in memory: tables made from rates and levels, as a host's counters would have told them."""

from dataclasses import dataclass, field, replace

import numpy as np

from leapprof.model import (
    Column,
    Device,
    DeviceKind,
    Host,
    Mount,
    Nodeos,
    Recording,
    SamplingCost,
    Table,
    Topology,
)

START_WALL_NS = 1_700_000_000 * 10**9  # 2023-11-14 22:13:20 UTC
NS = 10**9
DRIVE = Device(
    name="nvme0n1",
    major_minor="259:0",
    kind=DeviceKind.DISK,
    size_bytes=960 * 10**9,
    model="SAMSUNG MZQL2960HCJR-00A07",
    serial="S1",
    read_ahead_kb=128,
)
PARTITION = Device(
    name="nvme0n1p1", major_minor="259:1", kind=DeviceKind.PARTITION, parents=("nvme0n1",), filesystem="ext4"
)
MOUNT = Mount(point="/data", major_minor="259:1", filesystem="ext4", source="/dev/nvme0n1p1", options="rw")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryRecording:
    """A recording that lives in memory; reads like assess.load.LoadedRecording."""

    manifest: Recording
    tables: dict[str, Table]

    def table(self, name, columns=None, where=None):
        """Return a table's rows of one subject, with these integer columns."""
        found = self.tables.get(name)
        if found is None:
            none = Column(values=np.zeros(0, np.int64), present=np.zeros(0, bool))
            keys = dict.fromkeys(("seq", "boottime_ns", "wall_ns", "boot"), none)
            return Table(name=name, rows=0, integers=keys, texts={})
        keep = np.ones(found.rows, bool)
        for column, value in (where or {}).items():
            keep &= found.texts[column] == value
        wanted = None if columns is None else {*columns, "seq", "boottime_ns", "wall_ns", "boot"}
        if keep.all():
            integers = {n: c for n, c in found.integers.items() if wanted is None or n in wanted}
            return replace(found, integers=integers)
        return Table(
            name=name,
            rows=int(keep.sum()),
            integers={
                n: Column(values=c.values[keep], present=c.present[keep])
                for n, c in found.integers.items()
                if wanted is None or n in wanted
            },
            texts={n: t[keep] for n, t in found.texts.items()},
        )


def counter(rate, start=10**6):
    """Return the counter that a rate per tick makes; NaN in the rate makes the reading absent."""
    rate = np.asarray(rate, dtype=np.float64)
    values = start + np.round(np.cumsum(np.nan_to_num(rate))).astype(np.int64)
    return Column(values=values, present=np.isfinite(rate))


def level(value):
    """Return a level as a column; NaN is absent."""
    value = np.asarray(value, dtype=np.float64)
    return Column(values=np.nan_to_num(value).astype(np.int64), present=np.isfinite(value))


def table(name, seconds, columns, *, start_s=1000, wall_ns=START_WALL_NS, texts=None):
    """Return a table of one subject with a row a second."""
    n = np.arange(seconds, dtype=np.int64)
    full = np.ones(seconds, bool)
    keys = {
        "seq": n + 1,
        "boottime_ns": (n + start_s) * NS,
        "wall_ns": wall_ns + n * NS,
        "boot": np.zeros(seconds, np.int64),
    }
    return Table(
        name=name,
        rows=seconds,
        integers={k: Column(values=v, present=full) for k, v in keys.items()} | columns,
        texts={k: np.full(seconds, v, dtype=object) for k, v in (texts or {}).items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a made recording is made of; every rate is per second.

    Attributes:
        cpu_cores, write_bytes, rss_bytes, transactions: (n,) arrays or None to leave the reading out.
    """

    seconds: int = 7200
    cpu_cores: object = 0.5
    write_bytes: object = 4e6
    rss_file_bytes: object = 3e9
    rss_anon_bytes: object = 1e8
    transactions: object = None
    phase: str = "before"
    start_wall_ns: int = START_WALL_NS
    map_mode: str = "mapped"
    version: str = "v5.0.3"
    options: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)
    host: str = "eos-1"
    stage: object = None
    events: tuple = ()
    gaps: tuple = ()
    devices: tuple = (DRIVE, PARTITION)
    with_nodeos: bool = True


def made(**choices):
    """Return a recording in memory."""
    plan = Made(**choices)
    n = plan.seconds

    def full(value):
        return np.broadcast_to(np.asarray(value, dtype=np.float64), (n,))

    where = {"wall_ns": plan.start_wall_ns}
    cores = full(plan.cpu_cores)
    host = {
        "cpu_user_ticks_total": counter(cores * 100),
        "cpu_nice_ticks_total": counter(full(0)),
        "cpu_system_ticks_total": counter(full(2)),
        "cpu_idle_ticks_total": counter(800 - 2 - np.nan_to_num(cores) * 100),
        "cpu_iowait_ticks_total": counter(full(0)),
        "cpu_irq_ticks_total": counter(full(0)),
        "cpu_softirq_ticks_total": counter(full(0)),
        "cpu_steal_ticks_total": counter(full(0)),
        "swap_total_bytes": level(full(8e9)),
        "swap_free_bytes": level(full(8e9)),
        "mem_available_bytes": level(full(2e10)),
        "file_pmd_mapped_bytes": level(full(0)),
    }
    device = {
        "write_sectors_total": counter(full(plan.write_bytes) / 512),
        "read_sectors_total": counter(full(100)),
        "writes_total": counter(full(50)),
    }
    tables = {"host": table("host", n, host, **where)}
    names = [d.name for d in plan.devices]
    if names:
        tables["device"] = stacked(
            [table("device", n, device, texts={"device": name}, **where) for name in names]
        )
    nodeos = ()
    if plan.with_nodeos:
        process = {
            "pid": level(full(42)),
            "start_ticks": level(full(100)),
            "utime_ticks_total": counter(cores * 100),
            "stime_ticks_total": counter(full(0)),
            "rss_bytes": level(full(plan.rss_file_bytes) + full(plan.rss_anon_bytes)),
            "rss_file_bytes": level(full(plan.rss_file_bytes)),
            "rss_anon_bytes": level(full(plan.rss_anon_bytes)),
            "rss_shmem_bytes": level(full(0)),
            "swap_bytes": level(full(0)),
        }
        texts = {"nodeos": "eos", "stage": None}
        tables["nodeos"] = table("nodeos", n, process, texts=texts, **where)
        if plan.stage is not None:
            tables["nodeos"].texts["stage"][:] = plan.stage
        if plan.transactions is not None:
            chain = {"transactions_total": counter(full(plan.transactions)), "head_block": counter(full(2))}
            tables["chain"] = table("chain", n, chain, texts={"nodeos": "eos"}, **where)
        nodeos = (
            Nodeos(
                id="eos", pid=42, start_ticks=100, version=plan.version, map_mode=plan.map_mode,
                state_dir="/data/state", options=plan.options, roles={"state": ("nvme0n1",)},
            ),
        )  # fmt: skip
    manifest = Recording(
        host=Host(name=plan.host, boot_id="b", facts={"cores": "8", "kernel": "6.1", **plan.facts}),
        nodeos=nodeos,
        topology=Topology(devices=plan.devices, mounts=(MOUNT,)),
        phase=plan.phase,
        interval_s=1.0,
        started_wall_ns=plan.start_wall_ns,
        ended_wall_ns=plan.start_wall_ns + (n - 1) * NS,
        transport="local",
        cost=SamplingCost(agent="python", samples=n, cpu_s=1.0, rss_bytes=9_000_000, wire_bytes=1000),
        events=plan.events,
        gaps=plan.gaps,
        commands=(f"leapprof record {plan.host} --phase {plan.phase} --out recordings",),
    )
    return MemoryRecording(manifest=manifest, tables=tables)


def stacked(tables):
    """Return tables of several subjects as one."""
    first = tables[0]
    return Table(
        name=first.name,
        rows=sum(t.rows for t in tables),
        integers={
            name: Column(
                values=np.concatenate([t.integers[name].values for t in tables]),
                present=np.concatenate([t.integers[name].present for t in tables]),
            )
            for name in first.integers
        },
        texts={name: np.concatenate([t.texts[name] for t in tables]) for name in first.texts},
    )


def pair(before=None, after=None, **both):
    """Return two recordings of one host, a day apart."""
    first = made(**{**both, **(before or {})})
    later = {"phase": "after", "start_wall_ns": START_WALL_NS + 86_400 * NS}
    return first, made(**{**both, **later, **(after or {})})


def noisy(seconds, mean, *, share=0.15, phi=0.9, seed=0):
    """Return an AR(1) around a mean, never below 0."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=seconds) * np.sqrt(1 - phi * phi)
    value = np.empty(seconds)
    state = rng.normal()
    for i in range(seconds):
        value[i] = state
        state = phi * state + noise[i]
    return np.maximum(mean * (1 + share * value), 0)

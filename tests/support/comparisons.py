"""A comparison as assess makes one, with the figures of a measured pair (nodeos v5.0.3, mapped and mapped_private)."""

from dataclasses import replace

import numpy as np

from leapprof.assess.metrics import spec_of
from leapprof.model import (
    Better,
    Chart,
    ClockOffset,
    Comparison,
    ConfigChange,
    Device,
    DeviceKind,
    Effect,
    Estimate,
    Event,
    FactDifference,
    Finding,
    Gap,
    Grade,
    Host,
    Interval,
    MetricComparison,
    Mount,
    Nodeos,
    PublishedFigure,
    Recording,
    SamplingCost,
    Severity,
    Side,
    Subject,
    Swap,
    Topology,
    Verdict,
    WearComparison,
    WearSide,
    Window,
)

START_NS = 1_772_366_400_000_000_000
LENGTH_S = 1710.0
MIB = 2**20

SECRETS = (
    "node7.producer-castle.example",
    "castlebpnode",
    "203.0.113.77",
    "2001:db8:77::15",
    "peer-one.chain-friends.example",
    "S3RIALNVME0042",
    "eui.0025388b01c0ffee",
    "alicekeeper",
    "02:42:ac:11:00:02",
    "EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV",
)
SCRIPT = "<script>alert(1)</script>"


def estimate(mean, half=None, samples=1710):
    """An estimate around mean with that half width of its interval."""
    if half is None:
        return Estimate(
            mean=mean, ci95=None, p50=mean, p95=mean, p99=mean, samples=samples,
            effective_samples=None, covered_seconds=float(samples),
        )  # fmt: skip
    return Estimate(
        mean=mean, ci95=Interval(low=mean - half, high=mean + half), p50=mean * 0.97, p95=mean * 1.4,
        p99=mean * 1.9, samples=samples, effective_samples=samples / 9, covered_seconds=float(samples),
        standard_error=half / 2, degrees_of_freedom=18, lag1=0.31, batches=19,
    )  # fmt: skip


def metric(name, unit, subject, before, after, better=Better.LOWER, **kwargs):
    """A metric with a difference and ratio that follow from (mean, half width) of both sides."""
    b = estimate(*before) if before else None
    a = estimate(*after) if after else None
    difference = ratio = None
    if b and a:
        half = (b.ci95.high - b.mean) + (a.ci95.high - a.mean) if b.ci95 and a.ci95 else None
        value = a.mean - b.mean
        difference = Effect(
            value=value, ci95=None if half is None else Interval(low=value - half, high=value + half)
        )
        if b.mean:
            r = a.mean / b.mean
            ratio = Effect(
                value=r, ci95=None if half is None else Interval(low=r * 0.97, high=r * 1.03 + 1e-9)
            )
    fields = {
        "adjusted": None, "p_value": 0.00002, "p_adjusted": 0.0003, "grade": Grade.PRELIMINARY,
        "verdict": Verdict.IMPROVED, "reason": "lower by more than the threshold, outside the noise",
    }  # fmt: skip
    fields["headline"] = spec_of(name).headline and "refused" not in kwargs
    fields.update(kwargs)
    return MetricComparison(
        name=name, unit=unit, subject=subject, better=better, before=b, after=a,
        difference=difference, ratio=ratio, **fields,
    )  # fmt: skip


def metrics():
    """One metric of every verdict, grade and kind of absence."""
    eos, loop, host = Subject(nodeos="eos"), Subject(device="loop0", role="state"), Subject()
    unchanged = {"verdict": Verdict.UNCHANGED, "p_value": 0.41, "p_adjusted": 0.82}
    return (
        metric("host.cpu_percent", "percent", host, (9.84, 0.4), (9.31, 0.38),
               **unchanged, reason="the interval lies within ±2 % of one host"),
        metric("host.swap_used_bytes", "bytes", host, (0.0, 0.0), (0.0, 0.0), **unchanged,
               reason="no swap is used on either side"),
        metric("nodeos.cpu_cores", "cores", eos, (0.0298, 0.0011), (0.0267, 0.0012),
               threshold=0.001, reason="lower by 10 %, outside the noise"),
        metric("nodeos.rss_bytes", "bytes", eos, (919 * MIB, 2 * MIB), (918 * MIB, 2 * MIB),
               p_value=None, p_adjusted=None, verdict=Verdict.INCONCLUSIVE,
               refused="resident memory means different things in mapped and mapped_private",
               reason="resident memory may not be compared across map modes"),
        metric("nodeos.rss_anon_bytes", "bytes", eos, (3 * MIB, 0.2 * MIB), (897 * MIB, 3 * MIB),
               better=Better.NEITHER, verdict=Verdict.CHANGED,
               reason="state is private memory in mapped_private"),
        metric("nodeos.rss_file_bytes", "bytes", eos, (916 * MIB, 3 * MIB), (21 * MIB, 1 * MIB),
               better=Better.NEITHER, verdict=Verdict.CHANGED, reason="the state file is no longer mapped shared"),
        metric("nodeos.major_faults_per_s", "per_s", eos, (0.02,), (0.05,), grade=Grade.TOO_SHORT,
               p_value=None, p_adjusted=None, verdict=Verdict.INCONCLUSIVE, needed_seconds=7200.0,
               reason="too short for an interval; 2 h on each side would do"),
        metric("nodeos.dirtied_bytes_per_s", "bytes_per_s", eos, None, None, p_value=None, p_adjusted=None,
               verdict=Verdict.INCONCLUSIVE, reason="not permitted on either side"),
        metric("device.write_bytes_per_s", "bytes_per_s", loop, (4.095e6, 0.16e6), (2.30e4, 0.21e4),
               reason="lower by 99.4 %, outside the noise", threshold=1e5),
        metric("device.writes_per_s", "per_s", loop, (806.0, 31.0), (0.8, 0.1),
               reason="lower by 99.9 %, outside the noise"),
        metric("chain.blocks_per_s", "per_s", eos, (2.0, 0.002), (2.0, 0.002), better=Better.NEITHER,
               **unchanged, reason="the same on both sides"),
        metric("chain.head_lag_s", "s", eos, (0.31, 0.02), (0.42, 0.03), verdict=Verdict.REGRESSED,
               reason="higher by 0.11 s, outside the noise", threshold=0.05),
    )  # fmt: skip


def _drawn(rng, n, mean, unit):
    """Bursts for rates of writing, a slow wave for shares, a slow rise for memory."""
    t = np.arange(n, dtype=np.float64)
    if unit == "bytes":
        return t, mean * (0.97 + 0.03 * np.sqrt(t / n)) + rng.normal(0, mean / 800, n)
    if unit == "bytes_per_s":
        value = rng.gamma(3.0, mean / 6, n)
        value[::31] += mean * 31 * 0.5
        return t, value
    wave = 1 + 0.2 * np.sin(t / n * 19 + rng.uniform(0, 6))
    return t, rng.gamma(12.0, mean / 12 + 1e-12, n) * wave * (mean > 0)


def chart(name, unit, subject, before_mean, after_mean, *, points=1200, seed=1, gap=True):
    """A chart around both means."""
    rng = np.random.default_rng(seed)
    bt, bv = _drawn(rng, points, before_mean, unit)
    at, av = _drawn(rng, points, after_mean, unit)
    if gap:
        bv[points // 3 : points // 3 + points // 20] = np.nan
    scale = LENGTH_S / points
    top = float(np.nanmax([np.nanmax(bv), np.nanmax(av), 1e-9]))
    edges = np.linspace(0.0, top, 41)
    bh, _ = np.histogram(bv[np.isfinite(bv)], edges)
    ah, _ = np.histogram(av, edges)
    return Chart(
        name=name, unit=unit, subject=subject, before_t_s=bt * scale, before_value=bv, after_t_s=at * scale,
        after_value=av, bin_edges=edges, before_share=bh / bh.sum(), after_share=ah / ah.sum(),
    )  # fmt: skip


def charts(points=1200):
    """A chart for each metric of `metrics` that has both sides."""
    return tuple(
        chart(m.name, m.unit, m.subject, m.before.mean, m.after.mean, points=points, seed=i)
        for i, m in enumerate(metrics())
        if m.before and m.after
    )


def topology(serial, wwid):
    """A drive, a loop device on it with the state, a swap file."""
    return Topology(
        devices=(
            Device(name="nvme0n1", major_minor="259:0", kind=DeviceKind.DISK, size_bytes=10**12,
                   model="Samsung SSD 980 PRO 1TB", serial=serial, wwid=wwid, read_ahead_kb=128),
            Device(name="loop0", major_minor="7:0", kind=DeviceKind.LOOP, parents=("nvme0n1",),
                   mounts=("/mnt/state",), filesystem="ext4"),
        ),
        mounts=(Mount(point="/mnt/state", major_minor="7:0", filesystem="ext4", source="/dev/loop0", options="rw"),),
        swaps=(Swap(path="/swapfile", kind="file", size_bytes=8 * 2**30),),
    )  # fmt: skip


def recording(phase, mode, *, host_name="bench-1", offset_ns=0, nasty=False):
    """The manifest of one side."""
    start = START_NS + offset_ns
    options = {
        "chain-state-db-size-mb": ("2048",),
        "database-map-mode": (mode,),
        "signature-provider": (None,),
    }
    if nasty:
        options |= {
            "producer-name": ("castlebpnode",),
            "p2p-peer-address": ("peer-one.chain-friends.example:9876", "203.0.113.77:9876", "[2001:db8:77::15]:9876"),
        }  # fmt: skip
    return Recording(
        host=Host(name=host_name, boot_id=f"7d0c9d0e-1111-4c1b-9a53-00000000000{len(phase)}", machine_id="5f0e" * 8,
                  facts={"kernel": "6.18.5", "cores": "2", "hostname": host_name}),
        nodeos=(
            Nodeos(id="eos", pid=4711, start_ticks=99, version="v5.0.3", map_mode=mode, executable="/usr/bin/nodeos",
                   data_dir="/home/alicekeeper/eos/data" if nasty else "/srv/eos/data",
                   http_address="127.0.0.1:8888", unit="nodeos.service", options=options, roles={"state": ("loop0",)}),
        ),
        topology=topology("S3RIALNVME0042" if nasty else "S000", "eui.0025388b01c0ffee" if nasty else "eui.00"),
        phase=phase, interval_s=1.0, started_wall_ns=start, ended_wall_ns=start + 2_010_000_000_000,
        transport="ssh",
        cost=SamplingCost(agent="python", samples=2010, cpu_s=1.34, rss_bytes=9_000_000, wire_bytes=2_400_000,
                          http_requests=201, http_s=0.37),
        clock_offsets=(ClockOffset(taken_wall_ns=start, offset_s=0.0021, round_trip_s=0.0009),),
        gaps=(Gap(start_ns=900 * 10**9, end_ns=985 * 10**9, start_wall_ns=start + 900 * 10**9,
                  end_wall_ns=start + 985 * 10**9, reason="connection-lost"),) if phase == "before" else (),
        events=(
            Event(boottime_ns=1, wall_ns=start + 12 * 10**9, kind="nodeos-started", subject="eos",
                  detail="pid 4711, v5.0.3 " + (SCRIPT + " peer-one.chain-friends.example:9876" if nasty else "")),
        ),
        denied=("nodeos/eos/io",), absent=("pressure/irq",),
        commands=(f"leapprof record {host_name} --phase {phase} --duration 33m --out recordings",),
    )  # fmt: skip


def side(phase, mode, **kwargs):
    """One side with its window."""
    made = recording(phase, mode, **kwargs)
    start = made.started_wall_ns + 300 * 10**9
    return Side(
        recording=made,
        window=Window(start_s=300.0, end_s=300.0 + LENGTH_S, start_wall_ns=start,
                      end_wall_ns=start + int(LENGTH_S) * 10**9, left_out_s={"warm-up": 300.0}),
        label=f"v5.0.3, {mode}",
    )  # fmt: skip


def wear():
    """The state drive, rated, and a drive of which nothing is known."""
    return (
        WearComparison(device="loop0", role="state", model="Samsung SSD 980 PRO 1TB",
                       before=WearSide(bytes_per_s=4.095e6, tb_per_year=129.1, ci95=Interval(low=124.1, high=134.2)),
                       after=WearSide(bytes_per_s=2.3e4, tb_per_year=0.725, ci95=Interval(low=0.66, high=0.79)),
                       rated_tbw=600.0, lifetime_years_before=Interval(low=4.47, high=4.83),
                       lifetime_years_after=Interval(low=759.0, high=909.0), stacked_views=("dm-0",)),
        WearComparison(device="vda", role="os, blocks", model=None,
                       before=WearSide(bytes_per_s=2.9e6, tb_per_year=91.5, ci95=None), after=None,
                       note="a virtual disk: the host below it decides what a drive wears"),
    )  # fmt: skip


def findings(nasty):
    """One of each severity."""
    text = f" ({SCRIPT} | `x` on 203.0.113.77, 02:42:ac:11:00:02)" if nasty else ""
    return (
        Finding(code="map-mode-differs", severity=Severity.INFO,
                message="database-map-mode differs between both sides" + text,
                hint="resident memory is not compared; look at anonymous and file pages"),
        Finding(code="restart-writes-not-counted", severity=Severity.WARNING,
                message="a stop in mapped_private writes the whole state, and the windows hold no stop",
                hint="give --restarts-per-year to leapprof wear", subject="eos"),
        Finding(code="clock-offset", severity=Severity.ERROR, message="the host's clock is 2.1 s off",
                hint="mend its time service before you compare block times", subject="bench-1"),
    )  # fmt: skip


def sample(*, nasty=False, points=240, reconstructed=None):
    """A whole comparison; nasty plants `SECRETS` and `SCRIPT` in everything that comes from hosts."""
    name = "alicekeeper@node7.producer-castle.example:2222" if nasty else "bench-1"
    before = side("before", "mapped", host_name=name, nasty=nasty)
    after = side("after", "mapped_private", host_name=name, nasty=nasty, offset_ns=7_200_000_000_000)
    if reconstructed:
        before = replace(before, recording=replace(before.recording, reconstructed=reconstructed))
    nasty_facts = (
        (FactDifference(name="agent-name", subject="eos", before=f"{SCRIPT} castlebpnode", after="=HYPERLINK(1)"),
         FactDifference(name="key", subject="eos", before=SECRETS[-1], after=None))
        if nasty else ()
    )  # fmt: skip
    return Comparison(
        title="database-map-mode: mapped → mapped_private" + (f" on {name} {SCRIPT}" if nasty else ""),
        before=before, after=after, metrics=metrics(), wear=wear(),
        facts=(FactDifference(name="kernel", subject="host", before="6.18.5", after="6.18.5"),
               FactDifference(name="cpu_model", subject="host", before="AMD EPYC 7543P", after="AMD EPYC 7543P"),
               FactDifference(name="swap_total_bytes", subject="host", before=None, after="8589934592"),
               FactDifference(name="map_mode", subject="eos", before="mapped", after="mapped_private"),
               FactDifference(name="version", subject="eos", before="v5.0.3", after="v5.0.3"), *nasty_facts),
        config_changes=(ConfigChange(nodeos="eos", option="database-map-mode", before="mapped", after="mapped_private"),
                        ConfigChange(nodeos="eos", option="signature-provider", before="(not shown)",
                                     after="(not shown)"),
                        ConfigChange(nodeos="eos", option="p2p-peer-address",
                                     before="peer-one.chain-friends.example:9876" if nasty else "p2p.example:9876",
                                     after=None)),
        findings=findings(nasty), charts=charts(points),
        headline=("Writes to the state drive fell from 4.09 MB/s to 23 kB/s: 129 TB a year became 0.73 TB a year.",
                  "CPU of nodeos fell by 10 %, from 0.0298 to 0.0267 cores.",
                  "Head lag rose by 0.11 s; everything else that can be compared stayed as it was."),
        repeat=(f"leapprof record {name} --phase before --duration 33m --out recordings",
                f"leapprof compare recordings/{name}-before-20260301T120000Z "
                f"recordings/{name}-after-20260301T140000Z --out reports"),
        not_measured=("Writes of a stop of nodeos: no stop lies within the windows.",
                      "Write amplification inside the drive: it shows only in the drive's own SMART data."),
        method={"estimator": "means of 90 s batches, Student's t with an effective sample size",
                "correction": "Holm over all metrics of the report", "warm-up": "300 s left out on each side",
                "year": "365 days; TB is 10^12 bytes"},
        published=(PublishedFigure(what="state drive, before", published="120 TB/year", ours="129 TB/year",
                                   why_different="another chain, another load; the published one is in MiB and TiB"),)
        if reconstructed else (),
        control={"pair": "ctl-1 before and after", "result": "unchanged: no drift of the chain's load is seen"},
    )  # fmt: skip


def large(count=60, points=1200):
    """Sixty charts of twice that many points."""
    base = sample(points=60)
    devices = [Subject(device=f"nvme{i}n1", role="state") for i in range(count)]
    name, unit = "device.write_bytes_per_s", "bytes_per_s"
    return replace(
        base,
        charts=tuple(
            chart(name, unit, d, 4.1e6, 2.3e4, points=points, seed=i) for i, d in enumerate(devices)
        ),
        metrics=tuple(metric(name, unit, d, (4.095e6, 0.16e6), (2.3e4, 2e3)) for d in devices),
    )

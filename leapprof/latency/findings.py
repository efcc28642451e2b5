"""Whether a run can be believed: busy machines, a late probe, failed attempts, few values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from leapprof.latency.blocks import Block, Subject, failures_text
from leapprof.model import Evidence, Finding, Severity, evidence
from leapprof.units import NS_PER_S, significant

BUSY_SHARE = 0.8
"""Above it queues of the CPU itself make delays, whatever the node does."""
LATE_SHARE = 0.1
FEWEST_FOR_P99 = 1000
"""Ten values beyond the 99th percentile."""


def busy_finding(host: str, shares: Sequence[float]) -> Finding | None:
    """Return the finding that a machine was busy during the run; None when it was not.

    Args:
        host: whose CPUs.
        shares: busy share of each block of time, [0, 1].
    """
    busy = [share for share in shares if share > BUSY_SHARE]
    if not busy:
        return None
    return Finding(
        code="latency-host-busy",
        severity=Severity.WARNING,
        message=f"{host} was above 80 % CPU in {len(busy)} of {len(shares)} blocks of the run (up to "
        f"{significant(100 * max(busy))} %): its delays are partly those of its own queues.",
        hint="Repeat while the machine is idle, or probe from one that is.",
        subject=host,
        evidence=(
            *evidence("count", busy_blocks=len(busy), blocks=len(shares)),
            *evidence("percent", busiest=100 * max(busy)),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """What became of packets that did not simply come out once, and in their order."""

    packets: int
    lost: int
    reordered: int
    repeated: int


def loss_finding(losses: Losses, *, relay: str | None = None, capture: str = "") -> Finding | None:
    """Return the finding that packets were lost, reordered or repeated; None when none was.

    Args:
        losses: how many.
        relay: through which packets of our own went; None: live traffic was captured.
        capture: name of the file behind the relay.
    """
    if not (losses.lost or losses.reordered or losses.repeated):
        return None
    return Finding(
        code="latency-packets-lost",
        severity=Severity.WARNING,
        message=f"{relay or capture}: {losses.lost} of {losses.packets} packets lost, {losses.reordered} reordered, "
        f"{losses.repeated} repeated.",
        hint="Look whether tcpdump dropped packets: it says so when it ends."
        if relay is None
        else "Lower --rate to see whether the relay or this machine drops them.",
        subject=relay,
        evidence=evidence(
            "count",
            lost=losses.lost,
            packets=losses.packets,
            reordered=losses.reordered,
            repeated=losses.repeated,
        ),
    )


def run_findings(whole: Mapping[Subject, Block]) -> Iterator[Finding]:
    """Yield what the attempts of a run say of it."""
    for subject, block in whole.items():
        name = f"{subject.operation} of {subject.target}"
        yield from _failures(name, block)
        yield from _late(name, block)
        if 0 < block.delays_ns.total < FEWEST_FOR_P99:
            yield Finding(
                code="latency-few-values",
                severity=Severity.INFO,
                message=f"{name}: {block.delays_ns.total} values, so p99 stands on the slowest few.",
                hint=f"Probe longer or at a higher rate: {FEWEST_FOR_P99} values or more.",
                subject=subject.target,
                evidence=evidence("count", values=block.delays_ns.total, enough=FEWEST_FOR_P99),
            )


def _failures(name: str, block: Block) -> Iterator[Finding]:
    failed = sum(block.failures.values())
    if failed:
        yield Finding(
            code="latency-errors",
            severity=Severity.WARNING,
            message=f"{name}: {failed} of {failed + block.delays_ns.total} attempts failed "
            f"({failures_text(block.failures)}); they are counted apart and in no percentile.",
            hint="Compare the share of errors too: an attempt that timed out was slower than any that is counted.",
            evidence=(
                *evidence("count", failed=failed, attempts=failed + block.delays_ns.total),
                *(Evidence(name=str(kind), value=n, unit="count") for kind, n in block.failures.items()),
            ),
        )


def _late(name: str, block: Block) -> Iterator[Finding]:
    late, delay = block.lateness_ns.quantile(0.99), block.delays_ns.quantile(0.5)
    if late is not None and delay is not None and late > max(LATE_SHARE * delay, NS_PER_S / 1000):
        yield Finding(
            code="latency-probe-late",
            severity=Severity.INFO,
            message=f"{name}: the probe's own machine woke it up to {significant(late / 1e6)} ms late (p99); "
            "that is taken out, but what keeps it from waking keeps it from reading answers too.",
            hint="Probe from a machine with idle CPUs, at a lower rate or with fewer connections.",
            evidence=evidence("s", late=late / NS_PER_S),
        )

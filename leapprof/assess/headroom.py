"""How many incoming peers a host would carry: from CPU per peer to the max-clients that reaches a stated utilisation.

A node of 180 to 195 peers at 60 % of its CPU, and 85 % as what is thought bearable: 255 to 276 peers (EOSphere's
figures of 2024). It is a projection, not a measurement, and the assumption is printed with it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leapprof.assess.rows import Row
from leapprof.model import Effect, Estimate, Headroom, Interval, Utilisation

CPU = "host.cpu_percent"
PEERS = "chain.peers_in"
USUAL = (0.05, 0.95)
SHOWN = 2
WHOLE_PERCENT = 100.0
ASSUMPTION = (
    "all CPU grows in proportion to the number of incoming peers, and chain load, memory and network stay "
    "as they were: CPU that does not depend on peers leaves more room, anything else that gets scarce less"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Peers and CPU of one side: what is projected.

    Attributes:
        cpu_percent: mean with its interval.
        peers: lowest and highest usual number.
    """

    cpu_percent: Effect
    peers: Interval

    @property
    def share(self) -> float:
        """Return the half width of CPU per peer as a share of it: of both parts by squares."""
        middle = (self.peers.low + self.peers.high) / 2
        peers = (self.peers.high - self.peers.low) / 2 / middle
        interval = self.cpu_percent.ci95
        cpu = (interval.high - interval.low) / 2 / self.cpu_percent.value if interval else 0.0
        return math.hypot(peers, cpu)

    def clients_at(self, target_percent: float) -> Interval:
        """Return how many peers bring the CPU to this utilisation."""
        middle = (self.peers.low + self.peers.high) / 2 * target_percent / self.cpu_percent.value
        return Interval(low=middle * max(1 - self.share, 0.0), high=middle * (1 + self.share))

    def percent_at(self, clients: int) -> Interval:
        """Return the utilisation that this number of peers would bring; no host is busier than wholly."""
        middle = clients * self.cpu_percent.value / ((self.peers.low + self.peers.high) / 2)
        low, high = middle * max(1 - self.share, 0.0), middle * (1 + self.share)
        return Interval(low=min(low, WHOLE_PERCENT), high=min(high, WHOLE_PERCENT))


def headroom(rows: Sequence[Row], target_percent: float | None = None) -> Headroom | None:
    """Return the room for peers after the change.

    Args:
        rows: measured.
        target_percent: utilisation to reach; None: what the host had before, if that was more beyond both intervals.

    Returns:
        None where CPU or peers are not known, with several nodeos, or without a target.
    """
    cpu = [r for r in rows if r.spec.name == CPU and r.after]
    peers = [r for r in rows if r.spec.name == PEERS and r.after]
    if len(cpu) != 1 or len(peers) != 1:
        return None
    assert cpu[0].after is not None
    target = _target(cpu[0], target_percent)
    found = _projection(cpu[0].after.estimate, peers[0])
    if target is None or found is None:
        return None
    clients = found.clients_at(target[0])
    return Headroom(
        metric=CPU,
        side="after",
        target_percent=target[0],
        why=target[1],
        cpu_percent=found.cpu_percent,
        peers=found.peers,
        clients=clients,
        at=tuple(Utilisation(clients=n, percent=found.percent_at(n)) for n in _round_numbers(clients.low)),
        assumption=ASSUMPTION,
    )


def _target(cpu: Row, stated: float | None) -> tuple[float, str] | None:
    """Return the utilisation to reach, and why that."""
    if stated is not None:
        return stated, "as stated"
    if cpu.before is None or cpu.after is None:
        return None
    before, after = cpu.before.estimate, cpu.after.estimate
    fell = before.ci95 is not None and after.ci95 is not None and before.ci95.low > after.ci95.high
    return (before.mean, "what the host had before") if fell else None


def _projection(cpu: Estimate, peers: Row) -> Projection | None:
    """Return what is projected; None without CPU or peers."""
    assert peers.after is not None
    seen = peers.after.series.value[np.isfinite(peers.after.series.value)]
    if not seen.size or cpu.mean <= 0:
        return None
    low, high = (float(q) for q in np.quantile(seen, USUAL))
    if low <= 0:
        return None
    return Projection(cpu_percent=Effect(value=cpu.mean, ci95=cpu.ci95), peers=Interval(low=low, high=high))


def _round_numbers(clients: float) -> tuple[int, ...]:
    """Return the round numbers around a number of peers: 250 and 300 for 255."""
    step = max(10 ** math.floor(math.log10(max(clients, 1.0))) // 2, 1)
    first = int(clients // step) * step
    return tuple(first + step * i for i in range(SHOWN) if first + step * i > 0)

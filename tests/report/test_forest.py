"""The forest plot of more hosts than can be drawn."""

import numpy as np

from leapprof.assess.fleet import fleet
from leapprof.assess.fleet_hosts import host_difference
from leapprof.model import BatchMeans
from leapprof.report.forest import MOST_HOSTS, forest


def _batches(mean, rng):
    values = mean + rng.normal(0, 0.5, 14)
    return BatchMeans(
        start_s=86_400.0 * np.arange(14), batch_s=86_400.0, mean=values, covered_s=np.full(14, 86_400.0)
    )


def test_hosts_that_stand_out_are_drawn_first_and_the_others_evenly():
    """Two of two hundred did not change: both are drawn, and the lowest and the highest of the others."""
    rng = np.random.default_rng(20240122)
    hosts = [
        host_difference(
            f"h{number:03d}",
            "host.cpu_percent",
            _batches(60, rng),
            _batches(60 if number in {7, 120} else 50, rng),
            is_control=False,
        )
        for number in range(200)
    ]
    found = fleet(hosts)
    (verdict,) = found.verdicts
    drawn = forest(verdict, found.of(verdict))
    names = [line.name for line in drawn.lines if line.kind == "host"]
    assert len(names) == MOST_HOSTS
    assert set(names[:2]) == {"h007", "h120"}
    others = sorted((h for h in hosts if h.host not in names[:2]), key=lambda h: h.effect.value)
    assert (names[2], names[-1]) == (others[0].host, others[-1].host)
    assert len(set(names)) == MOST_HOSTS
    assert f"{200 - MOST_HOSTS} more hosts are in the table" in drawn.left_out

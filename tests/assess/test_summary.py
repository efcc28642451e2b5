"""Tests of the summary of one recording."""

import numpy as np

from leapprof.assess.summary import summarize
from leapprof.cli.show_summary import sparkline
from leapprof.model import Column, Host, Recording, SamplingCost, Table, Topology

S = 1_000_000_000


class Tables:
    """A recording of ten seconds on one device, with one second missing."""

    manifest = Recording(
        host=Host(name="h", boot_id="b", facts={"cores": "2"}),
        nodeos=(),
        topology=Topology(),
        phase="",
        interval_s=1.0,
        started_wall_ns=None,
        ended_wall_ns=None,
        transport="import",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )

    def table(self, name: str, columns: object = None, where: object = None) -> Table:
        """Return the device table, and no rows of any other."""
        rows = 10 if name == "device" else 0
        n = np.arange(rows, dtype=np.int64)
        everywhere = np.ones(rows, dtype=bool)
        present = n != 4
        values = {"seq": n, "boottime_ns": n * S, "wall_ns": n * S, "boot": n * 0}
        integers = {key: Column(values=v, present=everywhere) for key, v in values.items()}
        integers["write_sectors_total"] = Column(values=n * 100, present=present)
        texts = {"device": np.full(rows, "sda", dtype=object)} if rows else {}
        return Table(name=name, rows=rows, integers=integers, texts=texts)


def test_a_rate_is_summed_up_over_a_missing_sample() -> None:
    """Only what was recorded has a row, and its mean is the counter's rate."""
    rows = summarize(Tables())
    assert [(row.name, row.subject.device) for row in rows] == [("device.write_bytes_per_s", "sda")]
    assert rows[0].mean == 51_200.0
    assert None in rows[0].shape


def test_a_sparkline_shows_gaps_as_blanks() -> None:
    """Lowest and highest are the ends of the scale; a level one is a flat line."""
    assert sparkline((0.0, None, 7.0)) == "▁ █"
    assert sparkline((3.0, 3.0)) == "▁▁"
    assert sparkline((None, None)) == ""

"""What stands beside the metrics of a report."""

from dataclasses import replace

from leapprof.model import Effect, PerUnit, Subject
from leapprof.report.view_checks import check_rows
from tests.support.comparisons import sample


def test_bytes_of_a_transaction_are_decimal_as_those_of_the_drive():
    """319,020 bytes are 319 kB: what goes to a drive is rated in decimal TB."""
    effect = Effect(value=319_020.0, ci95=None)
    cost = PerUnit(
        name="device.write_bytes_per_s", subject=Subject(device="loop0"), unit="bytes", per="transaction",
        before=effect, after=effect, ratio=Effect(value=1.0, ci95=None),
    )  # fmt: skip
    ((_, said),) = [row for row in check_rows(replace(sample(), per_unit=(cost,))) if "transaction" in row[0]]
    assert said.startswith("319 kB before, 319 kB after")

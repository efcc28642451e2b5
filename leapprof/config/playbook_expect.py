"""Expectations as a playbook writes them: ``nodeos.cpu_percent: decrease >= 10 %``. Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum

from leapprof.config.playbook_units import parse_size_bytes

_METRIC = re.compile(
    r"(?P<name>[a-z]+\.[a-z0-9_.]{1,60})(?:\[(?P<subject>[A-Za-z0-9_.\- ]{1,60})\])?\Z", re.ASCII
)
_TEXT = re.compile(
    r"(?:(?P<kind>decrease|increase)\s+)?(?P<sign><=|>=|<|>)\s*(?P<number>\d{1,15}(?:\.\d{1,9})?)\s*(?P<unit>.{0,12})\Z",
    re.ASCII,
)
_RATE_UNITS = ("/s",)
_PLAIN_UNITS = {"", "s", "cores", "per_s", "count", "points"}


class Kind(StrEnum):
    """What is judged: the change as a share of before, the change itself, or the value after."""

    SHARE = "share"
    DIFFERENCE = "difference"
    LEVEL = "level"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One expectation.

    Attributes:
        metric: name of the metric table.
        subject: role, device or nodeos that it is about; None: whichever the comparison has.
        text: as it was written, for the report.
        limit: share (0.1 for 10 %), or in the metric's base unit; a decrease counts as positive.
        is_decrease: the change is counted downwards.
        is_at_least: the value must reach the limit; otherwise it must not exceed it.
    """

    metric: str
    subject: str | None
    text: str
    kind: Kind
    limit: float
    is_decrease: bool = False
    is_at_least: bool = True

    @property
    def probe(self) -> str | None:
        """Return the probe of delay whose metric this is; None: a metric of hosts."""
        first, _, rest = self.metric.partition(".")
        return rest.partition(".")[0] if first == "latency" else None


def parse_expectation(name: str, text: str) -> Expectation:
    """Return what a line under ``expectations`` says.

    Args:
        name: ``metric`` or ``metric[subject]``.
        text: ``decrease >= 10 %``, ``increase <= 0.1 cores``, ``<= 8 GiB``.

    Raises:
        ValueError: it has another form.
    """
    about = _METRIC.match(name.strip())
    if about is None:
        raise ValueError(
            "expected the name of a metric, or metric[role], such as device.write_bytes_per_s[state]"
        )
    found = _TEXT.match(text.strip())
    if found is None:
        raise ValueError("expected `decrease >= 10 %`, `increase <= 5 %`, `<= 8 GiB` or the like")
    kind, limit = _limit(found["number"], found["unit"].strip(), is_change=found["kind"] is not None)
    return Expectation(
        metric=about["name"],
        subject=about["subject"],
        text=" ".join(text.split()),
        kind=kind,
        limit=limit,
        is_decrease=found["kind"] == "decrease",
        is_at_least=found["sign"].startswith(">"),
    )


def _limit(number: str, unit: str, *, is_change: bool) -> tuple[Kind, float]:
    kind = Kind.DIFFERENCE if is_change else Kind.LEVEL
    if unit == "%":
        return (Kind.SHARE, float(number) / 100) if is_change else (kind, float(number))
    if unit in _PLAIN_UNITS:
        return kind, float(number)
    return kind, float(parse_size_bytes(f"{number} {unit.removesuffix('/s')}"))

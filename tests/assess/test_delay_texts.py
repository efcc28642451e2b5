"""A delay of every probe is a phrase that a reader understands, with the one who was asked and without."""

import pytest

from leapprof.assess.delay_texts import DELAYS, FLOOR, delay_words
from leapprof.assess.metrics import METRICS
from leapprof.assess.texts import LABELS
from leapprof.latency.forward import FLOOR as SENT_STRAIGHT
from leapprof.latency.forward import RELAYED
from leapprof.latency.standings import SINCE_STAMP

PHRASES = [
    ("request", "get_info", "requests get_info to h:1", "requests get_info"),
    ("rtt", "tcp connect IPv4", "round trips (tcp connect IPv4) to h:1", "round trips (tcp connect IPv4)"),
    ("histogram", "stress", "stress as counted by h:1", "stress"),
    ("stream", "behind the fastest", "messages from h:1 behind the fastest", "messages behind the fastest"),
    ("stream", SINCE_STAMP, "messages from h:1 since their stamps", "messages since their stamps"),
    ("forward", RELAYED, "packets through the relay h:1", "packets through the relay"),
    (
        "forward",
        SENT_STRAIGHT,
        "packets to h:1 past the relay (the probe's own floor)",
        "packets past the relay (the probe's own floor)",
    ),
]


@pytest.mark.parametrize(("probe", "operation", "whole", "alone"), PHRASES)
def test_a_delay_reads_as_a_sentence(probe: str, operation: str, whole: str, alone: str) -> None:
    """Median and 99th percentile, of one and of many."""
    assert delay_words(f"latency.{probe}.p50_s", operation, "h:1") == f"Median delay of {whole}"
    assert delay_words(f"latency.{probe}.p99_s", operation, None) == f"99th percentile of delays of {alone}"


def test_every_delay_of_a_headline_is_a_metric_and_has_its_words() -> None:
    """No delay of the headline is forgotten here."""
    assert set(DELAYS) <= set(LABELS)
    headline = {m.name for m in METRICS if m.headline and m.name.startswith("latency.")}
    assert headline == set(DELAYS)
    assert FLOOR == SENT_STRAIGHT

"""What the delays of a probe are of, in the words of a headline; tables keep the names that recordings have."""

FLOOR = "floor (no relay)"
_QUANTILES = {"p50_s": "Median delay", "p99_s": "99th percentile of delays"}
_OF = {
    "request": ("of requests {what}{whom}", " to "),
    "rtt": ("of round trips ({what}){whom}", " to "),
    "histogram": ("of {what}{whom}", " as counted by "),
    "stream": ("of messages{whom} {what}", " from "),
    "forward": ("of packets {what}{whom}", " "),
}
"""Probe → what its delays are of, and what stands before the name of who was asked."""

_WORDS = {
    ("forward", "relayed"): ("of packets through the relay{whom}", " "),
    ("forward", FLOOR): ("of packets{whom} past the relay (the probe's own floor)", " to "),
    ("stream", "since its stamp"): ("of messages{whom} since their stamps", " from "),
}
"""Operations whose names are no words of a sentence."""

DELAYS = tuple(f"latency.{probe}.{quantile}" for quantile in _QUANTILES for probe in _OF)
"""The delays that a headline speaks of."""


def delay_words(metric: str, operation: str | None, target: str | None) -> str:
    """Return what is measured, of what and of whom: ``Median delay of requests get_info to 127.0.0.1:8888``.

    Args:
        metric: one of DELAYS.
        operation: as the recording calls it.
        target: who was asked; None where that is not one.
    """
    _, probe, quantile = metric.split(".")
    form, before = _WORDS.get((probe, operation or ""), _OF[probe])
    return f"{_QUANTILES[quantile]} {form.format(what=operation, whom=before + target if target else '')}"

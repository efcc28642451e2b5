"""The sentences of a comparison of several hosts: title, headline, method. Every number is one of the fleet's."""

from collections.abc import Sequence

from leapprof.analysis import fleet as rules
from leapprof.assess.delay_texts import DELAYS, delay_words
from leapprof.assess.fleet import Fleet, FleetVerdict
from leapprof.assess.fleet_hosts import STATE, HostDifference
from leapprof.assess.texts import COUNTED, LABELS, MOST_SENTENCES, short_effect, signed
from leapprof.model import Comparison, Effect, Grade
from leapprof.units import format_value


def title(comparisons: Sequence[Comparison]) -> str:
    """Return how many hosts, and what was changed on them."""
    changes = list(dict.fromkeys(one.method.get("change", "") for one in comparisons))
    count = len(comparisons)
    what = changes[0] if len(changes) == 1 else f"{len(changes)} kinds of change"
    return f"{count} host{'s' if count > 1 else ''}: {what}"


def headline(whole: Fleet) -> tuple[str, ...]:
    """Return the sentences for a reader in a hurry: the count of verdicts, then the metrics that matter most."""
    chosen = [v for name in LABELS for v in whole.verdicts if v.metric.name == name and v.metric.headline]
    sentences = (_sentence(one, whole.of(one)) for one in chosen)
    return (_count(whole, chosen), *sentences)[:MOST_SENTENCES]


def method(hosts: int) -> dict[str, str]:
    """Return how the numbers of the summary were made; what holds for every host is in its own report."""
    return {
        "summary": "random effects over hosts: variance between hosts by DerSimonian and Laird, interval of the mean "
        "by Hartung and Knapp with Student's t on one degree of freedom less than hosts, never narrower than the plain "
        "one",
        "one more host": "prediction interval by Higgins, Thompson and Spiegelhalter, from "
        f"{rules.FEWEST_FOR_PREDICTION} hosts on",
        "between hosts": "tau is the standard deviation of the true differences, I² the share of the variance between "
        f"hosts; a host stands out by its deleted residual (Bonferroni), from {rules.FEWEST_FOR_OUTLIERS} hosts on",
        "difference of a host": "the one on which its own verdict stands: at equal load or beyond its control where "
        "its report has that",
        "like with like": "metrics of the only nodeos of a host, and of the device right below its state, are "
        "summarised together; other devices by what they carry",
        "controls": "hosts that were not changed: their mean difference is taken off, with its error",
        "grades": "the lowest of the hosts'; preliminary for another reason than a short window, twice the interval "
        "has to show the effect",
        "p values": "Holm over the headline metrics, Benjamini-Hochberg over the others",
        "hosts": f"{hosts} compared",
    }


def _count(whole: Fleet, chosen: Sequence[FleetVerdict]) -> str:
    """Return the sentence that counts hosts and verdicts."""
    hosts = f"{len(whole.changed)} host{'s' if len(whole.changed) != 1 else ''}"
    if whole.controls:
        hosts += f", {len(whole.controls)} control{'s' if len(whole.controls) > 1 else ''}"
    if not chosen:
        return f"{hosts}: too short for a summary; each host's own means are in its report."
    parts = [f"{n} {v.value}" for v in COUNTED if (n := sum(one.verdict is v for one in chosen))]
    return f"{hosts}: of {len(chosen)} headline metric{'s' if len(chosen) > 1 else ''} {', '.join(parts)}."


def _sentence(one: FleetVerdict, hosts: Sequence[HostDifference]) -> str:
    """Return one metric as a sentence."""
    name = one.metric.name
    text = delay_words(name, one.group, None) if name in DELAYS else f"{LABELS[name]} {whom(one)}".strip()
    before, after = (format_value(mean, one.metric.unit) for mean in (one.before_mean, one.after_mean))
    if one.changed is None or one.value is None:
        return f"{text}: {before} before, {after} after on one host: no summary."
    effect = short_effect(Effect(value=one.value, ci95=one.ci95), one.metric.unit)
    beyond = " beyond the controls" if one.controls else ""
    ahead = one.changed.prediction95
    more = (
        f"; one more host would lie between {signed(ahead.low, one.metric.unit)} and "
        f"{signed(ahead.high, one.metric.unit)}"
        if ahead is not None and not one.controls
        else ""
    )
    grade = f" ({one.grade})" if one.grade is Grade.PRELIMINARY else ""
    return (
        f"{text}: {before} before, {after} after in the mean of {one.changed.hosts} hosts, {effect}{beyond}{more}"
        f"{_alone(hosts)}: {one.verdict}{grade}."
    )


def _alone(hosts: Sequence[HostDifference]) -> str:
    """Return the verdicts of the changed hosts, each by itself."""
    verdicts = [d.verdict for d in hosts if d.verdict is not None and not d.is_control]
    parts = [f"{n} {v.value}" for v in COUNTED if (n := verdicts.count(v))]
    return f"; by themselves {', '.join(parts)}" if parts else ""


def whom(one: FleetVerdict) -> str:
    """Return what a metric is about on every host, in words."""
    if one.metric.name.startswith("device."):
        is_below_state = one.group == STATE or one.group.startswith(f"{STATE} of ")
        return f"the device of the {one.group}" if is_below_state else f"drives ({one.group})"
    if one.metric.name.startswith(("nodeos.", "chain.")):
        return one.group or "nodeos"
    return "" if one.metric.name.startswith("host.") else one.group

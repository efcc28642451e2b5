"""How nodeos answered our questions, and what they cost it.

Sources: http_plugin (a busy nodeos answers 503, before Leap 3.2 429); get_info runs on nodeos's main thread up to
Spring 1.0, so an answer's time bounds what it took from there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leapprof.assess.material import Material, info
from leapprof.assess.samples import RecordingTables, read_samples
from leapprof.model import Finding, evidence
from leapprof.units import NS_PER_S

FEWEST_QUESTIONS = 20
MANY_FAILED = 0.05
BUSY_STATUSES = (429, 503)
HTTP_OK = 200
US_PER_S = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnVoice:
    """The API of one nodeos during a recording.

    Attributes:
        nodeos: its id.
        asked: times that it was asked (all of its questions at once).
        answered: times that get_info was answered with 200.
        busy: times that it said it was busy (503, or 429 of old versions).
        other: HTTP status → times, of other answers to get_info.
        silent: times that get_info was not answered at all: no connection, or a time-out.
        failed_questions: questions of any kind that failed.
        mean_s, longest_s: of the answers of get_info; None without one.
        main_thread_share: at most so much of the main thread's time was spent on get_info; None when not known.
    """

    nodeos: str
    asked: int
    answered: int
    busy: int
    other: dict[str, int]
    silent: int
    failed_questions: int
    mean_s: float | None
    longest_s: float | None
    main_thread_share: float | None


def own_voices(recording: RecordingTables) -> tuple[OwnVoice, ...]:
    """Return how each nodeos of a recording that was asked has answered."""
    found = (_voice(recording, nodeos.id) for nodeos in recording.manifest.nodeos)
    return tuple(voice for voice in found if voice is not None)


def voice_findings(material: Material) -> Iterator[Finding]:
    """Yield a finding for each nodeos that left many questions unanswered: a fact about it, not an error of ours."""
    for cut in material.sides:
        for voice in own_voices(cut.tables):
            failed = voice.busy + voice.silent
            if voice.asked >= FEWEST_QUESTIONS and failed >= MANY_FAILED * voice.asked:
                yield info(
                    "nodeos-api-busy",
                    f"{cut.side.label}: {voice.nodeos} answered {voice.answered} of {voice.asked} questions; "
                    f"{voice.busy} times it said that it was busy, {voice.silent} times nothing.",
                    "Stages, head lag and load are known only where it answered; see whether its API was overloaded.",
                    subject=voice.nodeos,
                    evidence=evidence(
                        "count",
                        answered=voice.answered,
                        asked=voice.asked,
                        busy=voice.busy,
                        not_answered=voice.silent,
                    ),
                )


def _voice(recording: RecordingTables, nodeos: str) -> OwnVoice | None:
    rows = read_samples(
        recording, "chain", ("http_status", "http_elapsed_us", "http_errors"), {"nodeos": nodeos}
    )
    if rows is None:
        return None
    asked = int(rows.wall_ns.size)
    status = rows.columns.get("http_status")
    said = status.values[status.present] if status is not None else np.empty(0, dtype=np.int64)
    elapsed = rows.columns.get("http_elapsed_us")
    took_s = elapsed.values[elapsed.present] / US_PER_S if elapsed is not None else np.empty(0)
    errors = rows.columns.get("http_errors")
    codes, counts = np.unique(said, return_counts=True)
    by_code = dict(zip(codes.tolist(), counts.tolist(), strict=True))
    span_s = float(rows.wall_ns[-1] - rows.wall_ns[0]) / NS_PER_S
    return OwnVoice(
        nodeos=nodeos,
        asked=asked,
        answered=by_code.get(HTTP_OK, 0),
        busy=sum(by_code.get(code, 0) for code in BUSY_STATUSES),
        other={str(c): n for c, n in by_code.items() if c != HTTP_OK and c not in BUSY_STATUSES},
        silent=asked - int(said.size),
        failed_questions=int(errors.values[errors.present].sum()) if errors is not None else 0,
        mean_s=float(took_s.mean()) if took_s.size and took_s.any() else None,
        longest_s=float(took_s.max()) if took_s.size and took_s.any() else None,
        main_thread_share=float(took_s.sum()) / span_s if took_s.any() and span_s > 0 else None,
    )

"""How nodeos answered is a fact of the recording: answers, busy ones, silence, and what they took."""

from types import SimpleNamespace

import numpy as np
import pytest

from leapprof.assess.own_voice import own_voices, voice_findings
from tests.support.recordings import MemoryRecording, level, made, table

N = 100


def recording(status, elapsed_us=1000.0, errors=0.0):
    """Return a recording whose API was asked once a second; NaN is no answer."""
    manifest = made(seconds=10).manifest
    nodeos = manifest.nodeos[0].id
    columns = {
        "http_status": level(np.asarray(status, dtype=np.float64)),
        "http_elapsed_us": level(np.where(np.isfinite(status), elapsed_us, np.nan)),
        "http_errors": level(np.full(N, errors)),
    }
    return MemoryRecording(
        manifest=manifest, tables={"chain": table("chain", N, columns, texts={"nodeos": nodeos})}
    )


def test_answers_are_told_apart() -> None:
    """200, busy, another status, and nothing."""
    status = np.full(N, 200.0)
    status[:5], status[5:8], status[8:10] = 503, np.nan, 404
    (voice,) = own_voices(recording(status, errors=1))
    assert (voice.asked, voice.answered, voice.busy, voice.silent) == (100, 90, 5, 3)
    assert voice.other == {"404": 2}
    assert voice.failed_questions == 100


def test_what_it_took_bounds_the_share_of_the_main_thread() -> None:
    """1 ms a second is at most a thousandth."""
    (voice,) = own_voices(recording(np.full(N, 200.0)))
    assert voice.mean_s == pytest.approx(0.001)
    assert voice.main_thread_share == pytest.approx(0.1 / 99)


def test_times_that_were_not_measured_are_not_0() -> None:
    """A replayed capture has no times."""
    (voice,) = own_voices(recording(np.full(N, 200.0), elapsed_us=0.0))
    assert voice.mean_s is voice.longest_s is voice.main_thread_share is None


@pytest.mark.parametrize(("busy", "codes"), [(4, []), (5, ["nodeos-api-busy"])])
def test_many_unanswered_questions_are_a_finding(busy: int, codes: list[str]) -> None:
    """From one in twenty on."""
    status = np.full(N, 200.0)
    status[:busy] = 503
    side = SimpleNamespace(tables=recording(status), side=SimpleNamespace(label="after"))
    found = list(voice_findings(SimpleNamespace(sides=(side,))))
    assert [f.code for f in found] == codes

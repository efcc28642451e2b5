"""Tests of who counts as producing: whatever cannot be read does."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ParseError
from leapprof.experiment.producing import parse_schedule, producing_reason
from leapprof.model import Nodeos

BODY = json.dumps(
    {"active": {"version": 1, "producers": [{"producer_name": "eosriobrazil"}, {"producer_name": "b"}]}}
)
ANSWER = f"200 1000 nodeos\n{BODY}"


def nodeos(**options) -> Nodeos:
    """Return a nodeos with these options."""
    return Nodeos(id="n", pid=1, start_ticks=1, options={k.replace("_", "-"): v for k, v in options.items()})


@pytest.mark.parametrize(
    ("found", "schedule", "produces"),
    [
        (nodeos(), ANSWER, True),
        (nodeos(plugin=("x",)), None, False),
        (nodeos(producer_name=("eosriobrazil",)), ANSWER, True),
        (nodeos(producer_name=('"b"',)), ANSWER, True),
        (nodeos(producer_name=("standby",)), ANSWER, False),
        (nodeos(producer_name=("standby",)), None, True),
        (nodeos(producer_name=("standby",)), "500 1 nodeos\n{}", True),
        (nodeos(producer_name=("standby",)), "200 1 nodeos\n{}", True),
        (nodeos(producer_name=(None,)), ANSWER, True),
    ],
)
def test_who_is_in_the_schedule_produces_and_who_cannot_be_read_too(found, schedule, produces):
    """Only a nodeos without producer-name, or one that the schedule does not hold, may be restarted."""
    assert (producing_reason(found, schedule) is not None) is produces


@given(st.text(max_size=200))
def test_any_answer_is_a_schedule_or_a_parse_error(text):
    """Nothing else leaves the parser."""
    for answer in (text, f"200 1 nodeos\n{text}"):
        try:
            parse_schedule(answer)
        except ParseError:
            continue

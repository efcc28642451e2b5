"""Tests of the dataclass codec."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leapprof.model import (
    ClockOffset,
    Device,
    DeviceKind,
    Event,
    Finding,
    Gap,
    Host,
    Nodeos,
    Recording,
    SamplingCost,
    Severity,
    Topology,
)
from leapprof.store.codec import CodecError, decode, encode

TEXT = st.text(max_size=12)
WHOLE = st.integers(min_value=-(2**63), max_value=2**63 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
RECORDINGS = st.builds(
    Recording,
    host=st.builds(Host, name=TEXT, boot_id=TEXT, facts=st.dictionaries(TEXT, TEXT, max_size=3)),
    nodeos=st.lists(
        st.builds(
            Nodeos,
            id=TEXT,
            pid=WHOLE,
            start_ticks=WHOLE,
            options=st.dictionaries(TEXT, st.lists(TEXT | st.none(), max_size=2).map(tuple), max_size=2),
        ),
        max_size=2,
    ).map(tuple),
    topology=st.builds(
        Topology,
        devices=st.lists(
            st.builds(Device, name=TEXT, major_minor=TEXT, kind=st.sampled_from(DeviceKind)), max_size=2
        ).map(tuple),
        mounts=st.just(()),
        swaps=st.just(()),
        pool_members=st.dictionaries(TEXT, st.lists(TEXT, max_size=2).map(tuple), max_size=2),
    ),
    phase=TEXT,
    interval_s=FINITE,
    started_wall_ns=WHOLE | st.none(),
    ended_wall_ns=WHOLE | st.none(),
    transport=TEXT,
    cost=st.builds(
        SamplingCost,
        agent=TEXT,
        samples=WHOLE,
        cpu_s=FINITE | st.none(),
        rss_bytes=WHOLE | st.none(),
        wire_bytes=WHOLE,
    ),
    clock_offsets=st.lists(
        st.builds(ClockOffset, taken_wall_ns=WHOLE, offset_s=FINITE, round_trip_s=FINITE), max_size=1
    ).map(tuple),
    gaps=st.lists(
        st.builds(Gap, start_ns=WHOLE, end_ns=WHOLE, start_wall_ns=WHOLE, end_wall_ns=WHOLE, reason=TEXT),
        max_size=1,
    ).map(tuple),
    events=st.lists(
        st.builds(Event, boottime_ns=WHOLE, wall_ns=WHOLE, kind=TEXT, subject=TEXT, detail=TEXT), max_size=1
    ).map(tuple),
    findings=st.lists(
        st.builds(Finding, code=TEXT, severity=st.sampled_from(Severity), message=TEXT, hint=TEXT), max_size=1
    ).map(tuple),
    denied=st.lists(TEXT, max_size=2).map(tuple),
    absent=st.just(()),
    commands=st.just(()),
)


@settings(max_examples=50, deadline=None)
@given(recording=RECORDINGS)
def test_every_manifest_survives_json(recording: Recording) -> None:
    """A manifest that goes to JSON text and back is the same manifest."""
    assert decode(Recording, json.loads(json.dumps(encode(recording)))) == recording


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["host", "nodeos", "phase", "cost"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(value=JSON)
def test_any_json_value_is_a_recording_or_a_codec_error(value: object) -> None:
    """Nothing but CodecError comes out of a foreign document."""
    with pytest.raises(CodecError):
        decode(Recording, value)


def test_a_wrong_type_is_named_with_its_place() -> None:
    """The message says which field has which wrong value."""
    with pytest.raises(CodecError, match=r"round_trip_s: expected float, found 'slow'"):
        decode(ClockOffset, {"taken_wall_ns": 1, "offset_s": 0, "round_trip_s": "slow"})


def test_a_boolean_is_no_number() -> None:
    """True is not taken for 1."""
    with pytest.raises(CodecError, match="taken_wall_ns: expected int"):
        decode(ClockOffset, {"taken_wall_ns": True, "offset_s": 0.0, "round_trip_s": 0.0})


def test_an_unknown_key_is_ignored() -> None:
    """A field that a newer leapprof added does not stop an older one."""
    value = {"taken_wall_ns": 1, "offset_s": 0.5, "round_trip_s": 0.1, "from_the_future": [1]}
    assert decode(ClockOffset, value) == ClockOffset(taken_wall_ns=1, offset_s=0.5, round_trip_s=0.1)

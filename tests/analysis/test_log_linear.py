"""Histograms of delays: three digits kept, exact merging, a text that comes back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.analysis.log_linear import LARGEST, LogLinear, bounds_of, bucket_of, decode, merged, middle_of
from leapprof.errors import ParseError


@given(st.integers(min_value=0, max_value=LARGEST))
def test_a_value_lies_in_its_bucket_and_the_bucket_is_narrow(value):
    """At most a thousandth of the value wide; below 2048 exact."""
    low, beyond = bounds_of(bucket_of(value))
    assert low <= value < beyond
    assert (beyond - low - 1) * 1024 <= value


@given(st.integers(min_value=0, max_value=60_000))
def test_buckets_follow_each_other_without_gap(bucket):
    """The end of one is the beginning of the next."""
    assert bounds_of(bucket)[1] == bounds_of(bucket + 1)[0]


@given(st.lists(st.integers(min_value=-5, max_value=2**63), max_size=50))
def test_what_was_coded_comes_back(values):
    """Every histogram, an empty one too."""
    histogram = LogLinear()
    for value in values:
        histogram.record(value)
    assert decode(histogram.encode()).counts == histogram.counts


@given(st.text(max_size=60))
def test_any_text_is_a_histogram_or_a_parse_error(text):
    """Nothing else comes out of a damaged file."""
    try:
        decode(text)
    except ParseError as error:
        assert error.probe == "histogram"


@pytest.mark.parametrize(
    "bomb", [b"\x80" * 40, b"\x01", b"\x01\x00", b"\x01\x01\x00\x01", b"\xff\xff\xff\x7f\x01"]
)
def test_well_packed_nonsense_is_refused(bomb):
    """Endless numbers, a number alone, no count, the same bucket twice, a bucket that cannot be."""
    import base64
    import zlib

    with pytest.raises(ParseError):
        decode(base64.b64encode(zlib.compress(bomb)).decode())


def test_quantiles_are_those_of_the_values_within_a_thousandth():
    """Against numpy, over a skewed sample."""
    values = np.round(np.random.default_rng(1).lognormal(15, 1, 20_000)).astype(int)
    parts = []
    for piece in np.array_split(values, 7):
        part = LogLinear()
        for value in piece:
            part.record(int(value))
        parts.append(part.counts)
    whole = merged(parts)
    assert whole.total == 20_000
    for q in (0.5, 0.9, 0.99, 0.999):
        assert whole.quantile(q) == pytest.approx(np.quantile(values, q, method="inverted_cdf"), rel=1e-3)


def test_an_empty_histogram_has_no_quantile():
    """Missing is missing."""
    assert LogLinear().quantile(0.5) is None


def test_shares_below_a_bucket_are_counted():
    """What Woodruff's interval stands on."""
    histogram = LogLinear()
    for value in (1, 2, 2, 5000):
        histogram.record(value)
    assert histogram.count_up_to(bucket_of(2)) == 3
    assert middle_of(bucket_of(2)) == 2

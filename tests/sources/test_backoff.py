"""When to connect again."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from leapprof.sources.backoff import FIRST_CEILING_S, FLOOR_S, LAST_CEILING_S, delays


def test_the_ceiling_doubles_up_to_a_minute():
    """With the largest draw the waits are 1, 2, 4 … 60 s."""
    waits = [round(wait_s, 6) for wait_s in islice(delays(lambda: 1.0), 9)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


@given(st.lists(st.floats(min_value=0, max_value=1, exclude_max=True), min_size=1, max_size=50))
def test_every_wait_lies_between_floor_and_ceiling(draws):
    """No host is hammered, and none waited for more than a minute."""
    left = iter(draws)
    for wait_s in islice(delays(lambda: next(left)), len(draws)):
        assert FLOOR_S <= wait_s <= LAST_CEILING_S


def test_many_collectors_do_not_come_back_in_step():
    """The first wait is spread over nearly the whole first second."""
    waits = [next(delays(lambda n=n: n / 100)) for n in range(100)]
    assert min(waits) == FLOOR_S
    assert max(waits) > 0.95 * FIRST_CEILING_S
    assert len(set(waits)) == 100

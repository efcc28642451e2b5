"""When to try again after a lost connection: exponential, capped, with full jitter.

Full jitter (a uniform draw between 0 and the ceiling) keeps many collectors from coming back in step
after a shared outage: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
A small floor is added so that a host that refuses at once is not hammered.
"""

from collections.abc import Callable, Iterator

FIRST_CEILING_S = 1.0
LAST_CEILING_S = 60.0
FLOOR_S = 0.2


def delays(random: Callable[[], float]) -> Iterator[float]:
    """Yield the seconds to wait before each attempt, without end.

    Args:
        random: returns a number in [0, 1), e.g. ``random.random``.
    """
    ceiling_s = FIRST_CEILING_S
    while True:
        yield FLOOR_S + random() * (ceiling_s - FLOOR_S)
        ceiling_s = min(LAST_CEILING_S, ceiling_s * 2)

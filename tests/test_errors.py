"""The error tree: one root, an exit code each, messages of one line."""

import inspect

from hypothesis import given
from hypothesis import strategies as st

from leapprof import errors

EXIT_CODES = {1, 2, 3, 4, 5, 6, 7, 130}


def _classes() -> list[type[errors.LeapprofError]]:
    found = inspect.getmembers(errors, inspect.isclass)
    return [c for _, c in found if issubclass(c, errors.LeapprofError)]


def test_every_error_has_a_documented_exit_code() -> None:
    """The codes are those of the command line's contract."""
    assert {c.exit_code for c in _classes()} == EXIT_CODES


def test_every_error_stands_in_the_drawn_tree() -> None:
    """Who reads the module's head sees all of them."""
    tree = errors.__doc__ or ""
    assert all(c.__name__ in tree for c in _classes())


@given(st.text(max_size=400))
def test_quoted_text_is_one_bounded_printable_line(text: str) -> None:
    """What a host said cannot break a message apart."""
    shown = errors.quoted(text)
    assert shown.isprintable()
    assert len(shown) <= 4 * errors.MAX_QUOTED_CHARS + 60

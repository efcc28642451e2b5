"""A process that works beside this one: its answers, its failures, and its end."""

import os
import signal
import threading
import time

import pytest

from leapprof.assess.apart import Apart, can_fork
from leapprof.errors import LeapprofError, NotEnoughDataError, ParseError, StoreError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

PATIENCE_S = 30.0


def added(held: list[int], number: int) -> list[int]:
    """Keep a number in what the process holds; return all of them."""
    held.append(number)
    return held


def pid_of(held: list[int]) -> int:
    """Return whose process this is."""
    del held
    return os.getpid()


def refuse(held: list[int], error: Exception) -> None:
    """Raise an error."""
    raise error


def sleep_on(held: list[int]) -> None:
    """Take longer than any test."""
    time.sleep(600)


def made() -> list[int]:
    """Return what the process holds."""
    return [1]


def gone(pid: int) -> bool:
    """Wait until a process is no more; return whether it is not."""
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_it_holds_what_was_made_from_one_question_to_the_next():
    """In a process of its own; what this one holds stays as it was."""
    with Apart(made) as apart:
        apart.ask(added, 2)
        assert apart.answer() == [1, 2]
        apart.ask(added, number=3)
        assert apart.answer() == [1, 2, 3]
        apart.ask(pid_of)
        assert apart.answer() != os.getpid()


@pytest.mark.parametrize(
    "error",
    [
        NotEnoughDataError("after side", "no samples", "some"),
        StoreError("/tmp/recording", "is damaged"),
        ParseError("vmstat", "a number", line="x", line_no=3),
    ],
)
def test_an_error_of_ours_is_raised_here_as_it_was_there(error):
    """With its message, its exit code and its attributes; and the process answers on."""
    with Apart(made) as apart:
        apart.ask(refuse, error)
        with pytest.raises(type(error)) as found:
            apart.answer()
        assert str(found.value) == str(error)
        assert vars(found.value) == vars(error)
        assert found.value.exit_code == error.exit_code
        apart.ask(added, 2)
        assert apart.answer() == [1, 2]


def test_an_error_while_it_is_made_answers_every_question():
    """As the function that makes it would have raised here."""

    def fail() -> list[int]:
        raise NotEnoughDataError("after side", "no samples", "some")

    with Apart(fail) as apart:
        for _ in range(2):
            apart.ask(added, 2)
            with pytest.raises(NotEnoughDataError, match="after side: no samples"):
                apart.answer()


def test_a_bug_there_says_where():
    """With the traceback of the other process."""
    with Apart(made) as apart:
        apart.ask(refuse, ZeroDivisionError("by nothing"))
        with pytest.raises(RuntimeError, match=r"(?s)in refuse.*ZeroDivisionError: by nothing"):
            apart.answer()


def test_a_process_that_was_killed_is_named_with_a_hint():
    """The kernel does that when memory is short; a message says what to do."""
    with Apart(made) as apart:
        apart.ask(pid_of)
        pid = apart.answer()
        apart.ask(sleep_on)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(LeapprofError, match=r"ended by signal 9.*--window"):
            apart.answer()
        with pytest.raises(LeapprofError, match=r"ended by signal 9"):
            apart.ask(added, 2)


def test_it_is_ended_whatever_it_does():
    """Also when what was computed beside it failed."""
    pid = None
    with pytest.raises(ZeroDivisionError), Apart(made) as apart:
        apart.ask(pid_of)
        pid = apart.answer()
        apart.ask(sleep_on)
        raise ZeroDivisionError
    assert gone(pid)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the test runner has threads, says Python 3.12
def test_it_ends_when_nobody_asks_any_more():
    """A program that was killed leaves no process behind."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        apart = Apart(made)
        apart.ask(pid_of)
        os.write(writer, str(apart.answer()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        pid = int(stream.read())
    os.waitpid(child, 0)
    assert gone(pid)


def test_a_program_with_threads_is_not_forked():
    """A lock that one of them holds would be held for ever in the other process."""
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        assert not can_fork()
    finally:
        over.set()
        thread.join()

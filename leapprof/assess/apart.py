"""Work in a process of its own: two cores then read and compute at once, which two threads hardly do.

What numpy and pyarrow do in a comparison is a row of short steps, and between any two a thread needs the interpreter's
lock: two threads take as long as one. A forked process has a lock of its own, and what was opened before it was forked
is there without being copied. What it answers comes back pickled: results, not weeks of samples.
"""

import gc
import os
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Concatenate, Generic, ParamSpec, TypeVar

from leapprof.errors import LeapprofError

T = TypeVar("T")
P = ParamSpec("P")

_DONE, _FAILED, _BROKE = "done", "failed", "broke"


def can_fork() -> bool:
    """Return whether a forked process would be whole: on Linux, without other threads, whose locks it would inherit."""
    return sys.platform == "linux" and threading.active_count() == 1


class Apart(Generic[T]):
    """A forked process that holds something and calls functions with it, one after the other. Use with ``with``."""

    def __init__(self, make: Callable[[], T]) -> None:
        """Fork; the process calls ``make`` once, and every function gets what it returned.

        Raises:
            OSError: no process can be made.
        """
        self._status = 0
        asked_out, asked_in = os.pipe()
        told_out, told_in = os.pipe()
        self._asked, self._told = os.fdopen(asked_in, "wb"), os.fdopen(told_out, "rb")
        gc.freeze()  # else each process would look through what both share, and copy it by that (see gc.freeze)
        sys.stdout.flush()  # else what is buffered would be written twice
        sys.stderr.flush()
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of threads that are not its own: those of pyarrow sleep, and hold nothing of ours.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._pid = os.fork()
            if self._pid == 0:
                os.close(asked_in)
                os.close(told_out)
                _serve(make, asked_out, told_in)
        except OSError:
            self._asked.close()
            self._told.close()
            raise
        finally:
            os.close(asked_out)
            os.close(told_in)

    def ask(self, function: Callable[Concatenate[T, P], object], *args: P.args, **named: P.kwargs) -> None:
        """Have a function of a module called; its answer is to be fetched before the next question.

        Raises:
            LeapprofError: the process has ended.
        """
        try:
            pickle.dump((function, args, named), self._asked, protocol=pickle.HIGHEST_PROTOCOL)
            self._asked.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def answer(self) -> Any:  # noqa: ANN401 - whatever the function that was asked returns
        """Return what the function returned, or raise what it raised.

        Raises:
            LeapprofError: the process has ended.
        """
        try:
            kind, value = pickle.load(self._told)  # noqa: S301 - of a process that is this program
        except (EOFError, pickle.UnpicklingError):
            raise self._ended() from None
        if kind == _FAILED:
            raise value
        if kind == _BROKE:
            raise RuntimeError(f"in a process beside this one:\n{value}")
        return value

    def close(self) -> None:
        """End the process, whatever it does."""
        for stream in (self._asked, self._told):
            with suppress(BrokenPipeError):  # what was not sent is not missed
                stream.close()
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = 0
        gc.unfreeze()

    def _ended(self) -> LeapprofError:
        if self._pid:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
            self._pid = 0
        signalled = self._status < 0
        how = f"was ended by signal {-self._status}" if signalled else f"ended with status {self._status}"
        return LeapprofError(
            f"a process that worked beside this one {how}; the kernel does that (signal 9) where memory is "
            "short: try a machine with more, or compare a shorter part with --window"
        )

    def __enter__(self) -> "Apart[T]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _serve(make: Callable[[], Any], asked: int, told: int) -> None:
    """Answer until nobody asks any more; never return into the program that was forked."""
    status = 0
    try:
        with os.fdopen(asked, "rb") as questions, os.fdopen(told, "wb") as answers:
            _answer_all(make, questions, answers)
    except (EOFError, BrokenPipeError):
        pass
    except KeyboardInterrupt:
        status = 130
    except BaseException:  # noqa: BLE001 - nothing may return from here
        traceback.print_exc()
        status = 1
    finally:
        os._exit(status)  # what is buffered, and what runs at exit, is the other process's


def _answer_all(make: Callable[[], Any], questions: BinaryIO, answers: BinaryIO) -> None:
    function, args, named = pickle.load(questions)  # noqa: S301 - of the process that was forked
    held: list[Any] = []

    def work() -> object:
        if not held:
            held.append(make())
        return function(held[0], *args, **named)

    while True:
        answer = pickle.dumps(_outcome(work), protocol=pickle.HIGHEST_PROTOCOL)
        answers.write(answer)
        answers.flush()
        function, args, named = pickle.load(questions)  # noqa: S301


def _outcome(work: Callable[[], object]) -> tuple[str, object]:
    """Return what work returned, or how it failed; Ctrl-C ends the process."""
    try:
        return _DONE, work()
    except LeapprofError as error:
        return _FAILED, error
    except Exception:  # noqa: BLE001 - it is told to whom asked
        return _BROKE, traceback.format_exc()

"""The `leapprof` program: lists the commands and turns our errors into exit codes.

Only the command that is called is imported: the others are listed by their one line, so that `leapprof --help`
needs neither numpy nor anything heavier.
"""

import gc
import importlib
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TextIO

import typer

from leapprof import __version__
from leapprof.errors import LeapprofError, NoRecordingError, StoreError, printable

COMMANDS = {
    "demo": "The whole job on this machine, with a stand-in for nodeos.",
    "doctor": "Can hosts be sampled, and what can be read there?",
    "record": "Sample hosts, before and after a change or always.",
    "agents": "List, end and remove detached samplers of hosts.",
    "show": "What is in a recording.",
    "compare": "The before-and-after report.",
    "run": "A planned experiment: record, change, record, compare, judge.",
    "wear": "TB a year and lifetime of each drive.",
    "fleet": "Many hosts before and after a change, in one verdict.",
    "export": "A recording as CSV, Parquet or OpenMetrics.",
}
GROUPS = {
    "config": "Check, compare and explain config.ini of nodeos.",
    "latency": "Delay as clients feel it: requests, round trips, histograms, streams.",
    "import": "Recordings from Prometheus, sysstat, benchmark-nodeos, CSV and SMART history.",
}
EXAMPLES = {
    "demo": "leapprof demo --quick",
    "doctor": "leapprof doctor wax-1 wax-2",
    "record": "leapprof record wax-1 --phase before --duration 6h --out recordings",
    "agents": "leapprof agents wax-1 --stop /var/tmp/leapprof-spool-wax-1",
    "show": "leapprof show recordings/wax-1-before-20240115T000000Z",
    "compare": "leapprof compare recordings/wax-1-before-* recordings/wax-1-after-* --out reports",
    "run": "leapprof run playbooks/mapped-to-mapped-private.yml --set hosts.0.host=wax-1 --dry-run",
    "wear": "leapprof wear recordings/wax-1-before-20240115T000000Z --rated-tbw 600",
    "fleet": "leapprof fleet --pairs pairs.toml --out report",
    "export": "leapprof export recordings/wax-1-before-20240115T000000Z --out tables --format parquet",
}
EXIT_CODES = (
    "Exit codes: 0 fine; 1 our bug; 2 usage, or a file or directory that was named; 3 a host or server failed; "
    "4 unreadable input; 5 recording damaged or too new, or disk full; 6 nothing to compare; 7 nodeos would refuse "
    "this config; 10 regression, 11 inconclusive (both only with --fail-on); 12 an expectation of a playbook is not "
    "met, 13 cannot tell; 130 interrupted, what was recorded is kept."
)
OVER_SOON = frozenset({"show", "compare", "wear", "fleet", "export"})
"""They read, print and end: what they leave lying about in circles is little, and looking for it takes time."""
LOOK_FOR_CIRCLES_EVERY = 50_000  # new objects; as Python is set, 700
MODULES = {"import": "import_"}
"""Modules that are not named as their command: its name is a word of Python."""


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"leapprof {__version__}\n")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


def _listed_only() -> None:
    """Stand for a command that this call does not run."""


def _module(name: str) -> Any:  # noqa: ANN401 - modules of commands
    return importlib.import_module(f"leapprof.cli.{MODULES.get(name, name)}")


def build_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the program, with the command that the arguments name imported."""
    called = next((word for word in arguments if not word.startswith("-")), None)
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # rich's help costs more than the rest of the program's start
        add_completion=False,
        help="Before-and-after profiling of hosts that run Antelope nodes: CPU, memory, swap, drive wear.",
        epilog=EXIT_CODES,
    )
    app.callback()(_root)
    for name, line in COMMANDS.items():
        if name == called:
            app.command(name, short_help=line, epilog=f"Example: {EXAMPLES[name]}")(_module(name).command)
        else:
            app.command(name, short_help=line)(_listed_only)
    for name, line in GROUPS.items():
        if name == called:
            app.add_typer(_module(name).app, name=name)
        else:
            app.command(name, short_help=line)(_listed_only)
    return app


class _Output:
    """Standard output whose reader may leave, as `head` does, or whose disk may be full: the rest goes nowhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._problem: OSError | None = None

    def write(self, text: str) -> int:
        with self._guarded():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._guarded():
            self._stream.flush()

    def check(self) -> None:
        """Say what could not be written, once all is done; a reader who left wanted no more.

        Raises:
            StoreError: see above.
        """
        self.flush()
        if self._problem is not None and not isinstance(self._problem, BrokenPipeError):
            raise StoreError("standard output", f"cannot be written: {self._problem.strerror}")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._problem = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # else Python tries again when it ends
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a text stream has
        return getattr(self._stream, name)


def _meant(error: LeapprofError) -> list[str]:
    """Return the command again with the first recording in the place of a directory that only holds recordings."""
    if not isinstance(error, NoRecordingError) or not error.below:
        return []
    words = sys.argv[1:]
    named = next((at for at, word in enumerate(words) if word.rstrip("/") == error.path), None)
    if named is None:
        return []
    return [
        printable(
            "for example: " + shlex.join(["leapprof", *words[:named], error.below[0], *words[named + 1 :]])
        )
    ]


def main() -> None:
    """Run the program; what we know of ends with its exit code and one message, never a traceback."""
    # A product of two weeks at 1 Hz takes numpy 20 times as long on cores that wait for each other, and its last digit
    # would depend on how many there are.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # numpy asks for huge pages for each array of 4 MB and more, with a call each time: on a heap that is used again and
    # again (store/heap.py) that doubles the time in the kernel.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    if OVER_SOON.intersection(sys.argv[1:2]):
        gc.set_threshold(LOOK_FOR_CIRCLES_EVERY)
    sys.stdout = output = _Output(sys.stdout)
    try:
        try:
            build_app(sys.argv[1:])()
        finally:
            output.check()
    except LeapprofError as error:
        sys.stderr.write("\n".join([f"leapprof: {printable(str(error))}", *_meant(error)]) + "\n")
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        sys.stderr.write("leapprof: interrupted\n")
        raise SystemExit(130) from None

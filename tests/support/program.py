"""leapprof run in the test's own process."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

from leapprof.cli.main import main


class Done(NamedTuple):
    """How the program ended."""

    code: int
    out: str
    err: str


def leapprof(*words: str) -> Done:
    """Run the program in this process."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["leapprof", *words]
    code: object = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = before
    return Done(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())

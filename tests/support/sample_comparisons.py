"""Comparisons of samples/, each made once in a run of the tests."""

from functools import cache

from leapprof.model import Comparison
from samples.make_reports import CASES

FOLDERS = [case.folder for case in CASES]


@cache
def comparison(folder: str) -> Comparison:
    """Return the comparison that a report of samples/ is made of."""
    return next(case for case in CASES if case.folder == folder).make()

"""What holds for all tests: no test depends on how fast the machine is."""

import os

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

QUIET_ATTEMPTS = 10

settings.register_profile(
    "leapprof",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),  # a change lands or not by itself, not by the draw of a day
)
settings.load_profile("leapprof")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test that is marked quiet until it passes, ten times at most.

    Neighbours of a virtual machine delay its wake-ups by whole milliseconds. A probe that is wrong by what such a
    test allows is wrong every time.
    """
    if item.get_closest_marker("quiet") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(QUIET_ATTEMPTS):
        if hasattr(item, "_initrequest"):
            item._initrequest()  # fixtures of the attempt before are gone
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True

"""What holds for all tests: no test depends on how fast the machine is."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "leapprof",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),  # a change lands or not by itself, not by the draw of a day
)
settings.load_profile("leapprof")

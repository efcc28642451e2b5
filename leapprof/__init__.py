"""leapprof: before-and-after profiling of hosts that run Antelope nodes."""

__version__ = "0.1.0"

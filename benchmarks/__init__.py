"""Measurements of leapprof itself; run by hand, not by the tests."""

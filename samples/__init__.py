"""Recordings to look at and to test with, and the scripts that made them from what was measured."""

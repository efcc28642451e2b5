"""A small program that treats memory and disk as nodeos's chainbase does, for the demo and for tests.

It is no nodeos and is never called one in a report: a recording knows it by ``leapprof.standin`` in its
command line. Standard library only, so that its memory is its state and little else.
"""

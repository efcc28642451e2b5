"""Counters to rates, rates to batch means, batch means to estimates and verdicts. Pure numpy; no I/O."""

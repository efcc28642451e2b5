"""Probes of delay, as clients of a node feel it: each writes an ordinary recording with a table ``latency``."""

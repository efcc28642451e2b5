"""Recordings and batch means from elsewhere: Prometheus-compatible servers, and files of other tools."""

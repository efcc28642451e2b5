"""leapprof's own files: the inventory of hosts, and settings."""

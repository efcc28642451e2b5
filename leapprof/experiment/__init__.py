"""A playbook, run: planned into steps, guarded, resumed after a crash, judged and reported.

``steps`` says what will be done, in order, without asking anybody; ``runner`` does it and writes each step to the
run's log first (``runlog``); what changes a host is in leapprof.control, and called from ``change`` alone.
"""

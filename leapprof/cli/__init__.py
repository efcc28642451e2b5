"""The command line: one file a command, bodies of a few lines, errors become exit codes."""

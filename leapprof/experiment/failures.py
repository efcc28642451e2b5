"""How a run ends before its report."""

from leapprof.errors import ConfigError, SourceError


class GateError(SourceError):
    """A gate did not open in time."""


class GuardError(SourceError):
    """A guard was breached; the message says what was done."""


class NeedsOperatorError(ConfigError):
    """leapprof cannot know whether a change was made: somebody has to look."""

"""Every way in which leapprof fails, each with its exit code.

The tree::

    LeapprofError 1
    ├─ ConfigError 2            path, key, problem
    ├─ SourceError 3            host, problem
    │  ├─ ConnectError
    │  ├─ HostKeyError          the host's key is unknown, changed or revoked
    │  ├─ CommandError          command, exit_status, stderr
    │  └─ SourceTimeoutError    timeout_s
    ├─ ParseError 4             probe, line_no, line, expected
    ├─ StoreError 5             path, problem
    │  ├─ FormatVersionError    found, supported
    │  └─ NoRecordingError 2    path, problem, below: what was named is no recording
    ├─ NotEnoughDataError 6     metric, have, need
    ├─ NodeosRefusesError 7     path, problem
    └─ InterruptedRunError 130  path

A file or directory that was named and is not there, cannot be opened or is of another sort is 2, whichever command it
was named to; 4 is what stands in a file, 5 a recording that is one and is damaged.
Exit codes 10 to 13 are verdicts, not failures, and are raised by the commands as ``typer.Exit``.
A message says where, what was expected, what was found and what to do.
"""

MAX_QUOTED_CHARS = 120
_PLAIN = "\n\u00a0"


def quoted(text: str) -> str:
    """Return text fit for one line of a message: control characters escaped, at most 120 characters."""
    shown = text if len(text) <= MAX_QUOTED_CHARS else text[: MAX_QUOTED_CHARS - 1] + "…"
    return "'" + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in shown) + "'"


def printable(text: str) -> str:
    """Return text fit for a terminal: what is not printable, such as ESC, is written as an escape; line ends stay."""
    return "".join(c if c.isprintable() or c in _PLAIN else f"\\x{ord(c):02x}" for c in text)


class LeapprofError(Exception):
    """The root of the tree; also what a bug of ours becomes when nothing fits better."""

    exit_code = 1

    def __reduce__(self) -> tuple[object, ...]:
        """Return how the error is made anew in another process, whatever its class is made from."""
        return _made_anew, (type(self), self.args, self.__dict__)


def _made_anew(
    kind: type[LeapprofError], args: tuple[object, ...], attributes: dict[str, object]
) -> LeapprofError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


class ConfigError(LeapprofError):
    """leapprof's own configuration or a command-line value is wrong."""

    exit_code = 2

    def __init__(self, problem: str, *, path: str = "", key: str = "") -> None:
        """Keep where the problem is beside what it is."""
        self.path, self.key, self.problem = path, key, problem
        super().__init__(": ".join(part for part in (path, key, problem) if part))


def unreadable(path: object, error: OSError) -> ConfigError:
    """Return what a file that was named and cannot be opened or read is: the same mistake in every command."""
    return ConfigError(f"cannot be read: {error.strerror or error}", path=str(path))


class SourceError(LeapprofError):
    """A host, or another source of readings, failed."""

    exit_code = 3

    def __init__(self, host: str, problem: str) -> None:
        """Keep the host's name beside the problem."""
        self.host, self.problem = host, problem
        super().__init__(f"{host}: {problem}")


class ConnectError(SourceError):
    """The host cannot be reached, or refuses us."""


class HostKeyError(ConnectError):
    """The host's key is unknown, changed or revoked."""


class CommandError(SourceError):
    """A command on the host ended with a status other than 0."""

    def __init__(self, host: str, command: str, exit_status: int, stderr: str) -> None:
        """Keep the parts of the failed command."""
        self.command, self.exit_status, self.stderr = command, exit_status, stderr
        super().__init__(host, f"{quoted(command)} ended with status {exit_status}: {quoted(stderr.strip())}")


class SourceTimeoutError(SourceError):
    """The host did not answer in time."""

    def __init__(self, host: str, waiting_for: str, timeout_s: float) -> None:
        """Keep the time-out that ran out."""
        self.timeout_s = timeout_s
        super().__init__(host, f"no {waiting_for} within {timeout_s:g} s")


class ParseError(LeapprofError):
    """A text does not have the form that its format promises."""

    exit_code = 4

    def __init__(self, probe: str, expected: str, *, line: str = "", line_no: int = 0) -> None:
        """Keep what was expected and the (shortened) line that was found."""
        self.probe, self.expected, self.line, self.line_no = probe, expected, line, line_no
        where = f"{probe}, line {line_no}" if line_no else probe
        super().__init__(f"{where}: expected {expected}, found {quoted(line)}")


class StoreError(LeapprofError):
    """A recording is damaged, or cannot be written."""

    exit_code = 5

    def __init__(self, path: str, problem: str) -> None:
        """Keep the path of the recording or file."""
        self.path, self.problem = path, problem
        super().__init__(f"{path}: {problem}")


class FormatVersionError(StoreError):
    """A recording was written by a newer leapprof."""

    def __init__(self, path: str, found: int, supported: int) -> None:
        """Keep both format numbers."""
        self.found, self.supported = found, supported
        super().__init__(
            path, f"format {found} is newer than this leapprof reads (up to {supported}); update leapprof"
        )


class NoRecordingError(StoreError):
    """What was named as a recording is none: a wrong name, and no damage."""

    exit_code = 2

    def __init__(self, path: str, problem: str, below: tuple[str, ...] = ()) -> None:
        """Keep the recordings that lie below the path, if there are."""
        self.below = below
        super().__init__(path, problem)


class NotEnoughDataError(LeapprofError):
    """Nothing is left to compare; too little for a verdict is a Finding, not this."""

    exit_code = 6

    def __init__(self, metric: str, have: str, need: str) -> None:
        """Keep what there is and what would be needed."""
        self.metric, self.have, self.need = metric, have, need
        super().__init__(f"{metric}: {have}; needed: {need}")


class NodeosRefusesError(LeapprofError):
    """nodeos would not start with this config.ini."""

    exit_code = 7

    def __init__(self, path: str, problem: str) -> None:
        """Keep the file beside the problem."""
        self.path, self.problem = path, problem
        super().__init__(f"{path}: {problem}")


class InterruptedRunError(LeapprofError):
    """The operator ended the command; what was recorded is kept."""

    exit_code = 130

    def __init__(self, path: str) -> None:
        """Keep where the data is."""
        self.path = path
        super().__init__(f"interrupted; what was recorded is kept in {path}")

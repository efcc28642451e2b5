"""The probe ``rtt`` from other hosts: connections are made there, by their own clock, and printed to us."""

import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from leapprof.agent.bootstrap import PYTHON_COMMAND
from leapprof.errors import ParseError, SourceError, SourceTimeoutError
from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.machine import Moment, column, filled, time_columns
from leapprof.latency.wire import Failure
from leapprof.model import Table
from leapprof.probes.stat import Stat, parse_stat
from leapprof.probes.text import integer
from leapprof.sources.base import ChannelClosedError, Source

PROBE = "rtt"
_SCRIPT = Path(__file__).with_name("remote_connect.py")
_NAME = "connections of a host"
_MOST_LINE_BYTES = 4096
_START_S = 20.0
_FAILURES = {f.value: f for f in (Failure.TIMEOUT, Failure.REFUSED, Failure.UNREACHABLE, Failure.NAME)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotePlan:
    """What a host is to connect to.

    Attributes:
        family: 4, 6, or 0 for what the name gives first.
    """

    endpoint: Endpoint
    family: int
    count: int
    rate_per_s: float
    timeout_s: float

    @property
    def line(self) -> bytes:
        """Return it as the script takes it."""
        interval_ms, timeout_ms = round(1000 / self.rate_per_s), round(1000 * self.timeout_s)
        host, port = self.endpoint.host, self.endpoint.port
        return f"{self.count} {interval_ms} {timeout_ms} {self.family} {host} {port}\n".encode()

    @property
    def longest_s(self) -> float:
        """Return how long a run can take."""
        return _START_S + self.count * max(1 / self.rate_per_s, self.timeout_s)


@dataclass(slots=True, kw_only=True)
class RemoteRun:
    """What a host printed.

    Attributes:
        tries: moment, delay in nanoseconds or failure.
        samples: moment and the cpu line's counters.
    """

    family: int = 4
    tries: list[tuple[Moment, int | Failure]] = field(default_factory=list)
    samples: list[tuple[Moment, Stat]] = field(default_factory=list)

    def add(self, line: str) -> bool:
        """Take one line; False for the last.

        Raises:
            ParseError: it is none of ours.
        """
        kind, _, rest = line.partition(" ")
        if kind == "end":
            return False
        if kind == "v":
            self.family = integer(rest, _NAME, line) or 4
            return True
        boottime, _, rest = rest.partition(" ")
        wall, _, what = rest.partition(" ")
        boottime_ns, wall_ns = integer(boottime, _NAME, line), integer(wall, _NAME, line)
        if boottime_ns is None or wall_ns is None or kind not in {"a", "f", "s"}:
            raise ParseError(_NAME, "an attempt, a failure or a sample", line=line)
        moment = Moment(boottime_ns, boottime_ns, wall_ns)
        if kind == "s":
            self.samples.append((moment, Stat() if what == "-" else parse_stat(what)))
        elif kind == "f":
            self.tries.append((moment, _FAILURES.get(what, Failure.CLOSED)))
        else:
            self.tries.append((moment, integer(what, _NAME, line) or 0))
        return True

    def subject(self, endpoint: Endpoint) -> Subject:
        """Return what the delays are of."""
        return Subject(probe=PROBE, operation=f"tcp connect IPv{self.family}", target=endpoint.authority)

    def blocks(self, endpoint: Endpoint, block_s: float) -> tuple[Table, Blocks]:
        """Return the table of delays, and what it was made from."""
        blocks = Blocks(self.samples[0][0], block_s)
        subject = self.subject(endpoint)
        for moment, what in self.tries:
            if isinstance(what, Failure):
                blocks.failed(subject, moment.monotonic_ns, what)
            else:
                blocks.succeeded(subject, moment.monotonic_ns, what)
        return blocks.take_all(self.samples[-1][0].monotonic_ns), blocks

    def host_table(self) -> Table:
        """Return the host's CPU samples."""
        moments = [moment for moment, _ in self.samples]
        names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
        integers = {
            "seq": filled(range(1, len(moments) + 1)),
            **time_columns(moments),
            **{
                f"cpu_{name}_ticks_total": column(
                    [getattr(stat, f"cpu_{name}_ticks_total") for _, stat in self.samples]
                )
                for name in names
            },
        }
        return Table(name="host", rows=len(moments), integers=integers, texts={})


def run_remote(source: Source, plan: RemotePlan) -> RemoteRun:
    """Let a host make its connections.

    Args:
        source: the host.
        plan: what to connect to.

    Raises:
        SourceError: it cannot be reached, has no Python 3, does not end in time, or none of its connections was made.
    """
    payload = zlib.compress(_SCRIPT.read_bytes(), 9)
    channel = source.open(PYTHON_COMMAND.format(python="python3", length=len(payload)))
    found = RemoteRun()
    try:
        channel.write(payload + plan.line)
        end_s = time.monotonic() + plan.longest_s
        rest = b""
        goes_on = True
        while goes_on:
            if time.monotonic() > end_s:
                raise SourceTimeoutError(source.name, "end of the connections", plan.longest_s)
            lines, rest = _lines(rest + channel.read(1.0))
            for line in lines:
                goes_on = goes_on and found.add(line)
    except ChannelClosedError as error:
        said = channel.stderr_tail.strip()[-200:]
        raise SourceError(source.name, f"its Python 3 ended early: {said or 'is python3 there?'}") from error
    except ParseError as error:
        raise SourceError(source.name, str(error)) from error
    finally:
        channel.close()
    _check(source, plan, found)
    return found


def _lines(data: bytes) -> tuple[list[str], bytes]:
    """Return whole lines, and what follows them.

    Raises:
        ParseError: what follows is longer than a line can be.
    """
    *lines, rest = data.split(b"\n")
    if len(rest) > _MOST_LINE_BYTES:
        raise ParseError(_NAME, "lines", line=rest[:80].decode("latin-1"))
    return [line.decode("ascii", "replace") for line in lines], rest


def _check(source: Source, plan: RemotePlan, found: RemoteRun) -> None:
    if not any(isinstance(what, int) for _, what in found.tries):
        kinds = ", ".join(sorted({str(what) for _, what in found.tries})) or "nothing was tried"
        raise SourceError(source.name, f"no connection to {plan.endpoint.authority} was made: {kinds}")

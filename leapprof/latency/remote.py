"""The probe ``rtt`` from other hosts: the agent there makes the connections, by the host's own clock. Pure."""

from dataclasses import dataclass, field

from leapprof.agent.plan import Connect, Plan, Read
from leapprof.errors import ParseError, SourceError
from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.machine import Moment, column, filled, time_columns
from leapprof.latency.wire import Failure
from leapprof.model import Frame, ReadStatus, Section, Table
from leapprof.probes.stat import Stat, parse_stat
from leapprof.probes.text import integer

PROBE = "rtt"
_NAME = "connections of a host"
_STAT = "/proc/stat"
_START_S = 60.0
_FAILURES = {
    "name": Failure.NAME,
    "timeout": Failure.TIMEOUT,
    "ETIMEDOUT": Failure.TIMEOUT,
    "ECONNREFUSED": Failure.REFUSED,
    **dict.fromkeys(
        ("ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EHOSTDOWN", "EADDRNOTAVAIL", "EACCES", "EPERM"),
        Failure.UNREACHABLE,
    ),
}


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
    def agent_plan(self) -> Plan:
        """Return it as the agent takes it: the connections, and the CPUs once a second beside them."""
        return Plan(
            reads=(Read(path=_STAT, keep=("cpu ",)),),
            connects=(
                Connect(
                    address=self.endpoint.authority,
                    count=self.count,
                    timeout_s=self.timeout_s,
                    interval_s=1 / self.rate_per_s,
                    family=self.family,
                ),
            ),
        )

    @property
    def longest_s(self) -> float:
        """Return how long a run can take."""
        return _START_S + self.count * max(1 / self.rate_per_s, self.timeout_s)


@dataclass(slots=True, kw_only=True)
class RemoteRun:
    """What the agent of a host told.

    Attributes:
        tries: moment, delay in nanoseconds or failure.
        samples: moment and the cpu line's counters.
    """

    family: int = 4
    tries: list[tuple[Moment, int | Failure]] = field(default_factory=list)
    samples: list[tuple[Moment, Stat]] = field(default_factory=list)

    def add(self, frame: Frame) -> bool:
        """Take one frame; False when the connections are in it, which come together.

        Raises:
            ParseError: they are none of ours, or the agent could not make them.
        """
        now = Moment(frame.boottime_ns, frame.boottime_ns, frame.wall_ns)
        goes_on = True
        for section in frame.sections:
            if section.name == _STAT:
                self.samples.append((now, _stat_of(section)))
            elif section.name.startswith("connect/"):
                self._take(section, now)
                goes_on = False
        return goes_on

    def _take(self, section: Section, now: Moment) -> None:
        text = section.text.decode("ascii", "replace")
        if section.status not in {ReadStatus.OK, ReadStatus.CUT}:
            raise ParseError(_NAME, f"connections, but the agent says {section.status}", line=text[:200])
        for line in text.splitlines():
            moment, _, what = line.partition(" ")
            if moment == "family":
                self.family = 6 if what == "6" else 4
                continue
            boottime_ns = integer(moment, _NAME, line)
            if boottime_ns is None:
                raise ParseError(_NAME, "a moment and what came of the attempt", line=line)
            delay_ns = integer(what, _NAME, line) if what.isdigit() else None
            result = _FAILURES.get(what, Failure.CLOSED) if delay_ns is None else delay_ns
            self.tries.append((now.at(boottime_ns), result))

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

    def check(self, host: str, endpoint: Endpoint) -> None:
        """Refuse a run in which nothing was measured.

        Raises:
            SourceError: no connection was made, or the agent told nothing else.
        """
        if not self.samples:
            raise SourceError(host, "its agent told nothing of its CPUs")
        if not any(isinstance(what, int) for _, what in self.tries):
            kinds = ", ".join(sorted({str(what) for _, what in self.tries})) or "nothing was tried"
            raise SourceError(host, f"no connection to {endpoint.authority} was made: {kinds}")


def _stat_of(section: Section) -> Stat:
    return parse_stat(section.text.decode("ascii", "replace")) if section.text else Stat()

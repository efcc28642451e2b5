"""One agent on one channel of a host: start it, ask, let it sample, end it."""

from dataclasses import dataclass, field
from typing import Self

from leapprof.agent.bootstrap import python_command, python_payload, sh_command, sh_payload
from leapprof.agent.frame import FrameDecoder
from leapprof.agent.plan import BEAT_MESSAGE, END_MESSAGE, Plan, encode_plan, plan_message
from leapprof.errors import SourceError, SourceTimeoutError
from leapprof.model import ClockOffset, Frame
from leapprof.recorder.clock import Clock
from leapprof.recorder.planning import clock_plan
from leapprof.sources import Channel, ChannelClosedError, Source
from leapprof.units import NS_PER_S

PYTHON_CHECK = 'python3 -I -S -c "import sys,zlib;sys.exit(sys.version_info<(3,6))"'
CHECK_TIMEOUT_S = 20.0
ANSWER_TIMEOUT_S = 60.0
END_TIMEOUT_S = 10.0
BEAT_EVERY_S = 10.0
CLOCK_ROUNDS = 5
MAX_TAIL_CHARS = 300
NEVER_ANSWERED = " before the agent answered; look at the login shell and what it prints before a command"


def choose_agent(source: Source) -> str:
    """Return ``python`` where the host has Python 3.6 or newer, else ``sh``.

    Raises:
        SourceError: the host cannot be reached.
    """
    return "python" if source.run(PYTHON_CHECK, CHECK_TIMEOUT_S).exit_status == 0 else "sh"


@dataclass(slots=True, kw_only=True)
class AgentLink:
    """A running agent. Use with ``with``."""

    host: str
    kind: str
    channel: Channel
    clock: Clock
    decoder: FrameDecoder
    _waiting: list[Frame] = field(default_factory=list)
    _beat_s: float = 0.0
    _has_answered: bool = False

    @classmethod
    def open(cls, source: Source, kind: str, clock: Clock) -> "AgentLink":
        """Start an agent on a host.

        Raises:
            SourceError: the host cannot be reached.
        """
        python = kind == "python"
        channel = source.open(python_command() if python else sh_command())
        try:
            channel.write(python_payload() if python else sh_payload())
        except ChannelClosedError as error:
            raise SourceError(source.name, error.problem + NEVER_ANSWERED) from error
        return cls(
            host=source.name,
            kind=kind,
            channel=channel,
            clock=clock,
            decoder=FrameDecoder(source.name),
            _beat_s=clock.monotonic_s(),
        )

    def send(self, encoded: bytes) -> None:
        """Hand over an encoded plan.

        Raises:
            SourceError: the channel has ended.
        """
        self.channel.write(plan_message(encoded))

    def ask(self, plan: Plan) -> Frame:
        """Hand over a plan of one tick and return its frame.

        Raises:
            SourceError: the channel has ended, or there is no answer in time.
        """
        return self.ask_encoded(encode_plan(plan))

    def ask_encoded(self, encoded: bytes) -> Frame:
        """Hand over an encoded plan that is answered with one frame, and return that.

        Raises:
            SourceError: the channel has ended, or there is no answer in time.
        """
        try:
            self.send(encoded)
        except ChannelClosedError as error:
            raise SourceError(self.host, error.problem + NEVER_ANSWERED) from error
        deadline_s = self.clock.monotonic_s() + ANSWER_TIMEOUT_S
        while self.clock.monotonic_s() < deadline_s:
            frames = self.poll(1.0)
            if frames:
                self._waiting = frames[1:]
                return frames[0]
        raise SourceTimeoutError(self.host, f"answer of the {self.kind} agent", ANSWER_TIMEOUT_S)

    def poll(self, timeout_s: float) -> list[Frame]:
        """Return the frames that have arrived; keeps the agent alive.

        Raises:
            SourceError: the channel has ended.
        """
        now_s = self.clock.monotonic_s()
        if now_s - self._beat_s >= BEAT_EVERY_S:
            self._beat_s = now_s
            self.channel.write(BEAT_MESSAGE)
        waiting, self._waiting = self._waiting, []
        if waiting:
            return waiting
        try:
            frames = self.decoder.feed(self.channel.read(timeout_s))
        except ChannelClosedError as error:
            tail = self.channel.stderr_tail.strip()[-MAX_TAIL_CHARS:]
            told = f"{error.problem}: {tail}" if tail and tail not in error.problem else error.problem
            raise SourceError(self.host, told if self._has_answered else told + NEVER_ANSWERED) from error
        self._has_answered |= bool(frames)
        return frames

    def end(self, message: bytes = END_MESSAGE) -> list[Frame]:
        """Ask the agent, or the sampler of its spool, to end and return what it still sends."""
        frames: list[Frame] = []
        deadline_s = self.clock.monotonic_s() + END_TIMEOUT_S
        try:
            self.channel.write(message)
            while self.clock.monotonic_s() < deadline_s:
                frames += self.poll(1.0)
        except SourceError:  # ended, as it was asked to
            pass
        return frames

    def measure_clock(self) -> ClockOffset:
        """Return the host's wall clock minus ours, from the quickest of a few round trips.

        The host's time is taken to lie in the middle of a round trip, as in NTP (RFC 5905, section 8).

        Raises:
            SourceError: the channel has ended, or there is no answer in time.
        """
        best: ClockOffset | None = None
        for _ in range(CLOCK_ROUNDS):
            sent_ns = self.clock.wall_ns()
            frame = self.ask(clock_plan())
            received_ns = self.clock.wall_ns()
            offset = ClockOffset(
                taken_wall_ns=received_ns,
                offset_s=(frame.wall_ns - (sent_ns + received_ns) / 2) / NS_PER_S,
                round_trip_s=(received_ns - sent_ns) / NS_PER_S,
            )
            if best is None or offset.round_trip_s < best.round_trip_s:
                best = offset
        assert best is not None
        return best

    def close(self) -> None:
        """End the channel; closing twice is fine."""
        self.channel.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close."""
        self.close()

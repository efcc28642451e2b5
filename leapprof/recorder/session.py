"""One host from first contact to sealed recording: survey, sampling, reconnecting, ending."""

import random
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event as StopEvent

from leapprof import __version__
from leapprof.agent.plan import Command, Plan, encode_plan
from leapprof.agent.spool import STOP_MESSAGE, spool_path
from leapprof.errors import SourceError, SourceTimeoutError, StoreError
from leapprof.ingest.pools import ZPOOL_COMMAND
from leapprof.ingest.rows import FrameIngest
from leapprof.ingest.sections import texts_of
from leapprof.ingest.survey import FULL_VERSION_COMMAND, Survey, read_survey, with_answers
from leapprof.ingest.tick import LOG_COMMAND
from leapprof.model import ClockOffset, Finding, Frame, Recording
from leapprof.model.access import HostConfig, NodeosSelector
from leapprof.recorder import spooling
from leapprof.recorder.clock import Clock
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.findings import NEVER_CAME_BACK, never_came_back, nodeos_findings, survey_findings
from leapprof.recorder.keeper import FrameKeeper
from leapprof.recorder.link import AgentLink, choose_agent
from leapprof.recorder.naming import recording_directory
from leapprof.recorder.observer import NullObserver, Observer
from leapprof.recorder.planning import RecordOptions, follow_up_plan, sampling_plan, survey_plan
from leapprof.recorder.selecting import select
from leapprof.recorder.spooling import SpoolChoice, find_spool
from leapprof.sources import Source
from leapprof.sources.backoff import delays
from leapprof.store import RecordingWriter, Retention
from leapprof.units import format_duration

POLL_S = 0.5
SILENCE_S = 30.0
SILENCE_INTERVALS = 10
FOLLOW_UPS = 2
"""A config file may tell an HTTP address; only the question after it can ask there for the version."""
ALWAYS_ON_SPOOL = "always-on"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSurvey:
    """What a host answered before sampling begins."""

    survey: Survey
    findings: tuple[Finding, ...]
    agent: str
    offset: ClockOffset


def survey_host(link: AgentLink, host: HostConfig, selectors: tuple[NodeosSelector, ...]) -> HostSurvey:
    """Ask a host what it is, what it lets us see, and how its clock stands.

    Raises:
        SourceError: it does not answer.
        ParseError: its answer is not readable.
    """
    pools = [command for command in allowed_commands(host) if f"command/{command.name}" == ZPOOL_COMMAND]
    first = link.ask(survey_plan(selectors, pools))
    survey = read_survey(first, host.name)
    commands = [
        command for command in allowed_commands(host) if command.name.startswith(FULL_VERSION_COMMAND)
    ]
    for _ in range(FOLLOW_UPS):
        asked = [(nodeos.http_address, nodeos.state_dir) for nodeos in survey.nodeos]
        if survey.nodeos:
            survey = with_answers(survey, link.ask(follow_up_plan(selectors, survey, commands)))
        if asked == [(nodeos.http_address, nodeos.state_dir) for nodeos in survey.nodeos]:
            break
    survey, not_found = select(survey, selectors, texts_of(first.sections))
    return HostSurvey(
        survey=survey,
        findings=(
            *survey_findings(host.name, survey.nodeos, survey.denied, first, link.kind),
            *not_found,
            *nodeos_findings(survey.nodeos),
        ),
        agent=link.kind,
        offset=link.measure_clock(),
    )


def allowed_commands(host: HostConfig) -> tuple[Command, ...]:
    """Return the commands that the operator allowed; what prints a log of nodeos is filtered like one."""
    return tuple(
        Command(name=name, argv=argv, is_log=name.startswith(LOG_COMMAND))
        for name, argv in sorted(host.commands.items())
    )


@dataclass(slots=True, kw_only=True)
class HostSession:
    """Records one host. ``run`` once, in one thread.

    Attributes:
        host: which.
        source: how it is reached.
        out: where recordings go.
        options: what the operator asked for.
        clock: the collector's.
        stop: set to end the recording.
        observer: is told what happens.
        spool: None when the sampler ends with its connection.
        commands: command lines that repeat this recording.
        retention: of an always-on recording.
        directory: of the recording, once it began.
        connecting: is held while a connection is made; lets only so many be made at once.
    """

    host: HostConfig
    source: Source
    out: Path
    options: RecordOptions
    clock: Clock
    stop: StopEvent
    observer: Observer = field(default_factory=NullObserver)
    spool: SpoolChoice | None = None
    commands: tuple[str, ...] = ()
    retention: Retention | None = None
    directory: Path | None = None
    connecting: AbstractContextManager[object] = field(default_factory=nullcontext)
    _started_s: float | None = None
    _heard_s: float = 0.0
    _has_begun: bool = False
    _stayed_lost: bool = False

    def run(self) -> Path:
        """Record until the duration is over or the stop is set; return the recording's directory.

        A connection that is lost later is tried again until then.

        Raises:
            SourceError: the host could not be reached at all, or was lost and did not come back.
            StoreError: the disk refuses; what was recorded is kept.
        """
        with self.source, self._connect() as link:
            surveyed = survey_host(link, self.host, self._selectors)
            plan = self._plan(surveyed, link)
            manifest = self._manifest(surveyed)
            directory = recording_directory(
                self.out, self.host.name, self.options.phase, self.clock.wall_ns()
            )
            with RecordingWriter.create(directory, manifest) as writer:
                self.directory = directory
                self.observer.started(self.host.name, directory, manifest)
                missing_s = self._record(link, self._keeper(writer, surveyed), plan)
        if missing_s is not None:
            raise SourceError(
                self.host.name, f"{NEVER_CAME_BACK}: the last {format_duration(missing_s)} are missing"
            )
        return directory

    def _connect(self) -> AgentLink:
        with self.connecting:
            return AgentLink.open(self.source, choose_agent(self.source), self.clock)

    @property
    def _selectors(self) -> tuple[NodeosSelector, ...]:
        return self.options.selectors or self.host.nodeos

    def _plan(self, surveyed: HostSurvey, link: AgentLink) -> Plan:
        plan = sampling_plan(
            self._selectors, surveyed.survey.nodeos, self.options, allowed_commands(self.host)
        )
        if self.spool is None:
            return plan
        if self.spool.attach and self.spool.name is None:
            return replace(plan, spool=find_spool(link, self.spool.parent))
        name = self.spool.name or self.options.phase or ALWAYS_ON_SPOOL
        return replace(plan, spool=spool_path(name, self.spool.parent))

    def _keeper(self, writer: RecordingWriter, surveyed: HostSurvey) -> FrameKeeper:
        keeper = FrameKeeper(
            writer=writer,
            observer=self.observer,
            cost=CostMeter(agent=surveyed.agent),
            seal_every_s=self.options.seal_every_s,
            first_seal_s=self.options.seal_every_s * random.uniform(0.5, 1.0),  # noqa: S311 - spreads the work
            retention=self.retention,
            follows_spool=self.spool is not None,
            ingest=FrameIngest(boot_id=surveyed.survey.host.boot_id or None),
        )
        keeper.add_clock_offset(surveyed.offset)
        return keeper

    def _manifest(self, surveyed: HostSurvey) -> Recording:
        survey = surveyed.survey
        return Recording(
            host=survey.host,
            nodeos=survey.nodeos,
            topology=survey.topology,
            phase=self.options.phase,
            interval_s=self.options.interval_s,
            started_wall_ns=None,
            ended_wall_ns=None,
            transport=self.source.transport,
            cost=CostMeter(agent=surveyed.agent).total(),
            clock_offsets=(surveyed.offset,),
            findings=surveyed.findings,
            denied=survey.denied,
            absent=survey.absent,
            commands=self.commands,
            notes={"leapprof": __version__},
        )

    def _record(self, link: AgentLink, keeper: FrameKeeper, plan: Plan) -> float | None:
        """Record to the end; return the seconds that a host is missing at the end of what was asked for."""
        try:
            self._sample_until_over(link, keeper, plan)
        except StoreError:
            raise  # nothing more can be written; the journal holds what was kept
        except BaseException:
            keeper.finish()
            raise
        missing_s = self._missing_s()
        if missing_s is None:
            self._measure_clock_again(keeper)
            keeper.finish()
            return None
        keeper.finish(never_came_back(self.host.name, missing_s))
        return None if self.stop.is_set() else missing_s

    def _missing_s(self) -> float | None:
        """Return how long before the end the last sample of a host came that did not come back; None of others."""
        over_s = self.clock.monotonic_s()
        if self.options.duration_s is not None and self._started_s is not None:
            over_s = min(over_s, self._started_s + self.options.duration_s)
        missing_s = over_s - self._heard_s
        is_missing = self._stayed_lost and missing_s > SILENCE_INTERVALS * self.options.interval_s
        return missing_s if is_missing else None

    def _sample_until_over(self, link: AgentLink, keeper: FrameKeeper, plan: Plan) -> None:
        current: AgentLink | None = link
        while current is not None:
            try:
                with current:
                    self._begin(current, keeper, plan)
                    self._sample(current, keeper)
                    self._end(current, keeper, plan)
                    return
            except SourceError as error:
                keeper.lost(error.problem)
                self.observer.trouble(self.host.name, error.problem)
                current = self._reconnect(keeper, plan)

    def _begin(self, link: AgentLink, keeper: FrameKeeper, plan: Plan) -> None:
        keeper.new_run()
        if self.spool is None:
            link.send(encode_plan(plan))
        else:
            attach = self.spool.attach or self._started_s is not None or self._left_a_sampler(link, plan)
            self._has_begun = True
            spooling.begin(link, plan, attach=attach, from_seq=keeper.held_seq)

    def _left_a_sampler(self, link: AgentLink, plan: Plan) -> bool:
        """Return whether a connection that was lost before the first sample has started the sampler."""
        return self._has_begun and plan.spool is not None and spooling.is_there(link, plan.spool)

    def _end(self, link: AgentLink, keeper: FrameKeeper, plan: Plan) -> None:
        """End the sampler; one with a spool goes on when the operator leaves before the duration is over."""
        if self.spool is None:
            self._keep(link, keeper, link.end())
        elif self.stop.is_set():
            self.observer.trouble(
                self.host.name,
                f"the sampler goes on into {plan.spool}; follow it with record --attach, end it with `leapprof agents`",
            )
        else:
            self._keep(link, keeper, link.end(STOP_MESSAGE))

    def _sample(self, link: AgentLink, keeper: FrameKeeper) -> None:
        self._heard_s = self.clock.monotonic_s()
        silence_s = max(SILENCE_S, SILENCE_INTERVALS * self.options.interval_s)
        while not self._is_over():
            self._keep(link, keeper, link.poll(POLL_S))
            if self.clock.monotonic_s() - self._heard_s > silence_s:
                raise SourceTimeoutError(self.host.name, "sample", silence_s)

    def _keep(self, link: AgentLink, keeper: FrameKeeper, frames: list[Frame]) -> None:
        keeper.count_wire(link.decoder)
        for frame in frames:
            self._heard_s = self.clock.monotonic_s()
            if self._started_s is None:
                self._started_s = self._heard_s
            keeper.keep(frame, self.clock.wall_ns())

    def _is_over(self) -> bool:
        if self.stop.is_set():
            return True
        if self.options.duration_s is None or self._started_s is None:
            return False
        return self.clock.monotonic_s() - self._started_s >= self.options.duration_s

    def _reconnect(self, keeper: FrameKeeper, plan: Plan) -> AgentLink | None:
        """Return a new agent, or None when the recording is over before the host answers."""
        for delay_s in delays(random.random):
            if self.stop.wait(delay_s) or self._is_over():
                self._stayed_lost = True
                return None
            try:
                return self._open_again(keeper, plan)
            except SourceError as error:
                self.observer.trouble(self.host.name, error.problem)
        return None

    def _open_again(self, keeper: FrameKeeper, plan: Plan) -> AgentLink | None:
        """Return a new agent; None when a spool's sampler has ended and all its frames are held."""
        self.source.close()
        link = self._connect()
        if plan.spool is not None and spooling.is_over(link, plan.spool, keeper.held_seq):
            link.close()
            return None
        return link

    def _measure_clock_again(self, keeper: FrameKeeper) -> None:
        """Ask a fresh agent for the clock: the one that sampled has ended."""
        try:
            with AgentLink.open(self.source, keeper.cost.agent, self.clock) as link:
                keeper.add_clock_offset(link.measure_clock())
        except SourceError as error:
            self.observer.trouble(self.host.name, f"clock not measured at the end: {error.problem}")

"""Samplers that outlive their connection: how a session starts, follows, finds again and ends one."""

from dataclasses import dataclass

from leapprof.agent.plan import Plan, encode_plan
from leapprof.agent.spool import SpoolStatus, attach_plan, list_plan, read_answer
from leapprof.errors import ConfigError
from leapprof.recorder.link import AgentLink


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolChoice:
    """What the operator asked of a spool.

    Attributes:
        parent: directory on the host that holds spools.
        attach: follow the one that is there instead of starting a sampler.
        name: of the spool; None: that of the phase, and any that is alone in its directory is followed.
    """

    parent: str
    attach: bool = False
    name: str | None = None


def list_spools(link: AgentLink, parent: str) -> tuple[SpoolStatus, ...]:
    """Return the spools in a directory of a host.

    Raises:
        SourceError: no answer.
        ParseError: an answer of another form.
    """
    return read_answer(link.ask_encoded(list_plan(parent)))


def find_spool(link: AgentLink, parent: str) -> str:
    """Return the path of the one spool that holds or will hold frames.

    Raises:
        ConfigError: there is none, or more than one.
    """
    held = [status.path for status in list_spools(link, parent) if status.alive or status.newest_seq]
    if len(held) == 1:
        return held[0]
    what = f"{len(held)} spools ({', '.join(held)})" if held else "no spool"
    raise ConfigError(
        f"{link.host} has {what} in {parent}: see `leapprof agents {link.host}`, clean up what is old",
        key="attach",
    )


def begin(link: AgentLink, plan: Plan, *, attach: bool, from_seq: int) -> None:
    """Start a sampler into its spool and follow it, or follow the one that is there."""
    assert plan.spool is not None
    link.send(attach_plan(plan.spool, from_seq) if attach else encode_plan(plan))


def is_there(link: AgentLink, path: str) -> bool:
    """Return whether a spool's sampler runs or has left samples."""
    status = _status(link, path)
    return status is not None and (status.alive or bool(status.newest_seq))


def is_over(link: AgentLink, path: str, held_seq: int) -> bool:
    """Return whether a spool's sampler has ended and all its frames are held."""
    status = _status(link, path)
    if status is None:
        return held_seq > 0  # else the connection was lost before the sampler began
    return not status.alive and (status.newest_seq or 0) <= held_seq


def _status(link: AgentLink, path: str) -> SpoolStatus | None:
    parent = path.rpartition("/")[0] or "/"
    return next((s for s in list_spools(link, parent) if s.path == path), None)

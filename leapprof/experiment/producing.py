"""Whether a nodeos produces blocks: then it is never restarted unless the playbook says so in words.

Source: /v1/chain/get_producer_schedule (chain_plugin, EOSIO 2.0 to Spring 1.2): ``active.producers[].producer_name``.
What cannot be read counts as producing.
"""

import json

from leapprof.config.playbook_schema import PRODUCING_WORDS, Playbook
from leapprof.errors import ConfigError, ParseError
from leapprof.experiment.observe import HostEye, Observation
from leapprof.ingest.chain import split_answer
from leapprof.model import Nodeos

SCHEDULE_PATH = "/v1/chain/get_producer_schedule"
_HTTP_OK = 200


def parse_schedule(text: str) -> frozenset[str]:
    """Return the names of the active producers.

    Args:
        text: section of the answer: a line ``<status> <elapsed_us> <server>``, then the body.

    Raises:
        ParseError: it is no such answer.
    """
    status, _, _, body = split_answer(text)
    if status != _HTTP_OK:
        raise ParseError("get_producer_schedule", "status 200", line=text)
    try:
        rows = json.loads(body)["active"]["producers"]
        return frozenset(str(row["producer_name"]) for row in rows)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ParseError("get_producer_schedule", "active.producers", line=body) from error


def producing_reason(nodeos: Nodeos, schedule: str | None) -> str | None:
    """Return why a nodeos counts as producing; None when it does not.

    Args:
        nodeos: as found, with the options of its config.
        schedule: section of the answer; None: it did not answer.
    """
    if not nodeos.options:
        return "its config.ini cannot be read, so it may be a producer"
    if "producer-name" not in nodeos.options:
        return None
    names = nodeos.options["producer-name"]
    try:
        active = parse_schedule(schedule) if schedule is not None else None
    except ParseError:
        active = None
    if active is None:
        return "it has a producer-name and the schedule cannot be read"
    if None in names:
        return "its producer-name cannot be read"
    scheduled = sorted(name for name in names if name and name.strip('"') in active)
    return f"{', '.join(scheduled)} is in the schedule" if scheduled else None


def refuse_if_producing(playbook: Playbook, eye: HostEye, seen: Observation) -> None:
    """Refuse to restart a producing nodeos, unless the playbook allows it in words.

    Raises:
        ConfigError: it produces, or may.
        SourceError: the host does not answer.
    """
    restart = playbook.restart
    if restart is None or seen.nodeos is None or restart.producing == PRODUCING_WORDS:
        return
    is_candidate = "producer-name" in seen.nodeos.options
    reason = producing_reason(seen.nodeos, eye.ask_http(seen.nodeos, SCHEDULE_PATH) if is_candidate else None)
    if reason is not None:
        raise ConfigError(
            f"is not restarted: {reason}; if that is meant, write `producing: {PRODUCING_WORDS}`",
            path=eye.host.name,
            key="restart.producing",
        )

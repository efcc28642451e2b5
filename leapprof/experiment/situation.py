"""Whether a nodeos is what a situation says. Pure."""

from leapprof.config.playbook_schema import Situation
from leapprof.experiment.observe import Observation
from leapprof.model import Nodeos
from leapprof.nodeos.versions import parse_version


def difference(found: Observation, wanted: Situation) -> str | None:
    """Return what is missing, as a sentence; None when nodeos runs and is what the situation says."""
    if found.others:
        return f"{len(found.others)} nodeos fit ({', '.join(found.others)}): say which with hosts.nodeos"
    if found.nodeos is None:
        return "nodeos to run"
    return _unlike(found, found.nodeos, wanted)


def _unlike(found: Observation, nodeos: Nodeos, wanted: Situation) -> str | None:
    if wanted.version and not is_version(nodeos.version, wanted.version):
        return f"version {wanted.version}, is {nodeos.version or 'not known yet'}"
    if wanted.map_mode and nodeos.map_mode != wanted.map_mode:
        return f"map mode {wanted.map_mode}, is {nodeos.map_mode or 'not known'}"
    if wanted.state_on and (found.state_filesystem == "tmpfs") is not (wanted.state_on == "tmpfs"):
        return f"the state on {wanted.state_on}, is on {found.state_filesystem or 'a filesystem that is not known'}"
    for name, value in wanted.options.items():
        values = nodeos.options.get(name, ())
        if value not in values:
            return f"{name} = {value}, is {values[0] if values and values[0] else 'not set'}"
    return None


def is_version(found: str | None, wanted: str) -> bool:
    """Return whether a version is the wanted one; ``leap-5.0`` is any 5.0."""
    if found is None or found == wanted:
        return found is not None
    try:
        have, want = parse_version(found), parse_version(wanted)
    except ValueError:
        return False
    return have.family == want.family and have.numbers[: len(want.numbers)] == want.numbers

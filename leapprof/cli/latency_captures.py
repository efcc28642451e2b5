"""`leapprof latency forward --captures IN OUT`: two captures → a recording."""

import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from leapprof.cli.latency_run import Common, busy_hosts, validity_text
from leapprof.errors import ConfigError, NotEnoughDataError
from leapprof.latency.blocks import Blocks
from leapprof.latency.captures import Matched, Seen, blocks_of, capture_findings, match, read_seen
from leapprof.latency.forward import PROBE
from leapprof.latency.machine import Moment
from leapprof.latency.served import ServedFacts, write_served
from leapprof.model import Finding
from leapprof.recorder.naming import check_phase, recording_directory
from leapprof.units import NS_PER_S, significant

_MOST_BLOCKS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturesChoice:
    """Which captures, and what of them.

    Attributes:
        before, behind: the relay.
        in_port, out_port: of the destination, in front of and behind the relay; None: all.
    """

    before: Path
    behind: Path
    in_port: int | None
    out_port: int | None


def run_captures(common: Common, choice: CapturesChoice) -> Path:
    """Match live traffic in two captures, write a recording and return its directory.

    Raises:
        ConfigError: an option has another form, or a capture cannot be read.
        ParseError: a capture is none.
        NotEnoughDataError: they have no packet in common.
    """
    check_phase(common.phase)
    before, behind = read_seen(choice.before, choice.in_port), read_seen(choice.behind, choice.out_port)
    matched = match(before, behind, common.timeout_s)
    if not matched.pairs:
        raise NotEnoughDataError(
            f"{before.name} and {behind.name}",
            f"none of {len(before.keys)} and {len(behind.keys)} payloads in common, within {common.timeout}",
            "captures of the same traffic, which the relay does not rewrite",
        )
    return _write(common, before, behind, matched)


def _write(common: Common, before: Seen, behind: Seen, matched: Matched) -> Path:
    block_s = max(round(common.block_s), 1)
    start_s = before.times_ns[0] // NS_PER_S
    blocks = Blocks(_at(start_s * NS_PER_S), block_s)
    target = before.destinations.most_common(1)[0][0]
    blocks_to_end = 1 + (before.times_ns[-1] // NS_PER_S - start_s) // block_s
    if blocks_to_end > _MOST_BLOCKS:
        raise ConfigError(
            f"{before.name} goes on for {blocks_to_end} of them; {_MOST_BLOCKS} are kept", key="--block"
        )
    end_s = start_s + block_s * blocks_to_end
    blocks_of(matched, target, blocks)
    busy = busy_hosts(common, before.times_ns[0], before.times_ns[-1])
    directory = recording_directory(common.out, common.region, common.phase or PROBE, start_s * NS_PER_S)
    write_served(
        ServedFacts(
            directory=directory,
            phase=common.phase,
            region=common.region,
            start_s=start_s,
            end_s=end_s,
            block_s=block_s,
            settings={
                "probe": PROBE,
                "target": target,
                "captures": f"{before.name}, {behind.name}",
                "timeout": f"{significant(common.timeout_s)} s",
            },
            notes={
                "latency_valid": _validity(common, busy),
                "latency_clock": "one wall clock: that of the machine that made both captures",
            },
            command=shlex.join(["leapprof", *sys.argv[1:]]),
            offset_s=None,
            wire_bytes=0,
            taken_wall_ns=time.time_ns(),
        ),
        (blocks.take_all(end_s * NS_PER_S),),
        (*capture_findings(before, behind, matched), *busy),
    )
    return directory


def _validity(common: Common, busy: list[Finding]) -> str:
    if not common.host_recordings:
        return "not known: captures do not say how busy their machine was; --host-recording does"
    return validity_text(is_busy=bool(busy))


def _at(wall_ns: int) -> Moment:
    """Return a moment of which only the wall clock is known."""
    return Moment(wall_ns, wall_ns, wall_ns)

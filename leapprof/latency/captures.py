"""The probe ``forward`` without packets of its own: live traffic in a capture before a relay and one behind it.

Packets are told by their payload, because a relay writes new headers. Both captures have to be made on one machine,
whose clock stamps both.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from leapprof.errors import NotEnoughDataError, ParseError, unreadable
from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.capture import CaptureFile
from leapprof.latency.datagram import datagram_of
from leapprof.latency.findings import Losses, loss_finding
from leapprof.latency.forward import PROBE, RELAYED
from leapprof.latency.wire import Failure
from leapprof.model import Evidence, Finding, Severity, evidence
from leapprof.units import NS_PER_S, significant

MOST_PACKETS = 5_000_000
_KEY_BYTES = 16


@dataclass(slots=True, kw_only=True)
class Seen:
    """The payloads of one capture, in the order of time.

    Attributes:
        name: of the file.
        times_ns: wall clock of each.
        keys: what tells payloads apart.
        destinations: where they went → how many.
        cut: payloads that the capture did not keep whole; they are left out.
        resolution_ns: smallest step of the stamps.
        is_cut: the file ends in the middle of a frame.
    """

    name: str
    times_ns: list[int] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    destinations: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    resolution_ns: int = 0
    is_cut: bool = False

    def by_key(self) -> dict[bytes, list[int]]:
        """Return key → positions, in the order of time."""
        found: dict[bytes, list[int]] = {}
        for position, key in enumerate(self.keys):
            found.setdefault(key, []).append(position)
        return found


def read_seen(path: Path, port: int | None) -> Seen:
    """Return the payloads of a capture.

    Args:
        path: of the file.
        port: of the destination; None: any.

    Raises:
        ConfigError: it cannot be read.
        ParseError: it is no capture, or damaged.
        NotEnoughDataError: it holds no payload of UDP or TCP, to this port.
    """
    seen = Seen(name=path.name)
    try:
        with path.open("rb") as stream:
            capture = CaptureFile(stream=stream, name=path.name)
            _fill(seen, capture, port)
    except OSError as error:
        raise unreadable(path, error) from error
    seen.resolution_ns, seen.is_cut = capture.resolution_ns, capture.is_cut
    if not seen.times_ns:
        what = f"packets to port {port}" if port else "packets"
        raise NotEnoughDataError(
            path.name,
            f"no whole {what} of UDP or TCP ({seen.cut} cut short)",
            "a capture of them: tcpdump -s 0",
        )
    order = sorted(range(len(seen.times_ns)), key=seen.times_ns.__getitem__)
    seen.times_ns = [seen.times_ns[i] for i in order]
    seen.keys = [seen.keys[i] for i in order]
    return seen


def _fill(seen: Seen, capture: CaptureFile, port: int | None) -> None:
    for frame in capture.frames():
        datagram = datagram_of(frame.link_type, frame.data)
        if datagram is None or (port is not None and datagram.port != port):
            continue
        if not datagram.is_whole:
            seen.cut += 1
            continue
        if len(seen.times_ns) >= MOST_PACKETS:
            raise ParseError("capture", f"at most {MOST_PACKETS} packets in {seen.name}")
        seen.times_ns.append(frame.wall_ns)
        seen.keys.append(blake2b(datagram.payload, digest_size=_KEY_BYTES).digest())
        seen.destinations[f"{datagram.destination} {datagram.transport}"] += 1


@dataclass(slots=True, kw_only=True)
class Matched:
    """What became of the packets that went in.

    Attributes:
        pairs: went in, came out; wall clock, in the order of coming out.
        lost: when those went in that did not come out within the time-out.
        duplicates: came out more often than they went in.
        reordered: came out after one that went in later.
        ambiguous: of a payload that was sent several times, and came out another number of times: in no delay.
        outside: went in after the last that came out: nobody knows whether they were lost.
        unknown: came out and never went in.
        backwards: came out before they went in.
    """

    pairs: list[tuple[int, int]] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    duplicates: int = 0
    reordered: int = 0
    ambiguous: int = 0
    outside: int = 0
    unknown: int = 0
    backwards: int = 0


def match(before: Seen, behind: Seen, timeout_s: float) -> Matched:
    """Return which packet that went in is which that came out.

    Of a packet that went in after the last that came out, and of one that came out before the first that went in, the
    other half may lie outside of the captures: they are counted apart.

    Args:
        before: seen in front of the relay.
        behind: seen behind it.
        timeout_s: after which a packet is lost.
    """
    went, came = before.by_key(), behind.by_key()
    found = Matched()
    for key, positions in went.items():
        ins = [before.times_ns[i] for i in positions]
        outs = [behind.times_ns[i] for i in came.get(key, ())]
        _match_one(found, ins, outs, round(timeout_s * NS_PER_S))
    found.pairs.sort(key=lambda pair: pair[1])
    found.reordered = _reordered(found.pairs)
    if found.pairs:
        last_ns, first_ns = max(went_ns for went_ns, _ in found.pairs), found.pairs[0][1]
        found.outside = sum(t > last_ns for t in found.lost)
        found.lost = [t for t in found.lost if t <= last_ns]
        strangers = (behind.times_ns[i] for key, at in came.items() if key not in went for i in at)
        found.unknown = sum(t >= first_ns for t in strangers)
    return found


def _match_one(found: Matched, ins: list[int], outs: list[int], timeout_ns: int) -> None:
    """Match what went in and came out with one payload."""
    missing = len(ins) - len(outs)
    found.duplicates += max(-missing, 0)
    if missing and len(ins) > 1:
        found.ambiguous += len(ins) if outs else 0
        found.lost += ins[: max(missing, 0)]
    elif missing > 0:
        found.lost += ins
    else:
        _pair(found, ins, outs, timeout_ns)


def _pair(found: Matched, ins: list[int], outs: list[int], timeout_ns: int) -> None:
    for went_ns, came_ns in zip(ins, outs, strict=False):
        if came_ns - went_ns > timeout_ns:
            found.lost.append(went_ns)
        elif came_ns < went_ns:
            found.backwards += 1
        else:
            found.pairs.append((went_ns, came_ns))


def _reordered(pairs: list[tuple[int, int]]) -> int:
    latest_ns = count = 0
    for went_ns, _ in pairs:
        count += went_ns < latest_ns
        latest_ns = max(latest_ns, went_ns)
    return count


def blocks_of(matched: Matched, target: str, blocks: Blocks) -> None:
    """Put delays and losses into blocks of time, by when the packets went in."""
    subject = Subject(probe=PROBE, operation=RELAYED, target=target)
    for went_ns, came_ns in matched.pairs:
        blocks.succeeded(subject, went_ns, came_ns - went_ns)
    for went_ns in matched.lost:
        blocks.failed(subject, went_ns, Failure.LOST)


def capture_findings(before: Seen, behind: Seen, matched: Matched) -> Iterator[Finding]:
    """Yield what limits what two captures tell."""
    losses = Losses(
        packets=len(matched.pairs) + len(matched.lost),
        lost=len(matched.lost),
        reordered=matched.reordered,
        repeated=matched.duplicates,
    )
    if (found := loss_finding(losses, capture=behind.name)) is not None:
        yield found
    if matched.backwards:
        yield Finding(
            code="latency-captures-of-two-clocks",
            severity=Severity.WARNING,
            message=f"{matched.backwards} packets came out before they went in; they are in no delay.",
            hint="Make both captures on one machine, and name the one in front of the relay first.",
            evidence=evidence("count", packets=matched.backwards),
        )
    yield from _doubts(before, behind, matched)
    resolution_ns = max(before.resolution_ns, behind.resolution_ns)
    yield Finding(
        code="latency-floor",
        severity=Severity.INFO,
        message=f"The stamps of the captures are steps of {significant(resolution_ns / 1000)} µs: differences below it "
        "are not resolved.",
        hint="tcpdump --time-stamp-precision=nano keeps nanoseconds.",
        evidence=evidence("s", step=resolution_ns / NS_PER_S),
    )


def _doubts(before: Seen, behind: Seen, matched: Matched) -> Iterator[Finding]:
    doubts = (
        (
            matched.ambiguous,
            "have a payload that was sent several times and came out another number of times",
        ),
        (matched.outside, "went in after the last that came out"),
        (matched.unknown, "came out and were not seen going in"),
        (before.cut + behind.cut, "were not kept whole by the capture"),
    )
    said = [f"{count} {what}" for count, what in doubts if count]
    said += [f"{one.name} ends in the middle of a packet" for one in (before, behind) if one.is_cut]
    if said:
        yield Finding(
            code="latency-packets-unmatched",
            severity=Severity.INFO,
            message=f"Packets in no delay: {'; '.join(said)}.",
            hint="Capture with -s 0 and a filter for the one flow; network cards join segments of TCP unless "
            "ethtool -K … gro off gso off tso off.",
            evidence=tuple(Evidence(name=what, value=count, unit="count") for count, what in doubts if count),
        )

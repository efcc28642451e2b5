"""A histogram of delays that keeps three significant digits from a nanosecond to a century.

The buckets are those of HdrHistogram (Tene, hdrhistogram.org) with three digits: 2048 of width 1, then 1024 for each
doubling, so that a bucket is at most 1/1024 of its value wide. Written here in a few lines because the package needs a
compiled extension; the coded form is our own and described at ``encode``.
"""

import base64
import binascii
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from leapprof.errors import ParseError

_HALF_BITS = 10
_HALF = 1 << _HALF_BITS
LARGEST = 2**62
"""A delay above this (146 years in nanoseconds) is kept as this."""
_LAST_INDEX = (62 - _HALF_BITS) * _HALF + _HALF
_MOST_CODED_CHARS = 2**22
_MOST_CODED_BYTES = 2**22
_MOST_VARINT_BYTES = 10


def bucket_of(value: int) -> int:
    """Return the number of the bucket that holds a value; below 0 counts as 0."""
    kept = min(max(value, 0), LARGEST)
    shift = max(kept.bit_length() - _HALF_BITS - 1, 0)
    return shift * _HALF + (kept >> shift)


def bounds_of(bucket: int) -> tuple[int, int]:
    """Return the lowest value of a bucket and the lowest beyond it."""
    shift = max(bucket // _HALF - 1, 0)
    low = (bucket - shift * _HALF) << shift
    return low, low + (1 << shift)


@dataclass(slots=True, kw_only=True)
class LogLinear:
    """Counts by bucket. Grows while it records; a frozen one would copy 2,000 counts a request.

    Attributes:
        counts: bucket → number of values.
    """

    counts: dict[int, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Return the number of values."""
        return sum(self.counts.values())

    def record(self, value: int) -> None:
        """Count one value."""
        bucket = bucket_of(value)
        self.counts[bucket] = self.counts.get(bucket, 0) + 1

    def quantile_bucket(self, probability: float) -> int | None:
        """Return the bucket of the smallest value that at least this share of all does not exceed; None when empty."""
        left = probability * self.total - 1e-9
        last = None
        for bucket in sorted(self.counts):
            last = bucket
            left -= self.counts[bucket]
            if left <= 0:
                return bucket
        return last

    def quantile(self, probability: float) -> float | None:
        """Return a quantile: the middle of its bucket, within 0.05 %; None when empty."""
        bucket = self.quantile_bucket(probability)
        return None if bucket is None else middle_of(bucket)

    def count_up_to(self, bucket: int) -> int:
        """Return how many values lie in this bucket or below it."""
        return sum(count for at, count in self.counts.items() if at <= bucket)

    def encode(self) -> str:
        """Return the histogram as text: base64 of zlib of varints, a pair (bucket minus the one before, count) each."""
        out = bytearray()
        before = 0
        for bucket in sorted(self.counts):
            out += _varint(bucket - before) + _varint(self.counts[bucket])
            before = bucket
        return base64.b64encode(zlib.compress(bytes(out), 6)).decode("ascii")


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """Where the buckets of a histogram end: our own narrow ones, or those of a service.

    Attributes:
        bounds: upper ends of a service's buckets, increasing; empty for our own. A service's counts are kept at the
            upper ends of their buckets, and those beyond all at LARGEST.
    """

    bounds: tuple[int, ...] = ()

    def edges(self, bucket: int) -> tuple[int, int | None]:
        """Return between which values the counts of a bucket lie; no upper one beyond all bounds."""
        if not self.bounds:
            return bounds_of(bucket)
        at = next((i for i, bound in enumerate(self.bounds) if bucket_of(bound) >= bucket), len(self.bounds))
        low = self.bounds[at - 1] if at else 0
        return low, self.bounds[at] if at < len(self.bounds) else None

    def quantile(self, whole: LogLinear, probability: float) -> float | None:
        """Return a quantile; inside a service's bucket interpolated, beyond all bounds the last one."""
        bucket = whole.quantile_bucket(probability)
        if not self.bounds or bucket is None:
            return whole.quantile(probability)
        low, high = self.edges(bucket)
        if high is None:
            return float(low)
        below = whole.count_up_to(bucket - 1)
        return low + (high - low) * (probability * whole.total - below) / whole.counts[bucket]


def middle_of(bucket: int) -> float:
    """Return the middle of a bucket; of one that holds a single value, that value."""
    low, beyond = bounds_of(bucket)
    return (low + beyond - 1) / 2


def merged(parts: Iterable[Mapping[int, int]]) -> LogLinear:
    """Return the histogram of all parts together: quantiles over a whole run are those of its requests."""
    counts: dict[int, int] = {}
    for part in parts:
        for bucket, count in part.items():
            counts[bucket] = counts.get(bucket, 0) + count
    return LogLinear(counts=counts)


def decode(text: str) -> LogLinear:
    """Return the histogram that ``encode`` wrote.

    Raises:
        ParseError: it is no such text, or larger than one can be.
    """
    numbers = _varints(_unpacked(text))
    if len(numbers) % 2:
        raise _damaged(text)
    counts: dict[int, int] = {}
    bucket = 0
    for step, count in zip(numbers[::2], numbers[1::2], strict=True):
        bucket += step
        if bucket > _LAST_INDEX or bucket in counts or count == 0:
            raise _damaged(text)
        counts[bucket] = count
    return LogLinear(counts=counts)


def _damaged(text: str) -> ParseError:
    return ParseError("histogram", "a coded histogram of leapprof", line=text)


def _unpacked(text: str) -> bytes:
    if len(text) > _MOST_CODED_CHARS:
        raise _damaged(text[:80])
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text, validate=True), _MOST_CODED_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise _damaged(text) from error
    if not unpacker.eof:
        raise _damaged(text)
    return data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _varints(data: bytes) -> list[int]:
    numbers: list[int] = []
    number = places = 0
    for byte in data:
        number |= (byte & 0x7F) << 7 * places
        places += 1
        if byte & 0x80:
            if places >= _MOST_VARINT_BYTES:
                raise _damaged("")
            continue
        numbers.append(number)
        number = places = 0
    if places:
        raise _damaged("")
    return numbers

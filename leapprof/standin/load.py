"""The load: blocks twice a second, each with transactions that dirty pages of the state.

A row dirties its own page and that of an index node beside it (chainbase keeps rows in red-black trees,
whose neighbours lie anywhere in the file). Pages are scattered by a multiplication, so that hot ones are not
neighbours. The load is the same for the same seed, whatever the map mode.
"""

import hashlib
import math
import random
from dataclasses import dataclass

from leapprof.standin.options import Options
from leapprof.standin.state import State

BLOCK_INTERVAL_S = 0.5
_PAGES_PER_ROW = 2
_SCATTER = 2_654_435_761  # Knuth's multiplicative hash; prime, hence coprime to any page count below it
_WORK_CHUNK_BYTES = 64 * 1024
_HEADER_BYTES = 200
_TRANSACTION_BYTES = 120
_NORMAL_FROM = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One applied block: its number, id (64 hex digits), transactions, bytes, billed CPU time."""

    number: int
    block_id: str
    transactions: int
    body: bytes
    cpu_us: int


def poisson(generator: random.Random, mean: float) -> int:
    """Draw a Poisson number; above 100 the rounded normal is near enough (Knuth's way would underflow)."""
    if mean > _NORMAL_FROM:
        return max(0, round(generator.gauss(mean, math.sqrt(mean))))
    limit, product, count = math.exp(-mean), generator.random(), 0
    while product > limit:
        product *= generator.random()
        count += 1
    return count


class Load:
    """Applies blocks to a state."""

    def __init__(self, options: Options, state: State) -> None:
        """Prepare the generator; nothing is touched before the first block."""
        self._options, self._state = options, state
        self._random = random.Random(options.seed)  # noqa: S311 - a load, not a secret
        self._work = bytes(_WORK_CHUNK_BYTES)
        self._grown_bytes = 0.0

    def page(self) -> int:
        """Choose a page (from 1): with hot_probability a hot one, else any used one."""
        used = self._state.used_pages
        hot = max(1, int(used * self._options.hot_share))
        below = hot if self._random.random() < self._options.hot_probability else used
        return 1 + self._random.randrange(below) * _SCATTER % used

    def apply_block(self) -> Block:
        """Apply one block's transactions to the state, and return the block."""
        options, counts = self._options, self._state.counts
        transactions = poisson(self._random, options.transactions_per_s * BLOCK_INTERVAL_S)
        for _ in range(transactions):
            self._apply_transaction()
        self._grow()
        counts.head_block += 1
        counts.transactions += transactions
        return self._block(counts.head_block, transactions)

    def _apply_transaction(self) -> None:
        options = self._options
        digest = hashlib.sha256()
        for _ in range(options.work_kib_per_transaction * 1024 // _WORK_CHUNK_BYTES):
            digest.update(self._work)
        stamp = digest.digest() + self._random.randbytes(32)
        for _ in range(options.rows_per_transaction * _PAGES_PER_ROW):
            self._state.touch(self.page(), stamp)

    def _grow(self) -> None:
        self._grown_bytes += self._options.growth_kib_per_s * 1024 * BLOCK_INTERVAL_S
        if self._grown_bytes >= 1:
            self._state.fill(self._state.counts.used_bytes + int(self._grown_bytes) // 4096 * 4096)
            self._grown_bytes -= int(self._grown_bytes) // 4096 * 4096

    def _block(self, number: int, transactions: int) -> Block:
        body = self._random.randbytes(_HEADER_BYTES + transactions * _TRANSACTION_BYTES)
        block_id = f"{number:08x}" + hashlib.sha256(body).hexdigest()[8:]
        cpu_us = transactions * (100 + self._options.rows_per_transaction)
        return Block(number=number, block_id=block_id, transactions=transactions, body=body, cpu_us=cpu_us)

"""Tests of leapprof.standin.load."""

import random
import statistics

import pytest

from leapprof.standin.load import Load, poisson
from leapprof.standin.options import read_options
from leapprof.standin.state import open_state


@pytest.fixture
def make(tmp_path):
    """Return a maker of loads on a state of 4 MiB; the states are closed at the end."""
    states = []

    def load(*arguments):
        options = read_options(["--data-dir", str(tmp_path), "--chain-state-db-size-mb", "8", *arguments])
        state = open_state(
            options.state_dir, options.map_mode, options.state_size_mb, options.advice, fresh=True
        )
        state.fill(4 * 2**20)
        states.append((state, options))
        return Load(options, state), state

    yield load
    for state, options in states:
        state.close(options.write_back, lambda done: None)


@pytest.mark.parametrize("mean", [0.5, 6.5, 400.0])
def test_the_number_of_transactions_has_the_asked_mean_and_variance(mean):
    """Poisson: the variance is the mean, below and above the change of method."""
    generator = random.Random(7)
    drawn = [poisson(generator, mean) for _ in range(4000)]
    assert statistics.fmean(drawn) == pytest.approx(mean, rel=0.06)
    assert statistics.variance(drawn) == pytest.approx(mean, rel=0.15)


def test_no_rate_means_no_transactions():
    """A rate of 0 is a chain of empty blocks."""
    assert poisson(random.Random(1), 0.0) == 0


def test_hot_pages_take_the_asked_share(make):
    """With probability 0.8 one of the hot fifth, else any: 84 % of the touches fall on 20 % of the pages."""
    load, state = make("--hot-share", "0.2", "--hot-probability", "0.8")
    seen = {}
    for _ in range(50_000):
        page = load.page()
        seen[page] = seen.get(page, 0) + 1
    assert all(1 <= page <= state.used_pages for page in seen)
    hottest = sorted(seen.values(), reverse=True)[: state.used_pages // 5]
    assert sum(hottest) / 50_000 == pytest.approx(0.84, abs=0.03)


def test_a_block_counts_up_and_carries_its_transactions(make):
    """Head block, transactions and the block's body agree."""
    load, state = make("--transactions-per-s", "40", "--work-kib-per-transaction", "64")
    first, second = load.apply_block(), load.apply_block()
    assert (first.number, second.number, state.counts.head_block) == (1, 2, 2)
    assert state.counts.transactions == first.transactions + second.transactions > 0
    assert len(first.block_id) == 64
    assert len(first.body) == 200 + 120 * first.transactions


def test_the_load_is_the_same_for_the_same_seed(make, tmp_path):
    """Two phases meet the same transactions."""
    first = make("--seed", "5")[0]
    blocks = [first.apply_block().transactions for _ in range(5)]
    pages = [first.page() for _ in range(50)]
    second = make("--seed", "5", "--state-dir", "other")[0]
    assert [second.apply_block().transactions for _ in range(5)] == blocks
    assert [second.page() for _ in range(50)] == pages


def test_the_state_grows_at_the_asked_rate(make):
    """8 KiB a second are two pages after two blocks."""
    load, state = make("--growth-kib-per-s", "8", "--transactions-per-s", "0")
    before = state.used_pages
    load.apply_block()
    load.apply_block()
    assert state.used_pages == before + 2

"""How many peers a host would carry."""

import pytest

from leapprof.assess.headroom import Projection
from leapprof.model import Effect, Interval
from tests.support.sample_comparisons import comparison

PUBLISHED = Projection(cpu_percent=Effect(value=60.0, ci95=None), peers=Interval(low=180.0, high=195.0))


def test_the_published_case_comes_out():
    """60 % at 180 to 195 peers reaches 85 % at 255 to 276."""
    room = PUBLISHED.clients_at(85.0)
    assert (room.low, room.high) == pytest.approx((255, 276), abs=0.5)


def test_what_a_number_of_peers_would_bring():
    """250 run at 77 to 83 %, 300 at 92 to 100 %: above where the published node started."""
    for clients, expected in ((250, (77, 83)), (300, (92, 100))):
        found = PUBLISHED.percent_at(clients)
        assert (found.low, found.high) == pytest.approx(expected, abs=0.4)


def test_no_number_of_peers_makes_a_host_busier_than_wholly():
    """600 peers would want twice what there is."""
    assert PUBLISHED.percent_at(600) == Interval(low=100.0, high=100.0)


def test_uncertain_cpu_widens_the_interval():
    """Both parts count, by squares."""
    wide = Projection(
        cpu_percent=Effect(value=60.0, ci95=Interval(low=57.0, high=63.0)),
        peers=Interval(low=180.0, high=195.0),
    )
    assert wide.share == pytest.approx((0.04**2 + 0.05**2) ** 0.5)


def test_a_cpu_that_may_not_have_fallen_leaves_no_room_that_could_be_named():
    """6.39 % and 6.38 % are one level; 85 % and 60 % are two."""
    assert comparison("nodeos-v5-long").headroom is None
    room = comparison("eosphere-cpu").headroom
    assert room is not None
    assert (room.clients.low, room.clients.high) == pytest.approx((252, 275), abs=1)

"""A nodeos in a container with its own network is asked at the container's address."""

from hypothesis import given
from hypothesis import strategies as st

from leapprof.ingest.container_net import local_addresses, questions_of, with_container_address
from leapprof.model import Nodeos

TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.1
           /32 host LOCAL
     +-- 172.17.0.0/16 2 0 2
        |-- 172.17.0.0
           /16 link UNICAST
        |-- 172.17.0.2
           /32 host LOCAL
        |-- 172.17.255.255
           /32 link BROADCAST
"""
PATH = "/proc/7/net/fib_trie"


def nodeos(**changes: object) -> Nodeos:
    """Return a nodeos in a container."""
    known: dict = {"id": "eos", "pid": 7, "start_ticks": 1, "container": "docker 0123456789ab"}
    return Nodeos(**(known | {"http_address": "127.0.0.1:8890"} | changes))


def test_the_containers_address_is_found() -> None:
    """Neither the loopback, nor networks, nor broadcast addresses."""
    assert local_addresses(TRIE) == ("172.17.0.2",)


def test_only_a_container_is_asked_for_it() -> None:
    """On the host itself the loopback is right."""
    assert [q.path for q in questions_of(nodeos())] == [PATH]
    assert questions_of(nodeos(container=None)) == ()
    assert with_container_address(nodeos(container=None), None, {PATH: TRIE}).http_address == "127.0.0.1:8890"


def test_who_does_not_answer_on_the_loopback_is_asked_there() -> None:
    """With the port of its config, or nodeos's default."""
    assert with_container_address(nodeos(), None, {PATH: TRIE}).http_address == "172.17.0.2:8890"
    assert (
        with_container_address(nodeos(http_address=None), None, {PATH: TRIE}).http_address
        == "172.17.0.2:8888"
    )
    assert with_container_address(nodeos(), None, {}).http_address == "127.0.0.1:8890"


def test_the_address_that_answered_stays() -> None:
    """A published port on the loopback, or the container's own."""
    for address in ("127.0.0.1:8890", "172.17.0.2:8890"):
        before = nodeos(http_address=address)
        assert with_container_address(nodeos(version="v5.0.3"), before, {PATH: TRIE}).http_address == address


@given(st.text(max_size=300) | st.lists(st.sampled_from(TRIE.split("\n"))).map("\n".join))
def test_any_text_gives_addresses_or_none(text: str) -> None:
    """No exception comes out."""
    local_addresses(text)

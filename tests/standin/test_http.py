"""Tests of leapprof.standin.http."""

import json
import socket

import pytest

from leapprof.errors import ConfigError
from leapprof.standin.http import API, API_WITH_METRICS, OLD_EXPORTER, HttpServer, Status

STATUS = Status(
    version="v5.0.3",
    head_block=12,
    head_id="0000000c" + "0" * 56,
    head_time_ns=500_000_000,
    size_bytes=1000,
    used_bytes=300,
    transactions=5,
    blocks=2,
    cpu_us=900,
)


@pytest.fixture
def ask():
    """Return a function that starts a server and asks it once."""
    servers = []

    def get(path, handlers=API_WITH_METRICS, request=None):
        server = HttpServer("127.0.0.1:0", handlers, lambda: STATUS)
        servers.append(server)
        host, _, port = server.address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=60) as client:
            client.sendall(
                request if request is not None else f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
            )
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        return head.decode(), body

    yield get
    for server in servers:
        server.close()


def test_get_info_has_the_fields_that_are_read(ask):
    """Version, head block and its time are those of the status; the header names the stand-in."""
    head, body = ask("/v1/chain/get_info")
    info = json.loads(body)
    assert head.startswith("HTTP/1.1 200 OK\r\nServer: leapprof-standin/v5.0.3\r\n")
    assert (info["server_version_string"], info["head_block_num"]) == ("v5.0.3", 12)
    assert (info["last_irreversible_block_num"], info["head_block_time"]) == (10, "1970-01-01T00:00:00.500")


def test_db_size_adds_up(ask):
    """Used and free are the size."""
    size = json.loads(ask("/v1/db_size/get")[1])
    assert (size["used_bytes"], size["free_bytes"], size["size"]) == (300, 700, 1000)


def test_metrics_have_the_names_of_leap_5(ask):
    """Names carry the prefix, counters are those of the status."""
    lines = ask("/v1/prometheus/metrics")[1].decode().splitlines()
    assert "nodeos_head_block_num 12" in lines
    assert "nodeos_trxs_incoming_total 5" in lines
    assert 'nodeos_cpu_usage_us_total{block_type="incoming"} 900' in lines


def test_the_exporter_of_leap_4_has_names_without_prefix(ask):
    """The older address answers with the older names."""
    assert "head_block_num 12" in ask("/v1/prometheus/metrics", OLD_EXPORTER)[1].decode().splitlines()


@pytest.mark.parametrize(
    ("path", "handlers"), [("/v1/other", API_WITH_METRICS), ("/v1/prometheus/metrics", API)]
)
def test_any_other_path_is_not_found(ask, path, handlers):
    """What is not served is a 404."""
    assert ask(path, handlers)[0].startswith("HTTP/1.1 404")


def test_rubbish_is_answered_and_the_server_lives_on(ask):
    """A request that is none gets a 404, not a dead thread."""
    assert ask("", request=b"\x00\xff rubbish\r\n\r\n")[0].startswith("HTTP/1.1 404")
    assert ask("/v1/chain/get_info")[0].startswith("HTTP/1.1 200")


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:", "127.0.0.1:99999", "203.0.113.7:80"])
def test_an_address_that_cannot_be_used_is_a_config_error(address):
    """The program ends with a sentence instead of running without an API."""
    with pytest.raises(ConfigError):
        HttpServer(address, API, lambda: STATUS)

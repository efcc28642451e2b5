"""The HTTP client of the probes: whole answers, and a clear error within the time-out from every bad endpoint."""

import socket
import ssl
import time

import pytest

from leapprof.errors import SourceError
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.http import HttpConnection
from leapprof.latency.request import check, request_of
from leapprof.latency.wire import Deadline, Failure, ProbeError, resolve
from tests.support.servers import OK, DelayedApi, read_request, serving, silent

TIMEOUT_S = 30.0
SHORT_S = 0.4  # to be waited for
GET_INFO = request_of("get_info", None)


def ask(port, count=1, *, tls=False, timeout_s=TIMEOUT_S):
    """Ask a server on loopback that often over one connection; return the answers."""
    endpoint = Endpoint(host="127.0.0.1", port=port, tls=tls)
    context = ssl.create_default_context() if tls else None
    with HttpConnection(endpoint, resolve(endpoint)[0], context) as connection:
        return [connection.ask(GET_INFO.encoded(endpoint), Deadline.after(timeout_s)) for _ in range(count)]


def answering(answer, *, then_wait=False):
    """Return a server that sends these bytes to whoever asks."""

    def serve(connection):
        read_request(connection, b"")
        connection.sendall(answer)
        if then_wait:
            connection.recv(1)

    return serve


def dripping(connection):
    """Send a well-formed head, then a byte now and then for ever."""
    read_request(connection, b"")
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.02)


def endless(connection):
    """Send a body that never ends, as fast as it is taken."""
    read_request(connection, b"")
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65536)


def endless_head(connection):
    """Send header lines for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X-More: " + b"y" * 8000 + b"\r\n")


def test_answers_come_over_one_kept_connection():
    """Three questions, one connection, bodies whole."""
    api = DelayedApi()
    with serving(api) as port:
        answers = ask(port, 3)
    assert [a.status for a in answers] == [200] * 3
    assert answers[0].server == "test/1"
    assert api.asked == [(b"/v1/chain/get_info", b"{}")] * 3


def test_a_chunked_answer_is_put_together():
    """As nodeos 5 sends large ones (RFC 9112, 7.1)."""
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"
    with serving(answering(chunked, then_wait=True)) as port:
        assert ask(port)[0].body == b"abcdefg"


def test_an_answer_without_length_ends_with_the_connection():
    """HTTP/1.0 servers do so."""
    with serving(answering(b"HTTP/1.0 200 OK\r\n\r\nall of it")) as port:
        assert ask(port)[0].body == b"all of it"


def test_a_connection_that_the_server_closed_in_between_is_made_again():
    """One answer a connection, without saying so."""
    with serving(answering(OK)) as port:
        assert [a.status for a in ask(port, 3)] == [200] * 3


@pytest.mark.parametrize(
    ("serve", "failure", "said"),
    [
        (silent, Failure.TIMEOUT, "no whole answer within 0.4 s"),
        (dripping, Failure.TIMEOUT, "no whole answer within 0.4 s"),
        (endless_head, Failure.TOO_LARGE, "head of the answer is over"),
        (answering(b"SSH-2.0-OpenSSH_9.2\r\n"), Failure.PROTOCOL, "no HTTP: 'SSH-2.0"),
        (answering(b"\x00\xff\xfe garbage\x1b[2J"), Failure.PROTOCOL, r"no HTTP: '\\x00"),
        (answering(b"\x15\x03\x01\x00\x02\x02\x46"), Failure.TLS, "write https://"),
        (answering(b"HTTP/1.1 two OK\r\n\r\n"), Failure.PROTOCOL, "no HTTP"),
        (answering(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), Failure.PROTOCOL, "Content-Length"),
        (answering(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"), Failure.TOO_LARGE, "over"),
        (answering(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), Failure.CLOSED, "within an answer"),
        (
            answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            Failure.PROTOCOL,
            "chunks",
        ),
        (lambda connection: None, Failure.CLOSED, "closed|lost"),
    ],
)
def test_a_bad_endpoint_gives_a_clear_error_within_the_time_out(serve, failure, said):
    """Silent, dripping, endless, foreign, garbage, torn."""
    began_s = time.monotonic()
    with serving(serve) as port, pytest.raises(ProbeError, match=said) as caught:
        ask(port, timeout_s=SHORT_S if failure is Failure.TIMEOUT else TIMEOUT_S)
    assert caught.value.failure is failure
    assert time.monotonic() - began_s < 20


def test_an_endless_body_is_cut_at_its_largest_size():
    """However fast it comes, it ends at 16 MiB or at the time-out."""
    with serving(endless) as port, pytest.raises(ProbeError) as caught:
        ask(port, timeout_s=5.0)
    assert caught.value.failure in {Failure.TOO_LARGE, Failure.TIMEOUT}


def test_plain_http_asked_by_tls_is_a_tls_error():
    """It answers the handshake with an HTTP error, or not at all."""
    bad = b"HTTP/1.1 400 Bad Request\r\n\r\n"

    def serve(connection):
        connection.recv(4096)
        connection.sendall(bad)

    with serving(serve) as port, pytest.raises(ProbeError, match="TLS") as caught:
        ask(port, tls=True)
    assert caught.value.failure is Failure.TLS


def test_nothing_listening_is_refused():
    """A port that was just closed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(SourceError, match=r"127\.0\.0\.1:\d+: 127\.0\.0\.1: the connection was refused"):
        check(Endpoint(host="127.0.0.1", port=port), (GET_INFO,), TIMEOUT_S)


def test_an_api_that_answers_with_an_error_ends_the_run_before_it_begins():
    """The status and what was said of it, without control characters."""
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 8\r\n\r\nno\x1bthing"
    with (
        serving(answering(answer)) as port,
        pytest.raises(SourceError, match="/v1/chain/get_info is answered with status 404: no thing"),
    ):
        check(Endpoint(host="127.0.0.1", port=port), (GET_INFO,), TIMEOUT_S)

"""The probe of round trips: planted delays come back, and every way of not being reachable has its own word."""

import socket
import ssl
import statistics
import subprocess
import threading
import time

import pytest

from leapprof.analysis.log_linear import decode, merged
from leapprof.assess.load import load
from leapprof.errors import ConfigError, SourceError
from leapprof.latency.endpoint import Endpoint, parse_host_port, parse_url
from leapprof.latency.open_loop import Pace
from leapprof.latency.recording import RunFacts, recorded, start_in
from leapprof.latency.rtt import RttPlan, run, ways
from tests.support.servers import serving
from tests.support.slow_network import FAR, NEAR, in_slow_network, missing

BOTH = (socket.AF_INET, socket.AF_INET6)


def idle(connection):
    """Accept, and wait for the end."""
    connection.recv(1)


def probe(endpoint, directory, count=60, rate=60.0):
    """Run the probe; return the recording and what was left out."""
    found, findings = ways((endpoint,), BOTH, 2.0)
    pace = Pace(rate_per_s=rate, duration_s=60.0, warm_up_s=0.0, most=count, timeout_s=2.0)
    facts = RunFacts(
        directory=directory,
        phase="before",
        region="here",
        block_s=0.5,
        settings={},
        command="leapprof latency",
    )
    first = start_in(0.05)
    with recorded(facts, first) as writer:
        run(RttPlan(ways=found, pace=pace), writer, first.monotonic_ns)
    return load(directory), findings


def median_ns(recording):
    """Return the median over all blocks."""
    return merged(decode(t).counts for t in recording.table("latency").texts["histogram"]).quantile(0.5)


@pytest.mark.quiet
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_a_planted_delay_of_the_network_comes_back(tmp_path):
    """2.5 ms in each direction against none: the median round trip differs by what the network really held back."""

    def measured(name):
        def work(network):
            with serving(idle, NEAR) as port:
                recording, _ = probe(Endpoint(host=FAR, port=port), tmp_path / name)
            return median_ns(recording) / 1e9, 2 * statistics.median(network.held_s)

        return work

    floor_s, floor_held_s = in_slow_network(0.0, measured("null"))
    delayed_s, held_s = in_slow_network(0.0025, measured("delayed"))
    assert held_s > 0.005
    assert delayed_s - floor_s == pytest.approx(held_s - floor_held_s, abs=0.0002)


def test_both_families_are_subjects_of_their_own(tmp_path):
    """An IPv6 address is in brackets."""
    with serving(idle, "::1") as port:
        recording, _ = probe(parse_host_port(f"[::1]:{port}"), tmp_path / "rec", count=5)
    assert set(recording.table("latency").texts["operation"]) == {"tcp connect IPv6"}
    assert set(recording.table("latency").texts["target"]) == {f"[::1]:{port}"}
    assert int(recording.table("latency").integers["count"].values.sum()) == 5


def test_a_refused_connection_says_so():
    """Nothing listens on a port that was just closed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(SourceError, match="refused: nothing listens there"):
        ways((Endpoint(host="127.0.0.1", port=port),), BOTH, 1.0)


def test_a_filtered_port_is_a_time_out():
    """A full queue drops SYN as a packet filter does."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fill = [socket.socket() for _ in range(4)]
        for sock in fill:
            sock.setblocking(False)
            sock.connect_ex(address)
        with pytest.raises(
            SourceError, match=r"no TCP connection \(filtered, or the host is down\) within 0.3 s"
        ):
            ways((Endpoint(host="127.0.0.1", port=address[1]),), BOTH, 0.3)
        for sock in fill:
            sock.close()


def test_one_bad_endpoint_does_not_end_the_run_of_a_good_one():
    """It is left out and named."""
    with serving(idle) as port:
        good, findings = ways(
            (Endpoint(host="127.0.0.1", port=port), Endpoint(host="no-such-name.invalid", port=1)), BOTH, 2.0
        )
    assert [way.endpoint.port for way in good] == [port]
    assert [f.code for f in findings] == ["latency-unreachable"]
    assert "has no address" in findings[0].message


def test_a_service_without_tls_is_a_tls_error():
    """It closes, or answers something else."""

    def serve(connection):
        connection.recv(4096)
        connection.sendall(b"220 not tls\r\n")

    with serving(serve) as port, pytest.raises(SourceError, match="TLS failed"):
        ways((Endpoint(host="127.0.0.1", port=port, tls=True),), BOTH, 2.0)


def test_a_handshake_is_measured_apart(tmp_path, monkeypatch):
    """Connection and handshake are two operations; the certificate is checked."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
         tmp_path / "key.pem", "-out", tmp_path / "cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True, timeout=30,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")

    def serve(connection):
        with context.wrap_socket(connection, server_side=True) as wrapped:
            wrapped.recv(1)

    with serving(serve) as port:
        endpoint = Endpoint(host="127.0.0.1", port=port, tls=True)
        with pytest.raises(SourceError, match="certificate is not valid"):
            ways((endpoint,), BOTH, 2.0)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        recording, _ = probe(endpoint, tmp_path / "rec", count=10)
    assert set(recording.table("latency").texts["operation"]) == {"tcp connect IPv4", "tls handshake IPv4"}


@pytest.mark.parametrize(
    "text", ["", "host", "host:", ":80", "host:0", "host:65536", "::1:80", "a b:1", "u@h:1", "h:٣"]
)
def test_what_is_no_host_and_port_is_refused(text):
    """IPv6 needs brackets."""
    with pytest.raises(ConfigError):
        parse_host_port(text)


@pytest.mark.parametrize(
    "text", ["ftp://h", "http://", "http://u:p@h", "http://h/?q", "http://h:0", "http://h:99999", "h h"]
)
def test_what_is_no_url_is_refused(text):
    """Passwords do not belong on a command line."""
    with pytest.raises(ConfigError):
        parse_url(text, ("http", "https"))


def test_a_url_is_taken_apart():
    """Defaults of ports, a prefix, no scheme."""
    assert parse_url("https://api.example/eos/", ("http", "https")) == Endpoint(
        host="api.example", port=443, tls=True, prefix="/eos"
    )
    assert parse_url("10.0.0.1:8888", ("http", "https")).authority == "10.0.0.1:8888"


def test_threads_of_the_probe_end_with_it(tmp_path):
    """Nothing goes on after a run."""
    before = threading.active_count()
    with serving(idle) as port:
        probe(Endpoint(host="127.0.0.1", port=port), tmp_path / "rec", count=3)
    end_s = time.monotonic() + 60
    while threading.active_count() > before + 1:
        assert time.monotonic() < end_s
        time.sleep(0.01)

"""The Python agent asks an HTTP server without ever waiting for it."""

import http.server
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from leapprof.agent.plan import HttpGet, Plan, Read
from leapprof.model import ReadStatus

BOTH = pytest.mark.parametrize("kind", ["python3", "python3.6"])
SURVEY = {"ticks": 1, "interval_ms": 1000}


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers of the kinds that servers give."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "nodeos/5.0.3", ""

    def log_message(self, *args) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer by path."""
        if self.path == "/slow":
            time.sleep(1)
            self.close_connection = True
            return
        self.send_response(503 if self.path == "/busy" else 200)
        body = b"nodeos_a 1\nnodeos_b 2\nother 3\n" * (5000 if self.path == "/long" else 1)
        if self.path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for part in (body[:7], body[7:]):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
            return
        if self.path != "/close":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.path == "/close"


@pytest.fixture
def server() -> Iterator[str]:
    """An HTTP server of this machine; its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()


@BOTH
def test_http_answers_are_read_and_cut_to_the_named_lines(kind, open_talk, section, server) -> None:
    """Status, elapsed time and server lead; bodies come plain, chunked or until the end."""
    paths = ("/plain", "/chunked", "/close", "/busy")
    gets = [
        HttpGet(match_id="eos", address=server, path=path, keep=("nodeos_",), timeout_s=8) for path in paths
    ]
    gets.append(HttpGet(match_id="eos", address=server, path="/slow", timeout_s=0.1))
    gets.append(HttpGet(match_id="eos", address=server, path="/long", max_bytes=50_000, timeout_s=8))
    gets.append(HttpGet(match_id="eos", address="127.0.0.1:1", path="/refused"))
    gets.append(HttpGet(match_id="eos", address="example.org:80", path="/name"))
    talk = open_talk(kind)
    talk.plan(Plan(**SURVEY, https=tuple(gets)))
    (frame,) = talk.frames(1)
    for path in paths:
        head, _, body = section(frame, f"http/eos{path}").text.partition(b"\n")
        status, elapsed_us, name = head.split(b" ", 2)
        assert (status, name) == (b"503" if path == "/busy" else b"200", b"nodeos/5.0.3")
        assert int(elapsed_us) > 0
        assert body == b"nodeos_a 1\nnodeos_b 2\n"
    assert section(frame, "http/eos/slow").status is ReadStatus.FAILED
    assert section(frame, "http/eos/long").status is ReadStatus.CUT
    assert section(frame, "http/eos/refused").text == b"Connection refused"
    assert section(frame, "http/eos/name").text == b"not a numeric address"


def test_a_server_that_does_not_answer_never_stalls_sampling(open_talk) -> None:
    """Ticks go on while a request waits for its time-out."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        talk = open_talk("python3")
        get = HttpGet(match_id="eos", address=address, path="/x", every_ticks=1, timeout_s=2)
        talk.plan(Plan(interval_ms=50, https=(get,), reads=(Read(path="/proc/uptime"),)))
        frames = talk.until(lambda frame: any(s.name == "http/eos/x" for s in frame.sections))
    answers = [s for f in frames for s in f.sections if s.name == "http/eos/x"]
    assert {s.text for s in answers} == {b"no answer within 2000 ms"}
    assert len(frames) > 5  # of 40

"""Takes an answer of a server that is not trusted: bounded in bytes and in time, however slowly it drips."""

import time
from typing import Any

from leapprof.errors import SourceError, SourceTimeoutError, quoted

MOST_ANSWER_BYTES = 256 * 2**20
"""A thousand series of 11,000 points each, the most that Prometheus gives for one question, are below it."""
_PIECE_BYTES = 2**16


def take_content(response: Any, name: str, timeout_s: float) -> bytes:  # noqa: ANN401 - a Response of requests
    """Read the body of a response, and let requests have it as if it had read it itself.

    Args:
        response: whose body was not read yet.
        name: of the server, for messages.
        timeout_s: for the whole body.

    Raises:
        SourceTimeoutError: it goes on for longer.
        SourceError: it is larger than an answer can be.
    """
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    try:
        content = _read(response.raw, name, timeout_s)
    except ReadTimeoutError as error:
        raise SourceTimeoutError(name, "whole answer", timeout_s) from error
    except HTTPError as error:
        raise SourceError(
            name, f"the connection was lost in the middle of its answer: {quoted(str(error))}"
        ) from error
    except SourceError:
        response.close()
        raise
    response._content, response._content_consumed = content, True
    return content


def _read(raw: Any, name: str, timeout_s: float) -> bytes:  # noqa: ANN401 - a HTTPResponse of urllib3
    deadline_s = time.monotonic() + timeout_s
    content = bytearray()
    while piece := raw.read1(_PIECE_BYTES, decode_content=True):
        content += piece
        if len(content) > MOST_ANSWER_BYTES:
            raise SourceError(name, f"its answer is over {MOST_ANSWER_BYTES} bytes")
        if time.monotonic() > deadline_s:
            raise SourceTimeoutError(name, "whole answer", timeout_s)
    return bytes(content)

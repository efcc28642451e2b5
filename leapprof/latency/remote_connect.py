"""Makes TCP connections on a host and prints how long each took; runs there from memory (Python 3.6 or newer).

Reads one line: ``count interval_ms timeout_ms family host port``. Prints ``s boottime_ns wall_ns cpu-line`` about once
a second, ``a boottime_ns wall_ns delay_ns`` or ``f boottime_ns wall_ns kind`` for each connection, and ``end``.
"""

import os
import socket
import time

CLOCK_BOOTTIME = 7
REFUSED = 111


def now() -> str:
    """Return CLOCK_BOOTTIME and the wall clock."""
    wall_s = time.time()  # noqa: TID251 - time_ns came with 3.7
    return "{:.0f} {:.0f}".format(time.clock_gettime(CLOCK_BOOTTIME) * 1e9, wall_s * 1e9)  # noqa: UP032


def say(text: str) -> None:
    """Write a line."""
    os.write(1, (text + "\n").encode())


def cpu() -> None:
    """Print the first line of /proc/stat."""
    line = "-"
    try:
        with open("/proc/stat") as file:  # noqa: PTH123 - pathlib costs the host more than all the rest
            line = file.readline().strip()
    except OSError:
        pass
    say("s " + now() + " " + line)


def attempt(family: int, address: "tuple[str, int]", timeout_s: float) -> None:
    """Make one connection and print what came of it."""
    at = now()
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(timeout_s)
    began_s = time.perf_counter()
    try:
        sock.connect(address)
        took_s = time.perf_counter() - began_s
        say("a " + at + " " + str(int(took_s * 1e9)))
    except socket.timeout:  # noqa: UP041 - another class before 3.10
        say("f " + at + " timeout")
    except OSError as error:
        say("f " + at + (" refused" if error.errno == REFUSED else " unreachable"))
    finally:
        sock.close()


def told() -> "list[str]":
    """Return the words of the line."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            break
        line += piece
    return line.decode().split()


def main() -> None:
    """Do what the line says."""
    count, interval_ms, timeout_ms, family, host, port = told()
    wanted = {"4": socket.AF_INET, "6": socket.AF_INET6}.get(family, socket.AF_UNSPEC)
    cpu()
    try:
        found = socket.getaddrinfo(host, int(port), wanted, socket.SOCK_STREAM)[0]
    except OSError:
        say("f " + now() + " name")
        say("end")
        return
    say("v 6" if found[0] == socket.AF_INET6 else "v 4")
    start_s = sampled_s = time.perf_counter()
    for number in range(int(count)):
        left_s = start_s + number * int(interval_ms) / 1000.0 - time.perf_counter()
        if left_s > 0:
            time.sleep(left_s)
        if time.perf_counter() - sampled_s >= 1:
            sampled_s = time.perf_counter()
            cpu()
        attempt(found[0], found[4], int(timeout_ms) / 1000.0)  # type: ignore[arg-type]
    cpu()
    say("end")


if __name__ == "__main__":
    main()

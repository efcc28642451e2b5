"""Runs the stand-in from start to clean exit.

Exit codes are nodeos's (programs/nodeos/main.cpp): 0 after SIGTERM or SIGINT, 2 for a dirty state,
254 for options, a state or an address that cannot be used.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType

from leapprof.errors import ConfigError, ParseError
from leapprof.standin.http import API, API_WITH_METRICS, OLD_EXPORTER, HttpServer, Status
from leapprof.standin.load import BLOCK_INTERVAL_S, Block, Load
from leapprof.standin.log import BlockLog, Log, iso_time
from leapprof.standin.options import MapMode, Options, read_options
from leapprof.standin.state import State, StateError, open_state

EXIT_OTHER = 254
_NS_PER_S = 1_000_000_000
_FILL_STEP_BYTES = 32 * 2**20
_MAX_BEHIND_S = 5.0


class Standin:
    """One run: fills the state if it has to, applies blocks until told to end, writes the state back."""

    def __init__(self, options: Options, log: Log, ended: threading.Event) -> None:
        """Keep the parts; nothing is opened."""
        self._options, self._log, self._ended = options, log, ended
        self._status: Status | None = None

    def run(self) -> None:
        """Run until the event is set.

        Raises:
            StateError: the state cannot be used.
            ConfigError: an address cannot be used.
        """
        options = self._options
        self._introduce()
        state = open_state(
            options.state_dir,
            options.map_mode,
            options.state_size_mb,
            options.advice,
            fresh=options.from_snapshot,
        )
        try:
            self._fill(state)
            self._run_blocks(state)
        finally:
            self._close(state)
        self._info("main.cpp:213", "main", "leapprof.standin successfully exiting")

    def _info(self, where: str, method: str, message: str) -> None:
        self._log.line("info", time.time_ns(), where, method, message)

    def _introduce(self) -> None:
        options = self._options
        version = f"leapprof.standin version {options.pretend_version} (a stand-in, no nodeos)"
        self._info("main.cpp:160", "main", version)
        self._info("main.cpp:168", "main", f"leapprof.standin data directory is {options.data_dir}")
        given = ", ".join(f"{name} = {value}" for name, value in options.given if name not in options.unused)
        self._info("main.cpp:170", "main", f"Non-default options: {given}")
        if options.unused:
            names = ", ".join(options.unused)
            self._info("main.cpp:171", "main", f"Options without effect in the stand-in: {names}")
        if options.map_mode is MapMode.MAPPED_PRIVATE:
            self._log.chainbase("Detect Soft-Dirty pagemap support: Not supported")

    def _fill(self, state: State) -> None:
        wanted = self._options.used_mb * 2**20
        if state.counts.used_bytes >= wanted:
            return
        started = time.monotonic()
        where, method = "controller.cpp:1180", "startup"
        self._info(
            where, method, "Starting initialization from snapshot and no block log, this may take a while"
        )
        while state.counts.used_bytes < wanted and not self._ended.is_set():
            state.fill(min(state.counts.used_bytes + _FILL_STEP_BYTES, wanted))
        took = int(time.monotonic() - started)
        self._info(where, method, f"Finished initialization from snapshot (snapshot load time was {took}s)")

    def _run_blocks(self, state: State) -> None:
        self._publish(state, None, 0, 0, 0)
        servers = self._serve()
        try:
            head = state.counts.head_block
            self._info(
                "chain_plugin.cpp:1140", "plugin_startup", f"Blockchain started; head block is #{head}"
            )
            with BlockLog(self._options.blocks_dir) as blocks:
                self._apply_blocks(state, blocks)
        finally:
            for server in servers:
                server.close()

    def _serve(self) -> list[HttpServer]:
        options = self._options
        old = options.exporter_address
        servers = [HttpServer(options.http_address, API if old else API_WITH_METRICS, self._current)]
        if old:
            servers.append(HttpServer(old, OLD_EXPORTER, self._current))
        for server in servers:
            self._info(
                "http_plugin.cpp:330", "operator()", f"start listening for http requests on {server.address}"
            )
        return servers

    def _current(self) -> Status:
        assert self._status is not None
        return self._status

    def _apply_blocks(self, state: State, blocks: BlockLog) -> None:
        load, first = Load(self._options, state), state.counts.transactions
        due, applied, cpu_us = time.monotonic(), 0, 0
        parent = os.getppid()
        while not (self._options.end_with_parent and os.getppid() != parent):
            due = max(due + BLOCK_INTERVAL_S, time.monotonic() - _MAX_BEHIND_S)
            if self._ended.wait(max(0.0, due - time.monotonic())):
                return
            started = time.monotonic()
            block = load.apply_block()
            blocks.append(block.body)
            applied, cpu_us = applied + 1, cpu_us + block.cpu_us
            self._publish(state, block, state.counts.transactions - first, applied, cpu_us)
            self._log_block(block, int((time.monotonic() - started) * 1e6))

    def _publish(
        self, state: State, block: Block | None, transactions: int, applied: int, cpu_us: int
    ) -> None:
        self._status = Status(
            version=self._options.pretend_version,
            head_block=state.counts.head_block,
            head_id=block.block_id if block else f"{state.counts.head_block:08x}" + "0" * 56,
            head_time_ns=_half_second(time.time_ns()),
            size_bytes=state.size_bytes,
            used_bytes=state.counts.used_bytes,
            transactions=transactions,
            blocks=applied,
            cpu_us=cpu_us,
        )

    def _log_block(self, block: Block, elapsed_us: int) -> None:
        now = time.time_ns()
        at = _half_second(now)
        self._info(
            "producer_plugin.cpp:651",
            "on_incoming_block",
            f"Received block {block.block_id[8:24]}... #{block.number} @ {iso_time(at)} signed by standin "
            f"[trxs: {block.transactions}, lib: {max(0, block.number - 2)}, confirmed: 0, "
            f"net: {len(block.body)}, cpu: {block.cpu_us}, elapsed: {elapsed_us}, time: {elapsed_us}, "
            f"latency: {(now - at) // 1_000_000} ms]",
        )

    def _close(self, state: State) -> None:
        if self._options.map_mode is MapMode.MAPPED_PRIVATE:
            self._log.chainbase('Writing "state" database file, this could take a moment...')
            state.close(
                self._options.write_back, lambda done: self._log.chainbase(f"           {done}% complete...")
            )
            self._log.chainbase("           complete.")
        else:
            state.close(self._options.write_back, lambda done: None)


def _half_second(wall_ns: int) -> int:
    half = _NS_PER_S // 2
    return wall_ns // half * half


def main(arguments: Sequence[str]) -> int:
    """Run the stand-in; return its exit code."""
    log, ended = Log(), threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        ended.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    if "--help" in arguments:
        sys.stdout.write((__doc__ or "") + "\nOptions: see leapprof/standin/options.py\n")
        return 0
    try:
        Standin(read_options(arguments), log, ended).run()
    except StateError as error:
        log.line("error", time.time_ns(), "main.cpp:230", "main", str(error))
        return error.exit_code
    except (ConfigError, ParseError, OSError) as error:
        log.line("error", time.time_ns(), "main.cpp:233", "main", str(error))
        return EXIT_OTHER
    return 0

"""Makes docs/faults.md from the tests that plant faults: python -m tests.faults.table runs them and writes it.

With a word it runs those that have it in their names, and leaves the lines of the others as they are.

A row is a fault and the tests that plant it; what holds is said by the tests' own docstrings. A test that fails
or is left out here is named as such in the page.
"""

import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "faults.md"
HEAD = """# What it survives

Made by `python -m tests.faults.table` from tests that plant each fault (they are part of `make test`). *What holds* is
the test's own sentence; *measured* is what it saw when the page was made, where it tells a figure.
`LEAPPROF_FAULT_KILLS=100` kills a hundred times, `LEAPPROF_FAULT_CUT_S=3,30,600` cuts the network for so many seconds.

| fault | what holds | measured | test |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault and the tests that plant it: ``file::function`` below tests/."""

    what: str
    tests: tuple[str, ...]


def _fault(what: str, *tests: str) -> Fault:
    return Fault(what=what, tests=tests)


FAULTS = (
    _fault(
        "kill -9 of the collector, at random moments",
        "faults/test_collector.py::test_kill_9_at_random_moments",
        "store/test_recording.py::test_kill_9_loses_no_frame_that_was_appended",
    ),
    _fault("kill -9 of the agent", "faults/test_connection.py::test_kill_9_of_the_agent"),
    _fault(
        "sshd stopped and started, connections killed",
        "e2e/test_recording.py::test_a_lost_connection_is_a_gap_and_no_spike",
    ),
    _fault(
        "network cut: every packet swallowed",
        "faults/test_connection.py::test_the_network_is_cut_without_a_word",
        "faults/test_connection.py::test_the_cable_is_pulled",
    ),
    _fault(
        "connection lost while a spool samples on",
        "recorder/test_spooling.py::test_a_lost_connection_costs_a_spool_no_sample",
    ),
    _fault(
        "a stream's connection lost, its node silent, its log rotated",
        "latency/test_stream.py::test_a_lost_connection_goes_on_where_it_was_left",
        "latency/test_yellowstone_stream.py::test_a_lost_connection_goes_on_at_its_slot",
        "latency/test_yellowstone_stream.py::test_where_the_server_keeps_no_slots_the_gap_is_counted",
        "latency/test_log_stream.py::test_a_silent_log_is_a_loss_and_goes_on",
        "latency/test_log_stream.py::test_a_rotated_log_is_followed",
    ),
    _fault(
        "kill -9 and Ctrl-C of a probe of delay",
        "latency/test_recording.py::test_a_stream_that_is_ended_leaves_what_came",
    ),
    _fault("host rebooted", "recorder/test_keeper.py::test_a_reboot_is_an_event_and_a_gap"),
    _fault(
        "experiment killed at any moment",
        "experiment/test_runs.py::test_a_killed_run_goes_on_and_makes_the_change_once",
        "experiment/test_runs.py::test_a_run_killed_in_the_middle_of_a_change_makes_it_once",
    ),
    _fault("nodeos restarted", "e2e/test_recording.py::test_a_restart_is_an_event_and_no_spike"),
    _fault(
        "nodeos gone, another program in its place",
        "faults/test_host.py::test_nodeos_is_gone_and_comes_back_under_another_name",
    ),
    _fault(
        "disk of the collector full",
        "faults/test_collector.py::test_the_disk_is_full",
        "faults/test_collector.py::test_the_disk_is_full_when_it_is_sealed",
        "faults/test_full_disk.py::test_the_disk_is_full_while_exporting",
        "faults/test_full_disk.py::test_the_disk_is_full_while_a_report_is_written",
        "faults/test_full_disk.py::test_the_disk_is_full_while_importing",
        "faults/test_full_disk.py::test_the_disk_is_full_while_a_probe_of_delay_records",
        "faults/test_full_disk.py::test_the_disk_is_full_while_an_experiment_runs",
    ),
    _fault(
        "clock of the host stepped by ±1 h",
        "faults/test_host.py::test_the_clock_of_the_host_is_stepped_by_an_hour",
    ),
    _fault(
        "clock of the collector stepped by ±1 h",
        "faults/test_host.py::test_the_clock_of_the_collector_is_stepped_by_an_hour",
    ),
    _fault(
        "collector asleep (SIGSTOP, SIGCONT)",
        "faults/test_collector.py::test_stopped_and_continued_like_a_laptop_asleep",
    ),
    _fault(
        "20 % of the frames torn",
        "faults/test_connection.py::test_a_fifth_of_the_frames_is_torn",
        "agent/test_frame.py::test_a_damaged_stream_yields_only_frames_that_were_sent",
    ),
    _fault(
        "spool full", "agent/test_spool.py::test_a_spool_is_bounded_and_counts_what_it_dropped"
    ),
    _fault(
        "two collectors on one recording",
        "store/test_recording.py::test_two_collectors_on_one_recording_are_told_apart",
    ),
    _fault(
        "directory that may not be written",
        "faults/test_collector.py::test_a_read_only_file_system",
        "faults/test_collector.py::test_a_directory_that_may_not_be_written",
    ),
    _fault("recording on read-only media", "store/test_recording.py::test_a_read_only_directory_is_readable"),
    _fault(
        "crash while sealing",
        "store/test_recording.py::test_a_crash_between_sealing_and_deleting_counts_no_frame_twice",
    ),
    _fault(
        "half a journal", "store/test_recording.py::test_a_truncated_journal_yields_frames_up_to_the_damage"
    ),
    _fault(
        "one host of many down or failing",
        "recorder/test_recording_live.py::test_a_host_that_fails_ends_nobody_elses_recording",
    ),
    _fault(
        "a hundred hosts connected at once",
        "faults/test_connection.py::test_many_hosts_are_connected_a_few_at_a_time",
    ),
)  # fmt: skip


def sentence_of(test: str) -> str:
    """Return the first sentence of a test's docstring.

    Raises:
        LookupError: there is no such test, or it says nothing.
    """
    name, _, function = test.partition("::")
    for node in ast.walk(ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            text = ast.get_docstring(node) or ""
            if text:
                return " ".join(text.split("\n\n")[0].split())
    raise LookupError(f"no test with a sentence: {test}")


def page(
    outcomes: Mapping[str, str] | None = None,
    figures: Mapping[str, Sequence[str]] | None = None,
    before: str = "",
) -> str:
    """Return the page.

    Args:
        outcomes: test → ``passed``, or what else became of it; None: nothing ran, all are taken to have passed.
        figures: test → what it measured.
        before: the page as it was, for the lines of tests that were not to run.
    """
    rows = []
    for fault in FAULTS:
        for index, test in enumerate(fault.tests):
            end = _link(test) + " |"
            known = [line + "\n" for line in before.splitlines() if line.endswith(end)]
            if outcomes is not None and test not in outcomes and known:
                rows += known
                continue
            outcome = "passed" if outcomes is None else outcomes.get(test, "did not run")
            told = sentence_of(test).replace("|", "\\|")
            shown = told if outcome == "passed" else f"{told} **({outcome})**"
            seen = "; ".join((figures or {}).get(test, ()))
            rows.append(f"| {fault.what if index == 0 else ''} | {shown} | {seen} | {end}\n")
    return HEAD + "".join(rows)


def _link(test: str) -> str:
    name = test.partition("::")[2].removeprefix("test_").replace("_", " ")
    return f"[{name}](../tests/{test.partition('::')[0]})"


class Outcomes:
    """A plugin of pytest that remembers what became of each test, the worst of its parameters, and its figures."""

    ORDER = ("passed", "left out here", "failed")

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.figures: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: object) -> None:
        test = report.nodeid.removeprefix("tests/").partition("[")[0]  # type: ignore[attr-defined]
        outcome = report.outcome  # type: ignore[attr-defined]
        if report.when == "call" or outcome != "passed":  # type: ignore[attr-defined]
            named = {"passed": "passed", "skipped": "left out here"}.get(outcome, "failed")
            self.found[test] = max(self.found.get(test, "passed"), named, key=self.ORDER.index)
        if report.when == "call":  # type: ignore[attr-defined]
            told = [text for name, text in report.user_properties if name == "figure"]  # type: ignore[attr-defined]
            self.figures.setdefault(test, []).extend(told)


def main() -> int:
    """Run the tests, all or those with a word in their names, and write the page; lines of the others stay."""
    import pytest

    word = sys.argv[1] if len(sys.argv) > 1 else ""
    outcomes = Outcomes()
    tests = [f"tests/{test}" for fault in FAULTS for test in fault.tests if word in test]
    status = pytest.main(["-q", *tests], plugins=[outcomes])
    before = PAGE.read_text(encoding="utf-8") if word else ""
    PAGE.write_text(page(outcomes.found, outcomes.figures, before), encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())

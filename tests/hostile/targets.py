"""Everything of ours that reads what others wrote, as functions of bytes: any bytes give a value or an error of ours.

One table for three users: test_corpus.py (kept inputs), test_fuzz.py (hypothesis) and fuzz.py (atheris, by hand).
"""

import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from leapprof.agent import agent as host_agent
from leapprof.agent.frame import BODY_MAGIC, FrameDecoder, decode_body, decode_sections
from leapprof.agent.spool import read_answer
from leapprof.analysis.log_linear import decode as decode_log_linear
from leapprof.assess.load import load
from leapprof.config.ansible_ini import parse_ini
from leapprof.config.ansible_yaml import parse_yaml
from leapprof.config.inventory import read_inventory
from leapprof.config.playbook import playbook_of
from leapprof.config.playbook_expect import parse_expectation
from leapprof.config.playbook_yaml import parse_document
from leapprof.config.selector import parse_selector
from leapprof.config.targets import parse_target
from leapprof.control.service import parse_systemd_span_s
from leapprof.endurance.ratings import parse_ratings
from leapprof.endurance.smart import parse_smart
from leapprof.errors import LeapprofError
from leapprof.experiment.producing import parse_schedule
from leapprof.experiment.runlog import read_entries, read_run_file
from leapprof.importers.benchmark_nodeos import parse_benchmark
from leapprof.importers.mapping import parse_mapping
from leapprof.importers.smart_history import parse_smart_history
from leapprof.importers.sysstat import parse_sadf
from leapprof.importers.table_text import parse_table
from leapprof.ingest.rows import FrameIngest
from leapprof.ingest.survey import follow_up, read_survey, with_answers
from leapprof.latency.endpoint import parse_host_port, parse_url
from leapprof.latency.ship import parse_block, parse_status
from leapprof.model import Frame, Host, ReadStatus, Recording, SamplingCost, Section, Topology
from leapprof.model.access import HostConfig
from leapprof.nodeos.api import parse_db_size, parse_get_info, parse_metrics, parse_server_header
from leapprof.nodeos.grammar import parse_config
from leapprof.nodeos.logs import parse_event, parse_line
from leapprof.nodeos.rules import check_config
from leapprof.nodeos.told import parse_told, told_options, told_places
from leapprof.nodeos.versions import parse_version
from leapprof.sources.jump import parse_jump
from leapprof.sources.known_hosts import names_host, parse_known_hosts
from leapprof.sources.ssh_config import parse_ssh_g
from leapprof.store import RecordingWriter
from tests.probes.parsers import PARSERS

TESTS = Path(__file__).parent.parent
MANIFEST = Recording(
    host=Host(name="h", boot_id="b"), nodeos=(), topology=Topology(), phase="", interval_s=1.0, started_wall_ns=1,
    ended_wall_ns=2, transport="ssh",
    cost=SamplingCost(agent="python", samples=1, cpu_s=None, rss_bytes=None, wire_bytes=0),
)  # fmt: skip
MAPPING = parse_mapping((TESTS / "importers/data/pmrep.toml").read_text(), "pmrep.toml")
ALLOWED = frozenset({b"chain-threads", b"plugin", b"data-dir", b"d", b"agent-name"})
MARKS = ((b"", b"nodeos version"), (b"options", b"chain_plugin options"), (b"", b"dirty"))


def text_of(data: bytes) -> str:
    """Return bytes as the text that readers get."""
    return data.decode("utf-8", "surrogateescape")


def probes(data: bytes) -> None:
    """Every parser of one file of /proc or /sys."""
    for parse in PARSERS.values():
        with suppress(LeapprofError):
            parse(text_of(data))


def stream(data: bytes) -> None:
    """A host's answer, cut anywhere; decoded frames are read as rows."""
    decoder, ingest = FrameDecoder("h"), FrameIngest()
    at = data[0] if data else 0
    for piece in (data[:at], data[at:]):
        for frame in decoder.feed(piece):
            ingest.add(frame)
            with suppress(LeapprofError):
                read_answer(frame)
    ingest.tables()


def checked_frame(data: bytes) -> None:
    """A frame whose checksum is right and whose sections are not."""
    payload = zlib.compressobj(1, zlib.DEFLATED, -15)
    packed = payload.compress(data) + payload.flush()
    head = b"LPF1 00000000 1 1 1 1 - - 0 k 1 %d %d " % (len(data), len(packed))
    FrameDecoder("h").feed(head + b"%08x\n" % zlib.crc32(packed, zlib.crc32(head)) + packed)
    with suppress(LeapprofError):
        decode_sections(data)


def bodies(data: bytes) -> None:
    """A row of a journal, as it is and packed."""
    for body in (data, zlib.compress(BODY_MAGIC + data)):
        with suppress(LeapprofError):
            decode_body(body)


def frame_of(data: bytes) -> Frame:
    """Return a frame of sections ``name US text`` divided by RS: a form that a fuzzer finds its way through."""
    sections = []
    for number, part in enumerate(data.split(b"\x1e")[:200]):
        name, _, text = part.partition(b"\x1f")
        status = ReadStatus.DENIED if number % 16 == 15 else ReadStatus.OK
        sections.append(Section(name=text_of(name), status=status, text=text))
    return Frame(
        seq=1, boottime_ns=10**12, wall_ns=18 * 10**17, deadline_ns=10**12, agent_cpu_ns=None, agent_rss_bytes=None,
        dropped=0, sections=tuple(sections),
    )  # fmt: skip


def rows(data: bytes) -> None:
    """Sections of a tick, read as rows and events."""
    ingest = FrameIngest()
    for part in data.split(b"\x1d")[:8]:
        ingest.add(frame_of(part))
    ingest.tables()
    ingest.events  # noqa: B018 - made when asked for


def surveys(data: bytes) -> None:
    """The first look at a host, its further questions and their answers."""
    first, _, second = data.partition(b"\x1d")
    survey = read_survey(frame_of(first), "h")
    follow_up(survey)
    with_answers(survey, frame_of(second))


def node_api(data: bytes) -> None:
    """Answers of nodeos's API and metrics."""
    for parse in (parse_get_info, parse_db_size, parse_metrics, parse_server_header, parse_schedule):
        with suppress(LeapprofError):
            parse(text_of(data))


def node_log(data: bytes) -> None:
    """A log, before and after it was filtered on the host."""
    for text in (text_of(data), text_of(host_agent.filter_log(data, MARKS, ALLOWED))):
        for line in text.splitlines():
            parse_line(line)
            parse_event(line)
        list(parse_told(text))
        told_options(text)
        told_places(text)


def node_config(data: bytes) -> None:
    """A config.ini: grammar, rules, and the filter of the agent."""
    host_agent.filter_config(data, ALLOWED)
    host_agent.filter_cmdline(data, ALLOWED)
    config = parse_config(data.decode("utf-8", "replace"))
    check_config(config, parse_version("leap-5.0"), source=parse_version("leap-4.0"))


def plans(data: bytes) -> None:
    """A plan, as the agent takes it: its own error, or obeyed."""
    with suppress(host_agent.BadPlanError):
        host_agent.Plan(data)


def playbooks(data: bytes) -> None:
    """A playbook."""
    playbook_of(parse_document(text_of(data), "playbook.yml"))


def inventories(data: bytes) -> None:
    """An inventory of each kind."""
    text = text_of(data)
    for parse in (parse_ini, parse_yaml, _toml):
        with suppress(LeapprofError):
            parse(text, "inventory")


def _toml(text: str, name: str) -> None:
    path = _folder() / f"{name}.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    read_inventory(path)


def words(data: bytes) -> None:
    """What is typed or stands in a file of one line."""
    text = text_of(data)
    host = HostConfig(name="h", address="h")
    parsers: tuple[Callable[[str], object], ...] = (
        parse_selector, parse_target, lambda t: parse_jump(t, host), lambda t: parse_url(t, ("http", "https")),
        parse_host_port, parse_systemd_span_s, decode_log_linear,
    )  # fmt: skip
    for parse in parsers:
        with suppress(LeapprofError):
            parse(text)
    with suppress(ValueError):  # both say it so, and their callers take it
        parse_version(text)
    with suppress(ValueError):
        parse_expectation("nodeos_cpu", text)


def ssh_files(data: bytes) -> None:
    """known_hosts and what ssh -G prints."""
    text = text_of(data)
    for key in parse_known_hosts(text, "known_hosts"):
        names_host(key, "[10.0.0.1]:2222")
    parse_ssh_g(text)


def drives(data: bytes) -> None:
    """Smartctl's words, and a table of ratings."""
    for parse in (parse_smart, parse_ratings, lambda text: parse_smart_history("h", [text])):
        with suppress(LeapprofError):
            parse(text_of(data))


def imports(data: bytes) -> None:
    """Files of other tools."""
    text = data.decode("utf-8", "replace")
    with suppress(LeapprofError):
        parse_sadf(text)
    with suppress(LeapprofError):
        parse_benchmark("h", text, text)
    with suppress(LeapprofError):
        parse_table(text, MAPPING)


def mappings(data: bytes) -> None:
    """A mapping of a table in text, and the table that goes with it."""
    mapping, _, table = data.decode("utf-8", "replace").partition("\x1e")
    parse_table(table, parse_mapping(mapping, "mapping.toml"))


def ship(data: bytes) -> None:
    """Messages of a state history."""
    for parse in (parse_block, parse_status):
        with suppress(LeapprofError):
            parse(data)


def manifests(data: bytes) -> None:
    """A recording with this manifest."""
    path = _recording() / "recording.json"
    path.write_bytes(data)
    load(path.parent).table("host")


def journals(data: bytes) -> None:
    """A recording with this journal."""
    _with_file("journal.sqlite", data)


def segments(data: bytes) -> None:
    """A recording with this Parquet file."""
    _with_file("host-0001.parquet", data)


def runs(data: bytes) -> None:
    """A run of a playbook with this log and document."""
    for name in ("log.jsonl", "run.json"):
        (_folder() / name).write_bytes(data)
    with suppress(LeapprofError):
        read_entries(_folder())
    read_run_file(_folder())


def _with_file(name: str, data: bytes) -> None:
    directory = _recording()
    for path in directory.iterdir():
        path.unlink()
    (directory / "recording.json").write_text(manifest_text())
    (directory / name).write_bytes(data)
    loaded = load(directory)
    for table in (*loaded.table_names, "host"):
        loaded.table(table)


@cache
def _folder() -> Path:
    """Return a directory for files, in memory where there is such a file system."""
    memory = Path("/dev/shm")
    made = tempfile.TemporaryDirectory(prefix="leapprof-fuzz-", dir=memory if memory.is_dir() else None)
    _KEPT.append(made)
    return Path(made.name)


_KEPT: "list[tempfile.TemporaryDirectory[str]]" = []


@cache
def _recording() -> Path:
    path = _folder() / "recording"
    with RecordingWriter.create(path, MANIFEST):
        pass
    return path


@cache
def manifest_text() -> str:
    """Return the manifest of an empty recording."""
    with tempfile.TemporaryDirectory() as folder:
        with RecordingWriter.create(Path(folder) / "r", MANIFEST):
            pass
        return (Path(folder) / "r" / "recording.json").read_text()


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        probes, stream, checked_frame, bodies, rows, surveys, node_api, node_log, node_config, plans, playbooks,
        inventories, words, ssh_files, drives, imports, mappings, ship, manifests, journals, segments, runs,
    )
}  # fmt: skip


def run(name: str, data: bytes) -> None:
    """Give bytes to a target; what it may raise is an error of ours."""
    with suppress(LeapprofError):
        TARGETS[name](data)

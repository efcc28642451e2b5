"""Well-formed inputs of the targets, from which a fuzzer begins: what the other tests have, and some made here."""

import glob
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from leapprof.agent.frame import encode_body, encode_frame
from leapprof.agent.plan import Plan
from leapprof.recorder.planning import RecordOptions, sampling_plan, survey_plan
from leapprof.store import RecordingWriter
from tests.hostile.targets import MANIFEST, TESTS, frame_of, manifest_text

SAMPLE = TESTS.parent / "samples" / "nodeos-v5"
SEED_FILES = {
    "probes": "probes/data/*/*.txt",
    "node_config": "nodeos/data/default-*.ini",
    "node_log": "nodeos/data/logs/*",
    "node_api": "nodeos/data/answers/*",
    "imports": "importers/data/**/*",
    "playbooks": "../playbooks/*.yml",
}


def seeds(name: str) -> Iterator[bytes]:
    """Yield well-formed inputs of a target, as the other tests have them."""
    for path in sorted(TESTS.glob(SEED_FILES.get(name, "none/*"))):
        if path.is_file() and path.stat().st_size < 100_000:
            yield path.read_bytes()
    yield from MADE_SEEDS.get(name, list)()


def _words() -> list[bytes]:
    return [
        b"unit:nodeos.service", b"root@[::1]:2022", b"ssh://a@b:22/", b"https://h:1/x", b"1min 30s", b"spring-1.2.2",
        b"-30% +-5%", b"below 5 %",
    ]  # fmt: skip


def _frames() -> list[bytes]:
    first, second = (replace(frame_of(b"/proc/uptime\x1f1.0 1.0\n"), seq=seq) for seq in (1, 2))
    plain = b"/proc/uptime\tok\t10\n12.0 13.0\n\nend 00000001 1\n"
    return [
        b"x" + encode_frame(first) + encode_frame(second, key=first),
        b"\0LPF1 00000001 1 1 1 1 - - 0 p 0 %d %d -\n" % (len(plain), len(plain)) + plain,
    ]


def _ticks() -> list[bytes]:
    texts = [(name, path) for name in ("stat", "meminfo", "diskstats", "vmstat") for path in _of(name)]
    process = [(f"nodeos/e/1/2/{n}", p) for n in ("stat", "status", "io") for p in _of(f"pid_{n}")]
    ticks = [b"/proc/" + n.encode() + b"\x1f" + t for n, t in texts] + [
        n.encode() + b"\x1f" + t for n, t in process
    ]
    answers = [p.read_bytes() for p in sorted((TESTS / "nodeos/data/answers").glob("*"))]
    ticks += [b"http/e/v1/chain/get_info\x1f200 1 x\n" + answer for answer in answers]
    return [*ticks, b"\x1e".join(ticks[::5]), _of_this_machine(sampling_plan((), (), RecordOptions()))]


def _of_this_machine(plan: Plan) -> bytes:
    """Return what a plan reads here, in the form that frame_of reads."""
    sections = []
    for path in sorted({path for read in plan.reads for path in glob.glob(read.path)}):
        with suppress(OSError):
            sections.append(path.encode() + b"\x1f" + Path(path).read_bytes()[:2000])
    return b"\x1e".join(sections[:100])


def _of(name: str) -> list[bytes]:
    return [p.read_bytes() for p in sorted((TESTS / "probes/data" / name).glob("*.txt"))]


def _files_of_samples(pattern: str) -> Callable[[], list[bytes]]:
    def read() -> list[bytes]:
        return [p.read_bytes() for p in sorted(SAMPLE.rglob(pattern)) if p.stat().st_size < 100_000][:8]

    return read


MADE_SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "words": _words,
    "stream": _frames,
    "rows": _ticks,
    "surveys": lambda: [_of_this_machine(survey_plan(())), *_ticks()],
    "checked_frame": lambda: [b"/proc/uptime\tok\t10\n12.0 13.0\n\n"],
    "bodies": lambda: [b"- 1 1 1 1 1 1 0\n/proc/uptime\tok\t10\n12.0 13.0\n\n"],
    "plans": lambda: [b"leapprof-plan\t1\ninterval_ms\t1000\nread\t1\t/proc/uptime\nend\n"],
    "mappings": lambda: [
        (TESTS / "importers/data" / f"{n}.toml").read_bytes() + b"\x1e" + next(
            (TESTS / "importers/data").glob(f"{n}-*")
        ).read_bytes()
        for n in ("atop", "pmrep")
    ],
    "inventories": lambda: [
        b"[hosts.a]\naddress = 'b'\nport = 2\n", b"[all]\na ansible_host=b\n", b"all:\n  hosts:\n    a:\n"
    ],
    "ssh_files": lambda: [
        b"h,10.0.0.1 ssh-ed25519 QUFBQQ== c\n|1|QUFBQQ==|QUFBQQ== ssh-rsa QUFB\n", b"user a\nport 22\n"
    ],
    "manifests": lambda: [manifest_text().encode(), *_files_of_samples("recording.json")()],
    "segments": _files_of_samples("*.parquet"),
    "journals": lambda: [_journal()],
    "runs": lambda: [
        json.dumps({"format": 1, "wall_ns": 1, "kind": "done", "step": "a", "data": {}}).encode() + b"\n"
    ],
    "drives": lambda: [
        b'{"device":{"name":"/dev/nvme0","protocol":"NVMe"},"model_name":"m","serial_number":"s","user_capacity":'
        b'{"bytes":1},"local_time":{"time_t":1700000000},"nvme_smart_health_information_log":{"critical_warning":1,'
        b'"percentage_used":3,"data_units_written":9,"data_units_read":9,"temperature":40,"power_on_hours":5}}',
        b'{"device":{"name":"/dev/sda","protocol":"ATA"},"model_name":"m","local_time":{"time_t":1700000000},'
        b'"ata_smart_attributes":{"table":[{"id":241,"name":"Total_LBAs_Written","value":99,"raw":{"value":5,"string":'
        b'"5"}},{"id":177,"name":"Wear_Leveling_Count","value":98,"thresh":0,"raw":{"value":7,"string":"7"}}]},'
        b'"ata_device_statistics":{"pages":[{"number":1,"table":[{"offset":24,"name":"x","value":3,"flags":{}}]}]}}',
        b"vendor,product,model_regex,capacity_gb_decimal,rated_tbw_decimal_TB,dwpd,warranty_years,grade,source\n"
        b"C,C MX500,CT250MX500SSD1,250,100,0.219,5,A,x\n",
    ],
    "ship": lambda: [b"\x01" + bytes(72) + b"\x01" + bytes(36) + b"\x00\x01\x10" + bytes(16), b"\0" + bytes(72)],
}  # fmt: skip


def _journal() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r"
        writer = RecordingWriter.create(path, MANIFEST)
        writer.append(encode_body(frame_of(b"/proc/uptime\x1f12.0 13.0\n")), 1, 1)
        with sqlite3.connect(path / "journal.sqlite") as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        data = (path / "journal.sqlite").read_bytes()
        writer.close()
        return data

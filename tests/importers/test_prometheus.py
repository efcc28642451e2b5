"""History of hosts from real Prometheus and VictoriaMetrics servers."""

import contextlib
import json
import shutil
import ssl
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from leapprof.assess.compute import NODEOS_CPU, host_cpu, nodeos_cpu
from leapprof.assess.load import load
from leapprof.assess.samples import read_samples
from leapprof.errors import ConfigError, ConnectError, NotEnoughDataError, SourceError, SourceTimeoutError
from leapprof.importers.prom_access import server_access
from leapprof.importers.prom_findings import server_findings
from leapprof.importers.prom_server import Server
from leapprof.importers.prom_targets import FetchRequest
from leapprof.importers.prometheus import fetch
from leapprof.importers.recording import write_recording
from leapprof.model import DeviceKind
from tests.importers.servers import (
    History,
    free_port,
    make_blocks,
    missing,
    prometheus,
    running,
    victoria_metrics,
)
from tests.support.servers import read_request, serving

pytestmark = pytest.mark.skipif(
    bool(missing("prometheus", "promtool")), reason=f"not installed: {missing('prometheus', 'promtool')}"
)
START, END, STEP = 1_700_000_000, 1_700_003_600, 15
BOOT = START - 100_000


def _host(history, name, *, old=False, version="1.5.0", skip=None, boot=lambda t: BOOT, devices=("sda",)):
    node = f'instance="{name}:9100",job="node"'
    cpu, boot_name = (
        ("node_cpu", "node_boot_time") if old else ("node_cpu_seconds_total", "node_boot_time_seconds")
    )
    memory, written = ("node_memory_MemAvailable", "node_disk_bytes_written") if old else (
        "node_memory_MemAvailable_bytes", "node_disk_written_bytes_total")  # fmt: skip
    for core in ("0", "1"):
        for mode, share in (
            ("user", 0.25),
            ("system", 0.05),
            ("nice", 0.0),
            ("idle", 0.65),
            ("iowait", 0.05),
        ):
            history.add(cpu, f'{node},cpu="{core}",mode="{mode}"', lambda t, s=share: 1000 + s * t, skip)
    history.add(boot_name, node, boot, skip)
    history.add(memory, node, lambda t: 8e9 + t, skip)
    history.add("node_exporter_build_info", f'{node},version="{version}"', lambda t: 1, skip)
    for number, device in enumerate(devices):
        history.add(
            written, f'{node},device="{device}"', lambda t, n=number: 1e9 + (n + 1) * 512_000.0 * t, skip
        )


def _history():
    history = History(START, END, STEP)
    _host(history, "new")
    _host(history, "old", old=True)
    _host(history, "gappy", skip=lambda t: 1200 <= t < 1800)
    _host(history, "stacked", devices=("sda", "sda1", "dm-0", "loop0"))
    _host(history, "rebooted", boot=lambda t: BOOT if t < 1800 else START + 1790)
    _host(history, "4kn", version="1.3.1", devices=())
    history.add(
        "node_disk_written_bytes_total",
        'instance="4kn:9100",job="node",device="nvme0n1"',
        lambda t: 32_768.0 * t,
    )
    _host(history, "paths", devices=())
    for device, rate in (("nvme0n1", 0), ("nvme0c0n1", 512), ("nvme0c1n1", 1024)):
        history.add(
            "node_disk_written_bytes_total",
            f'instance="paths:9100",job="node",device="{device}"',
            lambda t, r=rate: r * t,
        )
    leap5 = 'instance="new:8888",job="nodeos"'
    history.add("nodeos_head_block_num", leap5, lambda t: 1000 + 2 * t)
    history.add("nodeos_trxs_incoming_total", leap5, lambda t: 3.0 * t)
    history.add("nodeos_trxs_produced_total", leap5, lambda t: 1.0 * t)
    history.add("nodeos_info", leap5 + ',server_version_string="v5.0.3"', lambda t: 1)
    group = 'instance="new:9256",job="process",groupname="nodeos-eos"'
    history.add("namedprocess_namegroup_num_procs", group, lambda t: 1)
    history.add("namedprocess_namegroup_num_procs", group.replace("nodeos-eos", "bash"), lambda t: 1)
    history.add("namedprocess_namegroup_cpu_seconds_total", group + ',mode="user"', lambda t: 0.5 * t)
    history.add("namedprocess_namegroup_cpu_seconds_total", group + ',mode="system"', lambda t: 0.25 * t)
    history.add("namedprocess_namegroup_memory_bytes", group + ',memtype="resident"', lambda t: 4e9)
    history.add("namedprocess_namegroup_write_bytes_total", group, lambda t: 0)
    history.add("namedprocess_namegroup_read_bytes_total", group, lambda t: 0)
    history.add(
        "namedprocess_namegroup_oldest_start_time_seconds",
        group,
        lambda t: BOOT + 500 if t < 1800 else START + 1795,
    )
    own = 'host="own",phase="x",instance="collector:9777"'
    history.add("leapprof_recording_info", own + ',interval_s="1",boot_id="b"', lambda t: 1)
    history.add("leapprof_host_mem_free_bytes", own, lambda t: 1e6 + t)
    for name in ("seq", "boottime_ns"):
        history.add(f"leapprof_host_{name}", own, lambda t: 1e9 * (t + 1))
    history.add("leapprof_host_boot", own, lambda t: 0)
    container = 'instance="boxed:8080",job="cadvisor",name="nodeos-wax",id="/docker/1"'
    history.add("container_start_time_seconds", container, lambda t: BOOT + 5)
    history.add("container_start_time_seconds", container.replace("nodeos-wax", "nginx"), lambda t: BOOT)
    history.add("container_cpu_user_seconds_total", container, lambda t: 0.5 * t)
    history.add("container_cpu_system_seconds_total", container, lambda t: 0.1 * t)
    history.add("container_memory_rss", container, lambda t: 5e9)
    _kubelets(history)
    history.add("head_block_num", 'instance="old:9101",job="nodeos"', lambda t: 5 + 2 * t)
    history.add("num_clients", 'instance="old:9101",job="nodeos"', lambda t: 7)
    return history


@pytest.fixture(scope="module")
def history():
    """Return the history of all hosts."""
    return _history()


def _kubelets(history):
    """Add containers with the labels of cAdvisor within the kubelet: 1.15 with Docker, and 1.30 with containerd.

    The forms are those of a GKE node's /metrics/cadvisor (integrations-core of DataDog, kubelet/tests/fixtures) and of
    cAdvisor's own metrics/testdata. Newer Prometheus operators drop user and system of containers.
    """
    for host, pod_label, container_label, runtime in (
        (
            "kube-1-15",
            "pod_name",
            "container_name",
            "k8s_{0}_eos-0_chains_d2e71e36-10d0-11e8-bd5a-42010af00137_0",
        ),
        ("kube-1-30", "pod", "container", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ):
        target = f'instance="{host}:10250",job="kubelet"'
        for container in ("", "POD", "nodeos", "log-shipper"):
            name = runtime.format(container) if container else ""
            labels = f'{target},{container_label}="{container}",id="/kubepods/pod1/{container}",image="x",name="{name}"'
            labels += f',namespace="chains",{pod_label}="eos-0"'
            slope = 0.5 if container == "nodeos" else 7.0
            history.add("container_start_time_seconds", labels, lambda t: BOOT + 5)
            history.add("container_memory_rss", labels, lambda t, s=slope: 1e9 * s)
            history.add(
                "container_cpu_usage_seconds_total", labels + ',cpu="total"', lambda t, s=slope: s * t
            )
        resource = (
            f'{target},metrics_path="/metrics/resource",container="nodeos",namespace="chains",pod="eos-0"'
        )
        history.add("container_cpu_usage_seconds_total", resource, lambda t: 0.5 * t)


@pytest.fixture(scope="module")
def blocks(history, tmp_path_factory):
    """Return blocks of the history that promtool made."""
    return make_blocks(history.openmetrics(), tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="module")
def url(blocks, tmp_path_factory):
    """Yield the address of a Prometheus over the history."""
    with prometheus(tmp_path_factory.mktemp("server"), blocks=blocks) as address:
        yield address


def _server(url, **more):
    return Server(server_access(url, more.pop("environment", {}), **more))


def _fetch(url, selector, **changes):
    request = FetchRequest(**({"selector": selector, "start_s": START, "end_s": END} | changes))
    with _server(url) as server:
        return list(fetch(server, request))


def _of(url, host, **changes):
    (found,) = _fetch(url, f'instance=~"{host}:.*"', **changes)
    return found


def _block(found, table, **texts):
    return next(b for b in found.blocks if b.table == table and texts.items() <= b.texts.items())


def test_counters_are_raw_and_stand_at_their_scrapes(url):
    """Nothing is interpolated: times are those of the scrapes, values those that were scraped."""
    written = _block(_of(url, "new"), "device", device="sda")
    elapsed = written.wall_ns // 10**9 - START
    assert (elapsed % STEP == 0).all()
    assert written.columns["write_sectors_total"] == pytest.approx((1e9 + 512_000.0 * elapsed) / 512)


def test_cpu_share_is_the_sum_over_cpus(url, tmp_path):
    """30 % of each of two CPUs is 30 % of the host."""
    path = write_recording(_of(url, "new"), tmp_path, phase="", command="")
    samples = read_samples(load(path), "host", tuple(load(path).table("host").integers))
    assert np.nanmean(host_cpu(samples).series.value) == pytest.approx(30.0, abs=0.05)
    assert load(path).manifest.host.facts["cores"] == "2"


def test_old_names_of_node_exporter_are_the_same_columns(url):
    """Names changed in 0.16."""
    old, new = _of(url, "old"), _of(url, "new")
    for table in ("host", "device"):
        mine, its = _block(old, table).columns, _block(new, table).columns
        for name in (
            ("cpu_user_ticks_total", "mem_available_bytes") if table == "host" else ("write_sectors_total",)
        ):
            np.testing.assert_array_equal(mine[name], its[name])


def test_missed_scrapes_are_a_gap(url, tmp_path):
    """A server shows the last sample for five minutes more; it is not taken for a reading."""
    manifest = load(write_recording(_of(url, "gappy"), tmp_path, phase="", command="")).manifest
    (gap,) = manifest.gaps
    assert (gap.end_wall_ns - gap.start_wall_ns) / 1e9 == 1800 - 1200 + STEP


def test_a_reboot_is_a_boot_of_the_recording(url, tmp_path):
    """The boot time tells it, not a counter that happens to fall."""
    loaded = load(write_recording(_of(url, "rebooted"), tmp_path, phase="", command=""))
    assert set(loaded.table("host").integers["boot"].values) == {0, 1}
    assert [e.kind for e in loaded.manifest.events] == ["reboot"]


def test_partitions_and_stacked_devices_are_not_drives(url):
    """sda1 is part of sda, and dm-0 lies on it: only sda is a drive."""
    topology = _of(url, "stacked").topology
    assert [d.name for d in topology.physical()] == ["sda"]
    assert topology.leaves_of("dm-0") == ("sda",)
    assert topology.device("sda1") is None


def test_nvme_paths_count_where_the_head_is_silent(url):
    """The head becomes the sum of its paths, and the paths are no drives."""
    found = _of(url, "paths")
    head = _block(found, "device", device="nvme0n1")
    elapsed = head.wall_ns / 1e9 - START
    assert head.columns["write_sectors_total"] == pytest.approx(3 * elapsed)
    assert found.topology.device("nvme0c0n1").kind is DeviceKind.MULTIPATH_PATH
    assert "nvme-paths-joined" in {f.code for f in found.findings}


def test_bytes_of_4kn_drives_are_put_right(url):
    """node_exporter 1.3.1 took a diskstats sector for 4096 bytes."""
    found = _of(url, "4kn")
    block = _block(found, "device", device="nvme0n1")
    assert block.columns["write_sectors_total"][-1] == (END - START) * 32_768 / 8 / 512
    assert "node-exporter-4kn" in {f.code for f in found.findings}


def test_nodeos_5_and_process_exporter_are_one_nodeos(url):
    """CPU comes from process-exporter, blocks from nodeos's own metrics, the restart from its start time."""
    found = _of(url, "new")
    (nodeos,) = found.nodeos
    assert (nodeos.id, nodeos.version) == ("nodeos-eos", "v5.0.3")
    process, chain = _block(found, "nodeos").columns, _block(found, "chain").columns
    assert process["utime_ticks_total"][-1] == pytest.approx(50.0 * (END - START), rel=1e-3)
    assert chain["transactions_total"][-1] == 4 * (END - START)
    assert [e.kind for e in found.events] == ["nodeos-restarted"]


def test_the_map_mode_of_an_imported_nodeos_is_said_to_be_unknown(url):
    """Whoever changed it is told not to read RSS; a host without a process is spared that."""
    assert "map-mode-unknown" in {f.code for f in _of(url, "new").findings}
    assert "map-mode-unknown" not in {f.code for f in _of(url, "gappy").findings}


def test_io_that_process_exporter_may_not_read_is_missing(url):
    """It shows 0 then, which is never taken for nothing written."""
    assert "io_write_bytes_total" not in _block(_of(url, "new"), "nodeos").columns


def test_nodeos_4_names_are_known(url):
    """Leap 4.0 has no prefix."""
    columns = _block(_of(url, "old"), "chain").columns
    assert columns["head_block"][0] == 5
    assert columns["peers_in"][0] == 7


def test_containers_of_cadvisor_are_nodeos(url):
    """Found by name; a host without node_exporter still has a clock."""
    found = _of(url, "boxed")
    assert [n.id for n in found.nodeos] == ["nodeos-wax"]
    columns = _block(found, "nodeos").columns
    assert columns["utime_ticks_total"][-1] == pytest.approx(50.0 * (END - START), rel=1e-2)
    assert columns["cgroup_anon_bytes"][0] == 5e9


@pytest.mark.parametrize("host", ["kube-1-15", "kube-1-30"])
def test_containers_of_kubernetes_are_told_by_pod_and_container(url, host, tmp_path):
    """Neither the pod's cgroup nor its network's container is taken for nodeos; usage alone is its CPU."""
    found = _of(url, host)
    assert [n.id for n in found.nodeos] == ["eos-0/nodeos"]
    assert _block(found, "nodeos").columns["cgroup_anon_bytes"][0] == 5e8
    samples = read_samples(load(write_recording(found, tmp_path, phase="", command="")), "nodeos", NODEOS_CPU)
    assert np.nanmean(nodeos_cpu(samples).series.value) == pytest.approx(0.5, rel=1e-3)


def test_leapprofs_own_metrics_as_scraped_are_a_recording(url, tmp_path):
    """The scraper asked every 15 s where leapprof sampled every second: that is no gap."""
    (found,) = [i for i in _fetch(url, "") if i.host.name == "own"]
    manifest = load(write_recording(found, tmp_path, phase="x", command="")).manifest
    assert manifest.interval_s == STEP
    assert manifest.gaps == ()
    assert manifest.host.boot_id == "b"


def test_every_host_of_a_selector_becomes_a_recording(url):
    """One recording a host, its exporters together."""
    assert sorted(i.host.name for i in _fetch(url, "")) == [
        "4kn",
        "boxed",
        "gappy",
        "kube-1-15",
        "kube-1-30",
        "new",
        "old",
        "own",
        "paths",
        "rebooted",
        "stacked",
    ]


def test_a_coarser_step_loses_no_counts(url):
    """Counters at every fourth scrape span the same total, and the recording says that it is coarser."""
    fine, coarse = _of(url, "new"), _of(url, "new", step_s=60)
    totals = [
        np.ptp(_block(f, "device").columns["write_sectors_total"]) / np.ptp(_block(f, "device").wall_ns)
        for f in (fine, coarse)
    ]
    assert totals[0] == pytest.approx(totals[1])
    assert "coarser-than-scraped" in {f.code for f in coarse.findings}


def test_too_many_samples_are_asked_for_in_halves(blocks, tmp_path, url):
    """A server that allows few samples a query gives the same readings."""
    copy = tmp_path / "blocks"
    shutil.copytree(blocks, copy)
    with prometheus(tmp_path / "small", blocks=copy, more=("--query.max-samples=700",)) as small:
        found = _of(small, "new")
    assert "asked-in-parts" in {f.code for f in found.findings}
    whole = _of(url, "new")
    np.testing.assert_array_equal(
        _block(found, "host").columns["cpu_user_ticks_total"],
        _block(whole, "host").columns["cpu_user_ticks_total"],
    )


@pytest.mark.skipif(bool(missing("victoria-metrics")), reason="not installed: victoria-metrics")
def test_victoria_metrics_gives_what_prometheus_gives(history, url, tmp_path):
    """The same history through either server is the same recording."""
    with victoria_metrics(tmp_path / "vm", history.prometheus_text()) as other:
        for host in ("new", "gappy", "rebooted"):
            mine, its = _of(other, host), _of(url, host)
            for block in its.blocks:
                same = _block(mine, block.table, **block.texts)
                np.testing.assert_array_equal(same.wall_ns, block.wall_ns)
                for name, values in block.columns.items():
                    np.testing.assert_allclose(same.columns[name], values)


def _enough(url, query):
    """Return whether a count that a server is asked for is that of eight seconds of samples."""
    with urllib.request.urlopen(f"{url}/api/v1/query?{urllib.parse.urlencode(query)}", timeout=20) as answer:
        found = json.load(answer)["data"]["result"]
    return bool(found) and int(found[0]["value"][1]) >= 5


@pytest.mark.skipif(
    bool(missing("prometheus-node-exporter")), reason="not installed: prometheus-node-exporter"
)
def test_a_real_node_exporter_is_read(tmp_path):
    """Six seconds of this very host."""
    port = free_port()
    target = f"127.0.0.1:{port}"
    config = (
        "global: {scrape_interval: 2s, scrape_timeout: 2s}\n"
        f"scrape_configs: [{{job_name: n, static_configs: [{{targets: ['{target}']}}]}}]\n"
    )
    exporter = ["prometheus-node-exporter", f"--web.listen-address={target}", "--collector.disable-defaults"]
    exporter += [f"--collector.{name}" for name in ("cpu", "meminfo", "stat", "diskstats", "uname", "vmstat")]
    with (
        running(exporter, f"http://{target}/metrics", tmp_path / "log"),
        prometheus(tmp_path / "p", config=config) as url,
    ):
        began = int(datetime.now(UTC).timestamp())
        samples = {"query": f'count_over_time(node_memory_MemTotal_bytes{{instance="{target}"}}[1h])'}
        while not _enough(url, samples):  # discovery takes five seconds
            assert datetime.now(UTC).timestamp() < began + 120
            time.sleep(1)
        found = _of(url, "127.0.0.1", start_s=began - 5, end_s=int(datetime.now(UTC).timestamp()))
    host = _block(found, "host").columns
    assert host["mem_total_bytes"][-1] == 1024 * int(Path("/proc/meminfo").read_text().split()[1])
    assert (np.diff(host["cpu_idle_ticks_total"]) >= 0).all()
    assert found.interval_s == 2.0


class _Stub(BaseHTTPRequestHandler):
    """A server that answers what the test wants."""

    answer = (200, "text/html", b"<html>Grafana</html>")

    def do_GET(self):
        status, kind, body = self.answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def _answering(status, kind, body, wait_s=0.0, seen=None, tls=None, clock_off_s=0, header="Authorization"):
    class Answer(_Stub):
        answer = (status, kind, body)

        def do_GET(self):
            if seen is not None:
                seen.append(self.headers.get(header))
            time.sleep(wait_s)
            super().do_GET()

        def date_time_string(self, timestamp=None):
            now = datetime.now(UTC).timestamp() if timestamp is None else timestamp
            return super().date_time_string(now + clock_off_s)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_web_page_instead_of_json_is_a_wrong_url():
    """Grafana's address in place of Prometheus's is the usual mistake."""
    with _answering(200, "text/html", b"<html/>") as url, pytest.raises(SourceError, match="root of the API"):
        _fetch(url, "")


@pytest.mark.parametrize(
    ("environment", "sent"),
    [
        ({"LEAPPROF_PROMETHEUS_TOKEN": "abc"}, "Bearer abc"),
        ({"LEAPPROF_PROMETHEUS_USER": "me", "LEAPPROF_PROMETHEUS_PASSWORD": "pw"}, "Basic bWU6cHc="),
        ({}, None),
    ],
)
def test_secrets_come_from_the_environment(environment, sent):
    """A bearer token or basic auth; without either nothing is sent, whatever ~/.netrc holds."""
    seen = []
    body = b'{"status": "success", "data": {"result": []}}'
    with (
        _answering(200, "application/json", body, seen=seen) as url,
        _server(url, environment=environment) as server,
    ):
        server.at("up", 0)
    assert seen == [sent]


def test_secrets_come_from_files(tmp_path):
    """The file goes before the environment; a file without a colon is no user:password."""
    file = tmp_path / "secret"
    file.write_text("me:pw\n")
    access = server_access("http://h:1", {}, basic_auth_file=file)
    assert (access.user, access.password) == ("me", "pw")
    assert server_access("http://h:1", {"LEAPPROF_PROMETHEUS_TOKEN": "x"}, token_file=file).token == "me:pw"
    file.write_text("nothing")
    with pytest.raises(ConfigError, match="user:password"):
        server_access("http://h:1", {}, basic_auth_file=file)


def test_an_expired_token_is_said_and_not_shown():
    """The message names the options, never the token."""
    with (
        _answering(401, "text/plain", b"token is expired") as url,
        _server(url, environment={"LEAPPROF_PROMETHEUS_TOKEN": "s3cret"}) as server,
        pytest.raises(ConnectError, match="expired") as caught,
    ):
        server.at("up", 0)
    assert "s3cret" not in str(caught.value)


def test_a_tenant_goes_into_mimirs_header_and_is_asked_for():
    """Mimir with tenants refuses questions without one (HTTP 401, "no org id")."""
    seen = []
    with (
        _answering(401, "text/plain", b"no org id", seen=seen, header="X-Scope-OrgID") as url,
        _server(url, environment={"LEAPPROF_PROMETHEUS_TENANT": "eos"}) as server,
        pytest.raises(ConnectError, match="LEAPPROF_PROMETHEUS_TENANT"),
    ):
        server.at("up", 0)
    assert seen == ["eos"]


def test_a_server_that_does_not_answer_in_time_is_left():
    """There is no default time-out in the client."""
    with (
        _answering(200, "application/json", b"{}", wait_s=1.5) as url,
        _server(url, timeout_s=0.2) as server,
        pytest.raises(SourceTimeoutError),
    ):
        server.at("up", 0)


@pytest.mark.skipif(bool(missing("openssl")), reason="not installed: openssl")
def test_an_authority_of_ones_own_is_named_with_ca_file(tmp_path):
    """Certificates are checked; what to do stands in the message."""
    key, certificate = tmp_path / "key", tmp_path / "cert"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *subject]
    subprocess.run([*argv, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    body = b'{"status": "success", "data": {"result": []}}'
    with _answering(200, "application/json", body, tls=(certificate, key)) as url:
        with _server(url) as server, pytest.raises(ConnectError, match="--ca-file"):
            server.at("up", 0)
        with _server(url, ca_file=certificate) as server:
            assert server.at("up", 0) == []


def test_an_unreachable_server_is_said_so():
    """Connection refused."""
    with pytest.raises(ConnectError, match="cannot be reached"):
        _fetch(f"http://127.0.0.1:{free_port()}", "")


def test_warnings_and_partial_answers_are_seen():
    """prometheus-api-client drops both."""
    body = {"status": "success", "isPartial": True, "warnings": ["a store is down"], "data": {"result": []}}
    with _answering(200, "application/json", json.dumps(body).encode()) as url, _server(url) as server:
        server.at("up", 0)
        assert server.partial
        assert list(server.warnings) == ["a store is down"]


@pytest.mark.parametrize(
    "data",
    ["1", "[]", '{"result": 1}', '{"result": [1]}', '{"result": [{"metric": 1, "value": [1, "2"]}]}',
     '{"result": [{"metric": {}, "values": [[1]]}]}', '{"result": [{"metric": {}, "value": ["x", "y"]}]}', "null"],
)  # fmt: skip
def test_answers_of_another_form_are_a_source_error(data):
    """JSON, but of no Prometheus."""
    body = f'{{"status": "success", "data": {data}}}'.encode()
    with _answering(200, "application/json", body) as url, _server(url) as server:
        with pytest.raises(SourceError):
            server.at("up", 0)
        with pytest.raises(SourceError):
            list(server.over("up", 0, 10, 1))


def test_a_server_whose_clock_is_off_is_named():
    """Its Date header against our clock: the change's time is on the server's."""
    body = b'{"status": "success", "data": {"result": []}}'
    with _answering(200, "application/json", body, clock_off_s=-7200) as url, _server(url) as server:
        server.at("up", 0)
        assert server.offset_s == pytest.approx(-7200, abs=5)
        assert [f.code for f in server_findings(server)] == ["server-clock-differs"]


@pytest.mark.parametrize(("status", "message"), [(502, "gateway"), (404, "HTTP 404")])
def test_pages_of_what_stands_before_a_server_are_told_from_its_answers(status, message):
    """A gateway without a server behind it is not a refused query."""
    with (
        _answering(status, "text/html", b"<html/>") as url,
        _server(url) as server,
        pytest.raises(SourceError, match=message),
    ):
        server.at("up", 0)


def test_a_server_that_is_not_there_is_said_in_plain_words():
    """The reason without the names of the libraries that met it."""
    with _server(f"http://127.0.0.1:{free_port()}") as server, pytest.raises(ConnectError) as caught:
        server.at("up", 0)
    assert str(caught.value).partition(": ")[2].startswith("cannot be reached ('Connection refused')")


def test_a_selector_that_matches_nothing_is_no_empty_recording(url):
    """Exit code 6; a server of history alone has nothing now."""
    with pytest.raises(NotEnoughDataError, match=r"no series .* needed: a server that scrapes"):
        _fetch(url, 'instance="nobody"')


def test_nothing_found_is_explained_by_what_the_server_has_now(tmp_path):
    """Either the selector is at fault or the time."""
    now_s = int(datetime.now(UTC).timestamp())
    history = History(now_s - 120, now_s, 15)
    for host in "edcba":
        history.add("node_boot_time_seconds", f'instance="{host}:9100"', lambda t: BOOT)
    with prometheus(tmp_path / "server", blocks=make_blocks(history.openmetrics(), tmp_path)) as current:
        with pytest.raises(NotEnoughDataError, match=r"without one .* a:9100, b:9100, c:9100 and 2 more"):
            _fetch(current, 'instance="nobody"', start_s=now_s - 120, end_s=now_s)
        with pytest.raises(
            NotEnoughDataError, match=r"a time of which the server has data: now it has b:9100$"
        ):
            _fetch(current, 'instance=~"b.*"')


def test_a_time_without_data_is_said_so(url):
    """Ten years ago."""
    with pytest.raises(NotEnoughDataError, match="from 2001-09-09T01:46Z to 2001-09-10T05:33Z"):
        _fetch(url, "", start_s=1_000_000_000, end_s=1_000_100_000)


def test_a_broken_selector_is_the_servers_message(url):
    """The parse error of PromQL is handed on."""
    with pytest.raises(SourceError, match="parse error"):
        _fetch(url, 'instance=~"[a"')


def test_passwords_in_urls_are_refused():
    """They would stand in the history of the shell and in manifests."""
    with pytest.raises(ConfigError, match="out of the URL"):
        server_access("http://me:secret@host:9090", {})


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"data":' * 100_000, b'{"warnings":' + b"[" * 100_000])
@pytest.mark.parametrize("status", [b"200 OK", b"422 Unprocessable"])
def test_an_answer_that_is_nested_without_end_is_an_error_of_ours(body, status):
    """Deep JSON ends the question with a message, whatever its status."""
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (
        status,
        len(body),
    )

    def serve(connection):
        while read_request(connection, b"")[0]:
            connection.sendall(head + body)

    with serving(serve) as port, Server(server_access(f"http://127.0.0.1:{port}", {})) as server:
        with pytest.raises(SourceError):
            server.at("up", 1.0)
        with pytest.raises(SourceError):
            server.series(["up"], 0.0, 1.0)

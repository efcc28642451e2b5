"""A survey tells what a host is and which nodeos run there; what was refused is named and not guessed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leapprof.agent.plan import ConfigRead, HttpGet
from leapprof.ingest.processes import UNNAMED_MATCH
from leapprof.ingest.services import reachable_address
from leapprof.ingest.survey import Survey, follow_up, read_survey, with_answers
from leapprof.model import ReadStatus
from tests.ingest import layouts
from tests.ingest.frames import frame, stat_text

Texts = dict[str, str | ReadStatus]

MACHINE: Texts = {
    "/proc/sys/kernel/random/boot_id": "bcf0205a\n",
    "/etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n',
    "/proc/sys/kernel/osrelease": "6.1.0-13-amd64\n",
    "/proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 7443P\nflags\t\t: fpu hypervisor\n",
    "/proc/meminfo": "MemTotal: 16 kB\nSwapTotal: 8 kB\n",
    "/proc/self/smaps": "KernelPageSize:       64 kB\nKernelPageSize:     2048 kB\n",
    "/sys/devices/system/cpu/online": "0-7\n",
    "/sys/class/dmi/id/sys_vendor": "QEMU\n",
    "/sys/class/dmi/id/product_name": "Standard PC (Q35 + ICH9, 2009)\n",
    "/proc/sys/vm/overcommit_memory": "2\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/boot/config-6.1.0-13-amd64": "CONFIG_MEM_SOFT_DIRTY=y\n",
}
COMMAND_LINE = "/usr/bin/nodeos\0--config-dir\0/etc/eos\0--data-dir\0/srv/eos\0"
CONFIG = (
    "1\tdatabase-map-mode\tmapped_private\n2\thttp-server-address\t0.0.0.0:8890\n"
    "3\tplugin\teosio::chain_api_plugin\n4\tplugin\teosio::state_history_plugin\n"
    "5\tsignature-provider\t\n6\tmystery\t\n7\t?\t\n8\tstate-history-dir\t/hist\n"
)
INFO = (
    "200 900 nodeos/v5.0.3\n"
    '{"head_block_num":5,"last_irreversible_block_num":4,"head_block_time":"2026-11-30T14:56:43.000",'
    '"server_version_string":"v5.0.3"}'
)


def process(pid: int = 42, start: int = 900, match: str = UNNAMED_MATCH, **files: str | ReadStatus) -> Texts:
    """Return the sections of a matched process."""
    base = f"nodeos/{match}/{pid}/{start}/"
    known: Texts = {
        "stat": stat_text(pid, start),
        "cmdline": COMMAND_LINE,
        "exe": "/usr/bin/nodeos",
        "cwd": "/srv",
        "cgroup": "0::/system.slice/nodeos@eos.service\n",
        "limits": "Max locked memory         8388608              8388608              bytes     \n",
    }
    return {base + name: text for name, text in (known | files).items()}


def survey(*parts: Texts) -> Survey:
    """Return the survey of a host with these sections."""
    return read_survey(frame(1, {name: text for part in parts for name, text in part.items()}), "alpha")


DISKS: Texts = dict(layouts.SATA_WITH_SWAP_PARTITION)


def test_facts_of_the_machine() -> None:
    """Kernel, CPU, memory, virtualisation and settings are texts under their names."""
    host = survey(MACHINE, DISKS).host
    assert (host.name, host.boot_id) == ("alpha", "bcf0205a")
    expected = {
        "kernel": "6.1.0-13-amd64",
        "cpu_model": "AMD EPYC 7443P",
        "cores": "8",
        "mem_total_bytes": "16384",
        "swap_total_bytes": "8192",
        "page_size_bytes": "65536",
        "virtualization": "qemu",
        "distribution": "Debian GNU/Linux 12 (bookworm)",
        "overcommit_memory": "2",
        "thp_enabled": "madvise",
        "soft_dirty": "yes",
    }
    assert {name: host.facts.get(name) for name in expected} == expected


def test_unknown_fact_is_not_there() -> None:
    """What could not be read has no entry, not an empty one."""
    host = survey({}).host
    assert host.facts == {}
    assert (host.boot_id, host.machine_id) == ("", None)


def test_machine_id_leaves_only_as_a_hash() -> None:
    """The id itself is confidential (machine-id(5))."""
    found = survey(MACHINE)
    assert found.host.machine_id is not None
    assert len(found.host.machine_id) == 16
    assert "0123456789abcdef" not in repr(found)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"/proc/cpuinfo": "flags : fpu\n", "/sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, "none"),
        ({"/proc/cpuinfo": "flags : hypervisor\n", "/sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, "amazon"),
        ({"/proc/cpuinfo": "flags : hypervisor\n"}, "unknown hypervisor"),
        ({"/sys/hypervisor/type": "xen\n"}, "xen"),
        ({"/proc/1/cgroup": "0::/docker/0123\n"}, "container"),
        (layouts.mounts("0:60 /proc/meminfo fuse.lxcfs lxcfs"), "container"),
        ({}, None),
    ],
)
def test_virtualization(texts: Texts, expected: str | None) -> None:
    """A container, a hypervisor, none of both and not known are told apart."""
    assert survey(texts).host.facts.get("virtualization") == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["0:29 /sys/fs/cgroup cgroup2 cgroup2"], "2"),
        (["0:29 /sys/fs/cgroup/cpu cgroup cgroup"], "1"),
        (["0:29 /sys/fs/cgroup/cpu cgroup cgroup", "0:30 /sys/fs/cgroup/unified cgroup2 cgroup2"], "hybrid"),
    ],
)
def test_cgroup_version(lines: list[str], expected: str) -> None:
    """Both versions beside each other are a third case."""
    assert survey(layouts.mounts(*lines)).host.facts["cgroup_version"] == expected


def test_hidepid_is_told() -> None:
    """A proc that hides other users' processes explains why no nodeos was found."""
    assert survey(layouts.mounts("0:21 /proc proc proc rw,hidepid=2")).host.facts["hidepid"] == "2"


def test_nodeos_is_described_by_its_command_line() -> None:
    """Directories, unit and name come from the first question alone; the mode is not known yet."""
    nodeos = survey(MACHINE, DISKS, process()).nodeos[0]
    assert (nodeos.id, nodeos.pid, nodeos.start_ticks) == ("nodeos@eos", 42, 900)
    assert (nodeos.config_dir, nodeos.data_dir) == ("/etc/eos", "/srv/eos")
    assert (nodeos.state_dir, nodeos.blocks_dir) == ("/srv/eos/state", "/srv/eos/blocks")
    assert (nodeos.unit, nodeos.map_mode, nodeos.version) == ("nodeos@eos.service", None, None)
    assert nodeos.roles == {"state": ("sdaa",), "blocks": ("sdaa",), "swap": ("sda", "sdaa"), "os": ("sda",)}


def test_second_question_asks_config_file_and_version() -> None:
    """A lone nodeos without a known address is asked at nodeos's default one."""
    questions = follow_up(survey(process()))
    assert questions[0] == ConfigRead(match_id="nodeos@eos", path="/etc/eos/config.ini")
    asked = [question for question in questions if isinstance(question, HttpGet)]
    assert {question.address for question in asked} == {"127.0.0.1:8888"}


def test_answers_complete_the_nodeos() -> None:
    """Config file and HTTP server tell mode, address, version and options; hidden values stay None."""
    answers: Texts = {"config/nodeos@eos": CONFIG, "http/nodeos@eos/v1/chain/get_info": INFO}
    nodeos = with_answers(survey(DISKS, process()), frame(2, answers)).nodeos[0]
    assert (nodeos.map_mode, nodeos.version, nodeos.http_address) == (
        "mapped_private",
        "v5.0.3",
        "127.0.0.1:8890",
    )
    assert nodeos.options["plugin"] == ("eosio::chain_api_plugin", "eosio::state_history_plugin")
    assert nodeos.options["signature-provider"] == (None,)
    assert nodeos.options["mystery"] == (None,)
    assert "?" not in nodeos.options
    assert nodeos.roles["state-history"] == ("sda",)


def test_answers_in_the_same_frame_give_the_same() -> None:
    """Both questions may be answered in one frame."""
    answers: Texts = {"config/nodeos@eos": CONFIG, "http/nodeos@eos/v1/chain/get_info": INFO}
    both = survey(DISKS, process(), answers)
    assert both.nodeos == with_answers(survey(DISKS, process()), frame(2, answers)).nodeos


def test_command_line_wins_over_config_file() -> None:
    """Boost program_options: what was stored first stays."""
    command = COMMAND_LINE + "--database-map-mode=heap\0--plugin\0eosio::net_plugin\0"
    nodeos = survey(process(cmdline=command), {"config/nodeos@eos": CONFIG}).nodeos[0]
    assert nodeos.map_mode == "heap"
    assert nodeos.options["plugin"][0] == "eosio::net_plugin"
    assert len(nodeos.options["plugin"]) == 3


def test_default_mode_is_assumed_only_with_a_readable_config() -> None:
    """Without the option, a config file that was read means mapped; one that was not means not known."""
    assert survey(process(), {"config/nodeos@eos": "1\tplugin\tx\n"}).nodeos[0].map_mode == "mapped"
    assert survey(process(), {"config/nodeos@eos": ReadStatus.DENIED}).nodeos[0].map_mode is None


def test_secret_in_a_config_section_is_dropped_again() -> None:
    """Should a key-shaped or unlisted value come through, it does not enter the survey."""
    key = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
    config = f"1\tsignature-provider\tX=KEY:{key}\n2\tplugin\t{key}\n3\tmystery\tsecret\n"
    found = survey(process(), {"config/nodeos@eos": config})
    assert key not in repr(found)
    assert found.nodeos[0].options["mystery"] == (None,)


def test_default_address_is_kept_only_when_a_nodeos_answered() -> None:
    """Where the config file is refused and nobody answers, there is no address to ask at."""
    refused: Texts = {"http/nodeos@eos/v1/chain/get_info": "404 5 nginx\nnot here"}
    assert survey(process(), refused).nodeos[0].http_address is None
    assert (
        survey(process(), {"http/nodeos@eos/v1/chain/get_info": INFO}).nodeos[0].http_address
        == "127.0.0.1:8888"
    )


def test_several_nodeos_are_named_apart_in_the_order_of_their_start() -> None:
    """Names hold no pid; they come from unit or data directory, and a second one gets a number."""
    session = "0::/user.slice/user-1000.slice/session-4.scope\n"
    found = survey(
        process(pid=90, start=500, cgroup=session, cmdline="nodeos\0--data-dir\0/srv/wax/data\0"),
        process(pid=80, start=700, cgroup=session, cmdline="nodeos\0-d\0/mnt/wax\0"),
        process(pid=70, start=800, cgroup=session, cmdline="nodeos\0"),
    )
    assert [nodeos.id for nodeos in found.nodeos] == ["wax", "wax-2", "nodeos"]
    assert [nodeos.unit for nodeos in found.nodeos] == [None, None, None]
    assert [nodeos.http_address for nodeos in found.nodeos] == [None, None, None]


def test_name_that_the_operator_gave_stays() -> None:
    """A match with a name of its own keeps it: sampling uses the same."""
    assert survey(process(match="my-node")).nodeos[0].id == "my-node"


def test_relative_directory_needs_the_working_directory() -> None:
    """``-d data`` is below cwd; where cwd is refused, nothing is guessed and the refusal is named."""
    relative = "nodeos\0-d\0./data\0"
    assert survey(process(cmdline=relative)).nodeos[0].data_dir == "/srv/data"
    refused = survey(process(cmdline=relative, cwd=ReadStatus.DENIED, exe=ReadStatus.DENIED))
    assert (refused.nodeos[0].data_dir, refused.nodeos[0].state_dir, refused.nodeos[0].executable) == (
        None,
        None,
        None,
    )
    assert refused.denied == ("nodeos/nodeos@eos/cwd", "nodeos/nodeos@eos/exe")


def test_replaced_binary_keeps_its_path() -> None:
    """After a package upgrade the running executable reads ``(deleted)``."""
    assert survey(process(exe="/usr/bin/nodeos (deleted)")).nodeos[0].executable == "/usr/bin/nodeos"


def test_container_sees_mounts_of_its_own() -> None:
    """Paths of a nodeos in a container are looked up in its own mounts."""
    own = layouts.mounts("0:50 / overlay overlay", "65:160 /srv/eos xfs /dev/sdaa")["/proc/self/mountinfo"]
    root_only: Texts = dict(layouts.SATA_WITH_SWAP_PARTITION) | layouts.mounts("8:1 / ext4 /dev/sda1")
    assert survey(root_only, process(mountinfo=own)).nodeos[0].roles["state"] == ("sdaa",)
    assert survey(root_only, process()).nodeos[0].roles["state"] == ("sda",)


def test_cgroup_is_own_when_the_agent_says_so() -> None:
    """Only the host can see who else is in the cgroup."""
    hint = {f"cgroup/{UNNAMED_MATCH}/pids": "own 1\npath /system.slice/nodeos@eos.service\n"}
    assert survey(process(), hint).nodeos[0].cgroup_is_own
    assert not survey(process()).nodeos[0].cgroup_is_own


def test_stand_in_is_no_nodeos() -> None:
    """Leapprof's own stand-in is known by its module or its Server header."""
    assert survey(process(cmdline="python3\0-m\0leapprof.standin\0")).nodeos[0].stand_in
    header: Texts = {"http/nodeos@eos/v1/chain/get_info": "200 5 leapprof-standin/v5.0.3\n{}"}
    told = survey(process(), header).nodeos[0]
    assert (told.stand_in, told.version) == (True, "v5.0.3")
    assert not survey(process()).nodeos[0].stand_in


def test_locked_memory_limit_is_a_fact() -> None:
    """Locked mode depends on it."""
    assert survey(process()).host.facts["nodeos.nodeos@eos.locked_memory_limit_bytes"] == "8388608"


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("127.0.0.1:8888", "127.0.0.1:8888"),
        ("0.0.0.0:8888", "127.0.0.1:8888"),
        (":8888", "127.0.0.1:8888"),
        ("[::]:8888", "127.0.0.1:8888"),
        ("[::1]:8888", "[::1]:8888"),
        ("localhost:80", "localhost:80"),
        ("api.example.org:8888", None),
        ("127.0.0.1:99999", None),
        ("8888", None),
        ("", None),
        (None, None),
    ],
)
def test_address_to_ask_at(value: str | None, address: str | None) -> None:
    """Nodeos listens on any address; it is asked on the loopback. Names are not resolved."""
    assert reachable_address(value) == address


def test_category_address_of_the_chain_api_is_asked() -> None:
    """Leap 5 can listen by category (plugins/http_plugin)."""
    config = (
        "1\thttp-server-address\thttp-category-address\n2\thttp-category-address\tnet_ro,:8890\n"
        "3\thttp-category-address\tchain_ro,127.0.0.1:8889\n"
    )
    assert survey(process(), {"config/nodeos@eos": config}).nodeos[0].http_address == "127.0.0.1:8889"


FIXED = sorted({*MACHINE, *process(), *DISKS, "config/nodeos@eos", "http/nodeos@eos/v1/chain/get_info"})


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(FIXED) | st.text(max_size=40), st.text(max_size=60), max_size=12))
def test_any_sections_give_a_survey(texts: dict[str, str]) -> None:
    """Whatever a host sends, there is a survey, and each nodeos has a plain name."""
    found = read_survey(
        frame(1, {name.encode("utf-8", "replace").decode(): text for name, text in texts.items()}), "x"
    )
    for nodeos in found.nodeos:
        assert nodeos.id
    follow_up(found)


def test_a_replaced_program_is_told() -> None:
    """What lies at its path is not what runs, so the command that asks that file is not believed."""
    command = {"command/nodeos-full-version": "exit 0\nv5.0.3-d133c6413ce8ce2e96096a0513ec25b4a8dbe837\n"}
    whole = survey(process(), command)
    assert whole.host.facts["nodeos.nodeos@eos.full_version"].startswith("v5.0.3-d133c6")
    replaced = survey(process(exe="/usr/bin/nodeos (deleted)"), command)
    assert replaced.nodeos[0].executable_deleted
    assert "nodeos.nodeos@eos.full_version" not in replaced.host.facts


DOCKER = "0::/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n"


def test_a_container_is_seen_from_the_host() -> None:
    """Its files are read through its own root; a unit of the runtime is not the nodeos's."""
    own = layouts.mounts("0:50 / overlay overlay", "65:160 /data xfs /dev/sdaa")["/proc/self/mountinfo"]
    command = "nodeos\0--config-dir\0/config\0--data-dir\0/data\0"
    host = dict(layouts.SATA_WITH_SWAP_PARTITION) | layouts.mounts("8:1 / ext4 /dev/sda1")
    found = survey(host, process(cgroup=DOCKER, mountinfo=own, cmdline=command))
    nodeos = found.nodeos[0]
    assert (nodeos.container, nodeos.unit, nodeos.root) == ("docker 0123456789ab", None, "/proc/42/root")
    assert nodeos.state_dir == "/data/state"
    assert found.host.facts["nodeos.nodeos.state_filesystem"] == "xfs"
    paths = {question.path for question in follow_up(found)}
    assert "/proc/42/root/config/config.ini" in paths
    assert "/proc/42/root/data/state/shared_memory.bin" in paths


LOG_TIME = "2026-11-30T02:30:00.000"


@pytest.mark.parametrize(
    ("log", "told", "mode"),
    [
        (f"{LOG_TIME}\tNon-default options: database-map-mode = heap, secret = x\n", "read", "heap"),
        (
            "2020-01-01T00:00:00.000\tNon-default options: database-map-mode = heap\n",
            "read",
            "mapped_private",
        ),
        (ReadStatus.DENIED, "not permitted", "mapped_private"),
        (ReadStatus.ABSENT, "not there", "mapped_private"),
    ],
)
def test_the_log_says_what_it_runs_with(log: str | ReadStatus, told: str, mode: str) -> None:
    """Its options win over file and command line, unless the line is of an earlier process."""
    found = survey(process(log=log), {"config/nodeos@eos": CONFIG})
    nodeos = found.nodeos[0]
    assert (nodeos.log, nodeos.map_mode) == (told, mode)
    assert "secret" not in nodeos.options
    assert ("nodeos/nodeos@eos/log" in found.denied) is (log is ReadStatus.DENIED)


def test_the_log_says_where_it_all_is_when_the_command_line_does_not() -> None:
    """A nodeos started without any option uses directories below its user's home."""
    home = "/home/eos/.local/share/eosio/nodeos"
    log = (
        f"{LOG_TIME}\tnodeos using configuration file {home}/config/config.ini\n"
        f"{LOG_TIME}\tnodeos data directory is {home}/data\n"
    )
    found = survey(process(cmdline="nodeos\0", log=log))
    assert found.nodeos[0].data_dir == f"{home}/data"
    assert found.nodeos[0].state_dir == f"{home}/data/state"
    assert ConfigRead(match_id="nodeos@eos", path=f"{home}/config/config.ini") in follow_up(found)
    old = survey(process(cmdline="nodeos\0", log=log.replace("2026", "2020")))
    assert old.nodeos[0].data_dir is None

"""Rules about filesystem, cores, stopping, drives and the dirty flag."""

import pytest

from leapprof.model import Device, DeviceKind, Host, Mount, Nodeos, Topology
from leapprof.nodeos.grammar import parse_config
from leapprof.nodeos.host_facts import HostFacts, Overcommit, host_facts
from leapprof.nodeos.rules import check_config
from leapprof.nodeos.versions import parse_version
from leapprof.units import GIB

ROOMY = {"ram_bytes": 512 * GIB, "swap_bytes": 0}


def codes(text, target="leap-5.0", **facts):
    """Return the codes found for a config on a host with much memory."""
    findings = check_config(parse_config(text), parse_version(target), facts=HostFacts(**ROOMY, **facts))
    return [f.code for f in findings if f.code != "default-restated"]


@pytest.mark.parametrize("mode", ["mapped_private", "heap", "locked"])
def test_tmpfs_takes_only_mapped_from_5_0_on(mode):
    """5.0 refuses every private mode on tmpfs."""
    text = f"database-map-mode = {mode}"
    found = codes(text, state_filesystem="tmpfs", memlock_unlimited=True)
    assert found == ["tmpfs-wants-mapped"]


def test_tmpfs_with_mapped_is_fine():
    """Mapped on tmpfs is what tmpfs is for."""
    assert codes("database-map-mode = mapped", state_filesystem="tmpfs") == []


def test_tmpfs_with_heap_holds_the_state_twice_in_4_0():
    """4.0 starts with heap on tmpfs, to no use."""
    assert codes("database-map-mode = heap", "leap-4.0", state_filesystem="tmpfs") == ["tmpfs-held-twice"]


@pytest.mark.parametrize(
    ("tmpfs_gib", "more", "found"),
    [
        (129, "", ["tmpfs-trips-resource-monitor"]),
        (129, "resource-monitor-space-threshold = 99\n", ["tmpfs-trips-resource-monitor"]),
        (150, "", []),
        (129, "resource-monitor-space-absolute-gb = 1\n", []),
        (129, "resource-monitor-not-shutdown-on-threshold-exceeded = true\n", []),
    ],
)
def test_a_tmpfs_just_above_the_state_trips_the_resource_monitor(tmpfs_gib, more, found):
    """A tmpfs of 129 GiB for 128 GiB of state stops nodeos at 90 percent."""
    text = "chain-state-db-size-mb = 131072\n" + more
    assert codes(text, state_filesystem="tmpfs", state_filesystem_bytes=tmpfs_gib * GIB) == found


def test_a_state_larger_than_its_filesystem_is_told():
    """A sparse file above the size of the filesystem starts, and ends badly."""
    text = "chain-state-db-size-mb = 131072"
    assert codes(text, state_filesystem="ext4", state_filesystem_bytes=100 * GIB) == [
        "state-above-filesystem"
    ]
    assert codes(text, state_filesystem="ext4", state_filesystem_bytes=200 * GIB) == []


def test_more_threads_than_cores_are_told():
    """A pool above the number of cores is a warning, a default is not."""
    assert codes("net-threads = 8\nchain-threads = 4", cores=4) == ["threads-above-cores"]
    assert codes("", cores=1) == []


def test_a_stop_that_takes_longer_than_its_timeout_is_told():
    """Writing 66 GiB at 100 MB/s takes longer than systemd's 90 s."""
    text = "database-map-mode = mapped_private\nchain-state-db-size-mb = 131072"
    used = 66 * GIB
    assert codes(text, stop_timeout_s=90, state_used_bytes=used) == ["stop-timeout-short"]
    assert codes(text, stop_timeout_s=900, state_used_bytes=used) == []
    assert codes(text, stop_timeout_s=90, state_used_bytes=used, drive_write_bytes_per_s=1e9) == []
    assert codes("database-map-mode = mapped", stop_timeout_s=1, state_used_bytes=used // 100) == []


def test_a_dirty_state_refuses_the_start_unless_nodeos_runs():
    """The dirty flag counts only when no nodeos has the state open."""
    assert codes("", state_dirty=True) == ["state-dirty"]
    assert codes("", state_dirty=True, nodeos_running=True) == []


def test_a_shared_drive_is_noted_for_mapped():
    """State and block log on one drive cannot be told apart there."""
    drives = {"state_drives": frozenset({"sda"}), "blocks_drives": frozenset({"sda", "sdb"})}
    assert codes("", **drives) == ["state-and-blocks-share-drive"]


def test_a_kernel_without_soft_dirty_is_noted():
    """Without tracking of written pages each stop writes all that is used."""
    assert codes("database-map-mode = mapped_private", soft_dirty=False) == ["soft-dirty-missing"]


def test_facts_come_from_a_manifest():
    """RAM, swap, overcommit, filesystem and drives are read from what a recording knows of its host."""
    host = Host(
        name="node",
        boot_id="b",
        facts={"mem_total_bytes": "100", "swap_total_bytes": "50", "overcommit_memory": "2", "cores": "4"},
    )
    topology = Topology(
        devices=(Device(name="sda", major_minor="8:0", kind=DeviceKind.DISK),),
        mounts=(
            Mount(point="/", major_minor="8:0", filesystem="ext4", source="/dev/sda", options="rw"),
            Mount(point="/ram", major_minor="0:30", filesystem="tmpfs", source="tmpfs", options="rw"),
        ),
    )
    node = Nodeos(id="n", pid=1, start_ticks=1, state_dir="/ram/state", blocks_dir="/data/blocks")
    facts = host_facts(host, topology, node)
    assert (facts.ram_bytes, facts.swap_bytes, facts.cores) == (100, 50, 4)
    assert facts.overcommit is Overcommit.NEVER
    assert (facts.state_filesystem, facts.state_drives, facts.blocks_drives) == (
        "tmpfs",
        frozenset(),
        {"sda"},
    )


def test_facts_that_are_missing_stay_unknown():
    """An empty manifest gives facts that know nothing."""
    facts = host_facts(Host(name="n", boot_id="b", facts={"cores": "many"}), Topology(), None)
    assert facts == HostFacts()

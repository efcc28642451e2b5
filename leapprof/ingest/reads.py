"""What a survey has to read, so that survey and topology find it. Plain paths; ``*`` is expanded on the host."""

BLOCK_FILES = (
    "dev",
    "size",
    "partition",
    "ro",
    "hidden",
    "uevent",
    "queue/rotational",
    "queue/read_ahead_kb",
    "queue/logical_block_size",
    "device/model",
    "device/vendor",
    "device/serial",
    "device/wwid",
    "wwid",
    "dm/name",
    "dm/uuid",
    "loop/backing_file",
    "bcache/state",
)
TOPOLOGY_READS = (
    *(f"/sys/class/block/*/{file}" for file in BLOCK_FILES),
    "/proc/self/mountinfo",
    "/proc/swaps",
    "/proc/diskstats",
)
TOPOLOGY_LISTINGS = (
    "/sys/class/block",
    "/sys/class/block/*/slaves",
    "/sys/fs/btrfs/*/devices",
    "/proc/spl/kstat/zfs",
)
TOPOLOGY_LINKS = ("/sys/class/block/*", "/dev/zvol/*/*", "/dev/zvol/*/*/*")

FACT_READS = (
    "/proc/sys/kernel/random/boot_id",
    "/etc/machine-id",
    "/etc/os-release",
    "/proc/sys/kernel/osrelease",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self/smaps",
    "/proc/1/cgroup",
    "/sys/devices/system/cpu/online",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/dmi/id/product_name",
    "/sys/hypervisor/type",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/vm/overcommit_ratio",
    "/proc/sys/vm/overcommit_kbytes",
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/dirty_ratio",
    "/proc/sys/vm/dirty_bytes",
    "/proc/sys/vm/dirty_background_ratio",
    "/proc/sys/vm/dirty_background_bytes",
    "/proc/sys/vm/dirty_expire_centisecs",
    "/proc/sys/vm/dirty_writeback_centisecs",
    "/proc/sys/vm/nr_hugepages",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
    "/sys/module/zswap/parameters/enabled",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/boot/config-*",
)

SURVEY_READS = (*FACT_READS, *TOPOLOGY_READS)
SURVEY_LISTINGS = TOPOLOGY_LISTINGS
SURVEY_LINKS = TOPOLOGY_LINKS
SURVEY_PROCESS_FILES = ("stat", "status", "cmdline", "exe", "cwd", "cgroup", "limits", "mountinfo", "log")
KEEP_LINES = {
    "/proc/cpuinfo": ("model name", "processor", "flags", "Hardware", "CPU implementer", "CPU part"),
    "/proc/self/smaps": ("KernelPageSize",),
    "/boot/config-*": ("CONFIG_MEM_SOFT_DIRTY", "CONFIG_HAVE_ARCH_SOFT_DIRTY", "# CONFIG_MEM_SOFT_DIRTY"),
}

COMMAND_LINE_OPTIONS = (
    "config", "config-dir", "data-dir", "snapshot", "snapshots-dir", "replay-blockchain", "hard-replay-blockchain",
    "genesis-json", "delete-all-blocks",
)  # fmt: skip
"""Options of the command line alone (no config file has them) that a survey needs; none is secret."""

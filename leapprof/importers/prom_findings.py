"""What the operator should know of data that came from a server."""

from collections.abc import Sequence

from leapprof.importers.prom_server import Server
from leapprof.model import Finding, Severity
from leapprof.units import format_duration

LARGE_OFFSET_S = 5.0


def server_findings(server: Server) -> tuple[Finding, ...]:
    """Return what the server said and did beside its answers."""
    found = []
    if server.partial:
        found.append(
            Finding(
                code="partial-answer",
                severity=Severity.WARNING,
                message="The server marked an answer as partial: some of its storage was not reachable.",
                hint="Repeat when all storage nodes answer; what is missing here is shown as a gap.",
            )
        )
    if server.warnings:
        found.append(
            Finding(
                code="server-warnings",
                severity=Severity.WARNING,
                message=f"The server warned: {'; '.join(list(server.warnings)[:3])}",
                hint="See the server's log; data may be missing.",
            )
        )
    if server.halved:
        found.append(
            Finding(
                code="asked-in-parts",
                severity=Severity.INFO,
                message=f"The server refused or did not finish {server.halved} questions, which were asked in halves.",
                hint="Nothing is lost; raise its query limits, or ask for a larger --step, to be faster.",
            )
        )
    if server.offset_s is not None and abs(server.offset_s) > LARGE_OFFSET_S:
        found.append(
            Finding(
                code="server-clock-differs",
                severity=Severity.WARNING,
                message=f"The server's clock is {format_duration(server.offset_s)} off ours: times are the server's.",
                hint="Give the change's time by the server's clock, and run chrony or systemd-timesyncd on both.",
            )
        )
    return tuple(found)


def map_mode_unknown() -> Finding:
    """Return the finding of processes of which only an exporter tells."""
    return Finding(
        code="map-mode-unknown",
        severity=Severity.INFO,
        message="Exporters do not carry nodeos's config. If its map mode was changed, RSS and the bytes that it "
        "dirtied are not comparable: in mapped RSS is page cache, and private pages are charged to no process.",
        hint="Judge such a change by memory available on the host and by writes to drives, or record over SSH.",
    )


def coarser(scrape_s: float, step_s: float) -> Finding:
    """Return the finding of an import that leaves scrapes out."""
    return Finding(
        code="coarser-than-scraped",
        severity=Severity.INFO,
        message=f"Scrapes are {scrape_s:g} s apart and readings were taken every {step_s:g} s.",
        hint="Counters lose nothing by it; for finer levels ask for a shorter time or a smaller --step.",
    )


def four_kn(devices: Sequence[str]) -> Finding:
    """Return the finding of bytes that an old node_exporter counted eightfold."""
    return Finding(
        code="node-exporter-4kn",
        severity=Severity.WARNING,
        message=f"node_exporter before 1.4 counts bytes of drives with 4 KiB sectors eightfold: {', '.join(devices)} "
        "were divided by 8.",
        hint="Update node_exporter; check one figure against iostat on the host.",
    )


def paths_joined(heads: Sequence[str]) -> Finding:
    """Return the finding of NVMe heads whose kernel counts their paths alone."""
    return Finding(
        code="nvme-paths-joined",
        severity=Severity.INFO,
        message=f"The kernel counts {', '.join(heads)} at its paths alone: their sum was taken.",
        hint="Newer kernels count at the head; nothing to do.",
    )

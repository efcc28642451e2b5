"""`leapprof record`: sample hosts into recordings."""

from typing import Annotated

import typer

from leapprof.cli.options import (
    HostsArgument,
    InventoryOption,
    JsonOption,
    NodeosOption,
    RecordingsOption,
    TransportOption,
)


def command(
    hosts: HostsArgument,
    out: RecordingsOption,
    phase: Annotated[
        str, typer.Option("--phase", help="before, after, or a name; none: always-on.", metavar="NAME")
    ] = "",
    duration: Annotated[
        str | None, typer.Option("--duration", help="From the first sample: 90s, 6h, 7d.", metavar="DURATION")
    ] = None,
    interval: Annotated[
        str, typer.Option("--interval", help="The tick, 100ms to 60s.", metavar="DURATION")
    ] = "1s",
    nodeos: NodeosOption = None,
    inventory: InventoryOption = None,
    transport: TransportOption = None,
    spool: Annotated[
        str | None,
        typer.Option(
            "--spool",
            help="Directory on the host; the sampler outlives the connection and keeps samples.",
            metavar="DIR",
        ),
    ] = None,
    attach: Annotated[
        bool, typer.Option("--attach", help="Follow the sampler that an earlier --spool left on the host.")
    ] = False,
    retention: Annotated[
        str | None,
        typer.Option(
            "--retention", help="How far an always-on recording reaches back (30d).", metavar="DURATION"
        ),
    ] = None,
    metrics_listen: Annotated[
        str | None,
        typer.Option("--metrics-listen", help="Serve the last readings: 127.0.0.1:9777", metavar="HOST:PORT"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Sample hosts into DIR/<host>-<phase>-<start>/, until the duration is over or Ctrl-C.

    A lost connection is tried again, a host that fails ends nobody else's recording, and a recording that was
    killed stays readable. Exit codes: 3 when some hosts failed or did not come back, 5 when a disk was full, 130
    when interrupted.
    """
    from leapprof.cli.record_run import RecordRequest, run

    run(
        RecordRequest(
            hosts=tuple(hosts),
            out=out,
            phase=phase,
            duration=duration,
            interval=interval,
            nodeos=tuple(nodeos or ()),
            inventory=inventory,
            transport=transport,
            spool=spool,
            attach=attach,
            retention=retention,
            as_json=as_json,
            metrics_listen=metrics_listen,
        )
    )

"""`leapprof latency`: probes of delay, each into an ordinary recording."""

from pathlib import Path
from typing import Annotated

import typer

from leapprof.cli.options import JsonOption

app = typer.Typer(
    no_args_is_help=True, help="Probes of delay, comparable before and after like everything else."
)

_Out = Annotated[Path, typer.Option("--out", help="Directory for recordings.")]
_Phase = Annotated[str, typer.Option("--phase", help="before, after, or a name.")]
_Region = Annotated[str, typer.Option("--region", help="Where the probe runs; names the recording's host.")]
_Block = Annotated[str, typer.Option("--block", help="Length of a block of time.")]
_HostRecordings = Annotated[
    list[Path] | None,
    typer.Option(
        "--host-recording", help="Recording of a host of the same time; one above 80 % CPU is named."
    ),
]


@app.command("request")
def request(
    url: Annotated[str, typer.Argument(metavar="URL", help="http://HOST:PORT or https://HOST:PORT.")],
    out: _Out,
    phase: _Phase = "",
    operation: Annotated[
        list[str],
        typer.Option(
            "--operation",
            help="get_info, get_block, get_account, get_table_rows, send_read_only_transaction, or a path such as "
            "/v1/chain/get_producers; several are asked in turns.",
        ),
    ] = ["get_info"],  # noqa: B006 - typer copies it
    body: Annotated[
        Path | None, typer.Option("--body", help="File with the body, instead of the ready one.")
    ] = None,
    rate: Annotated[float, typer.Option("--rate", min=0.01, max=10_000, help="Requests a second.")] = 10.0,
    duration: Annotated[str, typer.Option("--duration", help="90s, 30m, 6h.")] = "30m",
    most: Annotated[int, typer.Option("--count", min=1, help="Requests at most.")] = 10_000_000,
    connections: Annotated[
        int, typer.Option("--connections", min=1, max=512, help="Requests that can be under way at once.")
    ] = 32,
    timeout: Annotated[str, typer.Option("--timeout", help="Of one request.")] = "5s",
    warm_up: Annotated[str, typer.Option("--warm-up", help="Made first and not counted.")] = "5s",
    block: _Block = "10s",
    region: _Region = "local",
    host_recording: _HostRecordings = None,
    as_json: JsonOption = False,
) -> None:
    """Send HTTP requests to nodeos's API at a set rate, whatever became of those before (an open loop)."""
    from leapprof.cli.latency_run import Common, RequestChoice, run_request

    run_request(
        Common(
            out=out,
            phase=phase,
            region=region,
            block=block,
            timeout=timeout,
            host_recordings=tuple(host_recording or ()),
            as_json=as_json,
        ),
        RequestChoice(
            url=url,
            operations=tuple(operation),
            body=body,
            rate_per_s=rate,
            duration=duration,
            warm_up=warm_up,
            most=most,
            connections=connections,
        ),
    )


@app.command("rtt")
def rtt(
    endpoints: Annotated[
        list[str], typer.Argument(metavar="HOST:PORT…", help="Several are probed in turns.")
    ],
    out: _Out,
    phase: _Phase = "",
    count: Annotated[int, typer.Option("--count", min=1, help="Connections to each address.")] = 30,
    duration: Annotated[str | None, typer.Option("--duration", help="Instead of a count: 30m, 6h.")] = None,
    rate: Annotated[float, typer.Option("--rate", min=0.01, max=1000, help="Connections a second.")] = 10.0,
    family: Annotated[str, typer.Option("--family", help="4, 6 or both (those that the name has).")] = "both",
    tls: Annotated[bool, typer.Option("--tls", help="Measure a TLS handshake too, apart.")] = False,
    timeout: Annotated[str, typer.Option("--timeout", help="Of one connection.")] = "3s",
    block: _Block = "10s",
    region: _Region = "local",
    host_recording: _HostRecordings = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how long TCP connections from this machine take: a round trip each, the median of 30."""
    from leapprof.cli.latency_run import Common, RttChoice, run_rtt

    run_rtt(
        Common(
            out=out,
            phase=phase,
            region=region,
            block=block,
            timeout=timeout,
            host_recordings=tuple(host_recording or ()),
            as_json=as_json,
        ),
        RttChoice(
            endpoints=tuple(endpoints),
            count=count,
            duration=duration,
            rate_per_s=rate,
            family=family,
            tls=tls,
        ),
    )


@app.command("table")
def table(
    recordings: Annotated[list[Path], typer.Argument(metavar="RECORDING…", help="Of probes of delay.")],
    as_json: JsonOption = False,
) -> None:
    """Join runs, made in several regions say, into one table with all that is needed to repeat them."""
    from leapprof.cli.latency_table import print_table

    print_table(tuple(recordings), as_json=as_json)

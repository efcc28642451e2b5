"""`leapprof latency`: probes of delay, each into an ordinary recording."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leapprof.cli.options import InventoryOption, JsonOption, RecordingsOption
from leapprof.errors import ConfigError

if TYPE_CHECKING:
    from leapprof.cli.latency_run import Common

app = typer.Typer(
    no_args_is_help=True, help="Probes of delay, comparable before and after like everything else."
)

_Phase = Annotated[str, typer.Option("--phase", help="before, after, or a name.", metavar="NAME")]
_Region = Annotated[
    str, typer.Option("--region", help="Where the probe runs; names the recording's host.", metavar="NAME")
]
_Block = Annotated[str, typer.Option("--block", help="Length of a block of time.", metavar="DURATION")]
_HostRecordings = Annotated[
    list[Path] | None,
    typer.Option(
        "--host-recording",
        help="Recording of a host of the same time; one above 80 % CPU is named.",
        metavar="RECORDING",
    ),
]


def _common(context: typer.Context) -> "Common":
    """Return the options that all probes of this machine have, from those of the command that is being run."""
    from leapprof.cli.latency_run import Common

    given = context.params
    return Common(
        out=given["out"],
        phase=given["phase"],
        region=given["region"],
        block=given["block"],
        timeout=given["timeout"],
        host_recordings=tuple(given["host_recording"] or ()),
        as_json=given["as_json"],
    )


@app.command(
    "request",
    short_help="Requests to nodeos's API at a set rate.",
    epilog="Example: leapprof latency request http://10.0.0.5:8888 --rate 20 --phase before --out recordings",
)
def request(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="http://HOST:PORT or https://HOST:PORT.")],
    out: RecordingsOption,
    phase: _Phase = "",
    operation: Annotated[
        list[str],
        typer.Option(
            "--operation",
            help="get_info, get_block, get_account, get_table_rows, send_read_only_transaction, or a path such as "
            "/v1/chain/get_producers; several are asked in turns.",
            metavar="OPERATION",
        ),
    ] = ["get_info"],  # noqa: B006 - typer copies it
    body: Annotated[
        Path | None,
        typer.Option("--body", help="File with the body, instead of the ready one.", metavar="FILE"),
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", min=0.01, max=10_000, help="Requests a second.", metavar="N")
    ] = 10.0,
    duration: Annotated[str, typer.Option("--duration", help="90s, 30m, 6h.", metavar="DURATION")] = "30m",
    most: Annotated[int, typer.Option("--count", min=1, help="Requests at most.", metavar="N")] = 10_000_000,
    connections: Annotated[
        int,
        typer.Option(
            "--connections", min=1, max=512, help="Requests that can be under way at once.", metavar="N"
        ),
    ] = 32,
    timeout: Annotated[str, typer.Option("--timeout", help="Of one request.", metavar="DURATION")] = "5s",
    warm_up: Annotated[
        str, typer.Option("--warm-up", help="Made first and not counted.", metavar="DURATION")
    ] = "5s",
    block: _Block = "10s",
    region: _Region = "local",
    host_recording: _HostRecordings = None,
    as_json: JsonOption = False,
) -> None:
    """Send HTTP requests to nodeos's API at a set rate, whatever became of those before (an open loop)."""
    from leapprof.cli.latency_run import RequestChoice, run_request

    run_request(
        _common(context),
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


@app.command(
    "rtt",
    short_help="How long TCP connections take.",
    epilog="Example: leapprof latency rtt 10.0.0.5:9876 --out recordings",
)
def rtt(
    context: typer.Context,
    endpoints: Annotated[list[str], typer.Argument(metavar="HOST:PORT", help="Several are probed in turns.")],
    out: RecordingsOption,
    phase: _Phase = "",
    count: Annotated[
        int, typer.Option("--count", min=1, help="Connections to each address.", metavar="N")
    ] = 30,
    duration: Annotated[
        str | None, typer.Option("--duration", help="Instead of a count: 30m, 6h.", metavar="DURATION")
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", min=0.01, max=1000, help="Connections a second.", metavar="N")
    ] = 10.0,
    family: Annotated[
        str, typer.Option("--family", help="4, 6 or both (those that the name has).", metavar="FAMILY")
    ] = "both",
    tls: Annotated[bool, typer.Option("--tls", help="Measure a TLS handshake too, apart.")] = False,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="HOST",
            help="Connect from these hosts (as `record` names them) instead of here.",
        ),
    ] = None,
    inventory: InventoryOption = None,
    timeout: Annotated[str, typer.Option("--timeout", help="Of one connection.", metavar="DURATION")] = "3s",
    block: _Block = "10s",
    region: _Region = "local",
    host_recording: _HostRecordings = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how long TCP connections from this machine take: a round trip each, the median of 30."""
    from leapprof.cli.latency_from import run_from
    from leapprof.cli.latency_run import RttChoice, run_rtt

    common = _common(context)
    choice = RttChoice(
        endpoints=tuple(endpoints), count=count, duration=duration, rate_per_s=rate, family=family, tls=tls
    )
    if source:
        run_from(common, choice, source, inventory)
    else:
        run_rtt(common, choice)


@app.command(
    "histogram",
    short_help="Delays in existing Prometheus histograms.",
    epilog="Example: leapprof latency histogram http://metrics:9090 --ready temporal "
    "--start 2024-01-15T00:00:00Z --end 2024-01-15T01:00:00Z --out recordings",
)
def histogram(
    url: Annotated[str, typer.Argument(help="Root of a Prometheus API: http://host:9090", metavar="URL")],
    start: Annotated[str, typer.Option("--start", help="2024-01-15T00:00:00Z", metavar="MOMENT")],
    end: Annotated[str, typer.Option("--end", help="2024-01-15T01:00:00Z", metavar="MOMENT")],
    out: RecordingsOption,
    phase: _Phase = "",
    metric: Annotated[
        str | None, typer.Option("--metric", help="Name without _bucket.", metavar="NAME")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Label that tells operations apart.", metavar="LABEL")] = "",
    ready: Annotated[
        str | None,
        typer.Option(
            "--ready", help="temporal: request and end-to-end delays of Temporal's SDKs.", metavar="NAME"
        ),
    ] = None,
    selector: Annotated[
        str, typer.Option("--selector", help='Label matchers: namespace="prod"', metavar="MATCHERS")
    ] = "",
    unit: Annotated[
        str | None,
        typer.Option("--unit", help="s, ms or us, where name and bounds do not tell.", metavar="UNIT"),
    ] = None,
    busy: Annotated[
        list[str] | None,
        typer.Option(
            "--busy",
            help="Query of CPU shares from 0 to 1, say of the database; above 0.8 is named.",
            metavar="QUERY",
        ),
    ] = None,
    block: Annotated[str, typer.Option("--block", help="Several scrapes long.", metavar="DURATION")] = "60s",
    region: _Region = "local",
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="File with a bearer token.", metavar="FILE")
    ] = None,
    basic_auth_file: Annotated[
        Path | None, typer.Option("--basic-auth-file", help="File with user:password.", metavar="FILE")
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", help="Certificates to trust.", metavar="FILE")
    ] = None,
    timeout: Annotated[str, typer.Option("--timeout", help="Of one answer.", metavar="DURATION")] = "60s",
    as_json: JsonOption = False,
) -> None:
    """Take delays from existing Prometheus histograms, one recording for a stretch of time: before, or after."""
    from leapprof.cli.latency_histogram import HistogramChoice, run_histogram
    from leapprof.cli.latency_table import print_made
    from leapprof.cli.prometheus_options import open_server

    choice = HistogramChoice(
        out=out,
        phase=phase,
        region=region,
        metric=metric,
        by=by,
        ready=ready,
        selector=selector,
        start=start,
        end=end,
        block=block,
        unit=unit,
        busy=tuple(busy or ()),
    )
    with open_server(url, token_file, basic_auth_file, ca_file, timeout) as server:
        directory = run_histogram(server, choice)
    print_made(directory, as_json=as_json)


@app.command(
    "stream",
    short_help="When blocks or transactions arrive.",
    epilog="Example: leapprof latency stream ws://10.0.0.5:8080 --out recordings --region fra-1",
)
def stream(
    context: typer.Context,
    out: RecordingsOption,
    urls: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL", help="ws://HOST:PORT of state histories; two or more run head to head."
        ),
    ] = None,
    yellowstone: Annotated[
        list[str] | None,
        typer.Option(
            "--yellowstone",
            metavar="HOST:PORT",
            help="Instead: a Yellowstone gRPC server (Solana), spoken to through TLS; http://HOST:PORT without. "
            "Several run head to head.",
        ),
    ] = None,
    account: Annotated[
        str | None, typer.Option("--account", metavar="PUBKEY", help="Whose transactions Yellowstone sends.")
    ] = None,
    token_file: Annotated[
        list[str] | None,
        typer.Option(
            "--token-file",
            metavar="[HOST:PORT=]PATH",
            help="File with the x-token of a Yellowstone server; else LEAPPROF_YELLOWSTONE_TOKEN for a single one.",
        ),
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(
            "--log", metavar="PATH", help="Instead: block lines of a nodeos's log; - for standard input."
        ),
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", help="Certificates to trust.", metavar="FILE")
    ] = None,
    phase: _Phase = "",
    count: Annotated[
        int, typer.Option("--count", min=2, max=10_000_000, help="Messages of each.", metavar="N")
    ] = 20_000,
    duration: Annotated[str, typer.Option("--duration", help="At most.", metavar="DURATION")] = "6h",
    timeout: Annotated[
        str, typer.Option("--timeout", help="For a connection, and for each message.", metavar="DURATION")
    ] = "10s",
    time_server: Annotated[
        str | None,
        typer.Option(
            "--time-server", help="Asked for this machine's clock error before and after.", metavar="HOST"
        ),
    ] = None,
    block: _Block = "10s",
    region: _Region = "local",
    host_recording: _HostRecordings = None,
    as_json: JsonOption = False,
) -> None:
    """Measure when messages of a subscription arrive: blocks, or transactions; several at once, one by one."""
    from leapprof.cli.latency_stream import StreamChoice, run_stream
    from leapprof.cli.latency_subscriptions import SubscriptionChoice

    run_stream(
        _common(context),
        StreamChoice(
            subscriptions=SubscriptionChoice(
                urls=tuple(urls or ()),
                yellowstone=tuple(yellowstone or ()),
                account=account,
                token_files=tuple(token_file or ()),
                ca_file=ca_file,
                logs=tuple(log or ()),
            ),
            count=count,
            duration=duration,
            time_server=time_server,
        ),
    )


@app.command(
    "forward",
    short_help="What a relay of packets adds.",
    epilog="Example: leapprof latency forward 127.0.0.1:9000 --listen 127.0.0.1:9001 --out recordings",
)
def forward(
    context: typer.Context,
    out: RecordingsOption,
    relay: Annotated[
        str | None, typer.Argument(metavar="HOST:PORT", help="Where the relay takes packets.")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="HOST:PORT", help="Where it sends them to: a port of this machine."),
    ] = None,
    captures: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--captures",
            metavar="IN OUT",
            help="Instead of packets of its own: live traffic in two pcap files of one machine, in front of the relay "
            "and behind it.",
        ),
    ] = None,
    in_port: Annotated[
        int | None,
        typer.Option(
            "--in-port", min=1, max=65_535, help="Of IN: only packets to this port.", metavar="PORT"
        ),
    ] = None,
    out_port: Annotated[
        int | None,
        typer.Option(
            "--out-port", min=1, max=65_535, help="Of OUT: only packets to this port.", metavar="PORT"
        ),
    ] = None,
    phase: _Phase = "",
    rate: Annotated[
        float, typer.Option("--rate", min=1, max=20_000, help="Packets a second.", metavar="N")
    ] = 200.0,
    transport: Annotated[str, typer.Option("--transport", help="udp or tcp.", metavar="NAME")] = "udp",
    size: Annotated[
        int, typer.Option("--size", min=24, max=65_000, help="Bytes of a packet.", metavar="BYTES")
    ] = 1200,
    duration: Annotated[str, typer.Option("--duration", help="60s, 30m.", metavar="DURATION")] = "60s",
    timeout: Annotated[
        str, typer.Option("--timeout", help="After which a packet is lost.", metavar="DURATION")
    ] = "2s",
    block: _Block = "10s",
    region: _Region = "local",
    host_recording: _HostRecordings = None,
    as_json: JsonOption = False,
) -> None:
    """Measure what a relay adds: half of the packets go through it, half straight, which is the probe's floor."""
    from leapprof.cli.latency_forward import ForwardChoice, run_forward

    if captures is not None:
        _match_captures(context)
        return
    run_forward(
        _common(context),
        ForwardChoice(
            relay=relay,
            listen=listen,
            rate_per_s=rate,
            size_bytes=size,
            duration=duration,
            transport=transport,
        ),
    )


def _match_captures(context: typer.Context) -> None:
    from leapprof.cli.latency_captures import CapturesChoice, run_captures
    from leapprof.cli.latency_table import print_made

    given = context.params
    if given["relay"] is not None or given["listen"] is not None:
        raise ConfigError("stands instead of a relay and --listen", key="--captures")
    before, behind = given["captures"]
    choice = CapturesChoice(
        before=before, behind=behind, in_port=given["in_port"], out_port=given["out_port"]
    )
    print_made(run_captures(_common(context), choice), as_json=given["as_json"])


@app.command(
    "table",
    short_help="Runs of several regions in one table.",
    epilog="Example: leapprof latency table recordings/*",
)
def table(
    recordings: Annotated[list[Path], typer.Argument(metavar="RECORDING", help="Of probes of delay.")],
    as_json: JsonOption = False,
) -> None:
    """Join runs, made in several regions say, into one table with all that is needed to repeat them."""
    from leapprof.cli.latency_table import print_table

    print_table(tuple(recordings), as_json=as_json)

"""`leapprof agents`: samplers that outlived their connection, and their spools."""

from typing import Annotated

import typer

from leapprof.agent.spool import DEFAULT_PARENT
from leapprof.cli.options import HostsArgument, InventoryOption, JsonOption, TransportOption


def command(
    hosts: HostsArgument,
    stop: Annotated[
        str | None,
        typer.Option("--stop", help="End the sampler of this spool; keep its samples.", metavar="PATH"),
    ] = None,
    clean: Annotated[
        str | None,
        typer.Option("--clean", help="Remove this spool, once its sampler has ended.", metavar="PATH"),
    ] = None,
    spool: Annotated[
        str, typer.Option("--spool", help="Directory on the host that holds spools.", metavar="DIR")
    ] = DEFAULT_PARENT,
    inventory: InventoryOption = None,
    transport: TransportOption = None,
    as_json: JsonOption = False,
) -> None:
    """List detached samplers and spools of hosts; end (--stop PATH) or remove (--clean PATH) one.

    Exit code 3 when a host cannot be reached.
    """
    from leapprof.cli.agents_view import chosen_question, run
    from leapprof.cli.record_run import chosen_hosts

    run(
        chosen_hosts(hosts, inventory, transport), chosen_question(stop, clean, spool), spool, as_json=as_json
    )

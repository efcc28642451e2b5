"""`leapprof doctor`: can we reach a host, what can we read, what is there."""

from leapprof.cli.options import HostsArgument, InventoryOption, JsonOption, NodeosOption, TransportOption


def command(
    hosts: HostsArgument,
    nodeos: NodeosOption = None,
    inventory: InventoryOption = None,
    transport: TransportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether hosts can be sampled: agent, nodeos, drives, clock, what is refused, and what to do about it.

    Nothing is written on a host. Exit code 3 when one of them cannot be sampled.
    """
    from leapprof.cli.doctor_view import run

    run(tuple(hosts), tuple(nodeos or ()), inventory, transport, as_json=as_json)

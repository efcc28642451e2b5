"""What `leapprof latency stream` subscribes to: its options → subscriptions of one kind."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leapprof.config.secrets import read_secret
from leapprof.errors import ConfigError
from leapprof.latency.endpoint import Endpoint, parse_url
from leapprof.latency.log_stream import LogSubscription
from leapprof.latency.message import Subscription
from leapprof.latency.ship_stream import ShipSubscription
from leapprof.latency.yellowstone import check_account
from leapprof.latency.yellowstone_stream import YellowstoneSubscription

TOKEN_VARIABLE = "LEAPPROF_YELLOWSTONE_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionChoice:
    """What is subscribed to, as it was written.

    Attributes:
        urls: of state histories.
        yellowstone: of Yellowstone servers.
        account: whose transactions.
        token_files: ``PATH`` for the only server, ``HOST:PORT=PATH`` for one of several.
        ca_file: certificates to trust.
        logs: paths of nodeos's logs, ``-`` for standard input.
    """

    urls: tuple[str, ...] = ()
    yellowstone: tuple[str, ...] = ()
    account: str | None = None
    token_files: tuple[str, ...] = ()
    ca_file: Path | None = None
    logs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Subscriptions of one kind.

    Attributes:
        what: is subscribed to, for the recording.
        account: whose transactions; None for blocks. Kept apart, so that a public report can hide it.
    """

    subscriptions: tuple[Subscription, ...]
    what: str
    account: str | None = None


def subscriptions_of(choice: SubscriptionChoice) -> Chosen:
    """Return what was chosen.

    Raises:
        ConfigError: an option has another form, or there are none or several kinds.
    """
    if sum(map(bool, (choice.urls, choice.yellowstone, choice.logs))) != 1:
        raise ConfigError("name URLs of state histories, or --yellowstone, or --log: one kind in a run")
    if not choice.yellowstone and (choice.account or choice.token_files):
        raise ConfigError("--account and --token-file belong to --yellowstone")
    if choice.yellowstone:
        found = _yellowstone(choice)
    elif choice.logs:
        logs = tuple(LogSubscription(path=_log_path(text)) for text in choice.logs)
        found = Chosen(subscriptions=logs, what="block lines of nodeos's log")
    else:
        endpoints = (parse_url(url, ("ws", "wss")) for url in choice.urls)
        ships = tuple(ShipSubscription(endpoint=e, ca_file=choice.ca_file) for e in endpoints)
        found = Chosen(subscriptions=ships, what="state history, blocks without traces and deltas")
    names = [s.name for s in found.subscriptions]
    if len(set(names)) < len(names):
        raise ConfigError("an endpoint is named twice")
    return found


def _log_path(text: str) -> Path | None:
    return None if text == "-" else Path(text)


def _yellowstone(choice: SubscriptionChoice) -> Chosen:
    if choice.account is None:
        raise ConfigError("--yellowstone needs --account PUBKEY: whose transactions", key="--account")
    check_account(choice.account)
    endpoints = tuple(parse_url(text, ("https", "http")) for text in choice.yellowstone)
    tokens = _tokens(choice.token_files, endpoints)
    return Chosen(
        subscriptions=tuple(
            YellowstoneSubscription(
                endpoint=endpoint,
                account=choice.account,
                token=tokens.get(endpoint.authority),
                ca_file=choice.ca_file,
            )
            for endpoint in endpoints
        ),
        what="Yellowstone gRPC, transactions of one account at commitment processed",
        account=choice.account,
    )


def _tokens(files: Sequence[str], endpoints: tuple[Endpoint, ...]) -> dict[str, str]:
    """Return authority → token: one server's token is never sent to another.

    Raises:
        ConfigError: a file does not say which of several servers it is for.
    """
    names = [endpoint.authority for endpoint in endpoints]
    tokens: dict[str, str] = {}
    for text in files:
        name, path = _named(text, names)
        tokens[name] = read_secret(Path(path))
    if not files and len(names) == 1 and os.environ.get(TOKEN_VARIABLE):
        tokens[names[0]] = os.environ[TOKEN_VARIABLE]
    if not all(token.isascii() and token.isprintable() for token in tokens.values()):
        raise ConfigError("a token is printable ASCII", key="--token-file")
    return tokens


def _named(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return which server a token file is for, and its path."""
    for name in names:
        if text.startswith(f"{name}="):
            return name, text.removeprefix(f"{name}=")
    if len(names) == 1:
        return names[0], text
    raise ConfigError(
        f"with several servers write HOST:PORT=PATH, HOST:PORT being one of {', '.join(names)}",
        key="--token-file",
    )

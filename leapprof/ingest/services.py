"""What config files and HTTP servers tell of each nodeos, put together with its command line and its log.

The log's line ``Non-default options`` says what nodeos runs with and wins over both. The command line wins over
config.ini, of a repeated option the first value counts (boost program_options);
``plugin`` collects. Without a config file that could be read, defaults are not assumed.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from leapprof.errors import ParseError
from leapprof.ingest.chain import GET_INFO, METRICS, split_answer
from leapprof.ingest.processes import Found, absolute
from leapprof.ingest.topology import swap_drives
from leapprof.model import Nodeos, Topology
from leapprof.nodeos.api import parse_get_info, parse_server_header
from leapprof.nodeos.privacy import is_key_shaped
from leapprof.probes.text import integer

DEFAULT_HTTP_ADDRESS = "127.0.0.1:8888"
MAP_MODES = frozenset({"mapped", "mapped_private", "heap", "locked"})
STAND_IN_SERVER = "leapprof-standin"

_COLLECTING = frozenset({"plugin", "p2p-peer-address", "http-category-address"})
_VERSION_LABEL = re.compile(r'server_version_string="([^"\n]{1,64})"')
_NUMERIC_HOST = re.compile(r"[0-9.]{7,15}|\[[0-9a-fA-F:.]{2,45}\]|localhost", re.ASCII)
_PORT = re.compile(r"[0-9]{1,5}", re.ASCII)
_ANY = {"0.0.0.0": "127.0.0.1", "[::]": "127.0.0.1", "": "127.0.0.1"}  # noqa: S104 - nothing is bound here
_CATEGORY = "http-category-address"
_MAX_VALUE_CHARS = 4096
_MAX_VERSION_CHARS = 64

Options = dict[str, tuple[str | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the second question brought, by nodeos id.

    Attributes:
        configs: options of each config file that could be read.
        servers: Server header of each HTTP server that answered.
        versions: of those whose version is known.
    """

    configs: dict[str, Options] = field(default_factory=dict)
    servers: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    is_asked: bool = False


def answers_of(texts: Mapping[str, str], allowed: Collection[str]) -> Answers:
    """Return what the texts of a frame tell.

    Args:
        texts: section name → text.
        allowed: options whose values may be kept.
    """
    told = Answers(is_asked=any(name.startswith(("config/", "http/")) for name in texts))
    for section, text in texts.items():
        kind, _, rest = section.partition("/")
        if kind == "config":
            told.configs[rest] = config_options(text, allowed)
        elif kind == "http":
            nodeos_id, slash, path = rest.partition("/")
            _take_answer(told, nodeos_id, slash + path, text)
    return told


def config_options(text: str, allowed: Collection[str]) -> Options:
    """Return the options of ``line TAB name TAB value`` lines; a line of another form is left out."""
    found: Options = {}
    for line in text.split("\n"):
        fields = line.split("\t", 2)
        if len(fields) < 2 or fields[1] in ("", "?"):
            continue
        name, value = fields[1], fields[2] if len(fields) > 2 else ""
        shown = value if value and name in allowed and not is_key_shaped(value) else None
        found[name] = (*found.get(name, ()), shown[:_MAX_VALUE_CHARS] if shown else None)
    return found


def _take_answer(told: Answers, nodeos_id: str, path: str, text: str) -> None:
    try:
        _, _, server, body = split_answer(text)
    except ParseError:
        return
    if not server:
        return
    told.servers[nodeos_id] = server
    version = server_version(server) or _body_version(path, body)
    if version:
        told.versions.setdefault(nodeos_id, version)


def server_version(server: str) -> str | None:
    """Return the version in a Server header of nodeos or of our stand-in; None in any other."""
    version = parse_server_header(server)
    if version is None and server.startswith(STAND_IN_SERVER + "/"):
        version = server[len(STAND_IN_SERVER) + 1 :][:_MAX_VERSION_CHARS]
    return version


def _body_version(path: str, body: str) -> str | None:
    if path == GET_INFO:
        try:
            return parse_get_info(body).version
        except ParseError:
            return None
    match = _VERSION_LABEL.search(body) if path == METRICS else None
    return match[1] if match else None


def answered(process: Found, told: Answers, topology: Topology, found: tuple[Found, ...]) -> Nodeos:
    """Return a nodeos as command line, config file and HTTP server describe it.

    Args:
        process: of the survey.
        told: answers to the second question.
        topology: of the host.
        found: all processes of the survey; a lone one may be asked at nodeos's default address.
    """
    config = told.configs.get(process.id)
    options = dict(sorted((_merged(process.options, config or {}) | process.log_options).items()))
    data_dir = process.directory("data-dir")
    nodeos = Nodeos(
        id=process.id,
        pid=process.pid,
        start_ticks=process.start_ticks,
        version=told.versions.get(process.id),
        map_mode=_map_mode(options, is_config_known=config is not None or bool(process.log_options)),
        executable=process.executable,
        config_dir=process.directory("config-dir"),
        data_dir=data_dir,
        state_dir=_below(options, "state-dir", "state", data_dir),
        blocks_dir=_below(options, "blocks-dir", "blocks", data_dir),
        http_address=_http_address(process, options, told, is_alone=len(found) == 1),
        unit=process.unit,
        cgroup=process.cgroup,
        cgroup_is_own=process.is_cgroup_own,
        options=options,
        executable_deleted=process.executable_deleted,
        container=process.container,
        root=process.root,
        log=process.log,
        stand_in=process.is_stand_in or told.servers.get(process.id, "").startswith(STAND_IN_SERVER),
    )
    own = replace(topology, mounts=process.mounts) if process.mounts else topology
    return replace(nodeos, roles=_roles(nodeos, own, topology))


def _merged(command: Options, config: Options) -> Options:
    merged = {name: values for name, values in command.items() if name != "?"}
    for name, values in config.items():
        if name not in merged:
            merged[name] = values
        elif name in _COLLECTING:
            merged[name] = (*merged[name], *values)
    return dict(sorted(merged.items()))


def _first(options: Options, name: str) -> str | None:
    values = options.get(name, ())
    return values[0] if values else None


def _map_mode(options: Options, *, is_config_known: bool) -> str | None:
    if "database-map-mode" in options:
        mode = _first(options, "database-map-mode")
        return mode if mode in MAP_MODES else None
    return "mapped" if is_config_known else None


def _below(options: Options, name: str, default: str, data_dir: str | None) -> str | None:
    """Return a directory that lies below the data directory unless it is absolute."""
    if name in options:
        return absolute(_first(options, name), data_dir)
    return absolute(default, data_dir)


def _http_address(process: Found, options: Options, told: Answers, *, is_alone: bool) -> str | None:
    """Return where to ask nodeos, from the host itself.

    nodeos's default address is tried for a lone nodeos, and stays only if a nodeos answered there.
    """
    value = _first(options, "http-server-address")
    if value == _CATEGORY:
        entries = [entry or "" for entry in options.get(_CATEGORY, ())]
        value = next((e.partition(",")[2] for e in entries if e.startswith("chain_ro,")), None)
    elif value is None and "http-server-address" not in options:
        is_expected = is_alone and (not told.is_asked or process.id in told.versions)
        value = DEFAULT_HTTP_ADDRESS if is_expected or process.id in told.configs else None
    return reachable_address(value)


def reachable_address(value: str | None) -> str | None:
    """Return ``host:port`` with a numeric host, the loopback for any; None for names, sockets and nonsense."""
    host, colon, port = (value or "").strip().rpartition(":")
    host = _ANY.get(host, host)
    try:
        number = integer(port, "http", port) if colon and _PORT.fullmatch(port) else None
    except ParseError:
        number = None
    is_fit = number is not None and 0 < number < 65536 and _NUMERIC_HOST.fullmatch(host)
    return f"{host}:{number}" if is_fit else None


def _roles(nodeos: Nodeos, own: Topology, host: Topology) -> dict[str, tuple[str, ...]]:
    """Return role → drives; a role whose drives are not known is not there."""
    paths = {"state": nodeos.state_dir, "blocks": nodeos.blocks_dir}
    plugins = nodeos.options.get("plugin", ())
    if any("state_history_plugin" in (plugin or "") for plugin in plugins):
        history = _first(nodeos.options, "state-history-dir") or "state-history"
        paths["state-history"] = absolute(history, nodeos.data_dir)
    roles = {role: own.drive_of(path) for role, path in paths.items() if path}
    roles |= {"swap": swap_drives(host), "os": host.drive_of("/")}
    return {role: drives for role, drives in roles.items() if drives}

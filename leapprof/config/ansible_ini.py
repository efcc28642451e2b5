"""Ansible inventories in INI form: ``[group]``, ``[group:children]``, ``[group:vars]`` and host lines."""

import re
import shlex

from leapprof.config.ansible import AnsibleInventory, Group, Variable, Variables
from leapprof.config.ranges import expand_ranges
from leapprof.errors import ConfigError, quoted

_SECTION = re.compile(r"\[([^\]:\s]+)(?::(children|vars|hosts))?\]\s*(?:[#;].*)?\Z")
_HOST_PORT = re.compile(r"([^:]+|\[[0-9A-Fa-f:]+\]):(\d{1,5})\Z")
_IPV6 = re.compile(r"\[([0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f]*)\]")


def parse_ini(text: str, path: str) -> AnsibleInventory:
    """Return the inventory of an INI file.

    Raises:
        ConfigError: a line cannot be read; the message names it.
    """
    groups: dict[str, Group] = {"all": Group()}
    name, kind = "ungrouped", "hosts"
    for line_no, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        where = f"{path}, line {line_no}"
        if line.startswith("[") and (match := _SECTION.match(line)):
            name, kind = match.group(1), match.group(2) or "hosts"
            groups.setdefault(name, Group())
            continue
        group = groups.setdefault(name, Group())
        if kind == "children":
            group.children.append(line.split()[0])
            groups.setdefault(line.split()[0], Group())
        elif kind == "vars":
            group.variables |= _variable(line, line_no, where)
        else:
            _add_hosts(group, line, line_no, where)
    return AnsibleInventory(path=path, groups=groups)


def _variable(word: str, line_no: int, where: str) -> Variables:
    key, equals, value = word.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"expected key=value, found {quoted(word)}", path=where)
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return {key.strip(): Variable(value=value, line_no=line_no, vaulted=value.startswith("!vault"))}


def _add_hosts(group: Group, line: str, line_no: int, where: str) -> None:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise ConfigError(f"unbalanced quotes: {error}", path=where) from error
    if not words:
        return
    pattern, *rest = words
    variables: Variables = {}
    if not _IPV6.fullmatch(pattern) and (match := _HOST_PORT.match(_outside_ranges(pattern))):
        port = match.group(2)
        pattern = pattern[: -len(port) - 1]
        variables["ansible_port"] = Variable(value=port, line_no=line_no)
    for word in rest:
        variables |= _variable(word, line_no, where)
    ipv6 = _IPV6.fullmatch(pattern)
    names = (ipv6.group(1),) if ipv6 else expand_ranges(pattern, where)
    for name in names:
        group.hosts[name] = group.hosts.get(name, {}) | variables


def _outside_ranges(pattern: str) -> str:
    """Return the pattern with the colons of its ranges blanked, so that one that is left means a port."""
    return re.sub(r"\[[^\]]*\]", lambda match: "_" * len(match.group()), pattern)

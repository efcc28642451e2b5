"""Ansible inventories in YAML (and JSON) form, read over the node tree: nothing is constructed or evaluated.

``yaml.safe_load`` would lose line numbers, let duplicate keys pass and read ``20:00`` as 1200.
"""

from collections.abc import Iterator

import yaml

from leapprof.config.ansible import MAX_DEPTH, AnsibleInventory, Group, Variable, Variables
from leapprof.config.ranges import expand_ranges
from leapprof.errors import ConfigError, quoted

MAX_NODES = 200_000
MAX_NESTING = 200


def parse_yaml(text: str, path: str) -> AnsibleInventory:
    """Return the inventory of a YAML file.

    Raises:
        ConfigError: it is no YAML, or no inventory; the message names the line.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line_no = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ConfigError(f"is not YAML: {error.problem}", path=f"{path}, line {line_no}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"is not YAML: {quoted(str(error))}", path=path) from error
    reader = _Reader(path)
    if root is not None:
        for name, node in reader.pairs(root):
            reader.group(name, node, 0)
    return AnsibleInventory(path=path, groups=reader.groups)


class _Reader:
    """Walks the nodes; counts them, as aliases let a small file stand for a huge one."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.groups: dict[str, Group] = {"all": Group()}
        self._nodes = 0

    def _error(self, node: yaml.Node, problem: str) -> ConfigError:
        return ConfigError(problem, path=f"{self.path}, line {node.start_mark.line + 1}")

    def pairs(self, node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
        """Yield the entries of a mapping; an empty value is an empty mapping."""
        if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
            return
        if not isinstance(node, yaml.MappingNode):
            raise self._error(node, "expected a mapping (name: …)")
        seen: set[str] = set()
        for key, value in node.value:
            self._nodes += 1
            if self._nodes > MAX_NODES:
                raise self._error(key, f"more than {MAX_NODES} entries")
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key, "expected a name")
            if key.value in seen:
                raise self._error(key, f"{quoted(key.value)} is there twice")
            seen.add(key.value)
            yield key.value, value

    def group(self, name: str, node: yaml.Node, depth: int) -> None:
        """Read one group and its children."""
        if depth > MAX_DEPTH:
            raise self._error(node, f"groups are nested more than {MAX_DEPTH} deep")
        group = self.groups.setdefault(name, Group())
        for key, value in self.pairs(node):
            if key == "hosts":
                self._hosts(group, value)
            elif key == "vars":
                group.variables |= self._variables(value, 0)
            elif key == "children":
                for child, child_node in self.pairs(value):
                    group.children.append(child)
                    self.group(child, child_node, depth + 1)
            elif name != "_meta":
                raise self._error(value, f"{quoted(key)} is not hosts, children or vars")

    def _hosts(self, group: Group, node: yaml.Node) -> None:
        for pattern, value in self.pairs(node):
            variables = self._variables(value, 0)
            where = f"{self.path}, line {value.start_mark.line + 1}"
            for name in expand_ranges(pattern, where):
                group.hosts[name] = group.hosts.get(name, {}) | variables

    def _variables(self, node: yaml.Node, depth: int) -> Variables:
        """Return the scalar variables of a mapping; ``<<`` merges one below them."""
        if depth > MAX_DEPTH:
            raise self._error(node, f"merged more than {MAX_DEPTH} deep")
        merged: Variables = {}
        found: Variables = {}
        for key, value in self.pairs(node):
            if key == "<<" and isinstance(value, yaml.MappingNode):
                merged |= self._variables(value, depth + 1)
            elif isinstance(value, yaml.ScalarNode) and value.tag != "tag:yaml.org,2002:null":
                line_no = value.start_mark.line + 1
                found[key] = Variable(value=value.value, line_no=line_no, vaulted=value.tag == "!vault")
        return merged | found

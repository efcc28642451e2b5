"""YAML → plain values, read over the node tree: each value keeps its line, and nothing is guessed.

``yaml.safe_load`` lets duplicate keys pass, reads ``20:00`` as 1200 and ``off`` as False, and loses line numbers. Here
a plain scalar is a whole number, a decimal number, ``true``, ``false``, ``null`` (YAML 1.2, core schema), or text;
tags, anchors and merge keys are refused.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from leapprof.errors import ConfigError, quoted

MAX_FILE_CHARS = 1_000_000
MAX_NODES = 20_000
MAX_DEPTH = 20
MAX_INTEGER_DIGITS = 18

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
Path: TypeAlias = tuple[str | int, ...]

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z", re.ASCII)
_DECIMAL = re.compile(r"[-+]?[0-9]+\.[0-9]+([eE][-+]?[0-9]{1,3})?\Z", re.ASCII)
_IMPLICIT_TAGS = frozenset({"str", "int", "float", "bool", "null", "timestamp", "value"})
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file's values, and the line of each by its path."""

    name: str
    value: Plain
    lines: dict[Path, int] = field(default_factory=dict)

    def error(self, path: Sequence[str | int], problem: str) -> ConfigError:
        """Return the error that names file, line and path of a value; of a missing one those of its parent."""
        known = tuple(path)
        while known and known not in self.lines:
            known = known[:-1]
        line = self.lines.get(known)
        where = f"{self.name}, line {line}" if line else self.name
        return ConfigError(problem, path=where, key=path_text(path))


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as people write it: ``hosts[0].nodeos``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def parse_document(text: str, name: str) -> Document:
    """Return the values of a YAML text.

    Args:
        text: of the file.
        name: of the file, for messages.

    Raises:
        ConfigError: it is no YAML, or holds what is not accepted; the message names the line.
    """
    if len(text) > MAX_FILE_CHARS:
        raise ConfigError(f"is longer than {MAX_FILE_CHARS} characters: no playbook", path=name)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line_no = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ConfigError(f"is not YAML: {error.problem}", path=f"{name}, line {line_no}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"is not YAML: {quoted(str(error))}", path=name) from error
    reader = _Reader(name)
    value = reader.value(root, ()) if root is not None else None
    return Document(name=name, value=value, lines=reader.lines)


class _Reader:
    """Walks the nodes once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Path, int] = {}
        self._seen: set[int] = set()

    def _error(self, node: yaml.Node, path: Path, problem: str) -> ConfigError:
        return ConfigError(problem, path=f"{self.name}, line {node.start_mark.line + 1}", key=path_text(path))

    def value(self, node: yaml.Node, path: Path) -> Plain:
        """Return the value of a node."""
        if len(path) > MAX_DEPTH or len(self._seen) > MAX_NODES:
            raise self._error(node, path, "is nested too deep, or too long")
        if id(node) in self._seen:
            raise self._error(node, path, "anchors and aliases (& and *) are not accepted: write it out")
        self._seen.add(id(node))
        self.lines[path] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            self._check_tag(node, path, "map")
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            self._check_tag(node, path, "seq")
            return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return self._scalar(node, path)

    def _check_tag(self, node: yaml.Node, path: Path, kind: str) -> None:
        if node.tag != f"tag:yaml.org,2002:{kind}":
            raise self._error(node, path, f"tags are not accepted: {quoted(node.tag)}")

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Plain]:
        found: dict[str, Plain] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
                raise self._error(key, path, "expected a plain name before the colon")
            if key.value in found:
                raise self._error(key, (*path, key.value), "is there twice")
            found[key.value] = self.value(value, (*path, key.value))
            self.lines[(*path, key.value)] = key.start_mark.line + 1
        return found

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Plain:
        standard = node.tag.removeprefix("tag:yaml.org,2002:") in _IMPLICIT_TAGS
        if not standard or (node.style is not None and not node.tag.endswith(":str")):
            raise self._error(node, path, f"tags are not accepted: {quoted(node.tag)}")
        return node.value if node.style is not None else plain_scalar(node.value)


def plain_scalar(text: str) -> Plain:
    """Return what an unquoted scalar says: ``20:00`` and ``off`` are text, ``0700`` too."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text) and len(text) <= MAX_INTEGER_DIGITS:
        return int(text)
    return float(text) if _DECIMAL.match(text) else text


def with_override(document: Document, assignment: str) -> Document:
    """Return the document with one value replaced, as ``--set phase.duration=4s`` asks.

    Args:
        document: as read.
        assignment: ``path=value``; list items by number (``hosts.0.host=eos-2``), the value in YAML.

    Raises:
        ConfigError: the path leads nowhere, or the value is not accepted.
    """
    where, equals, text = assignment.partition("=")
    if not equals or not where.strip():
        raise ConfigError(f"{quoted(assignment)} is not PATH=VALUE", key="--set")
    value = parse_document(text, f"--set {where}").value
    parts = where.strip().split(".")
    return Document(
        name=document.name, value=_replaced(document.value, parts, value, where), lines=document.lines
    )


def _replaced(tree: Plain, parts: Sequence[str], value: Plain, where: str) -> Plain:
    if not parts:
        return value
    if isinstance(tree, list):
        if not parts[0].isdecimal() or int(parts[0]) >= len(tree):
            raise ConfigError(f"there is no item {quoted(parts[0])}", key=f"--set {where}")
        number = int(parts[0])
        return [
            _replaced(item, parts[1:], value, where) if i == number else item for i, item in enumerate(tree)
        ]
    if tree is None or isinstance(tree, dict):
        found = dict(tree or {})
        found[parts[0]] = _replaced(found.get(parts[0]), parts[1:], value, where)
        return found
    raise ConfigError(f"{quoted(parts[0])} is below a plain value", key=f"--set {where}")

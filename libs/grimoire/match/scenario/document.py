"""YAML that remembers its lines, with no surprises: `no` and `on` are words, `0011` and long digits are text."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

__all__ = ["Items", "Keys", "ScenarioError", "line_of", "load_documents"]

MAX_FILE_BYTES: Final = 1024 * 1024


class ScenarioError(ValueError):
    """A scenario file that cannot be used as it stands.

    Attributes:
        line: from 1.
        reason: what is wrong and what is allowed.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class Keys(dict[Any, Any]):
    """A mapping that knows the line of each key.

    Attributes:
        line: where it begins.
        lines: by key.
    """

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[Any, int] = {}


class Items(list[Any]):
    """A list that knows the line of each item.

    Attributes:
        line: where it begins.
        lines: by index.
    """

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


def line_of(value: object, default: int) -> int:
    """The line where a mapping or list begins; `default` for anything else."""
    return value.line if isinstance(value, Keys | Items) else default


class _Loader(yaml.SafeLoader):
    """Safe loading with the words of YAML 1.2's core schema only."""

    yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012  (PyYAML's own name; filled below)


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
# A sign, a leading zero or many digits make it text: offsets (+500) and hexadecimal values (1111...) are written so.
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^(?:0|-?[1-9][0-9]{0,17})$"), list("-0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|)$"), ["~", "n", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^<<$"), ["<"])


def _construct_keys(loader: _Loader, node: yaml.MappingNode) -> Any:
    keys = Keys(node.start_mark.line + 1)
    yield keys
    loader.flatten_mapping(node)
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if isinstance(key, Keys | Items):
            raise ScenarioError(line, "a key must be a word or a number")
        if key in keys.lines:
            raise ScenarioError(line, f"the key {key!r} stands here twice")
        keys.lines[key] = line
        keys[key] = loader.construct_object(value_node, deep=True)


def _construct_items(loader: _Loader, node: yaml.SequenceNode) -> Any:
    items = Items(node.start_mark.line + 1)
    yield items
    for item_node in node.value:
        items.lines.append(item_node.start_mark.line + 1)
        items.append(loader.construct_object(item_node, deep=True))


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_keys)
_Loader.add_constructor("tag:yaml.org,2002:seq", _construct_items)


def load_documents(text: str) -> list[Keys]:
    r"""The documents of a file, each a mapping.

    Raises:
        ScenarioError: if it is no YAML, or a document is no mapping.

    >>> [document] = load_documents("game: two_towers\nat: +500\nno: on")
    >>> document, document.lines["at"]
    ({'game': 'two_towers', 'at': '+500', 'no': 'on'}, 2)
    """
    if len(text.encode()) > MAX_FILE_BYTES:
        raise ScenarioError(1, f"a scenario file has at most {MAX_FILE_BYTES} bytes")
    documents: list[Keys] = []
    try:
        loader = _Loader(text)
        while loader.check_data():  # type: ignore[no-untyped-call]
            line = loader.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            document = loader.get_data()
            if not isinstance(document, Keys):
                raise ScenarioError(line, "a scenario is a mapping that begins with `game:`")
            documents.append(document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ScenarioError(
            mark.line + 1 if mark else 1, f"this is no YAML: {error.problem or error.context}"
        ) from error
    except yaml.YAMLError as error:
        raise ScenarioError(1, f"this is no YAML: {error}") from error
    if not documents:
        raise ScenarioError(1, "there is no scenario in this file")
    return documents

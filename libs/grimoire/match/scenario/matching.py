"""What was expected against what came: subsets, exact values, paths and a few operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from grimoire.match.scenario.plain import Hex, read_bytes

__all__ = ["OPERATORS", "Difference", "compare", "in_order", "lookup", "show"]


class Difference(msgspec.Struct, frozen=True):
    """One thing that is not as expected.

    Attributes:
        path: where, e.g. `card_played.stock_after`.
        expected, got: as text.
    """

    path: str
    expected: str
    got: str


class NoSuchPathError(LookupError):
    """A path that leads nowhere; the message says what is there."""


def show(value: Any, width: int = 400) -> str:
    """A plain value on one line, as a scenario file would write it."""
    text = _show(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def _show(value: Any) -> str:
    if value is None:
        return "~"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_show(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_show(v) for v in value) + "]"
    return '""' if value == "" else str(value)


# ---- operators -------------------------------------------------------------------------------------------------------


def _is_absent(value: Any) -> bool:
    return value is None or value in ("", 0, False) or value == []


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "not": lambda expected, got: bool(compare(expected, got)),
    "one_of": lambda expected, got: any(not compare(each, got) for each in expected),
    "at_least": lambda expected, got: _number(got) and got >= expected,
    "at_most": lambda expected, got: _number(got) and got <= expected,
    "length": lambda expected, got: hasattr(got, "__len__") and len(got) == expected,
    "contains": lambda expected, got: (
        isinstance(got, list) and all(any(not compare(e, g) for g in got) for e in _listed(expected))
    ),
    "lacks": lambda expected, got: (
        isinstance(got, list) and not any(not compare(e, g) for e in _listed(expected) for g in got)
    ),
}
"""Instead of a value, a mapping with one or more of these."""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# ---- comparing -------------------------------------------------------------------------------------------------------


def compare(expected: Any, got: Any, path: str = "") -> list[Difference]:
    """Everything that is not as expected; empty: it fits.

    A mapping names the fields that matter (a subset); `absent: [...]` in it names fields that must have no value;
    `exactly: {...}` alone in it must be the whole. Keys may be paths (`seats.0.wall`, `hand.*.card`). A list must have
    the same length, each item fits. A mapping of operators (`not`, `at_least`, ...) may stand for any value.
    """
    if isinstance(expected, Mapping) and expected:
        if expected.keys() <= OPERATORS.keys():
            return _compare_operators(expected, got, path)
        if expected.keys() == {"exactly"}:
            return _compare_exactly(expected["exactly"], got, path)
    if isinstance(expected, Mapping):
        return _compare_mapping(expected, got, path)
    if isinstance(expected, list):
        return _compare_list(expected, got, path)
    return [] if _same(expected, got) else [Difference(path, show(expected), show(got))]


def _compare_operators(expected: Mapping[str, Any], got: Any, path: str) -> list[Difference]:
    return [
        Difference(path, f"{name} {show(value)}", show(got))
        for name, value in expected.items()
        if not OPERATORS[name](value, got)
    ]


def _compare_exactly(expected: Any, got: Any, path: str) -> list[Difference]:
    differences = compare(expected, got, path)
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for name, value in got.items():
            if name not in expected and not _is_absent(value):
                differences.append(Difference(_join(path, name), "~ (exactly)", show(value)))
    return differences


def _compare_mapping(expected: Mapping[Any, Any], got: Any, path: str) -> list[Difference]:
    if not isinstance(got, Mapping | list):
        return [Difference(path, show(expected), show(got))]
    differences: list[Difference] = []
    for key, value in expected.items():
        if key == "absent" and isinstance(got, Mapping) and "absent" not in got:
            differences += _compare_absent(value, got, path)
            continue
        where = _join(path, str(key))
        try:
            found = lookup(got, str(key))
        except NoSuchPathError as error:
            differences.append(Difference(where, show(value), f"({error})"))
            continue
        differences += compare(value, found, where)
    return differences


def _compare_absent(names: Any, got: Mapping[str, Any], path: str) -> list[Difference]:
    differences = []
    for name in _listed(names):
        where = _join(path, str(name))
        try:
            found = lookup(got, str(name))
        except NoSuchPathError as error:
            differences.append(Difference(where, "absent", f"({error})"))
            continue
        if not _is_absent(found):
            differences.append(Difference(where, "absent", show(found)))
    return differences


def _compare_list(expected: list[Any], got: Any, path: str) -> list[Difference]:
    if not isinstance(got, list) or len(got) != len(expected):
        return [Difference(path, show(expected), show(got))]
    return [d for n, (e, g) in enumerate(zip(expected, got, strict=True)) for d in compare(e, g, f"{path}[{n}]")]


def _same(expected: Any, got: Any) -> bool:
    if isinstance(got, Hex):
        try:
            return read_bytes(expected) == bytes.fromhex(got)
        except ValueError:
            return False
    if isinstance(got, str) and isinstance(expected, int):
        expected = show(expected)  # options are texts; a file may write them as numbers
    return type(expected) is type(got) and bool(expected == got)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def lookup(value: Any, path: str) -> Any:
    """What lies at a path: names of fields, indices of lists, `*` for all items of a list.

    Raises:
        NoSuchPathError: if it leads nowhere.

    >>> lookup({"seats": [{"wall": 5}, {"wall": 7}]}, "seats.1.wall")
    7
    >>> lookup({"seats": [{"wall": 5}, {"wall": 7}]}, "seats.*.wall")
    [5, 7]
    """
    if isinstance(value, Mapping) and path in value:
        return value[path]
    head, _, rest = path.partition(".")
    if isinstance(value, list):
        if head == "*":
            return [lookup(item, rest) if rest else item for item in value]
        if not head.lstrip("-").isdigit() or not -len(value) <= int(head) < len(value):
            raise NoSuchPathError(f"no {head!r} in a list of {len(value)}")
        found = value[int(head)]
    elif isinstance(value, Mapping):
        if head not in value:
            raise NoSuchPathError(f"no {head!r}; there is {', '.join(map(str, value))}")
        found = value[head]
    else:
        raise NoSuchPathError(f"nothing lies below {show(value)}")
    return lookup(found, rest) if rest else found


def in_order(expected: Sequence[tuple[str, Any]], got: Sequence[tuple[str, Any]], path: str) -> list[Difference]:
    """Whether the expected (type, fields) pairs occur in this order, others between them or not."""
    position = 0
    for number, (type_, fields) in enumerate(expected):
        near: list[Difference] = []
        for index in range(position, len(got)):
            if got[index][0] != type_:
                continue
            differences = compare(fields, got[index][1], f"{path}[{number}].{type_}")
            if not differences:
                position = index + 1
                break
            near = near or differences
        else:
            if near:
                return near
            after = f" after {expected[number - 1][0]}" if number else ""
            return [Difference(f"{path}[{number}]", f"{type_} {show(fields)}{after}", _types(got[position:]))]
    return []


def _types(events: Sequence[tuple[str, Any]]) -> str:
    return ", ".join(type_ for type_, _ in events) or "no more events"

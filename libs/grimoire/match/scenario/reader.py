"""Takes the keys of a mapping one by one and says what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable

from grimoire.engine import Viewer
from grimoire.match.scenario.document import Items, Keys, ScenarioError
from grimoire.match.scenario.plain import read_bytes

__all__ = ["Reader", "bytes_at", "viewer_at"]


class Reader:
    """A mapping of which every key is known.

    Args:
        keys: the mapping.
        what: how errors call it.
        allowed: its keys.
        paths: whether a key may also be a path that begins with one (`results.0`).

    Raises:
        ScenarioError: here for an unknown key; from every method for a value that cannot be.
    """

    def __init__(self, keys: Keys, what: str, allowed: Iterable[str], *, paths: bool = False) -> None:
        self.keys = keys
        self.what = what
        allowed = tuple(allowed)
        for key in keys:
            if (str(key).partition(".")[0] if paths else key) not in allowed:
                raise ScenarioError(keys.lines[key], f"{what} has no key {key!r}; its keys: {', '.join(allowed)}")

    def line(self, key: str) -> int:
        """Where the key stands, or the mapping begins."""
        return self.keys.lines.get(key, self.keys.line)

    def fault(self, key: str, reason: str) -> ScenarioError:
        """An error about one key, to be raised."""
        return ScenarioError(self.line(key), f"`{key}` {reason}")

    def text(self, key: str, default: str | None = None) -> str:
        """A text, or a number written as one; no default: it must be there."""
        value = self.keys.get(key, default)
        if value is None:
            raise self.fault(key, f"is missing in {self.what}" if key not in self.keys else "is empty")
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or (not value and key in self.keys):
            raise self.fault(key, f"is a text, not {value!r}")
        return value

    def number(self, key: str, default: int, low: int, high: int) -> int:
        """A whole number in `low..high`."""
        value = self.keys.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.fault(key, f"is a whole number from {low} to {high}, not {value!r}")
        return value

    def one_of(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """One of a few words."""
        value = self.keys.get(key, default)
        if value not in allowed:
            raise self.fault(key, f"is one of {', '.join(allowed)}, not {value!r}")
        return str(value)

    def flag(self, key: str) -> bool:
        """True or false; false if it is not there."""
        value = self.keys.get(key, False)
        if not isinstance(value, bool):
            raise self.fault(key, f"is true or false, not {value!r}")
        return value

    def items(self, key: str) -> Items:
        """A list; empty if it is not there."""
        value = self.keys.get(key)
        if value is None:
            return Items(self.line(key))
        if not isinstance(value, Items):
            raise self.fault(key, f"is a list, not {value!r}")
        return value

    def mapping(self, key: str) -> Keys:
        """A mapping; empty if it is not there."""
        value = self.keys.get(key)
        if value is None:
            return Keys(self.line(key))
        if not isinstance(value, Keys):
            raise self.fault(key, f"is a mapping, not {value!r}")
        return value

    def bytes_of(self, key: str) -> bytes | None:
        """Bytes; None if they are not there."""
        value = self.keys.get(key)
        return None if value is None else bytes_at(value, self.line(key))


def bytes_at(value: object, line: int) -> bytes:
    """Bytes as `read_bytes` takes them; a `ScenarioError` otherwise."""
    try:
        return read_bytes(value)
    except ValueError as error:
        raise ScenarioError(line, str(error)) from error


def viewer_at(key: object, line: int) -> Viewer:
    """A viewer by name; a `ScenarioError` otherwise."""
    try:
        return Viewer.parse(str(key))
    except ValueError as error:
        raise ScenarioError(line, str(error)) from error

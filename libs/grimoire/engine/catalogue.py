"""What the data files of games have in common: strict records, bounded values, texts in two languages."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable
from typing import Annotated, TypeVar

import msgspec

__all__ = ["CatalogueError", "Id", "Names", "Natural", "Positive", "Record", "Text", "read_data", "same", "typed"]

R = TypeVar("R")

Natural = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Text = Annotated[str, msgspec.Meta(min_length=1)]
Id = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]


class CatalogueError(ValueError):
    """A data file that contradicts the rules or itself."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record that has exactly its fields."""


class Names(Record, frozen=True):
    """A text in the languages of the data."""

    en: Text
    fi: Text

    def in_language(self, language: str) -> str:
        """The Finnish text for `fi`, else the English one."""
        return self.fi if language == "fi" else self.en


def read_data(package: str, file: str) -> bytes:
    """A data file of an installed game."""
    return importlib.resources.files(package).joinpath("data", file).read_bytes()


def typed(data: bytes, kind: type[R], file: str) -> R:
    """The file as records.

    Args:
        data: JSON.
        kind: the record of the whole file.
        file: its name, for the error.

    Raises:
        CatalogueError: with the place and the fault.

    >>> typed(b'{"en": "Gnome", "fi": "Tonttu"}', Names, "names.json").in_language("fi")
    'Tonttu'
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise CatalogueError(f"{file}: {error}") from error


def same(file: str, what: str, found: Iterable[object], expected: Iterable[object]) -> None:
    """Judges that a list of the data is what the rules have, in their order.

    Args:
        file: its name, for the error.
        what: how the error calls the list.
        found: as the data have it.
        expected: as the rules, or other parts of the data, have it.

    Raises:
        CatalogueError: if they differ.

    >>> same("yard.json", "kinds (XX-2)", ["gnome", "pest"], ("gnome", "pest"))
    """
    has, wanted = [*found], [*expected]
    if has != wanted:
        raise CatalogueError(f"{file}: {what} are {has}, the rules have {wanted}")

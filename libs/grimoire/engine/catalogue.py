"""What the data files of games have in common: strict records, bounded values, texts in two languages."""

from __future__ import annotations

import importlib.resources
from typing import Annotated, TypeVar

import msgspec

__all__ = ["CatalogueError", "Id", "Names", "Natural", "Positive", "Record", "Text", "read_data", "typed"]

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

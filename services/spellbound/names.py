"""What cards, places, books and pieces are called."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from spellbound.catalogue import DATA
from spellbound.places import BOOKS, PIECES, VILLAGES
from spellbound.words import LANGUAGES, words_in

__all__ = ["mage_name", "name_of"]


def name_of(thing: str, language: str) -> str:
    """The name of a card, place, book or piece; any other text as it is.

    >>> name_of("basic_move_red", "en"), name_of("village_03", "en"), name_of("hat_red", "en")
    ('Travel (red)', 'village 3', 'red hat')
    """
    return _names(language if language in LANGUAGES else LANGUAGES[0]).get(thing, thing)


def mage_name(mage: int, language: str) -> str:
    """A mage by number.

    >>> mage_name(2, "en")
    'Mage 2'
    """
    return words_in(language).mages["mage"].format(mage=mage)


@functools.cache
def _names(language: str) -> Mapping[str, str]:
    return dict(_named(language))


def _named(language: str) -> Iterable[tuple[str, str]]:
    words = words_in(language)
    for card in DATA.cards:
        name = DATA.types[card.type].name.en
        yield card.id, f"{name} ({words.terms[card.book]})" if card.book else name
    for book in BOOKS:
        yield book, words.terms[book]
    for piece in PIECES:
        yield piece, words.terms[piece]
    yield from words.places.items()
    for number, village in enumerate(VILLAGES, 1):
        yield village, words.places["village"].format(number=number)

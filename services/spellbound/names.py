"""What cards, spells, places, books, pieces and mages are called."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from spellbound.catalogue import DATA, CardRecord
from spellbound.words import LANGUAGES, Words, words_in

__all__ = ["mage_letter", "mage_name", "name_of", "type_name", "type_text"]


def type_name(card_type: str, language: str) -> str:
    """The name of a card's face.

    >>> type_name("dark_elf", "en"), type_name("dark_elf", "fi")
    ('Dark Elf', 'Pimeyden haltia')
    """
    return words_in(language).types.get(card_type) or DATA.types[card_type].name.en


def type_text(card_type: str, language: str) -> str:
    """What stands on a card's face.

    >>> type_text("magic_dwarf", "en")
    '2 magic.'
    """
    return words_in(language).texts.get(card_type) or DATA.types[card_type].text.en


def mage_letter(mage: int) -> str:
    """Figures have letters, as villages, spaces and wands have numbers.

    >>> mage_letter(2)
    'C'
    """
    return "ABCD"[mage]


def mage_name(mage: int, language: str) -> str:
    """A figure's name.

    >>> mage_name(1, "en"), mage_name(0, "fi")
    ('mage B', 'velho A')
    """
    return words_in(language).mages[str(mage)]


def name_of(thing: str, language: str) -> str:
    """The name of a card, spell, place, book or piece; any other text as it is.

    >>> name_of("basic_move_red", "en"), name_of("witch_red_c", "en"), name_of("village_03", "fi"), name_of("7", "en")
    ('Travel (red)', 'Witch (red, 2 moon)', 'kylä 3', '7')
    """
    return _names(language if language in LANGUAGES else LANGUAGES[0]).get(thing, thing)


@functools.cache
def _names(language: str) -> Mapping[str, str]:
    return dict(_named(language))


def _named(language: str) -> Iterable[tuple[str, str]]:
    words = words_in(language)
    for card in DATA.cards:
        yield card.id, _card(card, words, language)
    for table in (words.places, words.books, words.pieces):
        yield from table.items()


def _card(card: CardRecord, words: Words, language: str) -> str:
    """Basic cards are told apart by their book, wicked ones by their force."""
    name = type_name(card.type, language)
    if card.group == "basic":
        return words.terms["basic_card"].format(name=name, book=words.terms[card.book])
    if card.group == "troll" and card.moon > 1:
        return words.terms["strong_troll"].format(name=name, n=card.moon)
    if card.group == "witch" and card.moon > 1:
        return words.terms["strong_witch"].format(colour=words.terms[card.colour], n=card.moon)
    return name

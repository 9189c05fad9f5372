"""What cards, spells and pieces are called."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from wizards_garden.catalogue import DATA
from wizards_garden.pieces import CARD_KIND, KINDS, PIECES
from wizards_garden.words import LANGUAGES, words_in

__all__ = ["kind_of", "name_of", "number_of", "timing_of"]


def number_of(piece: str) -> int:
    """The number of a gnome or pest among those alike.

    >>> number_of("red_gnome_04")
    4
    """
    return int(piece.rpartition("_")[2])


def kind_of(card: str) -> str:
    """A spirit card's kind.

    >>> kind_of("spirit_fire_03")
    'fire'
    """
    return KINDS[CARD_KIND[card]]


def name_of(thing: str, language: str) -> str:
    """The name of a card, spell or piece; any other text as it is.

    >>> name_of("spirit_fire_03", "fi"), name_of("pest_07", "en"), name_of("c4", "en")
    ('Tulen henki', 'pest 7', 'c4')
    """
    return _names(language if language in LANGUAGES else LANGUAGES[0]).get(thing, thing)


_TIMINGS = {spell.id: "own_wizard_phase" if spell.timing == "wizard_phase" else spell.timing for spell in DATA.spells}


def timing_of(spell: str) -> str:
    """The term that tells when a spell may be cast.

    >>> timing_of("feather"), timing_of("conch")
    ('own_wizard_phase', 'opponent_attack_phase')
    """
    return _TIMINGS[spell]


@functools.cache
def _names(language: str) -> Mapping[str, str]:
    return dict(_named(language))


def _named(language: str) -> Iterable[tuple[str, str]]:
    for kind in DATA.kinds:
        yield from ((card, kind.spirit_name.in_language(language)) for card in kind.card_ids)
    yield from ((spell.id, spell.name.in_language(language)) for spell in DATA.spells)
    pieces = words_in(language).pieces
    yield from ((piece, pieces[piece.rpartition("_")[0]].format(n=number_of(piece))) for piece in PIECES)

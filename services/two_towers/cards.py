"""The 102 cards (TT-2.4), ready to be played."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from two_towers.catalogue import DATA, CardRecord, CatalogueError, Names
from two_towers.effects import DiscardChoice, Draw, Effect, If, PlayAgain, Step, compile_effects
from two_towers.fields import FIELD_INDEX, Resource

__all__ = ["CARDS", "CATALOGUE", "Card", "catalogue_order"]


class Card(msgspec.Struct, frozen=True):
    """A card of the catalogue.

    Attributes:
        no: place in the catalogue order, from 1.
        colour: `red`, `blue` or `green`.
        resource: the stock that pays for it.
        stock: that stock as an index into a seat's numbers.
        effects: the catalogue's records.
        apply: runs the effects on the acting seat's and the enemy's numbers (TT-2.7).
        play_again: the seat acts again (TT-4.7).
        draws: draw one, then discard one (TT-4.6).
    """

    no: int
    id: str
    colour: str
    resource: Resource
    stock: int
    cost: int
    name: Names
    text: Names
    effects: tuple[Effect, ...]
    apply: Step
    play_again: bool
    draws: bool


_WITHOUT_NUMBERS = (Draw, DiscardChoice, PlayAgain)


def _ops(effects: Iterable[Effect]) -> Iterator[Effect]:
    for effect in effects:
        yield effect
        if isinstance(effect, If):
            yield from _ops(effect.then)
            yield from _ops(effect.otherwise)


def _build(record: CardRecord) -> Card:
    kinds = [type(effect) for effect in record.effects]
    tail = [kind for kind in kinds if kind in _WITHOUT_NUMBERS]
    nested = [e for e in _ops(record.effects) if isinstance(e, _WITHOUT_NUMBERS)]
    if kinds[len(kinds) - len(tail) :] != tail or len(nested) != len(tail):
        raise CatalogueError(f"{record.id}: effects that change no number stand last, outside of conditions (TT-2.7)")
    if tail not in ([], [PlayAgain], [Draw, DiscardChoice, PlayAgain]):
        raise CatalogueError(f"{record.id}: draw, discard_choice and play_again in an order that TT-4.6 does not know")
    if record.play_again != (PlayAgain in tail):
        raise CatalogueError(f"{record.id}: play_again contradicts the effects (TT-2.8)")
    try:
        apply = compile_effects(record.effects)
    except ValueError as error:
        raise CatalogueError(f"{record.id}: {error}") from error
    return Card(
        no=record.no,
        id=record.id,
        colour=record.colour,
        resource=record.resource,
        stock=FIELD_INDEX[record.resource],
        cost=record.cost,
        name=record.name,
        text=record.text,
        effects=record.effects,
        apply=apply,
        play_again=record.play_again,
        draws=Draw in tail,
    )


def build(records: tuple[CardRecord, ...], effect_ops: tuple[str, ...]) -> dict[str, Card]:
    """Cards by id in catalogue order.

    Raises:
        CatalogueError: if they are not the 102 cards that TT-2.4 and TT-2.8 describe.
    """
    cards = {record.id: _build(record) for record in records}
    colours = {r.id: r.colour for r in DATA.resources}
    if [card.no for card in cards.values()] != list(range(1, 103)):
        raise CatalogueError("the cards are not numbered 1 to 102, each id once (TT-2.4)")
    for card in cards.values():
        if card.colour != colours[card.resource]:
            raise CatalogueError(f"{card.id}: a {card.colour} card cannot cost {card.resource} (TT-2.2)")
    for colour in colours.values():
        if sum(card.colour == colour for card in cards.values()) != 34:
            raise CatalogueError(f"there are not 34 {colour} cards (TT-2.4)")
    if sum(card.play_again for card in cards.values()) != 10:
        raise CatalogueError("not ten cards have play_again (TT-2.8)")
    vocabulary = {msgspec.structs.asdict(msgspec.inspect.type_info(kind))["tag"] for kind in typing.get_args(Effect)}
    if {*effect_ops} != vocabulary:
        raise CatalogueError(f"effect_ops and the vocabulary differ: {sorted({*effect_ops} ^ vocabulary)}")
    return cards


CARDS: Final = build(DATA.cards, DATA.effect_ops)
"""By id, in catalogue order."""

CATALOGUE: Final = tuple(CARDS)
"""All ids in catalogue order."""

_NUMBER: Final = {card.id: card.no for card in CARDS.values()}


def catalogue_order(cards: Iterable[str]) -> list[str]:
    """The cards sorted by their number (TT-8.1).

    >>> catalogue_order(["ruby", "prism", "earthquake"])
    ['earthquake', 'prism', 'ruby']
    """
    return sorted(cards, key=_NUMBER.__getitem__)

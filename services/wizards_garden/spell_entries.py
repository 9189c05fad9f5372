"""Which spells may be cast now, and on what (WG-13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from grimoire.engine import Legal
from grimoire.engine.slots import amounts, number, one
from wizards_garden.battle import most_fire
from wizards_garden.board import SPACES
from wizards_garden.choices import lantern_fault
from wizards_garden.draft import Draft
from wizards_garden.entries import PIECE_REFS, SPACE_REFS, card_refs, complete, opened, space_refs
from wizards_garden.pieces import COLOURS, FIRST_PEST, KINDS
from wizards_garden.reach import GNOMES_OF, held_deposits
from wizards_garden.spells import (
    MAX_FISH,
    butterfly_fault,
    can_feather,
    dagger_fault,
    doll_fault,
    eye_useful,
    face_up,
    fish_space_fault,
    pending_of,
    pending_useful,
    skull_target_fault,
    timing_fault,
)
from wizards_garden.state import other

__all__ = ["spell_entries"]


def spell_entries(draft: Draft, seat: int) -> Iterator[Legal]:
    """Everything that the seat's spells allow now, in the order they are held."""
    for spell in draft.spells[seat]:
        if not timing_fault(draft, spell):
            yield from _SPELLS[spell](draft, seat)


def _feather(draft: Draft, seat: int) -> Iterator[Legal]:
    cards = [card for card in draft.hands[seat] if can_feather(draft, seat, card)]
    if cards:
        yield opened("cast_feather", one("discard", card_refs(cards)))


def _skull(draft: Draft, seat: int) -> Iterator[Legal]:
    if not draft.fire[seat]:
        return
    by_most: dict[int, list[int]] = {}
    for space in range(len(SPACES)):
        if not skull_target_fault(draft, seat, space):
            by_most.setdefault(most_fire(draft, seat, space), []).append(space)
    for most, spaces in sorted(by_most.items()):
        about = (("most", str(most)),)
        yield opened("cast_skull", one("target", space_refs(spaces)), number("fire", 1, most), about=about)


def _eye(draft: Draft, seat: int) -> Iterator[Legal]:  # noqa: ARG001
    places = face_up(draft)
    for a in places:
        others = card_refs(b.card for b in places if eye_useful(a, b))
        if others:
            where = COLOURS[a.seat] if a.where == "board" else "open_row"
            yield opened("cast_eye", one("b", others), fixed=(("a", a.card),), about=(("where", where),))


def _gem(draft: Draft, seat: int) -> Iterator[Legal]:
    if pending_useful(draft, seat, pending_of(draft, seat, "gem")):
        yield complete("cast_gem")


def _flower(draft: Draft, seat: int) -> Iterator[Legal]:
    if pending_useful(draft, seat, pending_of(draft, seat, "flower")):
        yield complete("cast_flower")


def _butterfly(draft: Draft, seat: int) -> Iterator[Legal]:
    if not butterfly_fault(draft, seat):
        yield complete("cast_butterfly")


def _dagger(draft: Draft, seat: int) -> Iterator[Legal]:  # noqa: ARG001
    gnomes = tuple([PIECE_REFS[gnome] for gnome in range(FIRST_PEST) if not dagger_fault(draft, gnome)])
    if gnomes:
        yield opened("cast_dagger", one("gnome", gnomes))


def _doll(draft: Draft, seat: int) -> Iterator[Legal]:
    gnomes = tuple([PIECE_REFS[gnome] for gnome in GNOMES_OF[other(seat)] if not doll_fault(draft, seat, gnome)])
    if gnomes:
        yield opened("cast_doll", one("gnome", gnomes))


def _bottle(draft: Draft, seat: int) -> Iterator[Legal]:
    most = [
        (SPACE_REFS[deposit], draft.water[deposit]) for deposit in held_deposits(draft, seat) if draft.water[deposit]
    ]
    in_all = min(draft.fire[other(seat)], sum(amount for _, amount in most))
    if in_all:
        yield opened("cast_bottle", amounts("water", most, 1, in_all))


def _trinket(draft: Draft, seat: int) -> Iterator[Legal]:
    kinds = tuple([f"kind:{KINDS[kind]}" for kind in range(len(KINDS)) if not lantern_fault(draft, seat, kind)])
    if kinds:
        yield opened("cast_trinket", one("kind", kinds))


def _conch(draft: Draft, seat: int) -> Iterator[Legal]:  # noqa: ARG001
    yield complete("cast_conch")


def _fish(draft: Draft, seat: int) -> Iterator[Legal]:
    fire = draft.fire[seat]
    spaces = [space for space in range(len(SPACES)) if not fish_space_fault(draft, space)]
    if fire and spaces:
        yield opened(
            "cast_fish", amounts("fires", [(SPACE_REFS[space], min(fire, MAX_FISH)) for space in spaces], 1, fire)
        )


_SPELLS: Final[dict[str, Callable[[Draft, int], Iterator[Legal]]]] = {
    "feather": _feather,
    "skull": _skull,
    "eye": _eye,
    "gem": _gem,
    "butterfly": _butterfly,
    "dagger": _dagger,
    "flower": _flower,
    "doll": _doll,
    "bottle": _bottle,
    "trinket": _trinket,
    "conch": _conch,
    "fish": _fish,
}

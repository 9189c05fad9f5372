"""Which spells a player thinks of casting now, and how (WG-20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from google.protobuf.message import Message

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.appraisal import best_defence, threat_worth
from wizards_garden.board import ADJACENT, FOR_PESTS, IS_DEPOSIT, SPACES, TERRACE_DEPOSIT
from wizards_garden.choices import WATER_TO_LIGHT
from wizards_garden.draft import Draft
from wizards_garden.pieces import CARD_KIND, FIRST_PEST, GNOMES_EACH, KINDS, PIECES
from wizards_garden.reach import GNOMES_OF, held_deposits
from wizards_garden.spells import (
    butterfly_fault,
    dagger_fault,
    doll_fault,
    eye_useful,
    face_up,
    fish_space_fault,
    skull_target_fault,
    timing_fault,
)
from wizards_garden.state import DIM_ON_BOARD, Stage, State

__all__ = ["spells_worth_trying"]


def spells_worth_trying(state: State, me: int) -> Iterator[tuple[Message, bool]]:
    """Commands that cast a spell, each with whether it takes the place of the phase's choice."""
    draft = Draft(state)
    for spell in draft.spells[me]:
        stages, instead, ways = _WAYS[spell]
        if state.stage in stages and not timing_fault(draft, spell):
            for command in ways(draft, me):
                yield command, instead


def _feather(draft: Draft, me: int) -> Iterator[Message]:
    for card in {CARD_KIND[card]: card for card in draft.hands[me]}.values():
        yield pb.CastFeather(discard=card)


def _skull(draft: Draft, me: int) -> Iterator[Message]:
    """With just enough fire, at what is worth it."""
    for space in range(len(SPACES)):
        if draft.standing[space] and not skull_target_fault(draft, me, space) and threat_worth(draft, me, space) > 5:
            fire = best_defence(draft, space, 1 - me) + 1
            if fire <= draft.fire[me]:
                yield pb.CastSkull(target=SPACES[space], fire=fire)


def _eye(draft: Draft, me: int) -> Iterator[Message]:  # noqa: ARG001
    """Whatever changes the own board's kinds, or the other's."""
    places = face_up(draft)
    for n, a in enumerate(places):
        for b in places[n + 1 :]:
            if eye_useful(a, b):
                yield pb.CastEye(a=a.card, b=b.card)


def _gem(draft: Draft, me: int) -> Iterator[Message]:  # noqa: ARG001
    yield pb.CastGem()


def _flower(draft: Draft, me: int) -> Iterator[Message]:  # noqa: ARG001
    yield pb.CastFlower()


def _butterfly(draft: Draft, me: int) -> Iterator[Message]:
    if len(draft.hands[me]) > 1 and not butterfly_fault(draft, me):
        yield pb.CastButterfly()


def _dagger(draft: Draft, me: int) -> Iterator[Message]:
    """On gnomes of the other seat that hold a deposit."""
    for gnome in GNOMES_OF[1 - me]:
        if not dagger_fault(draft, gnome) and IS_DEPOSIT[draft.places[gnome]]:
            yield pb.CastDagger(gnome=PIECES[gnome])


def _doll(draft: Draft, me: int) -> Iterator[Message]:
    for gnome in GNOMES_OF[1 - me]:
        if not doll_fault(draft, me, gnome):
            yield pb.CastDoll(gnome=PIECES[gnome])


def _bottle(draft: Draft, me: int) -> Iterator[Message]:
    """As much as the opponent has fire, or less; the water that is needed least goes first."""
    fire = draft.fire[1 - me]
    if not fire:
        return
    home = TERRACE_DEPOSIT[me]
    crystals = sorted(
        (n < WATER_TO_LIGHT, deposit == home, deposit)
        for deposit in held_deposits(draft, me)
        for n in range(draft.water[deposit])
    )
    for amount in range(1, min(fire, len(crystals)) + 1):
        poured: dict[int, int] = {}
        for *_, deposit in crystals[:amount]:
            poured[deposit] = poured.get(deposit, 0) + 1
        yield pb.CastBottle(water=[pb.SpaceAmount(space=SPACES[d], amount=n) for d, n in poured.items()])


def _trinket(draft: Draft, me: int) -> Iterator[Message]:
    for kind, lantern in enumerate(draft.lanterns[me]):
        if lantern == DIM_ON_BOARD:
            yield pb.CastTrinket(kind=KINDS[kind])


def _conch(draft: Draft, me: int) -> Iterator[Message]:  # noqa: ARG001
    yield pb.CastConch()


def _fish(draft: Draft, me: int) -> Iterator[Message]:
    """On a free deposit that a gnome of the other seat is beside."""
    fire = draft.fire[me]
    for space in range(len(SPACES)):
        if not IS_DEPOSIT[space] or not FOR_PESTS[space] or fish_space_fault(draft, space):
            continue
        beside = [
            there[0] // GNOMES_EACH
            for there in map(draft.standing.__getitem__, ADJACENT[space])
            if there and there[-1] < FIRST_PEST
        ]
        if 1 - me in beside:
            for amount in range(1, min(fire, 2) + 1):
                yield pb.CastFish(fires=[pb.SpaceAmount(space=SPACES[space], amount=amount)])


_Ways = Callable[[Draft, int], Iterator[Message]]

_END: Final = frozenset({Stage.WIZARD_END})

_WAYS: Final[dict[str, tuple[frozenset[Stage], bool, _Ways]]] = {
    "feather": (_END, False, _feather),
    "skull": (frozenset({Stage.GARDEN, Stage.WIZARD_END}), False, _skull),
    "eye": (frozenset({Stage.WIZARD_START}), False, _eye),
    "gem": (frozenset({Stage.WIZARD_START}), True, _gem),
    "butterfly": (frozenset({Stage.GARDEN}), True, _butterfly),
    "dagger": (frozenset({Stage.GARDEN}), False, _dagger),
    "flower": (frozenset({Stage.WIZARD_START}), True, _flower),
    "doll": (_END, False, _doll),
    "bottle": (_END, False, _bottle),
    "trinket": (frozenset({Stage.GARDEN}), True, _trinket),
    "conch": (frozenset({Stage.DEFENCE}), True, _conch),
    "fish": (_END, False, _fish),
}
"""By spell: when it is thought of, whether instead of the phase's choice, and how it may be cast."""

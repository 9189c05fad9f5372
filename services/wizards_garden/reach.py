"""Where pieces may go and what they may threaten (WG-6.2, WG-6.5, WG-8.3): faults for judging, lists for listing.

A fault is the code of a rejection; an empty text: nothing is wrong. The lists hold exactly the spaces without a fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wizards_garden.board import ADJACENT, DEPOSITS, FOR_GNOMES, FOR_PESTS, PITS
from wizards_garden.catalogue import DATA
from wizards_garden.draft import Draft
from wizards_garden.pieces import FIRE, FIRST_PEST, GNOMES_EACH, PEST, PIECES, SPIRIT, WATER, colour_of
from wizards_garden.state import BORDER, NO_ONE, SUPPLY, Action, Group, Source

__all__ = [
    "GNOMES_OF",
    "MAX_FIRE",
    "MAX_WATER",
    "PESTS",
    "bearing",
    "border_free",
    "can_step",
    "facing",
    "gnome_arrivals",
    "gnome_enters",
    "gnome_fault",
    "gnome_moves",
    "gnome_targets",
    "gnome_threatens",
    "groups_with",
    "held_deposits",
    "pest_arrivals",
    "pest_enters",
    "pest_fault",
    "pest_moves",
    "pest_targets",
    "pests_join",
    "pests_threaten",
    "pit_is_full",
    "transit_gnome_targets",
    "transit_pest_targets",
    "water_fault",
]

MAX_FIRE: Final = DATA.constants.max_fire_per_player
MAX_WATER: Final = DATA.constants.max_water_per_deposit
_MAX_PESTS: Final = DATA.constants.max_pests_per_space

GNOMES_OF: Final = (range(GNOMES_EACH), range(GNOMES_EACH, FIRST_PEST))
"""By seat."""

PESTS: Final = range(FIRST_PEST, len(PIECES))


# ---- gnomes (WG-6.5) -------------------------------------------------------------------------------------------------


def gnome_fault(draft: Draft, seat: int, gnome: int) -> str:
    """Whether this gnome may take a step of the action under way."""
    action = draft.action
    if action is not None and action.gnome != NO_ONE:  # Doll
        return "" if gnome == action.gnome else "not_your_gnome"
    place = draft.places[gnome]
    if colour_of(gnome) != seat or place == SUPPLY or draft.is_possessed(gnome):
        return "not_your_gnome"
    if draft.bears[gnome] != NO_ONE:  # WG-2.11
        return "gnome_fixed"
    if place == BORDER:  # WG-8.7
        return "in_transit"
    if action is not None and gnome in action.moved:  # WG-6.7
        return "already_moved"
    return ""


def gnome_enters(draft: Draft, gnome: int, seat: int, to: int) -> str:
    """Whether a gnome may stand there; `seat` moves it, and a Doll's gnome keeps off terraces (WG-13.8)."""
    if not _ground(gnome, seat)[to]:
        return "forbidden_space"
    return "" if draft.is_free(to) else "space_occupied"


def gnome_threatens(draft: Draft, gnome: int, seat: int, target: int) -> str:
    """Whether a gnome that this seat uses may threaten what stands there (WG-8.3)."""
    if not _ground(gnome, seat)[target]:
        return "forbidden_space"
    pieces = draft.standing[target]
    if not pieces:
        return "" if draft.fish[target] else "no_target"
    first = pieces[0]
    return "own_target" if first < FIRST_PEST and first // GNOMES_EACH == seat else ""


def _ground(gnome: int, seat: int) -> tuple[bool, ...]:
    return FOR_GNOMES[seat] if gnome // GNOMES_EACH == seat else FOR_PESTS


def border_free(draft: Draft, origin: int, target: int) -> bool:
    """No threat lies over this border, from either side (WG-8.2, WG-8.4)."""
    return draft.group_over(origin, target) is None and draft.group_over(target, origin) is None


def bearing(draft: Draft, space: int) -> bool:
    """A gnome with a lantern stands there."""
    pieces = draft.standing[space]
    return len(pieces) == 1 and draft.bears[pieces[0]] != NO_ONE


def held_deposits(draft: Draft, seat: int) -> list[int]:
    """Deposits that the seat holds (WG-2.10), in the order of the spaces."""
    return [deposit for deposit in DEPOSITS if draft.holder(deposit) == seat]


def gnome_moves(draft: Draft, gnome: int, seat: int) -> list[int]:
    """Spaces that a gnome may step to."""
    ground, standing, fish = _ground(gnome, seat), draft.standing, draft.fish
    return [to for to in ADJACENT[draft.places[gnome]] if ground[to] and not standing[to] and not fish[to]]


def gnome_targets(draft: Draft, gnome: int, seat: int) -> list[int]:
    """Spaces that a gnome may threaten from where it stands."""
    origin = draft.places[gnome]
    return [
        target
        for target in ADJACENT[origin]
        if not gnome_threatens(draft, gnome, seat, target) and border_free(draft, origin, target)
    ]


def gnome_arrivals(draft: Draft, seat: int, origin: int) -> list[int]:
    """Spaces that a gnome of the supply may come to from a held deposit."""
    ground, standing, fish = FOR_GNOMES[seat], draft.standing, draft.fish
    return [to for to in ADJACENT[origin] if ground[to] and not standing[to] and not fish[to]]


def transit_gnome_targets(draft: Draft, seat: int, origin: int) -> list[int]:
    """Spaces that a gnome of the supply may threaten straight from a held deposit."""
    gnome = seat * GNOMES_EACH
    return [
        target
        for target in ADJACENT[origin]
        if not gnome_threatens(draft, gnome, seat, target) and border_free(draft, origin, target)
    ]


# ---- pests (WG-6.2) --------------------------------------------------------------------------------------------------


def pest_fault(draft: Draft, pest: int) -> str:
    """Whether this pest, or the pair it is half of, may take a step of the action under way."""
    place = draft.places[pest]
    if place == SUPPLY:
        return "unknown_id"
    if place == BORDER:
        return "in_transit"
    action = draft.action
    return "already_moved" if action is not None and pest in action.moved else ""


def pest_enters(draft: Draft, to: int, pair: bool) -> str:
    """Whether a pest, or a pair, may stand there."""
    if not FOR_PESTS[to]:
        return "forbidden_space"
    pieces = draft.standing[to]
    if not pieces:
        return "space_occupied" if draft.fish[to] else ""
    if pair or pieces[-1] < FIRST_PEST:  # a gnome, or a pair
        return "space_occupied"
    return "" if len(pieces) < _MAX_PESTS else "stack_full"


def pests_threaten(draft: Draft, seat: int, target: int) -> str:
    """Whether pests, or a pair, may threaten what stands there in this seat's turn (WG-8.3)."""
    if not FOR_PESTS[target]:
        return "forbidden_space"
    pieces = draft.standing[target]
    if not pieces:
        return "" if draft.fish[target] else "no_target"
    first = pieces[0]
    if first >= FIRST_PEST:
        return "no_target"
    return "own_target" if first // GNOMES_EACH == seat else ""


def pit_is_full(draft: Draft, pit: int) -> bool:
    """Two pests threaten from this pit already (WG-8.4)."""
    return sum(len(group.pieces) for group in draft.groups if group.origin == pit) >= _MAX_PESTS


def pest_moves(draft: Draft, pest: int) -> list[int]:
    """Spaces that a pest, or its pair, may move to."""
    place = draft.places[pest]
    pair = draft.has_pair(place)
    return [to for to in ADJACENT[place] if not pest_enters(draft, to, pair)]


def pests_join(draft: Draft, origin: int, target: int, pests: tuple[int, ...]) -> bool:
    """Whether these pests may be set on the border: no threat lies there, or one that they may join (WG-8.2)."""
    there = draft.group_over(origin, target)
    if there is None:
        return draft.group_over(target, origin) is None  # a gnome that Doll set there
    return there.pieces[-1] >= FIRST_PEST and {*there.pieces}.isdisjoint(pests)


def pest_targets(draft: Draft, pests: tuple[int, ...], seat: int) -> list[int]:
    """Spaces that these pests of one space may threaten together."""
    origin = draft.places[pests[0]]
    return [
        target
        for target in ADJACENT[origin]
        if not pests_threaten(draft, seat, target) and pests_join(draft, origin, target, pests)
    ]


def pest_arrivals(draft: Draft, pit: int) -> list[int]:
    """Spaces that a pest of the supply may come to from a pit."""
    return [to for to in ADJACENT[pit] if not pest_enters(draft, to, pair=False)]


def transit_pest_targets(draft: Draft, seat: int, pit: int) -> list[int]:
    """Spaces that a pest of the supply may threaten straight from a pit."""
    if pit_is_full(draft, pit):
        return []
    return [target for target in ADJACENT[pit] if not pests_threaten(draft, seat, target)]


# ---- water (WG-6.3) --------------------------------------------------------------------------------------------------


def water_fault(draft: Draft, deposit: int) -> str:
    """Whether a deposit may take one more water."""
    if draft.water[deposit] >= MAX_WATER:
        return "deposit_full"
    pieces = draft.standing[deposit]
    if draft.fish[deposit] or (pieces and pieces[0] >= FIRST_PEST):
        return "deposit_blocked"
    return ""


# ---- groups ----------------------------------------------------------------------------------------------------------


def groups_with(draft: Draft, pieces: tuple[int, ...]) -> list[Group]:
    """Groups that any of these pieces belongs to."""
    return [group for group in draft.groups if not {*group.pieces}.isdisjoint(pieces)]


def facing(draft: Draft, seat: int, group: Group) -> str:
    """What a group finds on its target now: `opposed`, `unopposed` or `target_blocked` (WG-9.1)."""
    target, first = group.target, group.pieces[0]
    by_pests = first >= FIRST_PEST
    fault = pests_threaten(draft, seat, target) if by_pests else gnome_threatens(draft, first, seat, target)
    if not fault:
        return "opposed"
    return "unopposed" if fault == "no_target" and draft.is_free(target) else "target_blocked"


# ---- whether anything is left (WG-6.1) -------------------------------------------------------------------------------


def can_step(draft: Draft, seat: int, kind: int, action: Action | None = None) -> bool:
    """Whether an action of this kind has a legal step.

    Args:
        draft: the position.
        seat: whose action it is.
        kind: its kind.
        action: the action under way; None: one that would be opened now.
    """
    if kind == FIRE:
        return draft.fire[seat] < MAX_FIRE and draft.fire_supply() > 0
    if kind == SPIRIT:
        return bool(draft.deck or draft.discards or any(draft.row))
    if kind == WATER:
        return draft.water_supply() > 0 and any(not water_fault(draft, deposit) for deposit in DEPOSITS)
    if kind == PEST:
        return any(_pest_steps(draft, seat))
    if action is not None and action.source == Source.BUTTERFLY:
        return bool(draft.hands[seat]) and any(_gnome_steps(draft, seat, threats=False))
    if action is not None and action.gnome != NO_ONE:
        return bool(gnome_moves(draft, action.gnome, seat) or gnome_targets(draft, action.gnome, seat))
    return any(_gnome_steps(draft, seat, threats=True))


def _pest_steps(draft: Draft, seat: int) -> Iterator[bool]:
    if draft.next_pest() != NO_ONE:
        for pit in PITS:
            yield bool(pest_arrivals(draft, pit))
            yield bool(transit_pest_targets(draft, seat, pit))
    for pest in PESTS:
        if not pest_fault(draft, pest):
            yield bool(pest_moves(draft, pest))
            yield bool(pest_targets(draft, (pest,), seat))


def _gnome_steps(draft: Draft, seat: int, *, threats: bool) -> Iterator[bool]:
    if draft.next_gnome(seat) != NO_ONE:
        for origin in held_deposits(draft, seat):
            yield bool(gnome_arrivals(draft, seat, origin))
            if threats:
                yield bool(transit_gnome_targets(draft, seat, origin))
    for gnome in GNOMES_OF[seat]:
        if not gnome_fault(draft, seat, gnome):
            yield bool(gnome_moves(draft, gnome, seat))
            if threats:
                yield bool(gnome_targets(draft, gnome, seat))

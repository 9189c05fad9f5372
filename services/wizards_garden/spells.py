"""The twelve spells (WG-13): when and on what each may be cast, and what it does.

A `..._fault` gives the code of the rejection, or an empty text; the listing of what is legal asks the same functions.
Every function that takes a command judges it and casts the spell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.battle import begin_battle, conch_fault, most_fire, stop_by_conch
from wizards_garden.board import FOR_PESTS, SPACE_INDEX, SPACES, TERRACE
from wizards_garden.catalogue import DATA
from wizards_garden.choices import lantern_fault
from wizards_garden.course import Course
from wizards_garden.draft import Draft
from wizards_garden.pieces import CARD_KIND, FIRST_PEST, GNOME, KIND_INDEX, KINDS, PIECE_INDEX, PIECES, colour_of
from wizards_garden.reach import can_step, gnome_moves, gnome_targets
from wizards_garden.state import BORDER, NO_ONE, SUPPLY, Pending, Source, Stage, other

__all__ = [
    "BUTTERFLY_STEPS",
    "MAX_FISH",
    "butterfly_fault",
    "can_feather",
    "cast_bottle",
    "cast_butterfly",
    "cast_conch",
    "cast_dagger",
    "cast_doll",
    "cast_eye",
    "cast_feather",
    "cast_fish",
    "cast_flower",
    "cast_gem",
    "cast_skull",
    "cast_trinket",
    "dagger_fault",
    "doll_fault",
    "eye_useful",
    "face_up",
    "fish_space_fault",
    "pending_of",
    "pending_useful",
    "skull_target_fault",
    "timing_fault",
]

BUTTERFLY_STEPS: Final = 5
TWO_STEPS: Final = 2
MAX_FISH: Final = DATA.constants.max_fish_fire_per_space

_QUIET: Final = frozenset(
    {
        Stage.GARDEN,
        Stage.WIZARD_START,
        Stage.WIZARD_MAIN,
        Stage.WIZARD_PENDING,
        Stage.WIZARD_END,
        Stage.ATTACK,
    }
)
"""WG-7.1."""

_WIZARD_PHASE: Final = frozenset({Stage.WIZARD_START, Stage.WIZARD_MAIN, Stage.WIZARD_END})
_TIMES: Final[dict[str, frozenset[Stage]]] = {
    "own_turn": _QUIET,
    "wizard_phase": _WIZARD_PHASE,
    "start_of_wizard_phase": frozenset({Stage.WIZARD_START}),
    "end_of_wizard_phase": frozenset({Stage.WIZARD_END}),
    "start_of_turn": frozenset({Stage.GARDEN}),
    "start_of_garden_phase": frozenset({Stage.GARDEN}),
    "opponent_attack_phase": frozenset({Stage.DEFENCE}),
}
"""The data's word for a spell's timing, and the stages it means."""

_TIMING: Final = {spell.id: _TIMES[spell.timing] for spell in DATA.spells}
_OF_THE_PHASE: Final = frozenset({"feather", "bottle", "doll"})
"""Not after Gem or Flower, which take the phase away (WG-4.6)."""


def timing_fault(draft: Draft, spell: str) -> str:
    """Whether the asked seat may cast a spell it holds now (WG-7.1, WG-13)."""
    if draft.stage not in _TIMING[spell]:
        return "spell_timing"
    if draft.replaced and spell in _OF_THE_PHASE:
        return "spell_timing"
    return conch_fault(draft) if spell == "conch" else ""


def _asked(draft: Draft) -> int:
    """The seat whose command this is: in a defence the opponent of the active one."""
    return other(draft.active) if draft.stage is Stage.DEFENCE else draft.active


def _held_now(draft: Draft, seat: int, spell: str) -> str:
    return "spell_not_held" if spell not in draft.spells[seat] else timing_fault(draft, spell)


# ---- wizard phase ----------------------------------------------------------------------------------------------------


def cast_feather(course: Course, command: pb.CastFeather) -> str:
    """Another two-step action (WG-13.1)."""
    draft, card = course.draft, command.discard
    seat = _asked(draft)
    if card not in CARD_KIND:
        return "unknown_id"
    fault = _held_now(draft, seat, "feather")
    if fault:
        return fault
    if card not in draft.hands[seat]:
        return "card_not_in_hand"
    if not can_feather(draft, seat, card):
        return "no_effect"
    course.cast(seat, pb.SpellCast(spell="feather", discard=card))
    course.discard(seat, card)
    if draft.stage is Stage.WIZARD_START:
        course.enter(Stage.WIZARD_MAIN, seat)
    course.open_action(Source.FEATHER, CARD_KIND[card], TWO_STEPS)
    return ""


def can_feather(draft: Draft, seat: int, card: str) -> bool:
    """The card's action would have a legal step (WG-7.3)."""
    return can_step(draft, seat, CARD_KIND[card])


def cast_gem(course: Course, command: pb.CastGem) -> str:  # noqa: ARG001
    """Both spirits' two-step actions (WG-13.4)."""
    return _cast_pending(course, "gem")


def cast_flower(course: Course, command: pb.CastFlower) -> str:  # noqa: ARG001
    """One step of each kind (WG-13.7)."""
    return _cast_pending(course, "flower")


def _cast_pending(course: Course, spell: str) -> str:
    draft = course.draft
    seat = _asked(draft)
    fault = _held_now(draft, seat, spell)
    if fault:
        return fault
    pending = pending_of(draft, seat, spell)
    if not pending_useful(draft, seat, pending):
        return "no_effect"
    course.cast(seat, pb.SpellCast(spell=spell), pending)
    course.enter(Stage.WIZARD_PENDING, seat)
    return ""


def pending_of(draft: Draft, seat: int, spell: str) -> tuple[Pending, ...]:
    """The actions that Gem or Flower gives."""
    if spell == "gem":
        return tuple(Pending(slot, CARD_KIND[card], TWO_STEPS) for slot, card in enumerate(draft.spirits[seat]))
    return tuple(Pending(kind, kind, 1) for kind in range(len(KINDS)))


def pending_useful(draft: Draft, seat: int, pending: Iterable[Pending]) -> bool:
    """Any of these actions has a legal step (WG-7.3)."""
    return any(can_step(draft, seat, each.kind) for each in pending)


def cast_bottle(course: Course, command: pb.CastBottle) -> str:
    """Own water and the opponent's fire go to the supply (WG-13.9)."""
    draft = course.draft
    seat = _asked(draft)
    poured = _amounts(command.water)
    if poured is None:
        return "unknown_id"
    fault = _held_now(draft, seat, "bottle") or _bottle_fault(draft, seat, poured)
    if fault:
        return fault
    used = [(deposit, amount) for deposit, amount in poured if amount]
    course.cast(
        seat,
        pb.SpellCast(spell="bottle", water=[pb.SpaceAmount(space=SPACES[d], amount=amount) for d, amount in used]),
    )
    for deposit, amount in used:
        course.return_water(deposit, amount, "bottle")
    course.return_fire(other(seat), sum(amount for _, amount in used), "bottle")
    if draft.stage is Stage.WIZARD_START:
        course.enter(Stage.WIZARD_MAIN, seat)
    else:
        course.resume()
    return ""


def _bottle_fault(draft: Draft, seat: int, poured: Sequence[tuple[int, int]]) -> str:
    if any(draft.holder(deposit) != seat for deposit, _ in poured):
        return "deposit_not_open"
    if any(amount > draft.water[deposit] for deposit, amount in poured):
        return "not_enough_water"
    if _ill_named(poured) or any(not draft.water[deposit] for deposit, _ in poured):
        return "bad_amount"
    if not 1 <= sum(amount for _, amount in poured) <= draft.fire[other(seat)]:
        return "bad_amount"
    return ""


def cast_doll(course: Course, command: pb.CastDoll) -> str:
    """One step with a gnome of the opponent (WG-13.8)."""
    draft, gnome = course.draft, PIECE_INDEX.get(command.gnome, NO_ONE)
    seat = _asked(draft)
    if not 0 <= gnome < FIRST_PEST:
        return "unknown_id"
    fault = _held_now(draft, seat, "doll") or doll_fault(draft, seat, gnome)
    if fault:
        return fault
    course.cast(seat, pb.SpellCast(spell="doll", gnome=command.gnome))
    course.open_action(Source.DOLL, GNOME, 1, gnome=gnome)
    return ""


def doll_fault(draft: Draft, seat: int, gnome: int) -> str:
    """Whether Doll may move this gnome."""
    if colour_of(gnome) == seat:
        return "not_your_gnome"
    fault = _touch_fault(draft, gnome)
    if fault:
        return fault
    return "" if gnome_moves(draft, gnome, seat) or gnome_targets(draft, gnome, seat) else "no_effect"


def _touch_fault(draft: Draft, gnome: int) -> str:
    """What keeps Doll and Dagger from a gnome."""
    place = draft.places[gnome]
    if place == SUPPLY or draft.is_possessed(gnome):
        return "not_your_gnome"
    if draft.bears[gnome] != NO_ONE:
        return "gnome_fixed"
    if place >= 0 and TERRACE[place] >= 0:
        return "gnome_on_terrace"
    return "in_transit" if place == BORDER else ""


# ---- garden phase, and the whole turn --------------------------------------------------------------------------------


def cast_trinket(course: Course, command: pb.CastTrinket) -> str:
    """Lights any lantern of the wizard board (WG-13.10)."""
    draft, kind = course.draft, KIND_INDEX.get(command.kind, NO_ONE)
    seat = _asked(draft)
    if kind == NO_ONE:
        return "unknown_id"
    fault = _held_now(draft, seat, "trinket") or lantern_fault(draft, seat, kind)
    if fault:
        return fault
    course.cast(seat, pb.SpellCast(spell="trinket", kind=command.kind))
    course.light(seat, kind, "trinket")
    course.end_garden()
    return ""


def cast_butterfly(course: Course, command: pb.CastButterfly) -> str:  # noqa: ARG001
    """A turn of gnome steps, each for a spirit card (WG-13.5)."""
    draft = course.draft
    seat = _asked(draft)
    fault = _held_now(draft, seat, "butterfly") or butterfly_fault(draft, seat)
    if fault:
        return fault
    course.cast(seat, pb.SpellCast(spell="butterfly"))
    course.open_action(Source.BUTTERFLY, GNOME, BUTTERFLY_STEPS)
    return ""


def butterfly_fault(draft: Draft, seat: int) -> str:
    """Whether Butterfly has a step to give."""
    draft.open_action(Source.BUTTERFLY.value, GNOME, BUTTERFLY_STEPS, None, NO_ONE)
    useful = can_step(draft, seat, GNOME, draft.action)
    draft.close_action()
    return "" if useful else "no_effect"


# ---- own turn --------------------------------------------------------------------------------------------------------


def cast_skull(course: Course, command: pb.CastSkull) -> str:
    """An attack from afar, by fire alone (WG-13.2)."""
    draft, target, fire = course.draft, SPACE_INDEX.get(command.target, NO_ONE), command.fire
    seat = _asked(draft)
    if target == NO_ONE:
        return "unknown_id"
    fault = _held_now(draft, seat, "skull")
    if fault:
        return fault
    if fire > draft.fire[seat] or not draft.fire[seat]:
        return "not_enough_fire"
    if fire < 1:
        return "bad_amount"
    fault = skull_target_fault(draft, seat, target)
    if fault:
        return fault
    if fire > most_fire(draft, seat, target):  # WG-9.12
        return "own_target"
    course.cast(seat, pb.SpellCast(spell="skull", target=command.target, fire=fire))
    begin_battle(course, NO_ONE, target, fire, fire)
    return ""


def skull_target_fault(draft: Draft, seat: int, target: int) -> str:
    """Whether the Skull may strike what stands there."""
    if not FOR_PESTS[target]:
        return "forbidden_space"
    pieces = draft.standing[target]
    if not pieces:
        return "no_target"
    return "own_target" if len(pieces) == 1 and colour_of(pieces[0]) == seat else ""


def cast_eye(course: Course, command: pb.CastEye) -> str:
    """Two face-up spirit cards change places (WG-13.3)."""
    draft, a, b = course.draft, command.a, command.b
    seat = _asked(draft)
    if a not in CARD_KIND or b not in CARD_KIND:
        return "unknown_id"
    fault = _held_now(draft, seat, "eye")
    if fault:
        return fault
    places = {place.card: place for place in face_up(draft)}
    if a not in places or b not in places:
        return "card_not_open"
    if a == b:
        return "bad_choice"
    if not eye_useful(places[a], places[b]):
        return "no_effect"
    course.cast(seat, pb.SpellCast(spell="eye", a=a, b=b))
    draft.exchange(a, b)
    course.tell(pb.SpiritsExchanged(a=places[a], b=places[b]))
    course.resume()
    return ""


def face_up(draft: Draft) -> list[pb.CardPlace]:
    """Every spirit card that lies face up, and where."""
    return [
        *(
            pb.CardPlace(card=card, where="board", seat=seat, place=slot)
            for seat, spirits in enumerate(draft.spirits)
            for slot, card in enumerate(spirits)
        ),
        *(pb.CardPlace(card=card, where="row", place=place) for place, card in enumerate(draft.row) if card),
    ]


def eye_useful(a: pb.CardPlace, b: pb.CardPlace) -> bool:
    """The exchange changes something: other places, other kinds."""
    return (a.where, a.seat) != (b.where, b.seat) and CARD_KIND[a.card] != CARD_KIND[b.card]


def cast_dagger(course: Course, command: pb.CastDagger) -> str:
    """A pest takes possession of a gnome (WG-13.6)."""
    draft, gnome = course.draft, PIECE_INDEX.get(command.gnome, NO_ONE)
    seat = _asked(draft)
    if not 0 <= gnome < FIRST_PEST:
        return "unknown_id"
    fault = _held_now(draft, seat, "dagger") or dagger_fault(draft, gnome)
    if fault:
        return fault
    pest, space = draft.next_pest(), draft.places[gnome]
    course.cast(seat, pb.SpellCast(spell="dagger", gnome=command.gnome))
    course.leave_groups((gnome,))
    draft.possess(gnome, pest)
    course.tell(pb.GnomePossessed(gnome=command.gnome, pest=PIECES[pest], space=SPACES[space]))
    course.resume()
    return ""


def dagger_fault(draft: Draft, gnome: int) -> str:
    """Whether a pest may take possession of this gnome."""
    return _touch_fault(draft, gnome) or ("no_supply" if draft.next_pest() == NO_ONE else "")


def cast_fish(course: Course, command: pb.CastFish) -> str:
    """Fire of the wizard board is laid on free spaces (WG-13.12)."""
    draft = course.draft
    seat = _asked(draft)
    fires = _amounts(command.fires)
    if fires is None:
        return "unknown_id"
    fault = _held_now(draft, seat, "fish") or _fish_fault(draft, seat, fires)
    if fault:
        return fault
    laid = [(space, amount) for space, amount in fires if amount]
    course.cast(
        seat,
        pb.SpellCast(spell="fish", fires=[pb.SpaceAmount(space=SPACES[s], amount=amount) for s, amount in laid]),
    )
    for space, amount in laid:
        draft.lay_fish_fire(seat, space, amount)
        course.tell(pb.FishFireLaid(seat=seat, space=SPACES[space], amount=amount))
    course.resume()
    return ""


def _fish_fault(draft: Draft, seat: int, fires: Sequence[tuple[int, int]]) -> str:
    if sum(amount for _, amount in fires) > draft.fire[seat]:
        return "not_enough_fire"
    if _ill_named(fires) or not any(amount for _, amount in fires) or any(amount > MAX_FISH for _, amount in fires):
        return "bad_amount"
    for wrong in ("forbidden_space", "space_occupied"):
        if any(fish_space_fault(draft, space) == wrong for space, _ in fires):
            return wrong
    return ""


def fish_space_fault(draft: Draft, space: int) -> str:
    """Whether fire may be laid there."""
    if not FOR_PESTS[space]:
        return "forbidden_space"
    return "" if draft.is_free(space) else "space_occupied"


# ---- the opponent's attack -------------------------------------------------------------------------------------------


def cast_conch(course: Course, command: pb.CastConch) -> str:  # noqa: ARG001
    """The attack just declared is stopped (WG-13.11)."""
    draft = course.draft
    seat = _asked(draft)
    fault = _held_now(draft, seat, "conch")
    if fault:
        return fault
    course.cast(seat, pb.SpellCast(spell="conch"))
    stop_by_conch(course)
    return ""


# ---- parts -----------------------------------------------------------------------------------------------------------


def _amounts(listed: Iterable[pb.SpaceAmount]) -> list[tuple[int, int]] | None:
    """Space and amount of each entry; None if a space does not exist."""
    amounts = [(SPACE_INDEX.get(each.space, NO_ONE), each.amount) for each in listed]
    return None if any(space == NO_ONE for space, _ in amounts) else amounts


def _ill_named(amounts: Sequence[tuple[int, int]]) -> bool:
    """A space is named twice, or an amount is below 0."""
    return len({space for space, _ in amounts}) != len(amounts) or any(amount < 0 for _, amount in amounts)

"""Steps of actions (WG-6): each is judged and carried out.

Every function takes a course and a command of the seat whose turn it is. It gives the code of the rejection and leaves
everything as it was, or an empty text and has done the step.
"""

from __future__ import annotations

from google.protobuf.message import Message

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import ADJACENT, IS_DEPOSIT, IS_PIT, SPACE_INDEX, SPACES, group_id
from wizards_garden.catalogue import DATA
from wizards_garden.course import Course
from wizards_garden.draft import Draft
from wizards_garden.pieces import CARD_KIND, FIRST_PEST, PIECE_INDEX, PIECES
from wizards_garden.reach import (
    MAX_FIRE,
    border_free,
    gnome_enters,
    gnome_fault,
    gnome_threatens,
    pest_enters,
    pest_fault,
    pests_join,
    pests_threaten,
    pit_is_full,
    water_fault,
)
from wizards_garden.state import NO_ONE, Source

__all__ = [
    "HAND_LIMIT",
    "bring_gnome",
    "bring_gnome_threatening",
    "bring_pest",
    "bring_pest_threatening",
    "collect_fire",
    "collect_water",
    "draw_spirit",
    "end_action",
    "move_gnome",
    "move_pest",
    "threaten_with_gnome",
    "threaten_with_pests",
]

HAND_LIMIT = DATA.constants.hand_limit


def end_action(course: Course, command: pb.EndAction) -> str:  # noqa: ARG001
    """The rest of the action is forgone (WG-6.1)."""
    course.close_action("ended")
    return ""


# ---- pests (WG-6.2) --------------------------------------------------------------------------------------------------


def bring_pest(course: Course, command: pb.BringPest) -> str:
    """A pest of the supply comes to a space beside a pit."""
    draft = course.draft
    origin, to = SPACE_INDEX.get(_from(command), NO_ONE), SPACE_INDEX.get(command.to, NO_ONE)
    if NO_ONE in (origin, to):
        return "unknown_id"
    fault = _from_pit(draft, origin, to) or pest_enters(draft, to, pair=False)
    if fault:
        return fault
    pest = draft.next_pest()
    draft.bring(pest, to)
    event = pb.PestBrought(piece=PIECES[pest], to=SPACES[to])
    setattr(event, "from", SPACES[origin])
    course.tell(event)
    course.after_step()
    return ""


def move_pest(course: Course, command: pb.MovePest) -> str:
    """A pest, or the pair it is half of, moves to the next space."""
    draft = course.draft
    pest, to = PIECE_INDEX.get(command.pest, NO_ONE), SPACE_INDEX.get(command.to, NO_ONE)
    if pest < FIRST_PEST or to == NO_ONE:
        return "unknown_id"
    fault = pest_fault(draft, pest)
    if fault:
        return fault
    origin = draft.places[pest]
    pair = draft.has_pair(origin)
    if to not in ADJACENT[origin]:
        return "not_adjacent"
    fault = pest_enters(draft, to, pair)
    if fault:
        return fault
    pieces = draft.standing[origin] if pair else (pest,)
    course.leave_groups(pieces)
    draft.move(pieces, to)
    event = pb.PestMoved(piece=command.pest, to=SPACES[to])
    setattr(event, "from", SPACES[origin])
    if pair:
        event.pair, event.gnome = True, PIECES[pieces[1]]
    course.tell(event)
    course.after_step()
    return ""


def threaten_with_pests(course: Course, command: pb.ThreatenWithPests) -> str:
    """One pest, a stack or a pair is set on a border of its space."""
    draft, seat = course.draft, course.draft.active
    pests, target = [PIECE_INDEX.get(pest, NO_ONE) for pest in command.pests], SPACE_INDEX.get(command.target, NO_ONE)
    if not pests or min(pests) < FIRST_PEST or target == NO_ONE:
        return "unknown_id"
    for fault in ("unknown_id", "in_transit", "already_moved"):
        if any(pest_fault(draft, pest) == fault for pest in pests):
            return fault
    origin = draft.places[pests[0]]
    if any(draft.places[pest] != origin for pest in pests) or target not in ADJACENT[origin]:
        return "not_adjacent"
    if len({*pests}) != len(pests):
        return "not_adjacent"  # one pest named twice is no stack
    fault = pests_threaten(draft, seat, target)
    if fault:
        return fault
    if not pests_join(draft, origin, target, (*pests,)):
        return "border_taken"
    pieces = draft.standing[origin] if draft.has_pair(origin) else tuple(sorted(pests))
    _threaten(course, origin, target, pieces)
    return ""


def bring_pest_threatening(course: Course, command: pb.BringPestThreatening) -> str:
    """A pest of the supply comes straight onto a border of a pit."""
    draft = course.draft
    origin, target = SPACE_INDEX.get(_from(command), NO_ONE), SPACE_INDEX.get(command.target, NO_ONE)
    if NO_ONE in (origin, target):
        return "unknown_id"
    fault = _from_pit(draft, origin, target)
    if fault:
        return fault
    fault = pests_threaten(draft, draft.active, target)
    if fault == "forbidden_space":
        return fault
    if pit_is_full(draft, origin):  # WG-8.4
        return "stack_full"
    if fault:
        return fault
    _threaten(course, origin, target, (draft.next_pest(),), in_transit=True)
    return ""


def _from_pit(draft: Draft, origin: int, to: int) -> str:
    if draft.next_pest() == NO_ONE:
        return "no_supply"
    if not IS_PIT[origin]:
        return "origin_invalid"
    return "" if to in ADJACENT[origin] else "not_adjacent"


# ---- water, spirits and fire (WG-6.3, WG-6.4, WG-6.6) ----------------------------------------------------------------


def collect_water(course: Course, command: pb.CollectWater) -> str:
    """One water comes onto a deposit."""
    draft = course.draft
    deposit = SPACE_INDEX.get(command.deposit, NO_ONE)
    if deposit == NO_ONE or not IS_DEPOSIT[deposit]:
        return "unknown_id"
    if draft.water_supply() < 1:
        return "no_supply"
    fault = water_fault(draft, deposit)
    if fault:
        return fault
    now = draft.water[deposit] + 1
    draft.collect_water(deposit, now)
    course.tell(pb.WaterCollected(deposit=SPACES[deposit], amount_now=now))
    course.after_step()
    return ""


def draw_spirit(course: Course, command: pb.DrawSpirit) -> str:
    """A spirit card comes into the hand."""
    draft, source, discard = course.draft, command.source, command.discard
    seat = draft.active
    hand = draft.hands[seat]
    if (source != "deck" and source not in CARD_KIND) or (discard and discard not in CARD_KIND):
        return "unknown_id"
    if discard and discard not in hand:
        return "card_not_in_hand"
    if source == "deck":
        if not draft.deck and not draft.discards and not discard:
            return "no_supply"
    elif source not in draft.row:
        return "card_not_open"
    if len(hand) >= HAND_LIMIT and not discard:
        return "hand_full"
    if len(hand) < HAND_LIMIT and discard:
        return "discard_not_allowed"
    if discard:
        course.discard(seat, discard)
    if source == "deck":
        course.draw_from_deck(seat)
    else:
        course.draw_open(seat, source)
    course.after_step()
    return ""


def collect_fire(course: Course, command: pb.CollectFire) -> str:  # noqa: ARG001
    """One fire comes onto the wizard board."""
    draft = course.draft
    seat = draft.active
    if draft.fire_supply() < 1:
        return "no_supply"
    if draft.fire[seat] >= MAX_FIRE:
        return "fire_full"
    now = draft.fire[seat] + 1
    draft.collect_fire(seat, now)
    course.tell(pb.FireCollected(seat=seat, amount_now=now))
    course.after_step()
    return ""


# ---- gnomes (WG-6.5) -------------------------------------------------------------------------------------------------


def move_gnome(course: Course, command: pb.MoveGnome) -> str:
    """A gnome moves to the next space."""
    draft = course.draft
    gnome, to = PIECE_INDEX.get(command.gnome, NO_ONE), SPACE_INDEX.get(command.to, NO_ONE)
    if not 0 <= gnome < FIRST_PEST or to == NO_ONE:
        return "unknown_id"
    fault = _discard_named(draft, command.discard) or gnome_fault(draft, draft.active, gnome)
    if fault:
        return fault
    origin = draft.places[gnome]
    if to not in ADJACENT[origin]:
        return "not_adjacent"
    fault = gnome_enters(draft, gnome, draft.active, to) or _discard_due(draft, command.discard)
    if fault:
        return fault
    _pay(course, command.discard)
    course.leave_groups((gnome,))
    draft.move((gnome,), to)
    event = pb.GnomeMoved(piece=command.gnome, to=SPACES[to])
    setattr(event, "from", SPACES[origin])
    course.tell(event)
    course.after_step()
    return ""


def bring_gnome(course: Course, command: pb.BringGnome) -> str:
    """A gnome of the supply comes to a space beside a held deposit."""
    draft, seat = course.draft, course.draft.active
    origin, to = SPACE_INDEX.get(_from(command), NO_ONE), SPACE_INDEX.get(command.to, NO_ONE)
    if NO_ONE in (origin, to):
        return "unknown_id"
    gnome = draft.next_gnome(seat)
    fault = (
        _discard_named(draft, command.discard)
        or _from_deposit(draft, gnome, origin, to)
        or gnome_enters(draft, gnome, seat, to)
        or _discard_due(draft, command.discard)
    )
    if fault:
        return fault
    _pay(course, command.discard)
    draft.bring(gnome, to)
    event = pb.GnomeBrought(piece=PIECES[gnome], to=SPACES[to])
    setattr(event, "from", SPACES[origin])
    course.tell(event)
    course.after_step()
    return ""


def threaten_with_gnome(course: Course, command: pb.ThreatenWithGnome) -> str:
    """A gnome is set on a border of its space."""
    draft, seat = course.draft, course.draft.active
    gnome, target = PIECE_INDEX.get(command.gnome, NO_ONE), SPACE_INDEX.get(command.target, NO_ONE)
    if not 0 <= gnome < FIRST_PEST or target == NO_ONE:
        return "unknown_id"
    fault = gnome_fault(draft, seat, gnome)
    if fault:
        return fault
    origin = draft.places[gnome]
    if target not in ADJACENT[origin]:
        return "not_adjacent"
    fault = gnome_threatens(draft, gnome, seat, target)
    if fault:
        return fault
    if not border_free(draft, origin, target):
        return "border_taken"
    _threaten(course, origin, target, (gnome,))
    return ""


def bring_gnome_threatening(course: Course, command: pb.BringGnomeThreatening) -> str:
    """A gnome of the supply comes straight onto a border of a held deposit."""
    draft, seat = course.draft, course.draft.active
    origin, target = SPACE_INDEX.get(_from(command), NO_ONE), SPACE_INDEX.get(command.target, NO_ONE)
    if NO_ONE in (origin, target):
        return "unknown_id"
    gnome = draft.next_gnome(seat)
    fault = _from_deposit(draft, gnome, origin, target) or gnome_threatens(draft, gnome, seat, target)
    if fault:
        return fault
    if not border_free(draft, origin, target):  # WG-8.4
        return "border_taken"
    _threaten(course, origin, target, (gnome,), in_transit=True)
    return ""


def _from_deposit(draft: Draft, gnome: int, origin: int, to: int) -> str:
    if gnome == NO_ONE:
        return "no_supply"
    if draft.holder(origin) != draft.active:
        return "origin_invalid"
    return "" if to in ADJACENT[origin] else "not_adjacent"


def _discard_named(draft: Draft, discard: str) -> str:
    if not discard:
        return ""
    if discard not in CARD_KIND:
        return "unknown_id"
    return "" if discard in draft.hands[draft.active] else "card_not_in_hand"


def _discard_due(draft: Draft, discard: str) -> str:
    """Butterfly's steps cost a card each, others none (WG-13.5)."""
    action = draft.action
    if action is not None and action.source == Source.BUTTERFLY:
        return "" if discard else "discard_required"
    return "discard_not_allowed" if discard else ""


def _pay(course: Course, discard: str) -> None:
    if discard:
        course.discard(course.draft.active, discard)


# ---- both ------------------------------------------------------------------------------------------------------------


def _from(command: Message) -> str:
    """The field `from`, whose name is a word of the language."""
    name: str = getattr(command, "from")
    return name


def _threaten(course: Course, origin: int, target: int, pieces: tuple[int, ...], *, in_transit: bool = False) -> None:
    """Pieces are set on a border; a threat they made before is given up (WG-8.7)."""
    draft = course.draft
    if not in_transit:
        course.leave_groups(pieces)
    draft.threaten(origin, target, pieces, in_transit)
    course.tell(
        pb.ThreatMade(
            group=group_id(origin, target),
            pieces=[PIECES[piece] for piece in pieces],
            origin=SPACES[origin],
            target=SPACES[target],
            in_transit=in_transit,
            seat=draft.active,
        )
    )
    course.after_step()

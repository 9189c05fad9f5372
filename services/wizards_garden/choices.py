"""Preparation and the choices of the garden and wizard phases (WG-3.5, WG-4, WG-5): judged and carried out.

Every function takes a course and a command of the asked seat. It gives the code of the rejection and leaves everything
as it was, or an empty text and has done it.
"""

from __future__ import annotations

from typing import Final

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import SPACE_INDEX, TERRACE_DEPOSIT
from wizards_garden.catalogue import DATA
from wizards_garden.course import Course
from wizards_garden.draft import Draft
from wizards_garden.pieces import CARD_KIND, KIND_INDEX
from wizards_garden.reach import bearing
from wizards_garden.state import BRIGHT, DIM_ON_BOARD, LIT, NO_ONE, Source, Stage

__all__ = [
    "LANTERN_STEPS",
    "MAGICIAN_STEPS",
    "SPIRIT_STEPS",
    "WATER_TO_LIGHT",
    "deposit_open",
    "end_phase",
    "lantern_action",
    "lantern_fault",
    "light_with_pair",
    "light_with_water",
    "magician_action",
    "pair_fault",
    "place_lantern",
    "prepare",
    "spirit_action",
    "start_action",
    "swap_spirit",
]

WATER_TO_LIGHT: Final = DATA.constants.water_to_light
LANTERN_STEPS: Final = tuple(kind.lantern_steps for kind in DATA.kinds)
MAGICIAN_STEPS: Final = tuple(kind.magician_steps for kind in DATA.kinds)
SPIRIT_STEPS: Final = tuple(kind.spirit_steps for kind in DATA.kinds)
"""Steps of each kind's action, by what opens it (WG-6)."""


def prepare(course: Course, command: pb.Prepare) -> str:
    """Two dealt cards become spirits, and the first lantern is set (WG-3.5)."""
    draft = course.draft
    seat, cards, kind = draft.active, tuple(command.spirits), KIND_INDEX.get(command.kind, NO_ONE)
    if kind == NO_ONE or any(card not in CARD_KIND for card in cards):
        return "unknown_id"
    if any(card not in draft.hands[seat] for card in cards):
        return "card_not_in_hand"
    if len(cards) != DATA.constants.board_spirits or cards[0] == cards[1]:
        return "bad_choice"
    if kind not in (CARD_KIND[cards[0]], CARD_KIND[cards[1]]):
        return "bad_choice"
    course.prepare(seat, (cards[0], cards[1]), kind)
    return ""


# ---- garden (WG-4.2) -------------------------------------------------------------------------------------------------


def lantern_action(course: Course, command: pb.LanternAction) -> str:
    """The one-step action of a bright lantern (WG-6)."""
    draft, kind = course.draft, KIND_INDEX.get(command.kind, NO_ONE)
    if kind == NO_ONE:
        return "unknown_id"
    if draft.lanterns[draft.active][kind] != BRIGHT:
        return "lantern_not_bright"
    course.open_action(Source.LANTERN, kind, LANTERN_STEPS[kind])
    return ""


def light_with_water(course: Course, command: pb.LightWithWater) -> str:
    """Three water of the own terrace light a lantern (WG-5.1)."""
    draft, kind = course.draft, KIND_INDEX.get(command.kind, NO_ONE)
    if kind == NO_ONE:
        return "unknown_id"
    seat = draft.active
    fault = lantern_fault(draft, seat, kind)
    if fault:
        return fault
    deposit = TERRACE_DEPOSIT[seat]
    if draft.water[deposit] < WATER_TO_LIGHT:
        return "not_enough_water"
    course.return_water(deposit, WATER_TO_LIGHT, "lit")
    course.light(seat, kind, "water")
    course.end_garden()
    return ""


def place_lantern(course: Course, command: pb.PlaceLantern) -> str:
    """The lit lantern goes onto a held deposit (WG-5.6)."""
    draft, space = course.draft, SPACE_INDEX.get(command.space, NO_ONE)
    if space == NO_ONE:
        return "unknown_id"
    seat = draft.active
    if LIT not in draft.lanterns[seat]:
        return "nothing_lit"
    if not deposit_open(draft, seat, space):
        return "deposit_not_open"
    if not course.place_lantern(seat, draft.lanterns[seat].index(LIT), space):
        course.end_garden()
    return ""


def lantern_fault(draft: Draft, seat: int, kind: int) -> str:
    """Whether this lantern may be lit (WG-5.5)."""
    lantern = draft.lanterns[seat][kind]
    if lantern == DIM_ON_BOARD:
        return ""
    return "already_lit" if lantern == LIT else "lantern_not_on_board"


def deposit_open(draft: Draft, seat: int, space: int) -> bool:
    """The seat holds it with a gnome that bears no lantern (WG-2.10)."""
    return draft.holder(space) == seat and not bearing(draft, space)


# ---- wizard phase (WG-4.3 to WG-4.6) ---------------------------------------------------------------------------------


def swap_spirit(course: Course, command: pb.SwapSpirit) -> str:
    """A card of the hand takes a spirit's place (WG-4.4)."""
    draft, slot, card = course.draft, command.slot, command.card
    seat = draft.active
    if slot not in (0, 1) or card not in CARD_KIND:
        return "unknown_id"
    if card not in draft.hands[seat]:
        return "card_not_in_hand"
    out = draft.spirits[seat][slot]
    draft.swap_spirit(seat, slot, card)
    event = pb.SpiritSwapped(seat=seat, slot=slot, out=out)
    setattr(event, "in", card)
    course.tell(event)
    course.enter(Stage.WIZARD_MAIN, seat)
    return ""


def light_with_pair(course: Course, command: pb.LightWithPair) -> str:  # noqa: ARG001
    """Two spirits of the same kind light their lantern (WG-5.2)."""
    draft = course.draft
    seat = draft.active
    fault = pair_fault(draft, seat)
    if fault:
        return fault
    course.light(seat, CARD_KIND[draft.spirits[seat][0]], "pair")
    course.end_wizard()
    return ""


def pair_fault(draft: Draft, seat: int) -> str:
    """Whether the seat's spirits light a lantern."""
    first, second = draft.spirits[seat]
    if CARD_KIND[first] != CARD_KIND[second]:
        return "no_pair"
    return lantern_fault(draft, seat, CARD_KIND[first])


def magician_action(course: Course, command: pb.MagicianAction) -> str:
    """One step of any kind (WG-6)."""
    kind = KIND_INDEX.get(command.kind, NO_ONE)
    if kind == NO_ONE:
        return "unknown_id"
    course.open_action(Source.MAGICIAN, kind, MAGICIAN_STEPS[kind])
    return ""


def spirit_action(course: Course, command: pb.SpiritAction) -> str:
    """The two-step action of a spirit (WG-6)."""
    draft = course.draft
    if command.slot not in (0, 1):
        return "unknown_id"
    kind = CARD_KIND[draft.spirits[draft.active][command.slot]]
    course.open_action(Source.SPIRIT, kind, SPIRIT_STEPS[kind])
    return ""


def start_action(course: Course, command: pb.StartAction) -> str:
    """One of the actions that Gem or Flower gives (WG-13.4, WG-13.7)."""
    draft = course.draft
    for pending in draft.pending:
        if pending.index == command.index:
            course.open_action(Source(draft.pending_source), pending.kind, pending.steps, index=pending.index)
            return ""
    return "unknown_id"


def end_phase(course: Course, command: pb.EndPhase) -> str:  # noqa: ARG001
    """The phase is declined, or what is left of it forgone (WG-4)."""
    draft = course.draft
    if draft.stage is Stage.GARDEN:
        course.end_garden()
    elif draft.stage is Stage.WIZARD_END:
        course.begin_attack()
    elif draft.stage is Stage.ATTACK:
        for group in draft.groups:  # WG-4.7
            course.withdraw(group)
        course.end_turn()
    else:
        course.end_wizard()
    return ""

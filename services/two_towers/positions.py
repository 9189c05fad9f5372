"""Arranged positions: from a partial mapping to the event `position_arranged`. Keys and defaults: see README.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from google.protobuf.message import Message

from grimoire.engine import Illegal
from grimoire.engine.written import known_keys, one_of, whole_number
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.battlefields import BATTLEFIELDS
from two_towers.cards import CARDS, CATALOGUE
from two_towers.catalogue import DATA
from two_towers.fields import FIELDS
from two_towers.options import configure
from two_towers.state import EMPTY, HAND_SIZE, Phase, State, Terms
from two_towers.turn import PLAY_LIMIT, seat_numbers

__all__ = ["TwoTowersPositions", "position_fault"]

_BARE: Final = (20, 5, 2, 2, 2, 0, 0, 0)
"""Unnamed numbers, as the rules' worked scenarios have them (TT-10)."""

_LARGEST: Final = 100_000
_DEALT: Final = 12
_AT: Final = ("decision", "turn_start", "turn_end")
_PHASES: Final = (Phase.MAIN.value, Phase.FORCED_DISCARD.value)
_KEYS: Final = (
    "seats",
    "active",
    "turn",
    "at",
    "phase",
    "plays_this_turn",
    "pile",
    "pile_top",
    "discards",
    "goal_tower",
    "goal_resource",
    "reshuffles",
    "draws_made",
    "base",
)
_SEAT_KEYS: Final = (*FIELDS, "hand", "timeouts")
_FILLER: Final = "any"
_PLAIN: Final = (
    "basic_wall",
    "sturdy_wall",
    "big_wall",
    "reinforced_wall",
    "great_wall",
    "mondo_wall",
    "amethyst",
    "ruby",
    "lodestone",
    "emerald",
    "sapphire",
    "diamond",
)
_FILLERS: Final = (*_PLAIN, *(card for card in reversed(CATALOGUE) if card not in _PLAIN))


class TwoTowersPositions:
    """`Positions` of Two Towers."""

    def parse(self, position: Mapping[str, object], options: Mapping[str, str]) -> Message:
        """The event for a partial position.

        Raises:
            ValueError: with a sentence that says what is wrong and what is allowed.

        >>> event = TwoTowersPositions().parse({"seats": {0: {"mana": 7, "hand": ["ruby"]}}}, {})
        >>> event.numbers[0].mana, event.hands[0].cards[0], event.pile_count
        (7, 'ruby', 90)
        """
        facts = configure(options, DATA.constants.seats)
        if isinstance(facts, Illegal):
            raise ValueError(facts.message)
        chosen = dict(facts.options)
        battlefield = BATTLEFIELDS[chosen["battlefield"]]
        standard = chosen["deck_type"] == "standard"
        plan = _lift_seats(position)
        known_keys(plan, _KEYS, "a position")
        base = one_of(plan, "base", ("bare", "battlefield"))
        sides = _sides(plan)
        phase = one_of(plan, "phase", _PHASES)
        discards = _cards(plan.get("discards", ()), "discards")
        hands = _hands(sides, _named_elsewhere(plan, discards))
        pile = _pile(plan, {*discards, *hands[0], *hands[1]}) if standard else _cards(plan.get("pile", ()), "pile")
        event = pb.PositionArranged(
            deck_type=chosen["deck_type"],
            battlefield=battlefield.id,
            numbers=[_numbers(side, battlefield.numbers if base == "battlefield" else _BARE) for side in sides],
            goal_tower=_number(plan, "goal_tower", battlefield.goal_tower, 1),
            goal_resource=_number(plan, "goal_resource", battlefield.goal_resource, 1),
            timeouts=[_number(side, "timeouts", 0) for side in sides],
            timeout_limit=int(chosen["timeout_limit"]),
            turn_no=_number(plan, "turn", 1, 1, DATA.constants.turn_limit),
            active_seat=_number(plan, "active", 0, 0, 1),
            phase=phase,
            plays_this_turn=_number(plan, "plays_this_turn", int(phase != Phase.MAIN)),
            pile_count=len(pile) if standard else None,
            discards=discards,
            reshuffles=_number(plan, "reshuffles", 0),
            draws_made=_number(plan, "draws_made", 0 if standard else _DEALT),
            at=one_of(plan, "at", _AT),
            hands=[pb.ArrangedHand(seat=seat, cards=hand) for seat, hand in enumerate(hands)],
            pile=pile,
        )
        fault = position_fault(event, _terms(chosen))
        if fault:
            raise ValueError(fault)
        return event

    def from_state(self, state: State) -> pb.PositionArranged:
        """The event for a running match: hands, pile, numbers and clocks as they are, at the decision that is open.

        Raises:
            ValueError: before the first turn, and when the match is over.
        """
        if state.phase not in (Phase.MAIN, Phase.FORCED_DISCARD):
            raise ValueError(
                "Play goes on from a decision only: there is none before the first turn and after the end."
            )
        terms = state.terms
        return pb.PositionArranged(
            deck_type=terms.deck_type,
            battlefield=terms.battlefield,
            numbers=[seat_numbers(side.numbers) for side in state.seats],
            goal_tower=terms.goal_tower,
            goal_resource=terms.goal_resource,
            timeouts=[side.timeouts for side in state.seats],
            timeout_limit=terms.timeout_limit,
            turn_no=state.turn_no,
            active_seat=state.active,
            phase=state.phase.value,
            plays_this_turn=state.plays,
            pile_count=len(state.pile) if terms.standard else None,
            discards=state.discards,
            reshuffles=state.reshuffles,
            draws_made=state.draws_made,
            at="decision",
            hands=[pb.ArrangedHand(seat=seat, cards=side.hand) for seat, side in enumerate(state.seats)],
            pile=state.pile,
        )


def position_fault(event: pb.PositionArranged, terms: Terms) -> str:
    """What is wrong with a position for a match of these terms; empty: nothing."""
    standard = terms.standard
    checks = (
        (event.deck_type == terms.deck_type, f"The match has the deck type {terms.deck_type}."),
        (event.battlefield == terms.battlefield, f"The match is on the battlefield {terms.battlefield}."),
        (event.timeout_limit == terms.timeout_limit, f"The match has the timeout limit {terms.timeout_limit}."),
        (event.at in _AT, f"`at` must be one of {', '.join(_AT)}."),
        (event.phase in _PHASES, f"`phase` must be one of {', '.join(_PHASES)}."),
        (event.phase == Phase.MAIN or event.at == "decision", "A forced discard is pending only `at` a decision."),
        (event.active_seat in (0, 1), "`active` must be seat 0 or 1."),
        (1 <= event.turn_no <= DATA.constants.turn_limit, f"`turn` must be in 1..{DATA.constants.turn_limit}."),
        (
            event.plays_this_turn <= PLAY_LIMIT,
            f"`plays_this_turn` must be in 0..{PLAY_LIMIT} (TT-4.7).",
        ),
        (
            event.phase != Phase.FORCED_DISCARD or event.plays_this_turn,
            "In a forced discard `plays_this_turn` is at least 1: a card opened it (TT-4.6).",
        ),
        (
            event.phase != Phase.MAIN or event.at != "decision" or event.plays_this_turn < PLAY_LIMIT,
            f"After {PLAY_LIMIT} plays nothing but a forced discard can be open (TT-4.7).",
        ),
        (len(event.numbers) == 2 and len(event.timeouts) == 2, "A position has the numbers of two seats."),
        (all(t < terms.timeout_limit for t in event.timeouts), "`timeouts` must be below the timeout limit (TT-7.2)."),
        (_all_small(event), f"Numbers must be in 0..{_LARGEST}, goals at least 1."),
        (event.HasField("pile_count") == standard, "An endless match has no pile, a standard match has one (TT-2.5)."),
        (not standard or event.pile_count == len(event.pile), "The pile's count and its cards differ."),
        (standard or not (event.pile or event.discards), "An endless match has neither pile nor discards (TT-2.5)."),
        (
            [hand.seat for hand in event.hands] == [0, 1] and all(len(h.cards) == HAND_SIZE for h in event.hands),
            "A position has two hands of six slots (TT-2.1).",
        ),
    )
    for holds, sentence in checks:
        if not holds:
            return sentence
    return _card_fault(event, standard)


def _all_small(event: pb.PositionArranged) -> bool:
    values = [getattr(numbers, field) for numbers in event.numbers for field in FIELDS]
    values += [event.goal_tower, event.goal_resource, event.reshuffles, event.draws_made]
    return max(values) <= _LARGEST and min(event.goal_tower, event.goal_resource) >= 1


def _card_fault(event: pb.PositionArranged, standard: bool) -> str:
    hands = [[card for card in hand.cards if card != EMPTY] for hand in event.hands]
    held = [card for hand in hands for card in hand]
    everything = [*held, *event.pile, *event.discards]
    for card in everything:
        if card not in CARDS:
            return f"There is no card {card[:40]!r}."
    if not all(hands):
        return "Each seat needs a card in hand: empty slots are filled only after their seat has acted (TT-4.5)."
    if standard:
        twice = next((card for card in everything if everything.count(card) > 1), None)
        if twice:
            return f"{twice} lies in two places; a standard match has each card once (TT-2.5)."
        if len(event.pile) + len(event.discards) < 2 * HAND_SIZE - len(held):
            return "Pile and discards together cannot fill the empty slots (TT-4.5)."
    elif any(hand.count(card) > 2 for hand in hands for card in hand):
        return "An endless hand holds a card at most twice (TT-8.3)."
    return ""


def _terms(chosen: Mapping[str, str]) -> Terms:
    return Terms(
        deck_type=chosen["deck_type"],
        battlefield=chosen["battlefield"],
        timeout_limit=int(chosen["timeout_limit"]),
        standard=chosen["deck_type"] == "standard",
    )


# ---- reading the mapping ---------------------------------------------------------------------------------------------


def _lift_seats(position: Mapping[str, object]) -> dict[str, object]:
    """The position with seats that stand at the top level (`0:`, `1:`) moved under `seats`."""
    plan = {str(key): value for key, value in position.items()}
    lifted = {key: plan.pop(key) for key in ("0", "1") if key in plan}
    if lifted and "seats" in plan:
        raise ValueError("Name the seats under `seats` or at the top level, not both.")
    if lifted:
        plan["seats"] = lifted
    return plan


def _sides(plan: Mapping[str, object]) -> list[Mapping[str, object]]:
    seats = plan.get("seats", {})
    if isinstance(seats, Mapping):
        by_seat = {str(key): value for key, value in seats.items()}
        known_keys(by_seat, ("0", "1"), "seats")
        listed = [by_seat.get("0"), by_seat.get("1")]
    elif isinstance(seats, Sequence) and not isinstance(seats, str) and len(seats) <= 2:
        listed = [*seats, None, None][:2]
    else:
        raise ValueError("`seats` must be a list of two mappings, or a mapping with the keys 0 and 1.")
    sides = []
    for seat, side in enumerate(listed):
        side = {} if side is None else side
        if not isinstance(side, Mapping):
            raise ValueError(f"Seat {seat} must be a mapping, e.g. {{mana: 7, hand: [ruby]}}.")
        known_keys(side, _SEAT_KEYS, f"seat {seat}")
        sides.append(side)
    return sides


def _number(mapping: Mapping[str, object], key: str, default: int, low: int = 0, high: int = _LARGEST) -> int:
    return whole_number(mapping, key, default, low, high)


def _numbers(side: Mapping[str, object], base: Sequence[int]) -> pb.SeatNumbers:
    return pb.SeatNumbers(**{field: _number(side, field, base[i]) for i, field in enumerate(FIELDS)})


def _card(value: object, where: str) -> str:
    if not isinstance(value, str) or value not in CARDS:
        raise ValueError(f"{where}: there is no card {str(value)[:40]!r}; cards are named by id, e.g. ruby.")
    return value


def _cards(value: object, where: str) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(f"`{where}` must be a list of card ids.")
    return [_card(card, where) for card in value]


def _named_elsewhere(plan: Mapping[str, object], discards: Sequence[str]) -> set[str]:
    """Cards that the position places outside the hands: no filler may be one of them."""
    pile = plan.get("pile", ())
    named = {*discards, *_cards(plan.get("pile_top", ()), "pile_top")}
    return named if isinstance(pile, int) else named | {*_cards(pile, "pile")}


def _hands(sides: Sequence[Mapping[str, object]], taken: set[str]) -> tuple[list[str], list[str]]:
    """Both hands, fillers put in where the position names nothing."""
    wished = [_wished(side, seat) for seat, side in enumerate(sides)]
    named = taken | {card for hand in wished for card in hand}
    fillers = (card for card in _FILLERS if card not in named)
    filled = [[next(fillers) if card == _FILLER else card for card in hand] for hand in wished]
    return filled[0], filled[1]


def _wished(side: Mapping[str, object], seat: int) -> list[str]:
    hand = side.get("hand", ())
    where = f"the hand of seat {seat}"
    slots: list[object] = [_FILLER] * HAND_SIZE
    if isinstance(hand, Mapping):
        for slot, card in hand.items():
            if str(slot) not in map(str, range(HAND_SIZE)):
                raise ValueError(f"{where}: there is no slot {str(slot)[:40]!r}; slots are 0 to 5.")
            slots[int(slot)] = card
    elif isinstance(hand, Sequence) and not isinstance(hand, str) and len(hand) <= HAND_SIZE:
        slots[: len(hand)] = hand
    else:
        raise ValueError(f"{where} must be a list of at most six cards, or a mapping from slot to card.")
    return [EMPTY if card is None else _FILLER if card == _FILLER else _card(card, where) for card in slots]


def _pile(plan: Mapping[str, object], used: set[str]) -> list[str]:
    """The draw pile from the top."""
    pile = plan.get("pile")
    top = _cards(plan.get("pile_top", ()), "pile_top")
    if pile is not None and top:
        raise ValueError("Name `pile` or `pile_top`, not both.")
    remaining = [card for card in CATALOGUE if card not in used and card not in top]
    if pile is None:
        return top + remaining
    if isinstance(pile, int):
        return remaining[: _number(plan, "pile", 0, 0, len(remaining))]
    return _cards(pile, "pile")

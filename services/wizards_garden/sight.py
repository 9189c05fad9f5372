"""What a seat knows, as a state that may be played on: the hidden is dealt anew."""

from __future__ import annotations

import random

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.evolve import evolve
from wizards_garden.pieces import CARDS, SPELLS
from wizards_garden.state import State, Terms

__all__ = ["imagined"]


def imagined(view: pb.View, seat: int, rng: random.Random) -> State:
    """A state that looks like this view to this seat; the other hand, the deck and other spells are a guess.

    Args:
        view: the seat's own.
        seat: whose view it is.
        rng: for the guess.
    """
    own, opponent = view.seats[seat], view.seats[1 - seat]
    seen = {*view.row, *view.discards, *own.hand, *own.spirits, *opponent.spirits}
    cards = [card for card in CARDS if card not in seen]
    rng.shuffle(cards)
    known = {*own.spells, *(cast.spell for cast in view.cast)}
    spells = [spell for spell in SPELLS if spell not in known]
    rng.shuffle(spells)
    held, dealt = opponent.hand_count, opponent.spell_count
    hands = {
        seat: pb.ArrangedHand(seat=seat, cards=own.hand, spells=own.spells),
        1 - seat: pb.ArrangedHand(seat=1 - seat, cards=cards[:held], spells=spells[:dealt]),
    }
    event = pb.PositionArranged(
        first_seat=view.first_seat,
        turn_no=view.turn_no,
        turn_limit=view.turn_limit,
        spells_per_player=view.spells_per_player,
        active_seat=view.active_seat,
        phase=view.phase,
        wizard_replaced=view.wizard_replaced,
        spaces=view.spaces,
        groups=view.groups,
        boards=[
            pb.ArrangedBoard(seat=each.seat, spirits=each.spirits, fire=each.fire, lit=_lit(each))
            for each in view.seats
        ],
        row=view.row,
        discards=view.discards,
        reshuffles=view.reshuffles,
        cast=view.cast,
        action=view.action if view.HasField("action") else None,
        pending_source=view.pending_source,
        pending=view.pending,
        battle=view.battle if view.HasField("battle") else None,
        hands=[hands[0], hands[1]],
        deck=cards[held:],
        set_aside=spells[dealt:],
    )
    return evolve(State(Terms(view.spells_per_player, view.turn_limit)), event)


def _lit(side: pb.SeatView) -> str:
    return next((lantern.kind for lantern in side.lanterns if lantern.state == "lit_on_board"), "")

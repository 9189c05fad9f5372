"""Arranged positions: from a partial mapping, or from a running match, to the event `position_arranged`.

Keys and defaults: see README.md. The notation is `notation.py`'s, what can be is judged by `faults.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from grimoire.engine import Illegal
from grimoire.engine.written import PositionError
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.arranging import arrange
from spellbound.deal import sorted_cards
from spellbound.faults import check_position, position_fault
from spellbound.options import MAX_MAGES, configure, terms_of
from spellbound.places import NOWHERE, PIECES, PLACES, TROLL
from spellbound.state import NO_BATTLE, NO_ONE, Progress, Stage, State, Stones

__all__ = ["SpellboundPositions", "position_fault"]


class SpellboundPositions:
    """`Positions` of Spellbound."""

    def parse(self, position: Mapping[str, object], options: Mapping[str, str]) -> pb.PositionArranged:
        """The event for a partial position.

        Args:
            position: keys and defaults as in README.md.
            options: all of them, as `configure` completes them: they tell the mages and their seats. Where no seats
                are told there is one for each mage, and one mage unless `mages` says so.

        Raises:
            ValueError: with a sentence that says what is wrong and what is allowed; a `PositionError` where a rule of
                the game forbids it.

        >>> event = SpellboundPositions().parse({"hats": {"red": 3}, "lower_row": ["centaur_1"]}, {"mages": "3"})
        >>> [*event.hats], [*event.lower_row], [mage.place for mage in event.mages]
        ([3, 1, 1, 1], ['centaur_1'], ['wilderness', 'village_01', 'village_02'])
        """
        facts = configure(options, _seats(options))
        if isinstance(facts, Illegal):
            raise ValueError(facts.message)
        terms = terms_of(dict(facts.options), _seats(options))
        event = arrange(position, terms)
        check_position(event, terms)
        return event

    def from_state(self, state: State) -> pb.PositionArranged:
        """The event for a running match, as it is; also in the middle of a card, a window or an encounter.

        Raises:
            ValueError: before the deal, and when the match is over.
        """
        if state.asked in (Stage.SETUP, Stage.OVER):
            raise PositionError("Play goes on while the match runs only: not before the deal, not after the end.")
        event = pb.PositionArranged(
            mage_seats=state.terms.mage_seats,
            seats=state.terms.seats,
            turn=state.turn,
            turn_mage=state.turn_mage,
            acting_mage=state.acting,
            state=state.asked.value,
            moved=state.moved,
            visited=state.visited,
            hats=state.pieces[:TROLL],
            troll=state.pieces[TROLL],
            books=state.books,
            witch=state.witch,
            mages=[
                pb.ArrangedMage(place=PLACES[place], wand=wand, spells=spells)
                for place, wand, spells in zip(state.places, state.wands, state.spells, strict=True)
            ],
            policies=state.policies,
            watchman="" if state.watchman == NOWHERE else PLACES[state.watchman],
            bag=_stones(state.bag),
            drawn=_stones(state.drawn),
            supply=_stones(state.supply),
            stones_drawn=state.stones_drawn,
            deck_ends=state.deck_ends,
            sweep_ups=state.sweep_ups,
        )
        _copy_cards(event, state)
        _copy_under_way(event, state)
        return event


def _seats(options: Mapping[str, str]) -> int:
    """How many seats the options tell of; anything they cannot mean is refused as an option."""
    seats = [int(seat) for seat in options.get("mage_seats", "").split(",") if seat.isdigit()]
    if seats:
        return min(max(seats) + 1, MAX_MAGES)
    mages = options.get("mages", "1")
    return int(mages) if mages in ("1", "2", "3", "4") else 1


def _stones(stones: Stones) -> pb.Stones:
    return pb.Stones(sun=stones[0], moon=stones[1])


def _copy_cards(event: pb.PositionArranged, state: State) -> None:
    event.lower_row.extend(state.lower)
    event.upper_row.extend(state.upper)
    event.new_cards.extend(state.fresh)
    event.squire_used = state.squire_used
    event.sun_pile.extend(state.sun_pile)
    event.moon_pile.extend(state.moon_pile)
    event.minions.extend(state.minions)
    event.discards.extend(state.discards)
    event.removed.extend(state.removed)
    for card, face_up, lying in zip(state.villages, state.face_up, state.lying, strict=True):
        hidden = bool(card) and not face_up
        event.villages.add(
            card="" if hidden else card,
            face_down=hidden,
            influence=[pb.Influence(card=each, amount=amount) for each, amount in lying],
        )
        event.face_down.append(card if hidden else "")
    event.deck.extend(state.deck)
    event.deck_cards.extend(sorted_cards(state.deck))
    event.spell_deck.extend(state.spell_deck)
    event.wicked_deck.extend(state.wicked_deck)
    event.set_aside.extend(state.set_aside)
    event.box.extend(state.box)
    event.deck_count, event.spell_deck_count = len(state.deck), len(state.spell_deck)
    event.wicked_deck_count, event.wicked_top = len(state.wicked_deck), next(iter(state.wicked_deck), "")


def _copy_under_way(event: pb.PositionArranged, state: State) -> None:
    event.deck_ending, event.steps_to_climb = state.deck_ending, state.climb
    if state.progress is not None:
        event.progress.CopyFrom(_progress(state.progress, state.acting))
    if state.ride is not None:
        event.ride.CopyFrom(pb.Ride(mage=state.acting, rider=state.ride.rider, to=PLACES[state.ride.to]))
    if state.window is not None:
        event.window = state.window.kind.value
        event.passed.extend(state.window.passed)
        if state.window.caster != NO_ONE:
            event.window_caster = state.window.caster
        event.stones.extend(
            pb.DrawnStone(number=stone.number, stone="sun" if stone.sun else "moon", turned=stone.turned)
            for stone in state.stones
        )
    if state.batch is not None:
        event.batch.CopyFrom(pb.Batch(cause=state.batch.cause, moves=[PIECES[piece] for piece in state.batch.moves]))
    event.battle, event.battle_books = state.battle != NO_BATTLE, max(0, state.battle)


def _progress(progress: Progress, acting: int) -> pb.Progress:
    message = pb.Progress(
        card=progress.card,
        mode=progress.mode,
        left=[pb.Part(any=kinds, times=times) for kinds, times in progress.left],
        village="" if progress.village == NOWHERE else PLACES[progress.village],
        given=progress.given,
        recruited=progress.recruited,
        refused=[pb.Ride(mage=acting, rider=rider, to=PLACES[to]) for rider, to in progress.refused],
    )
    if progress.rider != NO_ONE:
        message.rider = progress.rider
    return message

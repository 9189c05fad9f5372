"""Arranged positions: from a partial mapping, or from a running match, to the event `position_arranged`.

Keys and defaults: see README.md. The notation is `notation.py`'s, what can be is judged by `faults.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from grimoire.engine import Illegal
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.arranging import arrange
from wizards_garden.catalogue import DATA
from wizards_garden.faults import check_position, position_fault
from wizards_garden.notation import PositionError
from wizards_garden.options import configure
from wizards_garden.pieces import KINDS
from wizards_garden.state import LIT, SeatState, Stage, State, Terms
from wizards_garden.view import action_message, battle_message, group_message, pending_messages, spaces_of

__all__ = ["PositionError", "WizardsGardenPositions", "position_fault"]


class WizardsGardenPositions:
    """`Positions` of the Wizard's Garden."""

    def parse(self, position: Mapping[str, object], options: Mapping[str, str]) -> pb.PositionArranged:
        """The event for a partial position.

        Raises:
            ValueError: with a sentence that says what is wrong and what is allowed; a `PositionError` where a rule of
                the game forbids it.

        >>> event = WizardsGardenPositions().parse({"yard": "B@a4*fire PP@a3", "blue": {"fire": 2}}, {})
        >>> event.boards[0].fire, [(s.space, s.gnome or [*s.pests]) for s in event.spaces if s.space in ("a3", "a4")]
        (2, [('a3', ['pest_01', 'pest_02']), ('a4', 'blue_gnome_05')])
        """
        facts = configure(options, DATA.players)
        if isinstance(facts, Illegal):
            raise ValueError(facts.message)
        chosen = dict(facts.options)
        terms = Terms(spells_per_player=int(chosen["spells_per_player"]), turn_limit=int(chosen["turn_limit"]))
        event = arrange(position, terms.spells_per_player, terms.turn_limit)
        check_position(event, terms)
        return event

    def from_state(self, state: State) -> pb.PositionArranged:
        """The event for a running match, as it is; also in the middle of an action or a battle.

        Raises:
            ValueError: before the deal, and when the match is over.
        """
        if state.stage in (Stage.SETUP, Stage.OVER):
            raise PositionError("Play goes on while the match runs only: not before the deal, not after the end.")
        terms = state.terms
        event = pb.PositionArranged(
            first_seat=terms.first_seat,
            turn_no=state.turn_no,
            turn_limit=terms.turn_limit,
            spells_per_player=terms.spells_per_player,
            active_seat=state.active,
            phase=state.phase.value,
            wizard_replaced=state.replaced,
            spaces=spaces_of(state),
            groups=[group_message(group) for group in state.groups],
            boards=[_board(seat, side) for seat, side in enumerate(state.seats)],
            row=state.row,
            discards=state.discards,
            deck_count=len(state.deck),
            reshuffles=state.reshuffles,
            cast=[pb.CastSpell(seat=seat, spell=spell) for seat, spell in state.cast],
            pending_source=state.pending_source,
            pending=pending_messages(state.pending),
            hands=[pb.ArrangedHand(seat=n, cards=side.hand, spells=side.spells) for n, side in enumerate(state.seats)],
            deck=state.deck,
            set_aside=state.set_aside,
        )
        if state.action is not None:
            event.action.CopyFrom(action_message(state.action))
        if state.battle is not None:
            event.battle.CopyFrom(battle_message(state, state.battle))
        return event


def _board(seat: int, side: SeatState) -> pb.ArrangedBoard:
    return pb.ArrangedBoard(
        seat=seat,
        spirits=side.spirits,
        fire=side.fire,
        lit=KINDS[side.lanterns.index(LIT)] if LIT in side.lanterns else "",
        hand_count=len(side.hand),
        spell_count=len(side.spells),
    )

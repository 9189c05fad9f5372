"""Events into changes of the state: no rules, no randomness (WG-15.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.message import Message

from grimoire.engine import Seat
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import SPACE_INDEX
from wizards_garden.draft import Draft
from wizards_garden.pieces import COLOURS, KIND_INDEX, PIECE_INDEX, colour_of
from wizards_garden.state import (
    BRIGHT,
    DIMMED,
    NO_ONE,
    SKULL,
    SUPPLY,
    Action,
    Battle,
    Group,
    Pending,
    Result,
    Stage,
    State,
    Terms,
)

__all__ = ["evolve", "fold"]


def _pieces(ids: Iterable[str]) -> tuple[int, ...]:
    return tuple(PIECE_INDEX[piece] for piece in ids)


def _border(group: str) -> tuple[int, int]:
    origin, _, target = group.partition(">")
    return SPACE_INDEX[origin], SPACE_INDEX[target]


def _pending(listed: Iterable[pb.Pending]) -> tuple[Pending, ...]:
    return tuple(Pending(each.index, KIND_INDEX[each.kind], each.steps) for each in listed)


# ---- the start -------------------------------------------------------------------------------------------------------


def _first_seat_set(draft: Draft, event: pb.FirstSeatSet) -> None:
    draft.begin(event.seat)


def _gnomes_set_up(draft: Draft, event: pb.GnomesSetUp) -> None:
    for position in event.positions:
        draft.set_up(PIECE_INDEX[position.gnome], SPACE_INDEX[position.space])


def _spirits_dealt(draft: Draft, event: pb.SpiritsDealt) -> None:
    draft.deal_spirits(event.seat, event.cards)


def _spells_dealt(draft: Draft, event: pb.SpellsDealt) -> None:
    draft.deal_spells(event.seat, event.spells)


def _deck_set(draft: Draft, event: pb.DeckSet) -> None:
    draft.set_deck(event.order, event.set_aside)


def _board_spirits_placed(draft: Draft, event: pb.BoardSpiritsPlaced) -> None:
    draft.place_spirits(event.seat, event.cards)


def _open_row_set(draft: Draft, event: pb.OpenRowSet) -> None:
    draft.set_row(event.cards)


# ---- turns and phases ------------------------------------------------------------------------------------------------


def _turn_started(draft: Draft, event: pb.TurnStarted) -> None:
    draft.start_turn(event.turn, event.seat)


def _state_entered(draft: Draft, event: pb.StateEntered) -> None:
    draft.enter(Stage(event.state), event.seat)


def _turn_ended(draft: Draft, event: pb.TurnEnded) -> None:
    """The next turn's start says what changes."""


def _match_ended(draft: Draft, event: pb.MatchEnded) -> None:
    winner = COLOURS.index(event.result) if event.result in COLOURS else None
    draft.end(Result(winner, event.reason))


# ---- lanterns --------------------------------------------------------------------------------------------------------


def _lantern_placed(draft: Draft, event: pb.LanternPlaced) -> None:
    draft.place_lantern(event.seat, KIND_INDEX[event.kind], PIECE_INDEX[event.gnome])


def _lantern_lit(draft: Draft, event: pb.LanternLit) -> None:
    draft.light(event.seat, KIND_INDEX[event.kind])


def _lantern_put_out(draft: Draft, event: pb.LanternPutOut) -> None:
    draft.put_out(event.seat, KIND_INDEX[event.kind])


def _lantern_dimmed(draft: Draft, event: pb.LanternDimmed) -> None:
    draft.dim(event.seat, KIND_INDEX[event.kind])


# ---- actions ---------------------------------------------------------------------------------------------------------


def _action_opened(draft: Draft, event: pb.ActionOpened) -> None:
    index = event.index if event.HasField("index") else None
    gnome = PIECE_INDEX[event.gnome] if event.gnome else NO_ONE
    draft.open_action(event.source, KIND_INDEX[event.kind], event.steps, index, gnome)


def _action_closed(draft: Draft, _event: pb.ActionClosed) -> None:
    draft.close_action()


def _piece_brought(draft: Draft, event: pb.PestBrought | pb.GnomeBrought) -> None:
    draft.bring(PIECE_INDEX[event.piece], SPACE_INDEX[event.to])


def _pest_moved(draft: Draft, event: pb.PestMoved) -> None:
    gnome = (PIECE_INDEX[event.gnome],) if event.pair else ()
    draft.move((PIECE_INDEX[event.piece], *gnome), SPACE_INDEX[event.to])


def _gnome_moved(draft: Draft, event: pb.GnomeMoved) -> None:
    draft.move((PIECE_INDEX[event.piece],), SPACE_INDEX[event.to])


def _threat_made(draft: Draft, event: pb.ThreatMade) -> None:
    draft.threaten(SPACE_INDEX[event.origin], SPACE_INDEX[event.target], _pieces(event.pieces), event.in_transit)


def _threat_dropped(draft: Draft, event: pb.ThreatDropped) -> None:
    draft.drop(_pieces(event.pieces))


def _water_collected(draft: Draft, event: pb.WaterCollected) -> None:
    draft.collect_water(SPACE_INDEX[event.deposit], event.amount_now)


def _fire_collected(draft: Draft, event: pb.FireCollected) -> None:
    draft.collect_fire(event.seat, event.amount_now)


# ---- cards -----------------------------------------------------------------------------------------------------------


def _spirit_drawn(draft: Draft, event: pb.SpiritDrawn) -> None:
    draft.draw_spirit(event.seat, event.source, event.card)


def _open_row_refilled(draft: Draft, event: pb.OpenRowRefilled) -> None:
    draft.refill_row(event.place, event.card)


def _spirit_discarded(draft: Draft, event: pb.SpiritDiscarded) -> None:
    draft.discard(event.seat, event.card)


def _deck_reshuffled(draft: Draft, event: pb.DeckReshuffled) -> None:
    draft.reshuffle(event.number, event.order)


def _spirit_swapped(draft: Draft, event: pb.SpiritSwapped) -> None:
    draft.swap_spirit(event.seat, event.slot, getattr(event, "in"))


def _spirits_exchanged(draft: Draft, event: pb.SpiritsExchanged) -> None:
    draft.exchange(event.a.card, event.b.card)


# ---- crystals --------------------------------------------------------------------------------------------------------


def _water_returned(draft: Draft, event: pb.WaterReturned) -> None:
    draft.return_water(SPACE_INDEX[event.deposit], event.amount)


def _fire_returned(draft: Draft, event: pb.FireReturned) -> None:
    draft.return_fire(event.seat, event.amount, event.why)


def _fish_fire_laid(draft: Draft, event: pb.FishFireLaid) -> None:
    draft.lay_fish_fire(event.seat, SPACE_INDEX[event.space], event.amount)


def _fish_fire_removed(draft: Draft, event: pb.FishFireRemoved) -> None:
    draft.remove_fish_fire(SPACE_INDEX[event.space], event.amount)


# ---- battles ---------------------------------------------------------------------------------------------------------


def _attack_declared(draft: Draft, event: pb.AttackDeclared) -> None:
    origin = NO_ONE if event.group == SKULL else _border(event.group)[0]
    draft.declare(event.seat, origin, SPACE_INDEX[event.target], event.strength, event.fire)


def _defence_made(draft: Draft, event: pb.DefenceMade) -> None:
    """What it costs is said by the crystals' own events."""


def _attack_stopped(draft: Draft, event: pb.AttackStopped) -> None:
    draft.stop_attack(event.why)


def _battle_resolved(draft: Draft, event: pb.BattleResolved) -> None:
    """What comes of it is said by the events that follow."""


def _group_withdrawn(draft: Draft, event: pb.GroupWithdrawn) -> None:
    group = draft.group_over(*_border(event.group))
    if group is not None:
        draft.withdraw(group)


def _group_advanced(draft: Draft, event: pb.GroupAdvanced) -> None:
    draft.settle(_pieces(event.pieces), SPACE_INDEX[event.to])


def _survivors_placed(draft: Draft, event: pb.SurvivorsPlaced) -> None:
    draft.settle(_pieces(event.pieces), SPACE_INDEX.get(event.to, SUPPLY))


def _piece_destroyed(draft: Draft, event: pb.GnomeDestroyed | pb.PestDestroyed) -> None:
    draft.destroy(PIECE_INDEX[event.piece])


# ---- spells ----------------------------------------------------------------------------------------------------------


def _spell_cast(draft: Draft, event: pb.SpellCast) -> None:
    draft.cast_spell(event.seat, event.spell, _pending(event.pending))


def _gnome_possessed(draft: Draft, event: pb.GnomePossessed) -> None:
    draft.possess(PIECE_INDEX[event.gnome], PIECE_INDEX[event.pest])


def _gnome_freed(draft: Draft, event: pb.GnomeFreed) -> None:
    """Its pest was destroyed: nothing else holds it (WG-13.6)."""


# ---- analysis --------------------------------------------------------------------------------------------------------


def _position_arranged(draft: Draft, event: pb.PositionArranged) -> None:
    draft.terms = Terms(event.spells_per_player, event.turn_limit, Seat(event.first_seat), arranged=True)
    draft.start_turn(event.turn_no, event.active_seat)
    draft.enter(Stage(event.phase), event.active_seat)
    draft.replaced = event.wizard_replaced
    for board in event.boards:
        draft.fire[board.seat] = board.fire
        draft.spirits[board.seat] = tuple(board.spirits)
        if board.lit:
            draft.light(board.seat, KIND_INDEX[board.lit])
    for hand in event.hands:
        draft.hands[hand.seat] = tuple(hand.cards)
        draft.spells[hand.seat] = tuple(hand.spells)
    for space in event.spaces:
        _space_arranged(draft, space)
    draft.arrange_groups(
        [Group(*_border(group.group), _pieces(group.pieces), group.in_transit) for group in event.groups]
    )
    draft.row, draft.discards, draft.deck = tuple(event.row), tuple(event.discards), tuple(event.deck)
    draft.set_aside = tuple(event.set_aside)
    draft.cast = tuple((cast.seat, cast.spell) for cast in event.cast)
    draft.reshuffles = event.reshuffles
    draft.pending, draft.pending_source = _pending(event.pending), event.pending_source
    _under_way(draft, event)


def _space_arranged(draft: Draft, space: pb.Space) -> None:
    gnomes = [PIECE_INDEX[space.gnome]] if space.gnome else []
    draft.arrange_space(
        SPACE_INDEX[space.space], (*sorted(_pieces(space.pests)), *gnomes), space.water, space.fish_fire
    )
    if space.lantern:
        gnome, kind = gnomes[0], KIND_INDEX[space.lantern]
        draft.bears[gnome] = kind
        draft.lanterns[colour_of(gnome)][kind] = BRIGHT if space.bright else DIMMED


def _under_way(draft: Draft, event: pb.PositionArranged) -> None:
    """An action or a battle that the position is in the middle of."""
    if event.HasField("action"):
        action = event.action
        gnome = PIECE_INDEX[action.gnome] if action.gnome else NO_ONE
        draft.action = Action(
            action.source, KIND_INDEX[action.kind], action.steps, action.steps_left, _pieces(action.moved), gnome
        )
        draft.stage = Stage.BUTTERFLY if action.source == "butterfly" else Stage.ACTION
    if event.HasField("battle"):
        battle = event.battle
        origin = NO_ONE if battle.group == SKULL else _border(battle.group)[0]
        dimmed = KIND_INDEX[battle.kind] if battle.kind else NO_ONE
        draft.battle = Battle(battle.seat, origin, SPACE_INDEX[battle.target], battle.strength, battle.fire, dimmed)
        draft.stage = Stage.DEFENCE if battle.awaits == "defence" else Stage.AFTER_BATTLE


_HANDLERS: dict[type[Message], Callable[[Draft, Any], None]] = {
    pb.FirstSeatSet: _first_seat_set,
    pb.GnomesSetUp: _gnomes_set_up,
    pb.SpiritsDealt: _spirits_dealt,
    pb.SpellsDealt: _spells_dealt,
    pb.DeckSet: _deck_set,
    pb.BoardSpiritsPlaced: _board_spirits_placed,
    pb.LanternPlaced: _lantern_placed,
    pb.OpenRowSet: _open_row_set,
    pb.TurnStarted: _turn_started,
    pb.StateEntered: _state_entered,
    pb.ActionOpened: _action_opened,
    pb.ActionClosed: _action_closed,
    pb.PestBrought: _piece_brought,
    pb.GnomeBrought: _piece_brought,
    pb.PestMoved: _pest_moved,
    pb.GnomeMoved: _gnome_moved,
    pb.ThreatMade: _threat_made,
    pb.ThreatDropped: _threat_dropped,
    pb.WaterCollected: _water_collected,
    pb.FireCollected: _fire_collected,
    pb.SpiritDrawn: _spirit_drawn,
    pb.OpenRowRefilled: _open_row_refilled,
    pb.SpiritDiscarded: _spirit_discarded,
    pb.DeckReshuffled: _deck_reshuffled,
    pb.SpiritSwapped: _spirit_swapped,
    pb.LanternLit: _lantern_lit,
    pb.LanternPutOut: _lantern_put_out,
    pb.WaterReturned: _water_returned,
    pb.FireReturned: _fire_returned,
    pb.AttackDeclared: _attack_declared,
    pb.DefenceMade: _defence_made,
    pb.AttackStopped: _attack_stopped,
    pb.GroupWithdrawn: _group_withdrawn,
    pb.GroupAdvanced: _group_advanced,
    pb.BattleResolved: _battle_resolved,
    pb.GnomeDestroyed: _piece_destroyed,
    pb.PestDestroyed: _piece_destroyed,
    pb.FishFireRemoved: _fish_fire_removed,
    pb.LanternDimmed: _lantern_dimmed,
    pb.SurvivorsPlaced: _survivors_placed,
    pb.SpellCast: _spell_cast,
    pb.SpiritsExchanged: _spirits_exchanged,
    pb.GnomePossessed: _gnome_possessed,
    pb.GnomeFreed: _gnome_freed,
    pb.FishFireLaid: _fish_fire_laid,
    pb.TurnEnded: _turn_ended,
    pb.MatchEnded: _match_ended,
    pb.PositionArranged: _position_arranged,
}


def evolve(state: State, event: Message) -> State:
    """The state after one event."""
    return fold(state, (event,))


def fold(state: State, events: Iterable[Message]) -> State:
    """The state after these events, thawed and frozen once."""
    draft = Draft(state)
    for event in events:
        _HANDLERS[type(event)](draft, event)
        draft.events += 1
    return draft.freeze()

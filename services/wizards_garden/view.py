"""What a viewer may know (WG-15.2), as the game's view message. Clients compute nothing."""

from __future__ import annotations

from grimoire.engine import Viewer, ViewerKind
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import IS_DEPOSIT, SPACES
from wizards_garden.draft import Draft
from wizards_garden.pieces import FIRST_PEST, GNOMES_EACH, KINDS, PIECES, colour_of
from wizards_garden.state import (
    BRIGHT,
    DIMMED,
    LANTERN_STATES,
    LIT,
    NO_ONE,
    SUPPLY,
    Action,
    Battle,
    Group,
    Pending,
    SeatState,
    Stage,
    State,
)

__all__ = ["action_message", "battle_message", "group_message", "pending_messages", "spaces_of", "view"]


def view(state: State, viewer: Viewer) -> pb.View:
    """The match as this viewer may see it.

    Raises:
        ValueError: for a seat that the match does not have.
    """
    everything = viewer.kind is ViewerKind.ALL
    own = viewer.seat if viewer.kind is ViewerKind.SEAT else None
    if own not in (None, 0, 1):
        raise ValueError(f"The Wizard's Garden has no seat {own}")
    draft = Draft(state)
    running = state.stage not in (Stage.SETUP, Stage.OVER)
    shown = pb.View(
        own_seat=own,
        first_seat=state.terms.first_seat,
        turn_no=state.turn_no,
        turn_limit=state.terms.turn_limit,
        spells_per_player=state.terms.spells_per_player,
        active_seat=state.active,
        state=state.stage.value,
        phase=state.phase.value,
        asked_seat=state.asked if running else None,
        wizard_replaced=state.replaced,
        spaces=spaces_of(state),
        groups=[group_message(group) for group in state.groups],
        seats=[_seat(state, seat, everything or seat == own) for seat in range(2)],
        row=state.row,
        discards=state.discards,
        deck_count=len(state.deck),
        reshuffles=state.reshuffles,
        pests_in_supply=state.places[FIRST_PEST:].count(SUPPLY),
        water_in_supply=draft.water_supply(),
        fire_in_supply=draft.fire_supply(),
        cast=[pb.CastSpell(seat=seat, spell=spell) for seat, spell in state.cast],
        pending_source=state.pending_source,
        pending=pending_messages(state.pending),
        arranged=state.terms.arranged,
    )
    if state.action is not None:
        shown.action.CopyFrom(action_message(state.action))
    if state.battle is not None:
        shown.battle.CopyFrom(battle_message(state, state.battle))
    if state.result is not None:
        shown.result.CopyFrom(
            pb.Result(result=state.result.name, winner=state.result.winner, reason=state.result.reason)
        )
    if everything:
        shown.deck.extend(state.deck)
        shown.set_aside.extend(state.set_aside)
    return shown


def spaces_of(state: State) -> list[pb.Space]:
    """Spaces that hold something, in the order of the data."""
    shown = []
    for index, (pieces, water, fish) in enumerate(zip(state.standing, state.water, state.fish, strict=True)):
        if pieces or water or fish:
            shown.append(_space(state, index, pieces, water, fish))
    return shown


def _space(state: State, index: int, pieces: tuple[int, ...], water: int, fish: int) -> pb.Space:
    space = pb.Space(space=SPACES[index], water=water, fish_fire=fish)
    for piece in pieces:
        if piece >= FIRST_PEST:
            space.pests.append(PIECES[piece])
            continue
        space.gnome = PIECES[piece]
        kind = state.bears[piece]
        if kind != NO_ONE:
            space.lantern = KINDS[kind]
            space.bright = state.seats[colour_of(piece)].lanterns[kind] == BRIGHT
    if len(pieces) == 1 and pieces[0] < FIRST_PEST and IS_DEPOSIT[index]:  # WG-2.10
        space.held_by = colour_of(pieces[0])
    return space


def group_message(group: Group) -> pb.Group:
    """A threat group as events, views and positions have it."""
    return pb.Group(
        group=group.id,
        origin=SPACES[group.origin],
        target=SPACES[group.target],
        pieces=[PIECES[piece] for piece in group.pieces],
        in_transit=group.in_transit,
        strength=len(group.pieces) if group.pieces[0] >= FIRST_PEST else 0,
    )


def action_message(action: Action) -> pb.Action:
    """An action under way."""
    return pb.Action(
        source=action.source,
        kind=KINDS[action.kind],
        steps=action.steps,
        steps_left=action.left,
        moved=[PIECES[piece] for piece in action.moved],
        gnome="" if action.gnome == NO_ONE else PIECES[action.gnome],
    )


def pending_messages(pending: tuple[Pending, ...]) -> list[pb.Pending]:
    """Actions that may still be started."""
    return [pb.Pending(index=each.index, kind=KINDS[each.kind], steps=each.steps) for each in pending]


def battle_message(state: State, battle: Battle) -> pb.Battle:
    """A battle under way, and what it waits for."""
    group = next((g for g in state.groups if g.origin == battle.origin and g.target == battle.target), None)
    awaits = "space" if battle.dimmed == NO_ONE else "light"
    if state.stage is Stage.DEFENCE:
        awaits = "defence"
    return pb.Battle(
        seat=battle.seat,
        group=battle.group,
        target=SPACES[battle.target],
        strength=battle.strength,
        fire=battle.fire,
        awaits=awaits,
        kind="" if battle.dimmed == NO_ONE else KINDS[battle.dimmed],
        survivors=[PIECES[piece] for piece in group.pieces] if group is not None and awaits == "space" else (),
        in_transit=group is not None and group.in_transit,
    )


def _seat(state: State, seat: int, open_hand: bool) -> pb.SeatView:
    side: SeatState = state.seats[seat]
    gnomes = state.places[seat * GNOMES_EACH : (seat + 1) * GNOMES_EACH]
    return pb.SeatView(
        seat=seat,
        spirits=side.spirits,
        lanterns=[
            pb.Lantern(kind=kind, state=LANTERN_STATES[lantern], space=_where(state, seat, index, lantern))
            for index, (kind, lantern) in enumerate(zip(KINDS, side.lanterns, strict=True))
        ],
        fire=side.fire,
        hand_count=len(side.hand),
        spell_count=len(side.spells),
        gnomes_in_supply=gnomes.count(SUPPLY),
        lanterns_in_yard=sum(lantern > LIT for lantern in side.lanterns),
        bright_in_yard=side.lanterns.count(BRIGHT),
        hand=side.hand if open_hand else (),
        spells=side.spells if open_hand else (),
    )


def _where(state: State, seat: int, kind: int, lantern: int) -> str:
    if lantern not in (BRIGHT, DIMMED):
        return ""
    first = seat * GNOMES_EACH
    bearer = state.bears.index(kind, first, first + GNOMES_EACH)
    return SPACES[state.places[bearer]]

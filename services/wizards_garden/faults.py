"""Whether an arranged position can be: everything that the rules keep true at every moment (WG-19) is checked here."""

from __future__ import annotations

from collections import Counter
from typing import Final

from grimoire.engine.written import demand, fault_of, once_each
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import (
    ADJACENT,
    FOR_GNOMES,
    FOR_PESTS,
    IS_DEPOSIT,
    IS_PIT,
    SPACE_INDEX,
    START,
    TERRACE_DEPOSIT,
)
from wizards_garden.catalogue import DATA
from wizards_garden.draft import Draft
from wizards_garden.evolve import evolve
from wizards_garden.pieces import (
    CARD_KIND,
    CARDS,
    COLOURS,
    FIRE_IN_ALL,
    FIRST_PEST,
    KIND_INDEX,
    PIECE_INDEX,
    SPELLS,
    WATER_IN_ALL,
    colour_of,
)
from wizards_garden.reach import can_step
from wizards_garden.state import PHASES, Stage, State, Terms
from wizards_garden.under_way import check_under_way

__all__ = ["check_position", "position_fault"]

_LIMITS: Final = DATA.constants


def position_fault(event: pb.PositionArranged, terms: Terms) -> str:
    """What is wrong with a position for a match of these terms; empty: nothing.

    >>> position_fault(pb.PositionArranged(), Terms(spells_per_player=2, turn_limit=200))
    'The match has the turn limit 200.'
    """
    return fault_of(check_position, event, terms)


def check_position(event: pb.PositionArranged, terms: Terms) -> None:
    """Raises `PositionError` for the first thing that is wrong with a position for a match of these terms."""
    _check_terms(event, terms)
    _check_boards(event)
    _check_spaces(event)
    _check_supplies(event)
    _check_lanterns(event)
    _check_cards(event)
    _check_spells(event, terms)
    for group in event.groups:
        _check_group(event, group)
    _check_groups(event)
    check_under_way(event)
    if event.phase == Stage.PREPARATION:
        _check_preparation(event)
    if event.HasField("action"):
        _check_steps_left(event, terms)


def _check_terms(event: pb.PositionArranged, terms: Terms) -> None:
    demand(event.turn_limit == terms.turn_limit, f"The match has the turn limit {terms.turn_limit}.")
    demand(
        event.spells_per_player == terms.spells_per_player,
        f"The match has {terms.spells_per_player} spells per player.",
    )
    demand(event.first_seat < 2 and event.active_seat < 2, "There are two seats, 0 and 1.", "WG-1.2")
    demand(event.phase in PHASES, f"`state` must be one of {', '.join(sorted(PHASES))}.", "WG-4")
    if event.phase == Stage.PREPARATION:
        demand(event.turn_no == 0, "Before the first turn the turn's number is 0.", "WG-3.6")
        return
    demand(1 <= event.turn_no <= terms.turn_limit, f"`turn` must be in 1..{terms.turn_limit}.", "WG-12.2")
    demand(
        event.active_seat == (event.first_seat + event.turn_no - 1) % 2,
        "The seats take turns: the first seat has the odd ones.",
        "WG-4.1",
    )


def _check_boards(event: pb.PositionArranged) -> None:
    for boards in (event.boards, event.hands):
        demand([each.seat for each in boards] == [0, 1], "A position has the boards and hands of two seats.", "WG-2.4")
    for board, hand in zip(event.boards, event.hands, strict=True):
        demand(board.hand_count == len(hand.cards), "A hand's count and its cards differ.")
        demand(board.spell_count == len(hand.spells), "The count of spells and the spells in hand differ.")
        demand(board.fire <= _LIMITS.max_fire_per_player, "A wizard board has 0..5 fire.", "WG-2.4")
        demand(not board.lit or board.lit in KIND_INDEX, f"There is no kind {board.lit[:40]!r}.", "WG-2.1")
        demand(len(hand.cards) <= _LIMITS.hand_limit, "A hand has at most five spirit cards.", "WG-10.1")
        demand(
            len(board.spirits) == _LIMITS.board_spirits or event.phase == Stage.PREPARATION,
            "Both spirit slots are filled after the preparation.",
            "WG-2.4",
        )


def _check_steps_left(event: pb.PositionArranged, terms: Terms) -> None:
    draft = Draft(evolve(State(terms), event))
    left = draft.action is not None and can_step(draft, draft.active, draft.action.kind, draft.action)
    demand(left, "An action without a legal step is over.", "WG-6.1")


# ---- the yard --------------------------------------------------------------------------------------------------------


def _check_spaces(event: pb.PositionArranged) -> None:
    named = [space.space for space in event.spaces]
    for name in named:
        demand(name in SPACE_INDEX, f"There is no space {name[:40]!r}; spaces are a1 to e7.", "WG-2.6")
    demand(len({*named}) == len(named), "A space is listed twice.")
    for space in event.spaces:
        _check_contents(space)


def _check_contents(space: pb.Space) -> None:
    index = SPACE_INDEX[space.space]
    for piece in (*([space.gnome] if space.gnome else ()), *space.pests):
        demand(piece in PIECE_INDEX, f"There is no piece {piece[:40]!r}.", "WG-2.5")
    demand(not space.gnome or PIECE_INDEX[space.gnome] < FIRST_PEST, f"{space.gnome} is no gnome.", "WG-2.5")
    demand(all(PIECE_INDEX[pest] >= FIRST_PEST for pest in space.pests), "A gnome is listed as a pest.", "WG-2.5")
    demand(not IS_PIT[index] or not _filled(space), f"{space.space} is a pit, and a pit holds nothing.", "WG-2.8")
    possible = len(space.pests) <= (1 if space.gnome else _LIMITS.max_pests_per_space)
    possible = possible and (not space.fish_fire or not (space.gnome or space.pests))
    demand(
        possible and space.fish_fire <= _LIMITS.max_fish_fire_per_space,
        f"{space.space} holds more than one gnome, two pests, one pair or five fish fire.",
        "WG-2.8",
    )
    if space.pests or space.fish_fire:
        demand(FOR_PESTS[index], f"Neither pest nor fish fire stands on {space.space}, a terrace.", "WG-2.9")
    elif space.gnome:
        allowed = FOR_GNOMES[colour_of(PIECE_INDEX[space.gnome])][index]
        demand(allowed, f"{space.space} is the other seat's terrace.", "WG-2.9")
    demand(not space.water or IS_DEPOSIT[index], f"{space.space} is no deposit and holds no water.", "WG-2.8")
    demand(space.water <= _LIMITS.max_water_per_deposit, f"{space.space} holds at most 5 water.", "WG-11.2")


def _filled(space: pb.Space) -> bool:
    return bool(space.gnome or space.pests or space.fish_fire or space.water)


def _check_lanterns(event: pb.PositionArranged) -> None:
    """WG-2.3: a bearer is a gnome on a deposit, each kind stands once; the first lanterns stay bright (WG-19.4)."""
    standing: tuple[list[str], list[str]] = ([], [])
    for space in event.spaces:
        demand(space.lantern or not space.bright, f"On {space.space} nothing can be bright: there is no lantern.")
        if not space.lantern:
            continue
        demand(space.lantern in KIND_INDEX, f"There is no kind {space.lantern[:40]!r}.", "WG-2.1")
        bearer = space.gnome and not space.pests and IS_DEPOSIT[SPACE_INDEX[space.space]]
        demand(bearer, f"On {space.space} stands no gnome that holds a deposit, so no lantern.", "WG-2.3")
        standing[colour_of(PIECE_INDEX[space.gnome])].append(space.lantern)
    for seat, kinds in enumerate(standing):
        colour, lit = COLOURS[seat], event.boards[seat].lit
        demand(len({*kinds, lit}) == len(kinds) + 1, f"A lantern of {colour} is in two places.", "WG-2.3")
        demand(
            len(kinds) < _LIMITS.lanterns_to_win, f"With five lanterns in the yard {colour} has won already.", "WG-12.1"
        )
    if event.phase != Stage.PREPARATION:
        bright = {space.space for space in event.spaces if space.bright}
        homes = {space for space, index in SPACE_INDEX.items() if index in TERRACE_DEPOSIT}
        demand(homes <= bright, "The first lanterns, on both terrace deposits, stay bright for ever.", "WG-2.10")


def _check_supplies(event: pb.PositionArranged) -> None:
    pieces = [piece for space in event.spaces for piece in (space.gnome, *space.pests) if piece]
    pieces += [piece for group in event.groups if group.in_transit for piece in group.pieces]
    for piece, times in Counter(pieces).items():
        demand(times == 1, f"{piece[:40]} is in two places.", "WG-2.2")
    water = sum(space.water for space in event.spaces)
    demand(water <= WATER_IN_ALL, f"There are {WATER_IN_ALL} water crystals, not {water}.", "WG-2.2")
    fire = sum(space.fish_fire for space in event.spaces) + sum(board.fire for board in event.boards)
    fire += event.battle.fire
    demand(fire <= FIRE_IN_ALL, f"There are {FIRE_IN_ALL} fire crystals, not {fire}.", "WG-2.2")


# ---- cards -----------------------------------------------------------------------------------------------------------


def _check_cards(event: pb.PositionArranged) -> None:
    boards = [card for board in event.boards for card in board.spirits]
    hands = [card for hand in event.hands for card in hand.cards]
    everything = [*boards, *event.row, *hands, *event.deck, *event.discards]
    once_each(everything, CARD_KIND, "card", "WG-2.2")
    demand(len(everything) == len(CARDS), f"A position has all {len(CARDS)} spirit cards.", "WG-2.2")
    demand(event.deck_count == len(event.deck), "The deck's count and its cards differ.")
    rows = 0 if event.phase == Stage.PREPARATION else _LIMITS.open_row
    demand(len(event.row) == rows, f"The open row has {rows} cards.", "WG-3.6")


def _check_spells(event: pb.PositionArranged, terms: Terms) -> None:
    cast = [each.spell for each in event.cast]
    everything = [*(spell for hand in event.hands for spell in hand.spells), *cast, *event.set_aside]
    once_each(everything, SPELLS, "spell", "WG-2.2")
    demand(len(everything) == len(SPELLS), f"A position has all {len(SPELLS)} spells.", "WG-2.2")
    demand(all(each.seat < 2 for each in event.cast), "There are two seats, 0 and 1.", "WG-1.2")
    for hand in event.hands:
        dealt = len(hand.spells) + sum(each.seat == hand.seat for each in event.cast)
        most = terms.spells_per_player
        demand(dealt <= most, f"A seat has at most {most} spells, in hand and cast.", "WG-1.3")


# ---- threats ---------------------------------------------------------------------------------------------------------


def _check_group(event: pb.PositionArranged, group: pb.Group) -> None:
    for space in (group.origin, group.target):
        demand(space in SPACE_INDEX, f"There is no space {space[:40]!r}; spaces are a1 to e7.", "WG-2.6")
    name = f"{group.origin}>{group.target}"
    origin, target = SPACE_INDEX[group.origin], SPACE_INDEX[group.target]
    demand(group.group == name, f"The threat from {group.origin} to {group.target} is called {name}.", "WG-8.2")
    demand(target in ADJACENT[origin], f"{name}: these spaces do not touch.", "WG-8.3")
    demand(FOR_PESTS[target], f"{name}: nothing on a pit or a terrace is ever threatened.", "WG-2.9")
    for piece in group.pieces:
        demand(piece in PIECE_INDEX, f"There is no piece {piece[:40]!r}.", "WG-2.5")
    if group.in_transit:
        _check_transit(event, group, name)
    else:
        _check_standing(event, group, name)


def _check_transit(event: pb.PositionArranged, group: pb.Group, name: str) -> None:
    origin = SPACE_INDEX[group.origin]
    numbers = [PIECE_INDEX[piece] for piece in group.pieces]
    if numbers and all(number >= FIRST_PEST for number in numbers):
        demand(IS_PIT[origin] and len(numbers) <= 2, f"{name}: one or two pests come from a pit.", "WG-8.4")
        return
    own = len(numbers) == 1 and numbers[0] < FIRST_PEST and colour_of(numbers[0]) == event.active_seat
    demand(own and IS_DEPOSIT[origin], f"{name}: one own gnome comes from a deposit.", "WG-8.4")


def _check_standing(event: pb.PositionArranged, group: pb.Group, name: str) -> None:
    space = next((space for space in event.spaces if space.space == group.origin), pb.Space())
    here = [*space.pests, *([space.gnome] if space.gnome else ())]
    pieces = list(group.pieces)
    whole = pieces == here if space.gnome else pieces and [pest for pest in here if pest in pieces] == pieces
    demand(pieces and whole, f"{name}: a gnome, pests or a pair that stand on {group.origin} threaten.", "WG-8.2")
    if space.gnome and not space.pests:
        demand(not space.lantern, f"{name}: a bearer never threatens.", "WG-2.11")
        strange = colour_of(PIECE_INDEX[space.gnome]) != event.active_seat
        by_doll = event.phase in (Stage.WIZARD_END, Stage.ATTACK) and FOR_PESTS[SPACE_INDEX[group.origin]]
        demand(not strange or by_doll, f"{name}: only Doll lets the other seat's gnome threaten.", "WG-13.8")


def _check_groups(event: pb.PositionArranged) -> None:
    """All together: names, pieces, and what may come from one pit."""
    names = [group.group for group in event.groups]
    borders = {frozenset((group.origin, group.target)) for group in event.groups}
    demand(len(borders) == len(names), "One border carries one threat.", "WG-8.2")
    pieces = [piece for group in event.groups for piece in group.pieces]
    demand(len({*pieces}) == len(pieces), "A piece threatens over one border.", "WG-8.2")
    pits = Counter(group.origin for group in event.groups if group.in_transit for piece in group.pieces)
    for origin, number in pits.items():
        demand(number <= 2 or not IS_PIT[SPACE_INDEX[origin]], f"Two pests at most threaten from {origin}.", "WG-8.4")
    demand(names == sorted(names), "Threats are listed in the order of their names.")
    quiet = event.phase in (Stage.GARDEN, Stage.PREPARATION)
    demand(not event.groups or not quiet, "Nothing threatens before the garden's choice is made.", "WG-4.8")


# ---- the preparation -------------------------------------------------------------------------------------------------


def _check_preparation(event: pb.PositionArranged) -> None:
    """WG-3: only what was dealt, and the first seat's choice if it has made it."""
    second = event.active_seat != event.first_seat
    for seat, dealt in ((event.first_seat, _LIMITS.deal_first), (1 - event.first_seat, _LIMITS.deal_second)):
        board, prepared = event.boards[seat], second and seat == event.first_seat
        spirits = _LIMITS.board_spirits if prepared else 0
        demand(len(board.spirits) == spirits, "Who has prepared has two spirits, who has not has none.", "WG-3.5")
        demand(board.hand_count == dealt - spirits, f"Seat {seat} was dealt {dealt} spirit cards.", "WG-3.3")
        demand(not board.fire and not board.lit, "Nothing is lit or collected before the first turn.", "WG-3.2")
        home = {SPACE_INDEX[space.space]: space for space in event.spaces}.get(TERRACE_DEPOSIT[seat], pb.Space())
        demand(
            bool(home.lantern) == prepared == home.bright, "The first lantern is placed by the preparation.", "WG-3.5"
        )
    found = {(space.gnome, SPACE_INDEX[space.space]) for space in event.spaces}
    plain = not any(space.pests or space.fish_fire or space.water for space in event.spaces)
    at_home = {(piece, space) for piece, space in START} == {(PIECE_INDEX.get(gnome, -1), at) for gnome, at in found}
    demand(plain and at_home, "Before the first turn four gnomes of each seat stand at home, nothing else.", "WG-3.2")
    demand(not event.groups and not event.discards and not event.cast, "Nothing has been played yet.", "WG-3.2")

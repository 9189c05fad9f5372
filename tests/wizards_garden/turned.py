"""The board turned by 180 degrees with the colours exchanged (WG-2.7, WG-19.12): states and commands."""

from __future__ import annotations

import msgspec
from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.engine import Seat
from wizards_garden.board import SPACE_INDEX, SPACES
from wizards_garden.pieces import FIRST_PEST, GNOMES_EACH, PIECE_INDEX, PIECES
from wizards_garden.state import NO_ONE, Action, Battle, Group, Result, State


def space(index: int) -> int:
    """The opposite space; places that are none stay."""
    if index < 0:
        return index
    column, row = SPACES[index]
    return SPACE_INDEX[f"{'edcba'['abcde'.index(column)]}{8 - int(row)}"]


def piece(index: int) -> int:
    """The gnome of the other colour; pests stay."""
    if index == NO_ONE or index >= FIRST_PEST:
        return index
    return (index + GNOMES_EACH) % FIRST_PEST


def _pieces(pieces: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(piece(each) for each in pieces)


def _group(group: Group) -> Group:
    return Group(space(group.origin), space(group.target), _pieces(group.pieces), group.in_transit)


def _action(action: Action | None) -> Action | None:
    return None if action is None else replace(action, moved=_pieces(action.moved), gnome=piece(action.gnome))


def _battle(battle: Battle | None) -> Battle | None:
    if battle is None:
        return None
    return replace(battle, seat=1 - battle.seat, origin=space(battle.origin), target=space(battle.target))


def _result(result: Result | None) -> Result | None:
    if result is None or result.winner is None:
        return result
    return replace(result, winner=1 - result.winner)


def _by_place(values: tuple[object, ...], turned: object) -> tuple[object, ...]:
    assert callable(turned)
    return tuple(values[turned(index)] for index in range(len(values)))


def turned_state(state: State) -> State:
    """The same position seen from the other side."""
    changes: dict[str, object] = {
        "terms": replace(state.terms, first_seat=Seat(1 - state.terms.first_seat)),
        "seats": state.seats[::-1],
        "active": 1 - state.active,
        "standing": tuple(_pieces(state.standing[space(index)]) for index in range(len(SPACES))),
        "places": tuple(space(state.places[piece(index)]) for index in range(len(PIECES))),
        "bears": _by_place(state.bears, piece),
        "water": _by_place(state.water, space),
        "fish": _by_place(state.fish, space),
        "groups": tuple(sorted(map(_group, state.groups), key=lambda group: group.id)),
        "action": _action(state.action),
        "battle": _battle(state.battle),
        "cast": tuple((1 - seat, spell) for seat, spell in state.cast),
        "result": _result(state.result),
    }
    return msgspec.structs.replace(state, **changes)


def turned_command(command: Message) -> Message:
    """The same command seen from the other side."""
    turned = type(command)()
    turned.CopyFrom(command)
    for field, value in command.ListFields():
        if field.message_type is not None:
            for each in getattr(turned, field.name):
                each.space = _word(each.space)
        elif field.is_repeated:
            del getattr(turned, field.name)[:]
            getattr(turned, field.name).extend(map(_word, value))
        elif isinstance(value, str):
            setattr(turned, field.name, _word(value))
    return turned


def _word(word: str) -> str:
    if word in SPACE_INDEX:
        return SPACES[space(SPACE_INDEX[word])]
    if word in PIECE_INDEX:
        return PIECES[piece(PIECE_INDEX[word])]
    origin, arrow, target = word.partition(">")
    return f"{_word(origin)}>{_word(target)}" if arrow else word

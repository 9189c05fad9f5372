"""The game as plain text: a small picture of the yard, and everything a viewer knows in words, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from google.protobuf.message import Message

from grimoire.engine.lines import own_view, wrapped
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.catalogue import DATA
from wizards_garden.names import name_of, timing_of
from wizards_garden.pieces import COLOURS
from wizards_garden.short import (
    RECORDS,
    SEAT_SIGNS,
    WATER_SIGN,
    battle_words,
    cards_words,
    cell_signs,
    contents,
    empty_sign,
    group_words,
    kind_words,
    space_words,
    spell_words,
    turned,
)
from wizards_garden.text import WizardsGardenTexts, seat_name
from wizards_garden.words import Words, words_in

__all__ = ["WizardsGardenTerminal", "yard_words"]

_MIN_WIDTH: Final = 40
_CELL: Final = 9
_NARROW_CELL: Final = 7
_NARROW: Final = 48
"""Below so many columns the cells stand closer."""


class WizardsGardenTerminal:
    """`Terminal` of the Wizard's Garden."""

    def render(self, view: Message, language: str, names: Mapping[int, str], width: int) -> Sequence[str]:
        """Text lines of a view, at most `width` columns wide (at least 40 are used).

        Raises:
            TypeError: for another game's view.
        """
        room = max(width, _MIN_WIDTH)
        page = _Page(own_view(view, pb.View, "the Wizard's Garden"), language, names, room)
        return [piece for line in page.lines() for piece in wrapped(line, room)]


def yard_words(view: pb.View, language: str) -> Iterator[str]:
    """The yard in words, row by row, the viewer's own terrace last; free spaces are left out."""
    held = contents(view)
    rows = DATA.board.rows if turned(view) else DATA.board.rows[::-1]
    for row in rows:
        there = [space for space, record in RECORDS.items() if record.y == row and space in held]
        if there:
            spaces = "; ".join(space_words(space, held[space], language) for space in there)
            yield words_in(language).terminal["row"].format(row=row, spaces=spaces)


class _Page:
    """One view in one language."""

    def __init__(self, view: pb.View, language: str, names: Mapping[int, str], room: int) -> None:
        self._cell_width = _CELL if room >= _NARROW else _NARROW_CELL
        self._view = view
        self._language = language
        self._names = names
        self._words: Words = words_in(language)
        self._held = contents(view)
        # One's own side comes first; without one, blue does.
        first = view.own_seat if view.HasField("own_seat") else 0
        self._order = (first, 1 - first)

    def lines(self) -> Iterable[str]:
        first = self._view.turn_no <= 1
        if first:
            yield self._words.terminal["title"]
        yield self._turn()
        yield from self._picture()
        if first:
            yield self._words.terminal["legend"]
        yield from yard_words(self._view, self._language)
        yield from self._under_way()
        for seat in self._order:
            yield from self._seat(self._view.seats[seat])
        yield from self._table()
        for seat in self._order:
            yield from self._hand(self._view.seats[seat])
        if self._view.cast:
            yield self._say("cast", spells=spell_words([c.spell for c in self._view.cast], self._language))
        if self._view.arranged:
            yield self._words.terminal["arranged"]

    def _say(self, key: str, **arguments: object) -> str:
        return self._words.terminal[key].format(**arguments)

    def _name(self, seat: int) -> str:
        return seat_name(seat, self._language, self._names)

    def _turn(self) -> str:
        view, terms = self._view, self._words.terms
        if view.HasField("result"):
            ended = pb.MatchEnded(result=view.result.result, reason=view.result.reason)
            return self._say("over", sentence=WizardsGardenTexts().say_event(ended, self._language, self._names))
        if not view.turn_no:
            return self._say("preparing", seat=self._name(view.asked_seat))
        about = {"turn_no": view.turn_no, "turn_limit": view.turn_limit, "seat": self._name(view.active_seat)}
        if view.state == view.phase:
            return self._say("turn", **about, state=terms[view.state])
        asked = self._name(view.asked_seat)
        return self._say("asked", **about, phase=terms[view.phase], asked=asked, state=terms[view.state])

    # ---- the yard --------------------------------------------------------------------------------------------------

    def _picture(self) -> Iterable[str]:
        """One line for each row; one's own terrace is below."""
        step = -1 if turned(self._view) else 1
        columns = DATA.board.columns[::step]
        width = self._cell_width
        yield "   " + "".join(f"{column:<{width}}" for column in columns).rstrip()
        for row in DATA.board.rows[::-step]:
            cells = "".join(f"{self._cell(f'{column}{row}'):<{width}}" for column in columns)
            yield f"{row}  {cells}".rstrip()

    def _cell(self, space: str) -> str:
        held = self._held.get(space)
        signs, _ = cell_signs(held)
        water = f"{WATER_SIGN}{held.water}" if held is not None and held.water else ""
        return (signs or empty_sign(space)) + water

    def _under_way(self) -> Iterable[str]:
        view, events = self._view, self._words.events
        if view.groups:
            groups = "; ".join(group_words(group, self._language) for group in view.groups)
            yield self._say("threats", groups=groups)
        battle = battle_words(view, self._language, self._name(view.battle.seat))
        if battle:
            yield battle
        if view.HasField("action"):
            action = view.action
            source = events[f"source.{action.source}"]
            if action.gnome:
                gnome = name_of(action.gnome, self._language)
                yield self._say("action_doll", source=source, action=events["action.gnome.1"], gnome=gnome)
            else:
                yield self._say("action", source=source, action=self._action(action), n=action.steps_left)
        if view.pending:
            actions = ", ".join(events[f"action.{p.kind}.{p.steps}"] for p in view.pending)
            yield self._say("pending", source=name_of(view.pending_source, self._language), actions=actions)

    def _action(self, action: pb.Action) -> str:
        key = "butterfly" if action.source == "butterfly" else f"{action.kind}.{action.steps}"
        return self._words.events[f"action.{key}"]

    # ---- boards and cards ------------------------------------------------------------------------------------------

    def _seat(self, side: pb.SeatView) -> Iterable[str]:
        yield self._say(
            "seat",
            mark=SEAT_SIGNS[side.seat],
            seat=self._name(side.seat),
            colour=self._words.terms[COLOURS[side.seat]],
            yard=side.lanterns_in_yard,
            goal=DATA.constants.lanterns_to_win,
            bright=side.bright_in_yard,
            fire=side.fire,
            hand=side.hand_count,
            spells=side.spell_count,
            gnomes=side.gnomes_in_supply,
        )
        spirits = cards_words(side.spirits, self._language) or self._words.terminal["no_spirits"]
        yield self._say("board", spirits=spirits, lanterns="; ".join(self._lanterns(side)))

    def _lanterns(self, side: pb.SeatView) -> Iterable[str]:
        """By state: bright ones first, those still to come last."""
        for state in ("bright_in_yard", "dim_in_yard", "lit_on_board", "dim_on_board"):
            alike = [lantern for lantern in side.lanterns if lantern.state == state]
            kinds = (f"{kind_words(each.kind, self._language)} {each.space}".rstrip() for each in alike)
            if alike:
                yield self._say(state, kinds=", ".join(kinds))

    def _table(self) -> Iterable[str]:
        view = self._view
        if view.row:
            cards = cards_words(view.row, self._language)
            yield self._say("row_open", cards=cards, deck=view.deck_count, discards=len(view.discards))
        yield self._say("supply", pests=view.pests_in_supply, water=view.water_in_supply, fire=view.fire_in_supply)

    def _hand(self, side: pb.SeatView) -> Iterable[str]:
        shown = self._view.HasField("own_seat") and self._view.own_seat == side.seat
        if not (shown or side.hand or side.spells):
            return
        cards = cards_words(side.hand, self._language) or self._words.terminal["empty_hand"]
        yield self._say("hand", seat=self._name(side.seat), cards=cards)
        if not side.spells:
            return
        spells = ", ".join(
            self._say("spell", spell=name_of(spell, self._language), timing=self._words.terms[timing_of(spell)])
            for spell in side.spells
        )
        yield self._say("spells", seat=self._name(side.seat), spells=spells)

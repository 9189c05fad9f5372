"""The whole board: one table, lists beside it, and everything about one thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from broom_service.names import name_of, text_of
from broom_service.screen.refs import choices, ref_words
from broom_service.screen.signs import ACCENT
from broom_service.screen.speech import Speech, view_of
from broom_service.screen.table import table_lines
from broom_service.short import board_of, cloud_words, legend, play_words, region_words, tower_words
from broom_service.terminal import event_words, role_words, seat_lines, turn_words
from broom_service.tiles import TILES
from grimoire.boards import OneTableBoard
from grimoire.engine.board import BoardHost, Panel, Shown
from grimoire.engine.sentences import capital
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["BroomServiceBoard"]


class BroomServiceBoard(OneTableBoard):
    """`grimoire.engine.board.Board` of Broom Service.

    Args:
        host: the client.
    """

    shortcuts: ClassVar[Mapping[str, str]] = {
        "p": "play_role",
        "f": "move_pawn",
        "d": "deliver",
        "w": "dispel",
        "g": "gather",
        "t": "ride",
        "x": "skip_step",
        "n": "decline_set",
        "k": "decline_extra",
    }

    def __init__(self, host: BoardHost) -> None:
        super().__init__(host, table_lines, choices, ACCENT)

    def headline(self) -> str:
        """The round and what is waited for."""
        if self._shown is None:
            return ""
        return turn_words(view_of(self._shown), self._shown.language, self._shown.names)

    def detail(self, ref: str) -> str:
        """Everything about one thing."""
        if self._shown is None:
            return ""
        view, language, names = view_of(self._shown), self._shown.language, self._shown.names
        kind, _, name = ref.partition(":")
        if kind == "role":
            return role_words(name, view, language)
        if kind == "region":
            return capital(region_words(name, view, language, names)) + "."
        if kind == "seat":
            lines = seat_lines(view.seats[int(name)], view, language, names)
            return ". ".join(line.strip() for line in lines) + "."
        if kind in ("tile", "instead") and name in TILES:
            return f"{name_of(name, language)}: {text_of(name, language)}"
        if kind == "space":
            cloud = next((each for each in view.clouds if each.space == name), None)
            return "" if cloud is None else f"{capital(cloud_words(cloud, language))}. {text_of(cloud.cloud, language)}"
        if kind == "tower":
            tower = next((each for each in view.towers if each.tower == name), None)
            return "" if tower is None else f"{capital(tower_words(tower, language, without='-'))}."
        return f"{capital(ref_words(ref, self._shown))}."

    def panels(self) -> Sequence[Panel]:
        """Signs, seats, regions in words, the round with its tricks, tiles and storm clouds."""
        if self._shown is None:
            return ()
        shown = self._shown
        view, speech = view_of(shown), Speech(shown.language)
        return (
            Panel("z", speech("signs"), legend(shown.language)),
            Panel("s", speech("seats"), tuple(_seats(shown))),
            Panel("v", speech("regions"), tuple(_regions(shown))),
            Panel("o", speech("course"), tuple(_course(shown))),
            Panel("y", speech("tiles"), tuple(_tiles(view, speech))),
        )


def _seats(shown: Shown) -> Iterator[str]:
    view = view_of(shown)
    for seat in view.seats:
        yield from seat_lines(seat, view, shown.language, shown.names)
        yield from (f"  {name_of(cloud, shown.language)}" for cloud in seat.clouds)


def _regions(shown: Shown) -> Iterator[str]:
    view = view_of(shown)
    for region in board_of(view).regions:
        yield capital(region_words(region, view, shown.language, shown.names)) + "."


def _course(shown: Shown) -> Iterator[str]:
    """The event, the bewitched roles, and every trick of the round."""
    view, language = view_of(shown), shown.language
    say = Speech(language).words.terminal
    yield event_words(view, language)
    if view.bewitched:
        yield say["bewitched"].format(roles=", ".join(name_of(role, language) for role in view.bewitched))
    for trick in range(1, view.trick_no + 1):
        plays = [play for play in view.plays if play.trick_no == trick]
        if plays:
            told = say["then"].join(play_words(play, view, language, shown.names) for play in plays)
            yield say["trick"].format(trick=trick, role=name_of(plays[0].role, language), plays=told)


def _tiles(view: pb.View, speech: Speech) -> Iterator[str]:
    language = speech.language
    for placed in view.tiles:
        name, where = name_of(placed.tile, language), name_of(placed.region, language)
        yield f"{name} ({where}): {text_of(placed.tile, language)}"
    for seat in view.seats:
        for tile in seat.forest_tiles:
            yield f"{name_of(tile, language)}: {text_of(tile, language)}"
    for cloud in view.clouds:
        if cloud.storm:
            yield f"{capital(cloud_words(cloud, language))}: {text_of(cloud.cloud, language)}"

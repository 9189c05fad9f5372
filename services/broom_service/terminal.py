"""The game as plain text: everything that is open, in words, readable aloud."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from google.protobuf.message import Message

from broom_service.names import name_of, role_text, text_of
from broom_service.roles import BRAVE, COWARDLY, EVENTS
from broom_service.short import (
    board_of,
    cards_left,
    charmed_words,
    open_steps,
    play_words,
    region_words,
    resources_words,
    scoring_words,
    seat_flags,
    step_words,
    trick_of,
)
from broom_service.text import BroomServiceTexts
from broom_service.tiles import TILES
from broom_service.words import Words, words_in
from grimoire.engine.lines import own_view, wrapped
from grimoire.engine.sentences import capital
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = [
    "BroomServiceTerminal",
    "event_words",
    "role_words",
    "seat_lines",
    "trick_words",
    "turn_words",
    "variants",
]

_MIN_WIDTH: Final = 40


class BroomServiceTerminal:
    """`Terminal` of Broom Service."""

    def render(self, view: Message, language: str, names: Mapping[int, str], width: int) -> Sequence[str]:
        """Text lines of a view, at most `width` columns wide (at least 40 are used).

        Raises:
            TypeError: for another game's view.
        """
        room = max(width, _MIN_WIDTH)
        page = _Page(own_view(view, pb.View, "Broom Service"), language, names)
        return [piece for line in page.lines() for piece in wrapped(capital(line), room)]


def turn_words(view: pb.View, language: str, names: Mapping[int, str]) -> str:
    """The round and what is waited for, or how the match ended."""
    words = words_in(language)
    say = words.terminal
    if view.HasField("result"):
        result = view.result
        ended = pb.MatchEnded(scores=result.scores, winners=result.winners, reason=result.reason)
        return say["over"].format(sentence=BroomServiceTexts().say_event(ended, language, names))
    if not view.round:
        return say["preparing"]
    seats = ", ".join(words.seat(seat, names) for seat in view.asked)
    role = name_of(_led(view), language)
    doing = say[f"doing_{view.stage}"].format(seats=seats, role=role, trick=max(1, view.trick_no))
    return say["turn"].format(round=view.round, rounds=view.rounds, doing=doing)


def event_words(view: pb.View, language: str) -> str:
    """The event of the round with its text; empty before the first round."""
    if view.event not in EVENTS:
        return ""
    say = words_in(language).terminal["event"]
    return say.format(event=name_of(view.event, language), text=text_of(view.event, language))


def trick_words(view: pb.View, language: str, names: Mapping[int, str]) -> str:
    """The trick as it unfolds: the role, then seat after seat; empty between rounds."""
    plays = trick_of(view)
    if not plays:
        return ""
    say = words_in(language).terminal
    told = say["then"].join(play_words(play, view, language, names) for play in plays)
    return say["trick"].format(trick=view.trick_no, role=name_of(plays[0].role, language), plays=told)


def role_words(role: str, view: pb.View, language: str) -> str:
    """A role with both its actions, and whether it is bewitched or was led."""
    say = words_in(language).terminal
    name = name_of(role, language)
    if role in view.bewitched:
        name = say["role_bewitched"].format(role=name)
    if any(play.role == role and play.trick_no < view.trick_no for play in view.plays):
        name = say["role_led"].format(role=name)
    brave, cowardly = (role_text(role, stance, language) for stance in (BRAVE, COWARDLY))
    return say["role"].format(role=name, text=say["role_text"].format(brave=brave, cowardly=cowardly))


def seat_lines(seat: pb.SeatView, view: pb.View, language: str, names: Mapping[int, str]) -> Iterator[str]:
    """A seat: points, resources, cards and pawns; what it has won; what it would score now."""
    words = words_in(language)
    say = words.terminal
    flags = [*seat_flags(seat, view, words)]
    yield say["seat"].format(
        seat=words.seat(seat.seat, names),
        vp=seat.vp,
        resources=resources_words(seat.resources, language),
        cards=cards_left(seat),
        pawns=", ".join(name_of(region, language) for region in seat.pawns),
        flags="".join(f"{say['then']}{flag}" for flag in flags),
    )
    won = [charmed_words(seat, language)] if seat.clouds else []
    if seat.amulets:
        regions = ", ".join(name_of(region, language) for region in seat.amulets)
        won.append(say["amulets"].format(n=len(seat.amulets), vp=seat.amulets_vp, regions=regions))
    if seat.forest_tiles:
        won.append(say["forest_tiles"].format(tiles=", ".join(name_of(each, language) for each in seat.forest_tiles)))
    if won:
        yield f"  {say['then'].join(won)}"
    yield f"  {scoring_words(seat, language)}"


def variants(view: pb.View, words: Words) -> Iterator[str]:
    """What the match is played with."""
    played = (
        ("storm_clouds", view.storm_clouds),
        ("mountain_tiles", view.mountain_tiles),
        ("forest_tiles", view.forest_tiles),
        ("hill_tiles", view.hill_tiles),
    )
    yield from (words.options[name] for name, on in played if on)


def _led(view: pb.View) -> str:
    plays = trick_of(view)
    return plays[0].role if plays else ""


class _Page:
    """One view in one language."""

    def __init__(self, view: pb.View, language: str, names: Mapping[int, str]) -> None:
        self._view = view
        self._language = language
        self._names = names
        self._words: Words = words_in(language)

    def lines(self) -> Iterable[str]:
        view, language, names = self._view, self._language, self._names
        yield self._words.terminal["title"]
        yield turn_words(view, language, names)
        event = event_words(view, language)
        if event:
            yield event
        if view.bewitched:
            yield self._say("bewitched", roles=self._listed(view.bewitched))
        trick = trick_words(view, language, names)
        if trick:
            yield trick
        if view.led:
            yield self._say("led", roles=self._listed(view.led))
        yield from self._steps()
        yield from self._own()
        for seat in view.seats:
            yield from seat_lines(seat, view, language, names)
        yield self._say("board", board=name_of(view.board, language))
        for region in board_of(view).regions:
            yield "  " + capital(region_words(region, view, language, names))
        yield from self._tiles()
        yield from self._terms()
        yield from self._hidden()

    def _say(self, key: str, **arguments: object) -> str:
        return self._words.terminal[key].format(**arguments)

    def _listed(self, things: Iterable[str]) -> str:
        return ", ".join(name_of(thing, self._language) for thing in things)

    def _steps(self) -> Iterable[str]:
        view = self._view
        if not view.steps:
            return
        yield self._say("steps", seat=self._words.seat(view.acting_seat, self._names))
        for step in open_steps(view):
            yield "  " + capital(step_words(step, self._language))

    def _own(self) -> Iterable[str]:
        """Role cards that are seen, and sealed answers of one's own."""
        view, language = self._view, self._language
        for seat in view.seats:
            if seat.roles:
                yield self._say("hand", seat=self._words.seat(seat.seat, self._names))
                yield from ("  " + role_words(role, view, language) for role in seat.roles)
        if view.extra_role:
            yield self._say("extra", role=name_of(view.extra_role, language))
        if view.HasField("offer"):
            yield self._say("offer", resources=resources_words(view.offer, language))

    def _tiles(self) -> Iterable[str]:
        """What the tiles on the board do, and those that seats hold."""
        view, language = self._view, self._language
        lying = [tile.tile for tile in view.tiles]
        held = [tile for seat in view.seats for tile in seat.forest_tiles]
        told = {name_of(tile, language): text_of(tile, language) for tile in TILES if tile in {*lying, *held}}
        if told:
            yield self._say("tiles")
            yield from (f"  {name}: {text}" for name, text in told.items())
        storms = {cloud.storm: text_of(cloud.cloud, language) for cloud in view.clouds if cloud.storm}
        if storms:
            yield self._say("storms")
            named = {cloud.storm: cloud.cloud for cloud in view.clouds if cloud.storm}
            yield from (f"  {capital(name_of(named[kind], language))}: {text}" for kind, text in storms.items())

    def _terms(self) -> Iterable[str]:
        view, words = self._view, self._words
        if view.round and not view.HasField("result"):
            yield self._say("stacks", events=view.events_to_come, bewitched=view.bewitched_count)
        played = ", ".join(variants(view, words))
        if played:
            yield self._say("variants", variants=played)
        if view.arranged:
            yield self._say("arranged")

    def _hidden(self) -> Iterable[str]:
        """Only in the all-seeing view: what the stacks hold, and what is sealed."""
        view, words = self._view, self._words
        for key, things in (
            ("hidden_events", view.events_hidden),
            ("hidden_bewitched", view.bewitched_stack),
            ("hidden_out", view.events_out),
        ):
            if things:
                yield self._say(key, things=self._listed(things))
        for hand in view.hands:
            seat = words.seat(hand.seat, self._names)
            if hand.extra_role:
                yield self._say("hidden_extra", seat=seat, role=name_of(hand.extra_role, self._language))
            if hand.HasField("offer"):
                yield self._say("hidden_offer", seat=seat, resources=resources_words(hand.offer, self._language))

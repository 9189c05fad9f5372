"""Which golden logs there are, and how each was played."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import msgspec

from grimoire.match import Entry
from grimoire.match.driver import BotPlayers
from grimoire.match.table import Table
from grimoire.v1 import match_pb2
from tests.wizards_garden.lively import lively_command

Course = Callable[[Table, BotPlayers], None]


class Plan(msgspec.Struct, frozen=True):
    """One log.

    Attributes:
        levels: of the bots, by seat.
        seed: of seeds, nonces and choices.
        course: plays a created match to its end.
        reasons: what the end must be, so that a plan keeps its promise when it is recorded.
        position: analysis: an arranged position.
    """

    name: str
    game: str
    options: Mapping[str, str]
    levels: tuple[str, ...]
    seed: str
    course: Course
    reasons: tuple[str, ...]
    position: Mapping[str, object] | None = None


# ---- courses ---------------------------------------------------------------------------------------------------------


def handshake(table: Table) -> None:
    """Everybody seals and opens, a second or two apart."""
    seats = range(len(table.running.occupants))
    for act in (table.seal, table.open):
        for seat in seats:
            table.now_ms += 700 + 400 * seat
            act(seat)


def to_the_end(table: Table, bots: BotPlayers) -> None:
    """Bots play; nothing special happens."""
    handshake(table)
    bots.finish()


def with_troubles(table: Table, bots: BotPlayers) -> None:
    """A seal is replaced, the last seat opens first, a turn is missed, and the service is down for a while, twice."""
    table.seal(0, bytes([9]) * 32)
    table.seal(0)
    table.seal(1)
    table.open(1)
    table.open(0)
    for number in range(10_000):
        if number in (5, 19):
            table.down.append((table.now_ms, table.now_ms + 12_345))
            table.now_ms += 12_345
        if number == 8:
            table.expire_next()
        if bots.step() is None:
            return


def resigning(seat: int, after: int) -> Course:
    """This seat gives up after so many decisions."""

    def course(table: Table, bots: BotPlayers) -> None:
        handshake(table)
        for _ in range(after):
            bots.step()
        table.now_ms += 2_000
        table.play(seat, match_pb2.Resign())

    return course


def leaving(seat: int, after: int) -> Course:
    """This seat leaves after so many decisions; its clock runs out until that loses."""

    def course(table: Table, bots: BotPlayers) -> None:
        handshake(table)
        for _ in range(after):
            bots.step()
        while not table.running.over:
            if any(p.prompt.seat == seat for p in table.running.prompts):
                assert isinstance(table.expire_next(), Entry)
            else:
                bots.step()

    return course


def never_sealed(table: Table, bots: BotPlayers) -> None:
    """Seat 1 never comes."""
    table.seal(0)
    table.expire_next()


def never_opened(table: Table, bots: BotPlayers) -> None:
    """Seat 0 seals and never opens."""
    table.seal(0)
    table.seal(1)
    table.open(1)
    table.expire_next()


def ended_by_the_host(table: Table, bots: BotPlayers) -> None:
    """The host must stop in the middle."""
    handshake(table)
    for _ in range(9):
        bots.step()
    table.now_ms += 1_000
    table.void("maintenance")


def playing(seat: int, type_: str, **fields: object) -> Course:
    """One command, and the match is over."""

    def course(table: Table, bots: BotPlayers) -> None:
        handshake(table)
        table.now_ms += 3_000
        table.play(seat, table.referee.schema.command(type_, fields), table.running.prompts[0].prompt_id)

    return course


def lively(table: Table, bots: BotPlayers) -> None:
    """The Wizard's Garden by random commands that seek trouble, spells and all."""
    handshake(table)
    chance = random.Random(table.match_id)
    while not table.running.over:
        (opened,) = table.running.prompts
        table.now_ms += chance.randrange(300, 9_000)
        entries = table.referee.game.legal(table.running.game, opened.prompt.seat, opened.prompt)
        command = lively_command(entries, chance)
        assert isinstance(table.play(opened.prompt.seat, command, opened.prompt_id), Entry)


def nobody_there(table: Table, bots: BotPlayers) -> None:
    """Both seats' clocks run out until the match is over."""
    handshake(table)
    while not table.running.over:
        assert isinstance(table.expire_next(), Entry)


# ---- the logs --------------------------------------------------------------------------------------------------------

_FIELDS = (
    ("archmage_fortress", "standard", "heuristic,heuristic", 3, "tower_built", to_the_end),
    ("archmage_fortress", "endless", "heuristic,heuristic", 35, "resource", to_the_end),
    ("crystal_garden", "standard", "heuristic,heuristic", 5, "tower_destroyed", to_the_end),
    ("crystal_garden", "endless", "heuristic,random", 4, "tower_built", to_the_end),
    ("coastal_fortress", "standard", "heuristic,heuristic", 7, "resource", with_troubles),
    ("coastal_fortress", "endless", "heuristic,heuristic", 2, "tower_destroyed", to_the_end),
    ("azure_valley", "standard", "heuristic,heuristic", 26, "tower_built", to_the_end),
    ("azure_valley", "endless", "heuristic,random", 46, "resource", to_the_end),
    ("misty_harbour", "standard", "heuristic,heuristic", 0, "tower_built", to_the_end),
    ("misty_harbour", "endless", "heuristic,heuristic", 1, "tower_built", with_troubles),
    ("square_of_winds", "standard", "heuristic,heuristic", 32, "resource", to_the_end),
    ("square_of_winds", "endless", "heuristic,random", 0, "tower_destroyed", to_the_end),
    ("free_steppe", "standard", "heuristic,heuristic", 29, "tower_built", to_the_end),
    ("free_steppe", "endless", "heuristic,heuristic", 27, "resource", to_the_end),
    ("mirror_labyrinth", "standard", "heuristic,heuristic", 16, "tower_destroyed", with_troubles),
    ("mirror_labyrinth", "endless", "heuristic,random", 0, "tower_built", to_the_end),
)

_PAIR = ("heuristic", "heuristic")


def _plan(
    name: str, course: Course, *reasons: str, position: Mapping[str, object] | None = None, **options: str
) -> Plan:
    return Plan(name, "two_towers", options, _PAIR, name, course, reasons, position)


_FIVE = ["B@a2~pest", "B@a4~fire", "B@c4*spirit", "B@e4"]


def _garden(
    name: str,
    course: Course,
    *reasons: str,
    levels: tuple[str, ...] = ("random", "random"),
    position: Mapping[str, object] | None = None,
    **options: str,
) -> Plan:
    return Plan(name, "wizards_garden", options, levels, name, course, reasons, position)


_GARDEN: tuple[Plan, ...] = (
    *(
        _garden(
            f"lively_{spells}_{first}",
            lively,
            "turn_limit",
            spells_per_player=spells,
            first_player=first,
            turn_limit="40",
        )
        for spells in "123"
        for first in ("random", "blue", "red")
    ),
    _garden("lively_long", lively, "turn_limit", spells_per_player="3", turn_limit="130"),
    _garden("with_troubles", with_troubles, "turn_limit", turn_limit="40", first_player="red"),
    _garden("nobody_there", nobody_there, "turn_limit", turn_limit="40"),
    _garden("resigned_in_turn", resigning(0, 20), "resigned", first_player="blue"),
    _garden("resigned_out_of_turn", resigning(1, 12), "resigned", first_player="blue", spells_per_player="3"),
    _garden(
        "five_lanterns",
        playing(0, "place_lantern", space="e4"),
        "five_lanterns",
        position={"yard": _FIVE, "blue": {"lit": "water"}},
    ),
    _garden(
        "turn_limit_draw",
        nobody_there,
        "turn_limit",
        turn_limit="60",
        position={"turn": 59, "yard": ["B@a4*fire", "R@e4*pest"]},
    ),
    _garden(
        "turn_limit_bright",
        nobody_there,
        "turn_limit",
        turn_limit="60",
        position={"turn": 60, "active": "red", "yard": ["B@a4~fire", "R@e4*pest"]},
    ),
    _garden("void_never_sealed", never_sealed, "not_sealed"),
    _garden("void_never_opened", never_opened, "not_opened"),
    _garden("void_by_the_host", ended_by_the_host, "maintenance"),
)

PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"{battlefield}_{deck}",
            "two_towers",
            {"battlefield": battlefield, "deck_type": deck},
            tuple(levels.split(",")),
            f"{battlefield}-{deck}-{number}",
            course,
            (reason,),
        )
        for battlefield, deck, levels, number, reason, course in _FIELDS
    ),
    _plan("resigned_in_turn", resigning(0, 20), "resigned", first_player="seat_0"),
    _plan("resigned_out_of_turn", resigning(1, 12), "resigned", first_player="seat_0", deck_type="endless"),
    _plan("timeouts_standard", leaving(1, 14), "timeouts", timeout_limit="2", turn_time_s="10"),
    _plan("timeouts_endless", leaving(0, 7), "timeouts", deck_type="endless", turn_time_s="3600"),
    _plan("turn_limit", to_the_end, "turn_limit", position={"turn": 997, "discards": ["dragon", "imp"]}),
    _plan(
        "draw",
        playing(0, "play_card", slot=0, card="goblin_mob"),
        "tower_destroyed",
        position={
            "seats": [
                {"recruits": 3, "tower": 2, "wall": 1, "hand": ["goblin_mob"]},
                {"tower": 4, "wall": 2},
            ]
        },
    ),
    _plan("void_never_sealed", never_sealed, "not_sealed"),
    _plan("void_never_opened", never_opened, "not_opened"),
    _plan("void_by_the_host", ended_by_the_host, "maintenance"),
    *_GARDEN,
)

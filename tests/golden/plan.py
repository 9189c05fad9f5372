"""Which golden logs there are, and how each was played."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import msgspec

from grimoire.match import Entry
from grimoire.match.driver import BotPlayers
from grimoire.match.table import Table
from grimoire.v1 import match_pb2
from spellbound.places import BOOKS, GAINED
from tests.broom_service.lively import lively_command as fly
from tests.spellbound.keen import keen_turn
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


def keen(tries: int, first: Callable[[Table], None] | None = None) -> Course:
    """Spellbound by the best of so many random turns; `first` is done when the handshake is over."""

    def course(table: Table, bots: BotPlayers) -> None:
        handshake(table)
        if first is not None:
            first(table)
        chance = random.Random(table.match_id)
        while not table.running.over:
            secret = table.running.joint
            assert secret is not None
            for played in keen_turn(table.running.game, secret, chance, tries):
                table.now_ms += chance.randrange(300, 9_000)
                prompt = played.prompt
                opened = next(p for p in table.running.prompts if p.prompt == prompt)
                assert isinstance(table.play(prompt.seat, played.command, opened.prompt_id), Entry)

    return course


def asked_always(table: Table) -> None:
    """Every seat wants to be asked whenever it may be."""
    for seat in range(len(table.running.occupants)):
        table.now_ms += 500
        table.play(seat, table.referee.schema.command("set_reaction_policy", {"policy": "always"}))


def declaring(*uses: str) -> Course:
    """The final battle is declared at once: these are the uses of the gained books in their order."""

    def course(table: Table, bots: BotPlayers) -> None:
        handshake(table)
        table.now_ms += 3_000
        command = table.referee.schema.command("declare_final_battle")
        books = [book for book, at in zip(BOOKS, table.running.game.books, strict=True) if at == GAINED]
        for book, use in zip(books, uses, strict=True):
            command.books.add(book=book, use=use)
        seat = table.running.prompts[0].prompt.seat
        assert isinstance(table.play(seat, command, table.running.prompts[0].prompt_id), Entry)
        if not table.running.over:  # Alchemy asks first
            table.expire_next()

    return course


def nobody_there(table: Table, bots: BotPlayers) -> None:
    """All seats' clocks run out until the match is over."""
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


_HEURISTIC = (("1", 3), ("1", 4), ("2", 5), ("2", 7), ("3", 2), ("3", 6))
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
        for spells, first in (("1", "blue"), ("2", "red"), ("3", "random"), ("3", "blue"), ("3", "red"))
    ),
    _garden("lively_long", lively, "turn_limit", spells_per_player="3", turn_limit="130"),
    *(
        _garden(
            f"heuristic_{spells}_{number}",
            with_troubles if number == 5 else to_the_end,
            "five_lanterns",
            levels=("heuristic", "heuristic"),
            spells_per_player=spells,
        )
        for spells, number in _HEURISTIC
    ),
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


def _spellbound(
    name: str,
    course: Course,
    *reasons: str,
    seats: int = 2,
    position: Mapping[str, object] | None = None,
    **options: str,
) -> Plan:
    if position is not None:
        mages = int(options.get("mages", seats))
        options |= {"mages": str(mages), "mage_seats": ",".join(str(mage % seats) for mage in range(mages))}
    return Plan(name, "spellbound", options, ("random",) * seats, name, course, reasons, position)


_GATHERED: Mapping[str, object] = {
    "state": "witching",
    "books": dict.fromkeys(("red", "blue", "green", "yellow"), "gained"),
    "witch": 2,
    "minions": ["skeleton_army"],
    "lower_row": [f"basic_magic_{book}" for book in ("red", "blue", "green", "yellow", "silver")],
}
_AT_THE_TOWER: Mapping[str, object] = {**_GATHERED, "mages": ["village_04", "village_04"]}
_LAST_STORY: Mapping[str, object] = {
    "moved": True,
    "deck": [],
    "mages": ["wilderness", "city_red", "city_blue"],
    "lower_row": ["basic_influence_blue", "basic_influence_green"],
}
_RIDERS: Mapping[str, object] = {
    "state": "witching",
    "books": {"red": 8, "blue": 8, "green": 6, "yellow": 6},
    "spells": [["teleport", "alchemy"], ["hat_trick"], ["book_wyrm", "puppetry"]],
    "wands": [3, 2, 0],
    "mages": ["wilderness", "wilderness", "wilderness"],
    "lower_row": ["centaur_1", "warlock_1", "warlock_2", "ranger_1", "vampire_2", "fortuna_deck"],
    "upper_row": ["witch_red_a", "witch_blue_a"],
    "moon_pile": ["witch_green_a"],
    "watchman": "city_red",
}
_CIRCLE: Mapping[str, object] = {
    "state": "witching",
    "books": {"red": "gained", "blue": "gained", "green": "gained", "yellow": 8, "silver": "gained"},
    "spells": [["circle_of_magi"], ["sun_burst", "winning_smile"]],
    "mages": ["village_04", "city_yellow"],
    "lower_row": ["changeling", "squire", "librarian", "warrior_1", "pixies_1"],
    "upper_row": ["witch_red_a"],
    "moon_pile": ["witch_green_a", "troll_a"],
    "influence": {"village_03": ["basic_influence_red"]},
    "witch": 2,
}

_SPELLBOUND: tuple[Plan, ...] = (
    *(
        _spellbound(f"keen_{seats}_{name}", keen(30), "books_lost", seats=seats, **options)
        for seats in (1, 2, 3, 4)
        for name, options in (
            ("normal", {"mages": str(max(2, seats))}),
            ("troll_buster", {"troll_buster": "true", "first_mage": "0"}),
            ("dan", {"dan": str(seats + 3), "mages": "4"}),
            ("witchfinder", {"witchfinder_general": "true"}),
        )
    ),
    _spellbound("asked_always", keen(30, asked_always), "books_lost", seats=3),
    _spellbound("with_troubles", with_troubles, "books_lost"),
    _spellbound("nobody_there", nobody_there, "books_lost", seats=3, mages="4"),
    _spellbound("resigned", resigning(1, 12), "resigned"),
    _spellbound("battle_won", declaring("sun", "skeleton_army", "sun", "sun"), "final_battle", position=_AT_THE_TOWER),
    _spellbound(
        "battle_lost",
        declaring("sun", "sun", "sun", "sun"),
        "final_battle_lost",
        position={**_AT_THE_TOWER, "minions": ["skeleton_army", "goblin_spider_riders", "danzer"]},
    ),
    _spellbound(
        "annihilated",
        nobody_there,
        "annihilation",
        seats=3,
        position={
            **_LAST_STORY,
            "bag": "s0 m0",
            "drawn": "s3 m2",
            "moon_pile": ["witch_red_c", "witch_blue_c", "witch_green_c", "witch_yellow_c", "troll_b"],
        },
    ),
    _spellbound(
        "witch_at_top",
        nobody_there,
        "witch_at_top",
        seats=3,
        position={**_LAST_STORY, "witch": 4, "sun_pile": ["basic_move_red"]},
    ),
    _spellbound(
        "wicked_deck_empty", nobody_there, "wicked_deck_empty", seats=3, position={**_LAST_STORY, "wicked_deck": []}
    ),
    _spellbound(
        "pieces_at_end",
        nobody_there,
        "pieces_at_end",
        seats=3,
        position={**_LAST_STORY, "hats": {"green": 8}, "troll": 9, "books": {"green": "gained", "silver": "gained"}},
    ),
    _spellbound("riders_0", keen(40, asked_always), "final_battle", seats=3, position=_RIDERS),
    _spellbound("riders_1", keen(40, asked_always), "final_battle", seats=3, position=_RIDERS),
    _spellbound("riders_2", keen(40, asked_always), "final_battle", seats=3, position=_RIDERS),
    _spellbound("circle_won", keen(20), "final_battle", position=_CIRCLE),
    _spellbound("void_never_sealed", never_sealed, "not_sealed"),
    _spellbound("void_never_opened", never_opened, "not_opened"),
    _spellbound("void_by_the_host", ended_by_the_host, "maintenance"),
)


def _broom_service(
    name: str,
    course: Course,
    *reasons: str,
    seats: int = 2,
    position: Mapping[str, object] | None = None,
    **options: str,
) -> Plan:
    return Plan(name, "broom_service", options, ("random",) * seats, name, course, reasons, position)


def flying(resigns: Mapping[int, int] | None = None, expires: int = 0) -> Course:
    """Broom Service by lively random commands.

    Args:
        resigns: after so many decisions this seat resigns.
        expires: every so-manieth decision runs out instead; 0: none.
    """

    def course(table: Table, bots: BotPlayers) -> None:
        handshake(table)
        chance = random.Random(table.match_id)
        number = 0
        while not table.running.over:
            number += 1
            table.now_ms += chance.randrange(300, 9_000)
            seat = (resigns or {}).get(number)
            if seat is not None:
                assert isinstance(table.play(seat, match_pb2.Resign()), Entry)
            elif expires and number % expires == 0:
                assert isinstance(table.expire_next(), Entry)
            else:
                opened = chance.choice(table.running.prompts)
                entries = table.referee.game.legal(table.running.game, opened.prompt.seat, opened.prompt)
                command = fly(entries, chance)
                assert isinstance(table.play(opened.prompt.seat, command, opened.prompt_id), Entry)

    return course


_BACK = {"board": "back"}
_STORM = {"storm_clouds": "true"}
_MOUNTAINS = {"mountain_tiles": "true"}
_TIE: Mapping[str, object] = {
    "players": 3,
    "round": 7,
    "event": "brave_heart",
    "seats": {
        0: {"vp": 60, "resources": "o1", "roles": ["hill_druid"]},
        1: {"vp": 60, "resources": "p1"},
        2: {"vp": 20, "resources": "w3"},
    },
}
_SPENT: Mapping[str, object] = {
    "players": 4,
    "round": 6,
    "bewitched": ["fruit_gatherer"],
    "led": ["fruit_gatherer"],
    "seats": {
        0: {"roles": ["fruit_gatherer", "hill_witch"]},
        1: {"roles": ["hill_witch"]},
        2: {"roles": ["fruit_gatherer", "hill_witch", "weather_fairy"]},
    },
}

_LAST_ROUND: Mapping[str, object] = {"stage": "choose", "round": 7}
_WITH_TILES: Mapping[str, object] = {
    **_LAST_ROUND,
    "players": 3,
    "event": "the_works",
    "tiles": {"m1": "m_moves", "m2": "m_dispel", "m3": "m_deliver", "h1": "h_ab", "h4": "h_vat"},
    "seats": {
        0: {"forest_tiles": ["f_card_1", "f_heart_1"], "resources": "o3 g3 p3 w5"},
        1: {"forest_tiles": ["f_card_2"], "resources": "o3 g3 p3 w5"},
        2: {"forest_tiles": ["f_five_1"], "resources": "o3 g3 p3 w5"},
    },
}

_FLIGHTS: tuple[Plan, ...] = (
    _broom_service("front_2", flying(), "scored"),
    _broom_service("storm_2", flying(), "scored", heavy_clouds="10", **_STORM),
    _broom_service("mountains_2", flying(), "scored", first_player="seat_1", **_MOUNTAINS),
    _broom_service("mountains_storm_2", flying(), "scored", **_MOUNTAINS, **_STORM),
    _broom_service("back_2", flying(), "scored", **_BACK),
    _broom_service("back_storm_3", flying(), "scored", seats=3, heavy_clouds="11", **_BACK, **_STORM),
    _broom_service("with_troubles", with_troubles, "scored"),
    _broom_service("one_leaves", leaving(2, 15), "scored", seats=3, timeout_limit="2"),
    _broom_service("some_resign", flying({5: 0, 30: 3}, expires=7), "scored", seats=5, timeout_limit="10", **_BACK),
    _broom_service("nobody_there", nobody_there, "others_left", seats=3),
    _broom_service("left_alone", leaving(1, 20), "others_left"),
    _broom_service("all_but_one_resign", flying({8: 2, 21: 0}), "others_left", seats=3),
    _broom_service("shared_victory", flying(), "scored", seats=3, position=_TIE),
    _broom_service("role_led_again", flying(), "scored", seats=4, position=_SPENT),
    _broom_service("last_round_3", flying(), "scored", seats=3, position=_WITH_TILES, **_BACK, **_STORM),
    _broom_service(
        "last_round_5",
        flying(),
        "scored",
        seats=5,
        position={**_LAST_ROUND, "event": "the_upper_hand", "clouds": {"c08": "storm_gust_1", "c16": "storm_courier"}},
        **_STORM,
    ),
    _broom_service("last_choice_5", flying(), "scored", seats=5, position={**_LAST_ROUND, "event": "more_or_less"}),
    _broom_service("void_never_sealed", never_sealed, "not_sealed"),
    _broom_service("void_never_opened", never_opened, "not_opened"),
    _broom_service("void_by_the_host", ended_by_the_host, "maintenance"),
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
    *_SPELLBOUND,
    *_FLIGHTS,
)

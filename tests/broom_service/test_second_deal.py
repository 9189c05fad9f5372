"""The set-up from what was drawn, by a second reading of the rules (BS-3, BS-13)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.engine import Illegal, Setup, Start
from tests.broom_service.lively import BOARDS, GAME, draws
from tests.broom_service.second import CLOUDS, DATA, EVENTS, ORDER
from tests.broom_service.test_second_course import told

SITES = {
    "front": {"mountain": ["m1", "m2", "m3"]},
    "back": {"mountain": ["m1", "m2", "m3"], "forest": ["f1", "f2", "f3", "f4"], "hill": ["h1", "h2", "h3", "h4"]},
}
WANDS = {2: [1, 1], 3: [1, 2, 1], 4: [1, 2, 2, 1], 5: [1, 2, 2, 2, 1]}


def expected(seats: int, options: Mapping[str, str], drawn: Mapping[str, list[int]]) -> tuple[Any, ...]:
    """Stacks, table and digest lines; every draw is used up."""
    left = dict(drawn)

    def shuffled(label: str, things: list[str]) -> list[str]:
        return [things[place] for place in left.pop(label)]

    side = options.get("board", "front")
    [board] = [board for board in DATA["boards"] if board["id"] == side]
    named = options.get("first_player", "random")
    first = left.pop("first_seat")[0] if named == "random" else int(named[-1])
    heavy = [cloud["id"] for cloud in DATA["heavy_clouds"]]
    count = int(options.get("heavy_clouds", 24))
    if count < 24:
        kept = shuffled("heavy_clouds", heavy)[:count]
        heavy = [cloud for cloud in heavy if cloud in kept]
    part = heavy + ([c for c in CLOUDS if c.startswith("storm")] if options.get("storm_clouds") == "true" else [])
    spaces = [space["id"] for space in board["cloud_spaces"]]
    clouds = shuffled("clouds", part)[: len(spaces)]
    tiles: list[tuple[str, str]] = []
    for kind, regions in SITES[side].items():
        if side == "back" or options.get("mountain_tiles") == "true":
            every = [tile["id"] for tile in DATA["landscape_tiles"][kind]]
            tiles += zip(regions, shuffled(f"{kind}_tiles", every), strict=False)
    events = shuffled("events", [*EVENTS])
    bewitched = shuffled("bewitched/1", ORDER) if seats < 5 else []
    assert not left
    castles = ["p3", "f6"] if side == "front" else ["p1", "p9"]
    laid = {
        "board": side,
        "timeout_limit": 3,
        "seats": [
            {
                "vp": 10,
                "resources": {"orange": 1, "green": 1, "purple": 1, "wand": WANDS[seats][(seat - first) % seats]},
                "pawns": castles,
            }
            for seat in range(seats)
        ],
        "clouds": [{"space": space, "cloud": cloud} for space, cloud in zip(spaces, clouds, strict=True)],
    }
    if first:
        laid["first_seat"] = first
    if tiles:
        laid["tiles"] = [{"region": region, "tile": tile} for region, tile in tiles]
    if tiles and side == "front":
        laid["covered_towers"] = ["green_rd_12", "purple_rd_12", "green_rd_08"]
    stacks = {"events": events[:7], "events_out": events[7:]} | ({"bewitched": bewitched} if bewitched else {})
    lines = (
        side,
        str(first),
        ",".join(clouds),
        ",".join(tile for _, tile in tiles),
        ",".join(events),
        ",".join(bewitched),
    )
    return ("stacks_ordered", stacks), ("table_laid", laid), lines


def test_the_deal_is_what_was_drawn() -> None:
    for number in range(len(BOARDS) * 4 * 3):
        seats = 2 + number % 4
        options = dict(BOARDS[number % len(BOARDS)]) | (
            {"first_player": f"seat_{seats - 1}"} if number % 5 == 0 else {}
        )
        facts = GAME.configure(options, seats)
        assert not isinstance(facts, Illegal)
        chance = draws(number)
        start = GAME.start(Setup("deal", seats, dict(facts.options)), chance)
        assert isinstance(start, Start)
        drawn = {draw.label: [*draw.results] for draw in chance.taken}
        assert len(drawn) == len(chance.taken)
        stacks, laid, lines = expected(seats, options, drawn)
        assert told(start.events[:2]) == [stacks, laid]
        assert start.deal_lines == lines


def legal_options(seats: int, options: Mapping[str, Any]) -> bool:
    """BS-1.3, as its table reads."""
    back, storm = options["board"] == "back", options["storm_clouds"]
    fewest = 24 if not storm else 11 if back else 10
    first = options["first_player"]
    return (
        fewest <= options["heavy_clouds"] <= 24
        and (options["mountain_tiles"] or not back)
        and options["forest_tiles"] == back
        and options["hill_tiles"] == back
        and (first == "random" or int(first[-1]) < seats)
        and 10 <= options["turn_time_s"] <= 604800
        and 1 <= options["timeout_limit"] <= 10
    )


@settings(max_examples=400)
@given(
    st.integers(2, 5),
    st.fixed_dictionaries(
        {
            "board": st.sampled_from(("front", "back")),
            "storm_clouds": st.booleans(),
            "heavy_clouds": st.sampled_from((9, 10, 11, 23, 24, 25)),
            "mountain_tiles": st.booleans(),
            "forest_tiles": st.booleans(),
            "hill_tiles": st.booleans(),
            "first_player": st.sampled_from(("random", *(f"seat_{seat}" for seat in range(6)))),
            "turn_time_s": st.sampled_from((9, 10, 604800, 604801)),
            "timeout_limit": st.sampled_from((0, 1, 10, 11)),
        }
    ),
    st.integers(0, 4),
)
def test_options_are_judged_by_the_table(seats: int, options: dict[str, Any], repairs: int) -> None:
    back = options["board"] == "back"
    mended = {"forest_tiles": back, "hill_tiles": back, "mountain_tiles": back or options["mountain_tiles"]}
    mended |= {"turn_time_s": 90, "timeout_limit": 3, "first_player": "seat_0"}
    options |= dict([*mended.items()][: repairs + 2 if repairs else 0])
    facts = GAME.configure({name: json.dumps(value).strip('"') for name, value in options.items()}, seats)
    assert isinstance(facts, Illegal) is not legal_options(seats, options)
    if isinstance(facts, Illegal):
        assert (facts.code, facts.rule) == ("bad_option", "BS-1.3")
        assert facts.field in options


def test_options_left_out_take_their_defaults() -> None:
    for side, tiles in (("front", "false"), ("back", "true")):
        facts = GAME.configure({"board": side}, 3)
        assert not isinstance(facts, Illegal)
        assert dict(facts.options) == {
            "board": side,
            "storm_clouds": "false",
            "heavy_clouds": "24",
            "mountain_tiles": tiles,
            "forest_tiles": tiles,
            "hill_tiles": tiles,
            "first_player": "random",
            "turn_time_s": "90",
            "timeout_limit": "3",
        }

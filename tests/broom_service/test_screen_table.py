"""The table: every size, every sign, nothing told by colour alone; what may be picked, and where a click leads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from textual.geometry import Size

from broom_service.boards import BOARDS
from broom_service.positions import BroomServicePositions
from broom_service.roles import ROLE_IDS
from broom_service.screen.refs import choices, marks, ref_words
from broom_service.screen.signs import ACCENT
from broom_service.screen.table import table_lines
from broom_service.state import State
from broom_service.tiles import TILES
from broom_service.words import LANGUAGES
from grimoire.boards import content_of
from grimoire.cli.screens.composer import Draft
from grimoire.engine import PUBLIC, Actor, Illegal, Viewer
from grimoire.engine.board import Shown
from grimoire.engine.pieces import padded, ref_at, width_of
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.games.two_towers.v1 import two_towers_pb2
from grimoire.match.frames import travelling
from grimoire.v1 import prompt_pb2
from tests.broom_service.lively import BACK_STORM, FRONT, GAME, answer, draws, lively_match, setup_of

SIZES = ((80, 19), (84, 34), (120, 34), (100, 24), (60, 16), (30, 8))
NAMES = {0: "Aino", 1: "W" * 24, 2: "Otso", 3: "Mira", 4: "Nikos"}


def arranged(position: Mapping[str, object], seats: int = 5, **options: str) -> State:
    facts = GAME.configure(options, seats)
    assert not isinstance(facts, Illegal)
    event = BroomServicePositions().parse({"players": seats, **position}, dict(facts.options))
    setup = setup_of(seats, options, event.SerializeToString())
    start = GAME.start(setup, draws("arranged"))
    assert not isinstance(start, Illegal), start
    return start.state


def shown(view: pb.View, language: str = "en", **more: Any) -> Shown:
    return Shown(view=view, language=language, names=NAMES, **more)


def asked(state: State, language: str = "en", *picked: str) -> Shown:
    """What the asked seat sees, with all that it may do."""
    prompt = GAME.prompts(state)[0]
    legal = travelling(GAME.schema, GAME.legal(state, prompt.seat, prompt))
    draft = Draft.of([prompt_pb2.Prompt(prompt_id=1, seat=prompt.seat, kind=prompt.kind, required=True, legal=legal)])
    for ref in picked:
        taken = draft.pick(ref)
        assert taken is not None, ref
        draft = taken
    return shown(
        GAME.view(state, Viewer.of_seat(prompt.seat)),
        language,
        usable=draft.usable,
        picked=draft.picked,
        fits=draft.fits,
        instead=draft.instead,
        seat=int(prompt.seat),
    )


def over(state: State, language: str) -> Shown:
    return shown(GAME.view(state, PUBLIC), language)


def drawn(given: Shown, width: int = 80, height: int = 19) -> list[str]:
    return [content_of(line, width, ACCENT).plain for line in table_lines(given, Size(width, height))]


def after(state: State, *commands: tuple[str, Mapping[str, Any]]) -> State:
    """The state after these commands, each of the seat that is asked."""
    for code, fields in commands:
        prompt = GAME.prompts(state)[0]
        command = GAME.schema.command(code, tuple(fields.items()))
        state = answer(state, Actor.of_seat(prompt.seat), command, prompt, "arranged").state
    return state


def worst(board: str = "back") -> pb.View:
    """More of everything than there can ever be at once."""
    side = BOARDS[board]
    roles = [*ROLE_IDS[:5]]
    return pb.View(
        stage="steps",
        board=board,
        round=7,
        rounds=7,
        event="the_upper_hand",
        bewitched=ROLE_IDS[:3],
        leader=0,
        trick_no=10,
        plays=[pb.Play(trick_no=10, seat=n, role="mountain_witch", stance="brave", outdone=n < 4) for n in range(5)],
        led=ROLE_IDS,
        brave_seat=4,
        seats=[
            pb.SeatView(
                seat=n,
                vp=-100,
                resources=pb.Resources(orange=20, green=20, purple=20, wand=24),
                pawns=["p1", "p1"],
                clouds=["heavy_24"] * 12,
                amulets=["m1", "m2", "m3"],
                forest_tiles=["f_heart_1", "f_card_1", "f_five_1", "f_five_2"],
                cards_left=5,
                roles=roles,
                lightning=36,
            )
            for n in range(5)
        ],
        clouds=[
            pb.CloudView(space=space, cloud="heavy_24", region=region, stars=3, lightning=3)
            for space, region in side.spaces.items()
        ],
        tiles=[
            pb.PlacedTile(region=region, tile=tile)
            for tile, region in zip(TILES, (r for site in side.sites.values() for r in site), strict=False)
        ],
        towers=[
            pb.TowerView(tower=t.id, colour=t.colour, shape=t.shape, vp=10, wands=2, touches=t.touches)
            for t in side.towers.values()
        ],
        asked=[4],
        acting_seat=4,
        steps=[
            pb.Step(step=n, group=1, kind="deliver", cause="mountain_witch", region="m1", pawn=0, bonus_vp=3)
            for n in range(1, 4)
        ],
        storm_clouds=True,
        arranged=True,
    )


# ---- sizes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("board", BOARDS)
def test_everything_keeps_to_its_place(size: tuple[int, int], language: str, board: str) -> None:
    for seat in (None, 4):
        lines = drawn(shown(worst(board), language, seat=seat), *size)
        assert len(lines) <= size[1]
        assert all(len(line) <= size[0] for line in lines)


@pytest.mark.parametrize("size", SIZES[:4])
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_done_now_is_never_cut_away(size: tuple[int, int], language: str) -> None:
    text = "\n".join(drawn(shown(worst(), language, seat=4), *size))
    assert ("deliver a potion at", "παράδωσε ένα φίλτρο", "toimita taikajuoma")[LANGUAGES.index(language)] in text
    assert "✚" in text


@pytest.mark.parametrize("size", SIZES[:3])
@pytest.mark.parametrize("options", [FRONT, BACK_STORM], ids=["front", "back"])
def test_whole_matches_are_drawn(size: tuple[int, int], options: Mapping[str, str]) -> None:
    board = BOARDS[options.get("board", "front")]
    for number, step in enumerate(lively_match(5, 3, options)):
        if number % 9 and GAME.prompts(step.after):
            continue
        for language in LANGUAGES:
            given = asked(step.after, language) if GAME.prompts(step.after) else over(step.after, language)
            lines = drawn(given, *size)
            assert len(lines) <= size[1]
            assert all(len(line) <= size[0] for line in lines)
            text = "\n".join(lines)
            assert all(region in text for region in board.regions)
            if language != "el":
                continue
            assert ("Γύρος" in text) is (step.after.round > 0)


def test_every_open_tower_stands_in_each_region_that_it_touches() -> None:
    """At the promised small size, before anything is delivered, whichever board."""
    for board, side in BOARDS.items():
        state = arranged({"seats": {0: {"roles": ["hill_witch"]}}}, board=board)
        text = "\n".join(drawn(shown(GAME.view(state, PUBLIC))))
        assert "…" not in "\n".join(line[:51] for line in text.split("\n"))
        covered = side.covered_by_mountains if board == "back" else ()
        signs = sum(len(tower.touches) for tower in side.towers.values() if tower.id not in covered)
        prairies = sum(region.startswith("p") for region in side.regions)
        map_only = "\n".join(line[:51] for line in text.split("\n")[:16])
        assert len(re.findall(r"[ogpOGP]\d+\+*", map_only)) == signs + prairies


# ---- signs -----------------------------------------------------------------------------------------------------------

LEADS: dict[str, Any] = {"seats": {0: {"roles": ["hill_witch"]}}}
POSITION: dict[str, Any] = {
    "round": 3,
    "event": "black_market",
    "clouds": {"c01": "heavy_02", "c02": "heavy_13", "c08": "heavy_24"},
    "occupied": ["orange_rd_01"],
    "seats": {
        0: {"pawns": ["h4", "h4"], "vp": -2, "resources": "o2 g1 w3", "roles": ["hill_witch", "valley_druid"]},
        1: {"vp": 23, "resources": "p4", "clouds": ["heavy_21", "heavy_01"], "roles": ["hill_witch"]},
    },
}


def brick(lines: list[str], column: int, row: int, wide: int = 7, high: int = 4) -> list[str]:
    """The cells of one region of the map."""
    left = column * wide + (wide // 2 if row % 2 else 0)
    return [line[left : left + wide - 1].strip() for line in lines[row * high : row * high + high]]


def test_regions_show_castle_pawns_clouds_and_towers() -> None:
    lines = drawn(shown(GAME.view(arranged(POSITION), PUBLIC)))
    assert brick(lines, 0, 0) == ["p1", "☁1 ☁2", "g5p7+", "o7"]
    assert brick(lines, 0, 1)[:2] == ["h2", "☁3↯3"]
    assert brick(lines, 1, 1) == ["p3 ♜", "▲■◆✚", "O3", "g2+"]
    assert brick(lines, 2, 2) == ["h4", "●●", "P4p6o×", "g2++"]
    assert brick(lines, 4, 0) == ["w1", "", "", ""]


def test_tiles_circles_and_storm_clouds_of_the_back() -> None:
    tiles = {"m1": "m_potions", "m2": "m_moves", "f1": "f_heart_1", "f2": "f_card_1", "h1": "h_ab", "h3": "h_vat"}
    state = arranged({"tiles": tiles, "clouds": {"c03": "storm_gust_2"}, **LEADS}, 2, **BACK_STORM)
    lines = drawn(shown(GAME.view(state, PUBLIC)))
    assert brick(lines, 1, 1)[0] == "m1ogp"
    assert brick(lines, 4, 2)[0] == "m2 »2"
    assert (brick(lines, 0, 0)[0], brick(lines, 3, 1)[0]) == ("f1 ♥", "f2 +1")
    assert brick(lines, 2, 0)[0] == "h1A/B"
    assert brick(lines, 0, 2)[:2] == ["h3", "≋2↯1"]
    assert "O7" in " ".join(brick(lines, 0, 2))
    assert (brick(lines, 0, 1)[0], brick(lines, 6, 3)[0]) == ("p4 A", "p10 B")


def test_seats_show_points_cards_resources_and_what_they_won() -> None:
    given = shown(GAME.view(arranged(POSITION), Viewer.of_seat(0)), seat=0)
    beside = [line[52:].strip() for line in drawn(given)]
    assert beside[0] == "Round 3/7 · trick 1"
    assert beside[1] == "Black Market"
    assert beside[2].split() == ["▶●", "Aino", "(you)", "-2", "▯2"]
    assert beside[3] == "o2 g1 p0 w3"
    assert beside[4].startswith("▲ WWWW")
    assert beside[4].endswith("23 ▯1")
    assert beside[5] == "o0 g0 p4 w0 ↯4"
    assert "Cards: Hill Witch  Valley Druid" in drawn(given)


def test_bewitched_roles_are_marked_where_they_are_held() -> None:
    state = arranged({"bewitched": ["hill_witch"], "seats": {0: {"roles": ["hill_witch", "valley_druid"]}}}, 4)
    lines = drawn(asked(state))
    assert any(line.endswith("☠ Hill Witch") for line in lines)
    assert any("¹☠Hill Witch" in line for line in lines)


TRICK: dict[str, Any] = {
    "event": "black_distillery",
    "seats": {
        seat: {"roles": ["forest_witch"] if seat != 3 else ["hill_witch"], "resources": "o1 g1 p1 w2"}
        for seat in range(5)
    },
}


def test_the_trick_unfolds() -> None:
    state = after(
        arranged(TRICK),
        ("play_role", {"role": "forest_witch", "stance": "brave"}),
        ("play_role", {"role": "forest_witch", "stance": "brave"}),
        ("play_role", {"role": "forest_witch", "stance": "cowardly", "instead": "event", "resource": "wand"}),
    )
    lines = drawn(asked(state))
    assert "Forest Witch: ● out  ▲ brave  ■ cowardly +  ◆ next!" in lines
    assert any(line[52:].startswith("!▲") for line in lines), "who is brave so far has a sign"
    greek = drawn(asked(state, "el"))
    assert "Μάγισσα του δάσους: ● εκτός  ▲ γενναία  ■ δειλά +  ◆ επόμενος!" in greek


def test_a_tall_table_tells_what_roles_do_what_the_event_does_and_what_signs_mean() -> None:
    text = "\n".join(drawn(asked(arranged(POSITION), "el"), 120, 40))
    assert "Γεγονός «Μαύρη Αγορά»: Κάθε φορά που παίζεις δειλά" in text
    assert "¹Μάγισσα των λόφων  · Πέτα με ένα πιόνι σε γειτονικό λόφο" in text
    assert "μεγάλο σύννεφο: αστέρια, αστραπές" in text


def test_the_end_is_told() -> None:
    view = worst("front")
    del view.plays[:]
    del view.steps[:]
    scores = [pb.SeatScore(seat=seat, vp=60 + seat) for seat in range(5)]
    view.result.CopyFrom(pb.Result(reason="scored", winners=[4], scores=scores))
    lines = drawn(shown(view))
    assert any(line[52:].startswith("★✚") for line in lines)
    assert any("The match is over. Final scoring: Aino 60" in line for line in lines)


def test_another_games_view_is_refused() -> None:
    other = Shown(view=two_towers_pb2.View(), language="en", names={})
    with pytest.raises(TypeError, match="no view of Broom Service"):
        table_lines(other, Size(80, 19))


# ---- picking ---------------------------------------------------------------------------------------------------------


def test_roles_are_marked_and_then_how_they_are_played_is_asked() -> None:
    given = asked(arranged(POSITION))
    assert [*choices(given)] == ["role:hill_witch", "role:valley_druid"]
    assert "Cards: ¹Hill Witch  ²Valley Druid" in drawn(given)
    picked = asked(arranged(POSITION), "en", "role:hill_witch")
    assert [*choices(picked)] == ["stance:brave", "stance:cowardly", "instead:event"]
    assert "Choose: ▶Hill Witch  1) brave  2) cowardly  3) Black Market" in drawn(picked)
    assert any("▶Hill Witch" in line for line in drawn(picked) if line.startswith("Cards"))


def test_following_asks_only_how() -> None:
    state = after(arranged(TRICK), ("play_role", {"role": "forest_witch", "stance": "brave"}))
    assert "Valitse: 1) rohkeasti  2) arasti  3) Musta tislaamo" in drawn(asked(state, "fi"))


def test_regions_are_marked_where_they_are() -> None:
    state = after(arranged(TRICK), ("play_role", {"role": "forest_witch", "stance": "cowardly"}))
    given = asked(state)
    assert [*choices(given)] == ["region:f1", "region:f3", "region:f5"]
    lines = drawn(given)
    assert brick(lines, 1, 0)[0] == "¹f1"
    assert brick(lines, 2, 1)[0] == "²f3"
    assert "Choose: 1) forest 1  2) forest 3  3) forest 5" in lines


def test_two_pawns_that_may_fly_are_told_apart() -> None:
    position = {"seats": {0: {"pawns": ["p3", "p5"], "roles": ["forest_witch"]}}}
    state = after(arranged(position), ("play_role", {"role": "forest_witch", "stance": "cowardly"}))
    named = [ref_words(ref, asked(state)) for ref in choices(asked(state)) if ref.startswith("pawn:")]
    assert named == ["pawn 1 (prairie 3)", "pawn 2 (prairie 5)"]


def test_towers_and_clouds_are_marked_where_they_are() -> None:
    druid = {"seats": {0: {"pawns": ["h4", "f6"], "resources": "o1 p1 w3", "roles": ["hill_druid", "weather_fairy"]}}}
    delivering = after(arranged(druid), ("play_role", {"role": "hill_druid", "stance": "cowardly"}))
    lines = drawn(asked(delivering))
    assert brick(lines, 2, 2)[0] == "h4 ●"
    assert {"¹P4", "²p6", "³o6"} <= {*re.findall(r"[¹²³]\w\d", " ".join(brick(lines, 2, 2)))}
    assert any("purple square tower 1, VP 4" in ref_words(ref, asked(delivering)) for ref in choices(asked(delivering)))
    charming = after(
        arranged({**druid, "clouds": {"c17": "heavy_02", "c13": "heavy_13"}}),
        ("play_role", {"role": "weather_fairy", "stance": "brave"}),
    )
    given = asked(charming)
    assert marks(given) == {"space:c13": "¹", "space:c17": "²"}
    assert brick(drawn(given), 4, 3)[1] == "²☁1↯1"


def test_several_open_parts_are_told_apart() -> None:
    position = {
        "tiles": {"m1": "m_potions"},
        "seats": {0: {"pawns": ["p1", "p9"], "resources": "o1", "roles": ["mountain_witch"]}},
    }
    state = after(
        arranged(position, 2, board="back"),
        ("play_role", {"role": "mountain_witch", "stance": "brave"}),
    )
    while GAME.prompts(state)[0].kind == "follow":
        state = after(state, ("play_role", {"role": "mountain_witch", "stance": "cowardly"}))
    step = state.top_steps[0].number
    state = after(state, ("move_pawn", {"step": step, "pawn": 0, "to": "m1"}))
    given = asked(state)
    parts = [ref_words(ref, given) for ref in choices(given) if ref.startswith("step:")]
    assert parts == [
        "take any part of orange 1, green 1, purple 1 (Cauldrons)",
        "deliver a potion at mountain 1, pawn 1 (Mountain Witch)",
    ]


def test_a_click_knows_what_lies_under_it() -> None:
    given = asked(arranged(POSITION))
    lines = table_lines(given, Size(80, 19))
    texts = drawn(given)
    y = next(n for n, line in enumerate(texts) if line.startswith("Cards"))
    assert ref_at(lines[y], texts[y].index("Valley")) == ("role:valley_druid",)
    assert ref_at(lines[0], 1) == ("region:p1",)
    assert ref_at(lines[1], 1) == ("space:c01", "region:p1")
    assert ref_at(lines[9], texts[9].index("P4"))[0] == "tower:purple_sq_01"
    assert ref_at(lines[2], 56) == ("seat:0",)
    assert ref_at(lines[0], 200) == ()


def test_a_line_is_cut_or_filled() -> None:
    line = table_lines(asked(arranged(POSITION)), Size(80, 19))[1]
    assert width_of(padded(line, 20)) == 20
    assert width_of(padded(line, 200)) == 200

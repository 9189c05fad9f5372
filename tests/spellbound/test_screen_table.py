"""The table: every size, every sign, nothing told by colour alone; what may be picked, and where a click leads."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from textual.geometry import Size

from grimoire.boards import content_of
from grimoire.cli.screens.composer import Draft
from grimoire.engine import PUBLIC, Viewer
from grimoire.engine.board import Shown
from grimoire.engine.pieces import padded, ref_at, width_of
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.games.two_towers.v1 import two_towers_pb2
from grimoire.match.frames import travelling
from grimoire.v1 import prompt_pb2
from spellbound.catalogue import DATA
from spellbound.places import BOOKS, VILLAGES
from spellbound.screen.refs import choices, marks, ref_words
from spellbound.screen.signs import ACCENT
from spellbound.screen.table import table_lines
from spellbound.state import State
from spellbound.words import LANGUAGES
from tests.spellbound.keen import GAME, keen_match
from tests.spellbound.test_words import arranged

SIZES = ((80, 19), (84, 34), (120, 34), (100, 24), (60, 16), (30, 8))
NAMES = {0: "Aino", 1: "W" * 24}

CARDS = [card for card in DATA.cards if card.kind == "mage"]


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


def drawn(given: Shown, width: int = 80, height: int = 19) -> list[str]:
    return [content_of(line, width, ACCENT).plain for line in table_lines(given, Size(width, height))]


def worst() -> pb.View:
    """More of everything than there can ever be at once."""
    return pb.View(
        state="reaction",
        turn=800,
        turn_mage=3,
        acting_mage=2,
        active_seat=3,
        mages=[
            pb.MageView(
                mage=n, seat=n, place="village_12", wand=3, spells=["circle_of_magi", "winning_smile", "teleport"]
            )
            for n in range(4)
        ],
        tracks=[
            pb.TrackView(
                book=track.book,
                piece=track.piece,
                place=track.place,
                piece_at=8,
                book_at=9,
                book_state="on_track",
                spell_spaces=track.spell_spaces,
                length=9,
            )
            for track in DATA.tracks
        ],
        villages=[pb.VillageView(village=v, card="city_watchman", requirement=4, amount=3) for v in VILLAGES],
        watchman="city_red",
        lower_row=[pb.CardView(card=card.id, group=card.group, sun=card.sun, moon=card.moon) for card in CARDS[:12]],
        upper_row=[pb.CardView(card="witch_yellow_c", group="witch", moon=2, new=True)] * 6,
        tower=pb.TowerView(
            witch=4, strength=4, sun_pile=[c.id for c in CARDS], moon_pile=["troll_b"] * 9, minions=DATA.minion_order
        ),
        bag=pb.Stones(sun=8, moon=8),
        drawn=pb.Stones(sun=8, moon=8),
        supply=pb.Stones(sun=8, moon=8),
        deck_count=53,
        discards=[card.id for card in CARDS],
        wicked_deck_count=10,
        wicked_top="witch_yellow_c",
        batch=pb.Batch(cause="purge", moves=["hat_red", "hat_blue", "hat_green", "hat_yellow", "troll"]),
        window=pb.WindowView(window="moves", seat=1, passed=[0, 2, 3]),
        idle_piece="hat_yellow",
        policies=["when_it_matters"] * 4,
        troll_buster=True,
        dan=8,
        witchfinder_general=True,
        arranged=True,
    )


# ---- sizes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_keeps_to_its_place(size: tuple[int, int], language: str) -> None:
    lines = drawn(shown(worst(), language), *size)
    assert len(lines) <= size[1]
    assert all(len(line) <= size[0] for line in lines)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_asked_is_never_cut_away(language: str) -> None:
    for size in SIZES[:4]:
        text = "\n".join(drawn(shown(worst(), language), *size))
        assert ("About to move on", "Etenemässä")[LANGUAGES.index(language)] in text
        assert ("Asked now", "Nyt kysytään")[LANGUAGES.index(language)] in text


@pytest.mark.parametrize("size", SIZES[:3])
def test_whole_matches_are_drawn(size: tuple[int, int]) -> None:
    for step in itertools.islice(keen_match(3, 2, {"mages": "4"}, tries=3), 150):
        for language in LANGUAGES:
            view = GAME.view(step.state, PUBLIC)
            lines = drawn(shown(view, language), *size)
            assert len(lines) <= size[1]
            text = "\n".join(lines)
            assert all(f"{n} " in text for n in range(1, 13))
            assert sum(line[10:37].count("■") for line in lines[1:6]) == 5 - view.books_lost


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_promised_small_size_shows_every_card_of_a_usual_display(language: str) -> None:
    state = arranged(
        {
            "lower_row": ["city_watchman", "librarian", "magic_dwarf_1", "giant_eagle_1", "basic_influence_yellow"],
            "upper_row": ["witch_yellow_a", "witch_green_a"],
        },
        seats=2,
        mages="4",
    )
    given = asked(state, language)
    text = "\n".join(drawn(given))
    view = GAME.view(state, PUBLIC)
    for card in (*view.lower_row, *view.upper_row):
        assert ref_words(f"card:{card.card}", given).split(" ☀")[0].split(" ☾")[0] in text


# ---- signs -----------------------------------------------------------------------------------------------------------

POSITION: dict[str, Any] = {
    "mages": ["city_red", "wilderness", "city_red"],
    "wands": {1: 2},
    "spells": {1: ["teleport", "hat_trick"]},
    "hats": {"red": 3, "green": 9},
    "troll": 2,
    "books": {"blue": "gained", "green": "lost", "yellow": 7},
    "watchman": "city_blue",
    "lower_row": ["centaur_1", "fortuna_deck"],
    "upper_row": ["witch_red_a", "squire"],
    "sun_pile": ["dragon_1", "pixies_1", "pixies_2"],
    "moon_pile": ["troll_b"],
    "influence": {"village_03": ["basic_influence_red", "basic_influence_blue"]},
    "witch": 3,
    "minions": ["skeleton_army"],
    "drawn": "s0 m1",
    "bag": "s3 m1",
}


def test_tracks_show_pieces_books_and_who_is_there() -> None:
    lines = drawn(asked(arranged(POSITION)))
    assert lines[0].split()[:9] == ["1", "2", "3", "4", "5", "6✦", "7", "8✦", "9"]
    assert lines[1][:49].split() == ["Red", "·", "·", "▲", "■", "·", "✦", "·", "✦", "·", "+1", "!!", "AC"]
    assert lines[2][:49].split() == ["Blue", "▲", "·", "·", "·", "·", "✦", "·", "✦", "■", "gained", "W"]
    assert lines[3][:49].split() == ["Green", "·", "·", "·", "·", "·", "✦", "·", "✦", "▲", "LOST"]
    assert lines[4][:49].split() == ["Yellow", "▲", "·", "·", "·", "·", "✦", "■", "✦", "·", "+6"]
    assert lines[5][:49].split() == ["Wild", "·", "T", "·", "■", "·", "✦", "·", "✦", "·", "+2", "B"]


def test_whose_mage_is_whose_with_wand_and_spells() -> None:
    state = arranged(POSITION, seats=2, mages="3", mage_seats="0,1,0")
    lines = [line[:49].rstrip() for line in drawn(asked(state))[6:9]]
    assert lines[0] == " ▶A ● Aino (you) wand 0"
    assert lines[1].startswith("  B ▲ WWWWWWWWWWWWWW… wand 2 · Teleport")
    assert lines[2] == "  C ● Aino (you) wand 0"
    other = [line[:49].rstrip() for line in drawn(shown(GAME.view(state, PUBLIC)))[6:9]]
    assert other[0] == " ▶A ● Aino wand 0"


def test_the_tower_decks_and_stones() -> None:
    lines = [line[49:].strip() for line in drawn(asked(arranged(POSITION)))[:9]]
    assert lines == [
        "Baba Yaga 3/5 · strength 3",
        "☀8 Pixies ×2, Dragon",
        "☾2 Troll (2 moon)",
        "Minions: Skeleton Army",
        "deck 13 · discards 0 · ends 0",
        lines[5],
        "bag ☀3☾1 drawn ☀0☾1 supply ☀5☾6"[: len(lines[6])],
        "books 1/4 · lost 1/2",
        "spell deck 8",
    ]
    assert lines[5].startswith("wicked deck")


def test_villages_show_cards_influence_and_visitors() -> None:
    lines = drawn(asked(arranged({**POSITION, "mages": ["city_red", "wilderness", "village_03"]})))
    cells = [line[at : at + 26].strip() for line in lines for at in (0, 26, 52)]
    assert any(cell.endswith("3 Lizardman 2/4 C") for cell in cells)
    assert "4 Witch's Tower" in cells
    assert "8 Halfling 0/1" in cells
    assert "12 ?" in cells
    assert "1 –" in cells


def test_the_display_with_force_guard_and_warnings() -> None:
    text = "\n".join(drawn(asked(arranged(POSITION))))
    assert "Centaur ☀2" in text
    assert "Witch (red) ☾1" in text
    assert "Squire+" in text
    assert "Fortuna waits for a visit" in text
    assert "not moved: red hat moves on" in text


def test_a_tall_table_tells_what_cards_do_and_what_signs_mean() -> None:
    text = "\n".join(drawn(asked(arranged(POSITION), "fi"), 84, 34))
    assert "Kentauri ☀2 · 3 siirtymistä." in text
    assert "noidanhattu" in text
    assert "Velho ei ole liikkunut" in text


def test_windows_rides_and_the_card_in_progress_are_told() -> None:
    view = worst()
    view.ride.CopyFrom(pb.Ride(mage=0, rider=1, to="village_05"))
    view.progress.CopyFrom(pb.Progress(card="centaur_1", mode="ride", left=[pb.Part(any=["move"], times=2)], rider=1))
    view.stones.add(number=1, stone="moon")
    text = "\n".join(drawn(shown(view), 120, 34))
    assert "mage A asks mage B to ride along to village 5" in text
    assert "Card in progress: Centaur; left: movement 2 times; mage B rides along" in text
    assert "Stones drawn: moon" in text


def test_the_end_is_told() -> None:
    view = worst()
    view.result.CopyFrom(pb.Result(result="lost", reason="books_lost"))
    lines = drawn(shown(view))
    assert not any(line.startswith(" ▶") for line in lines)
    assert "!" not in lines[-1][:1]


def test_another_games_view_is_refused() -> None:
    other = Shown(view=two_towers_pb2.View(), language="en", names={})
    with pytest.raises(TypeError, match="no view of Spellbound"):
        table_lines(other, Size(80, 19))


# ---- picking ---------------------------------------------------------------------------------------------------------

STORY: dict[str, Any] = {
    "lower_row": ["basic_move_red", "centaur_1", "vampire_1"],
    "upper_row": ["witch_blue_a"],
    "wands": [3],
    "spells": {0: ["teleport", "sun_burst"]},
    "moon_pile": ["troll_a"],
}


def test_digits_stand_at_the_cards_and_what_is_not_drawn_is_named() -> None:
    given = asked(arranged(STORY))
    text = "\n".join(drawn(given, 120, 34))
    assert "¹Travel (red) ☀1" in text
    assert "⁴Witch (blue) ☾1" in text
    assert [*choices(given)][:4] == [f"card:{card}" for card in (*STORY["lower_row"], "witch_blue_a")]
    named = [ref_words(ref, given) for ref in choices(given)]
    assert "Wand 1: move" in named
    assert "Teleport" in named
    assert "mode:action" not in choices(given)


def test_a_picked_card_offers_its_uses() -> None:
    given = asked(arranged(STORY), "en", "card:basic_move_red")
    uses = [ref_words(ref, given) for ref in choices(given) if ref.startswith("mode:")]
    assert uses == ["movement", "research its book"]
    assert "▶Travel (red) ☀1" in "\n".join(drawn(given))
    assert "Choose: 1) movement  2) research its book" in drawn(given)
    chosen = asked(arranged(STORY), "en", "card:basic_move_red", "mode:research")
    assert "Choose: ▶research its book  1) movement" in drawn(chosen)


def test_places_are_marked_where_they_are() -> None:
    given = asked(arranged(STORY), "en", "level:1")
    places = [ref for ref in choices(given) if ref.startswith("place:")]
    assert places[:2] == ["place:city_red", "place:city_blue"]
    lines = drawn(given)
    assert lines[1].startswith("¹Red")
    assert marks(given)["place:village_12"] == "›"


def test_books_and_hats_are_picked_on_their_tracks() -> None:
    view = GAME.view(arranged(POSITION), PUBLIC)
    books = frozenset(f"book:{book}" for book in BOOKS)
    lines = drawn(shown(view, usable=books, fits=books))
    assert [line[0] for line in lines[1:6]] == [*"¹²³⁴⁵"]
    hats = frozenset({"piece:hat_green", "piece:hat_yellow"})
    lines = drawn(shown(view, usable=hats, fits=hats))
    assert [line[0] for line in lines[1:6]] == [" ", " ", "¹", "²", " "]


def test_a_click_knows_what_lies_under_it() -> None:
    given = asked(arranged(STORY))
    lines = table_lines(given, Size(80, 19))
    texts = drawn(given)
    y = next(n for n, line in enumerate(texts) if "Centaur" in line)
    assert ref_at(lines[y], texts[y].index("Centaur")) == ("card:centaur_1",)
    assert ref_at(lines[1], 3)[0] == "place:city_red"
    y = next(n for n, line in enumerate(texts) if "Lizardman" in line)
    assert "place:village_03" in ref_at(lines[y], texts[y].index("Lizardman"))
    assert ref_at(lines[0], 200) == ()


def test_a_line_is_cut_or_filled() -> None:
    line = table_lines(asked(arranged(STORY)), Size(80, 19))[1]
    assert width_of(padded(line, 20)) == 20
    assert width_of(padded(line, 200)) == 200

"""Towers, walls and numbers: on one scale, whatever their values, with what has just changed."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.geometry import Size

from grimoire.engine.board import Shown
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.battlefields import BATTLEFIELDS
from two_towers.screen.field import Part, Works, field_lines
from two_towers.screen.side import side_lines

VALUES = (0, 1, 20, 50, 499, 500)
SIZES = (Size(36, 9), Size(40, 16), Size(48, 20), Size(64, 24), Size(120, 40))
NAMES = {0: "Aino", 1: "W" * 24}


def view(tower: int = 20, wall: int = 5, stock: int = 5, battlefield: str = "archmage_fortress") -> pb.View:
    field = BATTLEFIELDS[battlefield]
    numbers = pb.SeatNumbers(
        tower=tower, wall=wall, mines=stock, monasteries=stock, barracks=stock, ore=stock, mana=stock, recruits=stock
    )
    return pb.View(
        own_seat=0,
        battlefield=battlefield,
        deck_type="standard",
        goal_tower=field.goal_tower,
        goal_resource=field.goal_resource,
        turn_no=1000,
        phase="main",
        timeout_limit=10,
        seats=[pb.SeatView(seat=n, numbers=numbers, hand_count=6, timeouts=9) for n in (0, 1)],
        pile_count=90,
        discards=["ruby"] * 90,
        last_cards=[
            pb.ShownCard(seat=1, card="dwarven_miners", how="played", turn_no=1),
            pb.ShownCard(seat=0, card="mad_cow_disease", how="forced", turn_no=2),
        ],
    )


def shown(message: pb.View, language: str = "en") -> Shown:
    return Shown(view=message, language=language, names=NAMES)


def works(tower: Part, wall: Part) -> tuple[Works, Works]:
    return Works(0, tower, wall), Works(1, tower, wall)


def steady(value: int) -> Part:
    return Part(value, value, value)


def picture(
    message: pb.View, size: Size, both: tuple[Works, Works], progress: float = 1.0, language: str = "en"
) -> list[str]:
    return [line.plain for line in field_lines(shown(message, language), both, progress, size)]


@pytest.mark.parametrize("battlefield", BATTLEFIELDS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_value_fits_on_every_battlefield(battlefield: str, size: Size) -> None:
    language = "fi" if size.width % 3 else "en"
    for value in (*VALUES, BATTLEFIELDS[battlefield].goal_tower):
        message = view(value, value, value, battlefield)
        both = works(steady(value), Part(value, 0, 500))
        lines = picture(message, size, both, language=language)
        assert len(lines) == size.height
        assert {len(line) for line in lines[:-1]} <= {size.width - 1, size.width}
        assert len(lines[-1]) <= size.width
        assert lines[-1].count(str(value)) >= 4, "every tower and wall has its number"
        assert str(BATTLEFIELDS[battlefield].goal_tower) in lines[0]
        for width in (22, 28, 34):
            for height in (9, 12, 16, 30):
                side = list(side_lines(shown(message, language), 1, {"ore": -500}, Size(width, height)))
                assert max(len(line) for line in side) <= width
                assert len(side) <= height


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_goal_is_the_top_of_the_scale_and_nothing_is_the_bottom(size: Size) -> None:
    rows = size.height - 2

    def filled(value: int) -> int:
        lines = picture(view(), size, works(steady(value), steady(0)))
        return sum(line[1] in "▁▂▃▄▅▆▇█∩▪▲" for line in lines[1:-1])

    assert filled(0) == 0
    assert filled(1) == 1
    assert filled(50) == filled(500) == rows
    assert abs(filled(25) - rows / 2) <= 1


def test_what_is_higher_than_the_scale_has_a_torn_edge() -> None:
    lines = picture(view(), Size(36, 9), works(steady(20), steady(63)))
    assert "▲▲▲" in lines[1]
    assert "63" in lines[-1]
    assert not any("▲▲▲" in line for line in picture(view(), Size(36, 9), works(steady(20), steady(50))))


def test_growth_and_damage_are_told_by_signs() -> None:
    grown = picture(view(), Size(36, 9), works(Part(25, 20, 20), Part(5, 5, 5)))
    broken = picture(view(), Size(36, 9), works(Part(10, 20, 20), Part(5, 5, 5)))
    assert "25 +5" in grown[-1]
    assert "10 −10" in broken[-1]
    assert any("░░░░░" in line for line in broken), "rubble where the tower was"
    assert not any("░" in line for line in grown)


def test_a_tower_crumbles_from_what_it_was() -> None:
    fall = works(Part(0, 50, 50), steady(5))

    def height(progress: float) -> int:
        lines = picture(view(), Size(36, 17), fall, progress)
        return sum(line[1] in "▁▂▃▄▅▆▇█∩▪" for line in lines[1:-1])

    heights = [height(progress) for progress in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == 15
    assert heights[-1] == 0


def test_between_the_walls_stand_the_pile_and_the_last_cards_newest_first() -> None:
    text = "\n".join(picture(view(), Size(48, 20), works(steady(20), steady(5))))
    assert "pile 90" in text
    assert "discards 90" in text
    assert "turn 1000" in text
    assert text.index("● ✗ Mad Cow") < text.index("▲ Dwarven")


def test_an_endless_deck_has_no_pile() -> None:
    message = view()
    message.ClearField("pile_count")
    text = "\n".join(picture(message, Size(48, 20), works(steady(20), steady(5))))
    assert "∞" in text
    assert "pile" not in text


def test_numbers_of_a_seat() -> None:
    def said(size: Size, language: str = "en") -> str:
        lines: list[Content] = list(side_lines(shown(view(stock=7), language), 0, {"ore": 5, "mana": -3}, size))
        return "\n".join(line.plain for line in lines)

    small = said(Size(22, 9))
    assert "● Aino (you)" in small
    assert "◆ ore 7" in small
    assert "+7 a turn" in small
    assert "⚑150 +5" in small
    assert "⚑150 −3" in small
    assert "hand 6 · missed 9/10" in small
    assert "mines 7" in said(Size(22, 12))
    assert "kaivokset 7" in said(Size(22, 12), "fi")
    assert "käsi 6 · ohi 9/10" in said(Size(22, 9), "fi")


def test_whose_turn_it_is_has_a_sign() -> None:
    def names(active: int, phase: str = "main") -> list[str]:
        message = view()
        message.active_seat, message.phase = active, phase
        return [next(iter(side_lines(shown(message), seat, {}, Size(34, 9)))).plain[0] for seat in (0, 1)]

    assert names(0) == ["▶", " "]
    assert names(1) == [" ", "▶"]
    assert names(1, "over") == [" ", " "]

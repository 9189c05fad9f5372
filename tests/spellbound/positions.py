"""Positions from which random play goes deep: books far on, spells in hand, the tower near."""

from __future__ import annotations

from collections.abc import Mapping

from grimoire.engine import Illegal, Setup
from spellbound.positions import SpellboundPositions
from spellbound.state import State
from tests.spellbound.keen import GAME, draws, joint

LATE: tuple[tuple[int, Mapping[str, object]], ...] = (
    (
        3,
        {
            "state": "witching",
            "books": {"red": 8, "blue": 8, "green": 6, "yellow": 6},
            "spells": [["teleport", "alchemy"], ["hat_trick"], ["book_wyrm", "puppetry"]],
            "wands": [3, 2, 0],
            "mages": ["wilderness", "wilderness", "wilderness"],
            "lower_row": ["centaur_1", "warlock_1", "warlock_2", "ranger_1", "vampire_2", "fortuna_deck"],
            "upper_row": ["witch_red_a", "witch_blue_a"],
            "moon_pile": ["witch_green_a"],
            "watchman": "city_red",
        },
    ),
    (
        2,
        {
            "state": "witching",
            "books": {"red": "gained", "blue": "gained", "green": 8, "yellow": 8, "silver": 8},
            "spells": [["circle_of_magi", "teleport"], ["sun_burst", "winning_smile", "alchemy"]],
            "wands": [1, 3],
            "lower_row": ["changeling", "squire", "librarian", "warrior_1", "pixies_1"],
            "upper_row": ["witch_red_a"],
            "moon_pile": ["witch_green_a", "troll_a"],
            "influence": {"village_03": ["basic_influence_red"]},
            "witch": 2,
        },
    ),
    (
        1,
        {
            "state": "witching",
            "books": {"red": 7, "blue": 7, "green": 8, "yellow": 7, "silver": 8},
            "spells": [["hat_trick", "book_wyrm", "alchemy"]],
            "lower_row": ["dragon_1", "giant_eagle_1", "magic_dwarf_1", "knight", "dark_elf_1"],
            "minions": ["skeleton_army"],
        },
    ),
)
"""Number of seats, each with one mage, and the position."""


def late_state(number: int) -> State:
    """The state of one of these."""
    seats, position = LATE[number]
    return arranged(position, seats)


def arranged(position: Mapping[str, object], seats: int, **options: str) -> State:
    """The state a written position begins with."""
    facts = GAME.configure(options, seats)
    assert not isinstance(facts, Illegal), facts
    chosen = dict(facts.options)
    event = SpellboundPositions().parse(position, chosen)
    start = GAME.start(Setup("late", seats, chosen, event.SerializeToString()), draws(joint(0)))
    assert not isinstance(start, Illegal), start
    return start.state

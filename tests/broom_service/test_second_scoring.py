"""The final scoring against a search of all sets, and ranks against their definition (BS-10)."""

from __future__ import annotations

import functools
import itertools
import random

import pytest
from msgspec.structs import replace

from broom_service.scoring import amulets_vp, lightning_vp, scores, sets_in
from tests.broom_service.second import LIGHTNING
from tests.broom_service.test_second_course import dealt

Holding = tuple[int, int, int, int]


@functools.cache
def best(holding: Holding) -> int:
    """The most VP that sets of these resources can bring, whichever are made (BS-10.2)."""
    found = 0
    for size, vp in ((4, 4), (3, 2)):
        for kinds in itertools.combinations(range(4), size):
            if all(holding[kind] for kind in kinds):
                left = tuple(amount - (kind in kinds) for kind, amount in enumerate(holding))
                found = max(found, vp + best((left[0], left[1], left[2], left[3])))
    return found


def test_no_other_sets_are_worth_more() -> None:
    for a, b, c, d in itertools.product(range(5), repeat=4):
        assert sets_in((a, b, c, d)).vp == best((a, b, c, d))


def test_the_rulebooks_example() -> None:
    # BS-10.4: one set of four, one of three, three left over, eight bolts.
    assert sets_in((1, 2, 2, 5)).vp + lightning_vp(8) == 25


@pytest.mark.parametrize("bolts", range(20))
def test_lightning(bolts: int) -> None:
    assert lightning_vp(bolts) == (LIGHTNING[bolts] if bolts < 16 else 50 + 5 * (bolts - 15))


def test_amulets() -> None:
    assert [amulets_vp(amulets) for amulets in range(4)] == [0, 4, 9, 15]


@pytest.mark.parametrize("seed", range(40))
def test_ranks(seed: int) -> None:
    chance = random.Random(seed)
    seats = 2 + seed % 4
    state, _ = dealt(seed, seats, {})
    held = tuple((chance.randrange(3), chance.randrange(3), 0, chance.randrange(2)) for _ in range(seats))
    state = replace(
        state,
        vp=tuple(chance.choice((20, 20, 21, -4)) for _ in range(seats)),
        resources=held,
        retired=tuple(chance.random() < 0.2 for _ in range(seats)),
    )
    lines = scores(state, final=True)
    for one, other in itertools.combinations(range(seats), 2):
        first, second = lines[one], lines[other]
        keys = [(not state.retired[line.seat], line.vp, sum(held[line.seat])) for line in (first, second)]
        assert (first.rank < second.rank) == (keys[0] > keys[1])
        assert (first.rank == second.rank) == (keys[0] == keys[1])
    assert min(line.rank for line in lines) == 1
    for line in lines:
        assert line.rank == 1 + sum(other.rank < line.rank for other in lines)
        assert line.vp == state.vp[line.seat] + best(held[line.seat])

"""Fair draws look fair, unfair ones do not; what is too few says nothing."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.fairness.draws import RecordedDraws
from grimoire.fairness.secret import Secret
from grimoire.fairness.statistics import Tally, judge_all
from grimoire.fairness.statistics.report import REMARKABLE
from grimoire.v1 import match_pb2

TESTS = ["positions", "neighbours", "rises", "runs", "gaps"]

SHUFFLE = match_pb2.DRAW_KIND_SHUFFLE
SAMPLE = match_pb2.DRAW_KIND_SAMPLE
BELOW = match_pb2.DRAW_KIND_BELOW

Deck = Callable[[random.Random, int], Sequence[int]]


def shuffled(chance: random.Random, size: int) -> list[int]:
    return chance.sample(range(size), size)


def one_draw(label: str, kind: match_pb2.DrawKind.ValueType, bound: int, results: Iterable[int]) -> match_pb2.Draw:
    return match_pb2.Draw(label=label, kind=kind, bound=bound, results=results)


def counted(chance: random.Random, matches: int, size: int, deck: Deck = shuffled) -> Tally:
    tally = Tally()
    for _ in range(matches):
        tally.match([one_draw("deck", SHUFFLE, size, deck(chance, size))])
    return tally


def p_values(tally: Tally) -> dict[str, float]:
    return {result.test: result.p for result in tally.results()}


@pytest.mark.parametrize("size", [2, 3, 24, 100])
def test_over_many_fair_games_every_p_is_as_likely_as_every_other(size: int) -> None:
    chance = random.Random(f"fair {size}")
    seen: dict[str, list[float]] = {test: [] for test in TESTS}
    games = 150
    for _ in range(games):
        for test, p in p_values(counted(chance, 80, size)).items():
            seen[test].append(p)
    for test, values in seen.items():
        assert len(values) > games / 2, test
        # Kolmogorov and Smirnov; 1.95 is passed by chance once in a thousand. Coarse statistics (a few cells, small
        # counts) have steps, so a little more is allowed.
        gap = max(abs(p - (i + 0.5) / len(values)) for i, p in enumerate(sorted(values)))
        assert gap < 1.95 / math.sqrt(len(values)) + 0.08, (test, gap)


def test_numbers_and_samples_of_fair_games_are_even_too() -> None:
    chance = random.Random("numbers")
    values = []
    for _ in range(150):
        tally = Tally()
        for _ in range(60):
            tally.match(
                [
                    one_draw("first", BELOW, 2, [chance.randrange(2)]),
                    one_draw("die", BELOW, 6, [chance.randrange(6)]),
                    one_draw("far", BELOW, 1_000, [chance.randrange(1_000)]),
                    one_draw("hand", SAMPLE, 12, chance.sample(range(12), 4)),
                ]
            )
        values.append(p_values(tally)["positions"])
    gap = max(abs(p - (i + 0.5) / len(values)) for i, p in enumerate(sorted(values)))
    assert gap < 1.95 / math.sqrt(len(values)) + 0.05


def top_is_high(chance: random.Random, size: int) -> Sequence[int]:
    deck = shuffled(chance, size)
    if deck[0] < size // 2 and chance.random() < 0.5:
        deck[0], deck[-1] = deck[-1], deck[0]
    return deck


def barely_riffled(chance: random.Random, size: int) -> Sequence[int]:
    left, right = list(range(size // 2)), list(range(size // 2, size))
    deck = []
    while left or right:
        source = left if chance.random() * (len(left) + len(right)) < len(left) else right
        deck.append(source.pop(0))
    return deck


def cut_only(chance: random.Random, size: int) -> Sequence[int]:
    at = chance.randrange(size)
    return [*range(at, size), *range(at)]


def sorted_downwards_at_the_end(chance: random.Random, size: int) -> Sequence[int]:
    deck = shuffled(chance, size)
    return [*deck[: size // 2], *sorted(deck[size // 2 :], reverse=True)]


@pytest.mark.parametrize(
    ("deck", "found"),
    [
        (top_is_high, {"positions"}),
        (barely_riffled, {"positions", "rises"}),
        (cut_only, {"neighbours", "rises"}),
        (sorted_downwards_at_the_end, {"positions", "rises"}),
    ],
)
def test_bad_shuffles_are_found(deck: Deck, found: set[str]) -> None:
    values = p_values(counted(random.Random("bad"), 1_500, 20, deck))
    assert {test for test, p in values.items() if p < 1e-6} >= found


def test_seats_that_take_turns_to_begin_are_found_by_runs_and_gaps() -> None:
    tally = Tally()
    for match in range(200):
        tally.match([one_draw("first_seat", BELOW, 2, [match % 2])])
    values = p_values(tally)
    assert values["positions"] > 0.9
    assert values["runs"] < 1e-9
    assert values["gaps"] < 1e-9


def test_a_favoured_seat_is_found() -> None:
    chance = random.Random("favour")
    tally = Tally()
    for _ in range(400):
        tally.match([one_draw("first_seat", BELOW, 2, [int(chance.random() < 0.7)])])
    assert p_values(tally)["positions"] < 1e-9


def test_a_thing_that_samples_avoid_is_found() -> None:
    chance = random.Random("avoid")
    tally = Tally()
    for _ in range(300):
        tally.match([one_draw("hand", SAMPLE, 12, chance.sample(range(11), 4))])
    assert p_values(tally)["positions"] < 1e-9


def test_a_few_draws_say_nothing() -> None:
    tally = counted(random.Random("few"), 3, 40)
    assert tally.results() == []
    assert (tally.matches, tally.draws) == (3, 3)


def test_what_could_only_come_out_one_way_is_no_draw() -> None:
    tally = Tally()
    for _ in range(100):
        tally.match([one_draw("a", BELOW, 1, [0]), one_draw("b", SHUFFLE, 1, [0]), one_draw("c", SAMPLE, 5, [])])
    assert tally.results() == []


def test_labels_that_differ_only_in_numbers_are_counted_together() -> None:
    chance = random.Random("labels")
    tally = Tally()
    for _ in range(2):
        tally.match(one_draw(f"roll/{n}", BELOW, 2, [chance.randrange(2)]) for n in range(50))
    (positions,) = [result for result in tally.results() if result.test == "positions"]
    assert (positions.draws, positions.degrees) == (100, 1)


def test_labels_with_other_words_are_counted_apart() -> None:
    tally = Tally()
    for _ in range(50):
        tally.match([one_draw("a", BELOW, 2, [0]), one_draw("b", BELOW, 2, [1])])
    # Together they would be even.
    assert p_values(tally)["positions"] < 1e-9


@settings(max_examples=60, deadline=None)
@given(data=st.data(), matches=st.integers(0, 40))
def test_any_verified_draws_can_be_counted(data: st.DataObject, matches: int) -> None:
    tally = Tally()
    for match in range(matches):
        draws = RecordedDraws("toy", Secret(match.to_bytes(32, "big")))
        draws.below("a", data.draw(st.sampled_from([1, 2, 3, 63, 64, 65, 2**32])))
        draws.shuffle("b", range(data.draw(st.sampled_from([0, 1, 2, 3, 63, 64, 65, 130]))))
        size = data.draw(st.sampled_from([1, 2, 70]))
        draws.sample("c", range(size), data.draw(st.integers(0, size)))
        tally.match(draws.taken)
    for result in tally.results():
        assert 0 <= result.p <= 1
        assert math.isfinite(result.statistic)


def test_of_many_fair_tests_none_is_remarkable_and_of_many_with_a_false_one_only_that() -> None:
    chance = random.Random("report")
    tallies = {
        ("toy", f"20{year}-{month:02}"): counted(chance, 60, 12) for year in range(20, 28) for month in range(1, 13)
    }
    rows = judge_all(tallies)
    assert len(rows) > 300
    assert not [row for row in rows if row.remarkable]
    assert min(row.p for row in rows) < 0.01

    tallies["toy", "2028-01"] = counted(chance, 60, 12, cut_only)
    found = {(row.month, row.test) for row in judge_all(tallies) if row.remarkable}
    assert found >= {("2028-01", "neighbours"), ("2028-01", "rises")}
    assert {month for month, _ in found} == {"2028-01"}


def test_the_correction_is_holms() -> None:
    chance = random.Random("holm")
    rows = judge_all({("toy", str(i)): counted(chance, 60, 12) for i in range(4)})
    ranked = sorted(rows, key=lambda row: row.p)
    worst = 0.0
    for rank, row in enumerate(ranked):
        worst = max(worst, min(1.0, row.p * (len(ranked) - rank)))
        assert row.corrected == pytest.approx(worst)
    assert REMARKABLE < 0.01

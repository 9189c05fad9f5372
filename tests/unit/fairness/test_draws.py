"""Draws: uniform, reproducible, recorded; and those set by hand for analysis."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.engine import Draws
from grimoire.fairness.draws import MAX_BOUND, ForcedDrawError, ForcedDraws, RecordedDraws, Stream
from grimoire.fairness.secret import Secret
from grimoire.v1 import match_pb2

GAME = "toy"
seeds = st.binary(min_size=32, max_size=32)
labels = st.from_regex(r"[a-z0-9_/.-]{1,64}", fullmatch=True)


@given(seeds, labels, st.integers(1, 40))
def test_words_agree_with_a_second_computation(plain: SimpleNamespace, seed: bytes, label: str, count: int) -> None:
    stream = Stream(GAME, Secret(seed), label)
    assert [stream.word() for _ in range(count)] == plain.words(GAME, seed, label, count)


@given(seeds, labels, st.lists(st.integers(1, MAX_BOUND), min_size=1, max_size=20))
def test_below_agrees_with_a_second_computation(
    plain: SimpleNamespace, seed: bytes, label: str, bounds: list[int]
) -> None:
    draws = RecordedDraws(GAME, Secret(seed))
    again = plain.Drawer(GAME, seed, label)
    assert [draws.below(label, n) for n in bounds] == [again.below(n) for n in bounds]


@given(seeds, labels, st.integers(0, 120), st.data())
def test_shuffle_and_sample_agree_with_a_second_computation(
    plain: SimpleNamespace, seed: bytes, label: str, size: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, size))
    items = [f"card-{i}" for i in range(size)]
    draws = RecordedDraws(GAME, Secret(seed))
    again = plain.Drawer(GAME, seed, label)
    assert draws.shuffle(label, items) == again.shuffle(items)
    assert draws.sample(label, items, k) == again.sample(items, k)


@given(seeds, st.integers(0, 200))
def test_a_shuffle_is_a_permutation_and_its_record_says_which(seed: bytes, size: int) -> None:
    items = [f"card-{i}" for i in range(size)]
    draws = RecordedDraws(GAME, Secret(seed))
    shuffled = draws.shuffle("deck", items)
    assert sorted(shuffled) == sorted(items)
    [taken] = draws.taken
    assert (taken.kind, taken.bound) == (match_pb2.DRAW_KIND_SHUFFLE, size)
    assert [items[i] for i in taken.results] == shuffled


@given(seeds, st.integers(0, 60), st.data())
def test_a_sample_has_no_repeats_and_is_recorded(seed: bytes, size: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, size))
    draws = RecordedDraws(GAME, Secret(seed))
    sampled = draws.sample("hand", range(size), k)
    assert len(set(sampled)) == len(sampled) == k
    assert draws.taken == [match_pb2.Draw(label="hand", kind=match_pb2.DRAW_KIND_SAMPLE, bound=size, results=sampled)]


@given(seeds, st.integers(1, MAX_BOUND))
def test_below_stays_below(seed: bytes, n: int) -> None:
    draws = RecordedDraws(GAME, Secret(seed))
    assert 0 <= draws.below("x", n) < n
    assert draws.taken[0].bound == n


class _Chosen(Stream):
    """A stream of words chosen by the test: words that must be passed over are too rare to wait for."""

    __slots__ = ("chosen",)

    def word(self) -> int:
        return self.chosen.pop(0)


@pytest.mark.parametrize("n", [3, 6, 102, 1_000_003, MAX_BOUND - 1])
def test_words_beyond_the_last_whole_multiple_are_passed_over(n: int) -> None:
    limit = (2**64 // n) * n
    stream = _Chosen(GAME, Secret(bytes(32)), "x")
    stream.chosen = [2**64 - 1, limit, limit - 1]
    assert stream.below(n) == n - 1
    assert stream.chosen == []


@pytest.mark.parametrize("n", [1, 2, 2**31, MAX_BOUND])
def test_powers_of_two_pass_no_word_over(n: int) -> None:
    stream = _Chosen(GAME, Secret(bytes(32)), "x")
    stream.chosen = [2**64 - 1]
    assert stream.below(n) == n - 1


def test_draws_are_uniform() -> None:
    """Chi-squared over 6 values and over 24 orders; the seeds are fixed, so the outcome is too."""
    joint = Secret(bytes(range(32)))
    stream = Stream(GAME, joint, "dice")
    faces = Counter(stream.below(6) for _ in range(12_000))
    assert sum((faces[f] - 2000) ** 2 / 2000 for f in range(6)) < 20.5  # p = 0.001 at 5 degrees of freedom
    orders = Counter(tuple(stream.shuffle(4)) for _ in range(12_000))
    assert len(orders) == 24
    assert sum((count - 500) ** 2 / 500 for count in orders.values()) < 49.7  # p = 0.001 at 23


def test_labels_have_streams_of_their_own() -> None:
    joint = Secret(bytes(32))
    first, second = Stream(GAME, joint, "a"), Stream(GAME, joint, "b")
    other_game = Stream("other", joint, "a")
    assert len({first.word(), second.word(), other_game.word()}) == 3


@pytest.mark.parametrize("label", ["", "A", "a b", "ä", "a\n", "x" * 65, "a:b"])
def test_labels_outside_the_character_set_are_refused(label: str) -> None:
    with pytest.raises(ValueError, match="label"):
        RecordedDraws(GAME, Secret(bytes(32))).below(label, 2)
    with pytest.raises(ValueError, match="label"):
        ForcedDraws({label: [0]}, RecordedDraws(GAME, Secret(bytes(32))))


@pytest.mark.parametrize("n", [0, -1, MAX_BOUND + 1])
def test_bounds_outside_the_range_are_refused_and_nothing_is_recorded(n: int) -> None:
    draws = RecordedDraws(GAME, Secret(bytes(32)))
    with pytest.raises(ValueError, match="2\\*\\*32"):
        draws.below("x", n)
    assert draws.taken == []


def test_more_cannot_be_sampled_than_there_is() -> None:
    draws = RecordedDraws(GAME, Secret(bytes(32)))
    with pytest.raises(ValueError, match="cannot sample"):
        draws.sample("x", range(3), 4)
    with pytest.raises(ValueError, match="2\\*\\*32"):
        draws.choice("x", [])


def test_a_sample_of_many_costs_only_what_it_draws() -> None:
    assert len(Stream(GAME, Secret(bytes(32)), "x").sample(MAX_BOUND, 5)) == 5


def test_going_back_gives_the_same_words_again() -> None:
    stream = Stream(GAME, Secret(bytes(32)), "x")
    stream.word()
    at = stream.position
    ahead = [stream.word() for _ in range(9)]
    stream.go_to(at)
    assert [stream.word() for _ in range(9)] == ahead


def _recorded() -> RecordedDraws:
    return RecordedDraws(GAME, Secret(bytes(32)))


def test_both_kinds_are_draws() -> None:
    kinds: list[Draws] = [_recorded(), ForcedDraws({}, _recorded())]
    assert [kind.coin("x") for kind in kinds] == [_recorded().below("x", 2)] * 2


def test_forced_numbers_come_one_an_ask_then_the_stream_begins() -> None:
    draws = ForcedDraws({"x": [5, 0]}, _recorded())
    assert [draws.below("x", 6), draws.below("x", 6), draws.below("x", 6)] == [5, 0, _recorded().below("x", 6)]
    assert [(d.label, list(d.results)) for d in draws.taken][:2] == [("x", [5]), ("x", [0])]
    assert len(draws.taken) == 3


def test_a_forced_order_may_be_whole_or_a_beginning() -> None:
    draws = ForcedDraws({"deck": [2, 0, 1], "short": [3]}, _recorded())
    assert draws.shuffle("deck", "abc") == ["c", "a", "b"]
    assert draws.shuffle("short", "abcd") == ["d", "a", "b", "c"]
    assert [list(d.results) for d in draws.taken] == [[2, 0, 1], [3, 0, 1, 2]]


def test_a_forced_sample_is_filled_up_in_order() -> None:
    draws = ForcedDraws({"s": [4, 1]}, _recorded())
    assert draws.sample("s", "abcde", 3) == ["e", "b", "a"]
    assert [d.kind for d in draws.taken] == [match_pb2.DRAW_KIND_SAMPLE]


def test_recorded_results_force_the_same_draws_again() -> None:
    """What an audit of an analysis match does: several asks of one label follow each other."""
    first = _recorded()
    drawn = [first.shuffle("x", "abcd"), first.shuffle("x", "abc"), first.sample("y", "abcde", 2), [first.coin("z")]]
    forced: dict[str, list[int]] = {}
    for taken in first.taken:
        forced.setdefault(taken.label, []).extend(taken.results)
    again = ForcedDraws(forced, RecordedDraws(GAME, Secret(bytes([1]) * 32)))
    assert [
        again.shuffle("x", "abcd"),
        again.shuffle("x", "abc"),
        again.sample("y", "abcde", 2),
        [again.coin("z")],
    ] == drawn
    assert again.taken == first.taken


@pytest.mark.parametrize(
    ("forced", "ask"),
    [
        ({"x": [6]}, lambda d: d.below("x", 6)),
        ({"x": [-1]}, lambda d: d.choice("x", "ab")),
        ({"x": [0, 0]}, lambda d: d.shuffle("x", "abc")),
        ({"x": [3]}, lambda d: d.shuffle("x", "abc")),
        ({"x": [1, 9]}, lambda d: d.sample("x", "abc", 2)),
    ],
)
def test_impossible_forced_results_are_refused(forced: dict[str, list[int]], ask: object) -> None:
    draws = ForcedDraws(forced, _recorded())
    with pytest.raises(ForcedDrawError, match=r"^x: "):
        ask(draws)
    assert draws.taken == []

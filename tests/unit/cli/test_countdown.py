"""The clock: digits, share, and when it is low."""

from __future__ import annotations

import pytest

from grimoire.cli.screens.countdown import countdown, duration
from grimoire.cli.screens.prompt_bar import clock_content
from grimoire.cli.screens.words import Words
from grimoire.v1 import prompt_pb2


def prompt(limit_s: int) -> prompt_pb2.Prompt:
    return prompt_pb2.Prompt(deadline_ms=1_000_000, limit_ms=limit_s * 1000)


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (0, "0:00.0"),
        (950, "0:00.9"),
        (9_999, "0:09.9"),
        (10_000, "0:10"),
        (61_999, "1:01"),
        (3_600_000, "1:00:00"),
        (86_400_000, "1 d 0:00"),
        (2 * 86_400_000 + 3_660_000, "2 d 1:01"),
    ],
)
def test_digits(ms: int, shown: str) -> None:
    assert duration(ms) == shown


@pytest.mark.parametrize(
    ("limit_s", "left_s", "low"),
    [
        (60, 60, False),
        (60, 13, False),
        (60, 12, True),
        (10, 2.5, False),
        (10, 2, True),
        (3600, 16, False),
        (3600, 15, True),
    ],
)
def test_low_is_a_fifth_of_the_time_and_at_most_fifteen_seconds(limit_s: int, left_s: float, low: bool) -> None:
    clock = countdown(prompt(limit_s), int(1_000_000 - left_s * 1000))
    assert clock is not None
    assert clock.low is low


def test_it_never_runs_below_nothing_nor_above_the_limit() -> None:
    late, early = countdown(prompt(60), 2_000_000), countdown(prompt(60), 0)
    assert late is not None
    assert early is not None
    assert (late.left_ms, late.share) == (0, 0.0)
    assert early.share == 1.0


def test_a_prompt_without_a_deadline_has_no_clock() -> None:
    assert countdown(prompt_pb2.Prompt(), 5) is None


@pytest.mark.parametrize(("language", "word"), [("en", "low!"), ("fi", "vähissä!")])
def test_low_time_is_a_word_not_only_a_colour(language: str, word: str) -> None:
    low, enough = (countdown(prompt(60), now) for now in (995_000, 950_000))
    assert word in clock_content(low, Words(language)).plain
    assert word not in clock_content(enough, Words(language)).plain


def test_the_bar_runs_empty() -> None:
    bars = [
        clock_content(countdown(prompt(60), 1_000_000 - s * 1000), Words("en")).plain.count("━") for s in (60, 30, 0)
    ]
    assert bars == [8, 4, 0]

"""Positions to play from: what is judged, what is refused, and that a match really begins with what was arranged."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.engine import Illegal
from grimoire.match.branch import MAX_POSITION_BYTES, Arranged, arrange, position_at
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2
from tests.support.toy import PLUGIN as TOY

TWO_TOWERS = load_game("two_towers")


def played() -> Table:
    """A whole match of Two Towers."""
    table = Table(TWO_TOWERS.game, match_id="branch", seats=2)
    table.begin()
    while table.expire_next() is not None:
        pass
    assert table.running.over
    return table


def test_every_version_of_a_match_can_be_played_on_from_or_says_why_not() -> None:
    table = played()
    state, refused, positions = None, [], []
    for entry in table.entries:
        state = table.referee.fold(state, entry.header, entry.public, dict(entry.parts), entry.hash)
        answer = position_at(TWO_TOWERS, state)
        if isinstance(answer, Illegal):
            assert (answer.code, answer.field) == ("no_position", "version")
            refused.append(state.version)
        else:
            judged = arrange(TWO_TOWERS, answer, {}, 2)
            assert isinstance(judged, Arranged), judged
            positions.append(answer)
    assert refused == [1, 2, 3, 4, len(table.entries)], "before the deal, and after the end"
    assert len(set(positions)) == len(positions)
    again = Table(
        TWO_TOWERS.game,
        match_id="again",
        seats=2,
        mode=match_pb2.MATCH_MODE_ANALYSIS,
        position=positions[2],
    )
    again.begin()
    assert position_at(TWO_TOWERS, again.running) == positions[2]


def test_a_game_may_refuse_a_state_in_its_own_words() -> None:
    table = Table(TOY.game, match_id="toy", seats=2)
    table.begin()
    first = position_at(TOY, table.running)
    assert isinstance(first, bytes)
    assert isinstance(arrange(TOY, first, {}, 2), Arranged)
    table.expire_next()
    refused = position_at(TOY, table.running)
    assert isinstance(refused, Illegal)
    assert (refused.code, refused.message[:6]) == ("bad_position", "Beacon")


def test_positions_as_people_write_them() -> None:
    judged = arrange(TWO_TOWERS, json.dumps({"0": {"mana": 7, "hand": ["ruby"]}}), {"turn_time_s": "600"}, 0)
    assert isinstance(judged, Arranged)
    assert dict(judged.options)["turn_time_s"] == "600"
    assert "ruby" not in repr(judged), "a position holds hidden cards"
    assert judged.position


@pytest.mark.parametrize(
    ("position", "options", "code"),
    [
        ("", {}, "bad_position"),
        (b"", {}, "bad_position"),
        ("[1]", {}, "bad_position"),
        ("{", {}, "bad_position"),
        ('{"turn": "soon"}', {}, "bad_position"),
        ('{"seats": {"0": {"hand": ["nothing"]}}}', {}, "bad_position"),
        ("{}", {"deck_type": "marked"}, "bad_option"),
        (b"\xff\xff", {}, "bad_position"),
        (b"x" * (MAX_POSITION_BYTES + 1), {}, "bad_position"),
        ('{"a":' * 5000 + "1" + "}" * 5000, {}, "bad_position"),
    ],
)
def test_what_cannot_be_played_is_refused(position: str | bytes, options: dict[str, str], code: str) -> None:
    answer = arrange(TWO_TOWERS, position, options, 0)
    assert isinstance(answer, Illegal)
    assert answer.code == code
    assert answer.message


def test_a_position_must_fit_the_options() -> None:
    judged = arrange(TWO_TOWERS, "{}", {"deck_type": "endless"}, 0)
    assert isinstance(judged, Arranged)
    answer = arrange(TWO_TOWERS, judged.position, {"deck_type": "standard"}, 0)
    assert isinstance(answer, Illegal)
    assert answer.code == "bad_position"


@settings(max_examples=40)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_whatever_is_sent_is_judged(value: object) -> None:
    for plan in (
        value,
        {"seats": value},
        {"seats": {"0": value}},
        {"pile": value},
        {"0": {"hand": value}},
        {"turn": value},
    ):
        assert isinstance(arrange(TWO_TOWERS, json.dumps(plan), {}, 0), Arranged | Illegal)


@given(st.binary(max_size=200))
def test_whatever_bytes_are_sent_are_judged(value: bytes) -> None:
    assert isinstance(arrange(TWO_TOWERS, value, {}, 0), Arranged | Illegal)

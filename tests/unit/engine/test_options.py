"""Options of a challenge are judged the same way for every game."""

from __future__ import annotations

import pytest

from grimoire.engine import Illegal
from grimoire.engine.options import Choice, Range, choose_options, defaults_of

KNOWN = {"rounds": Range(3, 1, 9), "mode": Choice("duel", ("duel", "team"))}


def test_defaults_are_filled_in_in_the_rules_order() -> None:
    assert defaults_of(KNOWN) == {"rounds": "3", "mode": "duel"}
    assert choose_options({"mode": "team"}, KNOWN, "XX-1") == (("rounds", "3"), ("mode", "team"))
    assert choose_options({"rounds": "07"}, KNOWN, "XX-1") == (("rounds", "7"), ("mode", "duel"))


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("rounds", "0", "1..9"),
        ("rounds", "10", "1..9"),
        ("rounds", "three", "1..9"),
        ("rounds", "1.5", "1..9"),
        ("mode", "solo", "duel, team"),
        ("pace", "fast", "rounds, mode"),
    ],
)
def test_what_is_wrong_is_named(name: str, value: str, allowed: str) -> None:
    refused = choose_options({name: value}, KNOWN, "XX-1")
    assert isinstance(refused, Illegal)
    assert (refused.code, refused.rule, refused.field) == ("bad_option", "XX-1", name)
    assert dict(refused.arguments) == {"name": name, "value": value, "allowed": allowed}


def test_a_senders_text_comes_back_short() -> None:
    refused = choose_options({"mode": "x" * 500}, KNOWN, "XX-1")
    assert isinstance(refused, Illegal)
    assert len(refused.message) < 120
    assert len(dict(refused.arguments)["value"]) == 40

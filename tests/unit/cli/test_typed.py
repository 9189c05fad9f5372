"""Words in place of choosing."""

from __future__ import annotations

import pytest

from grimoire.cli.screens.composer import Draft, Offer
from grimoire.cli.screens.typed import meant
from grimoire.cli.screens.wording import Wording
from grimoire.engine import Seat, Viewer
from grimoire.match import frames
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2
from tests.support.feed import table_of

PLUGIN = load_game("two_towers")
WORDINGS = [Wording(PLUGIN, "en"), Wording(PLUGIN, "fi")]


@pytest.fixture(scope="module")
def offers() -> tuple[Offer, ...]:
    """Orc, Ruby, Prism, Dragon's Eye and Dragon's Heart can be played and discarded; Gnome twice."""
    hand = ["ruby", "orc", "prism", "dragons_eye", "gnome", "gnome"]
    rich = {"ore": 30, "mana": 30, "recruits": 30}
    event = PLUGIN.positions.parse({"seats": {0: {"hand": hand, **rich}, 1: {}}}, {"deck_type": "endless"})
    table = table_of(
        PLUGIN.game,
        {"deck_type": "endless"},
        position=event.SerializeToString(),
        mode=match_pb2.MATCH_MODE_ANALYSIS,
    )
    return Draft.of(frames.prompts_for(table.referee, table.running, Viewer.of_seat(Seat(0)))).offers


def labels(text: str, offers: tuple[Offer, ...]) -> list[str]:
    return [WORDINGS[0].entry(offer.entry) for offer in meant(text, offers, WORDINGS)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", ["Play Ruby"]),
        ("12", ["Discard Gnome"]),
        ("play ruby", ["Play Ruby"]),
        ("PLAY RUB", ["Play Ruby"]),
        ("ruby play", ["Play Ruby"]),
        ("discard orc", ["Discard Orc"]),
        ("d orc", ["Discard Orc"]),
        ("pelaa rubiini", ["Play Ruby"]),
        ("hylkää örkki", ["Discard Orc"]),
        ("play dragons_eye", ["Play Dragon's Eye"]),
        ("play dragon", ["Play Dragon's Eye"]),
        ("play gnome", ["Play Gnome"]),
        ("prism", ["Play Prism", "Discard Prism"]),
        ("play the moon", []),
        ("13", []),
        ("0", []),
        ("", []),
        ("  ", []),
        ("!?", []),
    ],
)
def test_what_is_meant(text: str, expected: list[str], offers: tuple[Offer, ...]) -> None:
    assert labels(text, offers) == expected


def test_every_offer_can_be_named_by_its_label(offers: tuple[Offer, ...]) -> None:
    for wording in WORDINGS:
        for offer in offers:
            found = meant(wording.entry(offer.entry), offers, WORDINGS)
            assert [(o.type, wording.entry(o.entry)) for o in found] == [(offer.type, wording.entry(offer.entry))]

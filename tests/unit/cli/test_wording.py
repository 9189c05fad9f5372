"""Things, arguments and labels as people read them."""

from __future__ import annotations

from grimoire.cli.screens.wording import Wording
from grimoire.plugins import load_game
from grimoire.v1 import envelope_pb2, prompt_pb2


def label(key: str, **arguments: str) -> prompt_pb2.LegalEntry:
    named = [envelope_pb2.Argument(name=name, value=value) for name, value in arguments.items()]
    return prompt_pb2.LegalEntry(type=key, label=prompt_pb2.Label(key=key, arguments=named))


def test_things_are_named_whatever_their_field_is_called() -> None:
    wording = Wording(load_game("wizards_garden"), "fi")
    assert wording.thing("card:spirit_fire_01") == "Tulen henki"
    assert wording.thing("discard:spirit_fire_01") == "Tulen henki"
    assert wording.thing("gnome:red_gnome_02") == "punainen tonttu 2"
    assert wording.thing("pile:deck") == "pakka"
    assert wording.thing("space:c4") == "c4"


def test_a_label_says_where_things_stand() -> None:
    wording = Wording(load_game("wizards_garden"), "en")
    assert wording.entry(label("move_gnome_at", gnome="blue_gnome_04", at="c2")) == "Move blue gnome 4 from c2"
    eye = label("cast_eye_at", a="spirit_fire_01", where="open_row")
    assert wording.entry(eye) == "Eye: exchange Spirit of fire (open row)"


def test_words_that_people_send_themselves_are_left_alone() -> None:
    wording = Wording(load_game("two_towers"), "fi")
    assert wording.entry(label("play_card", card="standard")) == "Pelaa standard"

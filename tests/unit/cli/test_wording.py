"""Things, arguments and labels as people read them."""

from __future__ import annotations

from grimoire.cli.screens.catalogue_dialog import entries
from grimoire.cli.screens.standing import standing_offers
from grimoire.cli.screens.wording import Wording
from grimoire.games.spellbound.v1 import spellbound_pb2
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


def test_a_bare_number_is_named_by_its_own_field_only() -> None:
    wording = Wording(load_game("spellbound"), "en")
    assert wording.thing("mage:1") == "mage B"
    assert wording.thing("level:1") == "wand 1"


def test_what_a_game_lets_one_set_at_any_time() -> None:
    offers = standing_offers(Wording(load_game("spellbound"), "fi"))
    labels = [Wording(load_game("spellbound"), "fi").entry(offer.entry) for offer in offers]
    assert labels == ["Kysy tarvittaessa", "Kysy aina", "Älä kysy"]
    policies = [spellbound_pb2.SetReactionPolicy.FromString(offer.entry.payload).policy for offer in offers]
    assert policies == ["when_it_matters", "always", "never"]
    assert standing_offers(Wording(load_game("two_towers"), "en")) == ()


def test_of_things_that_are_alike_one_is_told() -> None:
    wording = Wording(load_game("spellbound"), "en")
    told = [entry.plain.split("  ")[0] for entry in entries(wording.manifest.catalogues[0], wording, "pixies")]
    assert told == ["Pixies"]
    witches = [entry.plain.split("  ")[0] for entry in entries(wording.manifest.catalogues[0], wording, "witch red")]
    assert witches == ["Witch (red)", "Witch (red, 2 moon)"]


def test_a_yes_or_no_says_to_what() -> None:
    wording = Wording(load_game("broom_service"), "en")
    assert wording.options([("board", "back"), ("storm_clouds", "true"), ("hill_tiles", "false")]) == [
        "⬡ Back of the board",
        "✓ Storm clouds: yes",
        "✗ Hill tiles: no",
    ]

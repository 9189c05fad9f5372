"""TT-14: English and Finnish, the manifest, sentences, marks, the picture in text."""

from __future__ import annotations

import random
import re
import string

import pytest

from grimoire.engine import ALL, PUBLIC, Actor, MatchFacts, Viewer
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import manifest_pb2 as mf
from tests.two_towers.table import GAME, Table, random_joint
from two_towers.cards import CARDS
from two_towers.fields import FIELDS
from two_towers.short import short_text
from two_towers.terminal import TwoTowersTerminal
from two_towers.text import TwoTowersTexts
from two_towers.words import LANGUAGES, WORDS, words_in

TEXTS = TwoTowersTexts()
NAMES = {0: "Mira", 1: "Otso"}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_say_the_same_things() -> None:
    for table in ("events", "prompts", "commands", "refs", "rejections", "reasons", "ladder", "terms", "options"):
        english, finnish = (getattr(WORDS[language], table) for language in LANGUAGES)
        assert english.keys() == finnish.keys()
        for key in english:
            assert placeholders(english[key]) == placeholders(finnish[key]), key
    for table in ("short", "terminal", "marks", "bots", "clauses"):
        english, finnish = (getattr(WORDS[language], table) for language in LANGUAGES)
        assert english.keys() == finnish.keys()


def test_terms_of_the_rules() -> None:
    finnish = words_in("fi").terms
    for term, word in {
        "tower": "torni",
        "wall": "muuri",
        "mine": "kaivos",
        "monastery": "luostari",
        "ore": "malmi",
        "mana": "mana",
        "recruits": "joukot",
        "hand": "käsi",
        "draw_pile": "pakka",
        "discard_pile": "hylätyt",
        "play": "pelaa",
        "discard": "hylkää",
        "act_again": "pelaa uudelleen",
        "turn": "vuoro",
        "challenge": "haaste",
        "battlefield": "taistelukenttä",
        "tower_goal": "voittotorni",
        "resource_goal": "voittoresurssi",
        "standard": "tavallinen pakka",
        "endless": "loputon pakka",
        "deal_digest": "jaon tiiviste",
        "seed": "siemen",
    }.items():
        assert finnish[term] == word
    assert {*FIELDS} <= finnish.keys()


def test_clauses_cover_the_rules() -> None:
    clauses = {c.rule: c for c in TEXTS.manifest("en").clauses}
    assert {f"TT-{n}" for n in range(1, 15)} <= clauses.keys()
    assert all(c.title and c.text.endswith(".") for c in clauses.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_manifest(language: str) -> None:
    manifest = TEXTS.manifest(language)
    assert (manifest.game, manifest.language, len(manifest.digest)) == ("two_towers", language, 32)
    assert (manifest.min_seats, manifest.max_seats, [*manifest.languages]) == (2, 2, ["en", "fi"])
    cards, battlefields = manifest.catalogues
    assert [item.id for item in cards.items] == [*CARDS]
    assert all(item.name and item.text and item.short_text and item.facts and item.rules for item in cards.items)
    assert len(battlefields.items) == 8
    assert [level.level for level in manifest.bot_levels] == ["random", "heuristic", "searching"]
    rejections = [t for t in manifest.templates if t.kind == mf.TEMPLATE_KIND_REJECTION]
    assert all(t.rule for t in rejections)
    known = {clause.rule for clause in manifest.clauses}
    assert {rule for catalogue in manifest.catalogues for item in catalogue.items for rule in item.rules} <= known


def test_manifest_options_are_those_of_configure() -> None:
    manifest = TEXTS.manifest("en")
    facts = GAME.configure({}, 2)
    assert [(o.name, o.default) for o in manifest.options] == [*facts.options]  # type: ignore[union-attr]
    for option in manifest.options:
        for item in option.choices:
            assert item.label
            assert GAME.configure({option.name: item.value}, 2).__class__.__name__ == "MatchFacts"
        if option.type == mf.OPTION_TYPE_INTEGER:
            for value in (option.min, option.max):
                assert GAME.configure({option.name: str(value)}, 2).__class__.__name__ == "MatchFacts"
    (deck,) = [o for o in manifest.options if o.name == "deck_type"]
    assert [(c.icon, c.label) for c in deck.choices] == [("▤", "Standard deck"), ("∞", "Endless deck")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_presets_are_options_that_hold(language: str) -> None:
    presets = TEXTS.manifest(language).presets
    assert [preset.preset for preset in presets] == ["normal", "short", "days"]
    for preset in presets:
        assert preset.name
        chosen = {option.name: option.value for option in preset.options}
        assert isinstance(GAME.configure(chosen, 2), MatchFacts)


def test_the_digest_tells_manifests_apart() -> None:
    digests = {TEXTS.manifest(language).digest for language in LANGUAGES}
    assert len(digests) == 2
    spoilt = TEXTS.manifest("en")
    spoilt.name = "?"
    assert TEXTS.manifest("en").name == "Two Towers"
    assert TEXTS.manifest("el").digest == TEXTS.manifest("en").digest


SENTENCES = [
    (pb.CardPlayed(seat=0, slot=1, card="ruby", cost=3, resource="mana"), "Mira plays Ruby for 3 mana."),
    (
        pb.EffectsApplied(
            seat=0,
            card="ogre",
            changes=[
                pb.Change(seat=1, field="wall", delta=-3, value=0),
                pb.Change(seat=1, field="tower", delta=-4, value=6),
            ],
        ),
        "Otso: wall −3, now 0; Otso: tower −4, now 6.",
    ),
    (pb.CardDiscarded(seat=1, card="orc", cause="chosen"), "Otso discards Orc."),
    (pb.CardDiscarded(seat=1, card="orc", cause="timeout"), "The clock discards Orc for Otso."),
    (pb.CardDrawn(seat=1, slot=2, cause="refill"), "Otso draws a card."),
    (pb.CardDrawn(seat=1, slot=2, cause="refill", card="imp"), "Otso draws Imp."),
    (pb.HandDealt(seat=1), "Otso is dealt six cards."),
    (pb.TurnTimedOut(seat=0, turn_no=3, consecutive=2), "Mira ran out of time, 2 in a row."),
    (
        pb.MatchEnded(outcome="win", winner=0, reasons=["tower_destroyed"], ladder_step="wall"),
        "Mira wins by the higher wall: a tower fell.",
    ),
    (pb.MatchEnded(outcome="draw", reasons=["turn_limit"]), "The match is drawn: the last turn has ended."),
    (pb.TurnEnded(turn_no=1), ""),
    (pb.PileOrdered(), ""),
]


@pytest.mark.parametrize(("event", "sentence"), SENTENCES)
def test_sentence(event: object, sentence: str) -> None:
    assert TEXTS.say_event(event, "en", NAMES) == sentence  # type: ignore[arg-type]


def test_a_seat_without_a_name() -> None:
    assert TEXTS.say_event(pb.CardDrawn(seat=1), "en", {}) == "Seat 1 draws a card."
    assert TEXTS.say_event(pb.CardDrawn(seat=1), "fi", {}) == "Paikka 1 nostaa kortin."


@pytest.mark.parametrize("language", LANGUAGES)
def test_whole_matches_can_be_told_and_drawn(language: str) -> None:
    templates = {t.key for t in TEXTS.manifest(language).templates}
    terminal = TwoTowersTerminal()
    for deck_type in ("standard", "endless"):
        rng = random.Random(deck_type)
        table = Table.dealt(random_joint(7), deck_type=deck_type)
        while table.state.result is None:
            entry = rng.choice(GAME.legal(table.state, table.prompt.seat, table.prompt))
            command = GAME.schema.command(entry.type, entry.fixed)
            table.accept(Actor.of_seat(table.prompt.seat), command, table.prompt)
            for viewer in (Viewer.of_seat(0), PUBLIC, ALL):
                lines = terminal.render(table.view(viewer), language, NAMES, 60)
                assert all(len(line) <= 60 for line in lines)
                assert not re.search(r"[{}]", "".join(lines))
        for event in table.history:
            sentence = TEXTS.say_event(event, language, NAMES)
            assert bool(sentence) != isinstance(event, pb.TurnEnded | pb.PileOrdered)
            assert not re.search(r"[{}]", sentence)
            mark = TEXTS.mark(event)
            assert mark is None or mark.label in templates
        assert sum(TEXTS.mark(e) is not None for e in table.history) >= table.state.turn_no


def test_the_picture() -> None:
    table = Table.arranged(
        {0: {"tower": 50, "wall": 5}, 1: {"tower": 1, "wall": 80}, "goal_tower": 50, "at": "decision"}
    )
    lines = TwoTowersTerminal().render(table.view(Viewer.of_seat(1)), "en", NAMES, 80)
    picture = [line for line in lines if "█" in line or "▒" in line or "▲▲" in line]
    assert len(picture) == 10
    # Seat 1 looks: its own low tower stands left, its wall beyond the scale; the full tower of seat 0 right.
    assert sum(line.lstrip().startswith("███████") for line in picture if line.startswith("  █")) == 1
    assert picture[0].startswith("           ▲▲▲▲")
    assert all(line.endswith("███████") for line in picture)
    assert any(line == "▲ Otso: tower 1, wall 80, hand 6, missed turns 0 of 3" for line in lines)


def test_the_terminal_shows_a_hand_only_where_the_view_does() -> None:
    table = Table.arranged({0: {"hand": ["minotaur"]}, 1: {"hand": ["vampire"]}})
    terminal = TwoTowersTerminal()
    seat, public, everything = (
        "\n".join(terminal.render(table.view(viewer), "en", NAMES, 100)) for viewer in (Viewer.of_seat(0), PUBLIC, ALL)
    )
    assert ("Minotaur" in seat, "Vampire" in seat) == (True, False)
    assert ("Minotaur" in public, "Vampire" in public) == (False, False)
    assert "Minotaur" in everything
    assert "Vampire" in everything


def test_another_games_view_is_refused() -> None:
    with pytest.raises(TypeError, match="no view of Two Towers"):
        TwoTowersTerminal().render(pb.PlayCard(), "en", NAMES, 80)


SHORT = {
    "dragons_heart": "wall +20 · tower +8",
    "gem_spear": "enemy tower −5",
    "berserker": "damage 8 · tower −3",
    "tremors": "both: wall −5 · act again",
    "imp": "damage 6 · both: ore, mana, recruits −5",
    "flood_water": "whose wall is lower: barracks −1 · tower −2",
    "foundations": "no wall: wall +5, else +3",
    "elven_archers": "higher wall: enemy tower −6, else damage 6",
    "lightning_shard": "tower > enemy wall: enemy tower −8, else both: damage 8",
    "thief": "steal half of 10 mana, 5 ore",
    "prism": "draw 1, discard 1 · act again",
    "parity": "both: monasteries up to the higher",
    "shift": "walls swap",
}


@pytest.mark.parametrize("card", SHORT)
def test_short_text(card: str) -> None:
    assert short_text(card, "en") == SHORT[card]


def test_short_texts_are_short() -> None:
    for language in LANGUAGES:
        assert all(0 < len(short_text(card, language)) <= 64 for card in CARDS)

"""WG-21: English and Finnish, the manifest, a sentence for everything, marks, the yard in plain text."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from google.protobuf.message import Message

from grimoire.cli.screens.slots import things
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import Words
from grimoire.engine import ALL, PUBLIC, Illegal, MatchFacts, Prompt, Viewer
from grimoire.games.two_towers.v1 import two_towers_pb2
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.match.frames import travelling
from grimoire.plugins import load_game
from grimoire.v1 import manifest_pb2 as mf
from grimoire.v1 import prompt_pb2
from tests.wizards_garden.lively import GAME, asked, draws, lively_match, setup_of
from wizards_garden.catalogue import DATA
from wizards_garden.pieces import CARDS, KINDS, PIECES, SPELLS
from wizards_garden.positions import WizardsGardenPositions
from wizards_garden.rejections import CODES
from wizards_garden.state import Stage, State
from wizards_garden.terminal import WizardsGardenTerminal
from wizards_garden.text import WizardsGardenTexts
from wizards_garden.words import LANGUAGES, WORDS, words_in

TEXTS = WizardsGardenTexts()
NAMES = {0: "Mira", 1: "Otso"}
RAW = re.compile(r"[{}?]|\w_\w|\w:\w")
"""What no text for people holds: a place that was not filled, an unknown argument, an id, a ref."""

both = pytest.mark.parametrize("language", LANGUAGES)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def arranged(position: Mapping[str, object], spells: int = 3) -> State:
    options = {"spells_per_player": str(spells)}
    event = WizardsGardenPositions().parse(position, options)
    start = GAME.start(setup_of(options, event.SerializeToString()), draws(0))
    assert not isinstance(start, Illegal)
    return start.state


# ---- the words themselves --------------------------------------------------------------------------------------------


def test_both_languages_say_the_same_things() -> None:
    for table in ("events", "prompts", "commands", "refs", "rejections", "reasons", "terms", "options", "pieces"):
        english, finnish = (getattr(WORDS[language], table) for language in LANGUAGES)
        assert english.keys() == finnish.keys()
        for key in english:
            assert placeholders(english[key]) == placeholders(finnish[key]), key
    for table in ("terminal", "marks", "bots", "clauses", "presets"):
        english, finnish = (getattr(WORDS[language], table) for language in LANGUAGES)
        assert english.keys() == finnish.keys()


@both
def test_terms_of_the_data_are_used_as_they_are(language: str) -> None:
    words = words_in(language)
    for key, term in DATA.terms.items():
        # The state of that name is the attack phase.
        wanted = DATA.terms["attack_phase"] if key == "attack" else term
        assert words.terms[key].casefold() == wanted.in_language(language).casefold()
    for kind in DATA.kinds:
        assert kind.lantern_name.in_language(language).casefold() == words.events[f"name.{kind.id}"]
        assert kind.action_name.in_language(language).casefold() == words.events[f"action.{kind.id}.1"]


def test_clauses_cover_the_rules() -> None:
    clauses = {c.rule: c for c in TEXTS.manifest("en").clauses}
    assert {f"WG-{n}" for n in range(1, 22)} <= clauses.keys()
    assert {f"WG-13.{n}" for n in range(1, 13)} <= clauses.keys()
    assert all(c.title and c.text.endswith(".") for c in clauses.values())


# ---- the manifest ----------------------------------------------------------------------------------------------------


@both
def test_manifest(language: str) -> None:
    manifest = TEXTS.manifest(language)
    assert (manifest.game, manifest.language, len(manifest.digest)) == ("wizards_garden", language, 32)
    assert (manifest.min_seats, manifest.max_seats, [*manifest.languages]) == (2, 2, ["en", "fi"])
    assert manifest.name == DATA.name.in_language(language)
    spells, kinds, cards, pieces = manifest.catalogues
    assert [item.id for item in spells.items] == [*SPELLS]
    assert all(item.name and item.text and item.short_text and item.rules for item in spells.items)
    assert [item.id for item in kinds.items] == [*KINDS]
    assert [item.id for item in cards.items] == [*CARDS]
    assert [item.id for item in pieces.items] == [*PIECES]
    assert len({item.name for item in pieces.items}) == len(PIECES)
    known = {clause.rule for clause in manifest.clauses}
    assert {rule for catalogue in manifest.catalogues for item in catalogue.items for rule in item.rules} <= known


def test_spells_are_told_as_the_data_tells_them() -> None:
    for language in LANGUAGES:
        for item, spell in zip(TEXTS.manifest(language).catalogues[0].items, DATA.spells, strict=True):
            assert (item.name, item.text) == (spell.name.in_language(language), spell.text.in_language(language))


def test_every_code_has_a_sentence_and_a_rule_that_is_told() -> None:
    manifest = TEXTS.manifest("fi")
    rejections = {t.key: t.rule for t in manifest.templates if t.kind == mf.TEMPLATE_KIND_REJECTION}
    assert rejections.keys() == {*CODES, "bad_option", "bad_position"}
    assert {*rejections.values()} <= {clause.rule for clause in manifest.clauses}


def test_manifest_options_are_those_of_configure() -> None:
    manifest = TEXTS.manifest("en")
    facts = GAME.configure({}, 2)
    assert [(o.name, o.default) for o in manifest.options] == [*facts.options]  # type: ignore[union-attr]
    for option in manifest.options:
        assert option.label
        assert option.icon
        values = [item.value for item in option.choices] or [str(option.min), str(option.max)]
        assert all(item.label for item in option.choices)
        assert all(isinstance(GAME.configure({option.name: value}, 2), MatchFacts) for value in values)


@both
def test_presets_are_options_that_hold(language: str) -> None:
    for preset in TEXTS.manifest(language).presets:
        assert preset.name
        assert isinstance(GAME.configure({option.name: option.value for option in preset.options}, 2), MatchFacts)


def test_the_digest_tells_manifests_apart() -> None:
    assert len({TEXTS.manifest(language).digest for language in LANGUAGES}) == 2
    spoilt = TEXTS.manifest("en")
    spoilt.name = "?"
    assert TEXTS.manifest("en").name == "The Wizard's Garden"
    assert TEXTS.manifest("el").digest == TEXTS.manifest("en").digest


@both
def test_every_prompt_and_command_has_its_text(language: str) -> None:
    words = words_in(language)
    never = {Stage.SETUP, Stage.OVER}
    assert {stage.value for stage in Stage if stage not in never} <= words.prompts.keys()
    wording = Wording(load_game("wizards_garden"), language)
    for code in GAME.schema.commands:
        assert code in words.commands
        assert not RAW.search(wording.command(code))
        # What remains of a sentence without its arguments must be one.
        assert not re.search(r"\b(from|to|on|and|ja|ruudusta|ruutuun)\W*$", wording.command(code)), code


def made(kind: Any, **fields: Any) -> Message:
    """An event with a field that is called like a word of the language."""
    event: Message = kind(**fields)
    return event


@both
def test_a_prompt_may_be_read_by_whoever_waits(language: str) -> None:
    """Clients show it to the others, too: it addresses nobody, and says no attack where only pests are hit."""
    for state, prompt in words_in(language).prompts.items():
        assert state == "default" or not {"you", "sinua", "sinun"} & {*prompt.lower().replace(":", "").split()}, prompt


@both
def test_prompts_fit_a_small_screen(language: str) -> None:
    yours = Words(language)("turn.yours")
    for state, prompt in words_in(language).prompts.items():
        assert state == "default" or len(f"▶ {yours} · {prompt}") <= 61, prompt


# ---- sentences -------------------------------------------------------------------------------------------------------

SENTENCES: list[tuple[Message, str]] = [
    (pb.FirstSeatSet(seat=1), "Otso has the first turn."),
    (pb.GnomesSetUp(), "Four gnomes of each colour stand on their terraces."),
    (pb.SpiritsDealt(seat=0, count=2), "Mira is dealt spirit cards: 2."),
    (pb.SpiritsDealt(seat=0, count=1, cards=["spirit_fire_01"]), "Mira is dealt spirits: Spirit of fire."),
    (pb.SpellsDealt(seat=1, count=2), "Otso is dealt spells: 2."),
    (pb.SpellsDealt(seat=1, count=2, spells=["gem", "eye"]), "Otso is dealt spells: Gem, Eye."),
    (pb.DeckSet(count=45), ""),
    (
        pb.BoardSpiritsPlaced(seat=0, cards=["spirit_fire_01", "spirit_gnome_01"]),
        "Mira puts these spirits on the wizard board: Spirit of fire, Spirit of gnomes.",
    ),
    (pb.LanternPlaced(seat=0, kind="fire", space="c1", gnome="blue_gnome_02"), "Mira sets the fire lantern on c1."),
    (pb.OpenRowSet(cards=["spirit_pest_01"]), "The open row is Spirit of pests."),
    (pb.TurnStarted(turn=7, seat=1), "Turn 7: Otso."),
    (pb.StateEntered(state="attack", seat=1), ""),
    (pb.ActionOpened(source="spirit", kind="pest", steps=2), "Spirit action: move 2 pests."),
    (pb.ActionOpened(source="doll", kind="gnome", steps=1, gnome="red_gnome_01"), "Doll: move 1 gnome."),
    (
        pb.ActionOpened(source="butterfly", kind="gnome", steps=5),
        "Butterfly: a gnome's step for each spirit card discarded.",
    ),
    (pb.ActionClosed(reason="used_up"), ""),
    (pb.ActionClosed(reason="ended"), "The rest of the action is left undone."),
    (pb.ActionClosed(reason="no_legal_step"), "No further step is possible: the action ends."),
    (made(pb.PestBrought, piece="pest_03", **{"from": "b3", "to": "c3"}), "Pest 3 comes out of the pit b3 to c3."),
    (
        made(pb.GnomeBrought, piece="red_gnome_05", **{"from": "a4", "to": "a5"}),
        "Red gnome 5 comes from the deposit a4 to a5.",
    ),
    (made(pb.PestMoved, piece="pest_03", **{"from": "a3", "to": "a4"}), "Pest 3 moves from a3 to a4."),
    (
        made(pb.PestMoved, piece="pest_03", pair=True, gnome="red_gnome_05", **{"from": "a3", "to": "a4"}),
        "Pest 3 and red gnome 5 move from a3 to a4.",
    ),
    (made(pb.GnomeMoved, piece="blue_gnome_04", **{"from": "c2", "to": "c3"}), "Blue gnome 4 moves from c2 to c3."),
    (
        pb.ThreatMade(group="a3>a4", pieces=["pest_01", "pest_02"], origin="a3", target="a4", seat=0),
        "Mira threatens a4 from a3: pest 1, pest 2.",
    ),
    (pb.ThreatDropped(group="a3>a4", pieces=["pest_01"]), "The threat a3>a4 is dropped."),
    (pb.WaterCollected(deposit="c4", amount_now=3), "One water goes onto c4, now 3."),
    (pb.FireCollected(seat=0, amount_now=5), "Mira collects one fire, now 5."),
    (pb.SpiritDrawn(seat=0, source="deck"), "Mira draws a spirit from the deck."),
    (pb.SpiritDrawn(seat=0, source="deck", card="spirit_fire_01"), "Mira draws Spirit of fire from the deck."),
    (pb.SpiritDrawn(seat=0, source="spirit_fire_01"), "Mira takes Spirit of fire from the open row."),
    (pb.OpenRowRefilled(place=2, card="spirit_water_01"), "Spirit of water is turned up into the open row."),
    (pb.SpiritDiscarded(seat=0, card="spirit_water_01"), "Mira discards Spirit of water."),
    (pb.DeckReshuffled(number=1, count=12), "The deck was empty: the discard pile is shuffled into a new deck."),
    (
        made(pb.SpiritSwapped, seat=0, slot=1, **{"out": "spirit_fire_01", "in": "spirit_gnome_01"}),
        "Mira swaps a spirit: Spirit of gnomes replaces Spirit of fire.",
    ),
    (pb.LanternLit(seat=0, kind="water", by="water"), "Mira lights the water lantern with water."),
    (pb.LanternLit(seat=0, kind="water", by="pair"), "Mira lights the water lantern with a pair of spirits."),
    (pb.LanternLit(seat=0, kind="water", by="attack"), "Mira lights the water lantern by the attack."),
    (pb.LanternLit(seat=0, kind="water", by="trinket"), "Mira lights the water lantern with the Trinket."),
    (pb.LanternPutOut(seat=0, kind="pest"), "Mira's pest lantern goes out."),
    (pb.WaterReturned(deposit="c1", amount=3, why="lit"), "Water goes from c1 to the supply: 3."),
    (pb.FireReturned(seat=1, amount=2, why="bottle"), "Otso gives fire to the supply: 2."),
    (pb.AttackDeclared(seat=0, group="a3>a4", target="a4", strength=2), "Mira attacks: a3>a4, strength 2."),
    (
        pb.AttackDeclared(seat=0, group="skull", target="e6", strength=3, fire=3),
        "Mira attacks e6 with the Skull, strength 3.",
    ),
    (made(pb.DefenceMade, seat=1, **{"with": "none"}), "Otso does not defend."),
    (made(pb.DefenceMade, seat=1, automatic=True, **{"with": "none"}), "Otso has nothing to defend with."),
    (made(pb.DefenceMade, seat=1, amount=2, **{"with": "water"}), "Otso defends with water: 2."),
    (made(pb.DefenceMade, seat=1, amount=2, **{"with": "fire"}), "Otso defends with fire: 2."),
    (pb.AttackStopped(group="a3>a4", why="put_out"), "Water puts the attack out."),
    (pb.AttackStopped(group="a3>a4", why="conch"), "The Conch stops the attack."),
    (
        pb.GroupWithdrawn(group="a3>a4", pieces=["pest_01"], to="origin"),
        "Pest 1 back to the own space: a3>a4 is withdrawn.",
    ),
    (
        pb.GroupWithdrawn(group="b3>a3", pieces=["pest_01"], to="supply"),
        "Pest 1 back to the supply: b3>a3 is withdrawn.",
    ),
    (pb.GroupAdvanced(group="a3>a4", pieces=["pest_01"], to="a4"), "Unopposed to a4: pest 1."),
    (pb.BattleResolved(group="a3>a4", left=2, defence=1, outcome="attacker"), "The attack wins, 2 against 1."),
    (pb.BattleResolved(group="a3>a4", left=1, defence=2, outcome="defender"), "The defence wins, 2 against 1."),
    (pb.BattleResolved(group="skull", left=1, defence=1, outcome="tie"), "Even: 1 against 1."),
    (pb.GnomeDestroyed(piece="red_gnome_05", space="a4"), "Red gnome 5 on a4 is destroyed."),
    (pb.PestDestroyed(piece="pest_10", space="a3"), "Pest 10 on a3 is destroyed."),
    (pb.FishFireRemoved(space="c4", amount=2), "Fish fire goes from c4: 2."),
    (pb.LanternDimmed(seat=1, kind="spirit", space="e6"), "Otso's spirit lantern on e6 goes dim."),
    (pb.SurvivorsPlaced(pieces=["blue_gnome_05"], to="a4"), "After the battle to a4: blue gnome 5."),
    (pb.SurvivorsPlaced(pieces=["blue_gnome_05"], to="supply"), "After the battle to the supply: blue gnome 5."),
    (pb.SurvivorsPlaced(to="a4"), ""),
    (pb.SpellCast(seat=0, spell="fish"), "Mira casts Fish."),
    (
        pb.SpiritsExchanged(a=pb.CardPlace(card="spirit_fire_01"), b=pb.CardPlace(card="spirit_pest_01")),
        "Two spirits change places: Spirit of fire and Spirit of pests.",
    ),
    (
        pb.GnomePossessed(gnome="red_gnome_05", pest="pest_01", space="a4"),
        "Red gnome 5 on a4 is possessed by a pest: pest 1.",
    ),
    (pb.GnomeFreed(gnome="red_gnome_05", pest="pest_01", space="a4"), "Red gnome 5 on a4 is free again."),
    (pb.FishFireLaid(seat=0, space="c4", amount=2), "Mira lays fish fire on c4: 2."),
    (pb.TurnEnded(turn=7, seat=1), ""),
    (pb.MatchEnded(result="red", reason="five_lanterns"), "Otso wins: the fifth lantern is in the garden."),
    (pb.MatchEnded(result="blue", reason="resigned"), "Mira wins: the other side resigned."),
    (
        pb.MatchEnded(result="blue", reason="turn_limit"),
        "Mira wins: the last turn has ended, with more lanterns in the yard or more of them bright.",
    ),
    (
        pb.MatchEnded(result="draw", reason="turn_limit"),
        "The match is drawn: the last turn has ended with equal lanterns.",
    ),
    (pb.PositionArranged(turn_no=3, active_seat=1), "A position is arranged: turn 3, Otso to act."),
]


@pytest.mark.parametrize(("event", "sentence"), SENTENCES)
def test_sentence(event: Message, sentence: str) -> None:
    assert TEXTS.say_event(event, "en", NAMES) == sentence
    assert bool(TEXTS.say_event(event, "fi", NAMES)) is bool(sentence)
    assert not RAW.search(TEXTS.say_event(event, "fi", NAMES).replace("Mira: ", "").replace("Otso: ", ""))


def test_every_event_is_said_or_known_to_be_silent() -> None:
    assert {type(event) for event, _ in SENTENCES} == {*GAME.schema.events.values()}


def test_lanterns_are_inflected() -> None:
    placed = pb.LanternPlaced(seat=0, kind="gnome", space="a4")
    assert TEXTS.say_event(placed, "fi", NAMES) == "Mira asettaa tonttulyhdyn ruutuun a4."
    dimmed = pb.LanternDimmed(seat=1, kind="fire", space="a4")
    assert TEXTS.say_event(dimmed, "fi", NAMES) == "Otso: tulilyhty ruudussa a4 himmenee."


def test_a_seat_without_a_name_and_a_name_without_a_capital() -> None:
    assert TEXTS.say_event(pb.FireCollected(seat=1, amount_now=1), "en", {}) == "Seat 1 collects one fire, now 1."
    assert TEXTS.say_event(pb.FireCollected(seat=1, amount_now=1), "en", {1: "otso"}).startswith("otso collects")


# ---- what is legal, in words -----------------------------------------------------------------------------------------

YARD = ["B@a4", "R@e4*fire", "R@a5", "PP@c4", "P@c5", "R@c3", "w2@a4", "w3@c1", "w1@e4"]
RICH = {
    "blue": {"fire": 3, "lit": "fire", "spirits": ["fire", "fire"], "hand": ["gnome", "pest"]},
    "red": {"fire": 2},
    "yard": YARD,
}
TRIPLES = [SPELLS[n : n + 3] for n in range(0, len(SPELLS), 3)]
QUIET = ("garden", "wizard_start", "wizard_main", "wizard_end")


def rich_states() -> Iterator[State]:
    for state in QUIET:
        for triple in TRIPLES:
            yield arranged({**RICH, "state": state, "blue": {**RICH["blue"], "spells": [*triple]}})  # type: ignore[dict-item]
    yield arranged({**RICH, "state": "attack", "threats": ["a4>a5"]})


def said_entry(entry: prompt_pb2.LegalEntry, wording: Wording) -> Iterator[str]:
    yield wording.entry(entry)
    for slot in entry.slots:
        yield wording.slot(slot)
        yield from (wording.thing(ref) for ref in things(slot))


def check_entries(state: State, prompt: Prompt, wordings: list[Wording]) -> set[str]:
    keys = set()
    for entry in travelling(GAME.schema, GAME.legal(state, prompt.seat, prompt)):
        keys.add(entry.label.key)
        for wording in wordings:
            assert entry.label.key in wording_keys(wording), entry.label.key
            for text in said_entry(entry, wording):
                assert text
                assert not RAW.search(text), (entry.type, text)
    return keys


def wording_keys(wording: Wording) -> set[str]:
    return {t.key for t in wording.manifest.templates if t.kind == mf.TEMPLATE_KIND_COMMAND}


def test_what_is_legal_is_said_in_words() -> None:
    wordings = [Wording(load_game("wizards_garden"), language) for language in LANGUAGES]
    keys: set[str] = set()
    for state in rich_states():
        keys |= check_entries(state, asked(state), wordings)
    for seed in range(4):
        for step in lively_match(seed, spells_per_player="3", turn_limit="40"):
            keys |= check_entries(step.state, step.prompt, wordings)
    codes = {"cast_" + spell for spell in SPELLS} - {"cast_eye", "cast_skull"} | {"cast_eye_at", "cast_skull_at"}
    assert codes - keys <= {"cast_conch", "cast_doll"}


@both
def test_whole_matches_can_be_told_and_drawn(language: str) -> None:
    templates = {t.key for t in TEXTS.manifest(language).templates}
    terminal = WizardsGardenTerminal()
    marks = 0
    for step in lively_match(7, spells_per_player="3", turn_limit="40"):
        for viewer in (Viewer.of_seat(step.prompt.seat), PUBLIC, ALL):
            lines = terminal.render(GAME.view(step.state, viewer), language, NAMES, 60)
            assert all(len(line) <= 60 for line in lines)
            assert not re.search(r"[{}]|\w_\w", "".join(lines))
        for event in step.events:
            assert not re.search(r"[{}]|\w_\w", TEXTS.say_event(event, language, NAMES))
            mark = TEXTS.mark(event)
            assert mark is None or mark.label in templates
            marks += mark is not None
    assert marks > 40


# ---- plain text ------------------------------------------------------------------------------------------------------

PLAIN = {
    "yard": ["B@a4*fire", "w2@a4", "PP@a3", "R@e4~spirit", "w5@e4", "PR@c3", "F3@c4", "R@a5"],
    "threats": ["a5>a4"],
    "blue": {"fire": 2, "lit": "spirit", "hand": ["fire"], "spells": ["conch"]},
    "red": {"fire": 3, "spells": ["skull"], "hand": ["gnome"], "cast": ["eye"]},
    "state": "attack",
    "active": "red",
}


def plain(viewer: Viewer, language: str = "en") -> list[str]:
    return [*WizardsGardenTerminal().render(GAME.view(arranged(PLAIN), viewer), language, NAMES, 200)]


def test_the_picture_in_signs() -> None:
    lines = plain(Viewer.of_seat(0))
    rows = {line[0]: line.split() for line in lines if line[:1].isdecimal()}
    assert [*rows] == ["7", "6", "5", "4", "3", "2", "1"]
    assert rows["4"] == ["4", "●5✶ϟ≈2", "·", "ϟ3", "·", "■5○ψ≈5"]
    assert rows["3"] == ["3", "ж1ж2", "#", "ж3■6", "#", "·"]
    # Red looks from the other side.
    turned = [line for line in plain(Viewer.of_seat(1)) if line[:1].isdecimal()]
    assert turned[0].split()[:3] == ["1", "·", "●3"]
    assert turned[3].split()[1] == "■5○ψ≈5"


def test_the_yard_in_words() -> None:
    lines = plain(Viewer.of_seat(0))
    assert any(
        line.startswith("Row 4: a4: deposit, blue gnome 5, bright fire lantern, water 2; c4: deposit, fish fire 3")
        for line in lines
    )
    assert any("c3: red gnome 6, possessed by pest 3" in line for line in lines)
    assert "Threats: a5>a4: red gnome 7, strength by fire" in lines
    finnish = plain(Viewer.of_seat(0), "fi")
    assert any("a4: esiintymä, sininen tonttu 5, kirkas tulilyhty, vettä 2" in line for line in finnish)
    assert "Uhat: a5>a4: punainen tonttu 7, voima tulen mukaan" in finnish


def test_hands_are_shown_only_where_the_view_has_them() -> None:
    own, public, everything = ("\n".join(plain(v)) for v in (Viewer.of_seat(0), PUBLIC, ALL))
    assert ("Conch" in own, "Skull" in own) == (True, False)
    assert ("Conch" in public, "Skull" in public) == (False, False)
    assert "Conch" in everything
    assert "Skull" in everything
    assert all("Cast: Eye" in text for text in (own, public, everything))


def test_another_games_view_is_refused() -> None:
    with pytest.raises(TypeError, match="no view of the Wizard's Garden"):
        WizardsGardenTerminal().render(two_towers_pb2.View(), "en", NAMES, 80)

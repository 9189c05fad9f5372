"""BS-18: English, Greek and Finnish, the manifest, a sentence for everything, marks, the table in plain text."""

from __future__ import annotations

import doctest
import importlib
import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from google.protobuf.message import Message

from broom_service import PLUGIN
from broom_service.boards import BOARDS
from broom_service.catalogue import DATA
from broom_service.clouds import CLOUDS
from broom_service.names import REGIONS, name_of, role_text, text_of
from broom_service.options import OPTIONS
from broom_service.rejections import CODES
from broom_service.roles import EVENTS, ROLES
from broom_service.state import Stage
from broom_service.terminal import BroomServiceTerminal
from broom_service.text import BroomServiceTexts
from broom_service.tiles import TILES
from broom_service.words import LANGUAGES, WORDS, words_in
from grimoire.cli.screens.slots import things
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import Words
from grimoire.client import Rejected
from grimoire.engine import ALL, PUBLIC, Illegal, MatchFacts, Viewer
from grimoire.engine.phrasebook import read_screen_words
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.games.two_towers.v1 import two_towers_pb2
from grimoire.match.frames import travelling
from grimoire.v1 import envelope_pb2, prompt_pb2
from grimoire.v1 import manifest_pb2 as mf
from tests.broom_service.lively import BACK_STORM, FRONT, GAME, lively_match

TEXTS = BroomServiceTexts()
NAMES = {0: "Mira", 1: "Otso", 2: "Ilta", 3: "Aino", 4: "Nikos"}
RAW = re.compile(r"[{}]|\w_\w|\w:\w")
"""What no text for people holds: a place that was not filled, an id, a ref."""
LATIN = re.compile(r"[A-Za-z]{2,}")
GREEK = re.compile(r"[\u0370-\u03ff]")
FOREIGN = {"Broom", "Service", "VP", *NAMES.values()}

every = pytest.mark.parametrize("language", LANGUAGES)
translated = pytest.mark.parametrize("language", LANGUAGES[1:])

TABLES = ("events", "prompts", "commands", "refs", "rejections", "reasons", "terms", "options", "terminal", "marks")


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("module", ["names", "text", "short"])
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"broom_service.{module}")).failed == 0


# ---- the words themselves --------------------------------------------------------------------------------------------


@translated
def test_all_languages_say_the_same_things(language: str) -> None:
    for table in (*TABLES, "names", "bots", "clauses", "presets"):
        english, other = getattr(WORDS["en"], table), getattr(WORDS[language], table)
        assert list(english) == list(other), table
        for key in english if table in (*TABLES, "names") else ():
            assert placeholders(english[key]) == placeholders(other[key]), key


def test_greek_is_written_in_greek() -> None:
    """Signs of the board and names of keys apart, no English word is left in it."""
    words = words_in("el")
    texts = [text for table in (*TABLES, "names", "bots", "presets") for text in getattr(words, table).values()]
    texts += [text for title_and_text in words.clauses.values() for text in title_and_text]
    for text in texts:
        said = re.sub(r"\{\w+\}", "", text)
        if text == words.terminal["title"] or text.startswith(("ogp", "p f h m w")):
            continue
        assert not {*LATIN.findall(said)} - FOREIGN, text


def test_the_boards_words_are_whole_in_every_language() -> None:
    words = read_screen_words("broom_service")
    assert [*words] == [*LANGUAGES]
    for language in LANGUAGES[1:]:
        assert [*words[language]] == [*words["en"]]
        assert all(placeholders(words[language][key]) == placeholders(words["en"][key]) for key in words["en"])


@translated
def test_no_sentence_is_left_in_english(language: str) -> None:
    for table in ("events", "prompts", "rejections", "reasons", "terms", "options", "clauses"):
        english, other = getattr(WORDS["en"], table), getattr(WORDS[language], table)
        same = {key for key in english if english[key] == other[key]}
        assert same <= {"count", "vp_short", "seconds", "druid"}, (table, same)


def test_english_and_greek_are_the_data() -> None:
    for language in ("en", "el"):
        for each in (*DATA.roles, *DATA.events, *TILES.values(), *DATA.resources, *DATA.terrains, *DATA.terms):
            assert name_of(each.id, language) == getattr(each.name, language)
        for role in DATA.roles:
            assert role_text(role.id, "brave", language) == getattr(role.text.brave, language)
            assert role_text(role.id, "cowardly", language) == getattr(role.text.cowardly, language)
        for told in (*DATA.events, *TILES.values()):
            assert text_of(told.id, language) == getattr(told.text, language)
        for board in DATA.boards:
            for region in board.regions:
                assert name_of(region.id, language).casefold() == getattr(region.name, language).casefold()


def test_finnish_has_a_name_and_a_text_for_everything_with_the_same_figures() -> None:
    finnish = words_in("fi")
    named = {
        each.id
        for listed in (DATA.roles, DATA.events, TILES.values(), DATA.resources, DATA.terrains, DATA.terms, DATA.boards)
        for each in listed
    }
    assert finnish.called.keys() == named
    texts = {f"{role}.{stance}" for role in ROLES for stance in ("brave", "cowardly")}
    assert finnish.texts.keys() == {*texts, *EVENTS, *TILES, *DATA.storm_texts}
    for thing, text in finnish.texts.items():
        assert text.endswith("."), thing
        if thing in EVENTS or thing in TILES:
            assert sorted(re.findall(r"\d", text)) == sorted(re.findall(r"\d", text_of(thing, "en"))), thing


@every
def test_every_land_has_its_three_forms(language: str) -> None:
    events = words_in(language).events
    land = [region for region in REGIONS if not region.startswith("w")]
    assert {f"{case}.{region}" for case in ("to", "from", "at") for region in land} <= events.keys()
    assert len({*land}) == 26


@every
def test_clauses_cover_the_rules(language: str) -> None:
    clauses = {c.rule: c for c in TEXTS.manifest(language).clauses}
    assert {f"BS-{n}" for n in range(1, 19)} <= clauses.keys()
    assert all(c.title and c.text.endswith((".", "!")) for c in clauses.values())


# ---- the manifest ----------------------------------------------------------------------------------------------------


@every
def test_manifest(language: str) -> None:
    manifest = TEXTS.manifest(language)
    assert (manifest.game, manifest.language, len(manifest.digest)) == ("broom_service", language, 32)
    assert (manifest.min_seats, manifest.max_seats, [*manifest.languages]) == (2, 5, ["en", "el", "fi"])
    by_name = {catalogue.name: catalogue for catalogue in manifest.catalogues}
    assert [item.id for item in by_name["roles"].items] == [*ROLES]
    assert [item.id for item in by_name["events"].items] == [*EVENTS]
    assert [item.id for item in by_name["tiles"].items] == [*TILES]
    assert [item.id for item in by_name["clouds"].items] == [*CLOUDS]
    for told in ("roles", "events", "tiles", "clouds", "towers"):
        assert all(item.name and item.text and item.rules for item in by_name[told].items)
    towers = {tower for board in BOARDS.values() for tower in board.towers}
    assert {item.id for item in by_name["towers"].items} == towers
    known = {clause.rule for clause in manifest.clauses}
    assert {rule for catalogue in manifest.catalogues for item in catalogue.items for rule in item.rules} <= known
    texts = [text for c in manifest.catalogues for item in c.items for text in (item.name, item.text, item.short_text)]
    assert not [text for text in texts if RAW.search(text)]
    keys = [(t.kind, t.key) for t in manifest.templates]
    assert len(keys) == len({*keys})


@every
def test_things_that_are_told_apart_are_called_differently(language: str) -> None:
    for catalogue in TEXTS.manifest(language).catalogues:
        names = [item.name for item in catalogue.items]
        if catalogue.name == "clouds":
            assert len({*names}) == 5 + 7, "heavy ones by their figures, storm ones by their kinds"
        elif catalogue.name == "tiles":
            assert len({*names}) == 17 - 3
        else:
            assert len({*names}) == len(names), catalogue.name


def test_a_towers_text_tells_both_sides() -> None:
    manifest = TEXTS.manifest("en")
    towers = {item.id: item.text for c in manifest.catalogues if c.name == "towers" for item in c.items}
    assert towers["purple_rd_02"] == (
        "Front of the board: VP 3 and wands 1, at prairie 5. Back of the board: VP 2 and wands 1, at prairie 1."
    )


def test_every_code_has_a_sentence_and_a_rule_that_is_told() -> None:
    manifest = TEXTS.manifest("fi")
    rejections = {t.key: t.rule for t in manifest.templates if t.kind == mf.TEMPLATE_KIND_REJECTION}
    assert rejections.keys() == {*CODES, "bad_option", "bad_position"}
    assert {*rejections.values()} <= {clause.rule for clause in manifest.clauses}


def test_a_refused_option_is_said_in_greek() -> None:
    refused = GAME.configure({"board": "back", "mountain_tiles": "false"}, 3)
    assert isinstance(refused, Illegal)
    arguments = [envelope_pb2.Argument(name=name, value=value) for name, value in refused.arguments]
    rejected = Rejected(envelope_pb2.Rejection(code=refused.code, message=refused.message, arguments=arguments))
    said = Wording(PLUGIN, "el").rejection(rejected)
    assert said.startswith("Πλακίδια βουνών και μενταγιόν δεν γίνεται false· επιτρέπεται:")


def test_manifest_options_are_those_of_configure() -> None:
    manifest = TEXTS.manifest("en")
    assert [option.name for option in manifest.options] == [*OPTIONS]
    defaults = {option.name: option.default for option in manifest.options}
    for seats in range(2, 6):
        assert GAME.configure(defaults, seats) == GAME.configure({}, seats)
        assert GAME.configure({**defaults, "board": "back"}, seats) == GAME.configure({"board": "back"}, seats)
    for option in manifest.options:
        assert option.label
        assert option.icon
        if option.type == mf.OPTION_TYPE_CHOICE:
            assert option.default in [item.value for item in option.choices]
            assert all(item.label for item in option.choices)
            assert len({item.label for item in option.choices}) == len(option.choices)
        else:
            assert option.min <= int(option.default) <= option.max


@every
def test_presets_are_options_that_hold(language: str) -> None:
    for preset in TEXTS.manifest(language).presets:
        assert preset.name
        assert isinstance(GAME.configure({option.name: option.value for option in preset.options}, 2), MatchFacts)


def test_the_digest_tells_manifests_apart() -> None:
    assert len({TEXTS.manifest(language).digest for language in LANGUAGES}) == len(LANGUAGES)
    spoilt = TEXTS.manifest("en")
    spoilt.name = "?"
    assert TEXTS.manifest("en").name == "Broom Service"
    assert TEXTS.manifest("sv").digest == TEXTS.manifest("en").digest


@every
def test_every_prompt_and_command_has_its_text(language: str) -> None:
    words = words_in(language)
    never = {Stage.SETUP, Stage.OVER}
    assert {stage.value for stage in Stage if stage not in never} <= words.prompts.keys()
    assert {f"doing_{stage.value}" for stage in Stage} <= words.terminal.keys()
    wording = Wording(PLUGIN, language)
    for code in GAME.schema.commands:
        assert code in words.commands
        assert not placeholders(words.commands[code]), "a command in short has nothing to fill in"
        assert not RAW.search(wording.command(code))


@every
def test_prompts_fit_a_small_screen(language: str) -> None:
    yours = Words(language)("turn.yours")
    for kind, prompt in words_in(language).prompts.items():
        assert kind == "default" or len(f"▶ {yours} · {prompt}") <= 61, prompt


# ---- sentences -------------------------------------------------------------------------------------------------------


def made(kind: Any, **fields: Any) -> Message:
    """An event with a field that is called like a word of the language."""
    event: Message = kind(**fields)
    return event


def holding(orange: int = 0, green: int = 0, purple: int = 0, wand: int = 0) -> pb.Resources:
    return pb.Resources(orange=orange, green=green, purple=purple, wand=wand)


SENTENCES: list[tuple[Message, str]] = [
    (pb.StacksOrdered(), "The events are shuffled: seven for the rounds, three stay out of the game unseen."),
    (
        pb.TableLaid(first_seat=1, clouds=[pb.PlacedCloud(space="c01", cloud="heavy_01")] * 18),
        "The table is laid: clouds on the board 18. Otso leads first.",
    ),
    (pb.RoundStarted(round=3, event="the_works", leader=2), "Round 3, “The Works!”. First to lead: Ilta."),
    (pb.BewitchedShuffled(n=2, count=9), "The bewitched roles are shuffled anew: 9."),
    (
        pb.BewitchedRevealed(roles=["hill_witch", "weather_fairy"]),
        "Bewitched in this round: Hill Witch, Weather Fairy.",
    ),
    (pb.SeatsAsked(stage="choose", seats=[0, 1]), "Everybody chooses role cards: Mira, Otso."),
    (pb.SeatsAsked(stage="extra", seats=[1]), "Who may keep one more card: Otso."),
    (pb.SeatsAsked(stage="offer", seats=[0, 1]), "Resources are offered in secret by Mira, Otso."),
    (pb.SeatsAsked(stage="hand_in", seats=[0]), "A set may be handed in by Mira."),
    (pb.RolesChosen(seat=0), "Mira has chosen."),
    (pb.RolesChosen(seat=0, roles=["hill_witch", "hill_druid"]), "Mira chooses: Hill Witch, Hill Druid."),
    (pb.CountsRevealed(counts=[1, 5]), "Cards chosen: Mira 1, Otso 5."),
    (pb.ExtraAnswered(seat=1), "Otso has answered."),
    (
        pb.ExtraAnswered(seat=1, used=True, tile="f_card_1", role="prairie_witch"),
        "Otso keeps one more card: Prairie Witch.",
    ),
    (pb.ExtrasRevealed(extras=[pb.ExtraUsed(seat=1, tile="f_card_1")]), "One more card is kept by Otso."),
    (pb.ExtrasRevealed(), "Nobody keeps one more card."),
    (pb.RoundEnded(round=3), "Round 3 is over."),
    (pb.TrickStarted(trick_no=2, leader=0), "Trick 2: Mira leads."),
    (pb.RolePlayed(seat=0, role="forest_witch", stance="brave"), "Mira plays Forest Witch, brave."),
    (pb.RolePlayed(seat=0, role="forest_witch", stance="cowardly"), "Mira plays Forest Witch, cowardly."),
    (
        pb.RolePlayed(seat=0, role="forest_witch", stance="cowardly", instead="event"),
        "Mira plays Forest Witch, cowardly, for what the event offers.",
    ),
    (
        pb.RolePlayed(seat=0, role="forest_witch", stance="cowardly", instead="f_heart_1"),
        "Mira plays Forest Witch, cowardly, with the tile “Hidden courage”.",
    ),
    (
        pb.RolePlayed(seat=0, role="forest_witch", spent_role=True),
        "Mira lays down Forest Witch: it was led before, and nobody acts.",
    ),
    (pb.SeatPassed(seat=1, role="forest_witch"), "Otso: next!"),
    (pb.BraveOutdone(seat=0, by=1), "Otso is brave too: Mira is out."),
    (pb.TrickEnded(brave_seat=1, next_leader=1), "Otso was the last brave one and leads next."),
    (pb.TrickEnded(next_leader=0), "Nobody was brave: Mira leads next."),
    (pb.StepOpened(seat=0, step=pb.Step(step=1, group=1, kind="move")), ""),
    (pb.StepUsed(step=1, moves_left=1), ""),
    (pb.StepClosed(step=1, reason="done"), ""),
    (pb.StepClosed(step=1, reason="skipped"), "This part of the action is given up."),
    (pb.StepClosed(step=1, reason="impossible"), "This part of the action cannot be carried out."),
    (
        pb.ResourcesChanged(seat=0, deltas=pb.Deltas(orange=2, wand=1), reason="gather"),
        "Mira takes orange 2, wands 1.",
    ),
    (
        pb.ResourcesChanged(seat=0, deltas=pb.Deltas(purple=1), reason="black_distillery"),
        "Black Distillery: Mira takes purple 1.",
    ),
    (pb.ResourcesChanged(seat=0, deltas=pb.Deltas(purple=-1), reason="delivery"), ""),
    (pb.ResourcesChanged(seat=0, deltas=pb.Deltas(wand=-2), reason="charm"), ""),
    (pb.ResourcesChanged(seat=0, deltas=pb.Deltas(wand=-2), reason="the_upper_hand"), ""),
    (pb.ResourcesChanged(seat=0, deltas=pb.Deltas(wand=-1), reason="the_works"), ""),
    (pb.VpChanged(seat=0, delta=-3, vp=-2, reason="bewitched"), "Bewitched role: Mira -3 VP, now -2."),
    (pb.VpChanged(seat=0, delta=9, vp=19, reason="delivery"), ""),
    (pb.VpChanged(seat=0, delta=3, vp=13, reason="charm"), ""),
    (pb.VpChanged(seat=0, delta=6, vp=16, reason="show"), "Potions shown: Mira +6 VP, now 16."),
    (pb.VpChanged(seat=0, delta=5, vp=15, reason="five_points"), "“Five points”: Mira +5 VP, now 15."),
    (pb.VpChanged(seat=0, delta=3, vp=13, reason="black_market"), "“Black Market”: Mira +3 VP, now 13."),
    (pb.VpChanged(seat=0, delta=-4, vp=6, reason="perilous_places"), "“Perilous Places”: Mira -4 VP, now 6."),
    (
        made(pb.PawnMoved, seat=0, pawn=1, cause="role", **{"from": "p5", "to": "h4"}),
        "Mira flies from prairie 5 to hill 4 (pawn 2).",
    ),
    (
        made(pb.PawnMoved, seat=0, pawn=0, cause="turbo", **{"from": "h4", "to": "p7"}),
        "Mira rides the turbo broom to prairie 7 (pawn 1).",
    ),
    (
        pb.PotionDelivered(seat=0, region="h4", tower="orange_rd_01", colour="orange", vp_tower=6, occupies=True),
        "Mira delivers from hill 4: orange round tower 1, 6 VP.",
    ),
    (
        pb.PotionDelivered(seat=0, region="p1", tower="purple_rd_02", vp_tower=2, vp_bonus=3, vp_storm=4, wands=1),
        "Mira delivers from prairie 1: purple round tower 2, 2 + 3 + 4 = 9 VP, wands 1.",
    ),
    (
        pb.PotionDelivered(seat=0, region="h3", tower="h_vat", vp_tower=7),
        "Mira delivers from hill 3: Orange vat, 7 VP.",
    ),
    (
        pb.CloudCharmed(seat=0, space="c08", cloud="heavy_13", stars=2, lightning=2),
        "Mira charms away heavy cloud (stars 2, lightning 2) for wands: 2.",
    ),
    (
        pb.CloudCharmed(seat=0, space="c08", cloud="storm_gust_1", stars=1, vp_bonus=3),
        "Mira charms away storm cloud with a gust (stars 1, lightning 0) for wands: 1. +3 VP.",
    ),
    (
        pb.AmuletTaken(seat=0, region="m1", tile="m_wands"),
        "Mira takes the amulet on mountain 1; the tile there: Wands.",
    ),
    (
        pb.ForestTileTaken(seat=0, region="f3", tile="f_five_1"),
        "Mira takes the forest tile in forest 3: Five points.",
    ),
    (pb.ForestTileSpent(seat=0, tile="f_five_1"), "Mira has used a forest tile: Five points."),
    (pb.OfferMade(seat=0), "Mira has made an offer."),
    (pb.OfferMade(seat=0, resources=holding(orange=1, wand=2)), "Mira offers orange 1, wands 2."),
    (pb.OfferMade(seat=0, resources=holding()), "Mira offers nothing."),
    (
        pb.OffersRevealed(offers=[pb.SeatOffer(seat=0, resources=holding(1, 1)), pb.SeatOffer(seat=1)]),
        "Resources offered: Mira 2, Otso 0.",
    ),
    (pb.SetHandedIn(seat=0, size=4, vp=8), "Mira hands in a set of 4: +8 VP."),
    (pb.SetDeclined(seat=0), "Mira hands in no set."),
    (pb.DecisionTimedOut(seat=0, consecutive=2), "Mira has run out of time; in a row: 2."),
    (pb.TimeoutsCleared(seat=0), ""),
    (pb.SeatRetired(seat=0, reason="resigned"), "Mira has left; the others play on."),
    (
        pb.SeatRetired(seat=0, reason="timeouts"),
        "Mira has run out of time too often and is out; the others play on.",
    ),
    (
        pb.MatchEnded(reason="scored", winners=[1], scores=[pb.SeatScore(seat=0, vp=61), pb.SeatScore(seat=1, vp=72)]),
        "Final scoring: Mira 61, Otso 72. Victory: Otso.",
    ),
    (pb.MatchEnded(reason="others_left", winners=[1]), "All others have left. Victory: Otso."),
    (pb.PositionArranged(round=4, event="brave_heart"), "A position is arranged: round 4, “Brave Heart”."),
]


@pytest.mark.parametrize(("event", "sentence"), SENTENCES)
def test_sentence(event: Message, sentence: str) -> None:
    assert TEXTS.say_event(event, "en", NAMES) == sentence
    for language in LANGUAGES[1:]:
        said = TEXTS.say_event(event, language, NAMES)
        assert bool(said) is bool(sentence)
        assert not RAW.search(said)
        assert not said or said[:1].isupper() or not said[:1].isalpha()
    greek = TEXTS.say_event(event, "el", NAMES)
    assert not {*LATIN.findall(greek)} - FOREIGN, greek
    assert bool(GREEK.search(greek)) is bool(sentence)


def test_every_event_is_said_or_known_to_be_silent() -> None:
    assert {type(event) for event, _ in SENTENCES} == {*GAME.schema.events.values()}


@every
def test_every_reason_is_worded(language: str) -> None:
    reasons = {"bewitched", "show", "black_market", "five_points", "more_or_less", "flock_together", "empty_handed"}
    for reason in reasons:
        assert TEXTS.say_event(pb.VpChanged(seat=0, delta=1, vp=1, reason=reason), language, NAMES), reason
    assert words_in(language).reasons.keys() == {"scored", "others_left"}


def test_regions_are_inflected() -> None:
    moved = made(pb.PawnMoved, seat=0, pawn=0, cause="role", **{"from": "f3", "to": "h4"})
    assert TEXTS.say_event(moved, "fi", NAMES) == "Mira lentää metsästä 3 kukkulalle 4 (nappula 1)."
    assert TEXTS.say_event(moved, "el", NAMES) == "Mira πετάει από το δάσος 3 στον λόφο 4 (πιόνι 1)."


def test_a_seat_without_a_name_and_a_name_without_a_capital() -> None:
    passed = pb.SeatPassed(seat=1, role="hill_witch")
    assert TEXTS.say_event(passed, "en", {}) == "Seat 1: next!"
    assert TEXTS.say_event(passed, "el", {}) == "Θέση 1: επόμενος!"
    assert TEXTS.say_event(passed, "en", {1: "otso"}) == "otso: next!"


# ---- what is legal, in words -----------------------------------------------------------------------------------------


def said_entry(entry: prompt_pb2.LegalEntry, wording: Wording) -> Iterator[str]:
    yield wording.entry(entry)
    for slot in entry.slots:
        yield wording.slot(slot)
        yield from (wording.thing(ref) for ref in things(slot))
    yield from (wording.thing(field.ref) for field in entry.fixed)


@pytest.mark.parametrize("options", [FRONT, BACK_STORM], ids=["front", "back"])
def test_what_is_legal_is_said_in_words(options: Mapping[str, str]) -> None:
    wordings = [Wording(PLUGIN, language) for language in LANGUAGES]
    known = {t.key for t in wordings[0].manifest.templates if t.kind == mf.TEMPLATE_KIND_COMMAND}
    keys = set[str]()
    for seed in range(3):
        for step in lively_match(seed, 2 + seed, options):
            for entry in travelling(GAME.schema, GAME.legal(step.state, step.prompt.seat, step.prompt)):
                keys.add(entry.label.key)
                for wording in wordings:
                    for text in said_entry(entry, wording):
                        assert text
                        assert not re.search(r"[{}?]|\w_\w|\w:\w", text), (entry.type, text)
                        if wording.language == "el":
                            assert not {*LATIN.findall(text)} - FOREIGN, text
    assert keys <= known
    assert {"play_role_brave", "play_role_cowardly", "move_pawn_from", "deliver_to", "gather_by"} <= keys


@every
def test_whole_matches_can_be_told_and_drawn(language: str) -> None:
    templates = {t.key for t in TEXTS.manifest(language).templates}
    terminal = BroomServiceTerminal()
    marks = 0
    for number, step in enumerate(lively_match(7, 3, BACK_STORM, troubled=True)):
        for event in step.events:
            assert not RAW.search(TEXTS.say_event(event, language, NAMES))
            mark = TEXTS.mark(event)
            assert mark is None or mark.label in templates
            marks += mark is not None
        if number % 5 and GAME.prompts(step.after):
            continue
        for viewer in (Viewer.of_seat(step.prompt.seat), PUBLIC, ALL):
            lines = terminal.render(GAME.view(step.after, viewer), language, NAMES, 60)
            assert all(len(line) <= 60 for line in lines)
            assert not re.search(r"[{}]|\w_\w", "".join(lines))
            if language == "el":  # where a semicolon is a question mark
                asking = {name_of("more_or_less", "el").rpartition(" ")[2], "ακόμη;"}
                assert {word for line in lines for word in re.findall(r"\w*;", line)} <= asking
    assert marks > 20


def test_plain_text_keeps_what_is_hidden() -> None:
    """BS-11.4: roles that were chosen are read to their seat alone."""
    terminal = BroomServiceTerminal()
    first = next(step for step in lively_match(3, 3, FRONT) if step.state.asked is Stage.LEAD)
    own = "\n".join(terminal.render(GAME.view(first.state, Viewer.of_seat(0)), "en", NAMES, 80))
    others = "\n".join(terminal.render(GAME.view(first.state, PUBLIC), "en", NAMES, 80))
    assert own.count("Role cards of Mira") == 1
    assert "Role cards of" not in others


def test_another_games_view_is_refused() -> None:
    with pytest.raises(TypeError, match="no view of Broom Service"):
        BroomServiceTerminal().render(two_towers_pb2.View(), "en", NAMES, 80)

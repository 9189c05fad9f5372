"""SB-25: English and Finnish, the manifest, a sentence for everything, marks, the table in plain text."""

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
from grimoire.client import Rejected
from grimoire.engine import ALL, PUBLIC, Illegal, MatchFacts, Prompt, Setup, Viewer
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.games.two_towers.v1 import two_towers_pb2
from grimoire.match.frames import travelling
from grimoire.plugins import load_game
from grimoire.v1 import envelope_pb2, prompt_pb2
from grimoire.v1 import manifest_pb2 as mf
from spellbound.catalogue import DATA
from spellbound.options import OPTIONS
from spellbound.places import BOOKS, PIECES, PLACES
from spellbound.positions import SpellboundPositions
from spellbound.rejections import CODES
from spellbound.state import Stage, State
from spellbound.terminal import SpellboundTerminal
from spellbound.text import SpellboundTexts
from spellbound.words import LANGUAGES, WORDS, words_in
from tests.spellbound.keen import GAME, draws, joint, keen_match

TEXTS = SpellboundTexts()
NAMES = {0: "Mira", 1: "Otso", 2: "Ilta"}
RAW = re.compile(r"[{}?]|\w_\w|\w:\w")
"""What no text for people holds: a place that was not filled, an unknown argument, an id, a ref."""

both = pytest.mark.parametrize("language", LANGUAGES)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def arranged(position: Mapping[str, object], seats: int = 3, **options: str) -> State:
    facts = GAME.configure(options, seats)
    assert not isinstance(facts, Illegal)
    event = SpellboundPositions().parse(position, dict(facts.options))
    start = GAME.start(Setup("arranged", seats, dict(facts.options), event.SerializeToString()), draws(joint(0)))
    assert not isinstance(start, Illegal), start
    return start.state


# ---- the words themselves --------------------------------------------------------------------------------------------


def test_both_languages_say_the_same_things() -> None:
    filled = ("events", "prompts", "commands", "refs", "rejections", "reasons", "terms", "options", "terminal", "marks")
    for table in (*filled, "bots", "clauses", "presets", "mages", "places", "books", "pieces"):
        english, finnish = (getattr(WORDS[language], table) for language in LANGUAGES)
        assert english.keys() == finnish.keys(), table
        for key in english if table in filled else ():
            assert placeholders(english[key]) == placeholders(finnish[key]), key


def test_every_card_face_has_a_finnish_name_and_text() -> None:
    finnish = words_in("fi")
    assert finnish.types.keys() == finnish.texts.keys() == DATA.types.keys()
    assert all(text.endswith(".") for text in finnish.texts.values())
    for face, record in DATA.types.items():
        assert re.findall(r"\d", finnish.texts[face]) == re.findall(r"\d", record.text.en), face


@both
def test_every_place_has_its_three_forms(language: str) -> None:
    events = words_in(language).events
    assert {f"{case}.{place}" for case in ("to", "from", "at") for place in PLACES} <= events.keys()


def test_clauses_cover_the_rules() -> None:
    clauses = {c.rule: c for c in TEXTS.manifest("en").clauses}
    assert {f"SB-{n}" for n in range(1, 26)} <= clauses.keys()
    assert {f"SB-10.{n}" for n in range(1, 12)} <= clauses.keys()
    for language in LANGUAGES:
        assert all(c.title and c.text.endswith(".") for c in TEXTS.manifest(language).clauses)


# ---- the manifest ----------------------------------------------------------------------------------------------------


@both
def test_manifest(language: str) -> None:
    manifest = TEXTS.manifest(language)
    assert (manifest.game, manifest.language, len(manifest.digest)) == ("spellbound", language, 32)
    assert (manifest.min_seats, manifest.max_seats, [*manifest.languages]) == (1, 4, ["en", "fi"])
    cards, places, books, pieces, mages = manifest.catalogues
    assert [item.id for item in cards.items] == [card.id for card in DATA.cards]
    assert all(item.name and item.text and item.rules for item in cards.items)
    assert [item.id for item in places.items] == [*PLACES]
    assert [item.id for item in books.items] == [*BOOKS]
    assert [item.id for item in pieces.items] == [*PIECES]
    assert [item.name[-1] for item in mages.items] == ["A", "B", "C", "D"]
    known = {clause.rule for clause in manifest.clauses}
    assert {rule for catalogue in manifest.catalogues for item in catalogue.items for rule in item.rules} <= known


@both
def test_cards_that_count_differently_are_called_differently(language: str) -> None:
    told: dict[str, tuple[int, int]] = {}
    for item, card in zip(TEXTS.manifest(language).catalogues[0].items, DATA.cards, strict=True):
        assert told.setdefault(item.name, (card.sun, card.moon)) == (card.sun, card.moon), item.name
    assert (
        len({item.name for item in TEXTS.manifest(language).catalogues[0].items if item.id.startswith("basic")}) == 15
    )


def test_english_is_the_data() -> None:
    for item, card in zip(TEXTS.manifest("en").catalogues[0].items, DATA.cards, strict=True):
        face = DATA.types[card.type]
        assert item.text == face.text.en
        assert item.name.split(" (")[0] == face.name.en.split(" (")[0]


def test_every_code_has_a_sentence_and_a_rule_that_is_told() -> None:
    manifest = TEXTS.manifest("fi")
    rejections = {t.key: t.rule for t in manifest.templates if t.kind == mf.TEMPLATE_KIND_REJECTION}
    assert rejections.keys() == {*CODES, "bad_option", "bad_position"}
    assert {*rejections.values()} <= {clause.rule for clause in manifest.clauses}


def test_a_number_in_a_refusal_is_no_mage() -> None:
    refused = GAME.configure({"dan": "2"}, 1)
    assert isinstance(refused, Illegal)
    wording = Wording(load_game("spellbound"), "fi")
    arguments = [envelope_pb2.Argument(name=name, value=value) for name, value in refused.arguments]
    rejected = Rejected(envelope_pb2.Rejection(code=refused.code, message=refused.message, arguments=arguments))
    assert wording.rejection(rejected) == "Dan-velhot ei voi olla 2; sallittu: 0, 3, 4, 5, 6, 7, 8."


def test_manifest_options_are_those_of_configure() -> None:
    manifest = TEXTS.manifest("en")
    assert [option.name for option in manifest.options] == [*OPTIONS]
    defaults = {option.name: option.default for option in manifest.options}
    for seats in range(1, 5):
        assert GAME.configure(defaults, seats) == GAME.configure({}, seats)
    for option in manifest.options:
        assert option.label
        assert option.icon
        assert option.choices[0].value == option.default
        assert all(item.label for item in option.choices)
        assert len({item.label for item in option.choices}) == len(option.choices)
    for name in ("first_mage", "troll_buster", "dan", "witchfinder_general"):
        for item in next(o for o in manifest.options if o.name == name).choices:
            assert isinstance(GAME.configure({name: item.value}, 4), MatchFacts)


def test_mages_are_given_to_seats_in_letters() -> None:
    option = next(o for o in TEXTS.manifest("fi").options if o.name == "mage_seats")
    labels = {item.value: item.label for item in option.choices}
    assert (labels[""], labels["0,1,1,0"], labels["0,0,1,2"]) == ("vuorotellen", "A D · B C", "A B · C · D")
    for value in [*labels][1:]:
        options = {"mage_seats": value, "mages": str(len(value.split(",")))}
        assert isinstance(GAME.configure(options, len({*value.split(",")})), MatchFacts), value


@both
def test_presets_are_options_that_hold(language: str) -> None:
    for preset in TEXTS.manifest(language).presets:
        assert preset.name
        assert isinstance(GAME.configure({option.name: option.value for option in preset.options}, 2), MatchFacts)


def test_the_digest_tells_manifests_apart() -> None:
    assert len({TEXTS.manifest(language).digest for language in LANGUAGES}) == 2
    spoilt = TEXTS.manifest("en")
    spoilt.name = "?"
    assert TEXTS.manifest("en").name == "Spellbound"
    assert TEXTS.manifest("el").digest == TEXTS.manifest("en").digest


@both
def test_every_prompt_and_command_has_its_text(language: str) -> None:
    words = words_in(language)
    never = {Stage.SETUP, Stage.OVER}
    assert {*(stage.value for stage in Stage if stage not in never), "any_time"} <= words.prompts.keys()
    wording = Wording(load_game("spellbound"), language)
    for code in GAME.schema.commands:
        assert code in words.commands
        assert not RAW.search(wording.command(code))
        # What remains of a sentence without its arguments must be one.
        assert not re.search(r"\b(from|to|on|and|ja)\W*$", wording.command(code)), code


@both
def test_every_use_of_every_card_has_a_label(language: str) -> None:
    commands = words_in(language).commands
    uses = {f"play_card_{face}_{mode.id}" for face, record in DATA.types.items() for mode in record.modes}
    assert uses == {key for key in commands if key.startswith("play_card_")}
    spells = {f"cast_spell_{card.id}" for card in DATA.cards if card.group == "spell" and card.timing != "at_once"}
    assert spells == {key for key in commands if key.startswith("cast_spell_")}


@both
def test_prompts_fit_a_small_screen(language: str) -> None:
    yours = Words(language)("turn.yours")
    for state, prompt in words_in(language).prompts.items():
        assert state == "default" or len(f"▶ {yours} · {prompt}") <= 61, prompt


# ---- sentences -------------------------------------------------------------------------------------------------------


def made(kind: Any, **fields: Any) -> Message:
    """An event with a field that is called like a word of the language."""
    event: Message = kind(**fields)
    return event


SENTENCES: list[tuple[Message, str]] = [
    (
        pb.PiecesPlaced(hats=[2] * 4, troll=1, books=[4] * 5, bag=pb.Stones(sun=3, moon=2)),
        "The books stand on space 4, the hats on 2, the troll on 1; all mages are in the wilderness. "
        "In the bag: sunstones 3, moonstones 2.",
    ),
    (pb.SpellDeckSet(count=10), "The spells are shuffled: 10."),
    (
        pb.VillagesSet(set_aside_count=21, box_count=7),
        "A card lies face down at each village; set aside: 21, in the box: 7.",
    ),
    (pb.WickedDeckSet(top="troll_a", count=10), "The wicked deck has 10 cards; on top: Troll."),
    (pb.DestinyDeckSet(number=0, attempt=1, count=21), "The destiny deck is shuffled: 21 cards."),
    (
        pb.DestinyDeckSet(number=1, count=30),
        "Sweep up: the destiny discards are shuffled into a new deck, 30 cards.",
    ),
    (pb.SetupDisplayUndone(attempt=1), "All four witches have come out: the set-up begins anew."),
    (pb.VillageRevealed(village="village_03", card="centaur_1"), "Turned up at village 3: Centaur."),
    (pb.TurnStarted(turn=3, mage=1, seat=0), "Turn 3: mage B, Mira."),
    (pb.TurnSkipped(turn=3, mage=1), "Mage B waits at the Witch's Tower and skips the turn."),
    (pb.SentToTower(cards=["pixies_1", "pixies_2"], pile="sun"), "To the tower, sun pile: Pixies, Pixies."),
    (pb.SentToTower(cards=["librarian"], pile="moon"), "To the tower, moon pile: Librarian."),
    (pb.CardPlayed(card="basic_move_red", mode="research"), "Travel (red) is played to research."),
    (pb.CardPlayed(card="dark_elf_1", mode="influence"), "Dark Elf is played to influence."),
    (pb.CardPlayed(card="dark_elf_1", mode="move"), "Dark Elf is played to move."),
    (pb.CardPlayed(card="warlock_1", mode="decimate"), "Both Warlocks strike at the tower."),
    (pb.CardPlayed(card="centaur_1", mode="ride"), "Centaur is played."),
    (pb.CardEnded(card="centaur_1", to="discards"), "Centaur is done and goes to the discards."),
    (
        pb.CardEnded(card="warlock_1", to="village_03", influence=2),
        "Warlock stays at village 3, worth influence: 2.",
    ),
    (pb.CardEnded(card="knight", to="guard"), "Knight stands guard until the end of the refill."),
    (
        made(pb.CardDiscarded, card="squire", cause="discard_card", **{"from": "display"}),
        "Squire is discarded unused.",
    ),
    (made(pb.CardDiscarded, card="squire", cause="cost", **{"from": "display"}), "Squire is discarded as the price."),
    (
        made(pb.CardDiscarded, card="witch_red_a", cause="warrior", **{"from": "upper_row"}),
        "The Warrior drives Witch (red) away.",
    ),
    (
        made(pb.CardDiscarded, card="basic_influence_red", cause="influence", **{"from": "village_03"}),
        "Influence (red) is taken away from village 3.",
    ),
    (
        made(pb.MageMoved, mage=0, cause="card", **{"from": "city_red", "to": "village_03"}),
        "Mage A moves from the red city to village 3.",
    ),
    (
        made(pb.MageMoved, mage=0, cause="wand", **{"from": "city_red", "to": "wilderness"}),
        "Mage A moves with the wand from the red city to the wilderness.",
    ),
    (
        made(pb.MageMoved, mage=1, cause="ride", **{"from": "wilderness", "to": "city_blue"}),
        "Mage B rides along to the blue city.",
    ),
    (
        made(pb.MageMoved, mage=1, cause="teleport", **{"from": "city_red", "to": "city_blue"}),
        "Mage B is teleported from the red city to the blue city.",
    ),
    (pb.RideAsked(mage=0, rider=1, to="village_05"), "Mage A asks mage B to ride along to village 5."),
    (pb.RideAnswered(mage=0, rider=1, to="village_05", accept=True), "Mage B rides along."),
    (pb.RideAnswered(mage=0, rider=1, to="village_05"), "Mage B does not want to ride along to village 5."),
    (pb.WandCharged(mage=0, level_now=2, cause="magic"), "Magic charges the wand of mage A to 2."),
    (pb.WandCharged(mage=0, level_now=1, cause="fairy_spring"), "The Fairy Spring charges the wand of mage A to 1."),
    (pb.WandUsed(mage=0, level=1), "Mage A uses the wand to move."),
    (pb.WandUsed(mage=0, level=2), "Mage A uses the wand to research."),
    (pb.WandUsed(mage=0, level=3), "Mage A uses the wand to discard a wicked card."),
    (
        pb.BagRefilled(sun=3, moon=2),
        "The bag was empty: the drawn stones go back into it, sunstones 3, moonstones 2.",
    ),
    (pb.StoneDrawn(number=1, stone="sun", cause="magic"), "A sunstone is drawn."),
    (pb.StoneDrawn(number=1, stone="moon", cause="battle"), "A moonstone is drawn."),
    (pb.StoneTurned(number=1), "Alchemy: the moonstone counts as a sunstone."),
    (
        pb.InfluenceAdded(village="village_03", card="dark_elf_1", amount_now=3),
        "Dark Elf gives influence at village 3, now 3.",
    ),
    (
        pb.AllyRecruited(village="village_03", card="lizardman_1", to_discards=["lizardman_2", "basic_influence_red"]),
        "Recruited at village 3: Lizardman. To the discards: Lizardman, Influence (red).",
    ),
    (pb.AllyRecruited(village="village_03", card="librarian"), "Recruited at village 3: Librarian."),
    (pb.VillageRestocked(village="village_03", card="halfling_2"), "New at village 3: Halfling."),
    (pb.VillageRestocked(village="village_03"), "No card is left at village 3."),
    (made(pb.WatchmanMoved, to="city_red"), "The watchman comes to the red city."),
    (
        made(pb.WatchmanMoved, **{"from": "city_red", "to": "city_blue"}),
        "The watchman goes from the red city to the blue city.",
    ),
    (pb.FortunaVisited(mage=2), "Mage C visits Fortuna."),
    (pb.FortunaResolved(stone="sun"), "Fortuna was visited: a sunstone goes into the bag."),
    (pb.FortunaResolved(stone="moon"), "Nobody visited Fortuna: a moonstone goes into the bag."),
    (pb.FortunaResolved(), "Fortuna leaves; no such stone is left in the supply."),
    (pb.BookMoved(book="red", to=6, mage=0, cause="card"), "Red spell book moves on to 6."),
    (pb.BookGained(book="silver"), "Silver spell book is gained."),
    (pb.BookLost(book="blue"), "Blue spell book is caught and lost."),
    (pb.SpellGained(mage=0, spell="hat_trick", cause="card"), "Mage A gains a spell: Hat Trick."),
    (pb.SpellCast(mage=0, spell="hat_trick", piece="hat_red"), "Mage A casts Hat Trick."),
    (pb.PuppetTaken(mage=0, puppet=1), "For the rest of the turn mage A acts with mage B."),
    (pb.StoryEnded(mage=0), "The story of mage A ends."),
    (
        pb.DisplayPurged(cards=["witch_red_a", "troll_b"]),
        "Purge: three or more wicked cards are discarded, Witch (red), Troll (2 moon).",
    ),
    (pb.DestinyCardDrawn(card="basic_magic_red", to="lower"), "Magic (red) comes into the mage row."),
    (pb.DestinyCardDrawn(card="witch_red_c", to="upper"), "Witch (red, 2 moon) comes into the wicked row."),
    (pb.DestinyCardDrawn(card="witch_red_a", to="discards"), "Witch (red) is drawn and stopped by the guard."),
    (pb.WickedCardActed(card="troll_a"), "Troll acts."),
    (pb.BatchFormed(cause="witch", moves=["hat_red"]), ""),
    (pb.BatchFormed(cause="troll", moves=["troll"]), ""),
    (
        pb.BatchFormed(cause="not_moved", moves=["hat_red"]),
        "The mage has not moved. About to move on: red hat.",
    ),
    (
        pb.BatchFormed(cause="tower_step", moves=["troll", "troll", "hat_red"]),
        "The step of the tower. About to move on: troll, troll, red hat.",
    ),
    (pb.PieceMoved(piece="hat_red", to=3, by=1, cause="witch"), "Red hat moves on to 3."),
    (pb.PieceMoved(piece="troll", to=3, by=-1, cause="troll_bane"), "Troll goes back to 3."),
    (pb.MovePrevented(piece="hat_red"), "Hat Trick: the red hat stays."),
    (pb.DeckRanOut(number=2), "The destiny deck has run out (end 2)."),
    (
        pb.WickedCardAdded(card="troll_a", next_top="witch_red_b"),
        "Troll joins the discards from the wicked deck; next there: Witch (red).",
    ),
    (pb.WickedCardAdded(card="troll_b"), "Troll (2 moon) joins the discards; the wicked deck is empty now."),
    (pb.EncounterCounted(moon=3, sun=7, result="won"), "Sun 7 against moon 3: the mages win."),
    (pb.EncounterCounted(moon=3, sun=3, result="one_step"), "Encounter: sun 3, moon 3. Baba Yaga wins one step."),
    (pb.EncounterCounted(moon=8, sun=3, result="two_steps"), "Encounter: sun 3, moon 8. Baba Yaga wins two steps."),
    (
        pb.EncounterCounted(moon=13, sun=3, result="annihilation"),
        "Encounter: sun 3, moon 13. Baba Yaga annihilates the mages.",
    ),
    (pb.EncounterCounted(moon=9, sun=9, result="lost"), "Final battle: sun 9, moon 9. Baba Yaga stands."),
    (pb.TowerCleared(cards=["librarian", "troll_a"]), "The tower is cleared; cards to the discards: 2."),
    (pb.EncounterWon(minion="skeleton_army"), "A minion joins Baba Yaga: Skeleton Army."),
    (pb.EncounterWon(), "No minion is left to join Baba Yaga."),
    (pb.WitchClimbed(step=3), "Baba Yaga climbs to step 3."),
    (
        pb.BattleDeclared(seat=1, books=[pb.BookUse(book="red", use="sun"), pb.BookUse(book="blue", use="sun")]),
        "Otso declares the final battle. Books as sun force: 2.",
    ),
    (
        pb.BattleDeclared(seat=1, books=[pb.BookUse(book="red", use="danzer")], destroyed=["danzer"]),
        "Otso declares the final battle. Books as sun force: 0; destroyed: DANZER.",
    ),
    (
        pb.WindowOpened(window="moves", seats=[1, 0]),
        "A spell could stop what is about to move. Asked: Otso, Mira.",
    ),
    (pb.Passed(window="moves", seat=1), "Otso passes."),
    (pb.WindowClosed(window="moves"), ""),
    (pb.ReactionPolicySet(seat=0, policy="always"), "Mira wants to be asked always."),
    (pb.TurnEnded(turn=1, mage=0), ""),
    (
        pb.MatchEnded(result="won", reason="final_battle"),
        "The match is won: Baba Yaga is beaten in the final battle.",
    ),
    (pb.MatchEnded(result="lost", reason="books_lost"), "The match is lost: a second book is lost."),
    (pb.PositionArranged(turn=4, turn_mage=1, acting_mage=1), "A position is arranged: turn 4, mage B."),
]


@pytest.mark.parametrize(("event", "sentence"), SENTENCES)
def test_sentence(event: Message, sentence: str) -> None:
    assert TEXTS.say_event(event, "en", NAMES) == sentence
    finnish = TEXTS.say_event(event, "fi", NAMES)
    assert bool(finnish) is bool(sentence)
    assert not RAW.search(finnish)
    assert finnish[:1].isupper() or not finnish


def test_every_event_is_said_or_known_to_be_silent() -> None:
    assert {type(event) for event, _ in SENTENCES} == {*GAME.schema.events.values()}


CAUSES: Mapping[tuple[type[Message], str], tuple[str, ...]] = {
    (pb.CardDiscarded, "cause"): (
        *("discard_card", "cost", "warrior", "warlock", "ranger", "changeling", "wand", "sun_burst", "influence"),
        *("fortuna", "guard", "end_of_deck"),
    ),
    (pb.WindowOpened, "window"): ("story_end", "moves", "end_of_deck", "stone", "encounter_stones"),
    (pb.ReactionPolicySet, "policy"): tuple(DATA.reaction_policies),
    (pb.BatchFormed, "cause"): ("not_moved", "purge", "empty_places", "tower_step"),
    (pb.MatchEnded, "reason"): (
        *("final_battle", "books_lost", "pieces_at_end", "witch_at_top", "wicked_deck_empty", "annihilation"),
        *("final_battle_lost", "resigned"),
    ),
}
"""Fields that word an event, and their values."""


@both
def test_every_cause_is_worded(language: str) -> None:
    for (kind, field), values in CAUSES.items():
        for value in values:
            fields = {field: value} | ({"from": "village_01"} if kind is pb.CardDiscarded else {})
            assert TEXTS.say_event(made(kind, **fields), language, NAMES), value
    assert {*CAUSES[pb.MatchEnded, "reason"]} == words_in(language).reasons.keys()


def test_places_are_inflected() -> None:
    moved = made(pb.MageMoved, mage=0, cause="card", **{"from": "wilderness", "to": "city_green"})
    assert TEXTS.say_event(moved, "fi", NAMES) == "Velho A siirtyy erämaasta vihreään kaupunkiin."
    given = pb.InfluenceAdded(village="village_12", card="halfling_1", amount_now=1)
    assert TEXTS.say_event(given, "fi", NAMES) == "Puolituinen vaikuttaa kylässä 12, vaikutusta nyt 1."


def test_a_seat_without_a_name_and_a_name_without_a_capital() -> None:
    passed = pb.Passed(window="moves", seat=1)
    assert TEXTS.say_event(passed, "en", {}) == "Seat 1 passes."
    assert TEXTS.say_event(passed, "en", {1: "otso"}) == "otso passes."


# ---- what is legal, in words -----------------------------------------------------------------------------------------

SPELLS = [card.id for card in DATA.cards if card.group == "spell" and card.timing != "at_once"]
GAINED = dict.fromkeys(BOOKS[:4], "gained")


def rich_states() -> Iterator[State]:
    """Every card that is played, every spell that is cast in one's own turn, every level of the wand."""
    faces = {
        card.type: card.id for card in reversed(DATA.cards) if card.kind == "mage" and card.group in ("basic", "ally")
    }
    cards = ["warlock_2", *faces.values()]
    for first in range(0, len(cards), 5):
        for place in ("wilderness", "village_08", "city_red"):
            yield arranged(
                {
                    "lower_row": cards[first : first + 5],
                    "upper_row": ["witch_blue_a"],
                    "moon_pile": ["witch_red_a", "troll_a"],
                    "influence": {"village_03": ["basic_influence_blue"]},
                    "mages": [place, place],
                    "wands": [3],
                    "spells": {0: SPELLS},
                    "hats": {"red": 2},
                },
                seats=2,
            )
    gathered = {"mages": ["village_04", "village_04"], "books": GAINED, "moon_pile": ["witch_red_c"]}
    yield arranged(
        {**gathered, "lower_row": ["pixies_1", "pixies_2", "librarian", "knight", "dragon_2"], "state": "witching"}, 2
    )
    waiting = {**gathered, "mages": ["village_04", "village_05"]}
    yield arranged({**waiting, "state": "witching"}, 2)


def said_entry(entry: prompt_pb2.LegalEntry, wording: Wording) -> Iterator[str]:
    yield wording.entry(entry)
    for slot in entry.slots:
        yield wording.slot(slot)
        yield from (wording.thing(ref) for ref in things(slot))
        for row in slot.assign.refs:
            yield from (wording.thing(choice) for choice in row.choices)


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


def wordings() -> list[Wording]:
    return [Wording(load_game("spellbound"), language) for language in LANGUAGES]


def test_what_is_legal_is_said_in_words() -> None:
    said, keys = wordings(), set[str]()
    for state in rich_states():
        keys |= {key for prompt in GAME.prompts(state) for key in check_entries(state, prompt, said)}
    for seed in range(2):
        for step in keen_match(seed, 2, {"mages": "3"}, tries=3):
            for prompt in GAME.prompts(step.state):
                keys |= check_entries(step.state, prompt, said)
    played = {key for key in words_in("en").commands if key.startswith(("play_card_", "use_wand_", "cast_spell_"))}
    assert played - keys <= {"cast_spell_alchemy", "cast_spell_hat_trick"}
    assert {"send_to_tower_pixies", "skip_turn", "declare_final_battle", "discard_influence_at", "end_card"} <= keys


def test_a_ride_names_the_rider() -> None:
    entry = prompt_pb2.LegalEntry(type="card_step", label=prompt_pb2.Label(key="card_step_ride"))
    entry.label.arguments.add(name="rider", value="1")
    entry.label.arguments.add(name="mage", value="1")
    english, finnish = wordings()
    assert english.entry(entry) == "Move and take mage B along"
    assert finnish.entry(entry) == "Siirry, kyydissä velho B"


@both
def test_whole_matches_can_be_told_and_drawn(language: str) -> None:
    templates = {t.key for t in TEXTS.manifest(language).templates}
    terminal = SpellboundTerminal()
    marks = 0
    for step in keen_match(7, 2, {"mages": "3"}, tries=3):
        for viewer in (Viewer.of_seat(step.prompt.seat), PUBLIC, ALL):
            lines = terminal.render(GAME.view(step.state, viewer), language, NAMES, 60)
            assert all(len(line) <= 60 for line in lines)
            assert not re.search(r"[{}]|\w_\w", "".join(lines))
        for event in step.events:
            assert not re.search(r"[{}]|\w_\w", TEXTS.say_event(event, language, NAMES))
            mark = TEXTS.mark(event)
            assert mark is None or mark.label in templates
            marks += mark is not None
    assert marks > 5


def test_another_games_view_is_refused() -> None:
    with pytest.raises(TypeError, match="no view of Spellbound"):
        SpellboundTerminal().render(two_towers_pb2.View(), "en", NAMES, 80)

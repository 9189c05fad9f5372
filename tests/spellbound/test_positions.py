"""Arranged positions: defaults, what can be named, what is refused (services/spellbound/README.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from grimoire.engine.written import PositionError
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.catalogue import DATA
from spellbound.notation import read_book, read_influence, read_stones, read_village
from spellbound.positions import SpellboundPositions, position_fault
from spellbound.state import Terms

THREE = {"mages": "3"}
TERMS = Terms(seats=3, mage_seats=(0, 1, 2))


def parse(position: dict[Any, Any], options: dict[str, str] | None = None) -> pb.PositionArranged:
    return SpellboundPositions().parse(position, THREE if options is None else options)


# ---- the notation ----------------------------------------------------------------------------------------------------


def test_words() -> None:
    assert read_stones("s0 m12") == (0, 12)
    assert read_village("?squire") == ("squire", True)
    assert read_influence("warlock_1*2") == ("warlock_1", 2)
    assert (read_book(4), read_book(8), read_book("gained"), read_book("lost")) == (4, 8, 9, 0)


@pytest.mark.parametrize("word", ["", "s3", "m2 s3", "s3m2", "s3 m", "s-1 m2", "s100 m2", "S3 m2", 32, None, ["s3 m2"]])
def test_what_is_no_number_of_stones(word: object) -> None:
    with pytest.raises(PositionError, match="is no number of stones"):
        read_stones(word)


@pytest.mark.parametrize("word", ["", "?", "??squire", "Squire", 3, True])
def test_what_lies_at_no_village(word: object) -> None:
    with pytest.raises(PositionError, match="is nothing that lies at a village"):
        read_village(word)


@pytest.mark.parametrize("word", ["", "warlock_1*3", "warlock_1*", "warlock_1 2", "?warlock_1"])
def test_what_is_no_influence(word: str) -> None:
    with pytest.raises(PositionError, match="is no lying influence"):
        read_influence(word)


@pytest.mark.parametrize("word", [0, 9, -1, True, "4", "", None])
def test_where_no_book_stands(word: object) -> None:
    with pytest.raises(PositionError, match="A book stands on a space"):
        read_book(word)


# ---- what is not named -----------------------------------------------------------------------------------------------


def test_the_standard_position() -> None:
    event = parse({})
    assert [(mage.place, mage.wand, [*mage.spells]) for mage in event.mages] == [
        ("wilderness", 0, []),
        ("village_01", 0, []),
        ("village_02", 0, []),
    ]
    assert ([*event.hats], event.troll, [*event.books], event.witch) == ([1, 1, 1, 1], 1, [4, 4, 4, 4, 4], 1)
    assert (event.state, event.turn, event.turn_mage, event.acting_mage) == ("story", 1, 0, 0)
    assert [(v.card, v.face_down) for v in event.villages] == [
        ("", False),
        ("", False),
        ("lizardman_1", False),
        ("witchs_tower", False),
        ("fairy_spring", False),
        ("fortuna_village", False),
        ("squire", False),
        ("halfling_1", False),
        *[("", True)] * 4,
    ]
    assert [*event.face_down] == [*[""] * 8, "vampire_1", "centaur_1", "city_watchman", "changeling"]
    basics = [card.id for card in DATA.cards if card.group == "basic"]
    assert ([*event.deck], [*event.lower_row], [*event.upper_row], [*event.discards]) == (basics, [], [], [])
    assert [*event.wicked_deck] == ["troll_a", *DATA.wicked_deck.shuffled]
    assert (event.wicked_top, event.wicked_deck_count, event.spell_deck_count, event.deck_count) == (
        "troll_a",
        10,
        10,
        15,
    )
    assert (event.bag, event.drawn, event.supply) == (pb.Stones(sun=3, moon=2), pb.Stones(), pb.Stones(sun=5, moon=6))
    assert ([*event.policies], event.watchman, event.stones_drawn) == (["when_it_matters"] * 3, "", 0)
    assert len(event.set_aside) == 21
    for record in ("progress", "ride", "batch", "window_caster"):
        assert not event.HasField(record)


def test_every_card_lies_in_one_place() -> None:
    event = parse(
        {"lower_row": ["warlock_2"], "influence": {"village_03": ["halfling_3"]}, "minions": ["skeleton_army"]}
    )
    rows = (event.lower_row, event.upper_row, event.sun_pile, event.moon_pile, event.discards, event.deck)
    rows = (*rows, event.wicked_deck, event.set_aside, event.box, event.removed, event.face_down, event.spell_deck)
    found = Counter(card for row in rows for card in row if card)
    found.update(v.card for v in event.villages if v.card)
    found.update(i.card for v in event.villages for i in v.influence)
    wanted = [card.id for card in DATA.cards if card.kind in ("mage", "location", "wicked", "spell")]
    assert found == Counter(wanted)


def test_in_witching_time_five_cards_lie_there() -> None:
    event = parse({"state": "witching", "deck_top": ["basic_move_red"]})
    assert [*event.lower_row] == [
        f"basic_{card}" for card in ("move_blue", "move_green", "move_yellow", "move_silver", "magic_red")
    ]
    assert [*parse({"state": "witching", "lower_row": [*event.lower_row, "squire"]}).lower_row][-1] == "squire"


def test_options_shape_the_position() -> None:
    event = parse({}, {"mages": "4", "mage_seats": "1,0,1,0", "dan": "5"})
    assert ([*event.mage_seats], event.seats, len(event.mages), event.mages[3].place) == (
        [1, 0, 1, 0],
        2,
        4,
        "wilderness",
    )
    assert (event.bag, event.supply, len(event.policies)) == (pb.Stones(sun=2, moon=5), pb.Stones(sun=6, moon=3), 2)
    assert parse({}, {"mages": "3", "troll_buster": "true"}).wicked_top == "witch_red_b"
    assert [*parse({}, {"mages": "2"}).face_down][9:] == ["centaur_1", "changeling", "dark_elf_1"]


# ---- what can be named -----------------------------------------------------------------------------------------------


def test_villages_make_room_for_named_cards() -> None:
    event = parse(
        {"lower_row": ["knight", "vampire_1"], "discards": ["centaur_1"], "villages": {"village_01": "dragon_1"}}
    )
    assert [v.card for v in event.villages][:8] == [
        "dragon_1",
        "",
        "lizardman_1",
        "witchs_tower",
        "fairy_spring",
        "fortuna_village",
        "",
        "halfling_1",
    ]
    assert [*event.face_down][8:] == ["city_watchman", "changeling", "dark_elf_1", "giant_eagle_1"]
    assert "squire" in event.box


def test_a_location_may_lie_elsewhere() -> None:
    event = parse({"villages": {"village_12": "?witchs_tower", "village_09": None}})
    assert (event.villages[3].card, event.villages[11].face_down, event.face_down[11]) == ("", True, "witchs_tower")
    assert (event.villages[8].card, event.face_down[8]) == ("", "")


def test_influence_lies_in_order() -> None:
    event = parse({"influence": {"village_03": ["warlock_1*2", "basic_influence_red"]}})
    assert [(i.card, i.amount) for i in event.villages[2].influence] == [("warlock_1", 2), ("basic_influence_red", 1)]
    assert "basic_influence_red" not in event.deck


def test_lists_and_mappings_by_number() -> None:
    event = parse({"mages": {1: "city_red"}, "wands": [0, 3], "spells": {"2": ["alchemy"]}, "policies": {0: "never"}})
    assert [mage.place for mage in event.mages] == ["wilderness", "city_red", "village_02"]
    assert ([mage.wand for mage in event.mages], [*event.mages[2].spells]) == ([0, 3, 0], ["alchemy"])
    assert [*event.policies] == ["never", "when_it_matters", "when_it_matters"]


def test_decks() -> None:
    assert [*parse({"deck_top": ["witch_red_a", "basic_move_blue"]}).deck][:3] == [
        "witch_red_a",
        "basic_move_blue",
        "basic_move_red",
    ]
    listed = parse({"deck": ["basic_move_blue"], "discards": ["dragon_2"]})
    assert ([*listed.deck], listed.discards[0], len(listed.discards)) == (["basic_move_blue"], "dragon_2", 15)
    assert (parse({"deck": 4}).deck_count, len(parse({"deck": 4}).discards)) == (4, 11)
    assert [*parse({"deck": []}).deck] == []
    assert [*parse({"wicked_deck": ["troll_b"]}).wicked_deck] == ["troll_b"]
    assert [*parse({"wicked_deck": 2, "upper_row": ["troll_a"]}).wicked_deck] == ["witch_red_b", "witch_red_c"]
    assert parse({"wicked_deck": []}).wicked_top == ""


def test_spells() -> None:
    top = parse({"spell_top": ["scry"], "spells": {0: ["alchemy"]}, "removed": ["teleport"]})
    assert ([*top.spell_deck][:2], top.spell_deck_count, [*top.removed]) == (["scry", "book_wyrm"], 8, ["teleport"])
    listed = parse({"spell_deck": ["scry"], "spells": {0: ["alchemy"]}})
    assert ([*listed.spell_deck], len(listed.removed)) == (["scry"], 8)


def test_the_middle_of_a_match() -> None:
    event = parse(
        {
            "turn": 30,
            "turn_mage": 2,
            "acting_mage": 0,
            "removed": ["puppetry"],
            "moved": True,
            "visited": True,
            "lower_row": ["fortuna_deck"],
            "hats": {"red": 9, "blue": 5},
            "books": {"red": "lost", "blue": 7, "silver": "gained"},
            "troll": 8,
            "witch": 4,
            "minions": ["skeleton_army", "goblin_spider_riders"],
            "watchman": "city_green",
            "drawn": "s2 m1",
            "bag": "s1 m1",
            "stones_drawn": 40,
            "sweep_ups": 3,
        }
    )
    assert (event.turn, event.turn_mage, event.acting_mage, event.moved, event.visited) == (30, 2, 0, True, True)
    assert ([*event.hats], event.troll, [*event.books], event.witch) == ([9, 5, 1, 1], 8, [0, 7, 4, 4, 9], 4)
    assert ([*event.minions], event.watchman) == (["skeleton_army", "goblin_spider_riders"], "city_green")
    assert (event.supply, event.stones_drawn) == (pb.Stones(sun=5, moon=6), 40)
    assert (event.sweep_ups, event.deck_ends) == (3, 3)
    assert parse({"drawn": "s2 m1"}).stones_drawn == 3


# ---- what is refused -------------------------------------------------------------------------------------------------

BAD: list[tuple[dict[Any, Any], str]] = [
    ({"gold": 3}, "no key 'gold'"),
    ({"state": "card"}, "`state` must be one of"),
    ({"turn": 0}, "`turn` must be"),
    ({"turn_mage": 3}, "`turn_mage` must be"),
    ({"acting_mage": 1}, "Only Puppetry"),
    ({"moved": 1}, "true or false"),
    ({"visited": True}, "Fortuna is visited while"),
    ({"mages": "wilderness"}, "must be a list, or a mapping from numbers"),
    ({"mages": ["nowhere"]}, "`mages` must be one of"),
    ({"mages": ["village_10"]}, "its card is face up"),
    ({"mages": {3: "wilderness"}}, "no key '3'"),
    ({"wands": [4]}, "`wands` must be"),
    ({"spells": {0: "alchemy"}}, "must be a list of words"),
    ({"spells": {0: ["nonsense"]}}, "no spell 'nonsense'"),
    ({"spells": {0: ["scry"]}}, "nobody holds it"),
    ({"spells": {0: ["alchemy"], 1: ["alchemy"]}}, "alchemy is in two places"),
    ({"spell_deck": [], "spell_top": []}, "not both"),
    ({"spell_deck": ["alchemy"], "removed": ["alchemy"]}, "alchemy is in two places"),
    ({"policies": {0: "sometimes"}}, "`policies` must be one of"),
    ({"policies": {3: "never"}}, "no key '3'"),
    ({"hats": {"silver": 2}}, "no key 'silver'"),
    ({"hats": [1, 1, 1, 1]}, "must be a mapping"),
    ({"hats": {"red": 10}}, "`red` must be"),
    ({"hats": {"red": 4}}, "hat_red has caught the book"),
    ({"troll": 5}, "troll has caught the book"),
    ({"books": {"red": 9}}, "A book stands on a space"),
    ({"books": {"red": "lost", "blue": "lost"}}, "two lost books"),
    ({"books": {"red": "gained", "silver": "gained"}, "hats": {"red": 9}, "troll": 9}, "two pieces on 9"),
    ({"witch": 5}, "`witch` must be"),
    ({"minions": ["danzer"]}, "in the order skeleton_army"),
    ({"minions": ["goblin_spider_riders", "skeleton_army"]}, "in the order skeleton_army"),
    ({"watchman": "wilderness"}, "`watchman` must be one of"),
    ({"bag": "3/2"}, "is no number of stones"),
    ({"bag": "s9 m2"}, "8 sunstones and 8 moonstones"),
    ({"bag": "s0 m0"}, "There is a stone to draw"),
    ({"drawn": "s1 m0", "stones_drawn": 0}, "Every stone of the drawn pile was drawn"),
    ({"lower_row": ["nonsense"]}, "no card 'nonsense'"),
    ({"lower_row": "squire"}, "must be a list of words"),
    ({"lower_row": ["squire", "squire"]}, "squire is in two places"),
    ({"lower_row": ["troll_a"]}, "does not lie in the lower row"),
    ({"upper_row": ["dragon_1"]}, "does not lie in the upper row"),
    ({"state": "witching", "upper_row": ["squire"]}, "Guards leave"),
    ({"state": "witching", "lower_row": ["squire"]}, "at least 5 cards"),
    ({"sun_pile": ["librarian"]}, "does not lie in the sun pile"),
    ({"sun_pile": ["fortuna_deck"]}, "does not lie in the sun pile"),
    ({"moon_pile": ["dragon_1"]}, "does not lie in the moon pile"),
    ({"moon_pile": ["skeleton_army"]}, "A spell or a minion lies among other cards"),
    ({"discards": ["alchemy"]}, "A spell or a minion lies among other cards"),
    ({"discards": ["fairy_spring"]}, "fairy_spring does not lie in the discards"),
    ({"deck": ["wand_1"]}, "A spell or a minion lies among other cards"),
    ({"deck": [], "deck_top": []}, "not both"),
    ({"deck": 16}, "`deck` must be"),
    ({"wicked_deck": 11}, "`wicked_deck` must be"),
    ({"wicked_deck": ["dragon_1"]}, "does not lie in the wicked deck"),
    ({"removed": ["basic_magic_red"]}, "neither at a village nor out of the match"),
    ({"removed": ["nonsense"]}, "no card 'nonsense'"),
    ({"villages": {"village_13": "squire"}}, "no key 'village_13'"),
    ({"villages": ["squire"]}, "must be a mapping"),
    ({"villages": {"village_01": "nonsense"}}, "no card 'nonsense'"),
    ({"villages": {"village_01": "troll_b"}}, "does not lie at a village"),
    ({"villages": {"village_04": None}}, "witchs_tower lies at one of the villages"),
    ({"influence": {"village_03": ["pixies_1"]}}, "gives no influence"),
    ({"influence": {"village_03": ["basic_move_red"]}}, "neither at a village nor out of the match"),
    ({"influence": {"village_03": ["basic_influence_red*2"]}}, "worth at most 1"),
    ({"influence": {"village_03": ["dark_elf_1*3"]}}, "is no lying influence"),
    ({"influence": {"village_03": ["warlock_1*2", "warlock_2*2"]}}, "With 4 influence lizardman_1 is recruited"),
    ({"influence": {"village_09": ["basic_influence_red"]}}, "No influence lies at village_09"),
    ({"influence": {"village_04": ["basic_influence_red"]}}, "No influence lies at village_04"),
]


@pytest.mark.parametrize(("position", "sentence"), BAD)
def test_a_bad_position_says_why(position: dict[Any, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        parse(position)


def test_a_bad_option_is_told() -> None:
    with pytest.raises(ValueError, match="dan must be one of"):
        parse({}, {"dan": "2"})
    with pytest.raises(ValueError, match="mage_seats must name"):
        parse({}, {"mages": "2", "mage_seats": "1,1"})
    with pytest.raises(ValueError, match="mages must be one of"):
        parse({}, {"mages": "7"})


def test_what_the_rules_forbid_names_its_rule() -> None:
    with pytest.raises(PositionError) as caught:
        parse({"hats": {"red": 4}})
    assert (caught.value.rule, str(caught.value)[-10:]) == ("SB-13.4", "(SB-13.4).")


# ---- positions from clients: whatever the parser would not make is refused, and nothing raises -----------------------

Forger = Callable[[pb.PositionArranged], object]

FORGED: list[tuple[str, Forger]] = [
    ("for its mages", lambda e: e.mage_seats.append(0)),
    ("3 seats", lambda e: setattr(e, "seats", 2)),
    ("`state` must be", lambda e: setattr(e, "state", "setup")),
    ("`state` must be", lambda e: setattr(e, "state", "nonsense")),
    ("`turn` must be", lambda e: setattr(e, "turn", 801)),
    ("3 mages", lambda e: setattr(e, "turn_mage", 3)),
    ("3 mages", lambda e: setattr(e, "acting_mage", 3)),
    ("four hats", lambda e: e.hats.pop()),
    ("five books", lambda e: e.books.append(4)),
    ("on a space in 1..9", lambda e: setattr(e, "troll", 0)),
    ("on a space in 4..8", lambda e: e.books.__setitem__(0, 3)),
    ("step in 1..4", lambda e: setattr(e, "witch", 0)),
    ("step in 1..4", lambda e: setattr(e, "witch", 5)),
    ("in the order", lambda e: e.minions.append("nonsense")),
    ("stands in a city", lambda e: setattr(e, "watchman", "wilderness")),
    ("3 mages", lambda e: e.mages.add(place="wilderness")),
    ("no place", lambda e: setattr(e.mages[0], "place", "nowhere")),
    ("level 0..3", lambda e: setattr(e.mages[0], "wand", 4)),
    ("reaction policy", lambda e: e.policies.pop()),
    ("no policy", lambda e: e.policies.__setitem__(0, "nonsense")),
    ("8 sunstones, not 9", lambda e: setattr(e.bag, "sun", 4)),
    ("8 sunstones, not 3", lambda e: e.ClearField("supply")),
    ("Every stone", lambda e: setattr(e, "stones_drawn", 200_000)),
    ("twelve villages", lambda e: e.villages.add()),
    ("twelve villages", lambda e: e.face_down.pop()),
    ("in two places", lambda e: e.discards.append("squire")),
    ("no card", lambda e: e.discards.append("nonsense")),
    ("lies nowhere", lambda e: e.set_aside.pop()),
    ("deck's count", lambda e: setattr(e, "deck_count", 3)),
    ("told of the deck", lambda e: e.deck_cards.pop()),
    ("wicked deck's count", lambda e: setattr(e, "wicked_deck_count", 3)),
    ("top card is another", lambda e: setattr(e, "wicked_top", "troll_b")),
    ("spell deck's count", lambda e: setattr(e, "spell_deck_count", 3)),
    ("ten spells", lambda e: e.spell_deck.pop()),
    ("no spell", lambda e: e.spell_deck.append("squire")),
    ("face up or face down", lambda e: setattr(e.villages[8], "face_down", False)),
    ("face up or face down", lambda e: setattr(e.villages[2], "face_down", True)),
    ("swept up", lambda e: setattr(e, "deck_ends", 1)),
    ("runs by itself", lambda e: (setattr(e, "deck_ending", True), setattr(e, "deck_ends", 1))),
    ("have acted", lambda e: e.new_cards.append("troll_a")),
    ("in the refill", lambda e: setattr(e, "squire_used", True)),
    ("holds the witch up", lambda e: setattr(e, "steps_to_climb", 1)),
    ("In story no card is in progress", lambda e: setattr(e.progress, "card", e.set_aside.pop())),
    ("In card a card is in progress", lambda e: setattr(e, "state", "card")),
    ("A ride is asked for", lambda e: e.ride.SetInParent()),
    ("A window is open in `reaction`", lambda e: setattr(e, "window", "moves")),
    ("A window is open in `reaction`", lambda e: setattr(e, "state", "reaction")),
    ("pass and cast in a window", lambda e: e.passed.append(0)),
    ("pass and cast in a window", lambda e: setattr(e, "window_caster", 0)),
    ("A batch waits", lambda e: e.batch.SetInParent()),
    ("The battle waits", lambda e: setattr(e, "battle", True)),
    ("in the battle only", lambda e: setattr(e, "battle_books", 1)),
    ("Stones wait", lambda e: (e.stones.add(number=1, stone="sun"), setattr(e, "stones_drawn", 1))),
    ("after an encounter", lambda e: setattr(e, "state", "choose_book")),
]


@pytest.mark.parametrize(("sentence", "forge"), FORGED)
def test_a_forged_position_is_refused(sentence: str, forge: Forger) -> None:
    event = parse({})
    assert position_fault(event, TERMS) == ""
    forge(event)
    assert sentence in position_fault(event, TERMS)


# ---- a card, a ride --------------------------------------------------------------------------------------------------


def in_card(**fields: Any) -> pb.PositionArranged:
    """A Centaur that has made one of its movements."""
    event = parse({"mages": ["wilderness", "wilderness", "village_02"], "lower_row": ["centaur_1"]})
    usual = {"card": "centaur_1", "mode": "ride", "left": [pb.Part(any=["move"], times=2)]}
    event.lower_row.remove("centaur_1")
    event.state = "card"
    event.progress.CopyFrom(pb.Progress(**(usual | fields)))
    return event


PROGRESS: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("", {"rider": 1, "refused": [pb.Ride(rider=2, to="city_red")]}),
    ("no mode", {"mode": "nonsense"}),
    ("no steps of centaur_1", {"left": []}),
    ("no steps of centaur_1", {"left": [pb.Part(any=["move"], times=4)]}),
    ("no steps of centaur_1", {"left": [pb.Part(any=["magic"], times=2)]}),
    ("the card has ended", {"left": [pb.Part(any=["move"], times=0)]}),
    ("given to a village", {"given": 1}),
    ("given to a village", {"village": "village_03"}),
    ("given to a village", {"village": "city_red", "given": 1}),
    ("with each step", {"village": "village_03", "given": 1}),
    ("recruited nobody", {"recruited": True}),
    ("3 mages", {"rider": 3}),
    ("no place", {"refused": [pb.Ride(rider=1, to="nowhere")]}),
]


@pytest.mark.parametrize(("sentence", "fields"), PROGRESS)
def test_a_card_in_progress(sentence: str, fields: dict[str, Any]) -> None:
    fault = position_fault(in_card(**fields), TERMS)
    assert sentence in fault
    assert bool(fault) == bool(sentence)


def test_only_a_centaur_carries() -> None:
    event = in_card()
    event.set_aside.remove("dragon_2")
    event.discards.append("centaur_1")
    parts = [pb.Part(any=[kind], times=1) for kind in ("move", "magic", "book_any")]
    event.progress.CopyFrom(pb.Progress(card="dragon_2", mode="all", left=parts))
    assert position_fault(event, TERMS) == ""
    event.progress.rider = 1
    assert "Only a Centaur" in position_fault(event, TERMS)


def test_influence_of_the_card_in_progress() -> None:
    event = in_card()
    event.set_aside.remove("warlock_2")
    event.discards.append("centaur_1")
    kinds = ["move", "magic", "influence"]
    warlock = {"card": "warlock_2", "mode": "two", "left": [pb.Part(any=kinds, times=1)], "village": "village_03"}
    event.progress.CopyFrom(pb.Progress(**warlock, given=1))
    assert position_fault(event, TERMS) == ""
    event.progress.village = "village_08"
    assert "halfling_1 is recruited" in position_fault(event, TERMS)
    event.progress.village, event.progress.given = "village_03", 2
    assert "with each step" in position_fault(event, TERMS)


RIDES: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("The acting mage rides", {"mage": 1}),
    ("Another mage rides along", {"rider": 0}),
    ("Another mage rides along", {"rider": 3}),
    ("where the acting mage stands", {"rider": 2}),
    ("no place", {"to": "nowhere"}),
    ("No movement leads there", {"to": "wilderness"}),
]


@pytest.mark.parametrize(("sentence", "fields"), RIDES)
def test_a_ride_that_is_asked_for(sentence: str, fields: dict[str, Any]) -> None:
    event = in_card()
    event.state = "consent"
    event.ride.CopyFrom(pb.Ride(**({"mage": 0, "rider": 1, "to": "city_red"} | fields)))
    fault = position_fault(event, TERMS)
    assert sentence in fault
    assert bool(fault) == bool(sentence)


def test_a_ride_that_would_not_be_asked_for() -> None:
    event = in_card(refused=[pb.Ride(rider=1, to="city_red")])
    event.state = "consent"
    event.ride.CopyFrom(pb.Ride(mage=0, rider=1, to="city_red"))
    assert "was declined" in position_fault(event, TERMS)
    event.progress.ClearField("refused")
    event.progress.rider = 2
    assert "one rider" in position_fault(event, TERMS)
    event.progress.ClearField("rider")
    for one_seat in (event.mage_seats,):
        one_seat[1] = 0
    terms = Terms(seats=3, mage_seats=(0, 0, 2))
    assert "does not ask itself" in position_fault(event, terms)


# ---- windows and choices ---------------------------------------------------------------------------------------------


def in_window(window: str, position: dict[Any, Any], **fields: Any) -> pb.PositionArranged:
    event = parse(position)
    event.state, event.window = "reaction", window
    event.MergeFrom(pb.PositionArranged(**fields))
    if event.deck_ending:
        event.deck_ends = event.sweep_ups + 1
    return event


HATS: dict[Any, Any] = {"spells": {2: ["hat_trick"]}, "hats": {"red": 3}, "upper_row": ["witch_red_a"], "moved": True}
RED = pb.Batch(cause="witch", moves=["hat_red"])
STONES: dict[Any, Any] = {"spells": {1: ["alchemy"]}, "drawn": "s0 m1", "bag": "s3 m1", "moved": True}
MOON = pb.DrawnStone(number=1, stone="moon")

WINDOWS: list[tuple[str, pb.PositionArranged]] = [
    ("", in_window("moves", HATS, batch=RED)),
    ("", in_window("moves", HATS, batch=RED, new_cards=["witch_red_a"], passed=[1])),
    ("A batch waits", in_window("moves", HATS)),
    ("`window` must be", in_window("nonsense", HATS)),
    ("nobody holds a fitting spell", in_window("moves", HATS, batch=RED, passed=[2])),
    ("nobody holds a fitting spell", in_window("moves", {**HATS, "hats": {}}, batch=RED)),
    ("passes once", in_window("moves", HATS, batch=RED, passed=[1, 1])),
    ("3 seats", in_window("moves", HATS, batch=RED, passed=[3])),
    ("3 seats", in_window("moves", HATS, batch=RED, window_caster=3)),
    ("`cause` must be", in_window("moves", HATS, batch=pb.Batch(cause="tea", moves=["hat_red"]))),
    ("at least one move", in_window("moves", HATS, batch=pb.Batch(cause="witch"))),
    ("no piece", in_window("moves", HATS, batch=pb.Batch(cause="witch", moves=["hat_silver"]))),
    ("hat_red moves once", in_window("moves", HATS, batch=pb.Batch(cause="witch", moves=["hat_red"] * 2))),
    ("She climbs", in_window("moves", HATS, batch=pb.Batch(cause="tower_step", moves=["hat_red"]))),
    ("Empty places count", in_window("moves", HATS, batch=pb.Batch(cause="empty_places", moves=["hat_red"]))),
    ("lies in the upper row", in_window("moves", {**HATS, "upper_row": []}, batch=RED)),
    ("before the refill", in_window("moves", HATS, batch=pb.Batch(cause="purge", moves=["hat_red"]), deck_ending=True)),
    ("in the order drawn", in_window("moves", HATS, batch=RED, new_cards=["witch_blue_a"])),
    (
        "",
        in_window(
            "moves",
            HATS,
            batch=pb.Batch(cause="tower_step", moves=["troll", "troll", "hat_red"]),
            deck_ending=True,
            steps_to_climb=1,
        ),
    ),
    (
        "Two steps are the most",
        in_window(
            "moves", HATS, batch=pb.Batch(cause="tower_step", moves=["hat_red"]), deck_ending=True, steps_to_climb=2
        ),
    ),
    (
        "stands on 9",
        in_window(
            "moves",
            {**HATS, "books": {"silver": "gained"}, "troll": 9},
            batch=pb.Batch(cause="purge", moves=["hat_red", "troll"]),
        ),
    ),
    ("", in_window("story_end", {"spells": {1: ["teleport"]}})),
    ("nobody holds a fitting spell", in_window("story_end", {"spells": {0: ["teleport"]}})),
    ("nobody holds a fitting spell", in_window("story_end", {"spells": {1: ["teleport"]}, "moved": True})),
    ("ends before the refill", in_window("story_end", {"spells": {1: ["teleport"]}}, deck_ending=True)),
    ("", in_window("end_of_deck", {"spells": {1: ["teleport"]}}, deck_ending=True)),
    ("has run out", in_window("end_of_deck", {"spells": {1: ["teleport"]}})),
    ("In reaction a card is in progress", in_window("stone", STONES, stones=[MOON])),
    ("", in_window("encounter_stones", {**STONES, "sun_pile": ["basic_move_red"]}, stones=[MOON], deck_ending=True)),
    ("as her strength, 1", in_window("encounter_stones", STONES, deck_ending=True)),
    ("in an encounter or in the battle", in_window("encounter_stones", STONES, stones=[MOON])),
    (
        "the last ones drawn",
        in_window("encounter_stones", STONES, stones=[pb.DrawnStone(number=2, stone="moon")], deck_ending=True),
    ),
    (
        "a sun or a moon",
        in_window("encounter_stones", STONES, stones=[pb.DrawnStone(number=1, stone="star")], deck_ending=True),
    ),
    (
        "Only Alchemy",
        in_window(
            "encounter_stones", STONES, stones=[pb.DrawnStone(number=1, stone="moon", turned=True)], deck_ending=True
        ),
    ),
    ("needs four books", in_window("encounter_stones", STONES, stones=[MOON], battle=True)),
]


@pytest.mark.parametrize(("sentence", "event"), WINDOWS)
def test_a_window(sentence: str, event: pb.PositionArranged) -> None:
    fault = position_fault(event, TERMS)
    assert sentence in fault
    assert bool(fault) == bool(sentence)


def test_the_battle() -> None:
    books = dict.fromkeys(("red", "blue", "green", "yellow"), "gained")
    position = {
        **STONES,
        "mages": ["village_04"] * 3,
        "books": books,
        "sun_pile": ["basic_move_red"],
        "moon_pile": ["witch_red_c", "witch_blue_c"],
    }
    event = in_window("encounter_stones", position, stones=[MOON], battle=True, battle_books=4)
    assert position_fault(event, TERMS) == ""
    event.battle_books = 3
    assert "one use" in position_fault(event, TERMS)
    event.removed.append(event.moon_pile.pop())
    assert position_fault(event, TERMS) == ""
    event.removed.append(event.moon_pile.pop())
    event.battle_books = 2
    assert "nobody holds a fitting spell" in position_fault(event, TERMS)
    event.mages[1].place = "wilderness"
    assert "All mages are at the tower" in position_fault(event, TERMS)


def test_a_stone_in_the_middle_of_a_card() -> None:
    position = {**STONES, "mages": ["city_red"], "hats": {"red": 3}, "lower_row": ["basic_magic_red"]}
    event = in_window("stone", position, stones=[MOON])
    event.lower_row.remove("basic_magic_red")
    event.progress.CopyFrom(pb.Progress(card="basic_magic_red", mode="action", left=[pb.Part(any=["magic"], times=0)]))
    assert position_fault(event, TERMS) == ""
    event.stones[0].turned = True
    assert "A moonstone was drawn" in position_fault(event, TERMS)
    event.stones[0].turned = False
    event.mages[0].place = "wilderness"
    assert "in a city" in position_fault(event, TERMS)
    event.mages[0].place, event.window = "city_red", "moves"
    event.batch.CopyFrom(RED)
    assert "while a card is in progress" in position_fault(event, TERMS)


def test_a_book_to_choose() -> None:
    event = parse({"minions": ["skeleton_army"]})
    event.state, event.deck_ending, event.deck_ends = "choose_book", True, 1
    assert position_fault(event, TERMS) == ""
    event.sun_pile.append(event.deck.pop())
    event.deck_cards.remove(event.sun_pile[0])
    event.deck_count -= 1
    assert "tower was cleared" in position_fault(event, TERMS)
    event.minions.pop()
    assert "a minion is in play" in position_fault(event, TERMS)
    event.books[:] = [9, 9, 9, 9, 4]
    assert "two books on track" in position_fault(event, TERMS)

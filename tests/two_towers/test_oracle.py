"""The game and a second implementation of its rules, played side by side: every number, card, prompt and event."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from tests.two_towers import oracle
from tests.two_towers.card_texts import read_text
from tests.two_towers.lockstep import Lockstep, odd_position
from two_towers.cards import CARDS
from two_towers.fields import FIELDS as NUMBERS
from two_towers.heuristic import heuristic_for

FIELDS = (*oracle.BATTLEFIELDS,)
STYLES = (("heuristic", "heuristic"), ("heuristic", "random"), ("random", "random"), ("random", "heuristic"))


def options_of(number: int) -> dict[str, str]:
    return {
        "battlefield": FIELDS[number % 8],
        "deck_type": ("standard", "endless")[number // 8 % 2],
        "turn_time_s": ("60", "10", "86400")[number % 3],
        "timeout_limit": ("3", "2", "10")[number // 3 % 3],
        "first_player": ("random", "seat_0", "seat_1")[number // 5 % 3],
    }


def played(number: int) -> Counter[str]:
    both = Lockstep(number, options_of(number), STYLES[number // 2 % 4])
    both.play_out()
    return both.counts


def test_the_oracle_gives_the_published_vectors():
    """TT-9.11, so that the two implementations do not merely agree with each other."""
    joint = oracle.joint_seed("tt-vector-1", bytes(range(32)), [b"\x11" * 32, b"\x22" * 32])
    assert joint.hex() == "a3cf2d2ced3fa6c8ef17d2865fbf425b0abd714bef60d21fccfe9a5b0ccd4f87"
    options = {**options_of(0), "first_player": "random"}
    match, _, digest = oracle.begin("tt-vector-1", options, joint)
    assert digest == "7a59ecc3d8fc4093d7b5989525288ebe08a228afcca4b53b4e5e044878064d65"
    hands = [" ".join(side["hand"]) for side in match["seats"]]
    assert hands[1] == "dragons_heart succubus forced_labor rock_garden elven_archers rainbow"
    assert hands[0] == "rabid_sheep emerald troll_trainer orc phase_jewel elven_scouts"
    assert (match["active"], match["pile"][-3:]) == (1, ["innovations", "mondo_wall", "gnome"])
    match, _, digest = oracle.begin("tt-vector-1", {**options, "deck_type": "endless"}, joint)
    assert digest == "b599868f816f76a62df4bd48e8c81321a19e12793d38153fcd61a6cd4825e09c"


@pytest.mark.parametrize("card", CARDS)
def test_a_card_says_the_same_in_both_languages(card):
    text = CARDS[card].text
    assert read_text(text.en, "en") == read_text(text.fi, "fi")


def test_a_sentence_that_no_card_may_have_is_not_read():
    for text, language in (("Deal 3 damage to everybody.", "en"), ("If you feel like it, act again.", "en")):
        with pytest.raises(ValueError, match="no card may"):
            read_text(text, language)


@pytest.mark.parametrize("number", range(24))
def test_a_match_goes_the_same_way_twice(number):
    counts = played(number)
    assert counts["turn_started"]
    assert counts["match_ended"] or counts["turn_timed_out"]


def odd_match(number: int) -> Lockstep:
    options = options_of(number)
    plan = odd_position(number, options)
    both = Lockstep(number, options, STYLES[number // 2 % 4], troubles=(40, 5), plan=plan)
    for _ in range(60):
        if both.match["result"]:
            break
        both.step()
    return both


@pytest.mark.parametrize("tens", range(4))
def test_from_odd_positions_too(tens):
    """Where real deals seldom lead: hundredth plays, last turns, empty piles, no producers, nearly lost clocks."""
    for number in range(10 * tens, 10 * tens + 10):
        odd_match(number)


def test_odd_positions_lead_everywhere():
    counts: Counter[str] = Counter()
    for number in range(1000, 1060):
        both = odd_match(number)
        counts += both.counts
        if both.match["result"]:
            counts.update([*both.match["result"]["reasons"], f"ladder {both.match['result']['ladder_step']}"])
    wanted = {"pile_reshuffled", "turn_limit", "tower_built", "tower_destroyed", "resource", "timeouts", "must_discard"}
    assert wanted <= counts.keys()
    assert {"ladder tower", "ladder wall"} <= counts.keys()


def test_an_absent_seat_loses_by_the_clock():
    both = Lockstep(1, {"timeout_limit": "2"}, ("absent", "heuristic"), troubles=(30, 0))
    both.play_out()
    assert both.match["result"]["reasons"] == ["timeouts"]
    assert both.match["result"]["winner"] == 1


@pytest.mark.parametrize("seat", [0, 1])
def test_giving_up_ends_it_in_turn_and_out_of_turn(seat):
    for decisions in (0, 5, 12):
        both = Lockstep(decisions, {"deck_type": "endless"}, ("random", "heuristic"))
        for _ in range(decisions):
            both.step()
        if not both.match["result"]:
            both.resign(seat)
            assert both.match["result"]["winner"] == 1 - seat


@pytest.mark.parametrize("field", FIELDS)
def test_the_heuristic_players_score_is_the_rules(field):
    """TT-13.1 in exact fractions, over numbers small, usual and beyond every goal."""
    goals = {name: oracle.BATTLEFIELDS[field][name] for name in ("goal_tower", "goal_resource")}
    player, chance = heuristic_for(**goals), random.Random(f"score {field}")
    for _ in range(300):
        sides = [
            {name: chance.choice((0, 1, 5, 6, 7, 39, 40, 41, 59, 60, 61, chance.randrange(700))) for name in NUMBERS}
            for _ in (0, 1)
        ]
        exact = oracle.score(goals, *sides)
        assert abs(player.score(*([*side.values()] for side in sides)) - exact) < 1e-9


def test_plays_that_are_worth_the_same_go_to_the_lowest_slot():
    """Three producers for three of each stock: equal in exact numbers, not always in floating ones."""
    player = heuristic_for(50, 150)
    for producers in range(9):
        for stock in range(3, 20):
            own = [20, 5, producers, producers, producers, stock, stock, stock]
            for hand in itertools.permutations(["miners", "spell_weavers", "minotaur"]):
                assert player.choose([*hand, "dragon", "dragon", "dragons_eye"], own, own) == (True, 0)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("hundred", [1, 2])
def test_a_hundred_matches_go_the_same_way_twice(hundred):
    counts: Counter[str] = Counter()
    for number in range(100 * hundred, 100 * hundred + 100):
        counts += played(number)
    for kind in ("pile_reshuffled", "turn_timed_out", "must_discard", "cannot_afford", "bad_slot", "card_mismatch"):
        assert counts[kind], kind

"""What holds at every moment of every match (SB-22)."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter

import pytest

from grimoire.engine import ALL, CLOCK, PUBLIC, Decision, Viewer
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.v1 import match_pb2
from spellbound.cards import ALLIES, FORTUNA, INFLUENCE, MINIONS, SPELLS
from spellbound.catalogue import DATA
from spellbound.notions import ally_at, amount_at
from spellbound.places import FIRST_VILLAGE, GAINED, LOST, TRACK_END, VILLAGES, on_track
from spellbound.state import Stage, State
from tests.spellbound.keen import GAME, Played, draws, joint, keen_match, keen_play, started
from tests.spellbound.positions import LATE, late_state

OPTIONS = (
    (1, {"mages": "2"}),
    (2, {"dan": "6"}),
    (3, {"troll_buster": "true", "mages": "4"}),
    (4, {"witchfinder_general": "true"}),
)


@functools.cache
def matches() -> tuple[tuple[Played, ...], ...]:
    """Whole matches: from the deal with every difficulty, and from late positions."""
    dealt = [tuple(keen_match(number, *OPTIONS[number % 4], tries=12)) for number in range(8)]
    late = [tuple(keen_play(late_state(number % 3), number, tries=8)) for number in range(9)]
    return (*dealt, *late)


def states() -> list[State]:
    """Every state of these matches."""
    return [state for match in matches() for state in (match[0].state, *(played.after for played in match))]


def test_these_matches_go_deep():
    """A test of the tests: what they look at happens."""
    reasons = {match[-1].after.result.reason for match in matches()}
    seen = {GAME.schema.code(event) for match in matches() for played in match for event in played.events}
    assert "final_battle" in reasons
    assert len(reasons) > 1
    start = {"pieces_placed", "spell_deck_set", "villages_set", "wicked_deck_set", "setup_display_undone"}
    rare = {"reaction_policy_set", "position_arranged", "bag_refilled", "turn_skipped", "fortuna_visited"}
    assert seen >= GAME.schema.events.keys() - start - rare


# ---- SB-22.1 ---------------------------------------------------------------------------------------------------------


def zones(state: State) -> list[str]:
    """Every card that is somewhere; minions out of play are nowhere."""
    in_progress = [] if state.progress is None else [state.progress.card]
    return [
        *in_progress,
        *state.lower,
        *state.upper,
        *state.sun_pile,
        *state.moon_pile,
        *state.minions,
        *state.discards,
        *state.removed,
        *state.deck,
        *state.spell_deck,
        *state.wicked_deck,
        *state.set_aside,
        *state.box,
        *(card for card in state.villages if card),
        *(card for lying in state.lying for card, _ in lying),
        *(spell for held in state.spells for spell in held),
    ]


def test_every_card_lies_in_exactly_one_zone():
    in_play = {card.id for card in DATA.cards if card.kind not in ("wand", "unused", "minion")}
    for state in states():
        counted = Counter(zones(state))
        assert max(counted.values()) == 1
        assert counted.keys() - {*MINIONS} == in_play


# ---- SB-22.2 ---------------------------------------------------------------------------------------------------------


def test_stones_are_conserved_and_the_supply_never_grows():
    for match in matches():
        for played in match:
            before, after = played.state, played.after
            for stone, of in enumerate((DATA.stones.sun, DATA.stones.moon)):
                assert after.bag[stone] + after.drawn[stone] + after.supply[stone] == of
                assert min(after.bag[stone], after.drawn[stone], after.supply[stone]) >= 0
                assert after.supply[stone] <= before.supply[stone]
            drawn = [event for event in played.events if isinstance(event, pb.StoneDrawn)]
            assert after.stones_drawn == before.stones_drawn + len(drawn)


# ---- SB-22.3, SB-22.10 -----------------------------------------------------------------------------------------------


def test_tracks_wands_and_the_witch_keep_their_bounds():
    for state in states():
        for book, piece in zip(state.books, state.pieces, strict=True):
            assert 1 <= piece <= TRACK_END
            assert book in (LOST, GAINED) or 4 <= book <= 8
            if on_track(book):
                assert piece < book
        assert all(0 <= wand <= DATA.constants.wand_top for wand in state.wands)
        assert 1 <= state.witch <= len(DATA.tower)
        if state.result is None:
            assert state.books.count(LOST) <= 1
            assert state.pieces.count(TRACK_END) <= 1
            assert state.witch < len(DATA.tower)


def test_books_and_the_witch_never_go_back():
    for match in matches():
        for played in match:
            assert played.after.witch >= played.state.witch
            for before, after in zip(played.state.books, played.after.books, strict=True):
                assert after >= before or after == LOST


def test_nothing_happens_after_the_end():
    for match in matches():
        assert isinstance(match[-1].events[-1], pb.MatchEnded)
        for played in match:
            ends = [index for index, event in enumerate(played.events) if isinstance(event, pb.MatchEnded)]
            assert ends in ([], [len(played.events) - 1])


# ---- SB-22.4, SB-22.5 ------------------------------------------------------------------------------------------------


def test_the_display_is_full_when_a_turn_begins_and_small_when_a_story_ends():
    for match in matches():
        for played in match:
            if played.after.asked is Stage.WITCHING:
                assert len(played.after.lower) >= DATA.constants.display_mages
            if any(isinstance(event, pb.StoryEnded) for event in played.events):
                others = [card for card in played.state.lower if card != FORTUNA]
                assert len(others) <= DATA.constants.leave_at_most


def test_lying_influence_is_below_what_the_ally_asks_for():
    for state in states():
        for place in range(FIRST_VILLAGE, FIRST_VILLAGE + len(VILLAGES)):
            ally = ally_at(state, place)
            if ally and state.result is None:
                assert amount_at(state, place) < INFLUENCE[ally]


# ---- SB-22.6, SB-22.7 ------------------------------------------------------------------------------------------------


def test_spells_are_gained_one_for_each_spell_space():
    for match in matches()[:8]:
        gained = 0
        for played in match:
            moved = [event.to for event in played.events if isinstance(event, pb.BookMoved)]
            gained += sum(to in DATA.tracks[0].spell_spaces for to in moved)
            held = [spell for spells in played.after.spells for spell in spells]
            cast = [card for card in played.after.removed if card in SPELLS]
            assert len(held) + len(cast) == gained
            assert gained + len(played.after.spell_deck) == len(SPELLS)


def test_a_refill_never_meets_two_ends_of_the_deck():
    for match in matches():
        for played in match:
            assert sum(isinstance(event, pb.DeckRanOut) for event in played.events) <= 1


# ---- SB-22.8, SB-22.11 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(4))
def test_defaults_alone_end_every_match(number):
    seats, options = OPTIONS[number]
    state, secret, commands = started(number, seats, options).state, joint(number), 0
    turn_commands = 0
    while state.result is None:
        prompt = GAME.prompts(state)[0]
        decision = GAME.decide(state, CLOCK, match_pb2.Expire(prompt_id=1), prompt, draws(secret))
        assert isinstance(decision, Decision), decision
        turn_commands = turn_commands + 1 if decision.state.turn == state.turn else 0
        assert turn_commands <= 200
        state, commands = decision.state, commands + 1
    assert state.turn <= 800


@pytest.mark.parametrize("number", range(len(LATE)))
def test_every_prompt_has_a_default_that_is_legal(number):
    """In the middle of windows, rides and encounters, too."""
    for played in keen_play(late_state(number), f"defaults {number}", tries=4):
        for prompt in GAME.prompts(played.state):
            if prompt.required:
                answer = GAME.decide(played.state, CLOCK, match_pb2.Expire(prompt_id=1), prompt, draws(joint(1)))
                assert isinstance(answer, Decision), answer


# ---- SB-22.9 ---------------------------------------------------------------------------------------------------------


def test_every_viewer_sees_the_same():
    for state in random.Random(1).sample(states(), 60):
        seen = {GAME.view(state, viewer).SerializeToString(deterministic=True) for viewer in _viewers(state)}
        assert len(seen) == 1


def _viewers(state: State) -> list[Viewer]:
    return [PUBLIC, *map(Viewer.of_seat, range(state.terms.seats))]


def test_a_view_names_no_hidden_card():
    """What only the all-seeing view has: its words are nowhere else in the view of a seat."""
    for state in random.Random(2).sample(states(), 60):
        shown = str(GAME.view(state, PUBLIC))
        hidden = {card for card, up in zip(state.villages, state.face_up, strict=True) if card and not up}
        hidden |= {*state.box, *state.set_aside, *state.spell_deck, *state.wicked_deck[1:]}
        assert not hidden & {*re.findall(r'"(\w+)"', shown)}
        assert {*GAME.view(state, ALL).box} == {*state.box}


def test_a_seat_that_is_asked_holds_what_the_window_is_about():
    for match in matches():
        for played in match:
            for event in played.events:
                if isinstance(event, pb.WindowOpened):
                    assert event.seats
            if played.state.asked is Stage.REACTION:
                seat = played.prompt.seat
                mages = [mage for mage, of in enumerate(played.state.terms.mage_seats) if of == seat]
                assert any(played.state.spells[mage] for mage in mages)


def test_sets_of_allies_stay_together():
    """Once an ally is recruited, none of its set is set aside any more (SB-7.10)."""
    for match in matches():
        for played in match:
            for event in played.events:
                if isinstance(event, pb.AllyRecruited):
                    its_set = next(s for s in DATA.ally_sets if event.card in s.cards)
                    assert not {*its_set.cards} & {*played.after.set_aside}
                    assert event.card in ALLIES

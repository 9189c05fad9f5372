"""SB-16: who is asked, on what, and which prompt is renewed by what."""

from __future__ import annotations

import pytest
from google.protobuf.message import Message

from grimoire.engine import Actor, Decision, Illegal, OutcomeKind, Prompt
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.v1 import match_pb2
from spellbound.state import Stage, State
from tests.spellbound.keen import GAME, draws, joint
from tests.spellbound.positions import arranged

HELD = {"spells": [[], ["teleport"], ["book_wyrm"]], "lower_row": ["centaur_1", "basic_move_red"]}


def answer(state: State, seat: int, command: Message, prompt: Prompt | None = None) -> Decision[State] | Illegal:
    """This seat's answer to its first prompt."""
    if prompt is None:
        prompt = next((prompt for prompt in GAME.prompts(state) if prompt.seat == seat), None)
    return GAME.decide(state, Actor.of_seat(seat), command, prompt, draws(joint(4)))


def after(state: State, seat: int, command: Message) -> State:
    """The state after an accepted answer."""
    decision = answer(state, seat, command)
    assert isinstance(decision, Decision), decision
    return decision.state


def with_policy(state: State, seat: int, policy: str) -> State:
    """The state after a seat said what it wants to be asked."""
    command = pb.SetReactionPolicy(policy=policy)
    decision = GAME.decide(state, Actor.of_seat(seat), command, None, draws(joint(4)))
    assert isinstance(decision, Decision), decision
    return decision.state


def asked(state: State) -> list[tuple[int, str, bool]]:
    return [(prompt.seat, prompt.kind, prompt.required) for prompt in GAME.prompts(state)]


def test_seats_with_a_spell_for_any_time_have_an_optional_prompt_beside_the_active_seats():
    state = arranged(HELD, 3)
    assert asked(state) == [(0, "story", True), (1, "any_time", False), (2, "any_time", False)]
    optional = GAME.prompts(state)[1]
    assert optional.deadline_class == ""


def test_the_active_seat_casts_such_a_spell_at_its_own_prompt():
    state = arranged({**HELD, "spells": [["teleport"], [], []]}, 3)
    assert asked(state) == [(0, "story", True)]
    assert answer(state, 0, pb.CastSpell(spell="teleport", mage=1, to="city_red")).state.places[1] == 0


def test_a_seat_without_a_book_to_move_is_not_asked():
    state = arranged({**HELD, "books": dict.fromkeys(("red", "blue", "green", "yellow", "silver"), "gained")}, 3)
    assert asked(state) == [(0, "story", True), (1, "any_time", False)]


def test_the_optional_prompt_stays_open_while_the_active_seat_plays_on():
    state = arranged(HELD, 3)
    later = after(state, 0, pb.PlayCard(card="centaur_1", mode="ride"))
    assert GAME.prompts(state)[1:] == GAME.prompts(later)[1:]
    assert GAME.prompts(state)[0] != GAME.prompts(later)[0]


def test_a_spell_cast_unasked_renews_the_active_seats_prompt():
    state = arranged(HELD, 3)
    later = after(state, 2, pb.CastSpell(spell="book_wyrm", book="silver"))
    assert asked(later) == [(0, "story", True), (1, "any_time", False)]
    assert GAME.prompts(state)[0].key != GAME.prompts(later)[0].key


@pytest.mark.parametrize(
    "command", [pb.EndStory(), pb.DiscardCard(card="centaur_1"), pb.Pass(), pb.AnswerRide(accept=True)]
)
def test_an_optional_prompt_takes_spells_only(command):
    refused = answer(arranged(HELD, 3), 1, command)
    assert isinstance(refused, Illegal)
    assert refused.code == "wrong_state"


def test_a_policy_renews_no_prompt():
    state = arranged(HELD, 3)
    decision = GAME.decide(state, Actor.of_seat(1), pb.SetReactionPolicy(policy="never"), None, draws(joint(4)))
    assert isinstance(decision, Decision)
    assert GAME.prompts(decision.state) == GAME.prompts(state)
    assert decision.state.policies == ("when_it_matters", "never", "when_it_matters")


def test_a_seat_that_wants_no_windows_any_more_has_answered_the_open_one():
    """Nobody waits for it: the match goes on (SB-16.8)."""
    position = {"moved": True, "spells": [[], ["hat_trick"], []], "hats": {"red": 3}, "lower_row": ["basic_move_red"]}
    state = after(arranged({**position, "deck_top": ["witch_red_b"]}, 3), 0, pb.EndStory())
    assert asked(state) == [(1, "reaction", True)]
    decision = GAME.decide(state, Actor.of_seat(1), pb.SetReactionPolicy(policy="never"), None, draws(joint(4)))
    assert isinstance(decision, Decision)
    assert [type(event).__name__ for event in decision.events][:4] == [
        "ReactionPolicySet",
        "Passed",
        "WindowClosed",
        "PieceMoved",
    ]
    assert decision.state.asked is Stage.WITCHING


def test_who_changes_its_mind_about_windows_is_not_asked_twice_in_one():
    """However often a seat changes its policy, the others' time to answer runs on (SB-16.3)."""
    position = {"moved": True, "hats": {"red": 3}, "lower_row": ["basic_move_red"], "deck_top": ["witch_red_b"]}
    state = after(arranged({**position, "spells": [[], ["hat_trick"], ["book_wyrm"]]}, 3), 0, pb.EndStory())
    assert asked(state) == [(1, "reaction", True)]
    state = with_policy(state, 1, "never")
    waiting = GAME.prompts(state)
    assert asked(state) == [(2, "reaction", True)]
    for policy in ("when_it_matters", "always", "never", "always"):
        state = with_policy(state, 1, policy)
        assert GAME.prompts(state) == waiting


def test_a_ride_asks_the_riders_seat_and_nobody_else():
    state = arranged({**HELD, "mages": ["wilderness"] * 3}, 3)
    state = after(state, 0, pb.PlayCard(card="centaur_1", mode="ride"))
    state = after(state, 0, pb.CardStep(step="move", to="city_red", rider=2))
    assert asked(state) == [(2, "consent", True)]
    assert asked(after(state, 2, pb.AnswerRide(accept=False)))[0] == (0, "card", True)


def test_a_seat_with_several_mages_asks_itself_nothing():
    state = arranged({**HELD, "mages": ["wilderness"] * 3, "spells": [[], [], []]}, 2, mages="3", mage_seats="0,1,0")
    state = after(state, 0, pb.PlayCard(card="centaur_1", mode="ride"))
    state = after(state, 0, pb.CardStep(step="move", to="city_red", rider=2))
    assert state.places == (0, 4, 0)
    assert asked(state) == [(0, "card", True)]


@pytest.mark.parametrize("seat", range(3))
def test_whoever_resigns_loses_for_all(seat):
    decision = GAME.decide(arranged(HELD, 3), Actor.of_seat(seat), match_pb2.Resign(), None, draws(joint(4)))
    assert isinstance(decision, Decision)
    outcome = GAME.outcome(decision.state)
    assert outcome is not None
    assert (outcome.kind, outcome.ranks, outcome.reasons) == (OutcomeKind.COOP_LOST, (1, 1, 1), ("resigned",))
    assert GAME.prompts(decision.state) == ()

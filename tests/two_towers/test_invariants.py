"""TT-11: what always holds, over random matches of every battlefield with both decks."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grimoire.engine import CLOCK, PUBLIC, Actor, Decision, Viewer
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import match_pb2
from tests.two_towers.table import GAME, Table, random_joint
from two_towers.battlefields import BATTLEFIELDS
from two_towers.cards import CATALOGUE
from two_towers.fields import TOWER
from two_towers.state import Phase, State

MATCHES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32),
        "battlefield": st.sampled_from([*BATTLEFIELDS]),
        "deck_type": st.sampled_from(["standard", "endless"]),
        # How often a seat prefers to play, and how often its clock runs out.
        "eagerness": st.floats(0, 1),
        "absence": st.sampled_from([0.0, 0.0, 0.2]),
    }
)
LONG = 500


def begin(match: dict[str, object]) -> tuple[Table, random.Random]:
    seed = int(str(match["seed"]))
    options = {key: match[key] for key in ("battlefield", "deck_type")}
    return Table.dealt(random_joint(seed), **options), random.Random(seed)


def play_on(table: Table, rng: random.Random, match: dict[str, object], limit: int = LONG) -> Iterator[State]:
    """Random play; gives the state before each command."""
    for _ in range(limit):
        if table.state.result is not None:
            return
        yield table.state
        if rng.random() < float(str(match["absence"])):
            table.expire()
            continue
        prompt = table.prompt
        legal = GAME.legal(table.state, prompt.seat, prompt)
        plays = [entry for entry in legal if entry.type == "play_card"]
        eager = plays and rng.random() < float(str(match["eagerness"]))
        entry = rng.choice(plays if eager else legal)
        table.accept(Actor.of_seat(prompt.seat), GAME.schema.command(entry.type, entry.fixed), prompt)


@settings(deadline=None, max_examples=40)
@given(MATCHES)
def test_every_state_is_sound(match: dict[str, object]) -> None:
    table, rng = begin(match)
    turn, decisions, plays = 1, 0, 0
    for state in play_on(table, rng, match):
        assert all(n >= 0 for side in state.seats for n in side.numbers)  # TT-11.1
        assert all(side.numbers[TOWER] > 0 for side in state.seats)
        check_cards(state)
        assert all("" not in side.hand for side in state.seats)  # TT-11.3
        (prompt,) = GAME.prompts(state)  # TT-11.4
        assert (prompt.seat, prompt.kind, prompt.key) == (state.active, state.phase.value, decisions + 1)
        assert (state.active == state.terms.first_seat) == (state.turn_no % 2 == 1)
        assert state.turn_no in (turn, turn + 1)
        assert GAME.legal(state, prompt.seat, prompt)  # TT-11.5
        assert GAME.outcome(state) is None
        plays = state.plays
        assert plays < 100 or (plays == 100 and state.phase is Phase.FORCED_DISCARD)  # TT-11.10
        turn, decisions = state.turn_no, decisions + 1
    if table.state.result is not None:
        assert GAME.prompts(table.state) == ()
        assert GAME.outcome(table.state) is not None
    assert table.state.turn_no <= 1000


def check_cards(state: State) -> None:
    # TT-11.2
    zero, one = (side.hand for side in state.seats)
    if state.terms.standard:
        assert sorted((*state.pile, *state.discards, *zero, *one)) == sorted(CATALOGUE)
    else:
        assert all(hand.count(card) <= 2 for hand in (zero, one) for card in hand)
        assert not state.pile
        assert not state.discards


@settings(deadline=None, max_examples=15)
@given(MATCHES)
def test_every_event_leaves_a_sound_state(match: dict[str, object]) -> None:
    # TT-11.2 "at every event boundary outside a single draw", TT-11.6 at every prefix
    table, rng = begin(match)
    for _ in play_on(table, rng, match, 60):
        pass
    state = table.folded(0)
    for event in table.history:
        state = GAME.evolve(state, event)
        assert all(n >= 0 for side in state.seats for n in side.numbers)
        if state.turn_no and state.terms.standard:
            held = [card for side in state.seats for card in side.hand if card]
            assert sorted((*state.pile, *state.discards, *held)) == sorted(CATALOGUE)
    assert state == table.state


@settings(deadline=None, max_examples=15)
@given(MATCHES)
def test_same_material_same_bytes(match: dict[str, object]) -> None:
    # TT-11.7
    logs = []
    for _ in range(2):
        table, rng = begin(match)
        for _ in play_on(table, rng, match, 80):
            pass
        logs.append([event.SerializeToString() for event in table.history])
    assert logs[0] == logs[1]


@settings(deadline=None, max_examples=25)
@given(MATCHES, st.integers(0, 60), st.integers(0, 1))
def test_views_never_differ_by_hidden_cards(match: dict[str, object], commands: int, seat: int) -> None:
    # TT-11.8
    table, rng = begin(match)
    for _ in play_on(table, rng, match, commands):
        pass
    state, enemy = table.state, 1 - seat
    changed = with_other_secrets(state, enemy, rng)
    for viewer in (Viewer.of_seat(seat), PUBLIC):
        assert GAME.view(changed, viewer).SerializeToString() == GAME.view(state, viewer).SerializeToString()
    for prompt in GAME.prompts(state):
        assert GAME.prompts(changed) == (prompt,)
        if prompt.seat == seat:
            assert GAME.legal(changed, prompt.seat, prompt) == GAME.legal(state, prompt.seat, prompt)
    assert repr(changed) == repr(state)


def with_other_secrets(state: State, enemy: int, rng: random.Random) -> State:
    """The enemy's hand and the pile are other cards; nobody else could tell."""
    slots = [slot for slot, card in enumerate(state.seats[enemy].hand) if card]
    hand = [*state.seats[enemy].hand]
    if state.terms.standard:
        unseen = [*state.pile, *(hand[slot] for slot in slots)]
        rng.shuffle(unseen)
        pile = tuple(unseen[len(slots) :])
    else:
        unseen, pile = rng.choices(CATALOGUE, k=len(slots)), ()
    for slot, card in zip(slots, unseen, strict=False):
        hand[slot] = card
    seats = [*state.seats]
    seats[enemy] = replace(seats[enemy], hand=tuple(hand))
    return replace(state, seats=(seats[0], seats[1]), pile=pile)


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_exchanging_the_seats_exchanges_the_match(match: dict[str, object]) -> None:
    # TT-11.11: the same deal and the same commands, seats named the other way round.
    seed = int(str(match["seed"]))
    options = {key: match[key] for key in ("battlefield", "deck_type")}
    left = Table.dealt(random_joint(seed), first_player="seat_0", **options)
    right = Table.dealt(random_joint(seed), first_player="seat_1", **options)
    rng = random.Random(seed)
    for _ in play_on(left, rng, match, 120):
        follow(left, right)
        assert mirrored(left.state) == (right.state.seats, right.state.active, right.state.pile)
    follow(left, right)
    assert len(left.history) == len(right.history)
    if left.state.result is not None:
        winner = left.state.result.winner
        assert right.state.result == replace(left.state.result, winner=None if winner is None else 1 - winner)


def mirrored(state: State) -> tuple[object, int, tuple[str, ...]]:
    return state.seats[::-1], 1 - state.active, state.pile


def follow(left: Table, right: Table) -> None:
    """Gives `right` the commands that `left` was given since."""
    while len(right.history) < len(left.history):
        event = left.history[len(right.history)]
        if isinstance(event, pb.CardPlayed):
            command: object = pb.PlayCard(slot=event.slot, card=event.card)
        elif isinstance(event, pb.CardDiscarded):
            command = pb.DiscardCard(slot=event.slot, card=event.card)
        else:
            assert isinstance(event, pb.TurnTimedOut)
            right.expire()
            continue
        right.accept(Actor.of_seat(right.prompt.seat), command, right.prompt)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=25)
@given(MATCHES, st.integers(0, 40))
def test_legal_is_exactly_what_is_accepted(match: dict[str, object], commands: int) -> None:
    table, rng = begin(match)
    for _ in play_on(table, rng, match, commands):
        pass
    state = table.state
    listed = {
        (entry.type, *dict(entry.fixed).values())
        for prompt in GAME.prompts(state)
        for entry in GAME.legal(state, prompt.seat, prompt)
    }
    accepted = set()
    for seat in (0, 1):
        assert seat == state.active or GAME.legal(state, Actor.of_seat(seat).seat, prompt_of(state, seat)) == ()
        for command in ("play_card", "discard_card"):
            for slot in range(8):
                for card in {*state.seats[0].hand, *state.seats[1].hand, ""}:
                    message = GAME.schema.command(command, {"slot": slot, "card": card})
                    answer = GAME.decide(state, Actor.of_seat(seat), message, None, table._draws())
                    if isinstance(answer, Decision):
                        accepted.add((command, slot, card))
    assert accepted == listed


def prompt_of(state: State, seat: int) -> object:
    from grimoire.engine import Prompt, Seat

    return Prompt(Seat(seat), state.phase.value, 1)


@pytest.mark.parametrize("deck_type", ["standard", "endless"])
def test_a_match_of_nothing_but_missed_turns_ends(deck_type: str) -> None:
    table = Table.dealt(deck_type=deck_type, timeout_limit=10)
    while table.state.result is None:
        table.accept(CLOCK, match_pb2.Expire(), table.prompt)
    assert table.state.result.reasons == ("timeouts",)
    assert table.state.turn_no == 19


def test_a_match_of_nothing_but_discards_ends() -> None:
    # TT-4.9; production alone ends most matches earlier, so the goals are out of reach.
    table = Table.arranged({"goal_tower": 1000, "goal_resource": 100_000, "turn": 800})
    while table.state.result is None:
        table.discard(table.hand(table.state.active)[0])
    assert table.state.turn_no == 1000
    assert table.state.result.reasons == ("turn_limit",)
    check_cards(table.state)

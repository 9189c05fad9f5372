"""When a window opens and whom it asks, by a second reading of the rules that shares nothing with the game (SB-16)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Final

from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.engine import Actor, Decision, Seat
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.catalogue import DATA
from spellbound.state import State
from tests.battery.playing import complete
from tests.spellbound.test_branching import GAME, beginning, draws

CARDS: Final = {card.id: card for card in DATA.cards}
PIECES: Final = ["hat_red", "hat_blue", "hat_green", "hat_yellow", "troll"]
POLICIES: Final = ("when_it_matters", "always", "never")


def in_order(state: State) -> list[int]:
    """Seats in mage order from the turn mage (SB-16.3)."""
    seats = [*state.terms.mage_seats]
    turned = seats[state.turn_mage :] + seats[: state.turn_mage]
    return [*dict.fromkeys(turned)]


def holds(state: State, seat: int, spell: str) -> bool:
    return any(spell in held for mage, held in enumerate(state.spells) if state.terms.mage_seats[mage] == seat)


def on_track(book: int) -> bool:
    return 4 <= book <= 8


def asked_for_moves(state: State, seat: int) -> bool:
    """SB-16.5, SB-16.8."""
    assert state.batch is not None
    moves = Counter(state.batch.moves)
    hats = [piece for piece in moves if PIECES[piece] != "troll"]
    matters = [
        hat
        for hat in hats
        if state.pieces[hat] == 8 or (on_track(state.books[hat]) and state.pieces[hat] + 1 == state.books[hat])
    ]
    lost = [
        piece
        for piece, times in moves.items()
        if on_track(state.books[piece]) and state.pieces[piece] + times >= state.books[piece]
    ]
    trick = hats if state.policies[seat] == "always" else matters
    return bool((trick and holds(state, seat, "hat_trick")) or (lost and holds(state, seat, "book_wyrm")))


def asked_at_story_end(state: State, seat: int) -> bool:
    """SB-16.4."""
    place = state.places[state.acting]
    moves = not state.moved and place < 5 and state.pieces[place] < 9
    unvisited = "fortuna_deck" in state.lower and not state.visited
    active = state.terms.mage_seats[state.turn_mage]
    return seat != active and holds(state, seat, "teleport") and (moves or unvisited)


def asked_at_end_of_deck(state: State, seat: int) -> bool:
    """SB-16.6."""
    unguarded = {0, 1, 2, 3, 4} - {*state.places} - {state.watchman}
    return bool(unguarded) and holds(state, seat, "teleport")


def asked_for_a_stone(state: State, seat: int) -> bool:
    """SB-16.7."""
    [stone] = state.stones
    return not stone.sun and not stone.turned and holds(state, seat, "alchemy")


def asked_for_stones(state: State, seat: int) -> bool:
    """SB-16.7."""
    suns = sum(stone.sun or stone.turned for stone in state.stones)
    if suns == len(state.stones):
        return False
    now, turned = (result(state, number) for number in (suns, suns + 1))
    return now != turned and holds(state, seat, "alchemy")


def result(state: State, suns: int) -> str:
    """SB-14.8, SB-15.5."""
    moon = state.witch + len(state.stones) - suns
    moon += sum(CARDS[card].moon for card in (*state.moon_pile, *state.minions))
    by = moon - suns - sum(CARDS[card].sun for card in state.sun_pile)
    if state.battle >= 0:
        return "won" if by - state.battle < 0 else "lost"
    return "won" if by < 0 else "one_step" if by < 5 else "two_steps" if by < 10 else "annihilation"


WINDOWS: Final = {
    "moves": asked_for_moves,
    "story_end": asked_at_story_end,
    "end_of_deck": asked_at_end_of_deck,
    "stone": asked_for_a_stone,
    "encounter_stones": asked_for_stones,
}


def to_ask(state: State, window: str) -> list[int]:
    return [seat for seat in in_order(state) if state.policies[seat] != "never" and WINDOWS[window](state, seat)]


def window_due(state: State, event: Message) -> str:
    """Which window this event may open; the state is the one after it."""
    if isinstance(event, pb.BatchFormed):
        return "moves"
    if isinstance(event, pb.StoryEnded):
        return "story_end"
    if isinstance(event, pb.DeckRanOut):
        return "end_of_deck"
    if isinstance(event, pb.StoneDrawn):
        if event.cause == "magic":
            return "stone"
        return "encounter_stones" if len(state.stones) == state.witch else ""
    return ""


def judge(state: State, decision: Decision[State]) -> Iterator[str]:
    """Every window that this decision opened, or rightly did not (`no` and its name)."""
    for number, event in enumerate(decision.events):
        state = GAME.evolve(state, event)
        window = window_due(state, event)
        if not window:
            continue
        seats = to_ask(state, window)
        following = decision.events[number + 1] if number + 1 < len(decision.events) else None
        if seats:
            assert following == pb.WindowOpened(window=window, seats=seats), (window, seats, following)
        else:
            assert not isinstance(following, pb.WindowOpened), (window, following)
        yield window if seats else f"no {window}"
    if state.window is not None:
        assert [prompt.seat for prompt in GAME.prompts(state)] == [next_asked(state, decision)]


def next_asked(state: State, decision: Decision[State]) -> int:
    """After a cast the same seat is asked again, then the others; who has passed is not asked (SB-16.3)."""
    assert state.window is not None
    opened = [number for number, event in enumerate(decision.events) if isinstance(event, pb.WindowOpened)]
    casts = [event for event in decision.events[max(opened, default=0) :] if isinstance(event, pb.SpellCast)]
    seats = [seat for seat in to_ask(state, state.window.kind) if seat not in state.window.passed]
    own = [state.terms.mage_seats[cast.mage] for cast in casts]
    return next((seat for seat in own if seat in seats), seats[0])


def play(seed: int, most: int) -> Iterator[str]:
    chance = random.Random(seed)
    state = beginning(seed)
    for _ in range(most):
        if GAME.outcome(state) is not None:
            return
        if chance.random() < 0.05:
            seat = Seat(chance.randrange(state.terms.seats))
            policy = pb.SetReactionPolicy(policy=chance.choice(POLICIES))
            decision = GAME.decide(state, Actor.of_seat(seat), policy, None, draws(seed))
        else:
            prompts = GAME.prompts(state)
            [prompt] = chance.choices(prompts, [20 if each.required else 1 for each in prompts])
            legal = GAME.legal(state, prompt.seat, prompt)
            hurried = {"end_story": 6, "discard_card": 3, "end_card": 2, "cast_spell": 0.3}
            entry = chance.choices(legal, [hurried.get(each.type, 1) for each in legal])[0]
            command = complete(entry, GAME.schema, chance)
            decision = GAME.decide(state, Actor.of_seat(prompt.seat), command, prompt, draws(seed))
        assert isinstance(decision, Decision)
        yield from judge(state, decision)
        state = decision.state


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32))
def test_a_second_reading_asks_the_same(seed: int) -> None:
    for _ in play(seed, 200):
        pass


def test_every_window_is_met_open_and_shut() -> None:
    wanted = {*WINDOWS, *(f"no {window}" for window in WINDOWS)}
    met: set[str] = set()
    for seed in range(400):
        met.update(play(seed, 200))
        if met == wanted:
            break
    assert met == wanted

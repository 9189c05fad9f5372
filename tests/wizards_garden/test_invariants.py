"""WG-19: what always holds, over random matches with one, two and three spells."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grimoire.engine import CLOCK, Actor, Decision
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.v1 import match_pb2
from tests.wizards_garden.lively import GAME, Played, asked, decide, draws, legal_of, lively_match, started
from tests.wizards_garden.turned import turned_command, turned_state
from wizards_garden.board import ADJACENT, FOR_GNOMES, FOR_PESTS, IS_DEPOSIT, IS_PIT, SPACES, TERRACE, TERRACE_DEPOSIT
from wizards_garden.draft import Draft
from wizards_garden.pieces import CARDS, FIRE_IN_ALL, FIRST_PEST, PIECES, SPELLS, WATER_IN_ALL, colour_of
from wizards_garden.state import BORDER, BRIGHT, DIMMED, LIT, NO_ONE, SUPPLY, Stage, State

MATCHES = st.fixed_dictionaries({"seed": st.integers(0, 2**32), "spells": st.sampled_from("123")})
COMMANDS_IN_A_TURN = 100
YARD = (BRIGHT, DIMMED)


def match(seed: int, spells: str) -> Iterator[Played]:
    return lively_match(seed, spells_per_player=spells)


def states(seed: int, spells: str) -> Iterator[State]:
    """Every state of a match, those between the events of a command, too."""
    for played in match(seed, spells):
        state = played.state
        for event in played.events:
            state = GAME.evolve(state, event)
            yield state
        assert state == played.after


# ---- nothing is lost, nothing is made (1, 2, 3) ----------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_pieces_cards_and_crystals_are_conserved_at_every_event(drawn: dict[str, object]) -> None:
    for state in states(**drawn):
        on_the_ground = [piece for pieces in state.standing for piece in pieces]
        in_groups = [piece for group in state.groups if group.in_transit for piece in group.pieces]
        in_supply = [piece for piece, place in enumerate(state.places) if place == SUPPLY]
        assert sorted((*on_the_ground, *in_groups, *in_supply)) == [*range(len(PIECES))]
        for space, pieces in enumerate(state.standing):
            assert all(state.places[piece] == space for piece in pieces)
        assert all(state.places[piece] == BORDER for piece in in_groups)

        spirits = [*state.deck, *state.discards, *filter(None, state.row)]
        for side in state.seats:
            spirits += [*side.hand, *side.spirits]
        assert sorted(spirits) == sorted(CARDS)
        spells = [*state.set_aside, *(spell for _, spell in state.cast), *state.seats[0].spells, *state.seats[1].spells]
        assert sorted(spells) == sorted(SPELLS)

        draft = Draft(state)
        assert 0 <= draft.water_supply() <= WATER_IN_ALL
        assert 0 <= draft.fire_supply() <= FIRE_IN_ALL


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_limits_hold_at_every_event(drawn: dict[str, object]) -> None:
    for state in states(**drawn):
        assert all(0 <= amount <= 5 for amount in (*state.water, *state.fish))
        for side in state.seats:
            assert 0 <= side.fire <= 5
            assert len(side.hand) <= 5
            assert side.lanterns.count(LIT) <= 1
            assert len(side.spirits) == (2 if state.turn_no else len(side.spirits))
        if state.turn_no:
            assert len(state.row) == 3


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_every_space_holds_what_it_may(drawn: dict[str, object]) -> None:
    for state in states(**drawn):
        for space, pieces in enumerate(state.standing):
            pests = sum(piece >= FIRST_PEST for piece in pieces)
            gnomes = len(pieces) - pests
            fish = state.fish[space]
            assert (gnomes, pests, fish > 0) in {
                (0, 0, False),
                (1, 0, False),
                (0, 1, False),
                (0, 2, False),
                (1, 1, False),
                (0, 0, True),
            }
            if IS_PIT[space]:
                assert not pieces
            if TERRACE[space] >= 0:
                assert all(colour_of(piece) == TERRACE[space] for piece in pieces)
            assert not fish or FOR_PESTS[space]
            assert not state.water[space] or IS_DEPOSIT[space]


# ---- lanterns (4, 5, 6) ----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_terrace_deposits_are_held_by_a_bright_bearer(drawn: dict[str, object]) -> None:
    for state in states(**drawn):
        if not state.turn_no:
            continue
        for seat, deposit in enumerate(TERRACE_DEPOSIT):
            (bearer,) = state.standing[deposit]
            assert state.seats[seat].lanterns[state.bears[bearer]] == BRIGHT


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_lanterns_of_the_yard_stay_and_dim_ones_stay_dim(drawn: dict[str, object]) -> None:
    before = None
    for state in states(**drawn):
        placed = [sum(lantern in YARD for lantern in side.lanterns) for side in state.seats]
        assert sum(kind != NO_ONE for kind in state.bears) == sum(placed)
        if before is not None:
            for seat, side in enumerate(state.seats):
                former = before.seats[seat].lanterns
                assert placed[seat] >= sum(lantern in YARD for lantern in former)
                assert all(now == DIMMED for was, now in zip(former, side.lanterns, strict=True) if was == DIMMED)
            for gnome, kind in enumerate(before.bears):
                if kind != NO_ONE:
                    assert state.bears[gnome] == kind
                    assert state.places[gnome] == before.places[gnome]
        assert max(placed) <= 5
        if 5 in placed:
            assert placed.count(5) == 1
            assert state.result is not None or state.stage is Stage.GARDEN  # the end is the very next event
        before = state


# ---- threats (7, 8, 11) ----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_groups_stand_at_borders_inside_a_turn_alone(drawn: dict[str, object]) -> None:
    for played in match(**drawn):
        state = played.state
        if any(isinstance(event, pb.TurnEnded) for event in played.events):
            assert not played.after.groups
        in_a_group = Counter(piece for group in state.groups for piece in group.pieces)
        assert all(count == 1 for count in in_a_group.values())
        assert len({group.id for group in state.groups}) == len(state.groups)
        for group in state.groups:
            assert group.target in ADJACENT[group.origin]
            assert not IS_PIT[group.target]
            own = TERRACE[group.target] == state.active
            assert TERRACE[group.target] < 0 or (own and group.pieces[0] < FIRST_PEST)
            for piece in group.pieces:
                assert state.places[piece] == (BORDER if group.in_transit else group.origin)


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_a_terrace_is_never_a_target(drawn: dict[str, object]) -> None:
    for played in match(**drawn):
        for event in played.events:
            if isinstance(event, (pb.ThreatMade, pb.AttackDeclared)):
                assert TERRACE[SPACES.index(event.target)] < 0


@settings(deadline=None, max_examples=40)
@given(MATCHES)
def test_nobody_destroys_or_dims_what_is_his_own(drawn: dict[str, object]) -> None:
    """But for the attacker's own losses, and the gnome of a pair that goes down with its pest."""
    attack: pb.AttackDeclared | None = None
    target: tuple[int, ...] = ()
    for played in match(**drawn):
        state = played.state
        for event in played.events:
            if isinstance(event, pb.AttackDeclared):
                attack, target = event, state.standing[SPACES.index(event.target)]
            elif isinstance(event, pb.LanternDimmed):
                assert attack is not None
                assert event.seat != attack.seat
            elif isinstance(event, pb.GnomeDestroyed) and attack is not None and event.space == attack.target:
                gnome = PIECES.index(event.piece)
                assert colour_of(gnome) != attack.seat or (len(target) == 2 and gnome in target)
            state = GAME.evolve(state, event)


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_each_group_is_taken_up_once(drawn: dict[str, object]) -> None:
    taken: Counter[str] = Counter()
    for played in match(**drawn):
        for event in played.events:
            if isinstance(event, pb.TurnStarted):
                taken.clear()
            elif isinstance(event, (pb.AttackDeclared, pb.GroupAdvanced)) and event.group != "skull":
                taken[event.group] += 1
                assert taken[event.group] == 1


# ---- who is asked (9), and for how long (10) -------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_exactly_one_seat_is_asked_and_the_other_only_to_defend(drawn: dict[str, object]) -> None:
    for played in match(**drawn):
        assert played.prompt.seat == played.state.asked
        if played.prompt.kind == "defence":
            assert played.prompt.seat != played.state.active
        else:
            assert played.prompt.seat == played.state.active
        assert GAME.prompts(played.after) or played.after.stage is Stage.OVER


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_turns_and_commands_are_bounded(drawn: dict[str, object]) -> None:
    in_this_turn: Counter[int] = Counter()
    for played in match(**drawn):
        in_this_turn[played.state.turn_no] += 1
    assert max(in_this_turn) <= 60
    assert max(in_this_turn.values()) < COMMANDS_IN_A_TURN


@settings(deadline=None, max_examples=10)
@given(MATCHES)
def test_time_alone_ends_every_match(drawn: dict[str, object]) -> None:
    """From any point of a match on (WG-12.3)."""
    seed = int(str(drawn["seed"]))
    played = [*match(**drawn)]
    state = random.Random(seed).choice(played).state
    for _ in range(COMMANDS_IN_A_TURN * 61):
        if state.result is not None:
            break
        answer = GAME.decide(state, CLOCK, match_pb2.Expire(prompt_id=1), asked(state), draws(seed))
        assert isinstance(answer, Decision)
        state = answer.state
    assert state.result is not None


@settings(deadline=None, max_examples=15)
@given(MATCHES)
def test_skipped_answers_do_not_depend_on_hidden_cards(drawn: dict[str, object]) -> None:
    """The defender's hand is exchanged with the deck: the same seats are asked the same."""
    for played in match(**drawn):
        state = played.state
        other = 1 - state.active
        side = state.seats[other]
        aside = (*side.spells, *state.set_aside)[::-1]
        count = len(side.spells)
        seats = [*state.seats]
        seats[other] = replace(side, spells=aside[:count])
        swapped = replace(state, seats=tuple(seats), set_aside=aside[count:])
        if played.prompt.seat == other:
            continue
        one, two = decide(state, played.command), decide(swapped, played.command)
        assert [p.kind for p in GAME.prompts(one.state)] == [p.kind for p in GAME.prompts(two.state)]
        assert one.events == two.events


# ---- the board turned round (12) -------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=12)
@given(MATCHES)
def test_turning_the_board_exchanges_the_colours_and_changes_nothing_else(drawn: dict[str, object]) -> None:
    for played in match(**drawn):
        turned = turned_state(played.state)
        assert asked(turned).seat == 1 - played.prompt.seat
        assert len(legal_of(turned)) == len(legal_of(played.state))
        answer = decide(turned, turned_command(played.command), int(str(drawn["seed"])))
        assert isinstance(answer, Decision), answer
        assert answer.state == turned_state(played.after)


# ---- beside the list -------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(MATCHES)
def test_every_command_is_listed_to_the_asked_seat_alone(drawn: dict[str, object]) -> None:
    for played in match(**drawn):
        other = 1 - played.prompt.seat
        assert GAME.legal(played.state, other, played.prompt) == ()
        refused = decide(played.state, played.command, seat=other)
        assert refused.code == "not_your_prompt"


def test_the_deal_is_as_the_rules_say() -> None:
    for seed in range(20):
        state = started(seed, {"spells_per_player": str(1 + seed % 3)})
        first = state.terms.first_seat
        assert [len(state.seats[seat].hand) for seat in (first, 1 - first)] == [2, 3]
        assert len(state.deck) == 45
        assert all(len(side.spells) == 1 + seed % 3 for side in state.seats)
        assert all(FOR_GNOMES[colour_of(piece)][place] for piece, place in enumerate(state.places) if place >= 0)
        assert asked(state).seat == first


def test_a_resigned_match_is_the_others() -> None:
    state = started(1, {})
    for seat in (0, 1):
        decision = GAME.decide(state, Actor.of_seat(seat), match_pb2.Resign(), None, draws(1))
        assert isinstance(decision, Decision)
        outcome = GAME.outcome(decision.state)
        assert outcome is not None
        assert outcome.winners == (1 - seat,)
        assert outcome.reasons == ("resigned",)
        last: Message = decision.events[-1]
        assert isinstance(last, pb.MatchEnded)

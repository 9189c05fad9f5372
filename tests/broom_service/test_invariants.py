"""What holds at every moment of every match (BS-15)."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from broom_service.boards import BOARDS, WATER
from broom_service.catalogue import DATA
from broom_service.draft import Draft
from broom_service.evolve import apply
from broom_service.reach import clouded
from broom_service.state import Stage, State
from grimoire.engine import CLOCK, Actor, Decision, Illegal
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.v1 import match_pb2
from tests.broom_service import lively
from tests.broom_service.lively import GAME, Played, answer, draws, lively_match, random_command, started

few = settings(max_examples=12, deadline=None)


@functools.lru_cache(maxsize=64)
def played(seed: int, seats: int, board: int, troubled: bool) -> tuple[Played, ...]:
    """A whole match."""
    return (*lively_match(seed, seats, lively.BOARDS[board], troubled=troubled),)


def matches(troubled: bool | None = None) -> st.SearchStrategy[tuple[Played, ...]]:
    """Matches of two to five seats on all six boards; some with time-outs and resignations."""
    troubles = st.booleans() if troubled is None else st.just(troubled)
    return st.builds(played, st.integers(0, 40), st.integers(2, 5), st.integers(0, 5), troubles)


def states(match: tuple[Played, ...]) -> list[State]:
    """Every state of a match."""
    return [match[0].state, *(turn.after for turn in match)]


def told(match: tuple[Played, ...], *kinds: type) -> list:
    """Events of these kinds after the deal, in order."""
    return [event for turn in match for event in turn.events if isinstance(event, kinds)]


def step_by_step(match: tuple[Played, ...]) -> Iterator[tuple[object, Draft]]:
    """Each event, and the state before it."""
    draft = Draft.of(match[0].state)
    for turn in match:
        for event in turn.events:
            yield event, draft
            apply(draft, event)


def test_these_matches_show_everything():
    """A test of the tests: what they look at happens."""
    seen = {
        type(event)
        for seed in range(12)
        for turn in played(seed, 2 + seed % 4, seed % 6, seed % 3 == 0)
        for event in turn.events
    }
    begun = {type(event) for event in started(0, 2, {}).events}
    assert seen | begun | {pb.PositionArranged} == {*GAME.schema.events.values()}


# ---- BS-15.1, BS-15.2 ------------------------------------------------------------------------------------------------


@few
@given(matches())
def test_potions_wands_and_towers_are_accounted_for(match):
    for state in states(match):
        assert min(min(held) for held in state.resources) >= 0
        assert not {*state.occupied} & {*state.covered}
        assert len({*state.occupied}) == len(state.occupied)
    delivered = told(match, pb.PotionDelivered)
    on_towers = [event.tower for event in delivered if event.occupies]
    assert sorted(on_towers) == sorted(match[-1].after.occupied)
    for event in delivered:
        assert event.tower not in match[0].state.covered
        assert event.occupies is ("_rd_" in event.tower)
    for before, after in zip(states(match), states(match)[1:], strict=False):
        assert {*before.occupied} <= {*after.occupied}


@few
@given(matches())
def test_no_cloud_is_lost_and_none_comes_back(match):
    placed = sorted(cloud for cloud in match[0].state.clouds if cloud)
    left = len(placed)
    for state in states(match):
        above = [cloud for cloud in state.clouds if cloud]
        charmed = [cloud for clouds in state.charmed for cloud in clouds]
        assert sorted([*above, *charmed]) == placed
        assert len(above) <= left
        left = len(above)


# ---- BS-15.3 ---------------------------------------------------------------------------------------------------------


@few
@given(matches())
def test_pawns_stand_on_land_and_fly_under_a_clear_sky(match):
    board = BOARDS[match[0].state.terms.board]
    open_regions = {*board.castles, *board.circles.values()}
    for event, before in step_by_step(match):
        if isinstance(event, pb.PawnMoved):
            assert board.terrain[event.to] != WATER
            assert event.to not in clouded(before)
            origin = getattr(event, "from")
            assert before.pawns[event.seat][event.pawn] == origin
            assert event.cause == "turbo" or event.to in board.adjacent[origin]
    for state in states(match):
        assert not open_regions & clouded(state)
        for pawns in state.pawns:
            assert len(pawns) == DATA.constants.pawns
            assert all(board.terrain[region] != WATER for region in pawns)


# ---- BS-15.4 to BS-15.6 ----------------------------------------------------------------------------------------------


class Rounds:
    """What was chosen and laid down in each round of a match."""

    def __init__(self, match: tuple[Played, ...]) -> None:
        self.chosen: list[dict[int, Counter[str]]] = [{}]
        self.laid: list[dict[int, Counter[str]]] = [{}]
        self.led: list[list[str]] = [[]]
        self.retired: list[set[int]] = [set()]
        self.tricks: list[int] = [0]
        leads = False
        extras: dict[int, str] = {}
        for event, _ in step_by_step(match):
            if isinstance(event, pb.RoundStarted):
                for listed in (self.chosen, self.laid):
                    listed.append({})
                self.led.append([])
                self.retired.append({*self.retired[-1]})
                self.tricks.append(0)
            elif isinstance(event, pb.RolesChosen):
                self.chosen[-1][event.seat] = Counter(event.roles)
            elif isinstance(event, pb.ExtraAnswered) and event.used:
                extras[event.seat] = event.role
            elif isinstance(event, pb.ExtrasRevealed):
                for used in event.extras:
                    self.chosen[-1][used.seat][extras[used.seat]] += 1
            elif isinstance(event, pb.SeatRetired):
                self.retired[-1].add(event.seat)
            elif isinstance(event, pb.TrickStarted):
                self.tricks[-1] = event.trick_no
                leads = True
            elif isinstance(event, pb.RolePlayed):
                if leads:
                    self.led[-1].append(event.role)
                    leads = False
                self.laid[-1].setdefault(event.seat, Counter())[event.role] += 1


@few
@given(matches())
def test_each_role_is_led_once_and_each_chosen_card_played_once(match):
    rounds = Rounds(match)
    if match[-1].after.result.reason == "others_left":
        return
    for chosen, laid, led, retired, tricks in zip(
        rounds.chosen, rounds.laid, rounds.led, rounds.retired, rounds.tricks, strict=True
    ):
        assert max(Counter(led).values(), default=0) <= 1
        assert tricks <= len(DATA.roles)
        for seat, roles in chosen.items():
            if seat not in retired:
                assert laid[seat] == roles
            else:
                assert laid.get(seat, Counter()) <= roles
        if not retired and min(sum(roles.values()) for roles in chosen.values()) >= 4:
            assert tricks >= 4


@few
@given(matches())
def test_who_holds_the_led_role_plays_it(match):
    for event, before in step_by_step(match):
        if isinstance(event, pb.SeatPassed):
            assert event.role not in before.hands[event.seat]
            assert event.role == before.led_role
        if isinstance(event, pb.TrickEnded):
            assert [play.seat for play in before.trick_plays] == [
                (before.leader + n) % before.terms.seats for n in range(before.terms.seats)
            ]
            assert all(before.led_role not in hand for hand in before.hands)


@few
@given(matches())
def test_one_seat_at_most_acts_bravely_in_a_trick_the_last_that_said_so(match):
    brave, outdone = [], []
    for event, before in step_by_step(match):
        if isinstance(event, pb.TrickStarted):
            brave, outdone = [], []
        elif isinstance(event, pb.RolePlayed) and event.stance == "brave":
            brave.append(event.seat)
        elif isinstance(event, pb.BraveOutdone):
            outdone.append(event.seat)
        elif isinstance(event, pb.StepOpened):
            assert event.seat not in brave[:-1]
            if event.seat in brave:
                assert len(before.trick_plays) == before.terms.seats
        elif isinstance(event, pb.TrickEnded):
            assert outdone == brave[:-1]
            if event.HasField("brave_seat"):
                assert event.next_leader == event.brave_seat == brave[-1]
            else:
                assert event.next_leader == before.leader
                assert not brave or before.retired[brave[-1]]


@few
@given(matches())
def test_each_bewitched_card_costs_three_points(match):
    laid, lost = Counter(), Counter()
    for event, before in step_by_step(match):
        if isinstance(event, pb.RolePlayed) and event.role in before.bewitched:
            laid[event.seat] += 1
        if isinstance(event, pb.VpChanged) and event.reason == "bewitched":
            assert event.delta == -3
            lost[event.seat] += 1
    assert laid == lost


# ---- BS-15.7 ---------------------------------------------------------------------------------------------------------


@few
@given(matches())
def test_amulets_and_forest_tiles_are_had_once(match):
    amulets = Counter((event.seat, event.region) for event in told(match, pb.AmuletTaken))
    assert max(amulets.values(), default=0) <= 1
    taken = Counter(event.tile for event in told(match, pb.ForestTileTaken))
    assert max(taken.values(), default=0) <= 1
    spent = Counter(event.tile for event in told(match, pb.ForestTileSpent))
    assert max(spent.values(), default=0) <= 1
    assert spent.keys() <= taken.keys()
    with_cards = [event.instead for event in told(match, pb.RolePlayed) if event.instead not in ("", "event")]
    extras = [used.tile for event in told(match, pb.ExtrasRevealed) for used in event.extras]
    assert sorted([*with_cards, *extras]) == sorted(spent.elements())


# ---- BS-15.8 ---------------------------------------------------------------------------------------------------------


@few
@given(matches())
def test_points_add_up(match):
    gained = Counter()
    for event, before in step_by_step(match):
        if isinstance(event, pb.VpChanged):
            assert event.delta
            assert before.vp[event.seat] + event.delta == event.vp
            gained[event.seat] += event.delta
    for event in told(match, pb.PotionDelivered):
        assert event.vp_bonus in (0, 3)
        assert event.vp_storm in (0, 2, 4)
    delivered = Counter()
    for event in told(match, pb.PotionDelivered):
        delivered[event.seat] += event.vp_tower + event.vp_bonus + event.vp_storm
    changed = Counter()
    for event in told(match, pb.VpChanged):
        if event.reason == "delivery":
            changed[event.seat] += event.delta
    assert delivered == changed
    result = match[-1].after.result
    for score in result.scores:
        assert score.vp_before == DATA.constants.start_vp + gained[score.seat]
        assert score.vp == score.vp_before + score.lightning_vp + score.sets_vp + score.amulets_vp
        assert match[-1].after.vp[score.seat] == score.vp
        assert score.resources_total == sum(match[-1].after.resources[score.seat])


@few
@given(matches())
def test_ranks_follow_from_points_then_resources_and_who_left_is_last(match):
    end = match[-1].after
    keys = {score.seat: (not end.retired[score.seat], score.vp, score.resources_total) for score in end.result.scores}
    for score in end.result.scores:
        assert score.rank == 1 + sum(key > keys[score.seat] for key in keys.values())
    assert end.result.winners == tuple(s.seat for s in end.result.scores if s.rank == 1)
    assert not any(end.retired[seat] for seat in end.result.winners)
    assert (end.result.reason == "others_left") is (end.retired.count(False) == 1)


# ---- BS-15.9, BS-15.11, BS-15.12 -------------------------------------------------------------------------------------


@few
@given(matches())
def test_the_log_rebuilds_the_state_at_every_prefix(match):
    state = match[0].state
    for turn in match:
        assert state == turn.state
        for event in turn.events:
            state = GAME.evolve(state, type(event).FromString(event.SerializeToString()))
        assert state == turn.after


@settings(max_examples=5, deadline=None)
@given(matches())
def test_every_prompt_can_be_answered_and_may_run_out(match):
    for turn in match[::3]:
        for prompt in GAME.prompts(turn.state):
            assert GAME.legal(turn.state, prompt.seat, prompt)
            expired = GAME.decide(turn.state, CLOCK, match_pb2.Expire(), prompt, draws("any"))
            assert isinstance(expired, Decision)
            first = expired.events[0]
            assert isinstance(first, pb.DecisionTimedOut)
            gone = first.consecutive >= turn.state.terms.timeout_limit
            assert expired.state.retired[prompt.seat] is gone
            assert expired.state.timeouts[prompt.seat] == first.consecutive


@few
@given(matches())
def test_a_match_is_shorter_than_its_bound(match):
    assert len(match) < 1_200
    assert match[-1].after.round <= DATA.constants.rounds
    assert match[-1].after.asked is Stage.OVER
    assert isinstance(match[-1].events[-1], pb.MatchEnded)


@few
@given(matches(troubled=True))
def test_who_left_is_asked_nothing_more_and_holds_nothing(match):
    for state in states(match):
        for seat, gone in enumerate(state.retired):
            if gone:
                assert state.hands[seat] == ()
                assert state.extras[seat] is None
                assert state.offers[seat] is None
                assert all(prompt.seat != seat for prompt in GAME.prompts(state))
                assert not (state.steps and state.acting == seat)
                refused = GAME.decide(state, Actor.of_seat(seat), match_pb2.Resign(), None, draws(0))
                assert isinstance(refused, Illegal)
                assert refused.code in ("seat_retired", "match_over")


@few
@given(matches(troubled=True), st.integers(0, 10_000))
def test_another_seats_leaving_opens_no_prompt_anew(match, number):
    """Otherwise the clock of a seat that thinks would begin again (BS-12.1)."""
    turn = match[number % len(match)]
    before = {(p.seat, p.kind, p.key) for p in GAME.prompts(turn.state)}
    for leaver in range(turn.state.terms.seats):
        if turn.state.retired[leaver]:
            continue
        after = answer(turn.state, Actor.of_seat(leaver), match_pb2.Resign(), None, 0).state
        asked = {(p.seat, p.kind, p.key) for p in GAME.prompts(after)}
        theirs = {prompt for prompt in before if prompt[0] != leaver}
        assert theirs <= asked or after.result is not None or not theirs


# ---- BS-15.13 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("board", DATA.boards, ids=lambda board: board.id)
def test_regions_are_neighbours_exactly_where_their_hexagons_touch(board):
    """Centres of pointy-top hexagons, in halves of a width and quarters of a height."""
    centre = {region.id: (2 * region.hex[0] + region.hex[1] % 2, 3 * region.hex[1]) for region in board.regions}
    touching = {(2, 0), (-2, 0), (1, 3), (-1, 3), (1, -3), (-1, -3)}
    for one in board.regions:
        for other in board.regions:
            apart = centre[one.id][0] - centre[other.id][0], centre[one.id][1] - centre[other.id][1]
            assert (other.id in one.adjacent) is (apart in touching)


@pytest.mark.parametrize("board", DATA.boards, ids=lambda board: board.id)
def test_a_tower_stands_where_its_regions_meet(board):
    adjacent = BOARDS[board.id].adjacent
    slots = Counter((tower.touches, tower.slot) for tower in board.towers)
    assert max(slots.values()) == 1
    for tower in board.towers:
        assert all(b in adjacent[a] for a in tower.touches for b in tower.touches if a != b)
        assert tower.wands <= 2


def test_the_islands_are_as_the_rules_say():
    """BS-2.8: D is surrounded by water, B is left by its hill alone."""
    back = BOARDS["back"]
    assert {back.terrain[region] for region in back.adjacent[back.circles["D"]]} == {WATER}
    reached, new = {back.circles["B"]}, {back.circles["B"]}
    while new:
        new = {r for at in new for r in back.adjacent[at] if back.terrain[r] != WATER and r not in reached}
        reached |= new
    assert not reached & {*back.castles}
    assert [region for region in reached if back.terrain[region] == "hill"] == ["h2"]


# ---- BS-15.14 --------------------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5), st.integers(0, 5), st.data())
def test_the_table_may_be_turned(seed, seats, board, data):
    """The same match with every seat one further, the first seat too: the same result, one further."""
    by = data.draw(st.integers(1, seats - 1))
    options = lively.BOARDS[board]
    here = started(seed, seats, {**options, "first_player": "seat_0"}).state
    there = started(seed, seats, {**options, "first_player": f"seat_{by}"}).state
    chance = random.Random(seed)
    while GAME.outcome(here) is None:
        prompts = GAME.prompts(here)
        prompt = prompts[chance.randrange(len(prompts))]
        turned = next(p for p in GAME.prompts(there) if p.seat == (prompt.seat + by) % seats)
        entries = GAME.legal(here, prompt.seat, prompt)
        assert GAME.legal(there, turned.seat, turned) == entries
        command = random_command(chance.choice(entries), chance)
        here = answer(here, Actor.of_seat(prompt.seat), command, prompt, seed).state
        there = answer(there, Actor.of_seat(turned.seat), command, turned, seed).state
    assert here.result is not None
    assert there.result is not None
    for score in here.result.scores:
        assert there.result.scores[(score.seat + by) % seats] == replace(score, seat=(score.seat + by) % seats)

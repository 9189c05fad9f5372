"""TT-4: the course of a turn, event by event."""

from __future__ import annotations

import pytest

from grimoire.engine import Outcome, OutcomeKind
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from tests.two_towers.table import GAME, Table, kinds, only

PLAIN_PLAY = ["card_played", "effects_applied", "card_drawn", "turn_ended", "turn_started"]
FAR_GOALS = {"goal_tower": 100_000, "goal_resource": 100_000}


def test_a_plain_play() -> None:
    # TT-4.4, TT-6.1
    table = Table.arranged({0: {"mana": 7, "hand": ["ruby"]}, 1: {"ore": 1}})
    events = table.play("ruby")
    assert kinds(events) == PLAIN_PLAY
    assert events[0] == pb.CardPlayed(seat=0, slot=0, card="ruby", cost=3, resource="mana", stock_after=4)
    change = pb.Change(seat=0, field="tower", delta=5, value=25)
    assert events[1] == pb.EffectsApplied(seat=0, card="ruby", changes=[change])
    assert events[2] == pb.CardDrawn(seat=0, slot=0, cause="refill", pile_count=89, card="brick_shortage")
    assert events[3] == pb.TurnEnded(turn_no=1, seat=0)
    assert events[4] == pb.TurnStarted(
        turn_no=2,
        seat=1,
        produced=pb.Stocks(ore=2, mana=2, recruits=2),
        stocks_after=pb.Stocks(ore=3, mana=2, recruits=2),
    )
    assert (table.prompt.seat, table.prompt.kind, table.prompt.key) == (1, "main", 2)
    assert table.state.discards == ("ruby",)
    assert table.hand(0)[0] == "brick_shortage"


def test_no_effects_event_when_nothing_changes() -> None:
    # TT-4.4: such a card may be played all the same.
    table = Table.arranged({0: {"ore": 5, "hand": ["copping_the_tech"]}})
    assert "effects_applied" not in kinds(table.play("copping_the_tech"))
    assert table.numbers(0)["ore"] == 0


def test_zero_changes_are_left_out() -> None:
    table = Table.arranged({0: {"ore": 2, "mana": 2, "hand": ["work_overtime"]}})
    (wall, mana) = only(table.play("work_overtime"), pb.EffectsApplied).changes
    assert (wall.field, wall.delta, wall.value) == ("wall", 5, 10)
    assert (mana.field, mana.delta, mana.value) == ("mana", -2, 0)
    bare = Table.arranged({0: {"ore": 2, "hand": ["work_overtime"]}})
    assert [c.field for c in only(bare.play("work_overtime"), pb.EffectsApplied).changes] == ["wall"]


def test_split_damage_has_two_entries() -> None:
    table = Table.arranged({0: {"recruits": 6, "hand": ["ogre"]}, 1: {"tower": 10, "wall": 3}})
    wall, tower = only(table.play("ogre"), pb.EffectsApplied).changes
    assert (wall.seat, wall.field, wall.delta, wall.value) == (1, "wall", -3, 0)
    assert (tower.seat, tower.field, tower.delta, tower.value) == (1, "tower", -4, 6)


def test_both_means_the_acting_seat_first() -> None:
    # TT-2.7
    table = Table.arranged({"active": 1, 1: {"hand": ["earthquake"]}})
    assert [c.seat for c in only(table.play("earthquake"), pb.EffectsApplied).changes] == [1, 0]


def test_a_discard_costs_nothing_and_ends_the_turn() -> None:
    # TT-4.10
    table = Table.arranged({0: {"hand": ["lodestone"]}})
    events = table.discard("lodestone")
    assert kinds(events) == ["card_discarded", "card_drawn", "turn_ended", "turn_started"]
    assert events[0] == pb.CardDiscarded(seat=0, slot=0, card="lodestone", cause="chosen")
    assert table.numbers(0) == Table.arranged({}).numbers(0)
    assert table.state.discards == ("lodestone",)


def test_discarding_an_act_again_card_ends_the_turn_too() -> None:
    table = Table.arranged({0: {"hand": ["quartz"]}})
    table.discard("quartz")
    assert table.state.active == 1


def test_act_again() -> None:
    # TT-4.7: no production, a new decision, the same turn.
    table = Table.arranged({0: {"mana": 4, "hand": ["quartz", "ruby"]}})
    assert kinds(table.play("quartz")) == ["card_played", "effects_applied", "card_drawn"]
    assert (table.state.turn_no, table.prompt.seat, table.prompt.key) == (1, 0, 2)
    assert table.numbers(0)["mana"] == 3
    table.play("ruby")
    assert (table.numbers(0)["tower"], table.numbers(0)["mana"]) == (26, 0)
    assert table.state.active == 1


@pytest.mark.parametrize(("card", "stock"), [("prism", "mana"), ("elven_scouts", "recruits")])
def test_draw_one_discard_one(card: str, stock: str) -> None:
    # TT-4.6
    table = Table.arranged({0: {stock: 2, "hand": {2: card}}, "pile_top": ["dragon", "orc"]})
    events = table.play(card)
    assert kinds(events) == ["card_played", "card_drawn"]
    assert events[1] == pb.CardDrawn(seat=0, slot=2, cause="effect", pile_count=len(table.state.pile), card="dragon")
    assert (table.prompt.kind, table.prompt.key) == ("forced_discard", 2)
    assert "" not in table.hand(0)
    events = table.discard("dragon")
    assert kinds(events) == ["card_discarded", "card_drawn"]
    assert (events[0].cause, events[1].cause, events[1].slot, events[1].card) == ("forced", "refill", 2, "orc")
    assert (table.prompt.seat, table.prompt.kind, table.prompt.key) == (0, "main", 3)
    assert table.state.turn_no == 1


def test_the_hundredth_card_ends_the_turn() -> None:
    # TT-4.7
    table = Table.arranged({0: {"mana": 1, "hand": ["quartz"]}, "plays_this_turn": 98})
    table.play("quartz")
    assert (table.state.active, table.state.plays) == (0, 99)
    last = Table.arranged({0: {"mana": 1, "hand": ["quartz"]}, "plays_this_turn": 99})
    assert kinds(last.play("quartz")) == PLAIN_PLAY
    assert last.state.active == 1


def test_the_hundredth_card_still_settles_its_forced_discard() -> None:
    table = Table.arranged({0: {"mana": 2, "hand": ["prism"]}, "plays_this_turn": 99})
    table.play("prism")
    assert table.prompt.kind == "forced_discard"
    assert kinds(table.discard(table.hand(0)[3])) == ["card_discarded", "card_drawn", "turn_ended", "turn_started"]
    assert (table.state.active, table.state.plays) == (1, 0)


def test_victory_is_judged_after_production() -> None:
    # TT-4.2
    table = Table.arranged({0: {"ore": 148}, "at": "turn_start"})
    assert kinds(table.history) == ["position_arranged", "turn_started", "match_ended"]
    ended = only(table.history, pb.MatchEnded)
    assert (ended.outcome, ended.winner, list(ended.reasons), ended.ladder_step) == ("win", 0, ["resource"], "")
    assert ended.numbers[0].ore == 150
    assert GAME.prompts(table.state) == ()
    assert GAME.outcome(table.state) == Outcome(OutcomeKind.WIN, (1, 2), ("resource",))


def test_a_victory_stops_everything() -> None:
    # TT-4.4: no draw, no refill, no forced discard, no further action.
    table = Table.arranged({0: {"ore": 149, "mana": 10, "hand": ["lucky_cache"]}})
    assert kinds(table.play("lucky_cache")) == ["card_played", "effects_applied", "match_ended"]
    assert table.state.seats[0].hand_count == 5
    assert table.state.decisions == 1
    assert GAME.outcome(table.state) == Outcome(OutcomeKind.WIN, (1, 2), ("resource",))


def test_victory_is_never_judged_between_two_effects() -> None:
    # TT-4.8: solar_flare lifts the own tower to its goal before it fells the enemy's; both count.
    table = Table.arranged({0: {"mana": 4, "tower": 48, "hand": ["solar_flare"]}, 1: {"tower": 2}})
    assert only(table.play("solar_flare"), pb.MatchEnded).reasons == ["tower_built", "tower_destroyed"]


def test_a_gift_to_the_enemy() -> None:
    table = Table.arranged({0: {"mana": 6, "tower": 40, "hand": ["crystal_matrix"]}, 1: {"tower": 49}})
    ended = only(table.play("crystal_matrix"), pb.MatchEnded)
    assert (ended.winner, list(ended.reasons)) == (1, ["tower_built"])
    assert GAME.outcome(table.state) == Outcome(OutcomeKind.WIN, (2, 1), ("tower_built",))


def test_own_goal() -> None:
    table = Table.arranged({0: {"mana": 3, "tower": 5, "hand": ["power_burn"]}})
    ended = only(table.play("power_burn"), pb.MatchEnded)
    assert (ended.winner, list(ended.reasons)) == (1, ["tower_destroyed"])


@pytest.mark.parametrize(
    ("own", "enemy", "winner", "step"),
    [
        ({"tower": 7, "wall": 4}, {"tower": 6, "wall": 3}, 0, "wall"),
        ({"tower": 7, "wall": 4}, {"tower": 6, "wall": 9}, 1, "wall"),
        ({"tower": 7, "wall": 4, "ore": 9}, {"tower": 6, "wall": 4, "recruits": 12}, 1, "stock"),
        ({"tower": 7, "wall": 4, "ore": 9}, {"tower": 6, "wall": 4, "mana": 9}, None, ""),
    ],
)
def test_the_ladder(own: dict[str, int], enemy: dict[str, int], winner: int | None, step: str) -> None:
    # TT-4.8, with discord felling both towers
    table = Table.arranged({0: {"mana": 5, "hand": ["discord"], **own}, 1: enemy})
    ended = only(table.play("discord"), pb.MatchEnded)
    assert (ended.winner if ended.HasField("winner") else None, ended.ladder_step) == (winner, step)
    assert list(ended.reasons) == ["tower_destroyed"]
    outcome = GAME.outcome(table.state)
    assert outcome is not None
    assert outcome.winners == (() if winner is None else (winner,))


def test_the_ladder_begins_with_the_tower() -> None:
    table = Table.arranged({0: {"mana": 0, "tower": 50, "wall": 0, "hand": ["rainbow"]}, 1: {"tower": 49, "wall": 9}})
    ended = only(table.play("rainbow"), pb.MatchEnded)
    assert (ended.winner, ended.ladder_step) == (0, "tower")


@pytest.mark.parametrize(
    ("own", "enemy", "winner", "step"),
    [
        ({"tower": 21}, {"tower": 20, "wall": 50}, 0, "tower"),
        ({}, {"wall": 6}, 1, "wall"),
        ({"ore": 3}, {"mana": 4}, 1, "stock"),
        ({"ore": 3}, {"mana": 3}, None, ""),
    ],
)
def test_the_last_turn(own: dict[str, int], enemy: dict[str, int], winner: int | None, step: str) -> None:
    # TT-4.9
    table = Table.arranged({0: own, 1: enemy, "turn": 1000})
    events = table.discard(table.hand(0)[0])
    assert kinds(events) == ["card_discarded", "card_drawn", "turn_ended", "match_ended"]
    ended = events[-1]
    assert (ended.winner if ended.HasField("winner") else None, ended.ladder_step) == (winner, step)
    assert list(ended.reasons) == ["turn_limit"]
    assert ended.outcome == ("draw" if winner is None else "win")


def test_turn_999_is_not_the_last() -> None:
    table = Table.arranged({"turn": 999})
    table.discard(table.hand(0)[0])
    assert (table.state.turn_no, table.state.result) == (1000, None)


def test_resigning_out_of_turn() -> None:
    # TT-5.4
    for seat in (0, 1):
        table = Table.arranged({})
        events = table.resign(seat)
        assert kinds(events) == ["match_ended"]
        assert (events[0].winner, list(events[0].reasons)) == (1 - seat, ["resigned"])


def test_resigning_in_a_forced_discard() -> None:
    table = Table.arranged({0: {"mana": 2, "hand": ["prism"]}})
    table.play("prism")
    assert table.resign(0)[0].winner == 1


def test_nothing_limits_the_numbers() -> None:
    # TT-2.2
    table = Table.arranged({0: {"wall": 99_990, "ore": 24, "hand": ["dragons_heart"]}, **FAR_GOALS})
    table.play("dragons_heart")
    assert table.numbers(0)["wall"] == 100_010

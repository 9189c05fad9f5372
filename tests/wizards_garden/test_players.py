"""WG-20: the built-in players."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
from google.protobuf.message import Message

from grimoire.engine import Decision, Viewer
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.match.frames import travelling
from grimoire.match.simulate import simulate
from grimoire.plugins import load_game
from grimoire.v1 import prompt_pb2
from tests.support.strength import certain
from tests.wizards_garden.lively import GAME, asked, decide, legal_of, lively_match, setup_of, started
from tests.wizards_garden.turned import turned_state
from wizards_garden.appraisal import Appraisal, Weights
from wizards_garden.bot import WizardsGardenBot
from wizards_garden.draft import Draft
from wizards_garden.levels import Level
from wizards_garden.pieces import SPELLS
from wizards_garden.positions import WizardsGardenPositions
from wizards_garden.sight import imagined
from wizards_garden.state import Stage, State

BOT = WizardsGardenBot()
THINKING = ("heuristic", "searching")


def arranged(position: Mapping[str, object], spells: int = 3) -> State:
    """The state of a written position."""
    options = {"spells_per_player": str(spells)}
    event = WizardsGardenPositions().parse(position, options)
    return GAME.start(setup_of(options, event.SerializeToString()), None).state  # type: ignore[arg-type, union-attr]


def view_of(state: State) -> pb.View:
    """What the asked seat sees."""
    view = GAME.view(state, Viewer.of_seat(asked(state).seat))
    assert isinstance(view, pb.View)
    return view


def suggestion(state: State, level: str, seed: int = 1, budget_ms: int = 100) -> Message:
    """What the bot says, handed to it as the platform does."""
    prompt = asked(state)
    message = prompt_pb2.Prompt(
        prompt_id=prompt.key, seat=prompt.seat, kind=prompt.kind, legal=travelling(GAME.schema, legal_of(state))
    )
    code, command = BOT.suggest(view_of(state), message, level, random.Random(seed), budget_ms)
    assert GAME.schema.code(command) == code
    return command


def played(state: State, levels: tuple[str, str], seed: int, budget_ms: int = 50) -> Iterator[tuple[State, Message]]:
    """A match between players: each decision."""
    while GAME.outcome(state) is None:
        command = suggestion(state, levels[asked(state).seat], seed, budget_ms)
        decision = decide(state, command, seed)
        assert isinstance(decision, Decision), (command, decision)
        yield state, command
        state = decision.state


# ---- what they are given, and what they may say ----------------------------------------------------------------------


def test_what_is_imagined_looks_like_what_is_seen() -> None:
    stages: Counter[str] = Counter()
    for seed in range(12):
        for each in lively_match(seed, spells_per_player="3", turn_limit="40"):
            seat, view = asked(each.state).seat, view_of(each.state)
            guess = GAME.view(imagined(view, seat, random.Random(seed)), Viewer.of_seat(seat))
            view.arranged = True
            assert guess == view
            stages[view.state] += 1
    assert {*stages} == {stage.value for stage in Stage if stage not in (Stage.SETUP, Stage.OVER)}


def test_what_is_imagined_is_a_guess_at_the_hidden_alone() -> None:
    state = started(4, {"spells_per_player": "3"})
    view = view_of(state)
    guesses = [imagined(view, asked(state).seat, random.Random(seed)) for seed in range(20)]
    other = 1 - asked(state).seat
    assert len({guess.seats[other].hand for guess in guesses}) > 5
    assert len({guess.seats[other].spells for guess in guesses}) > 5
    for guess in guesses:
        cards = [*guess.deck, *guess.seats[0].hand, *guess.seats[1].hand]
        assert sorted(cards) == sorted([*state.deck, *state.seats[0].hand, *state.seats[1].hand])
        spells = [*guess.set_aside, *guess.seats[0].spells, *guess.seats[1].spells]
        assert sorted(spells) == sorted(SPELLS)


@pytest.mark.parametrize("level", list(Level))
def test_every_suggestion_is_legal(level: Level) -> None:
    # positions of random play: pairs, fish fire, half actions, battles and spells of every kind
    chance = random.Random(level.value)
    states = [each.state for seed in range(12) for each in lively_match(seed, spells_per_player="3", turn_limit="40")]
    picked = chance.sample(states, 40 if level is Level.SEARCHING else 300)
    for state in picked:
        decision = decide(state, suggestion(state, level.value, 7, 20))
        assert isinstance(decision, Decision), (state, decision)


@pytest.mark.parametrize("level", list(Level))
def test_same_chance_same_answer(level: Level) -> None:
    for each in list(lively_match(5))[3:200:20]:
        assert suggestion(each.state, level.value, 9, 20) == suggestion(each.state, level.value, 9, 20)


def test_unknown_level() -> None:
    with pytest.raises(ValueError, match="grandmaster"):
        suggestion(started(1, {}), "grandmaster")


def test_another_games_view() -> None:
    state = started(1, {})
    prompt = prompt_pb2.Prompt(seat=asked(state).seat)
    with pytest.raises(TypeError, match="Space is no view"):
        BOT.suggest(pb.Space(), prompt, "heuristic", random.Random(1), 1)


# ---- what positions are worth ---------------------------------------------------------------------------------------


def test_neither_side_of_the_board_is_worth_more() -> None:
    appraisal = Appraisal(Weights())
    for seed in range(6):
        for each in lively_match(seed, spells_per_player="3", turn_limit="60"):
            turned = turned_state(each.state)
            for seat in range(2):
                worth = appraisal.worth(Draft(each.state), seat)
                assert appraisal.worth(Draft(turned), 1 - seat) == pytest.approx(worth)


def test_what_is_hidden_is_worth_nothing_by_what_it_is() -> None:
    appraisal = Appraisal(Weights())
    one = arranged({"red": {"hand": ["water"], "spells": ["trinket"], "spirits": ["water", "pest"]}})
    other = arranged({"red": {"hand": ["gnome"], "spells": ["fish"], "spirits": ["water", "pest"]}})
    assert appraisal.worth(Draft(one), 0) == appraisal.worth(Draft(other), 0)
    assert appraisal.worth(Draft(one), 1) != appraisal.worth(Draft(other), 1)


def test_positions_are_worth_what_the_weights_say() -> None:
    weights = Weights()
    appraisal = Appraisal(weights)
    plain = appraisal.worth(Draft(arranged({})), 0)

    def more(position: Mapping[str, object]) -> float:
        return appraisal.worth(Draft(arranged(position)), 0) - plain

    assert more({"blue": {"fire": 3}}) == pytest.approx(3 * weights.fire)
    assert more({"blue": {"fire": 5}}) == pytest.approx(4 * weights.fire)
    assert more({"red": {"fire": 1}}) == pytest.approx(-weights.opponent * weights.fire)
    assert more({"blue": {"lit": "fire"}}) == pytest.approx(weights.lit)
    assert more({"yard": "w4@c1"}) == pytest.approx(3 * weights.home_water)
    assert more({"yard": "B@a4*fire w1@a4"}) == pytest.approx(weights.lantern + weights.bright + weights.water)
    assert more({"yard": "B@a4~fire"}) == pytest.approx(weights.lantern)
    guarded = more({"yard": "B@a4 w1@a4", "blue": {"lit": "fire"}}) - weights.water - weights.lit
    bare = more({"yard": "B@a4 P@b4", "blue": {"lit": "fire"}}) - weights.lit
    assert (guarded, bare) == pytest.approx((weights.open, weights.bare))


# ---- what they play --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", THINKING)
def test_a_lantern_is_set_where_it_can_be(level: str) -> None:
    state = arranged({"yard": ["B@a4"], "blue": {"lit": "fire"}})
    assert suggestion(state, level) == pb.PlaceLantern(space="a4")


@pytest.mark.parametrize("level", THINKING)
def test_the_last_lantern_wins(level: str) -> None:
    yard = ["B@a2~fire", "B@e2~pest", "B@a4~water", "B@e4"]
    state = arranged({"yard": yard, "blue": {"lit": "spirit", "fire": 5, "spells": ["trinket", "skull"]}})
    assert suggestion(state, level) == pb.PlaceLantern(space="e4")


@pytest.mark.parametrize("level", THINKING)
def test_a_pair_is_lit(level: str) -> None:
    state = arranged({"state": "wizard_start", "yard": ["B@a4"], "blue": {"spirits": ["fire", "fire"]}})
    assert suggestion(state, level) == pb.LightWithPair()


def test_a_card_is_swapped_in_to_make_a_pair() -> None:
    position = {"state": "wizard_start", "yard": ["B@a4"], "blue": {"spirits": ["fire", "pest"], "hand": ["fire"]}}
    assert suggestion(arranged(position), "heuristic") == pb.SwapSpirit(slot=1, card="spirit_fire_03")


@pytest.mark.parametrize("level", THINKING)
def test_trinket_is_cast_for_an_open_deposit(level: str) -> None:
    command = suggestion(arranged({"yard": ["B@a4", "w1@a4"], "blue": {"spells": ["trinket"]}}), level)
    assert isinstance(command, pb.CastTrinket)


def test_trinket_waits_while_something_is_lit() -> None:
    command = suggestion(arranged({"blue": {"lit": "fire", "spells": ["trinket"]}}), "heuristic")
    assert not isinstance(command, pb.CastTrinket)


@pytest.mark.parametrize("level", THINKING)
def test_skull_strikes_a_bright_lantern_that_nothing_defends(level: str) -> None:
    position = {"yard": ["R@e6*spirit", "B@a4"], "blue": {"fire": 2, "spells": ["skull"]}}
    assert suggestion(arranged(position), level) == pb.CastSkull(target="e6", fire=1)


def test_skull_does_not_strike_what_can_be_defended() -> None:
    position = {"yard": ["R@e6*spirit", "w5@e6"], "blue": {"fire": 2, "spells": ["skull"]}, "red": {"fire": 5}}
    assert not isinstance(suggestion(arranged(position), "heuristic"), pb.CastSkull)


def in_defence(position: Mapping[str, object], fire: int = 0) -> State:
    """Blue's only threat is declared."""
    state = arranged({"state": "attack", **position})
    decision = decide(state, pb.DeclareAttack(group=state.groups[0].id, fire=fire))
    assert isinstance(decision, Decision)
    after: State = decision.state
    assert after.stage is Stage.DEFENCE
    return after


@pytest.mark.parametrize("level", THINKING)
def test_conch_saves_a_bright_lantern(level: str) -> None:
    state = in_defence({"yard": ["P@a3", "R@a4*fire"], "threats": ["a3>a4"], "red": {"spells": ["conch"]}})
    assert suggestion(state, level) == pb.CastConch()


@pytest.mark.parametrize("level", THINKING)
def test_water_puts_out_what_would_dim_a_lantern(level: str) -> None:
    state = in_defence({"yard": ["PP@a3", "R@a4*fire", "w3@a4"], "threats": ["a3>a4"]})
    command = suggestion(state, level)
    assert (getattr(command, "with"), command.amount) == ("water", 2)  # type: ignore[attr-defined]


def test_nothing_is_wasted_on_a_plain_gnome_that_is_lost_anyway() -> None:
    position = {"yard": ["B@b4", "R@a4"], "threats": ["b4>a4"], "blue": {"fire": 4}, "red": {"fire": 1}}
    command = suggestion(in_defence(position, fire=4), "heuristic")
    assert getattr(command, "with") == "none"


@pytest.mark.parametrize("level", THINKING)
def test_an_attack_that_nothing_stops_is_made(level: str) -> None:
    position = {"state": "attack", "yard": ["B@b4", "R@a4*fire"], "threats": ["b4>a4"], "blue": {"fire": 1}}
    assert suggestion(arranged(position), level) == pb.DeclareAttack(group="b4>a4", fire=1)


def test_a_hopeless_attack_is_not_made() -> None:
    position = {"state": "attack", "yard": ["B@b4", "R@a4*fire"], "threats": ["b4>a4"], "blue": {"fire": 1}}
    command = suggestion(arranged({**position, "red": {"fire": 3}}), "heuristic")
    assert isinstance(command, pb.EndPhase | pb.Withdraw)


@pytest.mark.parametrize("level", THINKING)
def test_captured_light_is_taken(level: str) -> None:
    state = arranged({"state": "attack", "yard": ["P@a3", "R@a4*fire"], "threats": ["a3>a4"]})
    decision = decide(state, pb.DeclareAttack(group="a3>a4"))
    assert isinstance(decision, Decision)
    assert suggestion(decision.state, level) == pb.ChooseLight(light=True)


def test_dagger_takes_a_gnome_from_its_deposit() -> None:
    position = {"yard": ["R@e4"], "red": {"lit": "fire"}, "blue": {"spells": ["dagger"]}}
    assert suggestion(arranged(position), "heuristic") == pb.CastDagger(gnome="red_gnome_05")


# ---- whole matches ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_heuristic_casts_every_spell() -> None:
    cast: Counter[str] = Counter()
    for seed in range(60):
        levels = ("heuristic", "heuristic")
        for _, command in played(started(seed, {"spells_per_player": "3"}), levels, seed):
            code = GAME.schema.code(command)
            cast[code] += code.startswith("cast_")
        if all(cast[f"cast_{spell}"] for spell in SPELLS):
            return
    raise AssertionError({spell for spell in SPELLS if not cast[f"cast_{spell}"]})


def test_the_heuristic_beats_random_play() -> None:
    report = simulate(load_game("wizards_garden"), 6, ["heuristic", "random"], {"turn_limit": "60"}, "players")
    assert report.bots[0].won >= 5


def test_matches_of_the_heuristic_end() -> None:
    report = simulate(load_game("wizards_garden"), 4, ["heuristic"], seed="ends")
    assert report.reasons["five_lanterns"] == 4


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("spells", ["1", "2", "3"])
def test_strength_of_the_heuristic(spells: str) -> None:
    options = {"turn_limit": "60", "spells_per_player": spells}
    bots = ["heuristic", "random"]
    report = simulate(
        load_game("wizards_garden"), 100, bots, options, "strength", processes=0, settled=certain(95, 100)
    )
    assert report.bots[0].won >= 95, report.bots


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_strength_of_the_searching_player() -> None:
    bots = ["searching", "heuristic"]
    report = simulate(load_game("wizards_garden"), 100, bots, seed="strength", processes=0, settled=certain(60, 100))
    assert report.bots[0].won >= 60, report.bots


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_beginning_is_worth_little_and_few_matches_are_cut_off() -> None:
    # WG-20: the layout is data; outside 45..55 of 100 it would want another look. The board is symmetric, so that
    # letting blue begin shows what beginning is worth.
    report = simulate(
        load_game("wizards_garden"), 300, ["heuristic"], {"first_player": "blue"}, seed="fair", processes=0
    )
    assert 135 <= report.seats[0].won <= 165
    assert report.reasons.get("turn_limit", 0) < 6

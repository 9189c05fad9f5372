"""Fits what the searching player of Two Towers knows about positions: services/two_towers/data/appraisal.json.

The heuristic player plays itself on every battlefield, half the matches with each deck; now and then a random move
leads it off its path. Each turn is one sample: both seats' numbers (before production) and hands, and who won in the
end. Then logistic regression by stochastic gradient: each battlefield's weights and, over all battlefields, one worth
for each card in hand. Run again when cards or battlefields change; it takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from grimoire.engine import Actor, Illegal, Seat, Setup
from grimoire.fairness import RecordedDraws, Secret
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.appraisal import FEATURES, features
from two_towers.battlefields import BATTLEFIELDS
from two_towers.cards import CATALOGUE
from two_towers.fields import PRODUCERS, STOCKS
from two_towers.heuristic import heuristic_for
from two_towers.rules import TwoTowers
from two_towers.state import Phase, State, other
from two_towers.worst import worst_slot

TARGET = Path(__file__).resolve().parent.parent / "services" / "two_towers" / "data" / "appraisal.json"
NUMBERS = {card: index for index, card in enumerate(CATALOGUE)}
GAME = TwoTowers()
RANDOM_MOVES = 0.05


class Sample(NamedTuple):
    """One turn's start, as the seat to move sees it when all is open."""

    features: list[float]
    cards: dict[int, int]
    won: float


def play(battlefield: str, deck_type: str, rng: random.Random) -> list[Sample]:
    """One match, as its samples."""
    draws = RecordedDraws(GAME.id, Secret(rng.randbytes(32)))
    begun = GAME.start(Setup("fit", 2, {"battlefield": battlefield, "deck_type": deck_type}), draws)
    assert not isinstance(begun, Illegal)
    state, seen, turn = begun.state, [], 0
    while state.result is None:
        if state.turn_no != turn:
            turn = state.turn_no
            seen.append(state)
        decision = GAME.decide(state, Actor.of_seat(state.active), move(state, rng), None, draws)
        assert not isinstance(decision, Illegal)
        state = decision.state
    winner = state.result.winner
    return [sample(s, 0.5 if winner is None else float(winner == s.active)) for s in seen]


def move(state: State, rng: random.Random) -> pb.PlayCard | pb.DiscardCard:
    """The heuristic player's move, rarely a random one."""
    seat = state.active
    if rng.random() < RANDOM_MOVES:
        legal = rng.choice(GAME.legal(state, Seat(seat), GAME.prompts(state)[0]))
        return GAME.schema.command(legal.type, legal.fixed)  # type: ignore[return-value]
    own, enemy = state.seats[seat], state.seats[other(seat)]
    if state.phase is Phase.FORCED_DISCARD:
        played, slot = False, worst_slot(own.hand, own.numbers)
    else:
        goals = state.terms.goal_tower, state.terms.goal_resource
        played, slot = heuristic_for(*goals).choose(own.hand, own.numbers, enemy.numbers)
    return (pb.PlayCard if played else pb.DiscardCard)(slot=slot, card=own.hand[slot])


def sample(state: State, won: float) -> Sample:
    """Own features minus the enemy's; hands likewise."""
    goals = state.terms.goal_tower, state.terms.goal_resource
    own, enemy = state.seats[state.active], state.seats[other(state.active)]
    before = [*own.numbers]
    for stock, producer in zip(STOCKS, PRODUCERS, strict=True):
        before[stock] -= own.numbers[producer]
    difference = [a - b for a, b in zip(features(before, *goals), features(enemy.numbers, *goals), strict=True)]
    cards = Counter(NUMBERS[card] for card in own.hand)
    cards.subtract(NUMBERS[card] for card in enemy.hand)
    return Sample([*difference, 1.0], {card: n for card, n in cards.items() if n}, won)


class Model:
    """Weights of all battlefields and the cards, with AdaGrad's step sizes."""

    def __init__(self) -> None:
        self.weights = {b: [0.0] * len(FEATURES) for b in BATTLEFIELDS}
        self.cards = [0.0] * len(CATALOGUE)
        self._squares = {b: [1e-6] * len(FEATURES) for b in BATTLEFIELDS}
        self._card_squares = [1e-6] * len(CATALOGUE)

    def learn(self, battlefield: str, sample: Sample, rate: float) -> float:
        """One step; gives the sample's log loss before it."""
        weights, squares = self.weights[battlefield], self._squares[battlefield]
        logit = sum([w * x for w, x in zip(weights, sample.features, strict=True)])
        logit += sum([self.cards[card] * n for card, n in sample.cards.items()])
        expected = 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
        error = expected - sample.won
        for i, x in enumerate(sample.features):
            gradient = error * x
            squares[i] += gradient * gradient
            weights[i] -= rate * gradient / math.sqrt(squares[i])
        for card, n in sample.cards.items():
            gradient = error * n
            self._card_squares[card] += gradient * gradient
            self.cards[card] -= rate * gradient / math.sqrt(self._card_squares[card])
        likely = expected if sample.won >= 0.5 else 1 - expected
        return -math.log(max(likely, 1e-9))

    def save(self, path: Path) -> None:
        """Writes the data file."""
        file = {
            "features": FEATURES,
            "battlefields": {b: [round(w, 3) for w in weights] for b, weights in self.weights.items()},
            "cards": {card: round(worth, 3) for card, worth in zip(CATALOGUE, self.cards, strict=True)},
        }
        path.write_text(json.dumps(file, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Plays, fits, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matches", type=int, default=1500, help="matches on each battlefield")
    parser.add_argument("--passes", type=int, default=4, help="how often each sample is learned")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    samples: list[tuple[str, Sample]] = []
    for battlefield in BATTLEFIELDS:
        for n in range(options.matches):
            deck_type = ("standard", "endless")[n % 2]
            samples += [(battlefield, s) for s in play(battlefield, deck_type, rng)]
        print(f"{battlefield}: {len(samples)} samples so far")
    model = Model()
    for n in range(options.passes):
        rng.shuffle(samples)
        loss = sum(model.learn(b, s, 0.05 / (1 + n)) for b, s in samples)
        print(f"pass {n + 1}: log loss {loss / len(samples):.4f}")
    model.save(options.output)


if __name__ == "__main__":
    main()

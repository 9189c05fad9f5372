"""The built-in players (TT-13). They are given what their seat may see, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Mapping

from google.protobuf.message import Message

from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import prompt_pb2
from two_towers.cards import CATALOGUE
from two_towers.evolve import numbers_of
from two_towers.heuristic import heuristic_for
from two_towers.levels import Level
from two_towers.search import Action, Sight, search
from two_towers.state import Phase
from two_towers.worst import worst_slot

__all__ = ["TwoTowersBot"]

_COMMANDS: Mapping[str, type[Message]] = {"play_card": pb.PlayCard, "discard_card": pb.DiscardCard}


class TwoTowersBot:
    """`Bot` of Two Towers."""

    levels: tuple[str, ...] = tuple(level.value for level in Level)

    def suggest(
        self, view: Message, prompt: prompt_pb2.Prompt, level: str, rng: random.Random, budget_ms: int
    ) -> tuple[str, Message]:
        """A legal command for one's own open prompt.

        Raises:
            ValueError: for an unknown level.
            TypeError: for another game's view.
        """
        kind = Level(level)
        if kind is Level.RANDOM:
            entry = rng.choice(prompt.legal)
            return entry.type, _COMMANDS[entry.type].FromString(entry.payload)
        if not isinstance(view, pb.View):
            raise TypeError(f"{type(view).__name__} is no view of Two Towers")
        sight = _sight(view, prompt)
        play, slot = search(sight, rng, budget_ms) if kind is Level.SEARCHING else _heuristic(sight)
        card = sight.hand[slot]
        if play:
            return "play_card", pb.PlayCard(slot=slot, card=card)
        return "discard_card", pb.DiscardCard(slot=slot, card=card)


def _heuristic(sight: Sight) -> Action:
    """TT-13.1."""
    if sight.forced:
        return False, worst_slot(sight.hand, sight.own)
    return heuristic_for(sight.goal_tower, sight.goal_resource).choose(sight.hand, sight.own, sight.enemy)


def _sight(view: pb.View, prompt: prompt_pb2.Prompt) -> Sight:
    own, enemy = view.seats[prompt.seat], view.seats[1 - prompt.seat]
    hand = tuple(held.card for held in own.hand)
    discards = tuple(view.discards)
    standard = view.HasField("pile_count")
    seen = {*discards, *hand}
    return Sight(
        battlefield=view.battlefield,
        goal_tower=view.goal_tower,
        goal_resource=view.goal_resource,
        own=numbers_of(own.numbers),
        enemy=numbers_of(enemy.numbers),
        hand=hand,
        forced=prompt.kind == Phase.FORCED_DISCARD,
        unseen=tuple(card for card in CATALOGUE if card not in seen) if standard else None,
        discards=discards,
        pile_count=view.pile_count,
    )

"""The built-in players (TT-13)."""

from __future__ import annotations

import random

from google.protobuf.message import Message

from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import prompt_pb2
from two_towers.heuristic import choose, forced_discard

COMMANDS = {"play_card": pb.PlayCard, "discard_card": pb.DiscardCard}


class TwoTowersBot:
    levels = ("random", "heuristic")

    def suggest(self, view: Message, prompt: prompt_pb2.Prompt, level: str, rng: random.Random, budget_ms: int):
        if level == "random":
            entry = rng.choice(prompt.legal)
            return entry.type, COMMANDS[entry.type].FromString(entry.payload)
        v = pb.View.FromString(view.SerializeToString())
        me, other = v.seats[prompt.seat], v.seats[1 - prompt.seat]
        def n(s):
            x = s.numbers
            return [x.tower, x.wall, x.mines, x.monasteries, x.barracks, x.ore, x.mana, x.recruits]
        hand = [s.card for s in me.hand]
        if prompt.kind == "forced_discard":
            play, slot = False, forced_discard(hand, n(me))
        else:
            play, slot = choose(hand, n(me), n(other), v.goal_tower, v.goal_resource)
        cls = pb.PlayCard if play else pb.DiscardCard
        return ("play_card" if play else "discard_card"), cls(slot=slot, card=hand[slot])

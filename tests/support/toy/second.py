"""Beacon, rules version 2, as if the rules had been changed after a year: other draws, other folds, same messages.

**TOY-6** the omen is 0 to 5. **TOY-9** whoever feeds the beacon a rune gets a token for it.
"""

from __future__ import annotations

from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.engine import Actor, Decision, Draws, Illegal, Prompt
from grimoire.fairness import rules_digest
from grimoire.plugins import GamePlugin
from tests.support.toy import PLUGIN as FIRST
from tests.support.toy import schema as pb
from tests.support.toy.rules import Toy, _Table
from tests.support.toy.state import RUNES, State, evolve

OMENS = 6


def evolve_second(state: State, event: Message) -> State:
    """The state after one event under the second rules."""
    state = evolve(state, event)
    if not isinstance(event, pb.RuneBurnt):
        return state
    keepers = list(state.keepers)
    keepers[event.seat] = replace(keepers[event.seat], tokens=keepers[event.seat].tokens + 1)  # TOY-9
    return replace(state, keepers=tuple(keepers))


class ToySecond(Toy):
    """Beacon, rules version 2."""

    rules_version: int = 2
    rules_digest: bytes = rules_digest("toy", 2, {"runes": repr(RUNES).encode()})

    def decide(
        self, state: State, actor: Actor, command: Message, prompt: Prompt | None, draws: Draws
    ) -> Decision[State] | Illegal:
        table = _SecondTable(state, draws)
        refused = table.judge(actor, command, prompt)
        return refused if refused is not None else Decision(tuple(table.events), table.state)

    def evolve(self, state: State, event: Message) -> State:
        return evolve_second(state, event)


class _SecondTable(_Table):
    def add(self, event: Message) -> None:
        self.events.append(event)
        self.state = evolve_second(self.state, event)

    def _resolve(self) -> None:
        top = self.state.stack[-1]
        if top.stake:
            self.add(pb.SpellUndone(serial=top.target, by=top.serial))
            return
        omen = self._draws.below(f"omen/{top.serial}", OMENS)  # TOY-6
        worth = RUNES[top.rune] + omen
        light, score = self.state.light + worth, self.state.keepers[top.seat].score + worth
        self.add(pb.RuneBurnt(seat=top.seat, serial=top.serial, rune=top.rune, omen=omen, light=light, score=score))


def _plugin(*older: Toy) -> GamePlugin:
    return GamePlugin(
        game=ToySecond(),
        bot=FIRST.bot,
        texts=FIRST.texts,
        terminal=FIRST.terminal,
        positions=FIRST.positions,
        older=older,
    )


PLUGIN = _plugin(Toy())
"""Both versions side by side."""

FORGETFUL = _plugin()
"""The second version alone: whoever installed it threw the first away."""

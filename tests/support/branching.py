"""Playing on from any decision of a match, the same for all games: random matches and what they branch into."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from grimoire.engine import Actor, Decision, Game, Setup, Start, Viewer
from grimoire.fairness import RecordedDraws, Secret
from grimoire.match.branch import MAX_POSITION_BYTES
from tests.battery.playing import complete

__all__ = ["Branches"]


class Branches(msgspec.Struct, frozen=True):
    """How a game is played on from its own states.

    Args:
        game: the rules.
        positions: `parse` and `from_state` of its arranged positions.
        fault: what is wrong with an arranged position for a match of these terms; empty: nothing.
        options: of the match that a state belongs to.
        seats: how many there are.
        useful: commands that a random player takes more often than its chance, by the beginnings of their codes: they
            make what branches must stand.
        more_often: by how much.
    """

    game: Game[Any, Any, Any]
    positions: Any
    fault: Callable[[Any, Any], str]
    options: Callable[[Any], Mapping[str, str]]
    seats: int
    useful: tuple[str, ...]
    more_often: int = 8

    def draws(self, seed: int) -> RecordedDraws:
        """The draws of one of many matches."""
        return RecordedDraws(self.game.id, Secret(random.Random(f"joint {seed}").randbytes(32)))

    def started(self, seed: int, options: Mapping[str, str], position: bytes = b"") -> Any:
        """The state a match begins with, dealt or arranged."""
        start = self.game.start(Setup("branch", self.seats, dict(options), position), self.draws(seed))
        assert isinstance(start, Start), start
        assert not position or len(start.events) == 1
        return start.state

    def play_on(self, state: Any, seed: int) -> Iterator[Any]:
        """The state at each decision of a random match, the first included."""
        game, chance = self.game, random.Random(seed)
        while game.outcome(state) is None:
            yield state
            prompts = game.prompts(state)
            # What must be answered comes far more often than what merely may be.
            [prompt] = chance.choices(prompts, [20 if each.required else 1 for each in prompts])
            legal = game.legal(state, prompt.seat, prompt)
            weights = [self.more_often if entry.type.startswith(self.useful) else 1 for entry in legal]
            command = complete(chance.choices(legal, weights)[0], game.schema, chance)
            decision = game.decide(state, Actor.of_seat(prompt.seat), command, prompt, self.draws(seed))
            assert isinstance(decision, Decision), (decision, command)
            state = decision.state

    def branch(self, state: Any) -> Any:
        """The state with which a new match from this one begins; the position it is made of is one that can be."""
        event = self.positions.from_state(state)
        assert self.fault(event, state.terms) == ""
        body = event.SerializeToString(deterministic=True)
        assert len(body) <= MAX_POSITION_BYTES
        return self.started(0, self.options(state), body)

    def same_to_play(
        self, state: Any, branched: Any, viewers: Sequence[Viewer], shown: Callable[[Any, Viewer], object]
    ) -> None:
        """Judges that a branch shows, asks and allows what the match it comes from does.

        Args:
            state: of the match.
            branched: what the branch begins with.
            viewers: who looks.
            shown: a viewer's view without what only tells how the match came to be there.
        """
        game = self.game
        for viewer in viewers:
            assert shown(branched, viewer) == shown(state, viewer)
        before, now = game.prompts(state), game.prompts(branched)
        assert [(p.seat, p.kind, p.deadline_class) for p in now] == [(p.seat, p.kind, p.deadline_class) for p in before]
        for old, new in zip(before, now, strict=True):
            assert game.legal(branched, new.seat, new) == game.legal(state, old.seat, old)
        assert game.outcome(branched) is None

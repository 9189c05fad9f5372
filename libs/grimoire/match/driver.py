"""Plays whole matches at a table with bots in the seats, as services would: handshake, prompts, clock."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from google.protobuf.message import Message

from grimoire.engine import Outcome, Seat, Viewer, Volunteer
from grimoire.fairness.commitments import NONCE_SIZE, SEED_SIZE
from grimoire.fairness.secret import Secret
from grimoire.match.entry import Entry
from grimoire.match.frames import prompts_for
from grimoire.match.state import OpenPrompt
from grimoire.match.table import Table
from grimoire.plugins import GamePlugin
from grimoire.v1 import prompt_pb2

__all__ = ["BotPlayers", "play_match"]

_THINKING_MS: Final = (300, 9_000)


def play_match(
    plugin: GamePlugin,
    levels: Sequence[str],
    match_id: str,
    seed: str = "0",
    options: Mapping[str, str] | None = None,
) -> Table:
    """Plays a whole match between bots: creation, handshake, play, reveal.

    Args:
        plugin: the game.
        levels: one bot for each seat.
        match_id: of the match.
        seed: of S, nonces and the bots' choices; the same seed plays the same match.
        options: the game's, by name; the others take their defaults.

    Returns:
        The table it was played at, with its entries.

    Raises:
        RuntimeError: if the options are refused, or a bot sends what is refused.

    >>> from grimoire.plugins import load_game
    >>> play_match(load_game("two_towers"), ["heuristic", "random"], "doc").running.phase.name
    'CLOSED'
    """
    chance = random.Random(f"{seed}/seeds")  # noqa: S311
    table = Table(
        plugin.game,
        match_id=match_id,
        seats=len(levels),
        options=options,
        seed=Secret(chance.randbytes(SEED_SIZE)),
        nonces=[chance.randbytes(NONCE_SIZE) for _ in levels],
    )
    table.begin()
    BotPlayers(table, plugin, tuple(levels), seed).finish()
    return table


class BotPlayers:
    """Bots on every seat of a table.

    Args:
        table: where they play; created and started with `Table.begin`, or by hand.
        plugin: the game.
        levels: one for each seat.
        seed: of their choices and of the time they take.
        budget_ms: how long each may think about a decision.

    >>> from grimoire.plugins import load_game
    >>> plugin = load_game("two_towers")
    >>> table = Table(plugin.game, match_id="doc", seats=2)
    >>> table.begin()
    >>> BotPlayers(table, plugin, ("heuristic", "random"), "doc").finish().kind.name
    'WIN'
    """

    def __init__(
        self, table: Table, plugin: GamePlugin, levels: tuple[str, ...], seed: str, budget_ms: int = 100
    ) -> None:
        self._table = table
        self._plugin = plugin
        self._levels = levels
        self._budget_ms = budget_ms
        self._time = random.Random(f"{seed}/time")  # noqa: S311
        self._chance = [random.Random(f"{seed}/{seat}") for seat in range(len(levels))]  # noqa: S311

    def step(self) -> Entry | None:
        """The first seat that the match waits for decides, or one that wants to answer an offer; None when it is over.

        Raises:
            RuntimeError: if a bot sends what is refused.
        """
        asked = self._asked()
        if asked is None:
            return None
        table = self._table
        table.now_ms += self._time.randint(*_THINKING_MS)
        seat = Seat(asked.seat)
        view, level, chance = self._view(seat), self._levels[seat], self._chance[seat]
        _, command = self._plugin.bot.suggest(view, asked, level, chance, self._budget_ms)
        answer = table.play(seat, command, asked.prompt_id)
        if not isinstance(answer, Entry):
            raise RuntimeError(f"the bot {level} sent what is refused: {answer}")
        return answer

    def finish(self) -> Outcome:
        """Plays on to the end.

        Raises:
            RuntimeError: as for `step`, or if the match ended without an outcome.
        """
        while self.step() is not None:
            pass
        outcome: Outcome | None = self._table.running.outcome
        if outcome is None:
            raise RuntimeError("the match was voided")
        return outcome

    def _asked(self) -> prompt_pb2.Prompt | None:
        """An offer that somebody's bot wants to answer, or else the first prompt that the match waits for."""
        bot, opened = self._plugin.bot, self._table.running.prompts
        if len(opened) > 1 and isinstance(bot, Volunteer):
            for offer in (each for each in opened if not each.prompt.required):
                seat, asked = offer.prompt.seat, self._as_shown(offer)
                if bot.volunteers(self._view(seat), asked, self._levels[seat]):
                    return asked
        awaited = next((each for each in opened if each.prompt.required), None)
        return None if awaited is None else self._as_shown(awaited)

    def _as_shown(self, opened: OpenPrompt) -> prompt_pb2.Prompt:
        """A prompt with what is legal, as its seat sees it."""
        shown = prompts_for(self._table.referee, self._table.running, Viewer.of_seat(opened.prompt.seat))
        return next(each for each in shown if each.prompt_id == opened.prompt_id)

    def _view(self, seat: Seat) -> Message:
        running = self._table.running
        return self._table.referee.rules(running.rules_version).game.view(running.game, Viewer.of_seat(seat))

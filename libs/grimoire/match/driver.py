"""Plays whole matches at a table with bots in the seats, as services would: handshake, prompts, clock."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grimoire.engine import Outcome, Viewer
from grimoire.fairness.commitments import NONCE_SIZE, SEED_SIZE
from grimoire.fairness.secret import Secret
from grimoire.match.entry import Entry
from grimoire.match.frames import prompts_for
from grimoire.match.state import OpenPrompt
from grimoire.match.table import Table
from grimoire.plugins import GamePlugin

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
        """The first seat that the match waits for decides; None when it is over.

        Raises:
            RuntimeError: if a bot sends what is refused.
        """
        table = self._table
        opened = self._awaited()
        if opened is None:
            return None
        table.now_ms += self._time.randint(*_THINKING_MS)
        seat = opened.prompt.seat
        viewer = Viewer.of_seat(seat)
        asked = next(p for p in prompts_for(table.referee, table.running, viewer) if p.prompt_id == opened.prompt_id)
        view = table.referee.rules(table.running.rules_version).game.view(table.running.game, viewer)
        _, command = self._plugin.bot.suggest(view, asked, self._levels[seat], self._chance[seat], self._budget_ms)
        answer = table.play(seat, command, opened.prompt_id)
        if not isinstance(answer, Entry):
            raise RuntimeError(f"the bot {self._levels[seat]} sent what is refused: {answer}")
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

    def _awaited(self) -> OpenPrompt | None:
        state: Any = self._table.running
        return next((p for p in state.prompts if p.prompt.required), None)

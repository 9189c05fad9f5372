"""Matches between bots in the engine alone: no services, no chain, real labelled draws."""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import multiprocessing
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from google.protobuf.message import Message

from grimoire.engine import (
    Actor,
    Decision,
    Game,
    Illegal,
    Outcome,
    OutcomeKind,
    Prompt,
    Setup,
    Viewer,
    Volunteer,
    usual_seats,
)
from grimoire.fairness.draws import RecordedDraws
from grimoire.fairness.secret import Secret
from grimoire.match.frames import travelling
from grimoire.plugins import GamePlugin, load_game
from grimoire.v1 import prompt_pb2

__all__ = ["BotResult", "SeatResult", "SimulationError", "SimulationReport", "Spread", "Together", "simulate"]

BUDGET_MS: Final = 100
"""How long a bot may think about one decision."""

_MATCHES_A_PIECE: Final = 8
"""So many matches one process plays before it reports: small, so that all finish together."""

_Z: Final = statistics.NormalDist().inv_cdf(0.975)

_cpu = time.thread_time

Progress = Callable[[int], None]
"""Called with the number of matches played so far."""

Settled = Callable[[Sequence[int], int], bool]
"""Called with how many matches each bot has won so far, and of how many: whether the others need not be played."""


class SimulationError(ValueError):
    """What was asked for cannot be played; the message says why and what is allowed."""


class Spread(msgspec.Struct, frozen=True):
    """Least, median and most."""

    min: int
    median: float
    max: int


class BotResult(msgspec.Struct, frozen=True):
    """How one of the bots fared, wherever it sat.

    Attributes:
        level: what it was asked to be.
        played: matches.
        won: alone or shared.
        drawn: without a winner.
    """

    level: str
    played: int
    won: int
    drawn: int


class SeatResult(msgspec.Struct, frozen=True):
    """How often a seat won, whoever sat there."""

    seat: int
    won: int


class Together(msgspec.Struct, frozen=True):
    """What came of matches that all seats win or lose together.

    Attributes:
        played: so many of the matches ended so.
        won: of them.
        low, high: between these the true share of won matches lies in 95 of 100 such reports (Wilson 1927), 0..1.
    """

    played: int
    won: int
    low: float
    high: float


class SimulationReport(msgspec.Struct, frozen=True):
    """What came of it all.

    Attributes:
        game, seed, matches: as asked.
        options: all of them, defaults filled in.
        bots: in the order they were named.
        seats: by number.
        together: of a co-operative game, whose seats do not compete; otherwise none.
        outcomes: kinds (win, draw, coop_won, ...) and how often.
        reasons: the game's reasons and how often.
        decisions, turns: lengths of matches; turns are what the game marks as such.
        decisions_made: in all matches together.
        engine_s: processor time of the rules: listing what is legal, judging, making events and states.
        frames_s: of views and prompts, which are made for bots as for clients.
        thinking_s: of the bots.
        wall_s: from the first match to the last, all processes at once.
        processes: how many played.
        decisions_per_s: of one processor on the rules alone; how long bots think does not count.
        decisions_per_s_total: everything counted, all processes together.
    """

    game: str
    seed: str
    matches: int
    options: dict[str, str]
    bots: list[BotResult]
    seats: list[SeatResult]
    together: Together | None
    outcomes: dict[str, int]
    reasons: dict[str, int]
    decisions: Spread
    turns: Spread
    decisions_made: int
    engine_s: float
    frames_s: float
    thinking_s: float
    wall_s: float
    processes: int
    decisions_per_s: float
    decisions_per_s_total: float


class _Plan(msgspec.Struct, frozen=True):
    """What every process must know."""

    bots: tuple[str, ...]
    options: dict[str, str]
    seed: str
    budget_ms: int


class _Played(msgspec.Struct, frozen=True):
    """One match."""

    number: int
    kind: str
    winners: tuple[int, ...]
    reasons: tuple[str, ...]
    decisions: int
    turns: int
    engine_s: float
    frames_s: float
    thinking_s: float


def simulate(
    plugin: GamePlugin,
    matches: int,
    bots: Sequence[str],
    options: Mapping[str, str] | None = None,
    seed: str = "0",
    progress: Progress | None = None,
    processes: int = 1,
    budget_ms: int = BUDGET_MS,
    seats: int = 0,
    settled: Settled | None = None,
) -> SimulationReport:
    """Lets bots play.

    Each deal is played once in every seating: with two bots, matches 0 and 1 are the same deal with seats exchanged. So
    the bots can be compared, and a number of matches that the seats divide is fairest.

    Args:
        plugin: the game. With several processes it must be installed under its own name.
        matches: how many.
        bots: one level for each seat, or one for all.
        options: the game's, by name; the others take their defaults.
        seed: the same seed gives the same deals, and the same choices of bots that do not look at the clock.
        progress: called after every match, or every few.
        processes: 0: one for each core.
        budget_ms: how long a bot may think about one decision.
        seats: with one bot: how many; 0: two, or the nearest number the game allows.
        settled: asked after every match, or every few; once it says so, the report is about the matches played by then.

    Raises:
        SimulationError: for options, levels or numbers that cannot be.

    >>> report = simulate(load_game("two_towers"), 2, ["random"], seed="doc")
    >>> report.matches, sum(report.outcomes.values()), report.bots[0].level
    (2, 2, 'random')
    """
    game = plugin.game
    if len(bots) > 1 and seats not in (0, len(bots)):
        raise SimulationError(f"{len(bots)} bots are named for {seats} seats; name one for all, or one for each.")
    seats = len(bots) if len(bots) > 1 else seats or usual_seats(game.min_seats, game.max_seats)
    facts = game.configure(options or {}, seats)
    if isinstance(facts, Illegal):
        raise SimulationError(facts.message)
    for level in bots:
        if level not in plugin.bot.levels:
            raise SimulationError(f"There is no bot {level!r}; there are {', '.join(plugin.bot.levels)}.")
    if matches < 1 or not bots:
        raise SimulationError("At least one match and one bot are needed.")
    levels = tuple(bots) if len(bots) > 1 else (bots[0],) * seats
    plan = _Plan(levels, dict(facts.options), seed, budget_ms)
    processes = min(processes or os.cpu_count() or 1, -(-matches // _MATCHES_A_PIECE))
    begun = time.perf_counter()
    played: list[_Played] = []
    at_once = _MATCHES_A_PIECE if settled is None else 1
    for piece in _pieces(plugin, plan, matches, processes, at_once):
        played += piece
        if progress is not None:
            progress(len(played))
        if settled is not None:
            won = _won_by_bot(played, seats)
            if settled([won[bot] for bot in range(seats)], len(played)):
                break
    return _report(game, plan, sorted(played, key=lambda p: p.number), time.perf_counter() - begun, processes)


def _pieces(plugin: GamePlugin, plan: _Plan, matches: int, processes: int, at_once: int) -> Iterable[list[_Played]]:
    if processes == 1:
        yield from ([_play(plugin, plan, number)] for number in range(matches))
        return
    # Spawned, not forked: the caller may have threads.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=context) as pool:
        work = functools.partial(_play_piece, plugin.game.id, plan)
        pieces = (range(matches)[first : first + at_once] for first in range(0, matches, at_once))
        pending = [pool.submit(work, piece) for piece in pieces]
        try:
            yield from (done.result() for done in concurrent.futures.as_completed(pending))
        finally:
            for future in pending:
                future.cancel()


def _play_piece(name: str, plan: _Plan, numbers: range) -> list[_Played]:
    plugin = load_game(name)
    return [_play(plugin, plan, number) for number in numbers]


# ---- one match -------------------------------------------------------------------------------------------------------


def _play(plugin: GamePlugin, plan: _Plan, number: int) -> _Played:
    """One match: bot b sits on seat (b + number) mod seats, on the deal number // seats."""
    seats = len(plan.bots)
    deal, turn = divmod(number, seats)
    table = _Table(plugin, plan, deal)
    bot_of = [(seat - turn) % seats for seat in range(seats)]
    chances = [random.Random(f"{plan.seed}/{number}/{bot}") for bot in range(seats)]  # noqa: S311
    outcome = table.outcome()
    while outcome is None:
        asked = table.asked([plan.bots[bot] for bot in bot_of])
        bot = bot_of[asked.prompt.seat]
        table.let(asked, plan.bots[bot], chances[bot], plan.budget_ms)
        outcome = table.outcome()
    return _Played(
        number=number,
        kind=outcome.kind.name.lower(),
        winners=outcome.winners,
        reasons=outcome.reasons,
        decisions=table.decisions,
        turns=table.turns(),
        engine_s=table.engine_s,
        frames_s=table.frames_s,
        thinking_s=table.thinking_s,
    )


class _Asked(msgspec.Struct, frozen=True):
    """What a bot is shown: its seat's screen, and its prompt with what may be answered."""

    prompt: Prompt
    message: prompt_pb2.Prompt
    view: Message


class _Table:
    """One match under way, with a stop-watch for each kind of work."""

    def __init__(self, plugin: GamePlugin, plan: _Plan, deal: int) -> None:
        self._plugin = plugin
        self._game: Game[Any] = plugin.game
        text = f"grimoire/simulate/1\n{self._game.id}\n{plan.seed}\n{deal}\n"
        self._joint = Secret(hashlib.sha256(text.encode()).digest())
        self._events: list[Message] = []
        self.decisions = 0
        self.engine_s = self.frames_s = self.thinking_s = 0.0
        begun = _cpu()
        setup = Setup(f"simulate-{deal}", len(plan.bots), plan.options)
        start = self._game.start(setup, RecordedDraws(self._game.id, self._joint))
        if isinstance(start, Illegal):
            raise SimulationError(start.message)
        self._state = start.state
        self._events += start.events
        self.engine_s += _cpu() - begun

    def outcome(self) -> Outcome | None:
        """None while the match runs."""
        return self._game.outcome(self._state)

    def asked(self, levels: Sequence[str]) -> _Asked:
        """An offer that somebody's bot wants to answer, or else the first prompt that the match waits for.

        Args:
            levels: of the bots, by seat.
        """
        begun = _cpu()
        prompts = self._game.prompts(self._state)
        self.engine_s += _cpu() - begun
        bot = self._plugin.bot
        if len(prompts) > 1 and isinstance(bot, Volunteer):
            for offer in prompts:
                if not offer.required:
                    asked = self._shown(offer)
                    if bot.volunteers(asked.view, asked.message, levels[offer.seat]):
                        return asked
        return self._shown(next(p for p in prompts if p.required))

    def _shown(self, prompt: Prompt) -> _Asked:
        begun = _cpu()
        legal = self._game.legal(self._state, prompt.seat, prompt)
        listed = _cpu()
        message = prompt_pb2.Prompt(
            prompt_id=self.decisions + 1,
            seat=prompt.seat,
            kind=prompt.kind,
            required=prompt.required,
            deadline_class=prompt.deadline_class,
            legal=travelling(self._game.schema, legal),
        )
        asked = _Asked(prompt, message, self._game.view(self._state, Viewer.of_seat(prompt.seat)))
        self.engine_s += listed - begun
        self.frames_s += _cpu() - listed
        return asked

    def let(self, asked: _Asked, level: str, chance: random.Random, budget_ms: int) -> None:
        """Lets a bot think, and judges what it says."""
        prompt, shown = asked.prompt, _cpu()
        _, command = self._plugin.bot.suggest(asked.view, asked.message, level, chance, budget_ms)
        thought = _cpu()
        draws = RecordedDraws(self._game.id, self._joint)
        decision = self._game.decide(self._state, Actor.of_seat(prompt.seat), command, prompt, draws)
        if not isinstance(decision, Decision):
            raise AssertionError(f"the bot {level} sent what is not legal: {decision.code}")
        self._state = decision.state
        self.engine_s += _cpu() - thought
        self.thinking_s += thought - shown
        self._events += decision.events
        self.decisions += 1

    def turns(self) -> int:
        """How many turns the game marks."""
        marks = (self._plugin.texts.mark(event) for event in self._events)
        return sum(mark is not None and mark.kind == "turn" for mark in marks)


# ---- the report ------------------------------------------------------------------------------------------------------


def _report(game: Game[Any], plan: _Plan, played: Sequence[_Played], wall_s: float, processes: int) -> SimulationReport:
    seats = len(plan.bots)
    made = sum(p.decisions for p in played)
    engine_s = sum(p.engine_s for p in played)
    won_by_bot = _won_by_bot(played, seats)
    won_by_seat = Counter(seat for p in played for seat in p.winners)
    drawn = sum(p.kind == OutcomeKind.DRAW.name.lower() for p in played)
    return SimulationReport(
        game=game.id,
        seed=plan.seed,
        matches=len(played),
        options=plan.options,
        bots=[BotResult(level, len(played), won_by_bot[bot], drawn) for bot, level in enumerate(plan.bots)],
        seats=[SeatResult(seat, won_by_seat[seat]) for seat in range(seats)],
        together=_together(Counter(p.kind for p in played)),
        outcomes=dict(Counter(p.kind for p in played).most_common()),
        reasons=dict(Counter(reason for p in played for reason in p.reasons).most_common()),
        decisions=_spread([p.decisions for p in played]),
        turns=_spread([p.turns for p in played]),
        decisions_made=made,
        engine_s=engine_s,
        frames_s=sum(p.frames_s for p in played),
        thinking_s=sum(p.thinking_s for p in played),
        wall_s=wall_s,
        processes=processes,
        decisions_per_s=made / engine_s if engine_s else 0.0,
        decisions_per_s_total=made / wall_s if wall_s else 0.0,
    )


def _won_by_bot(played: Iterable[_Played], seats: int) -> Counter[int]:
    return Counter((seat - p.number) % seats for p in played for seat in p.winners)


def _together(kinds: Mapping[str, int]) -> Together | None:
    """Wilson's interval: it stays within 0..1 also for few matches and for shares near either end.

    >>> told = _together({"coop_won": 3, "coop_lost": 7})
    >>> told.played, told.won, round(told.low, 3), round(told.high, 3)
    (10, 3, 0.108, 0.603)
    """
    won = kinds.get(OutcomeKind.COOP_WON.name.lower(), 0)
    played = won + kinds.get(OutcomeKind.COOP_LOST.name.lower(), 0)
    if not played:
        return None
    share, z2 = won / played, _Z * _Z / played
    middle = (share + z2 / 2) / (1 + z2)
    reach = (z2 * share * (1 - share) + z2 * z2 / 4) ** 0.5 / (1 + z2)
    return Together(played, won, middle - reach, middle + reach)


def _spread(values: Sequence[int]) -> Spread:
    return Spread(min(values), statistics.median(values), max(values))

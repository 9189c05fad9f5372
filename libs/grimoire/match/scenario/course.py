"""The course of one scenario: its match is played step by step until something does not hold."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import Illegal, Viewer
from grimoire.fairness.draws import ForcedDrawError
from grimoire.fairness.secret import Secret
from grimoire.match.clock import due_extensions
from grimoire.match.codes import RULES
from grimoire.match.entry import Entry
from grimoire.match.frames import prompts_for
from grimoire.match.scenario.asking import prompt_id_of, prompt_of
from grimoire.match.scenario.document import ScenarioError
from grimoire.match.scenario.expecting import Checker
from grimoire.match.scenario.forced import NamedDraws
from grimoire.match.scenario.invariants import Invariants
from grimoire.match.scenario.legality import allows
from grimoire.match.scenario.matching import Difference
from grimoire.match.scenario.result import Failure
from grimoire.match.scenario.sending import Sender
from grimoire.match.scenario.spec import Expect, Scenario, Step, Who
from grimoire.match.state import MatchState, OpenPrompt, Phase
from grimoire.match.table import Answer, Table
from grimoire.plugins import GamePlugin
from grimoire.v1 import envelope_pb2, match_pb2

__all__ = ["Course"]

_BOT_BUDGET_MS: Final = 1_000


class Course:
    """One scenario being played.

    Args:
        scenario: as read.
        plugin: its game.

    Attributes:
        done: how many steps were played.
    """

    def __init__(self, scenario: Scenario, plugin: GamePlugin) -> None:
        self.done = 0
        self._scenario = scenario
        self._plugin = plugin
        self._used: set[str] = set()
        self._no_position = ""
        self._table = self._set_up()
        self._invariants = Invariants(self._table)
        self._checker = Checker(self._table, self._invariants, plugin.texts)
        self._sender = Sender(self._table, self._checker.whole_view)
        self._closed: OpenPrompt | None = None

    def _set_up(self) -> Table:
        scenario = self._scenario
        forced = functools.partial(NamedDraws, scenario.draws, namer=self._number_of, used=self._used)
        return Table(
            self._plugin.game,
            match_id=scenario.match_id,
            seats=scenario.seats,
            options=scenario.options,
            mode=match_pb2.MatchMode.Value(f"MATCH_MODE_{scenario.mode.upper()}"),
            position=self._position(),
            seed=None if scenario.server_seed is None else Secret(scenario.server_seed),
            nonces=scenario.nonces,
            forced=forced if scenario.draws else None,
            handshake_s=scenario.handshake_s,
            game_no=scenario.game_no,
        )

    def _position(self) -> bytes:
        scenario = self._scenario
        if scenario.position is None:
            return b""
        try:
            return self._plugin.positions.parse(scenario.position, self._options()).SerializeToString()
        except ValueError as error:
            if scenario.create.rejected is None:
                raise ScenarioError(scenario.position_line, f"this position cannot be: {error}") from error
            self._no_position = str(error)
            return b""

    def _options(self) -> Mapping[str, str]:
        """Every option with its final value; where the game refuses them, as the file has them."""
        facts = self._plugin.game.configure(self._scenario.options, self._scenario.seats)
        return self._scenario.options if isinstance(facts, Illegal) else dict(facts.options)

    def _number_of(self, name: str, n: int) -> int:
        """The number of a catalogue's item, where one of that many is drawn."""
        for catalogue in self._plugin.texts.manifest("en").catalogues:
            ids = [item.id for item in catalogue.items]
            if len(ids) == n and name in ids:
                return ids.index(name)
        raise LookupError(f"{name!r} is in no catalogue of {n}; write the number")

    # ---- playing -------------------------------------------------------------------------------------------------

    def play(self) -> list[Failure]:
        """Everything that does not hold in the first step where something does not.

        Raises:
            ScenarioError: if a step cannot be done as it is written.
        """
        try:
            failures = self._before_the_steps()
            for step in self._scenario.steps:
                if failures:
                    return failures
                failures = self._step(step)
                self.done += 1
            return failures or self._unused_draws()
        except ForcedDrawError as error:
            raise ScenarioError(self._scenario.draws_line, f"`draws`: {error}") from error

    def _before_the_steps(self) -> list[Failure]:
        """The creation and, unless the steps do it, the handshake."""
        scenario, table = self._scenario, self._table
        failures = self._judged("create", scenario.line, scenario.create, self._created(), None)
        if table.state is None:
            if scenario.steps and not failures:
                raise ScenarioError(scenario.steps[0].line, "a match that was refused has no steps")
            return failures
        if scenario.by_steps:
            return failures
        seats = range(scenario.seats)
        acts = [functools.partial(act, seat) for act in (table.seal, table.open) for seat in seats]
        for act in acts:
            if failures:
                return failures
            expect = scenario.start if act is acts[-1] else Expect()
            failures = self._judged("start", scenario.line, expect, act(), None)
        return failures

    def _created(self) -> Answer:
        """The creation; a position that cannot even be written down is refused as any other that cannot be."""
        if not self._no_position:
            return self._table.create()
        return envelope_pb2.Rejection(code="bad_position", field="position", message=self._no_position)

    def _step(self, step: Step) -> list[Failure]:
        opened = prompt_of(self._table, step, self._closed)
        self._move_time(step, opened)
        if step.bot:
            return self._let_bot_play(step)
        if step.command is None:
            return self._failures(step.label, step.line, step.expect, self._checker.look(step.expect))
        before = self._table.running
        legal = None
        if step.who is Who.SEAT:
            sent, answer = self._sender.send(step, step.command, opened)
            legal = self._is_legal(before, step, opened, sent)
        elif step.who is Who.CLOCK:
            answer = self._table.expire(self._expiring(step, opened))
        elif step.command.type == "void":
            answer = self._table.void(str(step.command.fields.get("reason", "")))
        else:
            answer = self._table.create()
        return self._noted(before, self._judged(step.label, step.line, step.expect, answer, legal))

    def _noted(self, before: MatchState[Any], failures: list[Failure]) -> list[Failure]:
        """Remembers which prompt closed last."""
        for was_open in before.prompts:
            if self._table.running.open_prompt(was_open.prompt_id) is None:
                self._closed = was_open
        return failures

    def _let_bot_play(self, step: Step) -> list[Failure]:
        """The built-in player chooses among what its seat is shown."""
        bot, before, seat = self._plugin.bot, self._table.running, step.seat or 0
        if step.bot not in bot.levels:
            raise ScenarioError(step.line, f"there is no bot {step.bot!r}; there are {', '.join(bot.levels)}")
        asked = [p for p in prompts_for(self._table.referee, before, Viewer.of_seat(seat)) if p.legal]
        if not asked or before.game is None:
            raise ScenarioError(step.line, f"seat {seat} is not asked for anything")
        view = self._table.referee.game.view(before.game, Viewer.of_seat(seat))
        _, message = bot.suggest(view, asked[0], step.bot, random.Random(0), _BOT_BUDGET_MS)  # noqa: S311
        answer = self._table.play(seat, message, asked[0].prompt_id)
        return self._noted(before, self._judged(step.label, step.line, step.expect, answer, None))

    def _expiring(self, step: Step, opened: OpenPrompt | None) -> int:
        """The number the clock names: 0, the handshake's, while that runs."""
        handshaking = self._table.running.phase is Phase.HANDSHAKE
        if handshaking and step.command is not None and step.command.prompt == "current":
            return 0
        return prompt_id_of(step, opened) or 0

    def _is_legal(
        self, before: MatchState[Any], step: Step, opened: OpenPrompt | None, sent: Message | None
    ) -> bool | None:
        """Whether the answered prompt listed this command; None where the question does not arise."""
        if sent is None or opened is None or before.game is None or opened.prompt.seat != step.seat:
            return None
        if before.open_prompt(opened.prompt_id) is not opened:
            return None
        listed = self._table.referee.game.legal(before.game, opened.prompt.seat, opened.prompt)
        return allows(listed, self._table.referee.schema, sent)

    # ---- time ----------------------------------------------------------------------------------------------------

    def _move_time(self, step: Step, opened: OpenPrompt | None) -> None:
        table, at = self._table, step.at
        if step.down_ms:
            table.down.append((table.now_ms, table.now_ms + step.down_ms))
            table.now_ms += step.down_ms
        if at.base == "created":
            table.now_ms = table.running.created_ms + at.offset_ms
        elif at.base == "deadline":
            table.now_ms = self._deadline(step, opened) + at.offset_ms
        elif step.who is Who.CLOCK and not at.offset_ms:
            table.now_ms = max(table.now_ms, self._deadline(step, opened))
        else:
            table.now_ms += at.offset_ms

    def _deadline(self, step: Step, opened: OpenPrompt | None) -> int:
        """When the step's prompt, or the handshake, runs out, with all down time so far given back."""
        table, state = self._table, self._table.running
        owed = dict(due_extensions(state, table.down, table.now_ms))
        if state.phase is Phase.HANDSHAKE:
            return state.handshake_deadline_ms + owed.get(0, 0)
        if opened is not None and opened.limit_ms:
            return opened.deadline_ms + owed.get(opened.prompt_id, 0)
        if step.at.base == "deadline":
            raise ScenarioError(step.line, "there is no deadline: this step is about no prompt that has one")
        return self._table.now_ms

    # ---- judging -------------------------------------------------------------------------------------------------

    def _judged(self, label: str, line: int, expect: Expect, answer: Answer, legal: bool | None) -> list[Failure]:
        """Compares an answer with what was expected, and with what always holds."""
        differences: list[Difference] = []
        if isinstance(answer, Entry):
            differences += self._invariants.after(answer)
            if legal is False:
                differences.append(Difference("(always) legal", "every accepted command is listed", "it is not"))
        elif isinstance(answer, envelope_pb2.Rejection) and legal is True and answer.code not in RULES:
            differences.append(Difference("(always) legal", "every listed command is accepted", answer.code))
        return self._failures(label, line, expect, differences + self._checker.answered(expect, answer))

    def _failures(self, label: str, line: int, expect: Expect, differences: Sequence[Difference]) -> list[Failure]:
        def where(path: str) -> int:
            return expect.lines.get(re.split(r"[.\[]", path, maxsplit=1)[0], expect.line or line)

        return [Failure(label, where(d.path), d.path, d.expected, d.got) for d in differences]

    def _unused_draws(self) -> list[Failure]:
        unused = [label for label in self._scenario.draws if label not in self._used]
        line = self._scenario.draws_line
        return [Failure("end", line, f"draws.{label}", "asked for", "nobody asked for this label") for label in unused]

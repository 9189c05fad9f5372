"""One match in lines: what happens is said, and what may be done is listed with numbers."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from grimoire.cli.screens.catalogue_dialog import entries
from grimoire.cli.screens.composer import Offer, command_bytes
from grimoire.cli.screens.handshake_pane import handshake_lines
from grimoire.cli.screens.help_text import info_lines
from grimoire.cli.screens.model import MatchModel, Stage
from grimoire.cli.screens.slots import Answer, SlotKind, fault, how_many, kind_of, parse, things
from grimoire.cli.screens.standing import standing_offers
from grimoire.cli.screens.typed import meant
from grimoire.cli.screens.wording import Wording, refusal
from grimoire.client import ClientError, Rejected, UnavailableError, Update
from grimoire.v1 import prompt_pb2

__all__ = ["PlainMatch"]

_TICK_S: Final = 1.0
_ANY_TIME: Final = frozenset(
    {"help", "?", "view", "log", "info", "cards", "rules", "language", "set", "resign", "quit", "q"}
)


class PlainMatch:
    """Plays or watches one match.

    Lines that answer a prompt wait until there is one, so that a file or a pipe may hold a whole match's answers.

    Args:
        model: the match.
        say: prints a line.
        command: what brings one back to this match.
        width: of the lines, asked for each time.
    """

    def __init__(self, model: MatchModel, say: Callable[[str], None], command: str, width: Callable[[], int]) -> None:
        self._model = model
        self._say = say
        self._command = command
        self._width = width
        self._said = 0
        self._steps = 0
        self._asked: tuple[int, ...] = ()
        self._open: tuple[Offer, dict[str, Answer]] | None = None
        self._low_said = False
        self._disconnected = False
        self._left = False
        self._failed = False
        self._begun = False
        self._reached = 0
        self._shown: tuple[str, ...] = ()

    async def run(
        self, lines: deque[str | None], arrived: asyncio.Event, early: Callable[[], Sequence[Update]]
    ) -> bool:
        """Until the match is over, or the person leaves.

        Args:
            lines: what was typed, oldest first; None: the end of input.
            arrived: set when there is more.
            early: updates that came before.

        Returns:
            Whether the person left.
        """
        following = asyncio.create_task(self._follow(early, arrived))
        try:
            while not (self._left or self._failed or (self._model.ending is not None and following.done())):
                arrived.clear()
                await self._work(lines)
                if self._left or following.done():
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_TICK_S):
                        await arrived.wait()
                self._tick()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        return self._left or self._failed

    async def _follow(self, early: Callable[[], Sequence[Update]], arrived: asyncio.Event) -> None:
        try:
            async for update in self._model.feed.updates():
                for before in early():
                    self._model.take(before)
                self._model.take(update)
                self._begun = True
                self._tell()
                arrived.set()
        except Rejected as rejected:
            self._refuse(rejected)
            self._failed = True
        except ClientError as error:
            self._say(str(error))
            self._failed = True
        arrived.set()

    # ---- saying ----------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """What is new: steps of the handshake, sentences, and what one is asked."""
        model = self._model
        if model.stage is Stage.HANDSHAKE:
            done = [step for step in model.handshake() if step.done]
            for step in handshake_lines(done[self._steps :]):
                self._say(step.plain)
            self._steps = max(self._steps, len(done))
            self._said = len(model.chronicle)
            return
        for line in model.lines_since(self._said):
            self._say(line.text)
        self._said = len(model.chronicle)
        asked = tuple(prompt.prompt_id for prompt in model.own_prompts)
        if asked != self._asked:
            self._asked, self._open, self._low_said = asked, None, False
            if asked:
                self._ask()
            else:
                self._shown = ()
        if model.ending is not None:
            self._show_view()
            self._say(f"{model.words(f'ending.{model.ending.value}')}. {model.result()}")

    def _ask(self) -> None:
        model = self._model
        self._say("")
        self._show_view(changes=True)
        self._say(model.turn())
        clock = model.clock()
        if clock is not None and model.asked is not None:
            self._say(model.words("plain.clock", time=clock.text))
        self._say(model.words("plain.may"))
        for number, offer in enumerate(model.draft.offers, 1):
            self._say(f"{number:>3}  {model.wording.entry(offer.entry)}")
        self._say(model.words("plain.answer"))

    def _show_view(self, *, changes: bool = False) -> None:
        """The match as it stands; of what one sees again before anybody else has acted, only the lines that are new."""
        model = self._model
        view = model.view()
        if view is None:
            return
        lines = model.plugin.terminal.render(view, model.wording.language, model.names, self._width())
        before = {*self._shown} if changes else set()
        self._shown = tuple(_paragraphs(lines))
        for paragraph in self._shown:
            if paragraph not in before:
                self._say(paragraph)

    def _tick(self) -> None:
        """Low time and a lost connection are said once."""
        model = self._model
        clock = model.clock() if model.asked is not None else None
        if clock is not None and clock.low and not self._low_said:
            self._low_said = True
            self._say(model.words("plain.clock.low", time=clock.text))
        lost = not model.feed.connected and not model.feed.finished
        if lost and not self._disconnected:
            self._say(model.words("connection.lost"))
        self._disconnected = lost

    def _refuse(self, rejected: Rejected) -> None:
        self._say(refusal(rejected, self._model.words, self._model.wording))

    # ---- reading ---------------------------------------------------------------------------------------------------

    async def _work(self, lines: deque[str | None]) -> None:
        """Takes the lines that can be taken now: nothing is answered before it was told."""
        while lines and not self._left and self._model.ending is None and self._is_told:
            line = lines[0]
            if line is None:
                if self._model.watching or self._model.stage is Stage.HANDSHAKE:
                    # A watcher sees the match to its end; and who leaves before the deal spoils the match for all.
                    return
                self._say(self._model.words("plain.bye", command=self._command))
                self._left = True
                return
            word = line.strip().split(" ")[0].casefold() if line.strip() else ""
            if self._open is None and word in _ANY_TIME:
                lines.popleft()
                await self._at_any_time(word, line.strip()[len(word) :].strip())
            elif self._open is not None or self._model.asked is not None or self._meant(line):
                lines.popleft()
                await self._answer(line.strip())
            elif not word:
                lines.popleft()
            else:
                return

    @property
    def _is_told(self) -> bool:
        """What was sent last has been seen to happen."""
        return self._begun and self._model.version >= self._reached

    async def _at_any_time(self, word: str, rest: str) -> None:
        model = self._model
        match word:
            case "view":
                self._show_view()
            case "log":
                for line in model.lines():
                    self._say(line.text)
            case "info":
                for fact in info_lines(model, self._command):
                    self._say(fact.plain)
            case "cards":
                for catalogue in model.wording.manifest.catalogues[:1]:
                    for entry in entries(catalogue, model.wording, rest):
                        self._say(entry.plain)
            case "rules":
                self._rules(rest)
            case "language":
                model.speak(model.next_language)
                if model.asked is not None:
                    self._ask()
            case "set":
                await self._set(rest)
            case "resign":
                await self._resign(rest)
            case "quit" | "q":
                self._left = True
                self._say(model.words("match.leave.hint", command=self._command))
            case _:
                self._say(model.words("plain.help"))

    def _rules(self, rest: str) -> None:
        wanted = rest.casefold().split()
        for clause in self._model.wording.manifest.clauses:
            text = f"{clause.rule} {clause.title}: {clause.text}"
            if all(word in text.casefold() for word in wanted):
                self._say(text)

    async def _set(self, rest: str) -> None:
        """Lists what holds at any time, or sets it."""
        model = self._model
        offers = () if model.watching else standing_offers(model.wording)
        found = meant(rest, offers, [model.wording])
        if len(found) == 1:
            await self._submit(found[0].type, found[0].entry.payload, None)
            return
        for number, offer in enumerate(offers, 1):
            self._say(f"{number:>3}  {model.wording.entry(offer.entry)}")
        self._say(model.words("plain.set" if offers else "plain.no", text=rest or "set"))

    async def _resign(self, rest: str) -> None:
        if self._model.watching:
            return
        if rest.casefold() != "yes":
            self._say(self._model.words("plain.resign"))
            return
        await self._submit("resign", b"", None)

    async def _answer(self, text: str) -> None:
        """A number or words for a command; or the answer to the question that is open."""
        model = self._model
        if self._open is not None:
            await self._fill(text)
            return
        if not text:
            return
        found = self._meant(text)
        if len(found) != 1:
            labels = ", ".join(model.wording.entry(offer.entry) for offer in found)
            key, said = ("plain.ambiguous", {"labels": labels}) if found else ("plain.no", {"text": text})
            self._say(model.words(key, **said))
            return
        self._open = (found[0], found[0].answers(()) or {})
        await self._next_slot()

    def _meant(self, text: str) -> list[Offer]:
        model = self._model
        wordings = [model.wording, *(Wording(model.plugin, language) for language in model.plugin.texts.languages)]
        return meant(text, model.draft.offers, wordings)

    async def _next_slot(self) -> None:
        if self._open is None:
            return
        offer, answers = self._open
        slot = next((slot for slot in offer.entry.slots if slot.field not in answers), None)
        if slot is not None:
            self._ask_slot(slot)
            return
        self._open = None
        payload = command_bytes(offer, answers, self._model.plugin.game.schema)
        await self._submit(offer.type, payload, offer.prompt_id)

    def _ask_slot(self, slot: prompt_pb2.Slot) -> None:
        wording = self._model.wording
        self._say(self._model.words("plain.slot", label=wording.slot(slot)))
        for number, ref in enumerate(things(slot), 1):
            choices = ""
            if kind_of(slot) is SlotKind.ASSIGN:
                row = slot.assign.refs[number - 1]
                choices = ": " + ", ".join(f"{n} {wording.thing(c)}" for n, c in enumerate(row.choices, 1))
            self._say(f"{number:>3}  {wording.thing(ref)}{choices}")
        if kind_of(slot) is SlotKind.SOME and slot.some.max > 1:
            wanted, several = how_many(slot), range(1, max(slot.some.min, 2) + 1)
            self._say(self._model.words(wanted.key, **wanted.arguments))
            self._say(self._model.words("plain.some", example=" ".join(map(str, several))))
        if kind_of(slot) is SlotKind.AMOUNTS:
            example = f"{wording.thing(things(slot)[0])} 1"
            total = {"min": slot.amounts.min_sum, "max": slot.amounts.max_sum}
            self._say(self._model.words("plain.amounts", example=example, **total))
        if kind_of(slot) is SlotKind.NUMBER:
            self._say(self._model.words("slot.fault.number", min=slot.number.min, max=slot.number.max))

    async def _fill(self, text: str) -> None:
        if self._open is None:
            return
        offer, answers = self._open
        slot = next(slot for slot in offer.entry.slots if slot.field not in answers)
        names = [*self._model.wording.names(slot.name.catalogue)] if kind_of(slot) is SlotKind.NAME else []
        answer = parse(slot, text, names)
        wrong = fault(slot, answer, names)
        if wrong is not None or answer is None:
            self._open = None
            self._say(self._model.words(wrong.key, **wrong.arguments) if wrong else "")
            self._ask()
            return
        answers[slot.field] = answer
        await self._next_slot()

    async def _submit(self, command: str, payload: bytes, prompt_id: int | None) -> None:
        """Until there is an answer; the id makes it safe to send the same command again and again."""
        command_id = secrets.token_bytes(16)
        while True:
            try:
                accepted = await self._model.feed.submit(command, payload, prompt_id, command_id=command_id)
                self._reached = accepted.version
            except Rejected as rejected:
                self._refuse(rejected)
            except UnavailableError as error:
                self._say(str(error))
                continue
            except ClientError as error:
                self._say(str(error))
                self._failed = True
            return


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    r"""Lines that are indented, with the one before: that is how long ones are broken.

    >>> [*_paragraphs(["Row 1: a gnome,", "    a pest", "Row 2: nothing"])]
    ['Row 1: a gnome,\n    a pest', 'Row 2: nothing']
    """
    kept: list[str] = []
    for line in lines:
        if kept and not line.startswith("    "):
            yield "\n".join(kept)
            kept = []
        kept.append(line.rstrip())
    if kept:
        yield "\n".join(kept)

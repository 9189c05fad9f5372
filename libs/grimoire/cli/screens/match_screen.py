"""A match on the screen: played, or watched. It knows no game: the board draws, the server says what is legal."""

from __future__ import annotations

import enum
import secrets
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, Protocol

import structlog
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.events import Key
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from grimoire.cli.screens.audit_dialog import AuditDialog
from grimoire.cli.screens.catalogue_dialog import CatalogueDialog
from grimoire.cli.screens.choices_dialog import ChoicesDialog
from grimoire.cli.screens.composer import Offer, command_bytes
from grimoire.cli.screens.dialogs import Confirm, Read
from grimoire.cli.screens.handshake_pane import HandshakePane
from grimoire.cli.screens.help_text import help_lines, info_lines
from grimoire.cli.screens.label import Label
from grimoire.cli.screens.log_pane import LogPane, styled
from grimoire.cli.screens.model import MatchModel, Stage, Tone
from grimoire.cli.screens.prompt_bar import BarButton, PromptBar
from grimoire.cli.screens.result_pane import ResultPane
from grimoire.cli.screens.seats_dialog import SeatsDialog
from grimoire.cli.screens.slot_dialog import SlotDialog
from grimoire.cli.screens.slots import Answer
from grimoire.cli.screens.standing import standing_offers
from grimoire.cli.screens.text_board import TextBoard
from grimoire.cli.screens.words import language_name
from grimoire.client import Alarm, ClientError, Rejected, UnavailableError, Update
from grimoire.engine.board import Board, BoardHost, Panel
from grimoire.v1 import audit_pb2, match_pb2, matchmaking_pb2, prompt_pb2

__all__ = ["After", "Desk", "MatchScreen"]

_log: Final = structlog.stdlib.get_logger(__name__)

_TICK_S: Final = 0.25
_DIGEST_S: Final = 4.0
_FRESH_MS: Final = 15_000
"""A match that is older when one comes to it was seen before: its digest need not be shown again."""
_OFFER_EVERY: Final = 12
_WIDE: Final = 112
"""From so many columns on the log stands beside the board."""
_TALL: Final = 30


class After(enum.Enum):
    """What a person wants when a match is left."""

    REMATCH = "rematch"
    LOBBY = "lobby"
    QUIT = "quit"


class Desk(Protocol):
    """What the screen asks for beyond the match itself."""

    command: str
    """What to type to come back to this match."""

    async def audit(self) -> audit_pb2.AuditReport:
        """Checks the finished match on this machine."""
        ...

    async def rematch_offered(self) -> bool:
        """The other side wants to play again."""
        ...

    async def table(self) -> matchmaking_pb2.Table:
        """Who sits where, and who has left."""
        ...

    async def vote(self, seat: int, fellow: int | None) -> None:
        """Says who shall play on: whoever holds the seat `fellow`; None: a bot."""
        ...

    async def come_back(self) -> None:
        """Takes one's own seats back."""
        ...


class MatchScreen(Screen[After]):
    """One match.

    Args:
        model: what is shown.
        desk: for audits and rematches.
        board: class of the game's board; None: the game's plain text.
        early: updates that came before this screen was made.
        lobby: there is one to go back to.
    """

    AUTO_FOCUS = ""  # with nothing in focus Enter confirms; a button that has it would be pressed instead
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012 - declared by the framework
    VERTICAL_BREAKPOINTS = [(0, "-low"), (_TALL, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,h,f1", "help", show=False),
        Binding("c", "catalogue", show=False),
        Binding("e", "log", show=False),
        Binding("i", "info", show=False),
        Binding("l", "language", show=False),
        Binding("j", "standing", show=False),
        Binding("r", "resign", show=False),
        Binding("f2", "seats", show=False),
        Binding("m", "rematch", show=False),
        Binding("a", "audit", show=False),
        Binding("b", "lobby", show=False),
        Binding("q,ctrl+c", "quit", show=False),
        Binding("escape,backspace", "undo", show=False),
        Binding("enter", "confirm", show=False),
        Binding("space", "choices", show=False),
        Binding("left", "step(-1, 0)", show=False),
        Binding("right", "step(1, 0)", show=False),
        Binding("up", "step(0, -1)", show=False),
        Binding("down", "step(0, 1)", show=False),
    ]

    def __init__(
        self,
        model: MatchModel,
        desk: Desk,
        board: Callable[[BoardHost], Board] | None,
        *,
        early: Callable[[], Sequence[Update]] = tuple,
        lobby: bool = True,
    ) -> None:
        super().__init__()
        self.model = model
        self._desk = desk
        self._early = early
        self._lobby = lobby
        self._failure = ""
        self._looking = False
        self._rematch_offered = False
        self._ticks = 0
        age_ms = model.feed.server_time_ms - model.head.created_ms
        self._digest_seen = model.stage is not Stage.HANDSHAKE and age_ms > _FRESH_MS
        self.board: Board = board(self) if board is not None else TextBoard(self, model.plugin.terminal)
        self._listed = board is None
        # Held here: news may come before everything is in its place, and after it is gone.
        self._headline = Label(id="headline")
        self._handshake = HandshakePane(id="handshake-pane")
        self._legal = OptionList(id="legal")
        self._log = LogPane(id="log")
        self._bar = PromptBar(id="bar")
        self._result = ResultPane(id="result-pane")

    def compose(self) -> ComposeResult:
        """Headline, board and log, prompt bar; the end lies over them."""
        yield self._headline
        with Container(id="stage"):
            with Container(id="table"):
                yield self._handshake
                yield self._board_widget
            if self._listed:
                yield self._legal
            yield self._log
        yield self._bar
        yield self._result

    @property
    def _wide(self) -> bool:
        return self.app.size.width >= _WIDE

    @property
    def _board_widget(self) -> Widget:
        if not isinstance(self.board, Widget):
            raise TypeError("a board is a textual widget")
        return self.board

    def on_mount(self) -> None:
        """Begins to follow."""
        if self._listed:
            self._legal.focus()
        self._draw()
        self._follow()
        self.set_interval(_TICK_S, self._tick)

    def on_resize(self) -> None:
        """What fits may be another."""
        self._draw()

    # ---- what comes in ---------------------------------------------------------------------------------------------

    @work(exclusive=True, group="follow")
    async def _follow(self) -> None:
        """Every frame, until the match is over; the feed resumes by itself where a connection breaks."""
        try:
            async for update in self.model.feed.updates():
                for early in self._early():
                    self.model.take(early)
                self.model.take(update)
                self._on_news()
        except Alarm as alarm:
            self._alarm(alarm)
        except Rejected as rejected:
            self.model.refuse(rejected)
        except ClientError as error:
            self._failure = str(error)
        self._draw()

    def _on_news(self) -> None:
        if self.model.stage is not Stage.HANDSHAKE and not self._digest_seen and not self._digest_timer_runs:
            self._digest_timer_runs = True
            self.set_timer(_DIGEST_S, self._see_digest)
        self._draw(with_news=True)

    _digest_timer_runs = False

    def _see_digest(self) -> None:
        self._digest_seen = True
        self._draw()

    def _alarm(self, alarm: Alarm) -> None:
        words = self.model.words
        self._failure = words("alarm.title")
        lines = [Content.styled(alarm.reason, "bold $error"), Content(words("alarm.what"))]
        self.app.push_screen(Read(words, words("alarm.title"), lines))

    def _tick(self) -> None:
        """The clock and the connection; four times a second, one timer for all."""
        self._draw_clock()
        self._draw_headline()
        self._ticks += 1
        over = self.model.stage is Stage.OVER and not self.model.watching
        if over and not self._rematch_offered and self._ticks % _OFFER_EVERY == 0:
            self._ask_for_rematch()

    def _draw_clock(self) -> None:
        runs = self.model.stage in (Stage.ASKED, Stage.WAITING)
        self._bar.tick(self.model.clock() if runs else None, self.model.words)

    @work(exclusive=True, group="rematch-offered")
    async def _ask_for_rematch(self) -> None:
        try:
            self._rematch_offered = await self._desk.rematch_offered()
        except ClientError:
            return
        if self._rematch_offered:
            self._draw()

    # ---- drawing ---------------------------------------------------------------------------------------------------

    def _draw(self, *, with_news: bool = False) -> None:
        """Everything, from the model alone; cheap, for every part knows whether it has changed."""
        if not self.is_mounted:
            return
        shown = self.model.shown(with_news=with_news)
        dealing = shown is None or not self._digest_seen
        self._handshake.display = dealing
        if dealing:
            self._handshake.tell(self.model)
        if shown is not None:
            self.board.show(shown)
        self._log.tell(self.model.lines())
        self._draw_headline()
        self._draw_clock()
        self._draw_bar()
        self._draw_legal()
        self._draw_result()

    def _draw_headline(self) -> None:
        words = self.model.words
        headline = self._headline
        lost = not self.model.feed.connected and not self.model.feed.finished and self.model.feed.alarm is None
        headline.set_class(bool(self._failure) or lost, "lost")
        if self._failure:
            headline.tell(Content(f"✗ {self._failure}"))
        elif lost:
            headline.tell(Content(f"… {words('connection.lost')}"))
        else:
            parts = [words("watching")] if self.model.watching else []
            parts.append(self.model.wording.name())
            parts += [self.board.headline()] if self.model.view() is not None else []
            headline.tell(Content(" · ".join(part for part in parts if part)))

    def _draw_bar(self) -> None:
        model = self.model
        sign = {Stage.ASKED: "▶", Stage.WAITING: "…"}.get(model.stage, "■")
        what = Content.styled(f"{sign} {model.turn()}", "bold $accent" if model.stage is Stage.ASKED else "bold")
        bar = self._bar
        bar.say(what, self._detail(), "watching" if model.watching else model.stage.value)
        bar.offer(self._buttons())

    def _detail(self) -> Content:
        """A refusal or hint; else what is picked; else the latest news, where there is no log beside the board."""
        model = self.model
        if model.sending:
            return Content.styled(model.words("sending"), "$muted")
        if model.said is not None:
            refusal = model.said.tone is Tone.REFUSAL
            return Content.styled(("✗ " if refusal else "") + model.said.say(), "bold $error" if refusal else "$accent")
        texts = [self.board.detail(ref) for ref in model.draft.picked]
        said = " ".join(text for text in texts if text)
        if said:
            return Content(said)
        if not self._wide:
            rows = 3 if self.app.size.height >= _TALL else 2
            return Content("\n").join([styled(line) for line in model.lines()[-rows:]])
        if model.stage is Stage.ASKED and any(self.board.picks()):
            return Content.styled(model.words("pick.hint"), "$muted")
        return Content("")

    def _buttons(self) -> list[BarButton]:
        model, words = self.model, self.model.words
        wide = self._wide
        buttons: list[BarButton] = []
        if model.may_act:
            keys = {command: key for key, command in self.board.shortcuts.items()}
            chosen = bool(model.draft.picked or model.draft.command)
            # Before anything is picked: only those commands for which there is nothing to point at.
            for command in model.draft.commands() if chosen else model.draft.bare():
                offer = model.draft.only(command)
                label = model.wording.entry(offer.entry) if offer and wide else model.wording.command(command)
                buttons.append(BarButton(keys.get(command, ""), label, f"screen.choose('{command}')", main=True))
            if chosen:
                buttons.append(BarButton("esc", words("key.undo"), "screen.undo"))
            elif not self._listed:
                buttons.append(BarButton(words("key.space"), words("key.choices"), "screen.choices"))
        buttons.append(BarButton("?", words("key.help"), "screen.help", rank=1))
        if model.wording.manifest.catalogues:
            label = model.wording.manifest.catalogues[0].label
            buttons.append(BarButton("c", label[:1].upper() + label[1:], "screen.catalogue", rank=5))
        buttons += [BarButton(p.key, p.title, f"screen.panel('{p.key}')", rank=4) for p in self._panels()]
        buttons.append(BarButton("e", words("key.log"), "screen.log", rank=7 if wide else 3))
        if model.next_language != model.language:
            buttons.append(BarButton("l", language_name(model.next_language), "screen.language", rank=6))
        if self._standing:
            label = model.wording.command(self._standing[0].type)
            buttons.append(BarButton("j", label, "screen.standing", rank=8))
        if model.stage in (Stage.ASKED, Stage.WAITING) and not model.watching:
            buttons.append(BarButton("r", words("key.resign"), "screen.resign", rank=2))
        if model.head.created.leaving:
            buttons.append(BarButton("F2", words("key.seats"), "screen.seats", rank=3))
        buttons.append(BarButton("q", words("key.quit"), "screen.quit", rank=2))
        return buttons

    def _draw_legal(self) -> None:
        """For a board that offers nothing to pick: all that is legal, as a list."""
        if not self._listed:
            return
        view = self._legal
        offers = self.model.draft.offers if not self.model.sending else ()
        labels = [f"{n}  {self.model.wording.entry(offer.entry)}" for n, offer in enumerate(offers, 1)]
        if labels != [str(view.get_option_at_index(n).prompt) for n in range(view.option_count)]:
            view.clear_options().add_options([Option(Content(label)) for label in labels])
        view.display = bool(labels)

    def _draw_result(self) -> None:
        pane = self._result
        pane.display = self.model.ending is not None and not self._looking
        note = self.model.words("rematch.offered") if self._rematch_offered else ""
        pane.tell(self.model, note, rematch=self._may_rematch, lobby=self._lobby)

    @property
    def _may_rematch(self) -> bool:
        return self.model.stage is Stage.OVER and not self.model.watching

    # ---- picking ---------------------------------------------------------------------------------------------------

    def pick(self, ref: str) -> None:
        """Picks a thing, or puts it back; also what a board calls for a click."""
        model = self.model
        if model.sending or self._hide_digest():
            return
        if not model.may_act:
            if not model.watching and model.stage is Stage.WAITING:
                model.hint("not.yet")
                self._draw()
            return
        draft = model.draft.pick(ref)
        if draft is None:
            model.hint("not.usable")
        else:
            model.draft, model.said = draft, None
        self._draw()

    def on_key(self, event: Key) -> None:
        """Numbers pick, the board's letters choose a command or open a list."""
        if self._hide_digest():
            event.stop()
            return
        key = event.character or ""
        picks = self.board.picks()
        if self._listed and key.isdecimal():
            event.stop()
            self._take_listed(int(key) - 1)
        elif key.isdecimal() and 1 <= int(key) <= len(picks) and picks[int(key) - 1]:
            event.stop()
            self.pick(picks[int(key) - 1])
        elif key in self.board.shortcuts:
            event.stop()
            self.action_choose(self.board.shortcuts[key])
        elif key and any(panel.key == key for panel in self._panels()):
            event.stop()
            self.action_panel(key)

    def _panels(self) -> Sequence[Panel]:
        return self.board.panels() if self.model.view() is not None else ()

    def _hide_digest(self) -> bool:
        """The first key or click after the deal takes the digest away and does nothing else."""
        if self._digest_seen or self.model.stage is Stage.HANDSHAKE:
            return False
        self._see_digest()
        return True

    def action_step(self, right: int, down: int) -> None:
        """Picks the thing beside the one that is picked."""
        draft = self.model.draft
        if not self.model.may_act:
            return
        ref = self.board.neighbour(draft.picked[-1] if draft.picked else "", right, down)
        if ref and ref not in draft.picked:
            self.pick(ref)

    def action_undo(self) -> None:
        """One step back; after the end, shows the board or the result."""
        if self.model.ending is not None:
            self._looking = not self._looking
        else:
            self.model.draft, self.model.said = self.model.draft.undo(), None
        self._draw()

    # ---- commands --------------------------------------------------------------------------------------------------

    def action_choose(self, command: str) -> None:
        """Chooses a command for what is picked, and sends it if nothing is open any more."""
        model = self.model
        if not model.may_act:
            return
        offer = model.draft.only(command)
        if offer is not None and self._is_meant(offer):
            self._send(offer)
            return
        draft = model.draft.choose(command)
        if draft is None:
            self._why_not(command)
            return
        model.draft = draft
        if draft.command and offer is None and not draft.fits:
            self._draw()
            self.action_choices()  # nothing that could be pointed at tells them apart
            return
        if offer is not None and not offer.refs():
            model.hint("confirm.again", command=model.wording.entry(offer.entry))
        else:
            model.hint("pick.for", command=model.wording.command(command))
        if not draft.command:
            model.said = None
        self._draw()

    def _is_meant(self, offer: Offer) -> bool:
        """A command is no slip of a key: something was picked for it, it was chosen before, or it asks for more."""
        draft = self.model.draft
        asks = bool(offer.entry.slots) and not offer.refs()
        return bool(draft.picked) or len(draft.offers) == 1 or draft.command == offer.type or asks

    @work(exclusive=True, group="choices")
    async def action_choices(self) -> None:
        """All that may be done now, to choose from by what it says."""
        model = self.model
        if not model.may_act or self._listed or self._hide_digest():
            return
        offer = await self.app.push_screen_wait(ChoicesDialog(model.words, model.wording, model.draft.remaining))
        if offer is not None and model.may_act and offer in model.draft.offers:
            self._send(offer)

    def action_confirm(self) -> None:
        """Sends what is chosen. A command that is not the one the prompt is about has to be chosen first."""
        model = self.model
        left = model.draft.remaining
        if not model.may_act or not left:
            return
        if not (model.draft.picked or model.draft.command):
            model.hint("pick.hint")
            self._draw()
            return
        offer = model.draft.only(left[0].type)
        if offer is None and not model.draft.fits:
            self.action_choices()
            return
        if offer is None:
            model.hint("pick.hint")
        elif offer.type in (model.draft.command, model.draft.offers[0].type):
            self._send(offer)
            return
        else:
            model.draft = model.draft.choose(offer.type) or model.draft
            model.hint("confirm.again", command=model.wording.entry(offer.entry))
        self._draw()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A command of the list."""
        event.stop()
        if event.option_list.id == "legal" and not self._hide_digest():
            self._take_listed(event.option_index)

    def _take_listed(self, index: int) -> None:
        offers = self.model.draft.offers
        if self.model.may_act and 0 <= index < len(offers):
            self._send(offers[index])

    @work(exclusive=True, group="send")
    async def _send(self, offer: Offer) -> None:
        """Asks for what is still open, sends, and says why not."""
        model = self.model
        answers = await self._answers(offer)
        if answers is None:
            return
        try:
            payload = command_bytes(offer, answers, model.plugin.game.schema)
        except (KeyError, ValueError, TypeError):
            _log.exception("command_not_built", type=offer.type)
            model.hint("failure")
            self._draw()
            return
        model.sending, model.said = True, None
        self._draw()
        await self._submit(offer.type, payload, offer.prompt_id)
        model.sending = False
        self._draw()

    async def _answers(self, offer: Offer) -> dict[str, Answer] | None:
        """Answers for all slots; None: the person thought better of it."""
        model = self.model
        answers = dict(offer.answers(model.draft.picked) or {})
        label = model.wording.entry(offer.entry)
        for slot in offer.entry.slots:
            if slot.field not in answers:
                answer = await self.app.push_screen_wait(self._question(label, slot))
                if answer is None:
                    return None
                answers[slot.field] = answer
        if "grave" in offer.entry.flags:
            question = Confirm(model.words, label, model.words("grave.question", command=label), label)
            if not await self.app.push_screen_wait(question):
                return None
        return answers

    def _question(self, label: str, slot: prompt_pb2.Slot) -> SlotDialog:
        return SlotDialog(self.model.words, self.model.wording, label, slot, self.board.detail)

    async def _submit(self, command: str, payload: bytes, prompt_id: int | None) -> None:
        """Until there is an answer; the id makes it safe to send the same command again and again."""
        command_id = secrets.token_bytes(16)
        while True:
            try:
                await self.model.feed.submit(command, payload, prompt_id, command_id=command_id)
            except Rejected as rejected:
                self.model.refuse(rejected)
            except UnavailableError:
                continue
            except ClientError as error:
                self._failure = str(error)
            return

    @work(exclusive=True, group="why-not")
    async def _why_not(self, command: str) -> None:
        """Asks the rules why this command does not go with what is picked."""
        model = self.model
        like = next((offer for offer in model.draft.remaining), None)
        message = model.plugin.game.schema.commands.get(command)
        if like is None or message is None or not model.draft.picked:
            model.hint("pick.first")
            self._draw()
            return
        wanted, known = message(), model.plugin.game.schema.commands[like.type].FromString(like.entry.payload)
        for field in known.DESCRIPTOR.fields:
            if field.name in wanted.DESCRIPTOR.fields_by_name:
                setattr(wanted, field.name, getattr(known, field.name))
        try:
            rejected = await model.feed.explain(command, wanted, like.prompt_id)
        except ClientError as error:
            self._failure = str(error)
        else:
            if rejected is not None:
                model.refuse(rejected, sent=False)
        self._draw()

    @work(exclusive=True, group="resign")
    async def _resign(self) -> None:
        words = self.model.words
        leaves = self.model.head.created.leaving in (match_pb2.LEAVING_REPLACED, match_pb2.LEAVING_VOTED)
        asked = words("resign.leave" if leaves else "resign.question")
        question = Confirm(words, words("key.resign"), asked, words("resign.yes"))
        if await self.app.push_screen_wait(question):
            await self._submit("resign", b"", None)
            self._draw()

    def action_resign(self) -> None:
        """Gives the match up, after a question."""
        if self.model.stage in (Stage.ASKED, Stage.WAITING) and not self.model.watching:
            self._resign()

    @property
    def _standing(self) -> Sequence[Offer]:
        """What may be set at any time, by whoever has a seat in a running match."""
        model = self.model
        if model.watching or model.stage not in (Stage.ASKED, Stage.WAITING):
            return ()
        return standing_offers(model.wording)

    @work(exclusive=True, group="standing")
    async def action_standing(self) -> None:
        """Sets something that holds from now on."""
        model, offers = self.model, self._standing
        if not offers or self._hide_digest():
            return
        title = model.wording.command(offers[0].type)
        offer = await self.app.push_screen_wait(ChoicesDialog(model.words, model.wording, offers, title))
        if offer is not None:
            await self._submit(offer.type, offer.entry.payload, None)
            self._draw()

    @work(exclusive=True, group="seats")
    async def action_seats(self) -> None:
        """Who has left, who shall play on, and the way back to one's own seat."""
        model = self.model
        if not model.head.created.leaving or self._hide_digest():
            return
        try:
            choice = await self.app.push_screen_wait(SeatsDialog(model.words, await self._desk.table()))
            if choice is None:
                return
            if choice.seat is None:
                await self._desk.come_back()
                model.hint("seats.back", command=self._desk.command)
            else:
                await self._desk.vote(choice.seat, choice.fellow)
                model.hint("seats.voted")
        except Rejected as rejected:
            model.refuse(rejected, sent=False)
        except ClientError as error:
            self._failure = str(error)
        self._draw()

    # ---- texts -----------------------------------------------------------------------------------------------------

    def action_help(self) -> None:
        """The keys, and the rules in short."""
        lines = help_lines(self.model, self.board)
        self.app.push_screen(Read(self.model.words, self.model.words("key.help"), lines, close_keys="?h"))

    def action_catalogue(self) -> None:
        """Everything the game is made of."""
        self.app.push_screen(CatalogueDialog(self.model.words, self.model.wording))

    def action_log(self) -> None:
        """The whole log."""
        lines = [styled(line) for line in self.model.lines()]
        self.app.push_screen(Read(self.model.words, self.model.words("key.log"), lines, close_keys="e", at_end=True))

    def action_info(self) -> None:
        """Facts of this match: options, ids, digests."""
        lines = info_lines(self.model, self._desk.command)
        self.app.push_screen(Read(self.model.words, self.model.words("info.title"), lines, close_keys="i"))

    def action_panel(self, key: str) -> None:
        """One of the board's lists."""
        panel = next((p for p in self.board.panels() if p.key == key), None)
        if panel is not None:
            self.app.push_screen(Read(self.model.words, panel.title, panel.lines, close_keys=key))

    def action_language(self) -> None:
        """The other language, at once and everywhere."""
        self.model.speak(self.model.next_language)
        self._draw()

    # ---- leaving ---------------------------------------------------------------------------------------------------

    def action_look(self) -> None:
        """Puts the result aside."""
        self._looking = True
        self._draw()

    def action_rematch(self) -> None:
        """Another match with the seats changed."""
        if self._may_rematch:
            self.dismiss(After.REMATCH)

    def action_lobby(self) -> None:
        """Back to the lobby."""
        if self._lobby and (self.model.ending is not None or self.model.watching):
            self.dismiss(After.LOBBY)

    def action_audit(self) -> None:
        """Checks the finished match here."""
        if self.model.ending is not None:
            self.app.push_screen(AuditDialog(self.model.words, self._desk.audit))

    @work(exclusive=True, group="quit")
    async def action_quit(self) -> None:
        """Leaves; a running match goes on, and its clock with it."""
        words = self.model.words
        if self.model.ending is None and not self.model.watching and not self._failure:
            text = f"{words('match.leave.question')}\n{words('match.leave.hint', command=self._desk.command)}"
            question = Confirm(words, words("key.quit"), text, words("match.leave.yes"))
            if not await self.app.push_screen_wait(question):
                return
        self.dismiss(After.LOBBY if self._lobby and self.model.watching else After.QUIT)

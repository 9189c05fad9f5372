"""The full-screen client: from the lobby, or straight from the command line, to a match and back."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final

import structlog
from textual import work
from textual.content import Content
from textual.worker import WorkerFailed

from grimoire.cli.screens.challenge_form import ChallengeForm
from grimoire.cli.screens.desk import LobbyDesk, MatchDesk, Target
from grimoire.cli.screens.dialogs import Read
from grimoire.cli.screens.lobby_screen import Choice, ChoiceKind, LobbyScreen
from grimoire.cli.screens.match_screen import After, MatchScreen
from grimoire.cli.screens.model import MatchModel
from grimoire.cli.screens.theme import ThemedApp
from grimoire.cli.screens.waiting_screen import WaitingScreen
from grimoire.cli.screens.wish import Wish
from grimoire.cli.screens.wording import Wording, refusal
from grimoire.cli.screens.words import Words, common_language
from grimoire.client import Client, ClientError, Rejected
from grimoire.plugins import GamePlugin, load_game
from grimoire.v1 import matchmaking_pb2

__all__ = ["GrimoireApp", "board_of"]

_log: Final = structlog.stdlib.get_logger(__name__)

_UNHURT: Final = 0
_FAILED: Final = 1


class GrimoireApp(ThemedApp):
    """One person, one server, one game at a time.

    Args:
        client: signed in.
        wish: what was asked for.
        me: one's own name.
        log_file: where details of failures are written; shown to the person.
    """

    def __init__(self, client: Client, wish: Wish, *, me: str, log_file: Path | None = None) -> None:
        super().__init__()
        self._desk = LobbyDesk(client, wish)
        self._client = client
        self._wish = wish
        self._me = me
        self._log_file = log_file
        self._language = Words(wish.language).language

    def on_mount(self) -> None:
        """Sets out."""
        super().on_mount()
        self._travel()

    # ---- the way ---------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="travel")
    async def _travel(self) -> None:
        """Match after match, until the person leaves."""
        target = await self._told(self._from_wish()) if self._wished else None
        while True:
            if target is None:
                target = await self._from_lobby()
                if target is None:
                    self.exit(_UNHURT)
                    return
            after = await self._play(target)
            if after is After.QUIT:
                self.exit(_UNHURT)
                return
            target = await self._told(self._rematch(target.match_id)) if after is After.REMATCH else None

    @property
    def _wished(self) -> bool:
        wish = self._wish
        return bool(wish.level or wish.challenge or wish.join or wish.match or wish.source)

    async def _told(self, finding: Any) -> Target | None:
        """Where a wish cannot be fulfilled, the person is told why; then there is the lobby."""
        try:
            found: Target | None = await finding
        except Rejected as rejected:
            await self._tell(self._refusal(rejected))
        except ClientError as error:
            await self._tell(str(error))
        else:
            return found
        return None

    async def _tell(self, sentence: str) -> None:
        words = Words(self._language)
        await self.push_screen_wait(Read(words, words("failure.title"), [Content(sentence)]))

    def _refusal(self, rejected: Rejected) -> str:
        return refusal(rejected, self._words(self._wish.game), self._wording(self._wish.game))

    async def _from_wish(self) -> Target | None:
        wish, desk = self._wish, self._desk
        if wish.match:
            return Target(wish.match, public=wish.watch, seat=wish.seat)
        if wish.source:
            return await self._play_on()
        if wish.level:
            return Target.of(await desk.create(wish.options, wish.level))
        if wish.join:
            return await self._until_matched(await desk.join(wish.join))
        return await self._until_matched(await desk.create(wish.options, ""))

    async def _play_on(self) -> Target | None:
        challenge = await self._desk.play_on()
        if not self._wish.alone or not challenge.match_id:
            return await self._until_matched(challenge)
        target = Target.of(challenge, self._wish.seat)
        for seat in target.other_seats:
            command = self._wish.command("--match", f"{target.match_id} --seat {seat}")
            await self._tell(Words(self._language)("alone", seat=seat, command=command))
        return target

    async def _rematch(self, match_id: str) -> Target | None:
        return await self._until_matched(await self._client.rematch(match_id))

    async def _from_lobby(self) -> Target | None:
        """None: the person leaves."""
        while True:
            choice = await self._choose()
            if choice.kind is ChoiceKind.QUIT:
                return None
            target = await self._told(self._follow(choice))
            if target is not None:
                return target

    async def _choose(self) -> Choice:
        lobby = LobbyScreen(
            load_game(self._wish.game),
            self._language,
            self._desk.listing,
            me=self._me,
            watch_only=self._wish.watch,
        )
        choice = await self.push_screen_wait(lobby)
        self._language = lobby.language
        return choice

    async def _follow(self, choice: Choice) -> Target | None:
        match choice.kind:
            case ChoiceKind.MATCH:
                return Target(choice.value)
            case ChoiceKind.WATCH:
                return Target(choice.value, public=True)
            case ChoiceKind.BOT:
                return Target.of(await self._desk.create(self._wish.options, choice.value))
            case ChoiceKind.JOIN:
                return await self._until_matched(await self._desk.join(choice.value))
            case ChoiceKind.WAIT:
                return await self._until_matched(await self._client.challenge(choice.value))
            case _:
                return await self._new()

    async def _new(self) -> Target | None:
        form = ChallengeForm(
            self._words(self._wish.game), self._wording(self._wish.game), self._wish.options, self._desk.create
        )
        challenge = await self.push_screen_wait(form)
        return None if challenge is None else await self._until_matched(challenge)

    async def _until_matched(self, challenge: matchmaking_pb2.Challenge) -> Target | None:
        if not challenge.match_id:
            waiting = WaitingScreen(
                load_game(challenge.game),
                self._language,
                challenge,
                command=self._wish.command("--join", challenge.challenge_id),
                matched=lambda: self._client.matched(challenge.challenge_id),
                cancel=lambda: self._client.cancel(challenge.challenge_id),
            )
            challenge = await self.push_screen_wait(waiting)
            self._language = waiting.language
        if challenge.match_id:
            return Target.of(challenge)
        if challenge.reason or challenge.status == matchmaking_pb2.CHALLENGE_STATUS_EXPIRED:
            await self._tell(challenge.reason or Words(self._language)("waiting.expired"))
        return None

    async def _play(self, target: Target) -> After:
        try:
            opened = await self._desk.open(target)
        except Rejected as rejected:
            await self._tell(self._refusal(rejected))
            return After.LOBBY
        except (ClientError, ValueError) as error:
            await self._tell(str(error))
            return After.LOBBY
        async with opened.session as session:
            plugin = load_game(opened.game)
            model = MatchModel(session, plugin, opened.sitters, self._language)
            action = "watch" if target.public else "--match"
            desk = MatchDesk(self._client, session, self._wish.command(action, target.match_id))
            screen = MatchScreen(model, desk, board_of(plugin), early=opened.early.take)
            after = await self.push_screen_wait(screen)
            self._language = model.language
            return after

    def _words(self, game: str) -> Words:
        return Words(common_language(self._language, load_game(game).texts.languages))

    def _wording(self, game: str) -> Wording:
        return Wording(load_game(game), self._words(game).language)

    # ---- failures --------------------------------------------------------------------------------------------------

    def _fatal_error(self) -> None:
        """A mistake of this program's own: details to the log, a sentence to the person.

        The framework's own way would print a traceback with all local variables.
        """
        error = self._exception.error if isinstance(self._exception, WorkerFailed) else self._exception
        _log.error("screen_failed", exc_info=error)
        words = Words(self._language)
        where = f" {words('failure.log', path=self._log_file)}" if self._log_file else ""
        self._exit_renderables[:] = [words("failure") + where]
        self._close_messages_no_wait()


def board_of(plugin: GamePlugin) -> type[Any] | None:
    """The class of a game's board; None: it has none of its own.

    Raises:
        ImportError, AttributeError: if the plug-in names one that is not there.
    """
    if not plugin.screen:
        return None
    module, _, name = plugin.screen.partition(":")
    board: type[Any] = getattr(importlib.import_module(module), name)
    return board

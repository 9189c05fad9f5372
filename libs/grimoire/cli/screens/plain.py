"""The client without a screen: lines out, lines in. For pipes, scripts, screen readers and very small terminals."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from grimoire.cli.screens.audit_dialog import report_lines
from grimoire.cli.screens.desk import LobbyDesk, MatchDesk, Target
from grimoire.cli.screens.lines import InputLines
from grimoire.cli.screens.lobby_screen import challenge_line, match_line
from grimoire.cli.screens.match_screen import After
from grimoire.cli.screens.model import MatchModel
from grimoire.cli.screens.plain_match import PlainMatch
from grimoire.cli.screens.wish import Wish
from grimoire.cli.screens.wording import Wording, refusal
from grimoire.cli.screens.words import Words, common_language, next_language
from grimoire.client import Client, ClientError, Rejected
from grimoire.plugins import load_game
from grimoire.v1 import matchmaking_pb2

__all__ = ["PlainClient"]

_WIDEST: Final = 100
_UNHURT: Final = 0
_FAILED: Final = 1


class PlainClient:
    """One person at one input.

    Args:
        client: signed in.
        wish: what was asked for.
        me: one's own name.
        descriptor: lines come from it.
        say: prints a line.
    """

    def __init__(
        self,
        client: Client,
        wish: Wish,
        *,
        me: str,
        descriptor: int = 0,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._client = client
        self._wish = wish
        self._me = me
        self._desk = LobbyDesk(client, wish)
        self._descriptor = descriptor
        self._say = say or _print
        self._language = wish.language
        self._lines: deque[str | None] = deque()
        self._arrived = asyncio.Event()

    @property
    def _words(self) -> Words:
        return Words(common_language(self._language, self._spoken))

    @property
    def _wording(self) -> Wording:
        return Wording(load_game(self._wish.game), self._words.language)

    @property
    def _spoken(self) -> tuple[str, ...]:
        return load_game(self._wish.game).texts.languages

    async def run(self) -> int:
        """Until the person leaves or the input ends.

        Returns:
            The exit status: 0 unless what was asked for on the command line cannot be had.
        """
        wish = self._wish
        if wish.watch and not wish.match:
            return await self._list_watchable()
        InputLines(self._descriptor, self._on_line)
        target: Target | None = None
        if wish.level or wish.challenge or wish.join or wish.match or wish.source:
            target = await self._told(self._from_wish())
            if target is None:
                return _FAILED
        while True:
            target = target or await self._lobby()
            if target is None:
                return _UNHURT
            after = await self._play(target)
            if after is After.QUIT:
                return _UNHURT
            target = await self._told(self._rematch(target.match_id)) if after is After.REMATCH else None

    def _on_line(self, line: str | None) -> None:
        self._lines.append(line)
        self._arrived.set()

    async def _line(self) -> str | None:
        """The next line; None: there are no more."""
        while not self._lines:
            self._arrived.clear()
            await self._arrived.wait()
        return self._lines[0] if self._lines[0] is None else self._lines.popleft()

    async def _told(self, finding: Coroutine[Any, Any, Target | None]) -> Target | None:
        try:
            return await finding
        except Rejected as rejected:
            self._say(refusal(rejected, self._words, self._wording))
        except ClientError as error:
            self._say(str(error))
        return None

    # ---- to a match ------------------------------------------------------------------------------------------------

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
            self._say(self._words("alone", seat=seat, command=command))
        return target

    async def _rematch(self, match_id: str) -> Target | None:
        return await self._until_matched(await self._client.rematch(match_id))

    async def _until_matched(self, challenge: matchmaking_pb2.Challenge) -> Target | None:
        if not challenge.match_id:
            command = self._wish.command("--join", challenge.challenge_id)
            self._say(self._words("plain.waiting", id=challenge.challenge_id, command=command))
            challenge = await self._client.matched(challenge.challenge_id)
        if challenge.match_id:
            return Target.of(challenge)
        self._say(challenge.reason or self._words("plain.gone"))
        return None

    async def _list_watchable(self) -> int:
        matches = (await self._desk.listing()).running
        if not matches:
            self._say(self._words("plain.watch.none"))
        for match in matches:
            players = match_line(match, self._words, Wording(load_game(match.game), self._words.language)).plain
            self._say(self._words("plain.lobby.watch", id=match.match_id, players=players))
        return _UNHURT

    async def _lobby(self) -> Target | None:
        """Reads commands until one leads to a match; None: the person leaves."""
        await self._list()
        while True:
            line = await self._line()
            if line is None:
                self._say(self._words("plain.lobby.bye"))
                return None
            command, _, rest = line.strip().partition(" ")
            if command in ("quit", "q"):
                return None
            if command == "language":
                self._language = next_language(self._words.language, self._spoken)
                await self._list()
            elif command == "list":
                await self._list()
            elif (finding := self._finding(command, rest.strip())) is not None:
                target = await self._told(finding)
                if target is not None:
                    return target
            elif command:
                self._say(self._words("plain.lobby"))

    def _finding(self, command: str, rest: str) -> Coroutine[Any, Any, Target | None] | None:
        match command:
            case "bot":
                return self._bot(rest or self._wording.manifest.bot_levels[0].level)
            case "new":
                return self._new(dict(pair.partition("=")[::2] for pair in rest.split()))
            case "join" if rest:
                return self._join(rest)
            case "play" | "watch" if rest:
                return self._match(rest, public=command == "watch")
            case _:
                return None

    async def _bot(self, level: str) -> Target | None:
        return Target.of(await self._desk.create(self._wish.options, level))

    async def _new(self, options: dict[str, str]) -> Target | None:
        return await self._until_matched(await self._desk.create({**self._wish.options, **options}, ""))

    async def _join(self, challenge_id: str) -> Target | None:
        return await self._until_matched(await self._desk.join(challenge_id))

    async def _match(self, match_id: str, *, public: bool) -> Target | None:
        return Target(match_id, public=public)

    async def _list(self) -> None:
        words, wording = self._words, self._wording
        self._say(f"{wording.name()} · {words('lobby.me', name=self._me)}")
        for level in wording.manifest.bot_levels:
            self._say(f"bot {level.level}: {words('lobby.bot', name=level.name)}")
        try:
            listing = await self._desk.listing()
        except ClientError as error:
            self._say(str(error))
            return
        for challenge in listing.challenges:
            who, _, options = challenge_line(challenge, words, wording).plain.partition("\n")
            said = {"players": who, "state": "", "options": options.strip(), "id": challenge.challenge_id}
            self._say(words("plain.lobby.open", **said))
        for match in listing.own:
            players = match_line(match, words, wording).plain
            self._say(words("plain.lobby.own", id=match.match_id, players=players))
        own = {match.match_id for match in listing.own}
        for match in listing.running:
            if match.match_id not in own:
                players = match_line(match, words, wording).plain
                self._say(words("plain.lobby.watch", id=match.match_id, players=players))
        self._say(words("plain.lobby"))

    # ---- a match ---------------------------------------------------------------------------------------------------

    async def _play(self, target: Target) -> After:
        try:
            opened = await self._desk.open(target)
        except Rejected as rejected:
            self._say(refusal(rejected, self._words, self._wording))
            return After.QUIT
        except (ClientError, ValueError) as error:
            self._say(str(error))
            return After.QUIT
        async with opened.session as session:
            model = MatchModel(session, load_game(opened.game), opened.sitters, self._language)
            action = "watch" if target.public else "--match"
            command = self._wish.command(action, target.match_id)
            table = PlainMatch(model, self._say, command, _width)
            left = await table.run(self._lines, self._arrived, opened.early.take)
            self._language = model.language
            if left:
                return After.QUIT
            return await self._after(model, MatchDesk(self._client, session, command))

    async def _after(self, model: MatchModel, desk: MatchDesk) -> After:
        """Rematch, audit, lobby, or the end."""
        words = model.words
        names = [f"{name} ({words(f'result.{name}')})" for name in ("rematch", "audit", "lobby", "quit")]
        self._say(", ".join(names[1:] if model.watching else names))
        while True:
            line = await self._line()
            command = "quit" if line is None else line.strip().casefold()
            if command == "quit":
                return After.QUIT
            if command == "lobby":
                return After.LOBBY
            if command == "rematch" and not model.watching:
                return After.REMATCH
            if command == "audit":
                try:
                    for text in report_lines(await desk.audit(), words):
                        self._say(text.plain)
                except ClientError as error:
                    self._say(words("audit.unavailable", reason=error))


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _width() -> int:
    return min(_WIDEST, shutil.get_terminal_size((80, 24)).columns)

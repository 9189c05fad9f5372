"""Waiting for somebody to take the other seat."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import LoadingIndicator

from grimoire.cli.screens.countdown import duration
from grimoire.cli.screens.key_button import KeyButton
from grimoire.cli.screens.label import Label
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import Words, common_language, language_name, next_language
from grimoire.client import ClientError
from grimoire.plugins import GamePlugin
from grimoire.v1 import matchmaking_pb2

__all__ = ["WaitingScreen"]

_AGAIN_S: Final = 1.0
_DONE: Final = (
    matchmaking_pb2.CHALLENGE_STATUS_MATCHED,
    matchmaking_pb2.CHALLENGE_STATUS_CANCELLED,
    matchmaking_pb2.CHALLENGE_STATUS_EXPIRED,
)


class WaitingScreen(Screen[matchmaking_pb2.Challenge]):
    """Shows the id and the command for the friend; ends with the challenge as it became.

    Args:
        plugin: of the game.
        language: of everything.
        challenge: one's own.
        command: what the friend types.
        matched: waits for the match, or the end of the challenge.
        cancel: withdraws it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "cancel", show=False),
        Binding("l", "language", show=False),
    ]

    def __init__(
        self,
        plugin: GamePlugin,
        language: str,
        challenge: matchmaking_pb2.Challenge,
        *,
        command: str,
        matched: Callable[[], Awaitable[matchmaking_pb2.Challenge]],
        cancel: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._plugin = plugin
        self._challenge = challenge
        self._command = command
        self._matched = matched
        self._cancel = cancel
        self._failure = ""
        self._headline = Label(id="headline")
        self._text = Label(id="waiting-text")
        self._cancel_key = KeyButton(id="cancel", action="screen.cancel", main=True)
        self._language_key = KeyButton(id="language", action="screen.language")
        self._speak(language)

    def _speak(self, language: str) -> None:
        self.words = Words(common_language(language, self._plugin.texts.languages))
        self._wording = Wording(self._plugin, self.words.language)

    @property
    def language(self) -> str:
        """Of everything on it."""
        return self.words.language

    @property
    def _next_language(self) -> str:
        return next_language(self.language, self._plugin.texts.languages)

    def compose(self) -> ComposeResult:
        """What is waited for, and how to give up."""
        yield self._headline
        with Vertical(id="waiting"):
            yield self._text
            yield LoadingIndicator()
            yield Horizontal(self._cancel_key, self._language_key, classes="answers")

    def on_mount(self) -> None:
        """Begins to wait."""
        self._draw()
        self._wait()
        self.set_interval(1.0, self._draw)

    def _draw(self) -> None:
        words = self.words
        self._headline.tell(Content(f"Grimoire · {self._wording.name()}"))
        left = max(0, self._challenge.expires_ms - int(time.time() * 1000))
        lines = [
            Content.styled(
                words("waiting.rematch" if self._challenge.rematch_of else "waiting.title"), "bold $primary"
            ),
            Content(""),
            *(Content(f"  {o}") for o in self._wording.options((o.name, o.value) for o in self._challenge.options)),
            Content(""),
            Content.assemble(f"{words('waiting.id')} ", (self._challenge.challenge_id, "bold $accent")),
            Content(words("waiting.command")),
            Content.styled(f"  {self._command}", "bold $accent"),
        ]
        if self._challenge.expires_ms:
            lines += [Content(""), Content.styled(words("waiting.expires", time=duration(left)), "$muted")]
        if self._failure:
            lines.append(Content.styled(f"… {words('connection.lost')} ({self._failure})", "$error"))
        self._text.tell(Content("\n").join(lines))
        self._cancel_key.tell("esc", words("waiting.cancel"))
        self._language_key.tell("l", language_name(self._next_language))

    @work(exclusive=True, group="wait")
    async def _wait(self) -> None:
        try:
            challenge = await self._matched()
        except ClientError as error:
            self._failure = str(error)
            self._draw()
            self.set_timer(_AGAIN_S, self._wait)
            return
        self._failure = ""
        if challenge.status in _DONE:
            self.dismiss(challenge)

    @work(exclusive=True, group="cancel")
    async def action_cancel(self) -> None:
        """Withdraws it; if somebody was quicker, the match begins."""
        try:
            await self._cancel()
        except ClientError as error:
            self._failure = str(error)
            self._draw()

    def action_language(self) -> None:
        """The other language."""
        self._speak(self._next_language)
        self._draw()

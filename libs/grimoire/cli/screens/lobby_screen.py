"""The lobby: bots to play, challenges to join, one's own matches, matches to watch."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar, Final

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from grimoire.cli.screens.dialogs import Ask, Read
from grimoire.cli.screens.key_button import KeyButton
from grimoire.cli.screens.label import Label
from grimoire.cli.screens.sitters import Sitters, mark
from grimoire.cli.screens.theme import seat_colour
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import Words, common_language, language_name, next_language
from grimoire.client import ClientError
from grimoire.plugins import GamePlugin
from grimoire.v1 import match_pb2, matchmaking_pb2

__all__ = ["Choice", "ChoiceKind", "Listing", "LobbyScreen", "challenge_line", "match_line"]

_REFRESH_S: Final = 2.0
_KEYS: Final = {"new": "n", "join": "j", "help": "?", "language": "l", "quit": "q"}


class ChoiceKind(enum.Enum):
    """What was chosen in the lobby."""

    BOT = "bot"
    NEW = "new"
    JOIN = "join"
    WAIT = "wait"
    MATCH = "match"
    WATCH = "watch"
    QUIT = "quit"


class Choice(msgspec.Struct, frozen=True):
    """What was chosen, and the level, challenge or match it is about."""

    kind: ChoiceKind
    value: str = ""


class Listing(msgspec.Struct, frozen=True):
    """What the lobby lists."""

    challenges: tuple[matchmaking_pb2.Challenge, ...] = ()
    own: tuple[matchmaking_pb2.MatchSummary, ...] = ()
    finished: tuple[matchmaking_pb2.MatchSummary, ...] = ()
    running: tuple[matchmaking_pb2.MatchSummary, ...] = ()


class LobbyScreen(Screen[Choice]):
    """One list to choose from, renewed every two seconds; what is marked stays marked.

    Args:
        plugin: of the game.
        language: of everything.
        fetch: asks the server.
        me: one's own name.
        levels: the bots that can be played.
        watch_only: only matches to watch.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", show=False),
        Binding("j", "join", show=False),
        Binding("l", "language", show=False),
        Binding("question_mark,h,f1", "help", show=False),
        Binding("q,escape,ctrl+c", "quit", show=False),
    ]

    def __init__(
        self,
        plugin: GamePlugin,
        language: str,
        fetch: Callable[[], Awaitable[Listing]],
        *,
        me: str,
        watch_only: bool = False,
    ) -> None:
        super().__init__()
        self._plugin = plugin
        self._fetch = fetch
        self._me = me
        self._watch_only = watch_only
        self._listing: Listing | None = None
        self._failure = ""
        self._headline = Label(id="headline")
        self._list = OptionList(id="lobby")
        self._keys = {action: KeyButton(id=f"key-{action}", action=f"screen.{action}") for action in _KEYS}
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
        """Headline, list, buttons."""
        yield self._headline
        yield self._list
        yield Horizontal(*self._keys.values(), id="keys")

    def on_mount(self) -> None:
        """Asks at once, then every two seconds."""
        self._draw()
        self._list.focus()
        self._renew()
        self.set_interval(_REFRESH_S, self._renew)

    @work(exclusive=True, group="lobby")
    async def _renew(self) -> None:
        try:
            self._listing = await self._fetch()
            self._failure = ""
        except ClientError as error:
            self._failure = str(error)
        self._draw()

    # ---- drawing ---------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        words = self.words
        headline = self._headline
        headline.set_class(bool(self._failure), "lost")
        if self._failure:
            headline.tell(Content(f"… {words('connection.lost')} ({self._failure})"))
        else:
            headline.tell(Content(f"Grimoire · {self._wording.name()} · {words('lobby.me', name=self._me)}"))
        view = self._list
        kept = view.get_option_at_index(view.highlighted).id if view.highlighted is not None else None
        options = _once(self._options())
        view.clear_options().add_options(options)
        usable = [option.id for option in options if not option.disabled]
        wanted = kept if kept in usable else (usable[0] if usable else None)
        if wanted is not None:
            view.highlighted = view.get_option_index(wanted)
        for action, key in _KEYS.items():
            button = self._keys[action]
            name = language_name(self._next_language) if action == "language" else words(f"key.{action}")
            button.tell(key, name)
            button.display = not (self._watch_only and action in ("new", "join"))

    def _options(self) -> Iterable[Option]:
        words, listing = self.words, self._listing
        if not self._watch_only:
            yield from self._section("lobby.bots", self._bots(), "")
            mine = [_option(f"match:{m.match_id}", match_line(m, words, self._wording)) for m in _of(listing, "own")]
            yield from self._section("lobby.own", mine, "")
            rows = [_option(_challenge_id(c), challenge_line(c, words, self._wording)) for c in _challenges(listing)]
            yield from self._section("lobby.challenges", [_option("new", Content(words("lobby.new"))), *rows], "")
        own = {m.match_id for m in _of(listing, "own")}
        others = [m for m in _of(listing, "running") if m.match_id not in own]
        watch = [_option(f"watch:{m.match_id}", match_line(m, words, self._wording)) for m in others]
        yield from self._section("lobby.watch", watch, "lobby.watch.none" if listing else "lobby.asking")
        if not self._watch_only:
            done = [
                _option(f"match:{m.match_id}", match_line(m, words, self._wording)) for m in _of(listing, "finished")
            ]
            yield from self._section("lobby.finished", done, "")

    def _section(self, title: str, rows: Sequence[Option], empty: str) -> Iterable[Option]:
        if not rows and not empty:
            return
        yield Option(Content.styled(self.words(title), "bold $primary"), disabled=True)
        yield from rows
        if not rows:
            yield Option(Content.styled(f"  {self.words(empty)}", "$muted"), disabled=True)

    def _bots(self) -> list[Option]:
        return [
            _option(f"bot:{level.level}", Content(self.words("lobby.bot", name=level.name)))
            for level in self._wording.manifest.bot_levels
        ]

    # ---- choosing --------------------------------------------------------------------------------------------------

    @on(OptionList.OptionSelected, "#lobby")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        kind, _, value = (event.option.id or "").partition(":")
        self.dismiss(Choice(ChoiceKind(kind), value))

    def action_new(self) -> None:
        """A match with options of one's own."""
        if not self._watch_only:
            self.dismiss(Choice(ChoiceKind.NEW))

    @work(exclusive=True, group="join")
    async def action_join(self) -> None:
        """A challenge by its id."""
        if self._watch_only:
            return
        ask = Ask(self.words, self.words("key.join"), self.words("lobby.join.hint"))
        challenge_id = await self.app.push_screen_wait(ask)
        if challenge_id:
            self.dismiss(Choice(ChoiceKind.JOIN, challenge_id))

    def action_language(self) -> None:
        """The other language."""
        self._speak(self._next_language)
        self._draw()

    def action_help(self) -> None:
        """What the lobby is for."""
        lines = [self.words(f"lobby.help.{n}") for n in range(1, 7)]
        self.app.push_screen(Read(self.words, self.words("key.help"), lines, close_keys="?h"))

    def action_quit(self) -> None:
        """Leaves."""
        self.dismiss(Choice(ChoiceKind.QUIT))


def _once(options: Iterable[Option]) -> list[Option]:
    """The lists are asked for one by one: what has moved on in between may stand in two of them."""
    seen: set[str] = set()
    shown = []
    for option in options:
        if option.id is None or option.id not in seen:
            shown.append(option)
            seen.add(option.id or "")
    return shown


def _option(key: str, content: Content) -> Option:
    return Option(Content("  ") + content, id=key)


def _of(listing: Listing | None, name: str) -> Sequence[matchmaking_pb2.MatchSummary]:
    return getattr(listing, name) if listing is not None else ()


def _challenges(listing: Listing | None) -> Sequence[matchmaking_pb2.Challenge]:
    return listing.challenges if listing is not None else ()


def _challenge_id(challenge: matchmaking_pb2.Challenge) -> str:
    mine = any(seat.mine for seat in challenge.seats)
    return f"{'wait' if mine else 'join'}:{challenge.challenge_id}"


def challenge_line(challenge: matchmaking_pb2.Challenge, words: Words, wording: Wording) -> Content:
    """Who waits, for how many, and every option as an icon and words."""
    names = Sitters.of(challenge.seats).names(words, wording)
    taken = sum(1 for seat in challenge.seats if seat.name or seat.bot)
    mine = any(seat.mine for seat in challenge.seats)
    who = ", ".join(names.values()) or "?"
    state = words("lobby.challenge.mine" if mine else "lobby.challenge", taken=taken, seats=len(challenge.seats))
    options = " · ".join(wording.options((o.name, o.value) for o in challenge.options))
    rematch = f" · {words('lobby.rematch')}" if challenge.rematch_of else ""
    return Content.assemble(
        (who, "bold"), Content(f"  {state}{rematch}\n"), Content.styled(f"      {options}", "$muted")
    )


def match_line(match: matchmaking_pb2.MatchSummary, words: Words, wording: Wording) -> Content:
    """Who plays, each with its seat's shape, and how it ended if it has."""
    names = Sitters.of(match.seats).names(words, wording)
    parts: list[Content] = []
    for seat in match.seats:
        name = words("seat.you") if seat.mine else names.get(seat.seat, words("seat.unknown", number=seat.seat + 1))
        parts.append(Content.assemble((mark(seat.seat), f"bold {seat_colour(seat.seat)}"), Content(f" {name}")))
    line = Content(" – ").join(parts)
    if match.finished:
        line += Content.styled(f"  {_end(match, words, wording)}", "$muted")
    return line


def _end(match: matchmaking_pb2.MatchSummary, words: Words, wording: Wording) -> str:
    closed = match.closed
    reasons = ", ".join(wording.reason(code) for code in closed.reasons)
    if closed.kind == match_pb2.OUTCOME_KIND_VOID or not closed.ranks:
        return words("ending.void")
    if closed.kind == match_pb2.OUTCOME_KIND_DRAW:
        return f"{words('ending.drawn')}: {reasons}"
    mine = next((seat.seat for seat in match.seats if seat.mine), None)
    if mine is None or mine >= len(closed.ranks):
        return reasons
    return f"{words('ending.won' if closed.ranks[mine] == 1 else 'ending.lost')}: {reasons}"

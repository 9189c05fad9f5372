"""What has happened in a match, in sentences."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec
from google.protobuf.message import DecodeError, Message

from grimoire.cli.screens.countdown import duration
from grimoire.cli.screens.words import Words
from grimoire.match.referee import PLATFORM
from grimoire.plugins import GamePlugin
from grimoire.v1 import match_pb2

__all__ = ["Chronicle", "Line", "LineKind", "seat_label", "short"]

M = TypeVar("M", bound=Message)


class LineKind(enum.Enum):
    """Who speaks: the game, the platform, or this client about one's own doing."""

    GAME = "game"
    PLATFORM = "platform"
    OWN = "own"


class Line(msgspec.Struct, frozen=True):
    """One sentence of the log.

    Attributes:
        seat: whose doing it is; None: nobody's.
        text: any text, never markup.
    """

    kind: LineKind
    seat: int | None
    text: str


class _Note(msgspec.Struct, frozen=True):
    """Something of this client's own, said when it is read: its language may have changed by then."""

    say: Callable[[], str]


class Chronicle:
    """The events of a match, said anew in whatever language is asked for.

    Args:
        plugin: of the match's game.
    """

    def __init__(self, plugin: GamePlugin) -> None:
        self._plugin = plugin
        self._items: list[Message | _Note] = []

    def add(self, events: Iterable[match_pb2.Event]) -> list[Message]:
        """Takes in new events.

        Returns:
            Those of them that are the game's; what this program does not know is passed over.
        """
        news: list[Message] = []
        for event in events:
            own = self._plugin.game.schema.events.get(event.type)
            cls = own or PLATFORM.events.get(event.type)
            if cls is None:
                continue
            try:
                message = cls.FromString(event.body)
            except DecodeError:
                continue
            self._items.append(message)
            if own is not None:
                news.append(message)
        return news

    def note(self, say: Callable[[], str]) -> None:
        """Adds a line of this client's own, e.g. a refusal."""
        self._items.append(_Note(say))

    def last(self, kind: type[M]) -> M | None:
        """The latest event of a type."""
        return next((item for item in reversed(self._items) if isinstance(item, kind)), None)

    def has(self, kind: type[Message], seat: int | None = None) -> bool:
        """Whether such an event was seen, of this seat if one is given."""
        return any(isinstance(i, kind) and (seat is None or getattr(i, "seat", None) == seat) for i in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def lines(self, words: Words, language: str, names: Mapping[int, str], first: int = 0) -> Iterator[Line]:
        """The log from item `first` on.

        Args:
            words: of the interface.
            language: of the game's sentences.
            names: the seats' display names.
            first: items before it are left out.
        """
        for item in self._items[first:]:
            if isinstance(item, _Note):
                yield Line(LineKind.OWN, None, item.say())
                continue
            if type(item) in _PLATFORM_TYPES:
                kind, text = LineKind.PLATFORM, self.say_platform(item, words, names)
            else:
                kind, text = LineKind.GAME, self._plugin.texts.say_event(item, language, names)
            if text:
                yield Line(kind, _seat_of(item), text)

    @staticmethod
    def say_platform(event: Message, words: Words, names: Mapping[int, str]) -> str:
        """One of the platform's events in a sentence; empty for those that are shown in another way."""
        say = _SAY.get(type(event))
        return "" if say is None else say(event, words, names)


def _seat_of(event: Message) -> int | None:
    field = event.DESCRIPTOR.fields_by_name.get("seat")
    return getattr(event, "seat", None) if field is not None else None


# ---- the platform's sentences ----------------------------------------------------------------------------------------


def short(digest: bytes) -> str:
    """The beginning of a digest, for people.

    >>> short(bytes(range(32)))
    '0001 0203 0405'
    """
    return " ".join(digest[n : n + 2].hex() for n in (0, 2, 4))


def seat_label(seat: int, words: Words, names: Mapping[int, str]) -> str:
    """A seat's name, or its number where the name is not known."""
    return names.get(seat) or words("seat.unknown", number=seat + 1)


_Say = Callable[[Any, Words, Mapping[int, str]], str]


def _created(event: match_pb2.MatchCreated, words: Words, _: Mapping[int, str]) -> str:
    return words("event.match_created", hash=short(event.server_commitment))


def _sealed(event: match_pb2.NonceSealed, words: Words, names: Mapping[int, str]) -> str:
    return words("event.nonce_sealed", seat=seat_label(event.seat, words, names), hash=short(event.seal))


def _opened(event: match_pb2.NonceOpened, words: Words, names: Mapping[int, str]) -> str:
    return words("event.nonce_opened", seat=seat_label(event.seat, words, names))


def _started(event: match_pb2.MatchStarted, words: Words, _: Mapping[int, str]) -> str:
    return words("event.match_started", digest=event.deal_digest.hex())


def _extended(event: match_pb2.ClockExtended, words: Words, _: Mapping[int, str]) -> str:
    return words("event.clock_extended", time=duration(event.by_ms))


def _closed(event: match_pb2.PromptClosed, words: Words, _: Mapping[int, str]) -> str:
    expired = event.cause == match_pb2.PROMPT_CAUSE_EXPIRED
    return words("event.prompt_expired") if expired else ""


def _left(event: match_pb2.SeatLeft, words: Words, names: Mapping[int, str]) -> str:
    key = "event.seat_left.timed_out" if event.reason == "timed_out" else "event.seat_left"
    return words(key, seat=seat_label(event.seat, words, names))


def _bound(event: match_pb2.SeatBound, words: Words, names: Mapping[int, str]) -> str:
    if event.kind == match_pb2.OCCUPANT_KIND_BOT:
        key = "event.seat_bound.bot"
    else:
        key = "event.seat_bound.returned" if event.reason == "returned" else "event.seat_bound"
    return words(key, seat=seat_label(event.seat, words, names))


def _voided(event: match_pb2.MatchVoided, words: Words, names: Mapping[int, str]) -> str:
    key = f"event.match_voided.{event.reason}"
    seats = ", ".join(seat_label(seat, words, names) for seat in event.seats)
    return words(key, seats=seats) if words.has(key) else words("event.match_voided", reason=event.reason)


def _revealed(event: match_pb2.FairnessRevealed, words: Words, _: Mapping[int, str]) -> str:
    return words("event.fairness_revealed", seed=event.server_seed.hex())


_SAY: Final[dict[type[Message], _Say]] = {
    match_pb2.MatchCreated: _created,
    match_pb2.NonceSealed: _sealed,
    match_pb2.NonceOpened: _opened,
    match_pb2.NoncesRevealed: lambda _event, words, _names: words("event.nonces_revealed"),
    match_pb2.MatchStarted: _started,
    match_pb2.ClockExtended: _extended,
    match_pb2.PromptClosed: _closed,
    match_pb2.SeatLeft: _left,
    match_pb2.SeatBack: lambda event, words, names: words("event.seat_back", seat=seat_label(event.seat, words, names)),
    match_pb2.SeatBound: _bound,
    match_pb2.MatchVoided: _voided,
    match_pb2.FairnessRevealed: _revealed,
}
# Open prompts are shown as prompts, and a game says itself how it ended.
_PLATFORM_TYPES: Final = frozenset(PLATFORM.events.values())

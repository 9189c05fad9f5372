"""What people say beside a match: the handlers of `ChatService`, free of any transport."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
import unicodedata
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from typing import Final

import msgspec
import structlog

from gateway.callers import Caller
from gateway.chat_store import WATCHERS, ChatStore, FullError, Line, ReportRow
from gateway.database import DatabaseError, TakenError
from gateway.limits import RateLimiter
from gateway.matches import Matches, MatchFacts
from gateway.meters import CHAT
from gateway.news import News
from gateway.people import People
from gateway.refusals import RefusalKind, Refused, rejection, unavailable
from gateway.sessions import Sessions
from grimoire.match.codes import reject
from grimoire.v1 import chat_pb2, envelope_pb2

__all__ = ["Chat", "ChatLimits", "ChatNews"]

_log: Final = structlog.stdlib.get_logger(__name__)

_OPEN: Final = chat_pb2.REPORT_STATE_OPEN
_UPHELD: Final = (chat_pb2.REPORT_STATE_REMOVED, chat_pb2.REPORT_STATE_SILENCED)
_DECISIONS: Final = (chat_pb2.REPORT_STATE_DISMISSED, *_UPHELD)
_REPORTS: Final = (50, 200)
_LED_THERE: Final = 5
_MAX_SILENCE_H: Final = 8760
_TRIES: Final = 20
_DAY_MS: Final = 24 * 3600 * 1000
_HEARTBEAT_S: Final = 10.0


class ChatLimits(msgspec.Struct, frozen=True):
    """How much may be said.

    Attributes:
        text: characters of a message.
        reason: characters of a report's reason.
        per_s: messages of one account in the long run.
        burst: of these, at once.
        reports_per_s: reports of one account in the long run.
        report_burst: of these, at once.
        messages: of one match; then its chat is full.
        kept_days: messages are deleted after this.
        reports_kept_days: reports are deleted so long after they were decided.
    """

    text: int = 300
    reason: int = 500
    per_s: float = 0.5
    burst: int = 8
    reports_per_s: float = 1 / 60
    report_burst: int = 10
    messages: int = 2_000
    kept_days: int = 90
    reports_kept_days: int = 180


class ChatNews(msgspec.Struct, frozen=True):
    """News: something changed in the chat of a match.

    Attributes:
        match_id: empty: in any.
        account_id: only what this account hears or may say; empty: what was said.
    """

    match_id: str
    account_id: str = ""


class _Person(msgspec.Struct, frozen=True):
    """What one listener hears and may say: whom it has muted, and until when it is silenced itself."""

    mutes: frozenset[int]
    silenced_until_ms: int


class _Room:
    """Those who listen to one match here, and its messages, read once for all of them."""

    def __init__(self) -> None:
        self.listeners: set[asyncio.Event] = set()
        self.lines: list[Line] | None = None
        """None: to be read again."""
        self.names: dict[str, str] = {}
        self.persons: dict[str, _Person] = {}
        self.revision = 0
        self.reading = asyncio.Lock()

    def wake(self, news: ChatNews) -> None:
        """Something changed."""
        if news.account_id:
            self.persons.pop(news.account_id, None)
        else:
            self.lines = None
            self.revision += 1
        for waiting in self.listeners:
            waiting.set()


class Chat:
    """Chat of all matches.

    Args:
        store: where it is kept.
        people: the names.
        matches: who sits where.
        sessions: told when somebody is silenced.
        news: other instances hear of what was said.
        now_ms: the wall clock, UTC ms.
        limits: how much may be said.
        now: seconds of a clock that never goes back.
    """

    def __init__(
        self,
        store: ChatStore,
        people: People,
        matches: Matches,
        sessions: Sessions,
        news: News,
        now_ms: Callable[[], int],
        limits: ChatLimits | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._people = people
        self._matches = matches
        self._sessions = sessions
        self._news = news
        self._now_ms = now_ms
        self._limits = limits or ChatLimits()
        self._rate = RateLimiter(self._limits.per_s, self._limits.burst, now)
        self._report_rate = RateLimiter(self._limits.reports_per_s, self._limits.report_burst, now)
        self._rooms: dict[str, _Room] = {}
        self._closed = False
        news.hear("chat", ChatNews, self._heed)

    # ---- talking ---------------------------------------------------------------------------------------------------

    async def say(self, caller: Caller, request: chat_pb2.SayRequest) -> chat_pb2.SayResponse:
        """Says something.

        Raises:
            Refused: `bad_text`, `spectators_are_mute`, `silenced`, `chat_full`, `rate_limited`, or an unknown match.
        """
        try:
            with _database():
                line = await self._say(caller, request)
        except Refused as refused:
            CHAT.labels(refused.rejection.code).inc()
            raise
        CHAT.labels("said").inc()
        return chat_pb2.SayResponse(message=_shown(line, {caller.account_id: caller.name}, caller))

    async def _say(self, caller: Caller, request: chat_pb2.SayRequest) -> Line:
        text = self._clean(request.text, self._limits.text, "text")
        if request.request_id and len(request.request_id) != 16:
            detail = "request_id is 16 bytes, or none"
            raise Refused(RefusalKind.MALFORMED, reject("malformed", detail=detail, field="request_id"))
        facts = await self._matches.facts(request.match_id)
        seat = self._seat(caller, facts)
        why_not = self._why_not(caller, facts, await self._silenced_until(caller))
        if why_not is not None:
            raise Refused(RefusalKind.FORBIDDEN, why_not)
        retry_after_ms = self._rate.take(caller.account_id)
        if retry_after_ms:
            raise Refused(RefusalKind.BUSY, reject("rate_limited", retry_after_ms=retry_after_ms))
        line = Line(secrets.token_urlsafe(12), facts.match_id, 0, caller.account_id, seat, text, self._now_ms())
        for _ in range(_TRIES):
            try:
                line = await self._store.add(line, request.request_id, self._limits.messages)
                break
            except TakenError:
                continue
            except FullError:
                sentence = "This match holds no more messages."
                raise Refused(RefusalKind.NOT_NOW, rejection("chat_full", sentence)) from None
        else:
            raise unavailable("Too many are talking at once; try again.")
        await self._tell(facts.match_id)
        return line

    async def watch(
        self, caller: Caller, request: chat_pb2.WatchChatRequest
    ) -> AsyncGenerator[chat_pb2.WatchChatResponse, None]:
        """What was said, then what is being said.

        Raises:
            Refused: an unknown match.
        """
        facts = await self._matches.facts(request.match_id)
        with self._listening(facts.match_id) as (room, news):
            shown: dict[str, tuple[bool, str]] = {}
            rights: chat_pb2.ChatRights | None = None
            whole = True
            while not self._closed:
                news.clear()
                with _database():
                    response, rights = await self._changes(caller, request.match_id, room, shown, rights)
                response.whole, whole = whole, False
                response.server_time_ms = self._now_ms()
                yield response
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_HEARTBEAT_S):
                        await news.wait()
        raise unavailable("This service is stopping; connect again.")

    async def _changes(
        self,
        caller: Caller,
        match_id: str,
        room: _Room,
        shown: dict[str, tuple[bool, str]],
        rights: chat_pb2.ChatRights | None,
    ) -> tuple[chat_pb2.WatchChatResponse, chat_pb2.ChatRights]:
        """What one listener has not seen yet; `shown` then holds it."""
        await self._read(match_id, room)
        facts = await self._matches.facts(match_id)
        person = room.persons.get(caller.account_id)
        if person is None:
            person = room.persons[caller.account_id] = await self._person(caller, match_id)
        response = chat_pb2.WatchChatResponse()
        for line in room.lines or ():
            if _is_muted(line, person.mutes) and line.account_id != caller.account_id:
                continue
            state = (line.removed, room.names.get(line.account_id, ""))
            if shown.get(line.message_id) != state:
                shown[line.message_id] = state
                response.messages.append(_shown(line, room.names, caller))
        current = self._rights(caller, facts, person)
        if current != rights:
            response.rights.CopyFrom(current)
        return response, current

    async def _read(self, match_id: str, room: _Room) -> None:
        async with room.reading:
            while room.lines is None:
                revision = room.revision
                lines = await self._store.of_match(match_id)
                room.names = await self._people.names_of({line.account_id for line in lines})
                # What came while we were reading is read as well.
                room.lines = lines if room.revision == revision else None

    # ---- not hearing -----------------------------------------------------------------------------------------------

    async def mute(self, caller: Caller, request: chat_pb2.MuteRequest) -> chat_pb2.MuteResponse:
        """Hears a seat, or all watchers, no longer, or again; only for the caller, only in this match.

        Raises:
            Refused: `malformed`, or an unknown match.
        """
        facts = await self._matches.facts(request.match_id)
        whom = request.WhichOneof("whom")
        if whom is None or (whom == "watchers" and not request.watchers):
            raise Refused(RefusalKind.MALFORMED, reject("malformed", detail="say whom to mute", field="whom"))
        if whom == "seat" and request.seat not in {seat for seat, _ in facts.occupants}:
            raise Refused(RefusalKind.MALFORMED, reject("malformed", detail="there is no such seat", field="seat"))
        seat = request.seat if whom == "seat" else WATCHERS
        with _database():
            await self._store.set_mute(facts.match_id, caller.account_id, seat, request.muted, self._now_ms())
            await self._tell(facts.match_id, caller.account_id)
            person = await self._person(caller, facts.match_id)
        return chat_pb2.MuteResponse(rights=self._rights(caller, facts, person))

    # ---- reports ---------------------------------------------------------------------------------------------------

    async def report(self, caller: Caller, request: chat_pb2.ReportRequest) -> chat_pb2.ReportResponse:
        """Shows a message to the moderators.

        Raises:
            Refused: `unknown_message`, `bad_text`, `rate_limited`.
        """
        reason = self._clean(request.reason, self._limits.reason, "reason") if request.reason.strip() else ""
        with _database():
            line = await self._store.get(request.message_id)
            if line is None or line.removed:
                raise Refused(RefusalKind.UNKNOWN, rejection("unknown_message", "There is no such message."))
            if line.account_id == caller.account_id:
                raise Refused(RefusalKind.NOT_NOW, rejection("own_message", "This message is your own."))
            retry_after_ms = self._report_rate.take(caller.account_id)
            if retry_after_ms:
                raise Refused(RefusalKind.BUSY, reject("rate_limited", retry_after_ms=retry_after_ms))
            row = ReportRow(
                secrets.token_urlsafe(12),
                line.message_id,
                line.match_id,
                line.account_id,
                caller.account_id,
                reason,
                self._now_ms(),
                _OPEN,
            )
            await self._store.add_report(row)
        return chat_pb2.ReportResponse()

    async def reports(self, caller: Caller, request: chat_pb2.ListReportsRequest) -> chat_pb2.ListReportsResponse:
        """What was reported: what is open, or everything."""
        default, most = _REPORTS
        limit = min(request.limit or default, most)
        with _database():
            rows = await self._store.reports(None if request.decided else (_OPEN,), limit)
            return chat_pb2.ListReportsResponse(reports=[await self._show_report(row, caller) for row in rows])

    async def decide(self, caller: Caller, request: chat_pb2.DecideReportRequest) -> chat_pb2.DecideReportResponse:
        """Decides a report, and with it all others about the same message.

        Raises:
            Refused: `unknown_report`, `malformed`.
        """
        if request.decision not in _DECISIONS or request.silence_hours > _MAX_SILENCE_H:
            detail = f"a decision is one of three, a silence has at most {_MAX_SILENCE_H} hours"
            raise Refused(RefusalKind.MALFORMED, reject("malformed", detail=detail, field="decision"))
        with _database():
            row = await self._store.report(request.report_id)
            if row is None:
                raise Refused(RefusalKind.UNKNOWN, rejection("unknown_report", "There is no such report."))
            await self._store.decide(row.message_id, request.decision, self._now_ms())
            if request.decision in _UPHELD:
                await self._store.remove(row.message_id)
                await self._tell(row.match_id)
            if request.decision == chat_pb2.REPORT_STATE_SILENCED:
                until_ms = self._now_ms() + (request.silence_hours or 24) * 3600 * 1000
                await self._people.silence(row.author_id, until_ms)
                await self._sessions.changed(row.author_id)
                await self._tell("", row.author_id)
            decided = msgspec.structs.replace(row, state=request.decision)
            shown = await self._show_report(decided, caller)
        _log.info("report_decided", report_id=row.report_id, decision=chat_pb2.ReportState.Name(request.decision))
        return chat_pb2.DecideReportResponse(report=shown)

    async def _show_report(self, row: ReportRow, caller: Caller) -> chat_pb2.ChatReport:
        line = await self._store.get(row.message_id)
        before = await self._store.before(line, _LED_THERE) if line is not None else []
        spoken = [line, *before] if line is not None else []
        accounts = {said.account_id for said in spoken} | ({row.reporter_id} if row.reporter_id else set())
        names = await self._people.names_of(accounts)
        return chat_pb2.ChatReport(
            report_id=row.report_id,
            message=_shown(line, names, caller) if line is not None else None,
            reporter=names.get(row.reporter_id or "", ""),
            reason=row.reason,
            reported_ms=row.reported_ms,
            state=chat_pb2.ReportState.ValueType(row.state),
            before=[_shown(said, names, caller) for said in before],
            earlier=await self._store.upheld(row.author_id, _UPHELD),
        )

    # ---- people who leave, days that pass --------------------------------------------------------------------------

    async def said_by(self, account_id: str) -> list[dict[str, object]]:
        """Everything somebody has said, as plain values."""
        lines = await self._store.of_account(account_id)
        return [{"match_id": line.match_id, "sent_ms": line.sent_ms, "text": line.text} for line in lines]

    async def erased(self, account_id: str) -> None:
        """Somebody is gone, and with it what it said: everybody's screen follows."""
        del account_id
        await self._tell("")

    async def sweep(self) -> None:
        """Deletes what is old. Raises `DatabaseError`."""
        now_ms = self._now_ms()
        await self._store.sweep(
            now_ms - self._limits.kept_days * _DAY_MS, now_ms - self._limits.reports_kept_days * _DAY_MS
        )

    def close(self) -> None:
        """Ends all listening; who listens may connect again elsewhere."""
        self._closed = True
        self._heed(ChatNews(""))

    # ---- helpers ---------------------------------------------------------------------------------------------------

    def _seat(self, caller: Caller, facts: MatchFacts) -> int | None:
        held = facts.seats_of(self._matches.occupant(caller, facts.match_id))
        return held[0] if held else None

    async def _person(self, caller: Caller, match_id: str) -> _Person:
        mutes = await self._store.mutes(match_id, caller.account_id)
        return _Person(mutes, await self._silenced_until(caller))

    async def _silenced_until(self, caller: Caller) -> int:
        # Not from the caller: a stream's may be hours old.
        account = await self._people.get(caller.account_id)
        return account.silenced_until_ms if account is not None else 0

    def _why_not(self, caller: Caller, facts: MatchFacts, silenced_until_ms: int) -> envelope_pb2.Rejection | None:
        """Why the caller may not talk here now."""
        if silenced_until_ms > self._now_ms():
            return rejection("silenced", "A moderator has asked you to be silent for a while.")
        if facts.rated and not facts.over and self._seat(caller, facts) is None:
            # Whoever watches might see more than a player does, and say so.
            return rejection("spectators_are_mute", "In rated matches watchers may talk after the end.")
        return None

    def _rights(self, caller: Caller, facts: MatchFacts, person: _Person) -> chat_pb2.ChatRights:
        why_not = self._why_not(caller, facts, person.silenced_until_ms)
        return chat_pb2.ChatRights(
            may_say=why_not is None,
            why_not=why_not.code if why_not is not None else "",
            muted_seats=sorted(seat for seat in person.mutes if seat != WATCHERS),
            muted_watchers=WATCHERS in person.mutes,
        )

    def _clean(self, text: str, most: int, field: str) -> str:
        """The text as others will see it: one form for what looks the same (NFC), one line, no control characters."""
        clean = " ".join(unicodedata.normalize("NFC", text).split())
        # Marks that turn the direction of writing, or that pile up, are made to harm other people's screens.
        harmless = all(c.isprintable() or c == "\u200d" for c in clean)
        if not 1 <= len(clean) <= most or not harmless or _piles_up(clean):
            sentence = f"Say something of 1 to {most} printable characters."
            raise Refused(RefusalKind.MALFORMED, rejection("bad_text", sentence, field=field))
        return clean

    async def _tell(self, match_id: str, account_id: str = "") -> None:
        news = ChatNews(match_id, account_id)
        self._heed(news)
        await self._news.tell("chat", news)

    def _heed(self, news: ChatNews) -> None:
        rooms = list(self._rooms.values()) if not news.match_id else [self._rooms.get(news.match_id)]
        for room in rooms:
            if room is not None:
                room.wake(news)

    @contextlib.contextmanager
    def _listening(self, match_id: str) -> Iterator[tuple[_Room, asyncio.Event]]:
        room = self._rooms.setdefault(match_id, _Room())
        news = asyncio.Event()
        room.listeners.add(news)
        try:
            yield room, news
        finally:
            room.listeners.discard(news)
            if not room.listeners and self._rooms.get(match_id) is room:
                del self._rooms[match_id]


@contextlib.contextmanager
def _database() -> Iterator[None]:
    """A database that is away is a refusal, not a fault."""
    try:
        yield
    except DatabaseError as error:
        _log.warning("chat_unavailable", why=str(error))
        raise unavailable("The chat cannot be reached now; try again.") from None


def _piles_up(text: str, most: int = 4) -> bool:
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character).startswith("M") else 0
        if marks > most:
            return True
    return False


def _is_muted(line: Line, mutes: frozenset[int]) -> bool:
    return (WATCHERS if line.seat is None else line.seat) in mutes


def _shown(line: Line, names: Mapping[str, str], caller: Caller) -> chat_pb2.ChatMessage:
    message = chat_pb2.ChatMessage(
        message_id=line.message_id,
        match_id=line.match_id,
        name=names.get(line.account_id, ""),
        text=line.text,
        sent_ms=line.sent_ms,
        mine=line.account_id == caller.account_id,
        removed=line.removed,
    )
    if line.seat is not None:
        message.seat = line.seat
    return message

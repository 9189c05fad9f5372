"""What people say beside a match: who may, who hears it, what moderators do, what stays."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

import pytest
import pytest_asyncio

from gateway.appoint import appoint
from gateway.callers import Role
from gateway.chat import ChatLimits
from gateway.service import Gateway
from grimoire.v1 import account_pb2, chat_pb2, match_pb2, play_pb2
from tests.gateway.browser import Browser, RefusedError, guests
from tests.gateway.house import House, house
from tests.gateway.test_accounts import CHEAP, FREE, GOOD

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = ChatLimits(burst=200, per_s=1000, report_burst=50)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    gateway = Gateway(account_limits=FREE, chat_limits=LIMITS, hash_cost=CHEAP)
    async with house(tmp_path_factory.mktemp("house"), gateway) as running:
        yield running


class Talk:
    """A match of two people, and somebody who watches."""

    def __init__(self, match_id: str, browsers: list[Browser], base: str) -> None:
        self.match_id = match_id
        self.seats = browsers[:2]
        self.watcher = browsers[2]
        self.base = base

    async def say(self, browser: Browser, text: str, request_id: bytes = b"") -> chat_pb2.ChatMessage:
        request = chat_pb2.SayRequest(match_id=self.match_id, text=text, request_id=request_id)
        return (await browser.call("chat", "Say", request, chat_pb2.SayResponse)).message

    async def refused(self, browser: Browser, text: str) -> str:
        with pytest.raises(RefusedError) as caught:
            await self.say(browser, text)
        return caught.value.code

    def listen(self, browser: Browser) -> AsyncGenerator[chat_pb2.WatchChatResponse, None]:
        request = chat_pb2.WatchChatRequest(match_id=self.match_id)
        return browser.stream("chat", "WatchChat", request, chat_pb2.WatchChatResponse)

    async def heard(self, browser: Browser) -> list[chat_pb2.ChatMessage]:
        async with aclosing(self.listen(browser)) as stream:
            return list((await anext(stream)).messages)

    async def rights(self, browser: Browser) -> chat_pb2.ChatRights:
        async with aclosing(self.listen(browser)) as stream:
            return (await anext(stream)).rights

    async def mute(self, browser: Browser, *, muted: bool = True, **whom: int | bool) -> chat_pb2.ChatRights:
        request = chat_pb2.MuteRequest(match_id=self.match_id, muted=muted, **whom)  # type: ignore[arg-type]
        return (await browser.call("chat", "Mute", request, chat_pb2.MuteResponse)).rights

    async def report(self, browser: Browser, message: chat_pb2.ChatMessage, reason: str = "") -> None:
        request = chat_pb2.ReportRequest(message_id=message.message_id, reason=reason)
        await browser.call("chat", "Report", request, chat_pb2.ReportResponse)


@asynccontextmanager
async def talking(home: House, *, mode: match_pb2.MatchMode.ValueType | None = None) -> AsyncIterator[Talk]:
    async with guests(home.web, "Aino", "Väinö", "Louhi") as browsers:
        accounts = [(await b.me()).account.account_id for b in browsers]
        match_id = await home.create_for(accounts[:2], **({"mode": mode} if mode else {}))
        yield Talk(match_id, browsers, home.web)


async def test_what_is_said_is_heard_by_all_who_are_there(home: House) -> None:
    async with talking(home) as talk, AsyncExitStack() as stack:
        ears = [await stack.enter_async_context(aclosing(talk.listen(b))) for b in (*talk.seats, talk.watcher)]
        for ear in ears:
            first = await anext(ear)
            assert (first.whole, list(first.messages), first.rights.may_say) == (True, [], True)
        said = await talk.say(talk.seats[1], "  Hei,\n Aino!  ")
        assert (said.text, said.seat, said.name, said.mine) == ("Hei, Aino!", 1, "Väinö", True)
        for ear, mine in zip(ears, (False, True, False), strict=True):
            news = await anext(ear)
            assert not news.whole
            (message,) = news.messages
            assert (message.text, message.seat, message.name, message.mine) == ("Hei, Aino!", 1, "Väinö", mine)
        await talk.say(talk.watcher, "Hello")
        (message,) = (await anext(ears[0])).messages
        assert not message.HasField("seat")
        # Who comes later hears it from the beginning.
        assert [m.text for m in await talk.heard(talk.seats[0])] == ["Hei, Aino!", "Hello"]


async def test_watchers_of_rated_matches_are_silent_until_the_end(home: House) -> None:
    async with talking(home, mode=match_pb2.MATCH_MODE_RATED) as talk:
        assert await talk.refused(talk.watcher, "Play the ruby!") == "spectators_are_mute"
        rights = await talk.rights(talk.watcher)
        assert (rights.may_say, rights.why_not) == (False, "spectators_are_mute")
        await talk.say(talk.seats[0], "Good luck")
        assert [m.text for m in await talk.heard(talk.watcher)] == ["Good luck"]


async def test_nobody_says_what_would_harm_a_screen(home: House) -> None:
    async with talking(home) as talk:
        for text in ("", "   ", "x" * 301, "a\u202eb", "a\x00b", "a" + "\u0301" * 7):
            assert await talk.refused(talk.seats[0], text) == "bad_text", text
        assert (await talk.say(talk.seats[0], "👩‍🚀 <b>&amp;</b>")).text == "👩‍🚀 <b>&amp;</b>"


async def test_saying_it_twice_by_mistake_says_it_once(home: House) -> None:
    async with talking(home) as talk:
        one = await talk.say(talk.seats[0], "Once", request_id=bytes(16))
        two = await talk.say(talk.seats[0], "Once", request_id=bytes(16))
        assert one == two
        # Another person's same id is another's.
        await talk.say(talk.seats[1], "Mine", request_id=bytes(16))
        assert [m.text for m in await talk.heard(talk.watcher)] == ["Once", "Mine"]
        with pytest.raises(RefusedError):
            await talk.say(talk.seats[0], "Once", request_id=b"short")


async def test_one_may_choose_not_to_hear_somebody(home: House) -> None:
    async with talking(home) as talk:
        await talk.say(talk.seats[1], "One")
        async with aclosing(talk.listen(talk.seats[0])) as ear:
            await anext(ear)
            rights = await talk.mute(talk.seats[0], seat=1)
            assert list(rights.muted_seats) == [1]
            assert list((await anext(ear)).rights.muted_seats) == [1]
            await talk.mute(talk.seats[0], watchers=True)
            assert (await anext(ear)).rights.muted_watchers
            await talk.say(talk.seats[1], "Two")
            await talk.say(talk.watcher, "Three")
            await talk.say(talk.seats[0], "Four")
            heard = []
            while "Four" not in heard:
                heard += [m.text for m in (await anext(ear)).messages]
            assert heard == ["Four"]
            await talk.mute(talk.seats[0], seat=1, muted=False)
            assert "Two" in [m.text for m in (await anext(ear)).messages]
        # For nobody else has anything changed.
        assert [m.text for m in await talk.heard(talk.watcher)] == ["One", "Two", "Three", "Four"]
        for wrong in ({}, {"seat": 7}, {"watchers": False}):
            with pytest.raises(RefusedError) as caught:
                await talk.mute(talk.seats[0], **wrong)  # type: ignore[arg-type]
            assert caught.value.code == "malformed"


async def _moderator(home: House, name: str) -> Browser:
    browser = Browser(home.web)
    await browser.sign_up(name, GOOD)
    await appoint(home.config, name, Role.MODERATOR)
    # A session learns of it when it is looked up again.
    await browser.sign_in(name, GOOD)
    assert (await browser.me()).account.role == play_pb2.ROLE_MODERATOR
    return browser


async def _reports(browser: Browser, *, decided: bool = False) -> list[chat_pb2.ChatReport]:
    request = chat_pb2.ListReportsRequest(decided=decided)
    return list((await browser.call("chat", "ListReports", request, chat_pb2.ListReportsResponse)).reports)


async def _decide(browser: Browser, report: chat_pb2.ChatReport, decision: int, hours: int = 0) -> chat_pb2.ChatReport:
    request = chat_pb2.DecideReportRequest(report_id=report.report_id, decision=decision, silence_hours=hours)  # type: ignore[arg-type]
    return (await browser.call("chat", "DecideReport", request, chat_pb2.DecideReportResponse)).report


async def test_a_report_reaches_the_moderators_with_what_led_there(home: House) -> None:
    moderator = await _moderator(home, "Moderaattori")
    async with talking(home) as talk:
        for n in range(7):
            await talk.say(talk.seats[0], f"Line {n}")
        bad = await talk.say(talk.seats[1], "Something rude")
        await talk.report(talk.seats[0], bad, "This was rude")
        await talk.report(talk.seats[0], bad, "This was rude")
        await talk.report(talk.watcher, bad)
        mine = [r for r in await _reports(moderator) if r.message.match_id == talk.match_id]
        assert [r.reason for r in mine] == ["This was rude", ""]
        assert mine[0].message.text == "Something rude"
        assert (mine[0].message.name, mine[0].reporter) == ("Väinö", "Aino")
        assert [m.text for m in mine[0].before] == [f"Line {n}" for n in range(2, 7)]

        async with aclosing(talk.listen(talk.watcher)) as ear:
            await anext(ear)
            decided = await _decide(moderator, mine[0], chat_pb2.REPORT_STATE_REMOVED)
            assert decided.state == chat_pb2.REPORT_STATE_REMOVED
            (gone,) = (await anext(ear)).messages
            assert (gone.message_id, gone.text, gone.removed) == (bad.message_id, "", True)
        # Both reports were about the same message.
        assert not [r for r in await _reports(moderator) if r.message.match_id == talk.match_id]
        assert b"Something rude" not in (home.config.data_dir / "gateway.db").read_bytes()

        again = await talk.say(talk.seats[1], "Rude again")
        await talk.report(talk.seats[0], again)
        (report,) = [r for r in await _reports(moderator) if r.message.match_id == talk.match_id]
        assert report.earlier == 1
        async with aclosing(talk.listen(talk.seats[1])) as ear:
            assert (await anext(ear)).rights.may_say
            await _decide(moderator, report, chat_pb2.REPORT_STATE_SILENCED, hours=2)
            rights = None
            while rights is None:
                news = await anext(ear)
                rights = news.rights if news.HasField("rights") else None
            assert (rights.may_say, rights.why_not) == (False, "silenced")
        assert await talk.refused(talk.seats[1], "But I") == "silenced"
        assert (await talk.seats[1].me()).silenced_until_ms > 0
        # In every other match as well.
        async with talking(home) as other:
            request = chat_pb2.SayRequest(match_id=other.match_id, text="Here then")
            with pytest.raises(RefusedError) as caught:
                await talk.seats[1].call("chat", "Say", request, chat_pb2.SayResponse)
            assert caught.value.code == "silenced"
    await moderator.http.aclose()


async def test_only_moderators_moderate(home: House) -> None:
    async with talking(home) as talk, Browser(home.web) as member:
        await member.sign_up("Jäsen", GOOD)
        for browser in (talk.seats[0], member):
            for call in (
                _reports(browser),
                _decide(browser, chat_pb2.ChatReport(report_id="x"), chat_pb2.REPORT_STATE_REMOVED),
            ):
                with pytest.raises(RefusedError) as caught:
                    await call
                assert caught.value.code == "forbidden"
    moderator = await _moderator(home, "Toinen")
    for decision in (0, chat_pb2.REPORT_STATE_OPEN):
        with pytest.raises(RefusedError) as caught:
            await _decide(moderator, chat_pb2.ChatReport(report_id="x"), decision)
        assert caught.value.code == "malformed"
    with pytest.raises(RefusedError) as caught:
        await _decide(moderator, chat_pb2.ChatReport(report_id="x"), chat_pb2.REPORT_STATE_REMOVED)
    assert caught.value.code == "unknown_report"
    await appoint(home.config, "Toinen", Role.PLAYER)
    await moderator.sign_in("Toinen", GOOD)
    with pytest.raises(RefusedError):
        await _reports(moderator)
    await moderator.http.aclose()
    with pytest.raises(LookupError):
        await appoint(home.config, "Nobody at all", Role.MODERATOR)


async def test_what_cannot_be_reported(home: House) -> None:
    async with talking(home) as talk:
        said = await talk.say(talk.seats[0], "Mine")
        for message, code in ((said, "own_message"), (chat_pb2.ChatMessage(message_id="none"), "unknown_message")):
            with pytest.raises(RefusedError) as caught:
                await talk.report(talk.seats[0], message)
            assert caught.value.code == code
        with pytest.raises(RefusedError) as caught:
            await talk.report(talk.seats[1], said, "x" * 501)
        assert caught.value.code == "bad_text"


async def test_one_person_does_not_fill_a_chat(tmp_path_factory: pytest.TempPathFactory) -> None:
    gateway = Gateway(account_limits=FREE, chat_limits=ChatLimits(burst=2, per_s=0.01, messages=3, report_burst=1))
    async with house(tmp_path_factory.mktemp("house"), gateway) as home, talking(home) as talk:
        said = await talk.say(talk.seats[0], "One")
        await talk.say(talk.seats[0], "Two")
        assert await talk.refused(talk.seats[0], "Three") == "rate_limited"
        await talk.say(talk.seats[1], "Three")
        assert await talk.refused(talk.seats[1], "Four") == "chat_full"
        await talk.report(talk.seats[1], said)
        with pytest.raises(RefusedError) as caught:
            await talk.report(talk.seats[1], await _first(talk))
        assert caught.value.code == "rate_limited"


async def _first(talk: Talk) -> chat_pb2.ChatMessage:
    return (await talk.heard(talk.seats[1]))[1]


async def test_talk_is_deleted_after_its_time(home: House) -> None:
    async with talking(home) as talk:
        await talk.say(talk.seats[0], "Old words")
        await talk.mute(talk.seats[0], seat=1)
        with sqlite3.connect(home.config.data_dir / "gateway.db") as connection:
            connection.execute("UPDATE edge_chat_messages SET sent_ms = 1 WHERE text = 'Old words'")
        await talk.say(talk.seats[0], "New words")
        assert home.gateway.housekeeping is not None
        await home.gateway.housekeeping.sweep()
        assert [m.text for m in await talk.heard(talk.seats[0])] == ["New words"]


async def test_a_chat_of_no_match_is_none(home: House) -> None:
    async with guests(home.web, "Aino") as (browser,):
        for method, request, answer in (
            ("Say", chat_pb2.SayRequest(match_id="0" * 26, text="Hello"), chat_pb2.SayResponse),
            ("Mute", chat_pb2.MuteRequest(match_id="x", watchers=True), chat_pb2.MuteResponse),
        ):
            with pytest.raises(RefusedError) as caught:
                await browser.call("chat", method, request, answer)
            assert caught.value.code == "unknown_match"


async def test_who_is_renamed_is_renamed_here_too(home: House) -> None:
    async with talking(home) as talk:
        await talk.say(talk.seats[0], "Hello")
        rename = account_pb2.RenameRequest(name="Aino the Second")
        await talk.seats[0].call("account", "Rename", rename, account_pb2.RenameResponse)
        assert [m.name for m in await talk.heard(talk.watcher)] == ["Aino the Second"]

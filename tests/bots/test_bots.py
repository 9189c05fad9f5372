"""Bots: invited, seated, playing by their own feed alone, and never in anybody's way."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import AsyncIterator

import psutil
import pytest
import pytest_asyncio

from bots.fallback import first_moves
from bots.service import Bots
from bots.settings import BotSettings
from bots.thinking import Thinkers, ThinkingError
from grimoire.bus import NoOwnerError, RequestTimeoutError, bots_subject
from grimoire.client import Client
from grimoire.plugins import load_game
from grimoire.runtime.config import ConfigError
from grimoire.runtime.identity import new_account_id
from grimoire.v1 import cluster_pb2, frame_pb2, prompt_pb2
from matchmaking.limits import Limits
from matchmaking.service import serve
from tests.bots.playing import play, until
from tests.gateway.house import GAME, House, house, serving
from tests.support.toy import schema as pb

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUICK = BotSettings(pace_ms=0, budget_ms=20, workers=1, overtime_s=0.3)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    # It never looks round: the tests invite to matches that no challenge brought about.
    lobby = functools.partial(serve, limits=Limits(look_round_s=3600))
    folder = tmp_path_factory.mktemp("house")
    async with house(folder, beside={"matchmaking": lobby}, plugin="tests.bots.troubled:PLUGIN") as running:
        yield running


async def invite(home: House, match_id: str, account_id: str, level: str = "well", seat: int = 1) -> bytes:
    invitation = cluster_pb2.BotInvitation(match_id=match_id, game=GAME, seat=seat, account_id=account_id, level=level)
    return await home.host.request(bots_subject(GAME), invitation.SerializeToString(), reply_s=5, responder_s=5)


async def match_with_bot(home: House, client: Client) -> tuple[str, str]:
    bot = new_account_id()
    return await home.create_for([home.identity(client).account_id, bot], bots=[1]), bot


async def test_an_invited_bot_plays_to_the_end_and_gets_up(home: House) -> None:
    bots = Bots(QUICK)
    async with serving(bots, home.config):
        client = await home.client("Aino")
        match_id, account = await match_with_bot(home, client)
        answer = await invite(home, match_id, account)
        assert cluster_pb2.BotAccepted.FromString(answer).instance
        # Asked again, it sits already.
        assert await invite(home, match_id, account) == answer
        assert bots.seats == 1
        async with await client.open_match(match_id) as session, asyncio.timeout(30):
            await play(session)
            assert session.closed is not None
        await until(lambda: bots.seats == 0)
        # Its nonce was the host's: nothing of it is kept, only how far the server's public log was seen.
        kept = [file.name for file in (home.config.data_dir / "bots").iterdir()]
        assert [name for name in kept if not name.endswith(".logbook")] == []
        await client.close()


@pytest.mark.parametrize("trouble", ["raises", "hangs", "dies", "cheats"])
async def test_a_bot_that_fails_plays_the_first_legal_thing(home: House, trouble: str) -> None:
    bots = Bots(QUICK)
    async with serving(bots, home.config):
        client = await home.client("Aino")
        match_id, account = await match_with_bot(home, client)
        await invite(home, match_id, account, trouble)
        async with await client.open_match(match_id) as session, asyncio.timeout(60):
            await play(session)
            assert session.closed is not None
            # Nobody's time ran out: the bot answered every prompt itself.
            assert session.head.status == frame_pb2.MATCH_STATUS_CLOSED
        await until(lambda: bots.seats == 0)
        await client.close()


async def test_a_bot_answers_an_offer_that_its_game_wants_answered(home: House) -> None:
    async with serving(Bots(QUICK), home.config):
        client = await home.client("Aino")
        match_id, account = await match_with_bot(home, client)
        await invite(home, match_id, account, "chants")
        async with await client.open_match(match_id) as session, asyncio.timeout(30):
            async for update in session.updates():
                view = pb.View.FromString(update.snapshot.view)
                if view.seats and view.seats[1].chanted:
                    break
            # It waited for nothing but the person, who has not chosen yet.
            assert view.phase == "choose"
            await play(session)
        await client.close()


async def test_what_a_failing_bot_saw_is_not_told() -> None:
    """Its exception quotes its view; only the place is passed on."""
    from bots import thinking
    from tests.bots.troubled import PLUGIN

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thinking, "load_game", lambda _: PLUGIN)
        failure = thinking.think(GAME, PLUGIN.game.view_type(light=7).SerializeToString(), b"", "raises", b"", 1)
    assert isinstance(failure, thinking.Failure)
    assert failure.error == "RuntimeError"
    assert failure.where.startswith("troubled.py:")
    assert "light" not in repr(failure)


async def test_bots_play_each_other_without_waiting_for_their_pace(home: House) -> None:
    bots = Bots(BotSettings(pace_ms=60_000, budget_ms=20, workers=1))
    async with serving(bots, home.config):
        accounts = [new_account_id(), new_account_id()]
        watcher = await home.client("Eve")
        match_ids = [await home.create_for(accounts, bots=[0, 1]) for _ in range(5)]
        for match_id in match_ids:
            for seat, account in enumerate(accounts):
                await invite(home, match_id, account, seat=seat)
        for match_id in match_ids:
            async with await watcher.open_match(match_id) as session:
                await session.wait_finished(timeout_s=60)
                assert session.closed is not None
        await watcher.close()


async def test_against_people_a_bot_keeps_its_pace(home: House) -> None:
    bots = Bots(BotSettings(pace_ms=200, budget_ms=20, workers=1))
    async with serving(bots, home.config):
        client = await home.client("Aino")
        match_id, account = await match_with_bot(home, client)
        await invite(home, match_id, account)
        async with await client.open_match(match_id) as session, asyncio.timeout(30):
            await session.started()
            opened = session.head.updated_ms
            # Both choose at once; the bot's choice is the only thing that can move the match on now.
            await session.reached(session.version + 1)
            assert session.head.updated_ms - opened >= 200
            await session.resign()
        await client.close()


async def test_a_full_house_does_not_answer_until_a_place_is_free(home: House) -> None:
    bots = Bots(BotSettings(pace_ms=0, budget_ms=20, workers=1, matches=1))
    async with serving(bots, home.config):
        client = await home.client("Aino")
        first, account = await match_with_bot(home, client)
        second, other = await match_with_bot(home, client)
        await invite(home, first, account)
        invitation = cluster_pb2.BotInvitation(match_id=second, game=GAME, seat=1, account_id=other, level="well")
        with pytest.raises((NoOwnerError, RequestTimeoutError)):
            await home.host.request(bots_subject(GAME), invitation.SerializeToString(), reply_s=0.3)
        async with await client.open_match(first) as session, asyncio.timeout(30):
            await play(session)
        assert await invite(home, second, other)
        async with await client.open_match(second) as session, asyncio.timeout(30):
            await play(session)
        await client.close()


async def test_malformed_invitations_are_not_answered_and_harm_nobody(home: House) -> None:
    bots = Bots(QUICK)
    async with serving(bots, home.config):
        client = await home.client("Aino")
        match_id, account = await match_with_bot(home, client)
        other_game = cluster_pb2.BotInvitation(match_id=match_id, game="chess", seat=1, account_id=account)
        await invite(home, match_id, account)
        for data in (b"\xff", b"", other_game.SerializeToString()):
            with pytest.raises(RequestTimeoutError):
                await home.host.request(bots_subject(GAME), data, reply_s=0.1)
        assert bots.seats == 1
        async with await client.open_match(match_id) as session, asyncio.timeout(30):
            await play(session)
        await client.close()


async def test_a_bot_without_that_seat_gets_up_again(home: House) -> None:
    bots = Bots(QUICK)
    async with serving(bots, home.config):
        client = await home.client("Aino")
        match_id, _ = await match_with_bot(home, client)
        await invite(home, match_id, new_account_id())
        await until(lambda: bots.seats == 0)
        await client.close()


async def test_many_bots_think_side_by_side_and_their_processes_end_with_the_service(home: House) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    bots = Bots(BotSettings(pace_ms=0, budget_ms=20, workers=2))
    async with serving(bots, home.config):
        accounts = [new_account_id(), new_account_id()]
        match_ids = [await home.create_for(accounts, bots=[0, 1]) for _ in range(20)]
        for match_id in match_ids:
            for seat, account in enumerate(accounts):
                await invite(home, match_id, account, seat=seat)
        await until(lambda: bots.seats == 0, 60)
        assert {child.pid for child in psutil.Process().children(recursive=True)} - before
    await until(lambda: not {child.pid for child in psutil.Process().children(recursive=True)} - before)


async def test_a_hanging_thought_does_not_keep_the_others_from_thinking(home: House) -> None:
    del home  # the game is installed while it runs
    thinkers = Thinkers(QUICK)
    plugin = load_game(GAME)
    view = plugin.game.view_type().SerializeToString()
    try:
        with pytest.raises(ThinkingError, match="come to an end"):
            await thinkers.move(GAME, view, prompt_pb2.Prompt(prompt_id=1), "hangs")
        prompt = prompt_pb2.Prompt(
            prompt_id=2, legal=[prompt_pb2.LegalEntry(type="let_pass"), prompt_pb2.LegalEntry(type="let_pass")]
        )
        assert (await thinkers.move(GAME, view, prompt, "well")).type == "let_pass"
    finally:
        thinkers.close()


async def test_the_fallback_prefers_complete_entries_and_fills_slots_with_the_least() -> None:
    from tests.support.toy import Toy
    from tests.support.toy import schema as pb

    one = prompt_pb2.Slot(field="rune", one=prompt_pb2.One(candidates=["rune:ash", "rune:dew"]))
    stake = prompt_pb2.Slot(field="stake", number=prompt_pb2.NumberRange(min=2, max=5))
    unknown = prompt_pb2.Slot(field="stake", payment=prompt_pb2.Payment())
    prompt = prompt_pb2.Prompt(
        legal=[
            prompt_pb2.LegalEntry(type="choose_rune", slots=[one]),
            prompt_pb2.LegalEntry(type="counter", slots=[unknown]),
            prompt_pb2.LegalEntry(type="counter", slots=[stake]),
            prompt_pb2.LegalEntry(type="let_pass"),
        ]
    )
    moves = list(first_moves(prompt, Toy.schema))
    assert [m.type for m in moves] == ["let_pass", "choose_rune", "counter"]
    assert pb.ChooseRune.FromString(moves[1].payload).rune == "ash"
    assert pb.Counter.FromString(moves[2].payload).stake == 2
    assert not list(first_moves(prompt_pb2.Prompt(), Toy.schema))


async def test_settings_come_from_the_environment_and_bad_ones_are_named() -> None:
    chosen = BotSettings.from_env({"GRIMOIRE_BOTS_PACE_MS": "0", "GRIMOIRE_BOTS_MATCHES": "7"})
    assert (chosen.pace_ms, chosen.matches, chosen.budget_ms) == (0, 7, BotSettings().budget_ms)
    for bad in ("-1", "x", "1.5", "99999999", "٣"):
        with pytest.raises(ConfigError, match="GRIMOIRE_BOTS_PACE_MS"):
            BotSettings.from_env({"GRIMOIRE_BOTS_PACE_MS": bad})
    assert 1 <= BotSettings().worker_count <= max(1, (os.cpu_count() or 2))

"""The lobby as players meet it: real broker, real stores, a real game service."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import aclosing

import grpc
import pytest

from grimoire.bus import BOTS, Bus, Message, bots_subject
from grimoire.eventstore import open_store
from grimoire.runtime.identity import Identity
from grimoire.runtime.rpc import open_channel
from grimoire.v1 import cluster_pb2, envelope_pb2, match_pb2, matchmaking_pb2
from matchmaking.log import read_log
from matchmaking.servicer import REJECTION_KEY
from tests.matchmaking.house import ADA, BO, EVE, GAME, House, until

OPEN = matchmaking_pb2.CHALLENGE_STATUS_OPEN
MATCHED = matchmaking_pb2.CHALLENGE_STATUS_MATCHED


async def matches_in_the_game(house: House) -> list[str]:
    """Ids of all matches the game has."""
    async with await open_store(house.config.database_url(GAME)) as store:
        return [head.match_id for head in await store.heads(GAME, limit=1000)]


def rejection_of(error: grpc.aio.AioRpcError) -> envelope_pb2.Rejection:
    """What a call without room for a rejection in its answer says in its trailing metadata."""
    trailing = dict(error.trailing_metadata() or ())
    return envelope_pb2.Rejection.FromString(trailing[REJECTION_KEY])


async def test_from_an_open_challenge_to_a_match_and_its_end(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    ada, bo, eve = house.client(ADA), house.client(BO), house.client(EVE)

    challenge = await ada.opened(options={"mode": "duel"}, language="fi")
    assert challenge.status == OPEN
    assert challenge.mode == match_pb2.MATCH_MODE_RATED
    options = {o.name: o for o in challenge.options}
    assert options["mode"].value == "duel"
    assert not options["mode"].is_default
    assert options["rounds"].is_default, "options that nobody named are listed with their defaults"
    assert all(o.label and o.value_label for o in challenge.options)
    assert [(s.name, s.mine) for s in challenge.seats] == [("Ada", True), ("", False)]

    (listed,) = await bo.challenges(game=GAME)
    assert listed.challenge_id == challenge.challenge_id
    assert [s.mine for s in listed.seats] == [False, False]

    joined = (await bo.join(challenge.challenge_id)).challenge
    assert joined.status == MATCHED
    assert [s.name for s in joined.seats] == ["Ada", "Bö Äijö"]
    assert await bo.challenges() == []
    assert await matches_in_the_game(house) == [joined.match_id]
    (running,) = await ada.matches(mine=True)
    assert running.match_id == joined.match_id
    assert await eve.matches(mine=True) == []
    assert [m.match_id for m in await eve.matches(game=GAME)] == [joined.match_id], "anybody may watch"

    await house.play_out(joined.match_id, [ADA.account_id, BO.account_id])

    async def ended() -> bool:
        return await ada.matches(mine=True) == []

    await until(ended)
    (over,) = await bo.matches(mine=True, finished=True)
    assert over.match_id == joined.match_id
    assert over.finished
    assert over.closed.kind == match_pb2.OUTCOME_KIND_WIN
    assert list(over.closed.ranks) == [2, 1]
    assert (await ada.get(challenge.challenge_id)).challenge.status == MATCHED


async def test_what_is_refused_says_why_and_what_to_do(house: House) -> None:
    await house.game.start()
    await house.open_lobby(open_per_account=2)
    ada, bo = house.client(ADA), house.client(BO)

    assert (await ada.create(game="chess")).rejection.code == "unknown_game"
    for options, field in (({"mode": "war"}, "mode"), ({"colour": "red"}, "colour"), ({"rounds": "9"}, "rounds")):
        refusal = (await ada.create(options=options)).rejection
        assert (refusal.code, refusal.field) == ("bad_option", field)
        assert refusal.message
    assert (await ada.create(seats=9)).rejection.field == "seats"
    assert (await ada.create(bots=["expert"])).rejection.field == "bots"
    assert (await ada.create(seats=2, bots=["random", "random"])).rejection.field == "bots"
    assert (await ada.play_bot(level="expert")).rejection.field == "level"
    assert (await ada.create(request_id=b"short")).rejection.code == "malformed"
    assert await ada.challenges() == [], "nothing refused leaves a trace"

    challenge = await ada.opened()
    assert (await ada.join(challenge.challenge_id)).rejection.code == "own_challenge"
    english = (await bo.join("nothing")).rejection
    finnish = (await bo.join("nothing", language="fi-FI")).rejection
    assert (english.code, finnish.code) == ("unknown_challenge", "unknown_challenge")
    assert english.message != finnish.message
    assert (await bo.get("nothing")).rejection.code == "unknown_challenge"
    assert (await bo.cancel(challenge.challenge_id)).rejection.code == "not_your_challenge"

    await ada.opened()
    third = (await ada.create()).rejection
    assert third.code == "too_many_challenges"
    assert "2" in third.message
    assert not (await ada.cancel(challenge.challenge_id)).HasField("rejection")
    assert not (await ada.cancel(challenge.challenge_id)).HasField("rejection"), "twice is once"
    assert (await bo.join(challenge.challenge_id)).rejection.code == "challenge_gone"
    assert (await bo.get(challenge.challenge_id, language="fi")).challenge.reason == "Se peruttiin."
    await ada.opened()


async def test_asking_twice_under_one_id_opens_one_challenge(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    ada = house.client(ADA)
    request_id = secrets.token_bytes(16)
    first, second = await asyncio.gather(
        ada.opened(request_id=request_id, options={"rounds": "1"}),
        ada.opened(request_id=request_id, options={"rounds": "1"}),
    )
    assert first.challenge_id == second.challenge_id
    assert len(await ada.challenges()) == 1
    other = await ada.create(request_id=request_id, options={"rounds": "2"})
    assert other.rejection.code == "command_id_reused"
    theirs = await house.client(BO).opened(request_id=request_id)
    assert theirs.challenge_id != first.challenge_id, "another account's ids are its own"


async def test_fifty_who_join_at_once_make_one_match(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    await house.open_lobby()
    challenge = await house.client(ADA, house.lobbies[0]).opened()
    crowd = [
        house.client(Identity(f"acc-{n}", f"Player {n}"), house.lobbies[n % 2]).join(challenge.challenge_id)
        for n in range(50)
    ]
    replies = await asyncio.gather(*crowd)
    winners = [r.challenge for r in replies if not r.HasField("rejection")]
    assert len(winners) == 1
    assert {r.rejection.code for r in replies if r.HasField("rejection")} == {"challenge_full"}
    settled = await house.client(ADA).settled(challenge.challenge_id)
    assert settled.status == MATCHED
    assert await matches_in_the_game(house) == [settled.match_id]


async def test_joining_twice_quickly_is_joining_once(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    challenge = await house.client(ADA).opened()
    bo = house.client(BO)
    replies = await asyncio.gather(*(bo.join(challenge.challenge_id) for _ in range(5)))
    assert {r.challenge.match_id for r in replies} == {replies[0].challenge.match_id}
    assert len(await matches_in_the_game(house)) == 1


async def test_a_challenge_for_more_than_two_waits_for_all(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    challenge = await house.client(ADA).opened(seats=3)
    assert (await house.client(BO).join(challenge.challenge_id)).challenge.status == OPEN
    assert (await house.client(BO).join(challenge.challenge_id)).challenge.status == OPEN, "still one seat"
    assert (await house.client(EVE).join(challenge.challenge_id)).challenge.status == MATCHED


async def test_a_bot_is_called_until_it_comes(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    ada, platform = house.client(ADA), house.client(None)
    challenge = (await ada.play_bot(level="random", options={"mode": "duel"})).challenge
    assert challenge.status == MATCHED
    assert challenge.mode == match_pb2.MATCH_MODE_CASUAL
    assert [(s.mine, s.bot, s.level) for s in challenge.seats] == [(True, False, ""), (False, True, "random")]
    assert challenge.seats[1].name
    (seat,) = await platform.bot_seats()
    assert (seat.match_id, seat.game, seat.seat, seat.level) == (challenge.match_id, GAME, 1, "random")

    invited: asyncio.Future[cluster_pb2.BotInvitation] = asyncio.get_running_loop().create_future()
    bots = await Bus.connect(house.config.bus_settings(house.keys, BOTS))

    async def answer(message: Message) -> None:
        if not invited.done():
            invited.set_result(cluster_pb2.BotInvitation.FromString(message.data))
        await bots.reply(message, cluster_pb2.BotAccepted(instance="b1").SerializeToString())

    await bots.serve_async(bots_subject(GAME), answer)
    invitation = await asyncio.wait_for(invited, 20)
    assert invitation.account_id == seat.account_id
    assert (invitation.match_id, invitation.seat, invitation.level) == (challenge.match_id, 1, "random")
    await bots.close()

    await house.void(challenge.match_id)

    async def no_seats() -> bool:
        return await platform.bot_seats() == []

    await until(no_seats)


async def test_a_void_match_is_over_too(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    ada = house.client(ADA)
    challenge = (await ada.play_bot(level="random")).challenge
    await house.void(challenge.match_id, "maintenance")

    async def ended() -> list[matchmaking_pb2.MatchSummary]:
        return await ada.matches(mine=True, finished=True)

    (over,) = await until(ended)
    assert over.closed.kind == match_pb2.OUTCOME_KIND_VOID
    assert list(over.closed.reasons) == ["maintenance"]


async def test_open_challenges_expire_and_watchers_see_it(house: House) -> None:
    await house.game.start()
    await house.open_lobby(expires_s=0.3)
    challenge = await house.client(ADA).opened()
    seen = [c.status async for c in house.client(BO).watch(challenge.challenge_id)]
    assert seen == [OPEN, matchmaking_pb2.CHALLENGE_STATUS_EXPIRED]
    assert (await house.client(BO).join(challenge.challenge_id)).rejection.code == "challenge_gone"
    assert await house.client(BO).challenges() == []
    await house.client(ADA).opened()


async def test_watching_goes_from_open_to_matched(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    challenge = await house.client(ADA).opened()
    statuses: list[int] = []
    seen_open = asyncio.Event()

    async def watch() -> None:
        async for c in house.client(ADA).watch(challenge.challenge_id):
            statuses.append(c.status)
            seen_open.set()

    watching = asyncio.create_task(watch())
    await seen_open.wait()
    await house.client(BO).join(challenge.challenge_id)
    await asyncio.wait_for(watching, 20)
    assert statuses[0] == OPEN
    assert statuses[-1] == MATCHED
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await house.client(ADA).settled("nothing")
    assert unknown.value.code() is grpc.StatusCode.NOT_FOUND
    assert rejection_of(unknown.value).code == "unknown_challenge"


async def test_streams_are_counted_and_given_back(house: House) -> None:
    await house.game.start()
    lobby = await house.open_lobby(watches_per_account=1)
    ada = house.client(ADA)
    challenge = await ada.opened()
    stream = ada.watch(challenge.challenge_id)
    assert (await anext(stream)).status == OPEN
    with pytest.raises(grpc.aio.AioRpcError) as too_many:
        await ada.settled(challenge.challenge_id)
    assert too_many.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert rejection_of(too_many.value).code == "too_many_streams"
    await stream.aclose()

    async def again() -> bool:
        async with aclosing(ada.watch(challenge.challenge_id)) as another:
            try:
                return (await anext(another)).status == OPEN
            except grpc.aio.AioRpcError:
                return False

    await until(again)
    watching = house.client(BO).watch(challenge.challenge_id)
    assert (await anext(watching)).status == OPEN
    await lobby.stop()
    with pytest.raises(grpc.aio.AioRpcError) as stopped:
        await anext(watching)
    assert stopped.value.code() is grpc.StatusCode.UNAVAILABLE, "a stop tells its readers to resume elsewhere"


async def test_a_rematch_moves_the_seats_and_counts_the_series(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    ada, bo, eve = house.client(ADA), house.client(BO), house.client(EVE)
    first = await ada.opened(options={"mode": "duel", "rounds": "3"})
    match_id = (await bo.join(first.challenge_id)).challenge.match_id
    assert (await ada.rematch(match_id)).rejection.code == "match_not_over"
    assert (await ada.rematch("nothing")).rejection.code == "unknown_match"
    await house.play_out(match_id, [ADA.account_id, BO.account_id])

    offer = (await ada.rematch(match_id)).challenge
    assert offer.status == OPEN
    assert offer.rematch_of == match_id
    assert [s.name for s in offer.seats] == ["", "Ada"], "seats move by one"
    assert (offer.series.series_id, offer.series.game_no) == (first.series.series_id, 1)
    assert [(o.name, o.value) for o in offer.options] == [(o.name, o.value) for o in first.options]
    assert (await ada.rematch(match_id)).challenge.challenge_id == offer.challenge_id, "asking again changes nothing"

    assert (await eve.rematch(match_id)).rejection.code == "not_a_seat"
    assert (await eve.join(offer.challenge_id)).rejection.code == "not_invited"
    assert await eve.challenges() == [], "an offer is shown to those it is for"
    assert [c.challenge_id for c in await bo.challenges()] == [offer.challenge_id]

    await ada.cancel(offer.challenge_id)
    again = (await bo.rematch(match_id)).challenge
    assert again.challenge_id != offer.challenge_id
    accepted = (await ada.rematch(match_id)).challenge
    assert accepted.status == MATCHED
    assert [s.name for s in accepted.seats] == ["Bö Äijö", "Ada"]
    assert accepted.match_id != match_id


async def test_both_asking_for_a_rematch_at_once_make_one_match(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    await house.open_lobby()
    ada, bo = house.client(ADA, house.lobbies[0]), house.client(BO, house.lobbies[1])
    first = await ada.opened()
    match_id = (await house.client(BO, house.lobbies[0]).join(first.challenge_id)).challenge.match_id
    for game_no in range(1, 6):
        await house.play_out(
            match_id, [ADA.account_id, BO.account_id] if game_no % 2 else [BO.account_id, ADA.account_id]
        )
        both = await asyncio.gather(ada.rematch(match_id), bo.rematch(match_id))
        assert both[0].challenge.challenge_id == both[1].challenge.challenge_id
        settled = await ada.settled(both[0].challenge.challenge_id)
        assert settled.status == MATCHED
        assert settled.series.game_no == game_no
        match_id = settled.match_id
    assert len(await matches_in_the_game(house)) == 6


async def test_a_bot_accepts_a_rematch_at_once(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    ada = house.client(ADA)
    first = (await ada.play_bot(level="random")).challenge
    await house.void(first.match_id)
    again = (await ada.rematch(first.match_id)).challenge
    assert again.status == MATCHED
    assert [(s.mine, s.bot) for s in again.seats] == [(False, True), (True, False)]
    assert (await ada.rematch(first.match_id)).challenge.match_id == again.match_id


async def test_a_rematch_can_come_too_late(house: House) -> None:
    await house.game.start()
    await house.open_lobby(rematch_s=0.001)
    ada = house.client(ADA)
    first = (await ada.play_bot(level="random")).challenge
    await house.void(first.match_id)
    assert (await ada.rematch(first.match_id)).rejection.code == "rematch_too_late"


async def test_too_many_asks_are_slowed_down(house: House) -> None:
    await house.game.start()
    await house.open_lobby(asks_per_s=0.5, asks_at_once=3)
    ada = house.client(ADA)
    replies = [await ada.join("nothing") for _ in range(4)]
    assert [r.rejection.code for r in replies] == ["unknown_challenge"] * 3 + ["rate_limited"]
    assert 0 < replies[-1].rejection.retry_after_ms <= 2000
    assert (await house.client(BO).join("nothing")).rejection.code == "unknown_challenge"


async def test_the_lobby_and_its_matches_have_bounds(house: House) -> None:
    await house.game.start()
    await house.open_lobby(open_total=2, matches_per_account=1)
    ada, bo, eve = house.client(ADA), house.client(BO), house.client(EVE)
    first = await ada.opened()
    await bo.opened()
    full = (await eve.create()).rejection
    assert full.code == "overloaded"
    assert full.retry_after_ms
    await eve.join(first.challenge_id)
    assert (await eve.play_bot(level="random")).rejection.code == "too_many_matches"


async def test_nobody_is_believed_without_the_service_token(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    forged = house.client(ADA)
    channel = open_channel(house.lobbies[0].address, token=None)
    stranger = type(forged)(channel, ADA)
    for attempt in (stranger.create(), stranger.matches(mine=True), stranger.settled("x"), stranger.forget("acc-bo")):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await attempt
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    await channel.close()
    with pytest.raises(grpc.aio.AioRpcError) as anonymous:
        await house.client(None).create()
    assert anonymous.value.code() is grpc.StatusCode.UNAUTHENTICATED
    for attempt in (forged.bot_seats(), forged.forget("acc-bo")):
        with pytest.raises(grpc.aio.AioRpcError) as forbidden:
            await attempt
        assert forbidden.value.code() is grpc.StatusCode.PERMISSION_DENIED


async def test_erasing_a_name_changes_no_log(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    challenge = await house.client(ADA).opened()
    bo = house.client(BO)
    await bo.join(challenge.challenge_id)
    url = house.config.database_url("matchmaking")
    async with await open_store(url) as store:
        before = await store.read(challenge.challenge_id)
    await house.client(None).forget(ADA.account_id)
    (running,) = await bo.matches(mine=True)
    assert [s.name for s in running.seats] == ["Former player", "Bö Äijö"]
    async with await open_store(url) as store:
        after = await store.read(challenge.challenge_id)
    assert after == before
    record = read_log(after)
    assert record is not None
    assert not any(b"Ada" in entry.public or "Äijö".encode() in entry.public for entry in after)

"""Quick play as players meet it: real broker, real stores, a real game service."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from prometheus_client import CollectorRegistry

from grimoire.eventstore import open_store
from grimoire.plugins import load_game
from grimoire.quickplay import POLICY, Policy
from grimoire.runtime.identity import Identity
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import match_pb2, quickplay_pb2
from tests.matchmaking.conftest import house_on
from tests.matchmaking.house import ADA, BO, EVE, GAME, Client, House, Running, until

WAITING = quickplay_pb2.TICKET_STATUS_WAITING
MATCHED = quickplay_pb2.TICKET_STATUS_MATCHED
CANCELLED = quickplay_pb2.TICKET_STATUS_CANCELLED
EXPIRED = quickplay_pb2.TICKET_STATUS_EXPIRED
NOT_READY = quickplay_pb2.TICKET_STATUS_NOT_READY
RATED, CASUAL = match_pb2.MATCH_MODE_RATED, match_pb2.MATCH_MODE_CASUAL

QUICK = Policy(pass_every_s=0.02)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
async def house(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    """Broker and configuration. What differs between databases is tried on the tables themselves (`test_queues.py`)."""
    async with house_on(request.param, tmp_path, monkeypatch) as opened:
        yield opened


async def lobby(house: House, policy: Policy = QUICK, **limits: object) -> Running:
    """The game and an instance of matchmaking that forms matches often."""
    if not house.lobbies:
        await house.game.start()
    return await house.open_lobby(policy=policy, news_s=0.5, **limits)


async def matches_in_the_game(house: House) -> list[str]:
    async with await open_store(house.config.database_url(GAME)) as store:
        return [head.match_id for head in await store.heads(GAME, limit=1000)]


async def all_ready(*clients_and_tickets: tuple[Client, quickplay_pb2.Ticket]) -> list[quickplay_pb2.Ticket]:
    """Everybody says ready; the tickets once their match exists."""

    async def one(client: Client, ticket: quickplay_pb2.Ticket) -> quickplay_pb2.Ticket:
        check = await client.asked(ticket.ticket_id)
        reply = await client.answer(check.check_id)
        assert not reply.HasField("rejection"), reply.rejection
        return await client.ticket_that(ticket.ticket_id, lambda now: now.match_id)

    return list(await asyncio.gather(*(one(client, ticket) for client, ticket in clients_and_tickets)))


def count(registry: CollectorRegistry, name: str, **labels: str) -> float:
    return registry.get_sample_value(f"grimoire_{name}_total", {"game": GAME, **labels}) or 0


async def test_who_leaves_too_late_is_told_so(house: House) -> None:
    await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    mine, _ = await ada.entered(options={"mode": "duel"}), await bo.entered(options={"mode": "duel"})
    check = await ada.asked(mine.ticket_id)
    await ada.answer(check.check_id)
    left, _ = await asyncio.gather(ada.leave(mine.ticket_id), bo.answer(check.check_id))
    matched = (await ada.ticket(mine.ticket_id)).ticket.status == MATCHED
    assert left.rejection.code == ("ticket_gone" if matched else "")


async def test_from_two_tickets_to_a_rated_match_and_its_ratings(house: House) -> None:
    await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    before = {what: count(METRICS.registry, "quickplay_tickets", what=what) for what in ("entered", "matched")}

    mine = await ada.entered(options={"mode": "duel"})
    assert mine.status == WAITING
    assert mine.mode == RATED
    assert mine.window.points >= POLICY.first_window
    assert [(m.name, m.mine, m.rating.points, m.rating.provisional) for m in mine.members] == [
        ("Ada", True, 1500, True)
    ]
    assert {o.name: o.value for o in mine.options}["mode"] == "duel"
    assert (await ada.ticket()).ticket.ticket_id == mine.ticket_id, "after a reload the search is still there"

    theirs = await bo.entered(options={"mode": "duel"})
    check = await ada.asked(mine.ticket_id)
    assert sorted((s.name, s.mine, s.ready) for s in check.seats) == [("Ada", True, False), ("Bö Äijö", False, False)]
    assert all(s.rating.points == 1500 for s in check.seats)
    assert await matches_in_the_game(house) == [], "nothing is created before all are ready"

    half = (await ada.answer(check.check_id)).ticket
    assert sorted((s.mine, s.ready) for s in half.ready_check.seats) == [(False, False), (True, True)]
    assert (await bo.answer(check.check_id)).ticket.status == MATCHED
    done = await ada.ticket_that(mine.ticket_id, lambda ticket: ticket.match_id)
    assert done.match_id == (await bo.ticket_that(theirs.ticket_id, lambda ticket: ticket.match_id)).match_id
    assert await matches_in_the_game(house) == [done.match_id]
    challenge = (await ada.get(done.challenge_id)).challenge
    assert challenge.mode == RATED
    assert (await ada.ticket()).rejection.code == "not_searching"
    for what, was in before.items():
        assert count(METRICS.registry, "quickplay_tickets", what=what) == was + 2

    seats = [ADA if seat.mine else BO for seat in challenge.seats]
    await house.play_out(done.match_id, [who.account_id for who in seats])
    winner = house.client(seats[1])
    rating = (await until(winner.ratings))[GAME]
    assert rating.points > 1500
    assert rating.matches == 1
    assert rating.provisional
    (change,) = await winner.rating_changes()
    assert (change.match_id, change.rank, change.before.points, change.seat) == (done.match_id, 1, 1500, 1)
    assert change.after == rating
    (over,) = await until(lambda: ada.matches(mine=True, finished=True))
    assert over.mode == RATED
    assert [c.rank for c in over.rating_changes] == [2, 1]
    assert sum(c.after.points - c.before.points for c in over.rating_changes) == 0, "equals gain what equals lose"
    again = await winner.entered()
    assert again.members[0].rating == rating


async def test_declining_costs_the_decliner_only(house: House) -> None:
    await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    mine, theirs = await ada.entered(), await bo.entered()
    check = await bo.asked(theirs.ticket_id)
    failed = count(METRICS.registry, "quickplay_ready_checks", what="failed")
    assert (await bo.answer(check.check_id, ready=False)).ticket.status == NOT_READY
    back = await ada.ticket_that(mine.ticket_id, lambda ticket: ticket.status == WAITING and ticket.generation > 1)
    assert back.since_ms == mine.since_ms, "no waiting is lost"
    assert not back.HasField("ready_check")
    assert (await ada.answer(check.check_id)).rejection.code == "ready_check_over"
    assert (await bo.answer(check.check_id, ready=False)).ticket.status == NOT_READY, "twice is once"
    assert count(METRICS.registry, "quickplay_ready_checks", what="failed") == failed + 1
    eve = house.client(EVE)
    done = await all_ready((ada, back), (eve, await eve.entered()))
    assert done[0].match_id == done[1].match_id


async def test_silence_costs_the_silent_only(house: House) -> None:
    await lobby(house, Policy(pass_every_s=0.02, ready_s=4.0))
    ada, bo = house.client(ADA), house.client(BO)
    mine, theirs = await ada.entered(), await bo.entered()
    await ada.answer((await ada.asked(mine.ticket_id)).check_id)
    back = await ada.ticket_that(mine.ticket_id, lambda ticket: ticket.status == WAITING and ticket.generation > 1)
    assert back.since_ms == mine.since_ms
    gone = await bo.ticket_that(theirs.ticket_id, lambda ticket: ticket.status == NOT_READY)
    assert gone.ready_check.check_id == ""
    assert (await bo.ticket()).rejection.code == "not_searching"


async def test_leaving_and_running_out(house: House) -> None:
    await lobby(house, Policy(pass_every_s=0.02, ticket_s=4.0))
    ada, bo = house.client(ADA), house.client(BO)
    cancelled, expired = (count(METRICS.registry, "quickplay_tickets", what=w) for w in ("cancelled", "expired"))
    mine = await ada.entered()
    assert (await bo.leave(mine.ticket_id)).rejection.code == "unknown_ticket", "it is nobody else's business"
    assert (await bo.ticket(mine.ticket_id)).rejection.code == "unknown_ticket"
    assert not (await ada.leave(mine.ticket_id)).HasField("rejection")
    assert not (await ada.leave(mine.ticket_id)).HasField("rejection"), "twice is once"
    assert [t.status async for t in ada.watch_ticket(mine.ticket_id)] == [CANCELLED]
    again = await ada.entered()
    seen = [t.status async for t in ada.watch_ticket(again.ticket_id)]
    assert seen[0] == WAITING
    assert seen[-1] == EXPIRED
    assert (await ada.leave(again.ticket_id)).rejection.code == "ticket_gone"
    assert count(METRICS.registry, "quickplay_tickets", what="cancelled") == cancelled + 1
    assert count(METRICS.registry, "quickplay_tickets", what="expired") == expired + 1
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await anext(bo.watch_ticket(again.ticket_id))
    assert unknown.value.code() is grpc.StatusCode.NOT_FOUND


async def test_leaving_during_a_ready_check_declines_it(house: House) -> None:
    await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    mine, theirs = await ada.entered(), await bo.entered()
    await ada.asked(mine.ticket_id)
    assert not (await ada.leave(mine.ticket_id)).HasField("rejection")
    assert (await ada.ticket(mine.ticket_id)).ticket.status == NOT_READY
    assert (await bo.ticket(theirs.ticket_id)).ticket.status == WAITING


async def test_an_account_waits_once(house: House) -> None:
    await lobby(house)
    await lobby(house)
    ada, elsewhere = house.client(ADA, house.lobbies[0]), house.client(ADA, house.lobbies[1])
    known = count(METRICS.registry, "quickplay_tickets", what="deduplicated")
    request_id = secrets.token_bytes(16)
    tickets = await asyncio.gather(
        ada.entered(request_id=request_id), elsewhere.entered(request_id=request_id), elsewhere.entered(), ada.entered()
    )
    assert len({ticket.ticket_id for ticket in tickets}) == 1
    assert count(METRICS.registry, "quickplay_tickets", what="deduplicated") == known + 3
    refused = (await elsewhere.enter(options={"rounds": "1"})).rejection
    assert refused.code == "already_searching"
    assert "Ada" in refused.message
    assert not (await elsewhere.leave(tickets[0].ticket_id)).HasField("rejection")
    assert (await elsewhere.entered(options={"rounds": "1"})).ticket_id != tickets[0].ticket_id


async def test_what_is_refused_says_why(house: House) -> None:
    await lobby(house)
    ada = house.client(ADA)
    program = house.client(Identity("acc-program", "Program", bot=True))
    assert (await program.enter()).rejection.code == "people_only"
    assert (await program.make_party()).rejection.code == "people_only"
    assert (await ada.enter(game="chess")).rejection.code == "unknown_game"
    for wrong, field in (
        ({"options": {"mode": "war"}}, "mode"),
        ({"preset": "blitz"}, "preset"),
        ({"preset": "short", "options": {"rounds": "1"}}, "preset"),
        ({"seats": 9}, "seats"),
        ({"mode": match_pb2.MATCH_MODE_ANALYSIS}, "mode"),
    ):
        refusal = (await ada.enter(**wrong)).rejection
        assert (refusal.code, refusal.field) == ("bad_option", field)
        assert refusal.message
    assert (await ada.enter(request_id=b"x")).rejection.code == "malformed"
    assert (await ada.enter(party_id="nothing")).rejection.code == "unknown_party"
    assert (await ada.answer("nothing")).rejection.code == "unknown_ready_check"
    assert (await ada.leave("nothing")).rejection.code == "unknown_ticket"
    assert (await ada.join_party("nothing")).rejection.code == "unknown_party"
    assert (await ada.queues()).queues[0].waiting == 0


async def test_queues_are_apart_and_listed_with_the_policy(house: House) -> None:
    await lobby(house)
    ada, bo, eve = house.client(ADA), house.client(BO), house.client(EVE)
    await ada.entered(preset="short")
    await bo.entered(mode=CASUAL)
    third = await eve.entered(seats=3)
    listed = await eve.queues(game=GAME)
    assert [(q.preset, q.waiting) for q in listed.queues][:2] == [("short", 1), ("normal", 0)]
    assert all(q.name and q.options for q in listed.queues if q.preset)
    assert {(q.mode, q.seats, q.waiting) for q in listed.queues if not q.preset} == {(CASUAL, 2, 1), (RATED, 3, 1)}
    policy = listed.policy
    assert (policy.first_window_points, policy.points_per_s, policy.anyone_after_s) == (100, 10, 60)
    assert (policy.pass_every_ms, policy.ready_s) == (20, 30)
    await ada.leave((await ada.ticket()).ticket.ticket_id)
    same = await ada.entered(options={"choose_s": "10", "react_s": "5"})
    assert (await eve.queues(game=GAME)).queues[0].waiting == 1, "the same options are the same queue"
    assert same.preset == ""
    assert (await eve.ticket(third.ticket_id)).ticket.status == WAITING


async def test_ratings_far_apart_wait_for_wider_windows(house: House) -> None:
    await lobby(house, Policy(pass_every_s=0.02, first_window=0, points_per_s=10, anyone_after_s=5.0))
    ada, bo, eve = house.client(ADA), house.client(BO), house.client(EVE)
    await rated_match(house, ADA, BO)
    assert (await ada.ratings())[GAME].points != (await bo.ratings())[GAME].points
    mine, theirs = await ada.entered(), await bo.entered()
    narrow = await ada.ticket_that(mine.ticket_id, lambda ticket: True)
    assert not narrow.window.anyone
    await ada.asked(mine.ticket_id)
    both = [(await who.ticket(t.ticket_id)).ticket for who, t in ((ada, mine), (bo, theirs))]
    assert all(ticket.HasField("ready_check") for ticket in both), "after a while anybody will do"
    assert (await eve.ticket()).rejection.code == "not_searching"


async def rated_match(house: House, loser: Identity, winner: Identity) -> str:
    """A whole rated challenge, played and counted."""
    client = house.client(loser)
    games = len(await client.rating_changes())
    challenge = await client.opened(options={"mode": "duel"})
    match_id = (await house.client(winner).join(challenge.challenge_id)).challenge.match_id
    await house.play_out(match_id, [loser.account_id, winner.account_id])

    async def counted() -> bool:
        return len(await client.rating_changes()) == games + 1

    await until(counted)
    return match_id


# ---- parties -------------------------------------------------------------------------------------------------------


async def test_friends_who_fill_a_match_play_each_other_at_once_and_unrated(house: House) -> None:
    await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    party = (await ada.make_party()).party
    assert [(m.name, m.mine) for m in party.members] == [("Ada", True)]
    watching = bo.watch_party(party.party_id)
    assert len((await anext(watching)).members) == 1
    assert len((await bo.join_party(party.party_id)).party.members) == 2
    assert [m.name for m in (await anext(watching)).members] == ["Ada", "Bö Äijö"]
    assert (await bo.enter(party_id=party.party_id)).rejection.code == "not_party_owner"
    assert (await ada.enter(party_id=party.party_id, mode=RATED)).rejection.field == "mode"
    ticket = await ada.entered(party_id=party.party_id)
    assert ticket.mode == CASUAL
    assert [m.name for m in ticket.members] == ["Ada", "Bö Äijö"]
    assert (await anext(watching)).ticket_id == ticket.ticket_id, "who waits for the leader sees it"
    done = await all_ready((ada, ticket), (bo, ticket))
    challenge = (await ada.get(done[0].challenge_id)).challenge
    assert challenge.mode == CASUAL
    assert sorted(s.name for s in challenge.seats) == ["Ada", "Bö Äijö"]
    await watching.aclose()


async def test_a_party_is_left_broken_up_and_bounded(house: House) -> None:
    await lobby(house)
    ada, bo, eve = house.client(ADA), house.client(BO), house.client(EVE)
    request_id = secrets.token_bytes(16)
    party = (await ada.make_party(request_id=request_id)).party
    assert (await ada.make_party(request_id=request_id)).party.party_id == party.party_id
    for account in range(4):
        friend = house.client(Identity(f"acc-{account}", f"Friend {account}"))
        assert not (await friend.join_party(party.party_id)).HasField("rejection")
    full = (await bo.join_party(party.party_id)).rejection
    assert full.code == "party_full"
    assert "5" in full.message
    assert (await ada.enter(party_id=party.party_id)).rejection.code == "party_too_large"
    ticket = await ada.entered(party_id=party.party_id, seats=5, options={"rounds": "1"})
    assert (await eve.join_party(party.party_id)).rejection.code == "party_searching"
    friend = house.client(Identity("acc-1", "Friend 1"))
    assert (await friend.enter()).rejection.code == "already_searching"
    assert (await friend.make_party()).rejection.code == "already_searching"
    elsewhere = (await bo.make_party()).party
    assert (await friend.join_party(elsewhere.party_id)).rejection.code == "already_searching"
    await friend.leave_party(party.party_id)
    await ada.ticket_that(ticket.ticket_id, lambda now: now.status in (CANCELLED, NOT_READY))
    assert not (await friend.leave_party(party.party_id)).HasField("rejection"), "twice is once"
    await ada.leave_party(party.party_id)
    assert (await bo.join_party(party.party_id)).rejection.code == "unknown_party"
    another = (await ada.make_party()).party
    seen = []
    async for shown in bo.watch_party(another.party_id):
        if not seen:
            await ada.leave_party(another.party_id)
        seen.append(shown.gone)
    assert seen == [False, True]


async def test_a_party_and_others_fill_a_larger_match_as_they_fit(house: House) -> None:
    await lobby(house)
    ada, bo, eve, dag = (house.client(who) for who in (ADA, BO, EVE, Identity("acc-dag", "Dag")))
    party = (await ada.make_party()).party
    await bo.join_party(party.party_id)
    wish = {"seats": 4, "mode": CASUAL}
    ticket = await ada.entered(party_id=party.party_id, seats=4)
    others = [await eve.entered(**wish), await dag.entered(**wish)]
    done = await all_ready((ada, ticket), (bo, ticket), (eve, others[0]), (dag, others[1]))
    assert len({t.match_id for t in done}) == 1
    names = [s.name for s in (await ada.get(done[0].challenge_id)).challenge.seats]
    assert sorted(names) == ["Ada", "Bö Äijö", "Dag", "Eve"]
    assert abs(names.index("Ada") - names.index("Bö Äijö")) == 1


async def test_friends_who_play_together_may_be_rated(house: House) -> None:
    await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    party = (await ada.make_party()).party
    await bo.join_party(party.party_id)
    ticket = await ada.entered(party_id=party.party_id, options={"mode": "party"})
    assert ticket.mode == RATED
    done = await all_ready((ada, ticket), (bo, ticket))
    challenge = (await ada.get(done[0].challenge_id)).challenge
    assert (challenge.mode, challenge.leaving, challenge.grace_s) == (RATED, match_pb2.LEAVING_VOTED, 60)


async def test_five_strangers_and_one_alone_find_their_seats(house: House) -> None:
    await lobby(house)
    people = [Identity(f"acc-{n}", f"Player {n}") for n in range(6)]
    clients = [house.client(who) for who in people]
    wishes = [{"seats": 5, "options": {"mode": "melee", "rounds": "1"}}] * 5 + [{"seats": 1}]
    tickets = await asyncio.gather(*(c.entered(**wish) for c, wish in zip(clients, wishes, strict=True)))
    done = await all_ready(*zip(clients, tickets, strict=True))
    assert [len({t.match_id for t in group}) for group in (done[:5], done[5:])] == [1, 1]
    challenge = (await clients[0].get(done[0].challenge_id)).challenge
    assert sorted(seat.name for seat in challenge.seats) == [who.name for who in people[:5]]
    assert challenge.leaving == match_pb2.LEAVING_REPLACED


async def test_a_game_says_for_how_many_seats_people_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_game.cache_clear()
    async with house_on("sqlite", tmp_path, monkeypatch, "tests.support.toy:MANY") as house:
        await lobby(house)
        ada = house.client(ADA)
        queues = (await ada.queues(game=GAME)).queues
        assert [(q.preset, q.seats) for q in queues] == [("short", 3), ("short", 5), ("normal", 3), ("normal", 5)]
        refused = (await ada.enter(seats=4)).rejection
        assert (refused.code, refused.field) == ("bad_option", "seats")
        assert "3, 5" in refused.message
        tickets = [await house.client(who).entered() for who in (ADA, BO, EVE)]
        assert [t.seats for t in tickets] == [3] * 3
        done = await all_ready(*zip(map(house.client, (ADA, BO, EVE)), tickets, strict=True))
        assert len({t.match_id for t in done}) == 1
    load_game.cache_clear()


# ---- several instances ---------------------------------------------------------------------------------------------


async def test_a_crowd_at_two_instances_is_matched_once_each(house: House) -> None:
    await lobby(house, lease_s=0.05)
    await lobby(house, lease_s=0.05)
    people = [Identity(f"acc-{n}", f"Player {n}") for n in range(12)]
    clients = [house.client(who, house.lobbies[n % 2]) for n, who in enumerate(people)]
    tickets = await asyncio.gather(*(client.entered() for client in clients))
    done = await all_ready(*zip(clients, tickets, strict=True))
    by_match = {key: len(list(group)) for key, group in itertools.groupby(sorted(t.match_id for t in done))}
    assert set(by_match.values()) == {2}
    assert sorted(await matches_in_the_game(house)) == sorted(by_match)


async def test_a_search_survives_the_instance_it_began_at(house: House) -> None:
    first = await lobby(house, lease_s=0.2)
    second = await lobby(house, lease_s=0.2, others_s=0.1)
    ada, bo = house.client(ADA, first), house.client(BO, first)
    mine, theirs = await ada.entered(), await bo.entered()
    check = await ada.asked(mine.ticket_id)
    await ada.answer(check.check_id)
    await first.crash()
    bo = house.client(BO, second)
    assert (await bo.ticket(theirs.ticket_id)).ticket.ready_check.check_id == check.check_id
    await bo.answer(check.check_id)
    done = await bo.ticket_that(theirs.ticket_id, lambda ticket: ticket.match_id)
    assert await matches_in_the_game(house) == [done.match_id]


async def test_a_restart_takes_up_whoever_waits(house: House) -> None:
    first = await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    mine = await ada.entered(options={"rounds": "1"})
    watching = ada.watch_ticket(mine.ticket_id)
    await anext(watching)
    await first.stop()
    with pytest.raises(grpc.aio.AioRpcError) as stopped:
        await anext(watching)
    assert stopped.value.code() is grpc.StatusCode.UNAVAILABLE, "a stop tells its readers to resume elsewhere"
    await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    done = await all_ready((ada, mine), (bo, await bo.entered(options={"rounds": "1"})))
    assert len({ticket.match_id for ticket in done}) == 1


# ---- ratings -------------------------------------------------------------------------------------------------------


async def test_only_rated_matches_between_people_count(house: House) -> None:
    await lobby(house)
    ada, bo = house.client(ADA), house.client(BO)
    assert (await ada.create(mode=RATED, bots=["random"])).rejection.field == "mode"
    assert (await ada.create(mode=match_pb2.MATCH_MODE_ANALYSIS)).rejection.field == "mode"
    casual = await ada.opened(mode=CASUAL, options={"mode": "duel"})
    assert casual.mode == CASUAL
    match_id = (await bo.join(casual.challenge_id)).challenge.match_id
    await house.play_out(match_id, [ADA.account_id, BO.account_id])
    void = await ada.opened(options={"mode": "duel"})
    await house.void((await bo.join(void.challenge_id)).challenge.match_id)
    together = await ada.opened(options={"mode": "coop"}, mode=CASUAL)
    await house.play_out((await bo.join(together.challenge_id)).challenge.match_id, [ADA.account_id, BO.account_id])
    against_bot = (await ada.play_bot(level="random", options={"mode": "duel"})).challenge
    await house.void(against_bot.match_id)

    async def all_over() -> bool:
        return len(await ada.matches(mine=True, finished=True)) == 4

    await until(all_over)
    assert await ada.ratings() == {}
    rematch = (await ada.rematch(match_id)).challenge
    assert rematch.mode == CASUAL, "a rematch stays what the match was"
    rated = await rated_match(house, ADA, BO)
    assert [c.match_id for c in await bo.rating_changes()] == [rated]
    assert set(await bo.ratings()) == {GAME}
    shown = (await bo.get((await ada.opened()).challenge_id)).challenge
    assert shown.seats[0].rating == (await ada.ratings())[GAME], "a challenge shows how strong its host is"


async def test_a_match_counts_once_however_many_hear_of_it(house: House) -> None:
    await lobby(house)
    await lobby(house)
    for n in range(3):
        house_client = house.client(ADA, house.lobbies[n % 2])
        challenge = await house_client.opened(options={"mode": "duel"})
        match_id = (await house.client(BO).join(challenge.challenge_id)).challenge.match_id
        await house.play_out(match_id, [ADA.account_id, BO.account_id])
        await asyncio.gather(*(house.client(ADA, lobby).rematch(match_id) for lobby in house.lobbies))
    ada = house.client(ADA)

    async def three() -> bool:
        return len(await ada.rating_changes()) == 3

    await until(three)
    changes = await ada.rating_changes()
    assert [c.after.matches for c in changes] == [3, 2, 1], "newest first"
    for later, earlier in itertools.pairwise(changes):
        assert later.before == earlier.after, "no change is lost and none comes twice"
    assert len(await ada.rating_changes(limit=2)) == 2


async def test_nobody_else_may_ask(house: House) -> None:
    await lobby(house)
    nobody = house.client(None)
    for attempt in (nobody.enter(), nobody.ticket(), nobody.queues(), nobody.ratings(), nobody.leaderboard()):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await attempt
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED

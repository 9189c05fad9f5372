"""The tables of quick play under many hands, on each kind of database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from grimoire.v1 import match_pb2
from matchmaking.challenge import Stage
from matchmaking.tickets import CheckStage, Queue, TicketStage
from tests.matchmaking.queues import POLICY, Instance, assert_sound, books, fresh_queue, fresh_ticket, instances
from tests.support.postgres import shared_server

READY_MS = int(POLICY.ready_s * 1000)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return shared_server().create_database() if request.param == "postgresql" else f"sqlite:///{tmp_path / 'mm.db'}"


async def all_ready(instance: Instance, check_id: str) -> None:
    check = await instance.ready.get(check_id)
    assert check is not None
    for seat in check.seats:
        await instance.answer(check_id, seat.account_id, ready=True)


# ---- two matchmakers -----------------------------------------------------------------------------------------------

Step = tuple[str, int, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["enter", "enter", "enter", "form", "leave", "ready", "ready", "decline"]),
        st.integers(0, 7),
        st.integers(0, 2),
    ),
    min_size=4,
    max_size=40,
)


def at_once(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        phases=[Phase.explicit, Phase.generate],  # what runs at once cannot be shrunk
    )


crowds = given(rounds=st.lists(steps, min_size=1, max_size=3), seats=st.sampled_from([2, 2, 3]))


@at_once(6)
@crowds
def test_no_ticket_is_in_two_matches_whoever_forms_them_at_once(url: str, rounds: list[list[Step]], seats: int) -> None:
    asyncio.run(play_at_once(url, rounds, seats))


@pytest.mark.slow
@pytest.mark.timeout(600)
@at_once(150)
@crowds
def test_no_ticket_is_in_two_matches_long(url: str, rounds: list[list[Step]], seats: int) -> None:
    asyncio.run(play_at_once(url, rounds, seats))


async def play_at_once(url: str, rounds: list[list[Step]], seats: int) -> None:
    """Three matchmakers that all believe to be the only one, and people who do anything at the same time."""
    queue = fresh_queue(seats)
    async with instances(url, 3, lease_s=0.0) as many:
        for number, steps_at_once in enumerate(rounds):
            for instance in many:
                instance.now_ms = number * READY_MS
            await asyncio.gather(*(do(many, queue, step) for step in steps_at_once))
            await asyncio.gather(do(many, queue, ("form", 0, 0)), do(many, queue, ("ready", 0, 1)))
        for instance in many:
            instance.now_ms += READY_MS
        await asyncio.gather(*(instance.assigner.form(queue.queue_id) for instance in many))
        await many[0].assigner.form(queue.queue_id)
        for instance in many:
            await instance.rest()
        challenges = await assert_sound(many[0], queue)
        assert all(challenge.stage is Stage.FULL for challenge in challenges)


async def do(many: list[Instance], queue: Queue, step: Step) -> None:
    """One thing that somebody does, at one of the instances."""
    what, who, where = step
    instance, account_id = many[where], f"{queue.queue_id[:6]}-{who}"
    if what == "enter":
        rating = 1500 + 60 * who
        await instance.book.enter(fresh_ticket(queue, account_id, since_ms=instance.now_ms, rating=rating))
        return
    if what == "form":
        await asyncio.gather(*(each.assigner.form(queue.queue_id) for each in many))
        return
    ticket = await instance.book.of_account(account_id)
    if ticket is not None and ticket.check is not None:
        await instance.answer(ticket.check.check_id, account_id, ready=what == "ready")
    elif ticket is not None and what == "leave":
        await instance.book.leave(ticket.ticket_id, instance.now_ms)


async def test_one_crowd_two_matchmakers_every_ticket_once(url: str) -> None:
    queue = fresh_queue()
    async with instances(url, 2, lease_s=0.0) as (first, second):
        for number in range(60):
            await first.book.enter(fresh_ticket(queue, f"p{number}", rating=1500 + number))
        await asyncio.gather(first.assigner.form(queue.queue_id), second.assigner.form(queue.queue_id))
        await first.assigner.form(queue.queue_id)
        rows = await books(first, queue)
        assert len(rows.checks) == 30
        assert {ticket.stage for ticket in rows.tickets} == {TicketStage.CHECKING}
        await asyncio.gather(
            *(all_ready((first, second)[n % 2], check.check_id) for n, check in enumerate(rows.checks))
        )
        await first.rest()
        await second.rest()
        challenges = await assert_sound(second, queue)
        assert len({challenge.challenge_id for challenge in challenges}) == 30


async def test_one_instance_at_a_time_serves_a_queue_and_another_takes_over(url: str) -> None:
    queue, other = fresh_queue(), fresh_queue()
    async with instances(url, 2) as (first, second):
        assert await first.book.lease(queue.queue_id, "first", 0, 10_000)
        assert not await second.book.lease(queue.queue_id, "second", 1_000, 11_000)
        assert await second.book.lease(other.queue_id, "second", 1_000, 11_000), "each queue has its own"
        assert await first.book.lease(queue.queue_id, "first", 1_000, 11_000), (
            "more than half is left: nothing is written"
        )
        assert not await second.book.lease(queue.queue_id, "second", 9_999, 19_999)
        assert await first.book.lease(queue.queue_id, "first", 9_000, 19_000), "kept"
        assert not await second.book.lease(queue.queue_id, "second", 18_999, 28_999)
        assert await second.book.lease(queue.queue_id, "second", 19_000, 29_000), "the first was silent too long"
        assert not await first.book.lease(queue.queue_id, "first", 20_000, 30_000)
        await second.book.release("second", queue.queue_id)
        assert await first.book.lease(queue.queue_id, "first", 20_000, 30_000)
        assert not await first.book.lease(other.queue_id, "first", 10_000, 20_000)


async def test_only_who_holds_the_lease_forms(url: str) -> None:
    queue = fresh_queue()
    async with instances(url, 2) as (first, second):
        for account_id in ("ada", "bo"):
            await first.book.enter(fresh_ticket(queue, account_id))
        assert await second.book.lease(queue.queue_id, "somebody else", 0, 10_000)
        assert not await first.assigner.form(queue.queue_id)
        assert (await books(first, queue)).checks == []
        first.now_ms = 10_000
        assert not await first.assigner.form(queue.queue_id)
        assert len((await books(first, queue)).checks) == 1


# ---- tickets -------------------------------------------------------------------------------------------------------


async def test_an_account_waits_once(url: str) -> None:
    queue, other = fresh_queue(), fresh_queue()
    async with instances(url, 2) as (first, second):
        mine = [fresh_ticket(queue, "ada") for _ in range(6)] + [fresh_ticket(other, "ada") for _ in range(6)]
        there = await asyncio.gather(*((first, second)[n % 2].book.enter(ticket) for n, ticket in enumerate(mine)))
        assert len({ticket.ticket_id for ticket in there}) == 1
        assert await first.book.leave(there[0].ticket_id, 1)
        assert not await second.book.leave(there[0].ticket_id, 1)
        again = fresh_ticket(other, "ada")
        assert await second.book.enter(again) is again


async def test_parties_with_common_friends_do_not_wait_for_each_other_for_ever(url: str) -> None:
    queue = fresh_queue(4, match_pb2.MATCH_MODE_CASUAL)
    async with instances(url, 2) as (first, second):
        parties = [("ada", "bo", "eve"), ("eve", "bo", "dag"), ("dag", "ada"), ("bo", "ada")]
        there = await asyncio.gather(
            *((first, second)[n % 2].book.enter(fresh_ticket(queue, *party)) for n, party in enumerate(parties))
        )
        rows = await books(first, queue)
        assert sorted(rows.seekers) == sorted({account for ticket in rows.tickets for account in ticket.members})
        assert {ticket.ticket_id for ticket in rows.tickets} <= {ticket.ticket_id for ticket in there}


async def test_a_ticket_expires_and_the_account_is_free(url: str) -> None:
    queue = fresh_queue()
    async with instances(url, 1) as (one,):
        ticket = fresh_ticket(queue, "ada", expires_ms=500)
        await one.book.enter(ticket)
        one.now_ms = 499
        await one.assigner.form(queue.queue_id)
        assert (await books(one, queue)).tickets[0].stage is TicketStage.WAITING
        one.now_ms = 500
        assert not await one.assigner.form(queue.queue_id)
        (expired,) = (await books(one, queue)).tickets
        assert (expired.stage, expired.generation) == (TicketStage.EXPIRED, 2)
        assert ticket.ticket_id in one.told
        assert await one.assigner.form(queue.queue_id), "nothing is left to do"
        assert await one.book.of_account("ada") is None


async def test_what_has_ended_long_ago_is_deleted(url: str) -> None:
    queue = fresh_queue()
    async with instances(url, 1) as (one,):
        for account_id in ("ada", "bo", "eve"):
            await one.book.enter(fresh_ticket(queue, account_id, rating={"eve": 9000}.get(account_id, 1500)))
        await one.assigner.form(queue.queue_id)
        (check,) = (await books(one, queue)).checks
        one.now_ms = 100
        await all_ready(one, check.check_id)
        await one.rest()
        await one.book.purge(100)
        assert len((await books(one, queue)).tickets) == 3
        await one.book.purge(101)
        rows = await books(one, queue)
        assert [ticket.members for ticket in rows.tickets] == [("eve",)], "who waits stays"
        assert rows.checks == []


# ---- ready checks --------------------------------------------------------------------------------------------------


async def pair(one: Instance, queue: Queue, *accounts: str) -> str:
    """Two who are asked whether they are ready."""
    for n, account_id in enumerate(accounts):
        await one.book.enter(fresh_ticket(queue, account_id, since_ms=n))
    await one.assigner.form(queue.queue_id)
    (check,) = (await books(one, queue)).checks
    return check.check_id


async def test_who_declines_goes_and_who_did_not_waits_on_as_long_as_before(url: str) -> None:
    queue = fresh_queue()
    async with instances(url, 1) as (one,):
        check_id = await pair(one, queue, "ada", "bo")
        one.now_ms = 5_000
        await one.answer(check_id, "bo", ready=False)
        ada, bo = (await books(one, queue)).tickets
        assert (bo.stage, ada.stage) == (TicketStage.NOT_READY, TicketStage.WAITING)
        assert (ada.since_ms, ada.generation, ada.check) == (0, 3, None), "taken, and given back"
        assert await one.book.of_account("bo") is None
        eve = fresh_ticket(queue, "eve", since_ms=5_000)
        await one.book.enter(eve)
        await one.assigner.form(queue.queue_id)
        again = await one.book.of_account("ada")
        assert again is not None
        assert again.check is not None
        assert {seat.account_id for seat in again.check.seats} == {"ada", "eve"}
        await one.answer(check_id, "ada", ready=True)
        assert (await one.ready.get(check_id)).stage is CheckStage.FAILED, "an old answer changes nothing"


async def test_silence_costs_the_silent(url: str) -> None:
    queue = fresh_queue()
    async with instances(url, 1) as (one,):
        check_id = await pair(one, queue, "ada", "bo")
        one.now_ms = 1_000
        await one.answer(check_id, "ada", ready=True)
        one.now_ms = READY_MS - 1
        await one.assigner.form(queue.queue_id)
        assert (await one.ready.get(check_id)).stage is CheckStage.RUNNING
        one.now_ms = READY_MS
        await one.assigner.form(queue.queue_id)
        ada, bo = (await books(one, queue)).tickets
        assert (ada.stage, ada.since_ms) == (TicketStage.WAITING, 0)
        assert bo.stage is TicketStage.NOT_READY


async def test_an_answer_at_the_last_moment_is_either_in_time_or_not(url: str) -> None:
    """Clock against answer, from two instances at once: the check ends once, one way."""
    async with instances(url, 2, lease_s=0.0) as (first, second):
        for _ in range(10):
            queue = fresh_queue()
            names = f"ada-{queue.queue_id}", f"bo-{queue.queue_id}"
            first.now_ms, second.now_ms = 0, READY_MS
            check_id = await pair(first, queue, *names)
            await first.answer(check_id, names[0], ready=True)
            await asyncio.gather(first.answer(check_id, names[1], ready=True), second.assigner.form(queue.queue_id))
            await first.rest()
            await second.rest()
            stages = {ticket.stage for ticket in (await books(first, queue)).tickets}
            assert stages in ({TicketStage.MATCHED}, {TicketStage.WAITING, TicketStage.NOT_READY})
            await assert_sound(first, queue)


async def test_a_party_stands_and_falls_together(url: str) -> None:
    queue = fresh_queue(3, match_pb2.MATCH_MODE_CASUAL)
    async with instances(url, 1) as (one,):
        await one.book.enter(fresh_ticket(queue, "ada", "bo"))
        await one.book.enter(fresh_ticket(queue, "eve", since_ms=1))
        await one.assigner.form(queue.queue_id)
        (check,) = (await books(one, queue)).checks
        seats = [seat.account_id for seat in check.seats]
        assert abs(seats.index("ada") - seats.index("bo")) == 1, "friends sit side by side"
        await one.answer(check.check_id, "ada", ready=True)
        await one.answer(check.check_id, "bo", ready=False)
        party, eve = (await books(one, queue)).tickets
        assert (party.stage, eve.stage) == (TicketStage.NOT_READY, TicketStage.WAITING)
        assert await one.book.of_account("ada") is None


async def test_a_match_that_a_dead_instance_left_unwritten_is_written_by_another(url: str) -> None:
    queue = fresh_queue()
    async with instances(url, 2) as (first, second):
        check_id = await pair(first, queue, "ada", "bo")
        # The last answer is stored; its instance dies before it opens the challenge.
        for account_id in ("ada", "bo"):
            await first.ready.answer(check_id, account_id, ready=True, now_ms=1)
        await first.book.release(first.assigner._instance)
        second.now_ms = 10_000
        assert queue.queue_id in await second.book.busy_queues()
        await second.assigner.form(queue.queue_id)
        await second.rest()
        (challenge, _) = await assert_sound(second, queue)
        assert {sitter.account_id for _, sitter in challenge.sitters} == {"ada", "bo"}
        assert challenge.mode == match_pb2.MATCH_MODE_RATED
        assert await second.assigner.form(queue.queue_id), "done"
        assert queue.queue_id not in await second.book.busy_queues()

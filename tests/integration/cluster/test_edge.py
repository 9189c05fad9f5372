"""People at the edge do not notice that the instances behind it come, go and die."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bots.fallback import first_moves
from gateway.service import Gateway
from grimoire.client import Client, MatchSession, Rejected
from grimoire.engine import MatchId
from grimoire.runtime.config import Address
from grimoire.runtime.identity import occupant_id, verify
from grimoire.v1 import match_pb2
from tests.gateway.house import serving
from tests.support.cluster import GAME, Cluster, cluster
from tests.support.crowd import Crowd, until
from two_towers.rules import TwoTowers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

TABLES = 10
THINKING_S = 0.3
"""Nobody's match may be over before the last instance has gone."""


class Person:
    """Plays one seat through the edge, by what it is shown."""

    def __init__(self, session: MatchSession, seed: int) -> None:
        self.session = session
        self.answered = 0
        self._rng = random.Random(seed)

    async def play(self) -> None:
        """Until the match is over."""
        schema = TwoTowers().schema
        async for _ in self.session.updates():
            while not self.session.finished and (due := [p for p in self.session.own_prompts if p.required]):
                move = self._rng.choice([move for move, _ in zip(first_moves(due[0], schema), range(8), strict=False)])
                try:
                    await self.session.submit(move.type, move.payload, due[0].prompt_id)
                    self.answered += 1
                    await asyncio.sleep(THINKING_S)
                except Rejected as rejected:
                    if rejected.code not in ("stale_prompt", "match_over"):
                        raise

    async def resign(self) -> None:
        """Gives up, unless the other seat did so a moment ago."""
        try:
            await self.session.resign()
        except Rejected as rejected:
            if rejected.code != "match_over":
                raise


@asynccontextmanager
async def tables(running: Cluster, home: Path) -> AsyncIterator[tuple[Crowd, list[Person]]]:
    """An edge, and people who sit at tables of it."""
    async with AsyncExitStack() as stack:
        config = replace(running.config, nats_url=running.broker.url).with_address("gateway", Address("127.0.0.1", 0))
        address = await stack.enter_async_context(serving(Gateway(), config))
        crowd = Crowd(TwoTowers(), running.keys, running.edge, running.store)
        people: list[Person] = []
        for number in range(TABLES):
            clients = []
            for seat in (0, 1):
                client = await Client.connect(address, keepsakes=home / f"keepsakes-{number}-{seat}", patience_s=30)
                stack.push_async_callback(client.close)
                await client.guest(f"p{number}{seat}")
                clients.append(client)
            match_id = await begin(running, crowd, clients)
            for client in clients:
                session = await client.open_match(match_id)
                stack.push_async_callback(session.close)
                people.append(Person(session, len(people)))
        for person in people:
            await person.session.started(timeout_s=30)
        yield crowd, people


async def begin(running: Cluster, crowd: Crowd, clients: list[Client]) -> str:
    """A match whose seats these clients hold."""
    match_id = secrets.token_hex(13)
    crowd.matches.append(match_id)
    accounts = []
    for client in clients:
        identity = verify(running.keys, client.token or "")
        assert identity is not None
        accounts.append(identity.account_id)
    create = match_pb2.CreateMatch(
        game=GAME,
        mode=match_pb2.MATCH_MODE_ANALYSIS,
        seats=[
            match_pb2.SeatOccupant(seat=n, occupant_id=occupant_id(running.keys, MatchId(match_id), one), kind=1)
            for n, one in enumerate(accounts)
        ],
    )
    assert (await crowd.send(match_id, create)).HasField("accepted")
    return match_id


async def test_people_play_on_while_instances_come_go_and_die(tmp_path: Path) -> None:
    async with cluster(tmp_path) as running:
        first, second = await running.add(), await running.add()
        await running.until_balanced(first, second)
        async with tables(running, tmp_path) as (crowd, people):
            playing = [asyncio.create_task(person.play()) for person in people]

            async def more(answers: int) -> None:
                wanted = sum(person.answered for person in people) + answers
                await until(lambda: sum(person.answered for person in people) >= wanted)

            await more(20)
            third = await running.add()
            await running.until_balanced(first, second, third)
            await more(20)
            await first.kill()
            await running.until_balanced(second, third)
            await more(20)
            await second.drain()
            await running.until_balanced(third)
            await more(20)
            for person in people:
                assert person.session.alarm is None
                if not person.session.finished:
                    await person.resign()
            await asyncio.gather(*playing)
            # Everybody has seen every entry, in order, up to the last: their programs checked the chain all the way.
            for person in people:
                assert person.session.alarm is None
                head = await running.store.head(person.session.match_id)
                assert head is not None
                assert (person.session.head.version, person.session.head.hash) == (head.version, head.hash)
            crowd.acknowledged.clear()
            await crowd.prove()
        assert running.complaints() == []

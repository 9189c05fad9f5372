"""A game service for tests without its gRPC face: real broker, real store, one owner, and players that know no bot."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from grimoire.bus import Bus, EmbeddedServer, game_role
from grimoire.bus.roles import platform_roles
from grimoire.engine import Game
from grimoire.eventstore import EventStore, open_store
from grimoire.fairness.commitments import nonce_seal, server_seed
from grimoire.match import MatchState, Referee
from grimoire.runtime.config import Config
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.notary import Notary
from grimoire.runtime.owner import Owner, OwnerLimits
from grimoire.v1 import envelope_pb2, match_pb2


class Clock:
    """The system's time, moved by hand; or time that stands still until it is moved."""

    def __init__(self) -> None:
        self.ahead_ms = 0
        self.ticks_after = 0
        self._stopped_ms: int | None = None

    def __call__(self) -> int:
        if self.ticks_after:
            # One millisecond passes between two readings, wherever they are.
            self.ticks_after -= 1
            self.ahead_ms += not self.ticks_after
        return (now_ms() if self._stopped_ms is None else self._stopped_ms) + self.ahead_ms

    def stop(self) -> None:
        """From now on only `ahead_ms` moves it."""
        self._stopped_ms = now_ms()


class Table:
    """One owner of a game's partitions, and a gateway's connection to it."""

    def __init__(self, owner: Owner, store: EventStore, edge: Bus, keys: KeyRing, clock: Clock) -> None:
        self.owner = owner
        self.store = store
        self.edge = edge
        self.keys = keys
        self.clock = clock
        self.game = owner.game

    async def ask(self, submission: envelope_pb2.Submission) -> envelope_pb2.CommandReply:
        """Sends a command over the broker."""
        match_id = submission.command.match_id
        data = await self.edge.request_command(self.game, match_id, submission.SerializeToString())
        return envelope_pb2.CommandReply.FromString(data)

    async def ask_patiently(self, submission: envelope_pb2.Submission) -> envelope_pb2.CommandReply:
        """As `ask`, again and again while the match waits for the transparency log."""
        while (reply := await self.ask(submission)).rejection.code == "not_logged_yet":
            await asyncio.sleep(0.02)
        return reply

    async def create(
        self, match_id: str, options: dict[str, str] | None = None, **spec: Any
    ) -> envelope_pb2.CommandReply:
        """Creates a match for occupants o0 and o1."""
        create = match_pb2.CreateMatch(
            game=self.game,
            mode=spec.pop("mode", match_pb2.MATCH_MODE_CASUAL),
            options=[match_pb2.OptionValue(name=k, value=v) for k, v in (options or {}).items()],
            seats=[match_pb2.SeatOccupant(seat=n, occupant_id=f"o{n}", kind=1) for n in (0, 1)],
            **spec,
        )
        return await self.ask(submission(match_id, "create_match", create, host=True))

    async def shake_hands(self, match_id: str) -> None:
        """Both seats seal, then open."""
        nonces = [secrets.token_bytes(32) for _ in (0, 1)]
        for seat, nonce in enumerate(nonces):
            seal = match_pb2.SealNonce(seal=nonce_seal(self.game, match_id, seat, nonce))
            accepted(await self.ask_patiently(submission(match_id, "seal_nonce", seal, seat=seat)))
        for seat, nonce in enumerate(nonces):
            opening = match_pb2.OpenNonce(nonce=nonce)
            accepted(await self.ask_patiently(submission(match_id, "open_nonce", opening, seat=seat)))

    async def begin(self, match_id: str, options: dict[str, str] | None = None) -> MatchState[Any]:
        """A match whose first prompt is open."""
        accepted(await self.create(match_id, options))
        await self.shake_hands(match_id)
        return await self.state(match_id)

    async def pass_time(self, ms: int) -> None:
        """Moves the clock in steps, each with its sign of life, so that it is no suspension."""
        partitions = self.owner.partitions
        while ms > 0:
            step = min(ms, 1_500)
            self.clock.ahead_ms += step
            ms -= step
            moved = self.clock()
            partitions.hurry()
            while not partitions.sure(moved + 1_990):
                await asyncio.sleep(0.005)

    async def state(self, match_id: str) -> MatchState[Any]:
        """The committed state."""
        state = await self.owner.state(match_id)
        assert state is not None
        return state

    def random_command(self, state: MatchState[Any], rng: random.Random) -> envelope_pb2.Submission:
        """Any legal command for the first open prompt."""
        opened = state.prompts[0]
        legal = rng.choice(self.owner.referee.game.legal(state.game, opened.prompt.seat, opened.prompt))
        message = self.owner.referee.schema.command(legal.type, legal.fixed)
        return submission(state.match_id, legal.type, message, seat=opened.prompt.seat, prompt_id=opened.prompt_id)

    async def play(self, match_id: str, rng: random.Random, commands: int = 10_000) -> MatchState[Any]:
        """Random legal commands until the match is over, or so many."""
        state = await self.state(match_id)
        while not state.over and commands:
            accepted(await self.ask_patiently(self.random_command(state, rng)))
            state = await self.state(match_id)
            commands -= 1
        return state


def submission(
    match_id: str,
    kind: str,
    message: Any,
    *,
    seat: int | None = None,
    prompt_id: int | None = None,
    occupant: str | None = None,
    host: bool = False,
    command_id: bytes | None = None,
) -> envelope_pb2.Submission:
    """A command as the gateway passes it on; occupants are called o0, o1, ..."""
    command = envelope_pb2.Command(
        command_id=command_id or secrets.token_bytes(16),
        match_id=match_id,
        seat=seat,
        prompt_id=prompt_id,
        type=kind,
        payload=message.SerializeToString(),
    )
    who = "" if host else (occupant if occupant is not None else f"o{seat}")
    return envelope_pb2.Submission(command=command, occupant_id=who, host=host)


def accepted(reply: envelope_pb2.CommandReply) -> envelope_pb2.Accepted:
    """The acceptance, or a failure that shows the rejection."""
    assert reply.WhichOneof("result") == "accepted", reply
    return reply.accepted


def refused(reply: envelope_pb2.CommandReply) -> str:
    """The code of a rejection."""
    assert reply.WhichOneof("result") == "rejection", reply
    return reply.rejection.code


@asynccontextmanager
async def broker(home: Path) -> AsyncIterator[tuple[Config, KeyRing]]:
    """A real broker with its keys and the configuration that finds it."""
    config = Config.for_test(home)
    keys = KeyRing.load_or_create(config.keys_dir)
    roles = (*platform_roles(), game_role("two_towers"), game_role("toy"))
    server = await EmbeddedServer.start(
        {role: keys.nats_password(role) for role in roles}, run_dir=home / "run", log_dir=home / "logs"
    )
    try:
        yield _with_nats(config, server.url), keys
    finally:
        await server.stop()


def _with_nats(config: Config, url: str) -> Config:
    from dataclasses import replace

    return replace(config, nats_url=url)


@asynccontextmanager
async def table(
    config: Config,
    keys: KeyRing,
    game: Game[Any],
    *,
    older: Sequence[Game[Any]] = (),
    url: str | None = None,
    limits: OwnerLimits | None = None,
    clock: Clock | None = None,
    instance: str = "",
    logged: bool = False,
    wrap: Callable[[EventStore], EventStore] = lambda store: store,
) -> AsyncIterator[Table]:
    """One owner over a store, with a gateway's connection.

    Args:
        logged: its matches go into the transparency log, as a service's do; somebody must keep one then.
    """
    clock = clock or Clock()
    host = keys.host_key
    referee = Referee(
        game,
        lambda name, match_id, _key: server_seed(host.key, name, match_id),
        host_key_id=host.key_id,
        older=older,
    )
    store = wrap(await open_store(url or config.database_url(game.id)))
    bus = await Bus.connect(config.bus_settings(keys, game_role(game.id)))
    edge = await Bus.connect(config.bus_settings(keys, "gateway"))
    notary = Notary(game.id, store, bus, clock) if logged else None
    instance = instance or secrets.token_hex(4)
    owner = Owner(referee, store, bus, instance=instance, now_ms=clock, limits=limits, notary=notary)
    try:
        await owner.start("127.0.0.1:1")
        yield Table(owner, store, edge, keys, clock)
    finally:
        await owner.stop()
        for closing in (bus, edge):
            await closing.close()
        await store.close()
        await asyncio.sleep(0)

"""What the lobby does when something breaks: crashes, restarts, lost answers, two instances, damage."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from grimoire.bus import MATCHMAKING, Bus, game_role, lobby_subject
from grimoire.eventstore import open_store
from grimoire.runtime.config import Address
from grimoire.runtime.directory import RulesDirectory
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.identity import Identity
from grimoire.runtime.rpc import dialer, is_serving, open_channel
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2, matchmaking_pb2
from matchmaking.backstage import Backstage
from matchmaking.challenge import Challenge, Open, Sitter, Stage
from matchmaking.creation import create_match
from matchmaking.database import Database
from matchmaking.games import Games
from matchmaking.ledger import Ledger
from matchmaking.limits import Limits
from matchmaking.log import read_log
from tests.matchmaking.house import ADA, BO, EVE, GAME, OTHER_GAME, House, Running, open_house, until
from tests.support.eventstore import new_entry
from tests.support.postgres import PostgresServer
from tests.support.toy.install import ROOT

OPEN = matchmaking_pb2.CHALLENGE_STATUS_OPEN
FULL = matchmaking_pb2.CHALLENGE_STATUS_FULL
MATCHED = matchmaking_pb2.CHALLENGE_STATUS_MATCHED
CANCELLED = matchmaking_pb2.CHALLENGE_STATUS_CANCELLED
EXPIRED = matchmaking_pb2.CHALLENGE_STATUS_EXPIRED


async def matches_in_the_game(house: House) -> list[str]:
    async with await open_store(house.config.database_url(GAME)) as store:
        return [head.match_id for head in await store.heads(GAME, limit=1000)]


async def stored(house: House, challenge_id: str) -> Challenge:
    async with await open_store(house.config.database_url("matchmaking")) as store:
        record = read_log(await store.read(challenge_id))
    assert record is not None
    return record.challenge


async def a_full_challenge(house: House, **limits: float) -> Challenge:
    """Filled while the game was away; what created it has ended."""
    await house.game.start()
    lobby = await house.open_lobby(created_s=0.01, **limits)
    challenge = await house.client(ADA).opened()
    await house.game.stop()
    assert (await house.client(BO).join(challenge.challenge_id)).challenge.status == FULL
    await lobby.crash()
    house.game = Running(house.game._service, house.config)
    return await stored(house, challenge.challenge_id)


async def test_a_crash_between_the_last_seat_and_the_creation_is_taken_up(house: House) -> None:
    full = await a_full_challenge(house)
    assert full.stage is Stage.FULL
    await house.game.start()
    await house.open_lobby()
    settled = await house.client(ADA).settled(full.challenge_id)
    assert (settled.status, settled.match_id) == (MATCHED, full.match_id)
    assert await matches_in_the_game(house) == [full.match_id]


async def test_a_match_whose_acknowledgement_was_lost_is_not_created_twice(house: House) -> None:
    full = await a_full_challenge(house)
    await house.game.start()
    submission = create_match(full, house.keys)
    reply = await house.send_submission(submission)
    assert reply.HasField("accepted"), reply
    await house.open_lobby()
    settled = await house.client(ADA).settled(full.challenge_id)
    assert (settled.status, settled.match_id) == (MATCHED, full.match_id)
    assert await matches_in_the_game(house) == [full.match_id]


async def test_a_match_that_ended_while_nobody_looked_is_filed(house: House) -> None:
    full = await a_full_challenge(house)
    await house.game.start()
    assert (await house.send_submission(create_match(full, house.keys))).HasField("accepted")
    await house.void(full.match_id)
    await house.open_lobby()

    async def written_down() -> bool:
        return (await stored(house, full.challenge_id)).stage is Stage.ENDED

    await until(written_down)
    (over,) = await house.client(BO).matches(mine=True, finished=True)
    assert over.match_id == full.match_id
    assert len(await house.client(BO).matches(finished=True)) == 1


async def test_another_instance_creates_what_a_dead_one_filled(house: House) -> None:
    await house.game.start()
    first = await house.open_lobby(created_s=0.01)
    second = await house.open_lobby(others_s=0.1)
    challenge = await house.client(ADA, first).opened()
    await house.game.stop()
    assert (await house.client(BO, first).join(challenge.challenge_id)).challenge.status == FULL
    await first.crash()
    house.game = Running(house.game._service, house.config)
    await house.game.start()
    settled = await house.client(ADA, second).settled(challenge.challenge_id)
    assert settled.status == MATCHED
    assert await matches_in_the_game(house) == [settled.match_id]


async def test_instances_hear_of_each_other(house: House) -> None:
    await house.game.start()
    first, second = await house.open_lobby(), await house.open_lobby()
    challenge = await house.client(ADA, first).opened()
    bo = house.client(BO, second)

    async def listed() -> list[matchmaking_pb2.Challenge]:
        return await bo.challenges()

    assert [c.challenge_id for c in await until(listed)] == [challenge.challenge_id]
    watching = asyncio.create_task(house.client(ADA, first).settled(challenge.challenge_id))
    assert (await bo.join(challenge.challenge_id)).challenge.status == MATCHED
    assert (await asyncio.wait_for(watching, 20)).status == MATCHED


async def test_news_that_never_came_are_found_by_looking_round(house: House) -> None:
    await house.game.start()
    await house.open_lobby(look_round_s=0.2)
    async with await open_store(house.config.database_url("matchmaking")) as store:
        # Another instance whose news are not told: a ledger without a bus.
        silent = Ledger(store, now_ms)
        template = await house.client(ADA).opened()
        record = await silent.get(template.challenge_id)
        assert record is not None
        opened = Open("2" * 26, GAME, record.challenge.options, 2, ((0, Sitter("acc-x")),), now_ms() + 60_000, "m", "s")
        await silent.act("2" * 26, opened)

    async def listed() -> bool:
        return "2" * 26 in {c.challenge_id for c in await house.client(BO).challenges()}

    await until(listed)


async def test_an_open_challenge_and_its_clock_survive_a_restart(house: House) -> None:
    await house.game.start()
    lobby = await house.open_lobby(expires_s=2.0)
    kept = await house.client(ADA).opened()
    await lobby.stop()
    await house.open_lobby()
    (listed,) = await house.client(BO).challenges()
    assert listed.challenge_id == kept.challenge_id
    assert listed.expires_ms == kept.expires_ms
    assert [s.name for s in listed.seats] == ["Ada", ""]
    assert (await house.client(BO).settled(kept.challenge_id)).status == EXPIRED


async def test_a_rematch_can_be_asked_for_after_a_restart(house: House) -> None:
    await house.game.start()
    lobby = await house.open_lobby()
    ada = house.client(ADA)
    first = (await ada.play_bot(level="random")).challenge
    await house.void(first.match_id)

    async def ended() -> bool:
        return bool(await ada.matches(mine=True, finished=True))

    await until(ended)
    await lobby.stop()
    await house.open_lobby()
    again = (await house.client(ADA).rematch(first.match_id)).challenge
    assert again.status == MATCHED
    assert again.rematch_of == first.match_id


async def test_ends_that_were_missed_are_asked_for_a_few_at_a_time(house: House) -> None:
    await house.game.start()
    lobby = await house.open_lobby()
    ada = house.client(ADA)
    challenges = [(await ada.play_bot(level="random")).challenge for _ in range(3)]
    await lobby.stop()
    await house.void(challenges[1].match_id)
    config, url = house.config, house.config.database_url("matchmaking")
    bus = await Bus.connect(config.bus_settings(house.keys, MATCHMAKING))
    directory = RulesDirectory(bus, config, dialer(config, house.keys))
    await directory.start()
    async with await open_store(url) as store, Database(url) as database:
        backstage = Backstage(store, database, Games(directory), bus, house.keys, Limits(), now_ms)
        ledger, endings = backstage.ledger, backstage.endings
        await ledger.reconcile()
        await endings.check_some(older_than_ms=60_000)
        assert len(ledger.of_account(ADA.account_id)) == 3, "none of them is that old"
        await endings.check_some(older_than_ms=-60_000)
        assert {c.match_id for c in ledger.of_account(ADA.account_id)} == {
            challenges[0].match_id,
            challenges[2].match_id,
        }
        await backstage.stop()
    await directory.close()
    await bus.close()


async def test_a_passing_refusal_is_asked_again_with_the_same_bytes(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    challenge = await house.client(ADA).opened()
    await house.game.stop()
    asked = await house.answer_commands(lambda n: _rejected("overloaded", retry_after_ms=50) if n < 3 else _accepted())
    await house.client(BO).join(challenge.challenge_id)
    assert (await house.client(BO).settled(challenge.challenge_id)).status == MATCHED
    assert len(asked) == 4
    assert len(set(asked)) == 1
    command = envelope_pb2.Submission.FromString(asked[0])
    assert command.host
    created = match_pb2.CreateMatch.FromString(command.command.payload)
    assert [s.seat for s in created.seats] == [0, 1]
    assert not any(who.account_id in s.occupant_id for who in (ADA, BO) for s in created.seats)


async def test_a_match_refused_for_good_ends_the_challenge_and_says_why(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    challenge = await house.client(ADA).opened()
    await house.game.stop()
    await house.answer_commands(lambda n: _rejected("bad_option", message="The beacon is out of oil."))
    await house.client(BO).join(challenge.challenge_id)
    for who in (ADA, BO):
        gone = await house.client(who).settled(challenge.challenge_id)
        assert (gone.status, gone.reason) == (CANCELLED, "The beacon is out of oil.")


async def test_a_broker_that_dies_is_waited_for(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    challenge = await house.client(ADA).opened()
    assert house.broker.pid is not None
    os.kill(house.broker.pid, signal.SIGKILL)
    await house.client(BO).join(challenge.challenge_id)
    assert (await house.client(BO).settled(challenge.challenge_id)).status == MATCHED


async def test_a_damaged_log_hurts_nobody_else(house: House) -> None:
    await house.game.start()
    lobby = await house.open_lobby()
    damaged, sound = await house.client(ADA).opened(), await house.client(BO).opened()
    await lobby.stop()
    async with await open_store(house.config.database_url("matchmaking")) as store:
        damage = new_entry(damaged.challenge_id, 2, game="matchmaking", status=int(Stage.OPEN))
        await store.append([damage])
    await house.open_lobby()
    eve = house.client(EVE)
    assert [c.challenge_id for c in await eve.challenges()] == [sound.challenge_id]
    assert (await eve.join(damaged.challenge_id)).rejection.code == "unknown_challenge"
    assert (await eve.join(sound.challenge_id)).challenge.status == MATCHED


async def test_malformed_messages_from_the_broker_are_passed_over(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    challenge = (await house.client(ADA).play_bot(level="random")).challenge
    bus = await Bus.connect(house.config.bus_settings(house.keys, MATCHMAKING))
    await bus.publish(lobby_subject(GAME), b"\xff\xff\xff")
    await bus.publish(lobby_subject(GAME), matchmaking_pb2.LobbyNews(challenge_id="\0", version=9).SerializeToString())
    await bus.flush()
    await bus.close()
    game = await Bus.connect(house.config.bus_settings(house.keys, game_role(GAME)))
    entry = frame_pb2.ViewerEntry(header=b"\xff", public=b"match_closed \xff")
    await game.publish_event(GAME, challenge.match_id, b"match_closed \xff\xff")
    await game.publish_event(GAME, challenge.match_id, entry.SerializeToString())
    await game.flush()
    await game.close()
    assert [m.match_id for m in await house.client(ADA).matches(mine=True)] == [challenge.match_id]


async def test_no_game_can_end_anothers_match(house: House) -> None:
    """A game speaks on its own subjects only; what it says there of a match that is not its own counts for nothing."""
    await house.game.start()
    await house.other_game.start()
    await house.open_lobby()
    challenge = (await house.client(ADA).play_bot(level="random")).challenge
    mine = (await house.client(ADA).play_bot(game=OTHER_GAME, level="random")).challenge
    closed = match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN, ranks=[1, 2]).SerializeToString()
    entry = frame_pb2.ViewerEntry(
        header=match_pb2.EntryHeader(match_id=challenge.match_id, version=99, server_time_ms=1).SerializeToString(),
        public=match_pb2.Events(events=[match_pb2.Event(type="match_closed", body=closed)]).SerializeToString(),
    )
    rogue = await Bus.connect(house.config.bus_settings(house.keys, game_role(OTHER_GAME)))
    await rogue.publish_event(OTHER_GAME, challenge.match_id, entry.SerializeToString())
    # Of its own match it is believed; so all that came before has been heard.
    entry.header = match_pb2.EntryHeader(match_id=mine.match_id, version=99, server_time_ms=1).SerializeToString()
    await rogue.publish_event(OTHER_GAME, mine.match_id, entry.SerializeToString())
    await rogue.flush()
    await rogue.close()
    async with asyncio.timeout(20):
        while any(m.match_id == mine.match_id for m in await house.client(ADA).matches(mine=True)):
            await asyncio.sleep(0.02)
    assert [m.match_id for m in await house.client(ADA).matches(mine=True)] == [challenge.match_id]


async def test_strange_ids_are_unknown_ids(house: House) -> None:
    await house.game.start()
    await house.open_lobby()
    ada = house.client(ADA)
    for strange in ("", "\0", "a" * 5000, "../../etc", "'; DROP TABLE entries; --", "𝔘" * 26):
        assert (await ada.join(strange)).rejection.code == "unknown_challenge"
        assert (await ada.get(strange)).rejection.code == "unknown_challenge"
        assert (await ada.cancel(strange)).rejection.code == "unknown_challenge"
        assert (await ada.rematch(strange)).rejection.code == "unknown_match"
        assert await ada.matches(game=strange or "\0", finished=True) == []
        assert await ada.challenges(game=strange or "\0") == []


async def test_kill_9_while_many_join_loses_and_doubles_nothing(house: House, tmp_path: Path) -> None:
    await house.game.start()
    killed = _Killed(house, tmp_path / "toy")
    await killed.start()
    try:
        openers = [Identity(f"acc-o{n}", f"Opener {n}") for n in range(12)]
        opened = [await killed.client(who).opened() for who in openers]
        joins = [
            asyncio.create_task(killed.client(Identity(f"acc-j{n}", f"Joiner {n}")).join(challenge.challenge_id))
            for n, challenge in enumerate(opened)
        ]
        # Some are through, the others are on their way.
        await asyncio.wait(joins, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await killed.kill()
    replies = await asyncio.gather(*joins, return_exceptions=True)
    joined = [r for r in replies if isinstance(r, matchmaking_pb2.JoinChallengeResponse)]
    assert joined
    await house.open_lobby()
    ada = house.client(ADA)
    matched = []
    for challenge in opened:
        now = (await ada.get(challenge.challenge_id)).challenge
        if now.status != OPEN:
            matched.append((await ada.settled(challenge.challenge_id)).match_id)
    assert {r.challenge.challenge_id for r in joined} <= {
        c.challenge_id for c in opened if (await ada.get(c.challenge_id)).challenge.status == MATCHED
    }
    assert sorted(await matches_in_the_game(house)) == sorted(matched)


async def test_a_database_that_dies_is_a_clear_refusal_and_mends_itself(
    tmp_path: Path, install_toy: Callable[[], None]
) -> None:
    install_toy()
    server = PostgresServer()
    try:
        async with open_house(tmp_path / "home") as house:
            urls = {"matchmaking": server.create_database()}
            house.config = replace(house.config, database_urls=urls)
            house.game = Running(house.game._service, house.config)
            await house.game.start()
            await house.open_lobby()
            ada = house.client(ADA)
            challenge = await ada.opened()
            server.kill()
            refusal = (await ada.create()).rejection
            assert refusal.code == "unavailable"
            assert refusal.retry_after_ms
            server.start()

            async def joined() -> bool:
                return (await house.client(BO).join(challenge.challenge_id)).challenge.status == MATCHED

            await until(joined)
            assert len(await matches_in_the_game(house)) == 1
    finally:
        server.remove()


def _accepted() -> envelope_pb2.CommandReply:
    return envelope_pb2.CommandReply(accepted=envelope_pb2.Accepted(version=1))


def _rejected(code: str, *, message: str = "", retry_after_ms: int = 0) -> envelope_pb2.CommandReply:
    rejection = envelope_pb2.Rejection(code=code, message=message, retry_after_ms=retry_after_ms)
    return envelope_pb2.CommandReply(rejection=rejection)


class _Killed:
    """Matchmaking as a process of its own, to be killed."""

    def __init__(self, house: House, toy: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._house = house
        self._config = house.config.with_address("matchmaking", Address("127.0.0.1", port))
        self._toy = toy
        self._channel = open_channel(f"127.0.0.1:{port}", token=house.keys.service_token)
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        path = os.pathsep.join((str(self._toy), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])))
        env = {**os.environ, **self._config.to_env(), "PYTHONPATH": path}
        self._process = await asyncio.create_subprocess_exec(sys.executable, "-m", "matchmaking", env=env)

        async def ready() -> bool:
            return await is_serving(self._channel)

        await until(ready)

    def client(self, who: Identity):
        return self._house.client_on(self._channel, who)

    async def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.wait()

"""What the real broker lets each role do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from grimoire.bus import (
    BOTS,
    GATEWAY,
    MATCHMAKING,
    REPLAY,
    Bus,
    BusSettings,
    Message,
    NotPermittedError,
    UnreachableError,
    game_role,
)
from grimoire.bus.roles import platform_roles
from grimoire.bus.subjects import inbox_prefix
from grimoire.fairness.secret import Secret
from tests.support.broker import GAME, OTHER_GAME, Broker

GAME_ROLE = game_role(GAME)
ALL_ROLES = (*platform_roles(), GAME_ROLE)

MAY_LISTEN = {
    GATEWAY: {"evt.two_towers.*", "evt.>", "own.two_towers.*", "lobby.two_towers"},
    MATCHMAKING: {"evt.two_towers.*", "evt.>", "own.two_towers.*", "lobby.two_towers"},
    REPLAY: {"own.two_towers.*", "log.*", "log.two_towers"},
    BOTS: {"bots.two_towers"},
    GAME_ROLE: {"cmd.two_towers.5.*", "who.two_towers.5", "free.two_towers"},
}
LISTENING = (
    *("cmd.two_towers.5.*", "cmd.wizards_garden.5.*", "cmd.>"),
    *("evt.two_towers.*", "evt.>"),
    *("own.two_towers.*", "who.two_towers.5", "free.two_towers", "bots.two_towers", "lobby.two_towers"),
    *("log.*", "log.two_towers", ">", "*", "_INBOX.>", "_INBOX_gateway", "$SYS.>"),
    *(f"{inbox_prefix(role)}.>" for role in (GATEWAY, MATCHMAKING, REPLAY, GAME_ROLE)),
)
OWN_INBOX = (GATEWAY, MATCHMAKING, REPLAY, GAME_ROLE)

MAY_SEND = {
    GATEWAY: {"cmd.two_towers.5.m1", "bots.two_towers", "who.two_towers.5"},
    MATCHMAKING: {"cmd.two_towers.5.m1", "bots.two_towers", "who.two_towers.5", "lobby.two_towers"},
    REPLAY: {"who.two_towers.5"},
    BOTS: set(),
    GAME_ROLE: {"evt.two_towers.m1", "own.two_towers.5", "free.two_towers", "log.two_towers"},
}
SENDING = (
    *("cmd.two_towers.5.m1", "evt.two_towers.m1", "evt.wizards_garden.m1", "own.two_towers.5", "own.wizards_garden.5"),
    *(
        "who.two_towers.5",
        "free.two_towers",
        "bots.two_towers",
        "lobby.two_towers",
        "log.two_towers",
        "log.wizards_garden",
        "other.two_towers",
        "$SYS.REQ.SERVER.PING",
    ),
    *(f"{inbox_prefix(role)}.x.1" for role in (GATEWAY, MATCHMAKING)),
)


def refused_subjects(logs: list[dict[str, object]]) -> Iterator[str]:
    for line in logs:
        if line["event"] == "bus_not_permitted":
            yield str(line["reason"]).split('"')[1]


@pytest.mark.parametrize("role", ALL_ROLES)
async def test_a_role_listens_only_to_what_is_its_own(broker: Broker, role: str) -> None:
    bus = await broker.connect(role)
    heard = set()
    for subject in LISTENING:
        try:
            await bus.serve(subject, lambda _: None)
        except NotPermittedError:
            continue
        heard.add(subject)
    own_inbox = {f"{inbox_prefix(role)}.>"} if role in OWN_INBOX else set()
    assert heard == MAY_LISTEN[role] | own_inbox


@pytest.mark.parametrize("role", ALL_ROLES)
async def test_a_role_sends_only_where_it_may(broker: Broker, role: str) -> None:
    bus = await broker.connect(role)
    with capture_logs() as logs:
        for subject in SENDING:
            await bus.publish(subject, b"x")
        await bus.flush()
    refused = set(refused_subjects(logs))
    assert {subject for subject in SENDING if subject.lower() not in refused} == MAY_SEND[role]


async def test_a_game_hears_its_own_commands_and_no_other_games(broker: Broker) -> None:
    edge, game, other = [await broker.connect(role) for role in (GATEWAY, GAME_ROLE, game_role(OTHER_GAME))]
    heard: list[tuple[str, bytes]] = []
    await game.serve(f"cmd.{GAME}.>", lambda message: heard.append((message.subject, message.data)))
    await other.serve(f"cmd.{OTHER_GAME}.>", lambda message: heard.append(("other", message.data)))
    await edge.publish(f"cmd.{GAME}.1.m1", b"mine")
    await edge.flush()
    await game.flush()
    await other.flush()
    assert heard == [(f"cmd.{GAME}.1.m1", b"mine")]


async def test_a_game_answers_a_request_once_and_only_where_it_was_asked(broker: Broker) -> None:
    edge, game = await broker.connect(GATEWAY), await broker.connect(GAME_ROLE)
    asked: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    await game.serve(f"who.{GAME}.1", asked.set_result)
    asking = asyncio.create_task(edge.request(f"who.{GAME}.1", b"", reply_s=10))
    request = await asked
    with capture_logs() as logs:
        await game.publish(request.reply + "0", b"to another")
        await game.reply(request, b"first")
        assert await asking == b"first"
        await game.reply(request, b"second")
        await game.flush()
    assert [line["event"] for line in logs].count("bus_not_permitted") == 2


async def test_bots_are_called_and_answer(broker: Broker) -> None:
    edge, bots = await broker.connect(GATEWAY), await broker.connect(BOTS)

    async def come(message: Message) -> None:
        await bots.reply(message, b"coming")

    await bots.serve_async("bots.>", come)
    assert await edge.request(f"bots.{GAME}", b"", reply_s=10) == b"coming"


async def test_nobody_comes_in_without_the_roles_password(broker: Broker) -> None:
    for settings in (
        BusSettings((broker.server.url,), GATEWAY, broker.passwords[REPLAY]),
        BusSettings((broker.server.url,), "admin", Secret(bytes(32))),
        BusSettings((broker.server.url,), GATEWAY, Secret(bytes(32))),
    ):
        with pytest.raises(UnreachableError, match="refuses"):
            await Bus.connect(settings)

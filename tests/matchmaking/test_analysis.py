"""Playing on from finished matches and arranged positions: real broker, real stores, two real games."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from grimoire.engine import MatchId
from grimoire.eventstore import StoredEntry, open_store
from grimoire.plugins import load_game
from grimoire.runtime.config import Address
from grimoire.runtime.identity import Identity, occupant_id
from grimoire.runtime.rpc import account_metadata, open_channel
from grimoire.v1 import frame_pb2, match_pb2, matchmaking_pb2, replay_pb2, replay_pb2_grpc, rules_pb2, rules_pb2_grpc
from replay.service import serve as serve_replay
from tests.matchmaking.conftest import house_on
from tests.matchmaking.house import ADA, BO, EVE, GAME, OTHER_GAME, House, Running, until

ANALYSIS = match_pb2.MATCH_MODE_ANALYSIS
MATCHED, OPEN = matchmaking_pb2.CHALLENGE_STATUS_MATCHED, matchmaking_pb2.CHALLENGE_STATUS_OPEN
ALONE = matchmaking_pb2.ANALYSIS_PARTNERS_NONE
BOTS = matchmaking_pb2.ANALYSIS_PARTNERS_BOTS
INVITED = matchmaking_pb2.ANALYSIS_PARTNERS_INVITED

DEALT = 5
"""The version at which the last number was opened and the cards were dealt."""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
async def house(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    """Broker and configuration. What differs between databases is tried on the tables themselves (`test_queues.py`)."""
    async with house_on(request.param, tmp_path, monkeypatch) as opened:
        yield opened


async def entries_of(house: House, match_id: str, game: str = OTHER_GAME) -> list[StoredEntry]:
    async with await open_store(house.config.database_url(game)) as store:
        return await store.read(match_id, parts=True)


async def finished(house: House, ada: Identity = ADA, bo: Identity = BO) -> str:
    """A match of Two Towers between two people that is over and open to all; the first in seat 0 resigned."""
    challenge = await house.client(ada).opened(game=OTHER_GAME, options={"turn_time_s": "600"})
    match_id = (await house.client(bo).join(challenge.challenge_id)).challenge.match_id
    await house.shake_hands(match_id, [ada.account_id, bo.account_id], OTHER_GAME)
    reply = await house.send(match_id, "resign", b"", ada.account_id, 0, game=OTHER_GAME)
    assert reply.HasField("accepted"), reply

    async def over() -> bool:
        return not await house.client(ada).matches(mine=True)

    await until(over)
    return match_id


async def both_games(house: House) -> None:
    await house.game.start()
    await house.other_game.start()
    await house.open_lobby()


async def view_of(house: House, match_id: str, seat: int, version: int = 0) -> object:
    """What a seat saw, from the game itself."""
    channel = open_channel(house.other_game.address, token=house.keys.service_token)
    try:
        reply = await rules_pb2_grpc.RulesServiceStub(channel).GetView(
            rules_pb2.GetViewRequest(
                match_id=match_id,
                viewer=frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_SEAT, seat=seat),
                version=version,
            )
        )
    finally:
        await channel.close()
    return load_game(OTHER_GAME).game.view_type.FromString(reply.snapshot.view)


def branch(match_id: str, version: int) -> matchmaking_pb2.Branch:
    return matchmaking_pb2.Branch(match_id=match_id, version=version)


async def test_playing_on_alone_from_a_finished_match_changes_nothing_of_it(house: House) -> None:
    await both_games(house)
    ada, bo = house.client(ADA), house.client(BO)
    match_id = await finished(house)
    before, rating = await entries_of(house, match_id), (await bo.ratings())[OTHER_GAME]

    request_id = secrets.token_bytes(16)
    challenge = (await bo.analyse(branch=branch(match_id, DEALT), partners=ALONE, request_id=request_id)).challenge
    assert challenge.status == MATCHED
    assert challenge.mode == ANALYSIS
    assert challenge.match_id != match_id
    assert [(s.name, s.mine) for s in challenge.seats] == [("Bö Äijö", True)] * 2
    again = await bo.analyse(branch=branch(match_id, DEALT), partners=ALONE, request_id=request_id)
    assert again.challenge.match_id == challenge.match_id, "asking twice makes one"

    created = (await entries_of(house, challenge.match_id))[0]
    event = match_pb2.MatchCreated.FromString(match_pb2.Events.FromString(created.public).events[0].body)
    assert event.mode == ANALYSIS
    bo_there = occupant_id(house.keys, MatchId(challenge.match_id), BO.account_id)
    assert [s.occupant_id for s in event.seats] == [bo_there, bo_there], "one person on both seats"
    assert {o.name: o.value for o in event.options}["turn_time_s"] == "600", "the options are the match's"

    await house.shake_hands(challenge.match_id, [BO.account_id, BO.account_id], OTHER_GAME)
    for seat in (0, 1):
        was, now = await view_of(house, match_id, seat, DEALT), await view_of(house, challenge.match_id, seat)
        assert now.seats[seat].hand == was.seats[seat].hand
        assert [s.numbers for s in now.seats] == [s.numbers for s in was.seats]
        assert now.arranged
    reply = await house.send(challenge.match_id, "resign", b"", BO.account_id, 1, game=OTHER_GAME)
    assert reply.HasField("accepted")

    async def over() -> matchmaking_pb2.MatchSummary | None:
        ended = await bo.matches(mine=True, finished=True)
        return next((m for m in ended if m.match_id == challenge.match_id), None)

    summary = await until(over)
    assert summary.mode == ANALYSIS
    assert len(await bo.matches(mine=True, finished=True)) == 2, "one row, though it sat on two seats"
    assert not summary.rating_changes
    assert (await bo.ratings())[OTHER_GAME] == rating
    assert await entries_of(house, match_id) == before, "the original log is as it was"
    assert [m.match_id for m in await ada.matches(game=OTHER_GAME, finished=True)] == [match_id], (
        "it is its player's own"
    )

    again = (await bo.rematch(challenge.match_id)).challenge
    assert (again.status, again.mode) == (MATCHED, ANALYSIS), "the same position once more"


async def test_playing_on_against_a_bot_and_by_invitation(house: House) -> None:
    await both_games(house)
    ada, bo, eve = house.client(ADA), house.client(BO), house.client(EVE)
    match_id = await finished(house)
    against = (await bo.analyse(branch=branch(match_id, DEALT), partners=BOTS, level="random")).challenge
    assert [(s.mine, s.bot, s.level) for s in against.seats] == [(False, True, "random"), (True, False, "")]
    assert against.mode == ANALYSIS
    (seat,) = await house.client(None).bot_seats()
    assert (seat.match_id, seat.seat) == (against.match_id, 0)
    assert [m.match_id for m in await bo.matches(mine=True)] == [against.match_id]
    assert await eve.matches() == [], "an analysis is in nobody else's list"

    invitation = (await eve.analyse(branch=branch(match_id, DEALT), partners=INVITED, seat=1)).challenge
    assert (invitation.status, invitation.by_invitation) == (OPEN, True)
    assert [s.mine for s in invitation.seats] == [False, True]
    assert await ada.challenges() == [], "it stands in no list"
    assert [c.challenge_id for c in await eve.challenges()] == [invitation.challenge_id]
    assert invitation.position, "who arranged it may see all of it"
    assert not (await ada.get(invitation.challenge_id)).challenge.position
    joined = (await ada.join(invitation.challenge_id)).challenge
    assert joined.status == MATCHED
    assert not joined.position
    assert [s.name for s in joined.seats] == ["Ada", "Eve"]


async def test_arranged_positions(house: House) -> None:
    await both_games(house)
    ada = house.client(ADA)
    plan = {"0": {"mana": 7, "hand": ["ruby", "amethyst"]}, "active": 0, "turn": 9}
    wish = {"game": OTHER_GAME, "position_json": json.dumps(plan), "options": {"turn_time_s": "86400"}}
    challenge = (await ada.analyse(**wish, partners=ALONE)).challenge
    assert challenge.status == MATCHED
    await house.shake_hands(challenge.match_id, [ADA.account_id, ADA.account_id], OTHER_GAME)
    view = await view_of(house, challenge.match_id, 0)
    assert (view.turn_no, view.seats[0].numbers.mana) == (9, 7)
    assert [slot.card for slot in view.seats[0].hand][:2] == ["ruby", "amethyst"]
    assert not view.seats[1].hand, "the other seat's cards are its own"
    assert not view.pile

    same = (await ada.analyse(game=OTHER_GAME, position=challenge.position, partners=BOTS, level="random")).challenge
    assert same.position == challenge.position
    assert [s.mine for s in same.seats] == [True, False]


async def test_what_cannot_be_played_on_from_says_why(house: House) -> None:
    await both_games(house)
    ada, eve = house.client(ADA), house.client(EVE)
    match_id = await finished(house)
    last = len(await entries_of(house, match_id))
    impossible = [(version, "versions") for version in (0, 99, 2**63, 2**64 - 1)]
    for version, word in (*impossible, (1, "later"), (4, "later"), (last, "earlier")):
        refusal = (await eve.analyse(branch=branch(match_id, version))).rejection
        assert (refusal.code, refusal.field) == ("no_position", "version")
        assert word in refusal.message
    running = (await ada.play_bot(game=OTHER_GAME, level="random")).challenge
    assert (await ada.analyse(branch=branch(running.match_id, 1))).rejection.code == "match_not_revealed"
    # Challenges have logs too, and may lie in the games' own database.
    for unknown in ("nothing", "0" * 26, running.challenge_id):
        assert (await ada.analyse(branch=branch(unknown, 1))).rejection.code == "unknown_match"
    source = {"branch": branch(match_id, DEALT)}
    for wrong, field in (
        ({"partners": BOTS, "level": "godlike"}, "level"),
        ({"seat": 2}, "seat"),
        ({"options": {"turn_time_s": "1"}}, "turn_time_s"),
    ):
        refusal = (await ada.analyse(**source, **wrong)).rejection
        assert (refusal.code, refusal.field) == ("bad_option", field)
    assert (await ada.analyse(**source, options={"deck_type": "endless"})).rejection.code == "bad_position"
    assert (await ada.analyse(**source, request_id=b"x")).rejection.code == "malformed"
    assert (await ada.analyse(game="chess", position_json="{}")).rejection.code == "unknown_game"
    for position in ("", "{", '{"turn": "soon"}'):
        refusal = (await ada.analyse(game=OTHER_GAME, position_json=position)).rejection
        assert (refusal.code, refusal.field) == ("bad_position", "position")
    assert (await ada.analyse(game=OTHER_GAME, position=b"x" * 100_000)).rejection.code == "malformed"
    assert (await ada.analyse(game=OTHER_GAME, position_json="{}", seats=3)).rejection.field == "seats"


async def test_a_game_that_cannot_go_on_from_everywhere_says_so(house: House) -> None:
    await both_games(house)
    ada = house.client(ADA)
    challenge = await ada.opened(options={"mode": "duel"})
    match_id = (await house.client(BO).join(challenge.challenge_id)).challenge.match_id
    await house.shake_hands(match_id, [ADA.account_id, BO.account_id])
    hand = (await house.send(match_id, "set_stance", b"\x08\x01", BO.account_id, 1)).accepted
    assert hand.version == DEALT + 1
    await house.send(match_id, "resign", b"", ADA.account_id, 0)

    async def over() -> bool:
        return not await ada.matches(mine=True)

    await until(over)
    refusal = (await ada.analyse(branch=branch(match_id, DEALT + 1))).rejection
    assert refusal.code == "bad_position"
    assert "Beacon" in refusal.message
    played_on = (await ada.analyse(branch=branch(match_id, DEALT))).challenge
    assert (played_on.status, played_on.game) == (MATCHED, GAME)


async def test_matches_that_were_brought_along_can_be_played_on_from(house: House) -> None:
    replay = Running(serve_replay, house.config)
    await replay.start()
    addresses = {**house.config.addresses, "replay": Address.parse(replay.address)}
    house.config = replace(house.config, addresses=addresses)
    await both_games(house)
    bo = house.client(BO)
    match_id = await finished(house)
    channel = open_channel(replay.address, token=house.keys.service_token)
    stub, as_bo = replay_pb2_grpc.ReplayServiceStub(channel), account_metadata(BO)
    file = [reply.chunk async for reply in stub.Export(replay_pb2.ExportRequest(match_id=match_id), metadata=as_bo)]
    imported = await stub.Import((replay_pb2.ImportRequest(chunk=chunk) for chunk in file), metadata=as_bo)
    assert imported.match_id.startswith("import-"), imported.report

    challenge = (await bo.analyse(branch=branch(imported.match_id, DEALT), partners=BOTS, level="random")).challenge
    assert challenge.status == MATCHED
    assert [s.mine for s in challenge.seats] == [False, True], "it is known which seat was one's own"
    direct = (await bo.analyse(branch=branch(match_id, DEALT), partners=BOTS, level="random")).challenge
    assert direct.position == challenge.position
    refusal = (await bo.analyse(branch=branch(imported.match_id, 99))).rejection
    assert refusal.code == "no_position"
    assert (await bo.analyse(branch=branch("import-nothing", 1))).rejection.code == "unknown_match"
    await channel.close()
    await replay.stop()


async def test_only_services_ask_a_game_for_positions(house: House) -> None:
    await both_games(house)
    match_id = await finished(house)
    running = (await house.client(ADA).play_bot(game=OTHER_GAME, level="random")).challenge.match_id
    stranger = open_channel(house.other_game.address, token=None)
    ours = open_channel(house.other_game.address, token=house.keys.service_token)
    requests = [rules_pb2.BranchPositionRequest(start=rules_pb2.BranchStart(match_id=match_id, version=DEALT))]
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await rules_pb2_grpc.RulesServiceStub(stranger).BranchPosition(iter(requests))
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    hidden = [rules_pb2.BranchPositionRequest(start=rules_pb2.BranchStart(match_id=running, version=1))]
    nothing = [rules_pb2.BranchPositionRequest(start=rules_pb2.BranchStart(match_id="0" * 26, version=1))]
    for asked, code in ((hidden, "FAILED_PRECONDITION"), (nothing, "NOT_FOUND"), ([], "FAILED_PRECONDITION")):
        with pytest.raises(grpc.aio.AioRpcError) as closed:
            await rules_pb2_grpc.RulesServiceStub(ours).BranchPosition(iter(asked))
        assert closed.value.code().name == code, "even a service of ours gets no hidden card of a running match"
    await stranger.close()
    await ours.close()

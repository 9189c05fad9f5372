"""Whose eyes a caller may look through, and what is seen through them."""

from __future__ import annotations

import grpc
import pytest

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.runtime.rpc import open_channel
from grimoire.v1 import replay_pb2, replay_pb2_grpc, rules_pb2
from tests.replay.house import House, Refusal
from tests.support.toy import schema as pb

RUNNING = 7
SEAT_0, SEAT_1 = Viewer.of_seat(0), Viewer.of_seat(1)


async def test_before_the_reveal_a_person_sees_its_own_seat_and_what_anybody_sees(home: House) -> None:
    match_id = await home.play(("ada", "bo"), entries=RUNNING)

    assert await home.caller("ada").viewers(match_id) == ["seat:0", "public"]
    assert await home.caller("bo").viewers(match_id) == ["seat:1", "public"]
    assert await home.caller("carl").viewers(match_id) == ["public"]
    assert await home.caller("").viewers(match_id) == ["public"]


async def test_who_holds_two_seats_sees_through_both(home: House) -> None:
    match_id = await home.play(("ada", "bo", "ada"), entries=RUNNING)

    assert await home.caller("ada").viewers(match_id) == ["seat:0", "seat:2", "public"]


async def test_after_the_reveal_everybody_sees_everything(home: House) -> None:
    match_id = await home.play()

    assert await home.caller("bo").viewers(match_id) == ["seat:1", "seat:0", "public", "all"]
    assert await home.caller("carl").viewers(match_id) == ["seat:0", "seat:1", "public", "all"]
    assert await home.caller("").viewers(match_id) == ["seat:0", "seat:1", "public", "all"]


@pytest.mark.parametrize(
    ("account", "viewer", "sentence"),
    [
        ("ada", SEAT_1, "Seat 1 is not yours"),
        ("ada", ALL, "once its secrets have been opened"),
        ("carl", SEAT_0, "Seat 0 is not yours"),
        ("carl", ALL, "once its secrets have been opened"),
        ("", SEAT_0, "Seat 0 is not yours"),
        ("ada", Viewer.of_seat(7), "no seat 7"),
    ],
)
async def test_other_eyes_are_refused_before_the_reveal(
    home: House, account: str, viewer: Viewer, sentence: str
) -> None:
    match_id = await home.play(entries=RUNNING)

    with pytest.raises(Refusal, match=sentence) as refused:
        await home.caller(account).frames(match_id, viewer)

    assert refused.value.status is grpc.StatusCode.PERMISSION_DENIED
    assert refused.value.code == "not_a_seat"


async def test_a_seat_that_does_not_exist_is_refused_after_the_reveal_too(home: House) -> None:
    match_id = await home.play()

    with pytest.raises(Refusal, match="no seat 2"):
        await home.caller("ada").frames(match_id, Viewer.of_seat(2))


async def test_no_viewer_is_an_error_never_everything(home: House) -> None:
    match_id = await home.play()
    call = home.caller("ada").stub.StreamFrames(replay_pb2.StreamFramesRequest(match_id=match_id))

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call.read()

    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_caller_without_the_service_token_is_turned_away(home: House) -> None:
    match_id = await home.play()
    async with open_channel(str(home.config.address("replay"))) as channel:
        stub = replay_pb2_grpc.ReplayServiceStub(channel)
        for call in (
            stub.GetMatch(replay_pb2.GetMatchRequest(match_id=match_id)),
            stub.GetMarks(replay_pb2.GetMarksRequest(match_id=match_id)),
            stub.Audit(replay_pb2.AuditRequest(match_id=match_id)),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_seat_sees_its_own_hand_and_not_the_others(home: House) -> None:
    match_id = await home.play(entries=RUNNING)

    own = views(await home.caller("ada").frames(match_id, SEAT_0))[-1]
    anybody = views(await home.caller("carl").frames(match_id, PUBLIC))[-1]

    assert own.seats[0].hand
    assert not own.seats[1].hand
    assert not any(seat.hand for seat in anybody.seats)
    assert not own.pouch


async def test_a_replay_shows_a_seat_only_what_it_knew_then(home: House) -> None:
    match_id = await home.play(entries=RUNNING)
    live = {v: await home.caller(a).frames(match_id, v) for a, v in (("ada", SEAT_0), ("bo", SEAT_1), ("", PUBLIC))}

    await home.go_on(match_id)

    for viewer, frames in live.items():
        replayed = await home.caller("carl").frames(match_id, viewer)
        assert len(replayed) > RUNNING
        assert replayed[:RUNNING] == frames
        for frame in replayed[:-1]:
            view = pb.View.FromString(frame.view)
            assert not any(seat.hand for seat in view.seats if seat.seat != viewer.seat)
            assert not view.pouch


async def test_all_eyes_see_every_hand_from_the_deal_on(home: House) -> None:
    match_id = await home.play()

    shown = views(await home.caller("carl").frames(match_id, ALL))

    assert all(seat.hand for seat in shown[0].seats)
    assert shown[0].pouch


def views(frames: list[rules_pb2.ReplayFrame]) -> list[pb.View]:
    """The screens of a match from its deal on."""
    return [pb.View.FromString(f.view) for f in frames if f.view]

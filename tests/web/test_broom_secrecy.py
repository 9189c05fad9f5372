"""What a browser is sent and shows of a choice that others have not made yet: never what was chosen (W-BS-3)."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.runtime.stack import Stack
from grimoire.v1 import frame_pb2, lobby_pb2, match_pb2
from tests.web.broom import ROLES, together
from tests.web.people import Person, Tap

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(180)]

POSITION = {"players": 2, "stage": "choose", "event": "more_or_less"}
CHOICES = (ROLES[:1], ROLES[5:], ROLES[:5])


async def test_nobody_is_told_of_a_choice_before_all_have_chosen(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    """Neither the page nor any byte of its stream tells few roles from many, or some from others."""
    texts: list[list[str]] = []
    told: list[list[bytes]] = []
    sizes: list[list[int]] = []
    for n, roles in enumerate(CHOICES):
        async with together(str(stack.config.gateway), tmp_path / str(n), POSITION) as table, person() as someone:
            tap = await Tap.on(someone)
            player = await table.sit(1, someone)
            await player.asked()
            before = table.sessions[0].version
            await player.reaches(before)
            prompt = next(one for one in table.sessions[0].own_prompts if one.required)
            sent = await table.sessions[0].submit("choose_roles", pb.ChooseRoles(roles=roles), prompt.prompt_id)
            await player.reaches(sent.version)
            await table.sessions[1].reached(sent.version, timeout_s=20)
            after = table.view(1)
            assert after.seats[0].answered
            assert not after.seats[0].HasField("cards_left")
            seats = player.part("seats")
            await expect(seats.locator("li").filter(has_text="Aino")).to_contain_text("?")
            texts.append([line for line in (await seats.inner_text()).splitlines() if ":" not in line])
            news = [frame for frame in frames(bytes(tap.data)) if frame.delta.to > before]
            assert news
            sizes.append([frame.ByteSize() for frame in news])
            told.append([without_chance(frame).SerializeToString(deterministic=True) for frame in news])
            # They were looked for in the right place: one's own choice is sent to oneself.
            mine = next(one for one in table.sessions[1].own_prompts if one.required)
            code = "choose_roles", pb.ChooseRoles(roles=ROLES[1:2])
            await player.reaches((await table.sessions[1].submit(*code, mine.prompt_id)).version)
            assert b"\x0dherb_gatherer" in b"".join(f.SerializeToString() for f in frames(bytes(tap.data)))
    assert texts[0] == texts[1] == texts[2]
    assert told[0] == told[1] == told[2]
    assert sizes[0] == sizes[1] == sizes[2]


def frames(data: bytes) -> Iterator[frame_pb2.Frame]:
    """What a stream has sent of the match so far: each message behind its flags and its length."""
    at = 0
    while at + 5 <= len(data):
        flags, size = data[at], int.from_bytes(data[at + 1 : at + 5])
        body = data[at + 5 : at + 5 + size]
        at += 5 + size
        if flags & 2 or len(body) < size:
            continue
        news = lobby_pb2.FollowResponse.FromString(gzip.decompress(body) if flags & 1 else body)
        if news.match.HasField("frame"):
            yield news.match.frame


def without_chance(frame: frame_pb2.Frame) -> frame_pb2.Frame:
    """A frame without what differs from match to match whatever is chosen: ids, times, and what a salt has gone into.

    All of it keeps its length, so that this hides no byte more or less.
    """
    plain = frame_pb2.Frame.FromString(frame.SerializeToString())
    delta = plain.delta
    for entry in delta.entries:
        header = match_pb2.EntryHeader.FromString(entry.header)
        header.match_id, header.command_id = "-" * len(header.match_id), bytes(len(header.command_id))
        header.server_time_ms = 1
        entry.header, entry.hash = header.SerializeToString(), bytes(len(entry.hash))
        for digest in entry.digests:
            digest.digest = bytes(len(digest.digest))
        for part in entry.parts:
            part.salt = bytes(len(part.salt))
    delta.traceparent = ""
    shown = delta.snapshot
    shown.server_time_ms = 1
    for prompt in shown.prompts:
        prompt.deadline_ms = min(prompt.deadline_ms, 1)
    head = shown.head
    # What was agreed upon before the match began.
    head.ClearField("created")
    head.match_id, head.hash = "-" * len(head.match_id), bytes(len(head.hash))
    head.created_ms = head.updated_ms = 1
    shown.viewer.occupant_id = "-" * len(shown.viewer.occupant_id)
    return plain

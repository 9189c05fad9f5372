"""What a browser is sent and shows of a choice that others have not made yet: never what was chosen (W-BS-3)."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from playwright.async_api import expect

from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.runtime.stack import Stack
from grimoire.v1 import frame_pb2, lobby_pb2, match_pb2
from tests.web.broom import NAMES, ROLES, Company, together
from tests.web.people import Person, Tap

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(180)]

POSITION = {"stage": "choose", "event": "more_or_less"}
CHOICES = (ROLES[:1], ROLES[5:], ROLES[:5])
LOOKING = 1
"""The seat whose browser it is."""


@pytest.mark.parametrize("seats", [2, 3])
async def test_nobody_is_told_of_a_choice_before_all_have_chosen(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, seats: int
) -> None:
    """Neither the page nor any byte of its stream tells few roles from many, or some from others."""
    texts: list[list[str]] = []
    told: list[list[bytes]] = []
    sizes: list[list[int]] = []
    others = [seat for seat in range(seats) if seat != LOOKING]
    position = {**POSITION, "players": seats}
    for n, roles in enumerate(CHOICES):
        async with (
            together(str(stack.config.gateway), tmp_path / str(n), position, seats=seats) as table,
            person() as someone,
        ):
            tap = await Tap.on(someone)
            player = await table.sit(LOOKING, someone)
            await player.asked()
            before = table.sessions[0].version
            await player.reaches(before)
            for seat in others:
                await sent_to(tap, await choose(table, seat, roles))
            await player.reaches(table.sessions[LOOKING].version)
            after = table.view(LOOKING)
            shown = player.part("seats")
            for seat in others:
                assert after.seats[seat].answered
                assert not after.seats[seat].HasField("cards_left")
                await expect(shown.locator("li").filter(has_text=NAMES[seat])).to_contain_text("?")
            texts.append([line for line in (await shown.inner_text()).splitlines() if ":" not in line])
            news = [frame for frame in frames(tap) if frame.delta.to > before]
            assert news
            sizes.append([frame.ByteSize() for frame in news])
            told.append([without_chance(frame).SerializeToString(deterministic=True) for frame in news])
            # They were looked for in the right place: one's own choice is sent to oneself.
            await sent_to(tap, await choose(table, LOOKING, ROLES[1:2]))
            assert b"\x0dherb_gatherer" in b"".join(frame.SerializeToString() for frame in frames(tap))
    assert texts[0] == texts[1] == texts[2]
    assert told[0] == told[1] == told[2]
    assert sizes[0] == sizes[1] == sizes[2]


async def choose(table: Company, seat: int, roles: Sequence[str]) -> int:
    """A seat chooses its roles by program; gives the version of that, which every other program has seen then."""
    prompt = next(one for one in table.sessions[seat].own_prompts if one.required)
    sent = await table.sessions[seat].submit("choose_roles", pb.ChooseRoles(roles=roles), prompt.prompt_id)
    for session in table.sessions:
        await session.reached(sent.version, timeout_s=20)
    return sent.version


async def sent_to(tap: Tap, version: int) -> None:
    """Waits until a version was sent, each message of each stream to its last byte."""
    await tap.until(lambda tap: last_version(tap) == version)


def frames(tap: Tap) -> list[frame_pb2.Frame]:
    """What was sent of the match so far, of each stream up to the last message that has come whole."""
    return [frame for stream in tap.streams for frame in split(stream)[0]]


def last_version(tap: Tap) -> int:
    """The newest version that was sent; 0 as long as any stream is in the middle of a message."""
    if any(rest for _, rest in map(split, tap.streams)):
        return 0
    return max((frame.delta.to for frame in frames(tap)), default=0)


def split(stream: bytes) -> tuple[list[frame_pb2.Frame], bytes]:
    """Each message behind its flags and its length, and what has come of the one after them."""
    found = []
    at = 0
    while at + 5 <= len(stream):
        flags, size = stream[at], int.from_bytes(stream[at + 1 : at + 5])
        body = stream[at + 5 : at + 5 + size]
        if len(body) < size:
            break
        at += 5 + size
        if flags & 2:
            continue
        news = lobby_pb2.FollowResponse.FromString(gzip.decompress(body) if flags & 1 else body)
        if news.match.HasField("frame"):
            found.append(news.match.frame)
    return found, stream[at:]


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

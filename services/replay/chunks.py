"""Frames in answers of a bounded size."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from grimoire.v1 import replay_pb2, rules_pb2
from replay.rules import fault

__all__ = ["in_chunks"]

# Tag and length before each frame in an answer: 1 byte and at most 4.
_FRAMING = 5


async def in_chunks(
    frames: AsyncIterator[rules_pb2.ReplayFrame], most_frames: int, most_bytes: int
) -> AsyncGenerator[replay_pb2.StreamFramesResponse, None]:
    """Answers as full as they may be; the next frames are asked for only when an answer has been taken.

    Args:
        frames: in order.
        most_frames: in one answer.
        most_bytes: of one serialised answer. A frame that alone is larger is replaced by a fault.
    """
    answer, size = replay_pb2.StreamFramesResponse(), 0
    async for frame in frames:
        if _FRAMING + frame.ByteSize() > most_bytes:
            frame = fault(frame.version, "This version is too large to be shown; its neighbours can be.")
        weight = _FRAMING + frame.ByteSize()
        if answer.frames and size + weight > most_bytes:
            yield answer
            answer, size = replay_pb2.StreamFramesResponse(), 0
        answer.frames.append(frame)
        size += weight
        if len(answer.frames) == most_frames:
            yield answer
            answer, size = replay_pb2.StreamFramesResponse(), 0
    if answer.frames:
        yield answer

"""Frames: what one viewer is shown of a match at one version."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

from google.protobuf.message import Message

from grimoire.engine import GameTexts, Legal, Prompt, Schema, Viewer, ViewerKind
from grimoire.match.referee import Referee
from grimoire.match.state import MatchState, Occupant, OpenPrompt, Phase
from grimoire.match.step import Step
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2, prompt_pb2, rules_pb2

S = TypeVar("S")

_MARKS = {
    "turn": rules_pb2.MARK_KIND_TURN,
    "phase": rules_pb2.MARK_KIND_PHASE,
    "key_event": rules_pb2.MARK_KIND_KEY_EVENT,
}

_PLATFORM_MARKS = {
    match_pb2.MatchStarted: rules_pb2.MARK_KIND_START,
    match_pb2.MatchClosed: rules_pb2.MARK_KIND_END,
    match_pb2.MatchVoided: rules_pb2.MARK_KIND_END,
}


def view_bytes(referee: Referee[S], state: MatchState[S], viewer: Viewer) -> bytes:
    """The game's view message, serialised; empty before the match has started."""
    if state.game is None:
        return b""
    return referee.rules(state.rules_version).game.view(state.game, viewer).SerializeToString()


def prompts_for(referee: Referee[S], state: MatchState[S], viewer: Viewer) -> list[prompt_pb2.Prompt]:
    """Open prompts; those of the viewer's own seat with everything it may answer."""
    shown = []
    for opened in state.prompts:
        message = _prompt(opened)
        if viewer.kind is ViewerKind.SEAT and viewer.seat == opened.prompt.seat and state.game is not None:
            game, prompt = referee.rules(state.rules_version).game, opened.prompt
            message.legal.extend(travelling(game.schema, game.legal(state.game, prompt.seat, prompt)))
        shown.append(message)
    return shown


def legal_entries(referee: Referee[S], game_state: S, prompt: Prompt) -> list[prompt_pb2.LegalEntry]:
    """The legal commands of the newest rules for one prompt as they travel."""
    return travelling(referee.game.schema, referee.game.legal(game_state, prompt.seat, prompt))


def travelling(schema: Schema, legal: Iterable[Legal]) -> list[prompt_pb2.LegalEntry]:
    """Legal commands as they travel. The messages are shared: they are to be copied, never changed."""
    return [_legal_entry(schema, entry) if entry.slots else _complete_entry(schema, entry) for entry in legal]


def _prompt(opened: OpenPrompt) -> prompt_pb2.Prompt:
    return prompt_pb2.Prompt(
        prompt_id=opened.prompt_id,
        seat=opened.prompt.seat,
        kind=opened.prompt.kind,
        required=opened.prompt.required,
        deadline_class=opened.prompt.deadline_class,
        deadline_ms=opened.deadline_ms,
        limit_ms=opened.limit_ms,
    )


@functools.lru_cache(maxsize=8192)
def _complete_entry(schema: Schema, legal: Legal) -> prompt_pb2.LegalEntry:
    """Complete commands recur from prompt to prompt, and making one costs ten times as much as copying it."""
    return _legal_entry(schema, legal)


def _legal_entry(schema: Schema, legal: Legal) -> prompt_pb2.LegalEntry:
    return prompt_pb2.LegalEntry(
        type=legal.type,
        payload=schema.command(legal.type, legal.fixed).SerializeToString(),
        fixed=[prompt_pb2.FixedField(name=n, ref=f"{n}:{v}") for n, v in legal.fixed],
        slots=legal.slots,
        flags=legal.flags,
        label=prompt_pb2.Label(
            key=legal.label or legal.type,
            arguments=[envelope_pb2.Argument(name=n, value=str(v)) for n, v in (*legal.fixed, *legal.about)],
        ),
    )


def head(referee: Referee[S], state: MatchState[S]) -> frame_pb2.MatchHead:
    """What everybody may know of a match."""
    message = frame_pb2.MatchHead(
        match_id=state.match_id,
        game=referee.game.id,
        version=state.version,
        hash=state.hash,
        status=state.phase.value,  # type: ignore[arg-type]
        revealed=state.revealed,
        created=match_pb2.MatchCreated.FromString(state.created),
        created_ms=state.created_ms,
        updated_ms=state.time_ms,
    )
    if state.away:
        # Nobody waits for who is out.
        message.away.extend(sorted(state.away - referee.out(state)))
    if state.leaving and _occupants(message.created.seats) != state.occupants:
        message.seats.extend(
            match_pb2.SeatOccupant(
                seat=seat,
                occupant_id=occupant.occupant_id,
                kind=match_pb2.OccupantKind.ValueType(occupant.kind),
                level=occupant.level,
            )
            for seat, occupant in enumerate(state.occupants)
        )
    if state.phase is Phase.CLOSED:
        message.closed.CopyFrom(match_pb2.MatchClosed.FromString(state.closed))
    return message


def _occupants(seats: Iterable[match_pb2.SeatOccupant]) -> tuple[Occupant, ...]:
    return tuple(Occupant(seat.occupant_id, seat.kind, seat.level) for seat in seats)


def snapshot(referee: Referee[S], state: MatchState[S], viewer: Viewer, now_ms: int) -> frame_pb2.Snapshot:
    """Everything a screen needs. The caller has checked that this viewer may look (ALL only after the reveal)."""
    if viewer.kind is ViewerKind.ALL and not state.revealed:
        raise PermissionError("everything is shown only after the reveal")
    return frame_pb2.Snapshot(
        head=head(referee, state),
        view=view_bytes(referee, state, viewer),
        prompts=prompts_for(referee, state, viewer),
        server_time_ms=now_ms,
        viewer=viewer_message(viewer),
    )


def viewer_message(viewer: Viewer) -> frame_pb2.Viewer:
    """A viewer as it travels."""
    return frame_pb2.Viewer(
        kind=viewer.kind.value,  # type: ignore[arg-type]
        seat=viewer.seat if viewer.kind is ViewerKind.SEAT else 0,
    )


def viewer_of(message: frame_pb2.Viewer) -> Viewer:
    """Reads a viewer; a missing kind is refused, never widened.

    Raises:
        ValueError: if no kind is given.
    """
    if message.kind == frame_pb2.VIEWER_KIND_UNSPECIFIED:
        raise ValueError("a viewer must be named: a seat, public, or all")
    if message.kind == frame_pb2.VIEWER_KIND_SEAT:
        return Viewer.of_seat(message.seat)
    return Viewer(ViewerKind(message.kind))


class FrameFold(Generic[S]):
    """Folds whole entries one after the other into replay frames for one viewer, as it was then.

    Args:
        referee: of the match's game.
        viewer: who looks. ALL only for revealed logs (the caller checks).
        texts: for timeline marks.
    """

    def __init__(self, referee: Referee[S], viewer: Viewer, texts: GameTexts | None = None) -> None:
        self.state: MatchState[S] | None = None
        self._referee = referee
        self._viewer = viewer
        self._texts = texts

    def advance(self, header: bytes, public: bytes, parts: Mapping[str, bytes], hash_: bytes) -> None:
        """Folds one entry without making a frame of it."""
        self.state = self._referee.fold(self.state, header, public, parts, hash_)

    def frame(self, header: bytes, public: bytes, parts: Mapping[str, bytes], hash_: bytes) -> rules_pb2.ReplayFrame:
        """Folds one entry and shows the viewer's screen after it."""
        step = self._referee.step(self.state, header, public, parts, hash_)
        self.state = step.state
        return self.show(step)

    def show(self, step: Step[S]) -> rules_pb2.ReplayFrame:
        """The viewer's screen after an entry that has been folded, here or elsewhere."""
        state = step.state
        head_message = match_pb2.EntryHeader.FromString(step.header)
        frame = rules_pb2.ReplayFrame(
            version=state.version,
            view=view_bytes(self._referee, state, self._viewer),
            prompts=prompts_for(self._referee, state, self._viewer),
            server_time_ms=head_message.server_time_ms,
            actor=head_message.actor,
            seat=head_message.seat,
            hash=step.hash,
        )
        seen = {a: body for a, body in step.parts.items() if self._viewer.may_see(a)}
        opened = step.opened or step.schema.opened(step.public, step.parts)
        shown, put_together = step.schema.shown(opened, seen)
        # Handed over when the frame is made they would be copied one by one, which takes three times as long.
        frame.events.MergeFrom(opened.written)
        for index in put_together:
            # Written anew, so that equal events are equal bytes.
            frame.events[index].body = shown[index].SerializeToString()
        self._mark(frame, shown, step.schema)
        return frame

    def _mark(self, frame: rules_pb2.ReplayFrame, events: list[Message], schema: Schema) -> None:
        for event in events:
            kind = _PLATFORM_MARKS.get(type(event))
            if kind is not None:
                frame.marks.add(version=frame.version, kind=kind).label.key = schema.code(event)
            elif self._texts is not None and (note := self._texts.mark(event)) is not None:
                label = frame.marks.add(version=frame.version, kind=_MARKS[note.kind]).label
                label.key = note.label
                for name, value in note.arguments:
                    label.arguments.add(name=name, value=value)

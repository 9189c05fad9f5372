"""Makes the envelope of a seat's command, honest or not, as its step says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message

from grimoire.fairness.commitments import NONCE_SIZE, nonce_seal
from grimoire.match.referee import PLATFORM
from grimoire.match.scenario.asking import prompt_id_of
from grimoire.match.scenario.document import Keys, ScenarioError
from grimoire.match.scenario.matching import lookup
from grimoire.match.scenario.plain import fill
from grimoire.match.scenario.spec import Command, Step
from grimoire.match.state import OpenPrompt
from grimoire.match.table import Answer, Table
from grimoire.v1 import envelope_pb2, match_pb2

__all__ = ["Sender"]


class Sender:
    """Sends for the seats of one table.

    Args:
        table: where the match is played.
        whole_view: gives the view of everything, for values looked up by `=path`.
    """

    def __init__(self, table: Table, whole_view: Callable[[], dict[str, Any]]) -> None:
        self._table = table
        self._whole_view = whole_view
        self._ids: dict[str, bytes] = {}

    def send(self, step: Step, command: Command, opened: OpenPrompt | None) -> tuple[Message | None, Answer]:
        """Sends a step's command.

        Returns:
            The message, where it is one that a prompt could list; and the answer.
        """
        standing = command.type in PLATFORM.standing | self._table.referee.game.standing
        message = None if command.payload is not None else self._message(step, command)
        payload = message.SerializeToString() if message is not None else command.payload or b""
        prompt_id = None if standing and command.prompt == "current" else prompt_id_of(step, opened)
        envelope = self._table.envelope(step.seat or 0, command.type, payload, prompt_id)
        self._disguise(step, envelope)
        return None if standing else message, self._table.submit(envelope, self._occupant(step))

    def _disguise(self, step: Step, envelope: envelope_pb2.Command) -> None:
        if step.seat is None:
            envelope.ClearField("seat")
        if step.match_id:
            envelope.match_id = step.match_id
        if isinstance(step.command_id, bytes):
            envelope.command_id = step.command_id
        elif step.command_id is not None:
            envelope.command_id = self._ids.setdefault(step.command_id, envelope.command_id)

    def _occupant(self, step: Step) -> str:
        """Who really sends: the holder of the claimed seat, of another, or a stranger."""
        occupants = self._table.running.occupants
        sender = step.sender or f"seat:{step.seat}"
        head, _, number = sender.partition(":")
        if head == "seat" and number.isdigit() and int(number) < len(occupants):
            return occupants[int(number)].occupant_id
        return f"stranger-{sender}"

    def _message(self, step: Step, command: Command) -> Message | None:
        """The command's message; None for a type that does not exist."""
        cls = self._table.referee.schema.commands.get(command.type)
        if cls is None:
            return None
        message = cls()
        fields = Keys(command.line)
        for name, value in command.fields.items():
            fields[name] = self._looked_up(value, step)
            fields.lines[name] = command.line
        self._use_own_nonce(step, message, fields)
        fill(message, fields, command.line, command.type)
        return message

    def _use_own_nonce(self, step: Step, message: Message, fields: Keys) -> None:
        """The scenario's nonces, where a step of the handshake names no other."""
        nonces = self._table.nonces
        seat = step.seat if step.seat is not None and step.seat < len(nonces) else 0
        if isinstance(message, match_pb2.OpenNonce) and "nonce" not in fields:
            message.nonce = nonces[seat]
        if isinstance(message, match_pb2.SealNonce) and "seal" not in fields:
            holder = match_pb2.OpenNonce(nonce=nonces[seat])
            if "of" in fields:
                fill(holder, {"nonce": fields.pop("of")}, step.line, "seal_nonce")
            if len(holder.nonce) != NONCE_SIZE:
                raise ScenarioError(step.line, f"`of` is a nonce of {NONCE_SIZE} bytes, not of {len(holder.nonce)}")
            message.seal = nonce_seal(self._table.referee.game.id, self._table.match_id, seat, holder.nonce)

    def _looked_up(self, value: Any, step: Step) -> Any:
        """The value itself, or what lies at `=path` in the view of everything."""
        if not isinstance(value, str) or not value.startswith("="):
            return value
        try:
            return lookup(self._whole_view(), value[1:])
        except LookupError as error:
            raise ScenarioError(step.line, f"{value!r} leads nowhere: {error}") from error

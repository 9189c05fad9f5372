"""The platform's rejections: stable codes and their sentences."""

from __future__ import annotations

from grimoire.engine import Illegal
from grimoire.v1 import envelope_pb2

RULES: dict[str, str] = {
    "malformed": "This command cannot be read: {detail}.",
    "too_large": "This command has {size} bytes; at most {limit} are allowed.",
    "unknown_match": "There is no match with this id. Check the id, or list your matches.",
    "not_a_seat": "You do not hold seat {seat} in this match. Watch it, or join a match of your own.",
    "rate_limited": "That was too fast. Try again in a moment.",
    "overloaded": "The service has more work than it can take right now. Try again in a moment.",
    "command_id_reused": "This command id was used for another command. Send new commands under new ids.",
    "match_over": "This match is over.",
    "match_not_started": "This match has not started: its handshake is still running.",
    "handshake_over": "The handshake of this match is over; its numbers are fixed.",
    "not_logged_yet": "What was promised of this match is not in the public log yet. Try again in a moment.",
    "seals_missing": "Not every seat has sealed its number yet; open yours when all have.",
    "nonce_already_set": "Your number is already fixed and cannot be changed any more.",
    "bad_nonce": "This number does not fit the seal you sent before.",
    "not_authorised": "Only the platform itself may send {type}.",
    "stale_prompt": "This question is no longer open. Look at the match again; it may have moved on.",
    "not_your_prompt": "This question is put to another seat.",
    "too_many_asides": "You have changed a lot here while nobody moved. Wait until the match has gone on.",
    "seats_are_kept": "In this match everybody keeps their seat; you may resign.",
    "already_left": "You have left this seat. Act in the match, or return to it, and it is yours again.",
    "not_left": "Whoever holds this seat is there.",
    "not_due": "The time of this prompt is not up yet.",
    "match_exists": "A different match with this id exists already.",
    "bad_option": "{detail}",
    "not_judged": "Something went wrong here. Nothing happened in the match; it has been reported.",
    "match_broken": "This match is out of order and has been set aside; nothing of it is lost.",
    "rules_not_installed": "This match is played by a version of the rules that this service does not have; nothing of "
    "it is lost.",
}
"""Code to sentence, in the order in which the platform checks where one command breaks several."""


NOT_HELD = "not_held"
"""Details of a call of the RulesService for a seat that its named occupant holds no more."""

RULES_NOT_INSTALLED = "rules_not_installed"
"""Also the details of a call of the RulesService that ends as UNIMPLEMENTED for that reason."""


def reject(
    code: str, *, version: int = 0, retry_after_ms: int = 0, field: str = "", **arguments: object
) -> envelope_pb2.Rejection:
    """A platform rejection with its sentence filled in.

    >>> reject("not_a_seat", seat=1).message
    'You do not hold seat 1 in this match. Watch it, or join a match of your own.'
    """
    return envelope_pb2.Rejection(
        code=code,
        message=RULES[code].format(**arguments),
        version=version,
        retry_after_ms=retry_after_ms,
        field=field,
        arguments=[envelope_pb2.Argument(name=k, value=str(v)) for k, v in arguments.items()],
    )


def reject_illegal(illegal: Illegal, version: int) -> envelope_pb2.Rejection:
    """A game's refusal as it travels."""
    return envelope_pb2.Rejection(
        code=illegal.code,
        rule=illegal.rule,
        message=illegal.message,
        version=version,
        field=illegal.field,
        arguments=[envelope_pb2.Argument(name=k, value=v) for k, v in illegal.arguments],
    )

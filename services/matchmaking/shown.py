"""Challenges and matches as a list shows them: every option with icon and words, names instead of accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from grimoire.v1 import manifest_pb2, match_pb2, matchmaking_pb2, quickplay_pb2, rating_pb2
from matchmaking.archive import EndedMatch
from matchmaking.challenge import Challenge, Sitter, Stage
from matchmaking.people import People
from matchmaking.ratings import Change
from matchmaking.texts import DEFAULT_LANGUAGE, TERMS, term

__all__ = ["show_challenge", "show_change", "show_ended", "show_options", "show_running", "show_seat"]

_YES_NO: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {"true": "yes", "false": "no"},
    "fi": {"true": "kyllä", "false": "ei"},
}


def show_challenge(
    challenge: Challenge, people: People, manifest: manifest_pb2.Manifest, language: str
) -> matchmaking_pb2.Challenge:
    """A challenge for one caller.

    Args:
        challenge: what is shown.
        people: who sits in it, as the caller sees them.
        manifest: the game in words; an empty one shows option names and values as they are.
        language: of the other words.
    """
    # To the world a challenge is done when it is matched; whether that match still runs is another list's matter.
    stage = Stage.MATCHED if challenge.stage is Stage.ENDED else challenge.stage
    return matchmaking_pb2.Challenge(
        challenge_id=challenge.challenge_id,
        game=challenge.game,
        options=show_options(challenge.options, manifest, language),
        seats=_seats(enumerate(challenge.seats), people, manifest),
        status=matchmaking_pb2.ChallengeStatus.ValueType(int(stage)),
        created_ms=challenge.created_ms,
        expires_ms=challenge.expires_ms,
        match_id=challenge.match_id if stage is Stage.MATCHED else "",
        mode=match_pb2.MatchMode.ValueType(challenge.mode),
        rematch_of=challenge.rematch_of,
        series=match_pb2.Series(series_id=challenge.series_id, game_no=challenge.game_no),
        reason=term(challenge.reason, language) if challenge.reason in TERMS else challenge.reason,
        by_invitation=challenge.by_invitation,
        spectator_delay_s=challenge.spectator_delay_s,
        leaving=match_pb2.Leaving.ValueType(challenge.leaving),
        grace_s=challenge.grace_s,
        host=challenge.owner == people.caller,
        # It shows what is hidden: to nobody but who arranged it.
        position=challenge.position if challenge.owner == people.caller else b"",
    )


def show_running(challenge: Challenge, people: People, manifest: manifest_pb2.Manifest) -> matchmaking_pb2.MatchSummary:
    """A match that is being played."""
    return matchmaking_pb2.MatchSummary(
        match_id=challenge.match_id,
        game=challenge.game,
        seats=_seats(challenge.sitters, people, manifest),
        created_ms=challenge.filled_ms,
        mode=match_pb2.MatchMode.ValueType(challenge.mode),
        substituted=challenge.substituted,
        leaving=match_pb2.Leaving.ValueType(challenge.leaving),
    )


def show_ended(
    match: EndedMatch, people: People, manifest: manifest_pb2.Manifest, changes: Iterable[Change]
) -> matchmaking_pb2.MatchSummary:
    """A match that is over."""
    return matchmaking_pb2.MatchSummary(
        match_id=match.match_id,
        game=match.game,
        seats=_seats(match.sitters, people, manifest),
        finished=True,
        closed=match_pb2.MatchClosed.FromString(match.closed),
        created_ms=match.created_ms,
        mode=match_pb2.MatchMode.ValueType(match.mode),
        rating_changes=[show_change(change) for change in changes],
        substituted=match.substituted,
    )


def show_change(change: Change) -> rating_pb2.RatingChange:
    """What a rated match did to one player."""
    return rating_pb2.RatingChange(
        match_id=change.match_id,
        game=change.game,
        seat=change.seat,
        ended_ms=change.ended_ms,
        rank=change.rank,
        before=change.before.message,
        after=change.after.message,
        difficulty_before=change.difficulty_before.message if change.difficulty_before else None,
        difficulty_after=change.difficulty_after.message if change.difficulty_after else None,
    )


def show_options(
    options: Iterable[tuple[str, str]], manifest: manifest_pb2.Manifest, language: str
) -> list[quickplay_pb2.ShownOption]:
    """Options as an icon and a word each; those at their default are marked."""
    schemas = {schema.name: schema for schema in manifest.options}
    return [_option(name, value, schemas.get(name), language) for name, value in options]


def _option(
    name: str, value: str, schema: manifest_pb2.OptionSchema | None, language: str
) -> quickplay_pb2.ShownOption:
    shown = quickplay_pb2.ShownOption(name=name, value=value, label=name, value_label=value)
    if schema is None:
        return shown
    shown.label = schema.label or name
    shown.icon = schema.icon
    shown.is_default = value == schema.default
    choice = next((item for item in schema.choices if item.value == value), None)
    if choice is not None:
        shown.value_label = choice.label or value
        shown.icon = choice.icon or schema.icon
    elif schema.type == manifest_pb2.OPTION_TYPE_BOOL:
        shown.value_label = _YES_NO.get(language, _YES_NO[DEFAULT_LANGUAGE]).get(value, value)
    elif schema.unit:
        shown.value_label = f"{value} {schema.unit}"
    return shown


def _seats(
    seats: Iterable[tuple[int, Sitter | None]], people: People, manifest: manifest_pb2.Manifest
) -> list[matchmaking_pb2.ChallengeSeat]:
    return [show_seat(number, sitter, people, manifest) for number, sitter in seats]


def show_seat(
    number: int, sitter: Sitter | None, people: People, manifest: manifest_pb2.Manifest
) -> matchmaking_pb2.ChallengeSeat:
    """One seat and who sits there; None: it is open."""
    levels = {level.level: level.name for level in manifest.bot_levels}
    seat = matchmaking_pb2.ChallengeSeat(seat=number)
    if sitter is not None:
        seat.bot = sitter.bot
        seat.level = sitter.level
        seat.mine = sitter.account_id == people.caller
        seat.name = levels.get(sitter.level) or sitter.level or people.name(sitter.account_id)
        if not sitter.bot:
            seat.rating.CopyFrom(people.rating(sitter.account_id))
    return seat

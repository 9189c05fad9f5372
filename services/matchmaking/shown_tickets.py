"""Tickets, parties, queues and ratings as players see them: words for options, names instead of accounts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from grimoire.quickplay import Policy
from grimoire.v1 import manifest_pb2, match_pb2, quickplay_pb2, rating_pb2
from matchmaking.parties import Party
from matchmaking.people import People
from matchmaking.ratings import Difficulty
from matchmaking.shown import show_options
from matchmaking.skill import Skill
from matchmaking.tickets import Check, Queue, Ticket, TicketStage

__all__ = ["show_difficulty", "show_leaderboard", "show_party", "show_policy", "show_queue", "show_ticket"]

_Mode: Final = match_pb2.MatchMode


def show_ticket(
    ticket: Ticket,
    people: People,
    manifest: manifest_pb2.Manifest,
    language: str,
    *,
    now_ms: int,
    policy: Policy,
    match_id: str = "",
) -> quickplay_pb2.Ticket:
    """A ticket.

    Args:
        ticket: what is shown.
        people: its members, and during a ready check the others too.
        manifest: the game in words.
        language: of the other words.
        now_ms: UTC ms; the window depends on it.
        policy: the window's numbers.
        match_id: once there is one.
    """
    shown = quickplay_pb2.Ticket(
        ticket_id=ticket.ticket_id,
        game=ticket.queue.game,
        preset=ticket.preset,
        options=show_options(ticket.queue.options, manifest, language),
        seats=ticket.queue.seats,
        mode=_Mode.ValueType(ticket.queue.mode),
        status=quickplay_pb2.TicketStatus.ValueType(int(ticket.stage)),
        generation=ticket.generation,
        since_ms=ticket.since_ms,
        expires_ms=ticket.expires_ms,
        members=[_member(people, account_id) for account_id in ticket.members],
        challenge_id=ticket.challenge_id,
        match_id=match_id,
        party_id=ticket.party_id,
    )
    if ticket.stage is TicketStage.WAITING:
        shown.window.CopyFrom(_window(policy.window(now_ms - ticket.since_ms)))
    if ticket.check is not None:
        shown.ready_check.CopyFrom(_check(ticket.check, people))
    return shown


def _member(people: People, account_id: str) -> quickplay_pb2.TicketMember:
    return quickplay_pb2.TicketMember(
        name=people.name(account_id), rating=people.rating(account_id), mine=account_id == people.caller
    )


def _window(points: float) -> quickplay_pb2.Window:
    anyone = points == math.inf
    return quickplay_pb2.Window(points=0 if anyone else int(points), anyone=anyone)


def _check(check: Check, people: People) -> quickplay_pb2.ReadyCheck:
    return quickplay_pb2.ReadyCheck(
        check_id=check.check_id,
        expires_ms=check.expires_ms,
        seats=[
            quickplay_pb2.ReadySeat(
                seat=seat.seat,
                name=people.name(seat.account_id),
                rating=people.rating(seat.account_id),
                mine=seat.account_id == people.caller,
                ready=seat.ready,
            )
            for seat in check.seats
        ],
    )


def show_party(party: Party, people: People, ticket_id: str) -> quickplay_pb2.Party:
    """A party, with the id of the ticket it waits with."""
    return quickplay_pb2.Party(
        party_id=party.party_id,
        game=party.game,
        members=[_member(people, account_id) for account_id in party.members],
        ticket_id=ticket_id,
        expires_ms=party.expires_ms,
    )


def show_queue(
    queue: Queue, preset: manifest_pb2.Preset, waiting: int, manifest: manifest_pb2.Manifest, language: str
) -> quickplay_pb2.Queue:
    """A queue under the name of its preset (an empty one where it has none), with the number of people in it."""
    return quickplay_pb2.Queue(
        game=queue.game,
        preset=preset.preset,
        name=preset.name,
        options=show_options(queue.options, manifest, language),
        seats=queue.seats,
        mode=_Mode.ValueType(queue.mode),
        waiting=waiting,
    )


def show_policy(policy: Policy) -> quickplay_pb2.MatchingPolicy:
    """The numbers by which tickets are matched."""
    return quickplay_pb2.MatchingPolicy(
        first_window_points=policy.first_window,
        points_per_s=policy.points_per_s,
        anyone_after_s=round(policy.anyone_after_s),
        pass_every_ms=round(policy.pass_every_s * 1000),
        ready_s=round(policy.ready_s),
        ticket_s=round(policy.ticket_s),
    )


def show_leaderboard(rows: Sequence[tuple[str, Skill]], people: People) -> Iterable[rating_pb2.LeaderboardRow]:
    """The best first; equal points share a place."""
    place, points = 0, None
    for number, (account_id, skill) in enumerate(rows, 1):
        if skill.points != points:
            place, points = number, skill.points
        yield rating_pb2.LeaderboardRow(
            place=place, name=people.name(account_id), rating=skill.message, mine=account_id == people.caller
        )


def show_difficulty(difficulty: Difficulty) -> rating_pb2.DifficultyRow:
    """What people play against, rated as they are."""
    return rating_pb2.DifficultyRow(
        options=[match_pb2.OptionValue(name=name, value=value) for name, value in difficulty.options],
        seats=difficulty.seats,
        rating=difficulty.skill.message,
        won=difficulty.won,
    )

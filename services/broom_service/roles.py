"""Roles and events by id, and what the rules ask of them (BS-2.4, BS-2.5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from broom_service.catalogue import DATA, EventRecord, RoleRecord

__all__ = [
    "BLACK_DISTILLERY",
    "BLACK_MARKET",
    "BRAVE",
    "BRAVE_HEART",
    "COWARDLY",
    "EMPTY_HANDED",
    "EVENT",
    "EVENTS",
    "FLOCK_TOGETHER",
    "MORE_OR_LESS",
    "PERILOUS_PLACES",
    "PROTECTED_PLACES",
    "ROLES",
    "ROLE_IDS",
    "STANCES",
    "THE_UPPER_HAND",
    "THE_WORKS",
    "in_order",
    "roles_to_choose",
]

ROLES: Final[dict[str, RoleRecord]] = {role.id: role for role in DATA.roles}
"""In catalogue order."""

ROLE_IDS: Final = tuple(ROLES)
_PLACE: Final = {role: place for place, role in enumerate(ROLE_IDS)}

EVENTS: Final[dict[str, EventRecord]] = {event.id: event for event in DATA.events}

BRAVE: Final = "brave"
COWARDLY: Final = "cowardly"
STANCES: Final = (BRAVE, COWARDLY)
EVENT: Final = "event"
"""`instead`: what the event of the round offers (BS-9.2)."""

MORE_OR_LESS: Final = "more_or_less"
BLACK_MARKET: Final = "black_market"
BLACK_DISTILLERY: Final = "black_distillery"
BRAVE_HEART: Final = "brave_heart"
PERILOUS_PLACES: Final = "perilous_places"
PROTECTED_PLACES: Final = "protected_places"
THE_UPPER_HAND: Final = "the_upper_hand"
EMPTY_HANDED: Final = "empty_handed"
THE_WORKS: Final = "the_works"
FLOCK_TOGETHER: Final = "flock_together"


def in_order(roles: Iterable[str]) -> tuple[str, ...]:
    """Roles in catalogue order.

    >>> in_order(("weather_fairy", "root_gatherer"))
    ('root_gatherer', 'weather_fairy')
    """
    return tuple(sorted(roles, key=_PLACE.__getitem__))


def roles_to_choose(event: str) -> tuple[int, int]:
    """The fewest and the most roles that a seat chooses in a round (BS-4.3).

    >>> roles_to_choose("the_works"), roles_to_choose("more_or_less")
    ((4, 4), (1, 5))
    """
    if event == MORE_OR_LESS:  # BS-9.1
        params = EVENTS[event].params
        return params.min_roles, params.max_roles
    return DATA.constants.roles_per_round, DATA.constants.roles_per_round

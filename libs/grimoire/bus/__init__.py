"""NATS as transport between the services: subjects, roles, connections, and an embedded broker."""

from grimoire.bus.connection import Bus, BusLimits, BusSettings, Message, Subscription
from grimoire.bus.correlation import correlated, correlation_id, incoming, new_correlation_id
from grimoire.bus.embedded import EmbeddedServer
from grimoire.bus.errors import (
    BusError,
    NoOwnerError,
    NotPermittedError,
    OldServerError,
    RequestTimeoutError,
    ServerStartError,
    TooLargeError,
    UnreachableError,
)
from grimoire.bus.roles import BOTS, GATEWAY, MATCHMAKING, REPLAY, game_role
from grimoire.bus.subjects import (
    PARTITIONS,
    SubjectError,
    bots_subject,
    command_subject,
    event_subject,
    free_subject,
    lobby_subject,
    log_subject,
    owner_subject,
    partition_commands,
    partition_of,
    who_subject,
)
from grimoire.bus.version import MIN_SERVER_VERSION

__all__ = [
    "BOTS",
    "GATEWAY",
    "MATCHMAKING",
    "MIN_SERVER_VERSION",
    "PARTITIONS",
    "REPLAY",
    "Bus",
    "BusError",
    "BusLimits",
    "BusSettings",
    "EmbeddedServer",
    "Message",
    "NoOwnerError",
    "NotPermittedError",
    "OldServerError",
    "RequestTimeoutError",
    "ServerStartError",
    "SubjectError",
    "Subscription",
    "TooLargeError",
    "UnreachableError",
    "bots_subject",
    "command_subject",
    "correlated",
    "correlation_id",
    "event_subject",
    "free_subject",
    "game_role",
    "incoming",
    "lobby_subject",
    "log_subject",
    "new_correlation_id",
    "owner_subject",
    "partition_commands",
    "partition_of",
    "who_subject",
]

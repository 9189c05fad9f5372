"""What the edge counts beside its commands and streams, on the same page as everything else of the process."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge

from grimoire.runtime.metrics import METRICS

__all__ = ["CHAT", "CONNECTIONS", "GUESTS", "REQUESTS", "SIGN_INS"]

GUESTS: Final = Counter("guests", "Guest accounts made", namespace="grimoire", registry=METRICS.registry)

SIGN_INS: Final = Counter(
    "sign_ins",
    "Passwords shown: signed_in, signed_up, wrong_password, locked",
    ("result",),
    namespace="grimoire",
    registry=METRICS.registry,
)

CHAT: Final = Counter(
    "chat_messages", "Messages: said, or refused by code", ("result",), namespace="grimoire", registry=METRICS.registry
)

REQUESTS: Final = Counter(
    "web_requests",
    "HTTP requests of browsers, by kind (rpc, file, other) and status",
    ("kind", "status"),
    namespace="grimoire",
    registry=METRICS.registry,
)

CONNECTIONS: Final = Gauge("web_connections", "Open HTTP connections", namespace="grimoire", registry=METRICS.registry)

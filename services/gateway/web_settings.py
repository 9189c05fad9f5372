"""How the edge serves browsers: from the environment, with defaults that need no set-up.

| Variable | What it sets | Default |
|---|---|---|
| `GRIMOIRE_WEB_ORIGIN` | where browsers find this installation, e.g. `https://grimoire.example`; several with commas | this machine and bare addresses |
| `GRIMOIRE_WEB_PROXIES` | addresses of reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed; with commas | none |
| `GRIMOIRE_WEB_DIST` | folder of the built web client | `web/dist` beside this service |
"""  # noqa: E501

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from grimoire.runtime.config import ConfigError

__all__ = ["WebLimits", "WebSettings"]


class WebLimits(msgspec.Struct, frozen=True):
    """Sizes, rates and times of HTTP.

    Attributes:
        requests_per_s: of one address in the long run.
        request_burst: of these, at once.
        connections: open at once, of all addresses.
        connections_per_address: of one address.
        header_bytes: of a request's head.
        header_s: a request's head is there within so long, or the connection ends.
        idle_s: a connection without a request is kept for so long.
        body_bytes: of a request.
        file_bytes: of a request with a file in it.
        body_s: a request's body is there within so long.
        file_s: the same, with a file in it.
        stalled_s: a reader that takes nothing for so long is cut off.
        stop_s: running requests have so long to end when the service stops.
    """

    requests_per_s: float = 50.0
    request_burst: int = 500
    connections: int = 10_000
    connections_per_address: int = 1_024
    header_bytes: int = 16 * 1024
    header_s: float = 10.0
    idle_s: float = 75.0
    body_bytes: int = 64 * 1024
    file_bytes: int = 23 * 1024 * 1024
    body_s: float = 15.0
    file_s: float = 120.0
    stalled_s: float = 20.0
    stop_s: float = 2.0


class WebSettings(msgspec.Struct, frozen=True):
    """Settings of the browsers' edge.

    Attributes:
        origins: `scheme://host[:port]`, lower case; none: see `gateway.guard`.
        proxies: addresses of reverse proxies that are believed.
        dist: folder of the built web client.
        limits: sizes, rates and times.
    """

    origins: frozenset[str] = frozenset()
    proxies: tuple[str, ...] = ()
    dist: Path = Path(__file__).resolve().parent.parent / "web" / "dist"
    limits: WebLimits = WebLimits()

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> WebSettings:
        """Reads the variables in this module's table.

        Raises:
            ConfigError: if one cannot be used.
        """
        found = os.environ if env is None else env
        dist = found.get("GRIMOIRE_WEB_DIST", "").strip()
        return cls(
            origins=frozenset(map(_origin, _parts(found, "GRIMOIRE_WEB_ORIGIN"))),
            proxies=tuple(map(_address, _parts(found, "GRIMOIRE_WEB_PROXIES"))),
            dist=Path(dist).expanduser().absolute() if dist else cls().dist,
        )


def _parts(env: Mapping[str, str], name: str) -> list[str]:
    return [part.strip() for part in env.get(name, "").split(",") if part.strip()]


def _origin(text: str) -> str:
    parts = urlsplit(text.rstrip("/").lower())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.username:
        raise ConfigError(f"GRIMOIRE_WEB_ORIGIN must be like https://grimoire.example; it is {text!r}")
    default = {"http": 80, "https": 443}[parts.scheme]
    netloc = parts.netloc.removesuffix(f":{default}") if parts.port == default else parts.netloc
    return f"{parts.scheme}://{netloc}"


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False)) if "/" in text else str(ipaddress.ip_address(text))
    except ValueError:
        raise ConfigError(f"GRIMOIRE_WEB_PROXIES must be addresses or networks; one is {text!r}") from None

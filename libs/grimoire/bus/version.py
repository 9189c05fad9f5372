"""The oldest broker that will do."""

from __future__ import annotations

import re
from typing import Final

from grimoire.bus.errors import OldServerError

__all__ = ["MIN_SERVER_VERSION", "check_server_version"]

MIN_SERVER_VERSION: Final = (2, 10, 0)
"""Older brokers silently drop settings they do not know, permissions among them."""


def check_server_version(version: str) -> None:
    """Accepts a broker by its version.

    Raises:
        OldServerError: if it is older than `MIN_SERVER_VERSION`, or its version cannot be read.

    >>> check_server_version("2.15.1")
    >>> check_server_version("2.9.25")
    Traceback (most recent call last):
    grimoire.bus.errors.OldServerError: the broker is nats-server 2.9.25; 2.10.0 or newer is needed
    """
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+)", version)
    if found is None or tuple(int(number) for number in found.groups()) < MIN_SERVER_VERSION:
        wanted = ".".join(map(str, MIN_SERVER_VERSION))
        raise OldServerError(f"the broker is nats-server {version}; {wanted} or newer is needed")

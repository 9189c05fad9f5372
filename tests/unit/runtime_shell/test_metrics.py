from __future__ import annotations

import asyncio
import socket
import urllib.request

import pytest

from grimoire.runtime.config import Address, ConfigError
from grimoire.runtime.metrics import METRICS, Metrics, MetricsServer


def fetch(server: MetricsServer) -> str:
    with urllib.request.urlopen(f"http://{server.address}/metrics", timeout=10) as page:
        return page.read().decode()


async def test_they_are_shown_over_http_on_a_free_port() -> None:
    metrics = Metrics()
    metrics.commands.labels("two_towers", "accepted").inc(3)
    metrics.commit_group.labels("two_towers").observe(7)
    server = MetricsServer.start(Address("127.0.0.1", 0), metrics)
    try:
        assert server.address.port != 0
        page = await asyncio.to_thread(fetch, server)
    finally:
        await server.close()
    assert 'grimoire_commands_total{code="accepted",game="two_towers"} 3.0' in page
    assert 'grimoire_commit_group_commands_bucket{game="two_towers",le="8.0"} 1.0' in page
    with socket.socket() as probe:
        assert probe.connect_ex(server.address) != 0


async def test_a_taken_port_names_the_variable() -> None:
    server = MetricsServer.start(Address("127.0.0.1", 0), Metrics())
    try:
        with pytest.raises(ConfigError, match="GRIMOIRE_METRICS"):
            MetricsServer.start(server.address, Metrics())
    finally:
        await server.close()


def test_two_sets_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.duplicates.labels("g").inc()
    assert one.registry.get_sample_value("grimoire_duplicates_total", {"game": "g"}) == 1
    assert other.registry.get_sample_value("grimoire_duplicates_total", {"game": "g"}) is None


def test_what_is_promised_is_counted() -> None:
    families = {family.name for family in METRICS.registry.collect()}
    promised = (
        *("commands", "command_seconds", "commit_group_commands", "conflicts", "duplicates", "publication_lag_seconds"),
        *("folded_entries", "fold_seconds", "open_matches", "clock_lag_seconds", "verifier_failures", "rpc_calls"),
    )
    assert {f"grimoire_{name}" for name in promised} <= families

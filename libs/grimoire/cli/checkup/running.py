"""A stack that runs in this home: whether it is what is installed, healthy, and without complaints."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import urllib.error
import urllib.request
from collections.abc import Iterable
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from grimoire.cli.checkup.findings import Finding, fail, fine, warn
from grimoire.runtime.config import Config, RunFile
from grimoire.runtime.rpc import is_serving, open_channel

__all__ = ["running"]

_ANSWER_S: Final = 3.0
_EDGE: Final = ("gateway",)
_NO_GRPC: Final = ("nats", "web", "metrics")

_COMPLAINTS: Final = {
    "grimoire_broken_matches_total": (
        "matches were set aside: their logs no longer fold",
        "The log says `match_broken` with their ids. Keep the data, and report it.",
    ),
    "grimoire_verifier_failures_total": (
        "logs were found not to hold",
        "The log says `log_does_not_hold` with match, check and version. Somebody or something changed data.",
    ),
    "grimoire_unruled_matches_total": (
        "times a match could not be opened because its rules are not installed",
        "Install them: services/README.md says how old rules live on.",
    ),
    "grimoire_service_restarts_total": (
        "times a service was started again after it failed",
        "The log says `service_failed` and why.",
    ),
}
"""Counters that should stand at 0."""


async def running(config: Config) -> list[Finding]:
    """Nothing where no stack runs."""
    stack = RunFile.read(config.home)
    if stack is None:
        return []
    found = [_version(stack)]
    pages = [address for name, address in stack.addresses.items() if name.split("/")[0] == "metrics"]
    for address in pages:
        found += await asyncio.to_thread(_readiness, address)
    found += await _grpc(config, stack)
    found += await asyncio.to_thread(_complaints, pages)
    return found


def _version(stack: RunFile) -> Finding:
    installed = importlib.metadata.version("grimoire")
    if stack.version != installed:
        told = f"The running stack is version {stack.version}; {installed} is installed."
        return warn("stack", told, "Restart it to run what is installed.")
    return fine("stack", f"The running stack (process {stack.pid}) is version {installed}, as installed.")


def _readiness(address: str) -> list[Finding]:
    try:
        services = json.loads(_get(f"http://{address}/readyz"))["services"]
    except (OSError, ValueError, KeyError):
        return [fail("readiness", f"Nothing answers at http://{address}/readyz.", "Restart the stack.")]
    found = []
    for name, faults in sorted(services.items()):
        if faults:
            told = f"{name} is not ready: " + "; ".join(f"{part}: {why}" for part, why in sorted(faults.items())) + "."
            found.append(fail("readiness", told, "Mend what it lacks; it comes back by itself."))
        else:
            found.append(fine("readiness", f"{name} is ready."))
    return found


async def _grpc(config: Config, stack: RunFile) -> list[Finding]:
    found = []
    for name, address in sorted(stack.addresses.items()):
        if name.split("/")[0] in _NO_GRPC:
            continue
        async with open_channel(address, tls=None if name in _EDGE else config.tls) as channel:
            if not await is_serving(channel, within_s=_ANSWER_S):
                told = f"{name} at {address} does not say that it serves."
                found.append(fail("services", told, "See its log; `grimoire up` starts it again where it can."))
    return found or [fine("services", "Every service says that it serves.")]


def _complaints(pages: Iterable[str]) -> list[Finding]:
    counts = dict.fromkeys(_COMPLAINTS, 0.0)
    for address in pages:
        try:
            page = _get(f"http://{address}/metrics").decode()
        except OSError:
            continue  # told above
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                if sample.name in counts:
                    counts[sample.name] += sample.value
    found = []
    for name, (what, mend) in _COMPLAINTS.items():
        if counts[name]:
            found.append(warn("complaints", f"{counts[name]:.0f} {what}.", mend))
    return found or [fine("complaints", "It has nothing to complain of since it started.")]


def _get(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_ANSWER_S) as page:  # noqa: S310 (an address of our own run file)
            body: bytes = page.read()
    except urllib.error.HTTPError as error:
        return error.read()
    return body

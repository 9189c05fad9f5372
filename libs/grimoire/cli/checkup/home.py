"""The home folder: rights, keys, logs, what a former stack left behind, the ports it will want, the settings."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import os
import socket
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import psutil
from cryptography import x509

from grimoire.cli.checkup.findings import Finding, fail, fine, size, warn
from grimoire.runtime.config import Address, Config, RunFile
from grimoire.runtime.keys import KeyFileError, host_key_ids

__all__ = ["folders", "keys", "logs", "ports", "run_file", "settings", "tls"]

_MUCH_LOG: Final = 10**9
_FAST_LOG: Final = 100 * 10**3
_WATCHED_S: Final = 0.5
_KEY_BYTES: Final = 64
_SOON_DAYS: Final = 30

_KNOWN: Final = frozenset(
    {
        "GRIMOIRE_HOME",
        "GRIMOIRE_NATS_URL",
        "GRIMOIRE_DATABASE_URL",
        "GRIMOIRE_METRICS",
        "GRIMOIRE_OTLP",
        "GRIMOIRE_TRACE_FILE",
        "GRIMOIRE_TRACE_RATIO",
        "GRIMOIRE_LOG_LEVEL",
        "GRIMOIRE_LOG_FORMAT",
        "GRIMOIRE_STOP_TIMEOUT",
        "GRIMOIRE_TLS_CERTIFICATE",
        "GRIMOIRE_TLS_KEY",
        "GRIMOIRE_TLS_AUTHORITY",
        "GRIMOIRE_PRIVATE_NETWORK",
        "GRIMOIRE_PARENT",
    }
)
_FAMILIES: Final = ("GRIMOIRE_DATABASE_URL_", "GRIMOIRE_ADDRESS_", "GRIMOIRE_BOTS_", "GRIMOIRE_WEB_", "GRIMOIRE_EDGE_")


def settings(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Variables that nobody reads are most often misspelt."""
    strange = [
        name
        for name in sorted(environ)
        if name.startswith("GRIMOIRE_") and name not in _KNOWN and not name.startswith(_FAMILIES)
    ]
    for name in strange:
        near = difflib.get_close_matches(name, _KNOWN, 1)
        meant = f"Did you mean {near[0]}?" if near else "Remove it, or see deploy/README.md for those that are read."
        yield warn("settings", f"{name} is set, and nothing reads it.", meant)
    if not strange:
        yield fine("settings", "Every variable that is set is one that is read.")


def folders(config: Config) -> Iterator[Finding]:
    """Who may read and write them."""
    home = config.home
    if not home.exists():
        parent = next(folder for folder in home.parents if folder.is_dir())
        if os.access(parent, os.W_OK):
            yield fine("home", f"{home} will be made at the first start.")
        else:
            yield fail("home", f"{home} cannot be made.", f"Make it, or set GRIMOIRE_HOME; {parent} is not yours.")
        return
    well = True
    for folder in (home, config.data_dir, config.keys_dir, config.run_dir, config.log_dir):
        if folder.exists() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            well = False
            yield fail("home", f"{folder} is not yours to write.", f"Run as its owner, or: chown -R $USER {folder}")
    if os.name == "posix":
        for folder in (config.data_dir, config.keys_dir):
            mode = stat.S_IMODE(folder.stat().st_mode) if folder.exists() else 0
            if mode & 0o077:
                well = False
                say = fail if folder == config.keys_dir else warn
                yield say("home", f"Others may look into {folder} (mode {mode:03o}).", f"chmod 700 {folder}")
    if well:
        yield fine("home", f"{home} is yours alone.")


def keys(config: Config) -> Iterator[Finding]:
    """Key files: there, whole, and for their owner alone. None is made here."""
    folder = config.keys_dir
    files = sorted(folder.glob("*.key")) if folder.is_dir() else []
    has_data = config.data_dir.is_dir() and any(config.data_dir.glob("*.db"))
    if not files:
        if has_data:
            yield fail(
                "keys",
                f"There are data but no keys in {folder}.",
                "Put back the keys these data were made with before you start: new ones would shut every player out.",
            )
        else:
            yield fine("keys", "Keys will be made at the first start.")
        return
    well = True
    for path in files:
        fault, mend = _key_fault(path)
        if fault:
            well = False
            yield fail("keys", f"{path} {fault}.", mend)
    missing = [name for name in ("session", "occupant", "service") if not (folder / f"{name}.key").exists()]
    if has_data and missing:
        well = False
        yield fail(
            "keys",
            f"Keys are missing in {folder}: {', '.join(missing)}.",
            "Put them back from where they were kept: new ones do not fit these data.",
        )
    try:
        count = len(host_key_ids(folder))
    except KeyFileError:
        return  # told above
    if has_data and not count:
        yield fail("keys", f"No host key lies in {folder}.", "Put it back: without it no match can go on.")
    elif well:
        yield fine("keys", f"{len(files)} keys, {count} of them host keys, for their owner alone.")


def _key_fault(path: Path) -> tuple[str, str]:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if os.name == "posix" and mode & 0o077:
            return f"can be read by others (mode {mode:03o})", f"chmod 600 {path}"
        text = path.read_text(encoding="ascii").strip()
        if len(bytes.fromhex(text)) * 2 != _KEY_BYTES:
            return "is no key (64 hex digits)", "Put it back from where keys are kept."
    except OSError as error:
        return f"cannot be read ({error.strerror})", "Run as the owner of this home."
    except ValueError:
        return "is no key (64 hex digits)", "Put it back from where keys are kept."
    return "", ""


def run_file(config: Config) -> Iterator[Finding]:
    """What a stack that was killed left behind."""
    path = RunFile.path(config.home)
    if not path.exists():
        yield fine("run file", "No stack runs in this home.")
    elif (running := RunFile.read(config.home)) is not None:
        yield fine("run file", f"A stack runs in this home (process {running.pid}).")
    else:
        yield warn(
            "run file",
            f"{path} was left behind by a stack that is gone: it was killed, or the machine went down.",
            "Nothing needs doing: the next start replaces it. Look into the logs for why it ended.",
        )


async def logs(config: Config) -> list[Finding]:
    """How large they are, and whether they grow while one looks."""
    before = _sizes(config.log_dir)
    if not before:
        return [fine("logs", "There are no log files.")]
    await asyncio.sleep(_WATCHED_S)
    after = _sizes(config.log_dir)
    whole = sum(after.values())
    growing = {path: (after[path] - before.get(path, 0)) / _WATCHED_S for path in after}
    fast = [path for path, rate in growing.items() if rate > _FAST_LOG]
    if fast:
        path = max(fast, key=lambda one: growing[one])
        told = f"{path} grows by {size(growing[path])} a second."
        return [warn("logs", told, "See what it says; GRIMOIRE_LOG_LEVEL=warning makes services quieter.")]
    if whole > _MUCH_LOG:
        largest = max(after, key=lambda one: after[one])
        told = f"Logs take {size(whole)}; the largest is {largest} ({size(after[largest])})."
        return [warn("logs", told, "Rotate them (logrotate), or remove old ones.")]
    return [fine("logs", f"{len(after)} log files take {size(whole)}.")]


def _sizes(folder: Path) -> dict[Path, int]:
    found = {}
    for path in folder.rglob("*") if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            if path.is_file():
                found[path] = path.stat().st_size
    return found


def ports(config: Config) -> Iterator[Finding]:
    """Whether the addresses are free; not asked while a stack runs here, which then has them."""
    if RunFile.read(config.home) is not None:
        return
    taken = [
        (name, address)
        for name, address in {**config.addresses, "metrics": config.metrics}.items()
        if address.port and _is_local(address) and not _is_free(address)
    ]
    for name, address in taken:
        variable = "GRIMOIRE_METRICS" if name == "metrics" else f"GRIMOIRE_ADDRESS_{name.upper()}"
        yield fail(
            "ports",
            f"{address}, where {name} listens, is taken{_by_whom(address)}.",
            f"Stop that program, or set {variable} to another address.",
        )
    if not taken:
        yield fine("ports", "Every address that is needed is free.")


def _is_local(address: Address) -> bool:
    own = {"0.0.0.0", "::", "localhost"}  # noqa: S104 (compared with, not bound to)
    own |= {one.address for some in psutil.net_if_addrs().values() for one in some}
    return address.host in own or address.is_loopback


def _is_free(address: Address) -> bool:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError:
            return False
    return True


def _by_whom(address: Address) -> str:
    with contextlib.suppress(psutil.Error, OSError):
        for one in psutil.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == address.port and one.pid:
                return f" by {psutil.Process(one.pid).name()} (process {one.pid})"
    return ""


def tls(config: Config) -> Iterator[Finding]:
    """Certificates for calls between machines."""
    if config.tls is None:
        exposed = [
            name
            for name, address in config.addresses.items()
            if name not in ("gateway", "web") and not address.is_loopback
        ]
        if exposed and not config.private_network:
            yield fail(
                "tls",
                f"{', '.join(exposed)} would listen beyond this machine without TLS.",
                "Set GRIMOIRE_TLS_CERTIFICATE, …_KEY and …_AUTHORITY, or GRIMOIRE_PRIVATE_NETWORK=yes.",
            )
        return
    if os.name == "posix" and stat.S_IMODE(config.tls.key.stat().st_mode) & 0o077:
        yield fail("tls", f"{config.tls.key} can be read by others.", f"chmod 600 {config.tls.key}")
    try:
        certificate = x509.load_pem_x509_certificate(config.tls.certificate.read_bytes())
    except (OSError, ValueError):
        yield fail("tls", f"{config.tls.certificate} is no certificate in PEM form.", "Correct the file.")
        return
    left = (certificate.not_valid_after_utc.timestamp() - time.time()) / 86_400
    if left < 0:
        yield fail("tls", f"{config.tls.certificate} expired {-left:.0f} days ago.", "Renew it.")
    elif left < _SOON_DAYS:
        yield warn("tls", f"{config.tls.certificate} expires in {left:.0f} days.", "Renew it soon.")
    else:
        yield fine("tls", f"{config.tls.certificate} is valid for {left:.0f} more days.")

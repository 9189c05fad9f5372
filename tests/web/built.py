"""The client as it is built here, once for all processes that test it."""

from __future__ import annotations

import fcntl
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "services" / "web"


@functools.cache
def dist() -> Path:
    """The folder of the built client; builds it if it is out of date. `GRIMOIRE_WEB_DIST` names another build."""
    if named := os.environ.get("GRIMOIRE_WEB_DIST"):
        return Path(named)
    lock = Path(tempfile.gettempdir()) / f"grimoire-web-{os.getuid()}.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        subprocess.run([sys.executable, str(ROOT / "tools" / "build_web.py")], check=True, timeout=600)
    return WEB / "dist"


def node() -> tuple[str, dict[str, str]]:
    """Node as the build uses it, and the environment it runs in."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from build_web import _node
    finally:
        sys.path.remove(str(ROOT / "tools"))
    folder = _node()
    return str(folder / "node"), {**os.environ, "PATH": os.pathsep.join([str(folder), os.environ["PATH"]])}

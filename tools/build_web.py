"""Builds the web client into services/web/dist (`make web`; `make run` and the tests call it too).

Node comes from the system where it is new enough, else from a wheel that is installed beside everything else. Nothing
is done when nothing has changed since the last build.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "services" / "web"
DIST = WEB / "dist"
NODE_LOCK = ROOT / "requirements-node.lock"
OLDEST = (20, 19)
SKIPPED = {"node_modules", "dist", "gen", "test-results", "coverage"}


def main() -> int:
    """Builds what is out of date, or with --check judges types; returns the exit code of what failed, else 0."""
    wanted = _fingerprint()
    stamp = DIST / ".built"
    if stamp.exists() and stamp.read_text() == wanted and "--check" not in sys.argv:
        return 0
    bin_dir = _node()
    env = {**os.environ, "PATH": os.pathsep.join([str(bin_dir), str(Path(sys.executable).parent), os.environ["PATH"]])}
    if "--check" in sys.argv:
        return _run(["node", "node_modules/svelte-check/bin/svelte-check", "--fail-on-warnings"], env)
    print("Building the web client ...", flush=True)
    packages = WEB / "node_modules" / ".package-lock.json"
    steps: list[list[str]] = []
    if not packages.exists() or packages.stat().st_mtime < (WEB / "package-lock.json").stat().st_mtime:
        steps.append(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"])
    steps += [
        ["buf", "generate"],
        ["node", "tools/icons.mjs"],
        ["node", "node_modules/vite/bin/vite.js", "build", "--logLevel=warn"],
        ["node", "tools/compress.mjs"],
    ]
    for step in steps:
        if code := _run(step, env):
            return code
    stamp.write_text(wanted)
    return 0


def _run(step: list[str], env: dict[str, str]) -> int:
    command = [shutil.which(step[0], path=env["PATH"]) or step[0], *step[1:]]
    code = subprocess.run(command, cwd=WEB, env=env, check=False).returncode
    if code != 0:
        print(f"`{' '.join(step)}` in services/web failed", file=sys.stderr)
    return code


def _fingerprint() -> str:
    """SHA-256 over all sources of the client and the schemas."""
    total = hashlib.sha256()
    for root in (WEB, ROOT / "protos"):
        for path in sorted(root.rglob("*")):
            inner = path.relative_to(root)
            if not SKIPPED.isdisjoint(inner.parts) or path.suffix == ".binpb" or not path.is_file():
                continue
            total.update(f"{inner.as_posix()}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _node() -> Path:
    """The folder of a Node that is new enough.

    Raises:
        SystemExit: there is none and the wheel cannot be installed.
    """
    for folder in (*(Path(p) for p in os.environ["PATH"].split(os.pathsep)), Path(sys.executable).parent):
        if (folder / "node").exists() and (folder / "npm").exists() and _version(folder / "node") >= OLDEST:
            return folder
    print("No Node of version 20.19 or newer here; installing one beside the Python packages ...", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    if subprocess.run([*pip, "-r", str(NODE_LOCK)], check=False).returncode != 0:
        raise SystemExit("Node could not be installed; install Node 20.19 or newer with npm and try `make web` again")
    return Path(sys.executable).parent


def _version(node: Path) -> tuple[int, ...]:
    said = subprocess.run([str(node), "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])


if __name__ == "__main__":
    raise SystemExit(main())

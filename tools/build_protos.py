"""Turns the schemas under protos/ into Python packages under libs/ (`make protos`, and every build).

Generated packages: `grimoire.v1` and `grimoire.games.<game>.v1`. They are not committed.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROTOS = ROOT / "protos"
OUT = ROOT / "libs"


def generate(root: Path = ROOT) -> int:
    """Compiles every schema and returns how many there were.

    Raises:
        SystemExit: if protoc refuses one; its own message says where.
    """
    from grpc_tools import protoc

    protos, out = root / "protos", root / "libs"
    files = sorted(p.relative_to(protos).as_posix() for p in protos.rglob("*.proto"))
    for stale in (out / "grimoire" / "v1", out / "grimoire" / "games"):
        shutil.rmtree(stale, ignore_errors=True)
    # The wheel of grpcio-tools ships google/protobuf/*.proto beside itself.
    include = Path(protoc.__file__).parent / "_proto"
    plugins = Path(sys.executable).parent
    services = [f for f in files if re.search(r"^service ", (protos / f).read_text(), re.MULTILINE)]
    base = ["protoc", f"-I{protos}", f"-I{include}"]
    mypy = [
        f"--plugin=protoc-gen-mypy={_plugin(plugins, 'protoc-gen-mypy')}",
        f"--plugin=protoc-gen-mypy_grpc={_plugin(plugins, 'protoc-gen-mypy_grpc')}",
    ]
    runs = [
        [*base, *mypy, f"--python_out={out}", f"--mypy_out=quiet:{out}", *files],
        [*base, *mypy, f"--grpc_python_out={out}", f"--mypy_grpc_out=quiet:{out}", *services],
    ]
    for run in runs:
        if protoc.main(run) != 0:
            raise SystemExit("protoc failed; the lines above say where")
    for package in {(out / f).parent for f in files}:
        while package != out / "grimoire":
            (package / "__init__.py").touch()
            package = package.parent
    return len(files)


def _plugin(folder: Path, name: str) -> str:
    found = folder / name
    return str(found) if found.exists() else (shutil.which(name) or name)


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand, without the build tool
    pass
else:

    class CustomBuildHook(BuildHookInterface[Any]):
        """Lets the build make the generated packages."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
            """Runs before files are collected."""
            generate(Path(self.root))


if __name__ == "__main__":
    print(f"{generate()} schemas compiled")

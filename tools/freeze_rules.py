"""Keeps a game's rules as they are, before they are changed: `python tools/freeze_rules.py GAME`.

Copies `services/<game>/rules.py` with everything of the game that it needs, and its data, into
`services/<game>/rules_<n>/`, n being the present `rules_version`. The copy imports nothing of the game but itself and
the generated messages, so that later changes cannot reach it. What then remains to be done by hand it prints.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["FrozenError", "freeze"]

SERVICES = Path(__file__).resolve().parent.parent / "services"

_VERSION = re.compile(r"^    rules_version: int = (\d+)$", re.MULTILINE)


class FrozenError(RuntimeError):
    """The rules cannot be frozen; the message says why."""


def freeze(package: Path, target: Path | None = None) -> Path:
    """Freezes the rules of a game.

    Args:
        package: the game's folder; its name is the package's.
        target: folder in which `rules_<n>` is made; None: the game's own.

    Returns:
        The new folder.

    Raises:
        FrozenError: if that version is frozen already, or the rules have no version.
    """
    name = package.name
    rules = package / "rules.py"
    found = _VERSION.search(rules.read_text(encoding="utf-8"))
    if found is None:
        raise FrozenError(f"{rules} does not say its rules_version")
    version = int(found.group(1))
    frozen = (target or package) / f"rules_{version}"
    if frozen.exists():
        raise FrozenError(f"{frozen} exists: version {version} is frozen; raise rules_version for new rules")
    modules = _closure(package, "rules")
    copies = {module: _moved((package / f"{module}.py").read_text("utf-8"), name, version) for module in modules}
    front = _front(name, version, copies["rules"])
    frozen.mkdir(parents=True)
    (frozen / "__init__.py").write_text(front, encoding="utf-8")
    for module, text in sorted(copies.items()):
        (frozen / f"{module}.py").write_text(text, encoding="utf-8")
    for data in _data_files(package, copies.values()):
        (frozen / "data").mkdir(exist_ok=True)
        (frozen / "data" / data.name).write_bytes(data.read_bytes())
    return frozen


def _closure(package: Path, first: str) -> set[str]:
    """Names of the game's modules that one of them needs, itself among them."""
    seen: set[str] = set()
    todo = [first]
    while todo:
        module = todo.pop()
        if module in seen:
            continue
        path = package / f"{module}.py"
        if not path.is_file():
            raise FrozenError(f"{path} is imported by the rules and is no module: keep rules in plain modules")
        seen.add(module)
        todo += _own_imports(ast.parse(path.read_text(encoding="utf-8")), package)
    return seen


def _own_imports(tree: ast.Module, package: Path) -> Iterator[str]:
    prefix = f"{package.name}."
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module == package.name:
                yield from (alias.name for alias in node.names)
            elif node.module.startswith(prefix):
                yield node.module.removeprefix(prefix)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == package.name:
                    raise FrozenError(f"write `from {package.name} import …`, not `import {alias.name}`")


def _moved(text: str, name: str, version: int) -> str:
    """The same module, at home in the frozen package."""
    text = re.sub(rf"^(\s*from {name})(\.| import )", rf"\1.rules_{version}\2", text, flags=re.MULTILINE)
    return text.replace(f'importlib.resources.files("{name}")', f'importlib.resources.files("{name}.rules_{version}")')


def _data_files(package: Path, texts: Iterable[str]) -> list[Path]:
    """The data that these modules name."""
    folder = package / "data"
    sources = "\n".join(texts)
    return [path for path in sorted(folder.iterdir()) if path.name in sources] if folder.is_dir() else []


def _front(name: str, version: int, rules: str) -> str:
    exported = re.search(r'^__all__ = \["(\w+)"\]$', rules, re.MULTILINE)
    if exported is None:
        raise FrozenError('rules.py must export its game alone: __all__ = ["Game"]')
    game = exported.group(1)
    return (
        f'"""Rules version {version}, frozen: matches that began under them end under them. Never changed."""\n\n'
        f"from {name}.rules_{version}.rules import {game}\n\n"
        f'__all__ = ["{game}"]\n'
    )


def main() -> None:
    """Freezes the game named on the command line."""
    parser = argparse.ArgumentParser(description="Keep a game's rules before they are changed.")
    parser.add_argument("game", help="folder below services, e.g. two_towers")
    try:
        frozen = freeze(SERVICES / parser.parse_args().game)
    except (FrozenError, OSError) as error:
        sys.exit(f"not frozen: {error}")
    number = frozen.name.removeprefix("rules_")
    print(f"{frozen} holds rules version {number}.")
    print("Now: raise rules_version in rules.py, and add the frozen game to `older=` of the plug-in in __init__.py.")


if __name__ == "__main__":
    main()

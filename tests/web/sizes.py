"""What a browser must fetch before a page can be used, read from the build's own list of its files."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENTRY = "index.html"
LOBBY = "src/app/pages/Lobby.svelte"
MATCH = "src/app/pages/Match.svelte"


@dataclass(frozen=True)
class Build:
    """A built client.

    Args:
        folder: its files.
        chunks: source -> file, css and imports, as Vite writes them down.
    """

    folder: Path
    chunks: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> Build:
        return cls(folder, json.loads((folder / ".vite" / "manifest.json").read_text()))

    def files(self, *sources: str) -> set[str]:
        """Files that these sources and all they import need."""
        found: set[str] = set()
        seen: set[str] = set()
        waiting = list(sources)
        while waiting:
            source = waiting.pop()
            if source in seen:
                continue
            seen.add(source)
            chunk = self.chunks[source]
            found |= {chunk["file"], *chunk.get("css", ())}
            waiting += chunk.get("imports", ())
        return found

    def compressed(self, file: str) -> int:
        """Bytes of a file by gzip."""
        return len(gzip.compress((self.folder / file).read_bytes(), 9, mtime=0))

    def size(self, files: set[str], end: str = "") -> int:
        """Bytes by gzip of those whose names end so."""
        return sum(self.compressed(file) for file in files if file.endswith(end))

    def games(self) -> dict[str, str]:
        """Game -> source of its chunk."""
        beginning = "src/games/"
        return {
            source.removeprefix(beginning).split("/")[0]: source
            for source, chunk in self.chunks.items()
            if source.startswith(beginning) and chunk.get("isDynamicEntry")
        }

    def lobby(self) -> set[str]:
        """Files of the lobby."""
        return self.files(ENTRY, LOBBY)

    def game(self, game: str) -> set[str]:
        """Files that only this game needs, beside those of a match."""
        return self.files(self.games()[game]) - self.files(ENTRY, MATCH)

    def first_load(self, game: str) -> set[str]:
        """Files of the lobby and a match of the game."""
        return {ENTRY} | self.files(ENTRY, LOBBY, MATCH, self.games()[game])

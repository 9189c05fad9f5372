"""Turns a game into a running service: one writer per match, group commit, clocks, gRPC, health, metrics."""

from typing import NoReturn

from grimoire.runtime import lifecycle

__all__ = ["serve_game"]


def serve_game(name: str) -> NoReturn:
    """Serves one installed game until the process is told to stop: the whole of a game's `__main__`.

    Args:
        name: as registered under the entry-point group `grimoire.games`.
    """
    lifecycle.main(name, "grimoire.runtime.game_service:GameService", name)

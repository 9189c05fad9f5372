"""The rules alone: `python -m tests.benchmarks.bench_engine [game] [matches]`. Random play on one core.

Counted are decisions: each with all legal commands listed, one chosen, its events made and the state after it.
"""

from __future__ import annotations

import sys
from typing import Final

from grimoire.match.simulate import simulate
from grimoire.plugins import load_game
from tests.benchmarks.machine import told, wait_until_idle

TARGETS: Final = {"two_towers": 40_000}
ROUNDS: Final = 3


def main(game: str = "two_towers", matches: int = 300) -> None:
    """Measures; prints."""
    print(told(wait_until_idle()), flush=True)
    plugin = load_game(game)
    best = max(simulate(plugin, matches, ["random"], seed=f"bench-{n}").decisions_per_s for n in range(ROUNDS))
    print(f"{game}: {best:,.0f} decisions/s on one core (target {TARGETS.get(game, 10_000):,})")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))

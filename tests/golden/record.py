"""Records the golden logs that are planned and do not exist yet: `python -m tests.golden.record`."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from grimoire.fairness.secret import Secret
from grimoire.match.driver import BotPlayers
from grimoire.match.golden import golden_names, record_golden
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2
from tests.golden.plan import PLANS, Plan

FOLDER = Path(__file__).parent


def played(plan: Plan) -> Table:
    """The match of a plan."""
    plugin = load_game(plan.game)
    chance = random.Random(f"golden/{plan.game}/{plan.seed}")
    position = plugin.positions.parse(plan.position, plan.options) if plan.position is not None else None
    kinds = match_pb2.OCCUPANT_KIND_BOT
    table = Table(
        plugin.game,
        match_id=f"golden-{plan.name}".replace("_", "-"),
        seats=len(plan.levels),
        options=plan.options,
        mode=match_pb2.MATCH_MODE_CASUAL if position is None else match_pb2.MATCH_MODE_ANALYSIS,
        position=b"" if position is None else position.SerializeToString(),
        seed=Secret(chance.randbytes(32)),
        nonces=[chance.randbytes(32) for _ in plan.levels],
        occupants=[
            match_pb2.SeatOccupant(seat=seat, occupant_id=chance.randbytes(8).hex(), kind=kinds, level=level)
            for seat, level in enumerate(plan.levels)
        ],
    )
    table.create()
    plan.course(table, BotPlayers(table, plugin, plan.levels, plan.seed))
    return table


def reasons_of(table: Table) -> tuple[str, ...]:
    """Why a match ended."""
    last = table.entries[-1].events
    voided = [event.reason for event in last if isinstance(event, match_pb2.MatchVoided)]
    closed = [reason for event in last if isinstance(event, match_pb2.MatchClosed) for reason in event.reasons]
    return (*voided, *closed)


def main() -> None:
    """Records what is missing."""
    for plan in PLANS:
        folder = FOLDER / plan.game
        if plan.name in golden_names(folder):
            continue
        table = played(plan)
        if reasons_of(table) != plan.reasons:
            raise SystemExit(f"{plan.name}: planned to end by {plan.reasons}, ended by {reasons_of(table)}")
        sys.stdout.write(f"{record_golden(folder, plan.name, table)}\n")


if __name__ == "__main__":
    main()

"""The final scoring (BS-10), also as it would be now."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec.structs import replace

from broom_service.catalogue import DATA
from broom_service.clouds import CLOUDS
from broom_service.resources import Holding
from broom_service.state import Fields, Score

__all__ = ["Sets", "amulets_vp", "bolts", "lightning_vp", "scores", "sets_in"]

_SCORING: Final = DATA.final_scoring
_FOUR: Final = _SCORING.resource_sets["4"]
_THREE: Final = _SCORING.resource_sets["3"]


class Sets(NamedTuple):
    """Sets of four different resources, then of three among the rest, and their VP."""

    fours: int
    threes: int
    vp: int


def bolts(fields: Fields, seat: int) -> int:
    """On the clouds that the seat has charmed."""
    return sum(CLOUDS[cloud].lightning for cloud in fields.charmed[seat])


def lightning_vp(lightning: int) -> int:
    """BS-10.1.

    >>> lightning_vp(8), lightning_vp(15), lightning_vp(17)
    (19, 50, 60)
    """
    table = _SCORING.lightning_vp
    beyond = max(0, lightning - len(table) + 1)
    return table[lightning - beyond] + beyond * _SCORING.lightning_vp_each_beyond


def sets_in(holding: Holding) -> Sets:
    """BS-10.2.

    >>> sets_in((1, 2, 2, 5))
    Sets(fours=1, threes=1, vp=6)
    """
    fours = min(holding)
    rest = sorted(amount - fours for amount in holding)
    # After the fours one kind is used up, so each three takes one of every other kind.
    threes = rest[1]
    return Sets(fours, threes, fours * _FOUR + threes * _THREE)


def amulets_vp(amulets: int) -> int:
    """BS-10.3.

    >>> [amulets_vp(number) for number in range(4)]
    [0, 4, 9, 15]
    """
    return DATA.amulets.vp_by_count[amulets]


def scores(fields: Fields, *, final: bool) -> tuple[Score, ...]:
    """Every seat's score and rank (BS-10.5, BS-12.4).

    Args:
        final: with the final scoring; without it where the others left (BS-12.5).
    """
    lines = [_line(fields, seat, final=final) for seat in range(fields.terms.seats)]
    # A seat that left ranks behind all that stayed (BS-12.4).
    keys = [(not fields.retired[line.seat], line.vp, line.resources_total) for line in lines]
    ranks = [1 + sum(other > key for other in keys) for key in keys]
    return tuple(replace(line, rank=rank) for line, rank in zip(lines, ranks, strict=True))


def _line(fields: Fields, seat: int, *, final: bool) -> Score:
    lightning = bolts(fields, seat)
    sets = sets_in(fields.resources[seat]) if final else Sets(0, 0, 0)
    amulets = len(fields.amulets[seat])
    for_lightning = lightning_vp(lightning) if final else 0
    for_amulets = amulets_vp(amulets) if final else 0
    before = fields.vp[seat]
    return Score(
        seat=seat,
        vp_before=before,
        lightning=lightning,
        lightning_vp=for_lightning,
        sets4=sets.fours,
        sets3=sets.threes,
        sets_vp=sets.vp,
        amulets=amulets,
        amulets_vp=for_amulets,
        vp=before + for_lightning + sets.vp + for_amulets,
        resources_total=sum(fields.resources[seat]),
        rank=0,
    )

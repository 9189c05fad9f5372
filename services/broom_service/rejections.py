"""Every rejection of the game's own list (BS-11.1), each with its rule and a sentence."""

from __future__ import annotations

import functools
from typing import Final

from grimoire.engine import Illegal

__all__ = ["CODES", "ORDER", "RULES", "bad_position", "refuse"]

CODES: Final[dict[str, tuple[str, str]]] = {
    "match_over": ("BS-1.2", "The match is over."),
    "not_authorised": ("BS-11", "This command is not yours to send."),
    "seat_retired": ("BS-12.4", "This seat has left the match."),
    "not_your_turn": ("BS-11.1", "You are not asked this now."),
    "unknown_role": ("BS-2.4", "There is no such role."),
    "duplicate_role": ("BS-4.3", "Each role can be chosen once."),
    "wrong_count": ("BS-4.3", "This is not the number of roles to choose."),
    "role_not_in_hand": ("BS-5.1", "You do not hold this role."),
    "must_follow": ("BS-5.2", "Who holds the role that was led must play it."),
    "bad_stance": (
        "BS-5.1",
        "A role is played brave or cowardly; one that was led before in this round, without either.",
    ),
    "must_be_brave": ("BS-9.3", "Brave Heart: who leads must be brave."),
    "bad_instead": ("BS-8.7", "Nothing of this kind can be taken instead of the action."),
    "tile_not_held": ("BS-8.7", "You do not hold this forest tile."),
    "tile_not_usable": ("BS-8.7", "This tile is not used with a role that is played."),
    "unknown_step": ("BS-6.1", "No such step is open."),
    "wrong_step_kind": ("BS-6.2", "This step is of another kind."),
    "bad_pawn": ("BS-7.1", "This step does not allow that pawn."),
    "bad_resources": ("BS-6.7", "These are not the resources that can be taken, offered or handed in."),
    "not_adjacent": ("BS-8.1", "Pawns fly to adjacent regions only."),
    "water": ("BS-7.4", "No pawn flies onto water."),
    "wrong_terrain": ("BS-8.1", "This step does not serve that kind of landscape."),
    "clouded": ("BS-7.4", "A cloud hangs over this region."),
    "bad_circle": ("BS-8.3", "This tile does not lead to that circle."),
    "unknown_tower": ("BS-7.1", "There is no such tower on the board."),
    "tower_covered": ("BS-3.5", "A landscape tile covers this tower."),
    "tower_not_here": ("BS-7.1", "This tower does not touch the region where the pawn stands."),
    "tower_occupied": ("BS-7.1", "A potion lies on this round tower already."),
    "no_potion": ("BS-7.1", "You have no potion of the tower's colour."),
    "bad_wands": ("BS-7.2", "The tower does not give so many wands."),
    "no_cloud": ("BS-7.5", "No cloud lies on this space."),
    "cloud_not_near": ("BS-7.5", "None of your pawns is next to this cloud."),
    "not_enough_wands": ("BS-7.5", "This cloud asks for more wands."),
    "cannot_skip": ("BS-6.3", "The turbo broom must be ridden."),
    "not_enough_resources": ("BS-9.6", "You do not have so many resources."),
}
"""Rule and sentence of each code, in the order in which they apply."""

ORDER: Final = tuple(CODES)

RULES: Final[dict[str, str]] = {code: rule for code, (rule, _) in CODES.items()} | {"bad_option": "BS-1.3"}


@functools.cache
def refuse(code: str, rule: str = "") -> Illegal:
    """The rejection of this code.

    Args:
        code: one of `CODES`.
        rule: the rule that is broken, where it is not the code's usual one.

    >>> refuse("must_follow").rule
    'BS-5.2'
    """
    usual, sentence = CODES[code]
    return Illegal(code, rule or usual, sentence)


def bad_position(fault: str) -> Illegal:
    """An arranged position that cannot be set up."""
    return Illegal("bad_position", "BS-2", fault, field="position")

"""What a seat sees of a match, ready for its player's thoughts; and what it does not see, imagined."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import msgspec

from broom_service.boards import BOARDS
from broom_service.catalogue import DATA
from broom_service.messages import step_of
from broom_service.resources import read
from broom_service.roles import ROLE_IDS
from broom_service.sketch import Ground, Sketch, Steps
from broom_service.state import NO_ONE, Stage
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["Hands", "Sight", "determinise", "may_hold", "seen"]

Hands = tuple[tuple[str, ...], ...]
"""By seat, roles that are not played yet."""


class Sight(msgspec.Struct, frozen=True):
    """A view of one seat.

    Attributes:
        seat: whose view it is.
        ground: what does not change in the round.
        sketches: by seat.
        hand: own roles that are not played yet.
        cards_left: by seat; of the others 0 while they choose.
        bewitched: open in this round.
        led: roles that were led in this round, the running trick's last.
        gone: by seat, roles that it has played or passed in this round: it holds none of them.
        leader: of the trick.
        placed: seats that have played or passed in the running trick.
        brave: the seat that may still be brave in it.
        waiting: seats that still choose.
        steps: open steps.
        left: by seat, rounds that are left, its share of the running one included.
    """

    seat: int
    stage: Stage
    ground: Ground
    sketches: tuple[Sketch, ...]
    hand: tuple[str, ...]
    cards_left: tuple[int, ...]
    bewitched: frozenset[str]
    led: tuple[str, ...]
    gone: tuple[frozenset[str], ...]
    leader: int
    placed: int
    brave: int
    retired: tuple[bool, ...]
    steps: Steps
    left: tuple[float, ...]

    @property
    def later(self) -> tuple[int, ...]:
        """Seats that follow after the own one in the running trick, clockwise."""
        seats = self.ground.seats
        count = seats - self.placed - 1
        return tuple((self.seat + distance) % seats for distance in range(1, count + 1))


def seen(view: pb.View, seat: int) -> Sight:
    """What this seat's view says."""
    placed = {cloud.space: cloud.cloud for cloud in view.clouds}
    clouds = tuple(placed.get(space, "") for space in BOARDS[view.board].spaces)
    occupied = frozenset(tower.tower for tower in view.towers if tower.occupied)
    tiles = tuple((tile.region, tile.tile) for tile in view.tiles)
    stage = Stage(view.stage)
    gone: list[set[str]] = [set() for _ in view.seats]
    for play in view.plays:
        gone[play.seat].add(play.role)
    running = [play for play in view.plays if play.trick_no == view.trick_no]
    full = DATA.constants.roles_per_round
    # Before the tricks all cards of the round are still to come.
    whole = stage in (Stage.CHOOSE, Stage.EXTRA)
    cards = tuple(each.cards_left for each in view.seats)
    left = tuple(view.rounds - view.round + (1.0 if whole else min(1.0, number / full)) for number in cards)
    return Sight(
        seat=seat,
        stage=stage,
        ground=Ground(
            view.board,
            len(view.seats),
            view.round,
            view.event,
            frozenset(tower.tower for tower in view.towers if tower.covered),
        ),
        sketches=tuple(
            Sketch(
                pawns=(each.pawns[0], each.pawns[1]),
                held=read(each.resources),
                vp=each.vp,
                bolts=each.lightning,
                amulets=frozenset(each.amulets),
                forest=(*each.forest_tiles,),
                clouds=clouds,
                occupied=occupied,
                tiles=tiles,
            )
            for each in view.seats
        ),
        hand=(*view.seats[seat].roles,),
        cards_left=cards,
        bewitched=frozenset(view.bewitched),
        led=(*view.led,),
        gone=tuple(frozenset(roles) for roles in gone),
        leader=view.leader,
        placed=len(running),
        brave=view.brave_seat if view.HasField("brave_seat") else NO_ONE,
        retired=tuple(each.retired for each in view.seats),
        steps=tuple(step_of(step) for step in view.steps),
        left=left,
    )


def may_hold(sight: Sight, seat: int) -> tuple[str, ...]:
    """Roles that another seat may still hold: none that it has played or passed, or that an earlier trick led."""
    return tuple(role for role in ROLE_IDS if role not in sight.gone[seat])


def determinise(
    sight: Sight,
    rng: random.Random,
    likings: Callable[[int], Sequence[tuple[float, str]]],
    spread: float,
    cards: Sequence[int],
) -> Hands:
    """Hands that all seats may hold by what this one sees.

    Args:
        sight: the own hand is in it.
        rng: for the guess.
        likings: by seat, how much it would like each role, in VP.
        spread: how far a seat's taste may differ from that, in VP.
        cards: by seat, how many roles it holds.
    """
    hands: list[tuple[str, ...]] = []
    for seat in range(sight.ground.seats):
        if seat == sight.seat:
            hands.append(sight.hand)
            continue
        free = {*may_hold(sight, seat)}
        tastes = [(liking + rng.gauss(0.0, spread), role) for liking, role in likings(seat) if role in free]
        tastes.sort(reverse=True)
        hands.append(tuple(role for _, role in tastes[: cards[seat]]))
    return tuple(hands)

"""What is under way in an arranged position: the tricks of the round, open steps, sealed answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from broom_service.boards import BOARDS
from broom_service.catalogue import DATA
from broom_service.resources import kinds_in, read
from broom_service.roles import BRAVE, ROLE_IDS, STANCES, THE_UPPER_HAND, THE_WORKS
from broom_service.state import NO_ONE, Stage, StepKind, Terms
from broom_service.tiles import EXTRA_ROLE_TILES, TILES
from grimoire.engine.written import demand, known_word
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["check_under_way"]

_BEFORE_TRICKS: Final = (Stage.CHOOSE, Stage.EXTRA)
_AT_THE_END: Final = (Stage.OFFER, Stage.HAND_IN)
_IN_TRICK: Final = (Stage.FOLLOW, Stage.STEPS)
_MOST_STEPS: Final = 1_000
_LAND: Final = tuple(terrain.id for terrain in DATA.terrains if terrain.enterable)


def check_under_way(event: pb.PositionArranged, terms: Terms) -> None:
    """Raises `PositionError` for what cannot be under way."""
    _check_plays(event, terms)
    running = [play for play in event.plays if play.trick_no == event.trick_no]
    if event.stage == Stage.LEAD:
        _check_lead(event, running)
    if event.stage in _IN_TRICK:
        _check_trick(event, running, terms)
    _check_brave(event, running)
    _check_steps(event, running, terms)
    _check_answers(event, terms)


# ---- tricks ----------------------------------------------------------------------------------------------------------


def _check_plays(event: pb.PositionArranged, terms: Terms) -> None:
    """BS-5."""
    before = event.stage in _BEFORE_TRICKS
    demand(before == (not event.trick_no), f"In `{event.stage}` no trick of this number is played.", "BS-4")
    demand(event.trick_no <= len(ROLE_IDS), f"A round has at most {len(ROLE_IDS)} tricks.", "BS-15.6")
    numbers = [play.trick_no for play in event.plays]
    inside = numbers == sorted(numbers) and all(1 <= number <= event.trick_no for number in numbers)
    demand(inside, "Cards are told trick by trick.", "BS-5.10")
    for play in event.plays:
        demand(play.seat < terms.seats, f"The seats are 0..{terms.seats - 1}.", "BS-1.1")
        known_word(play.role, ROLE_IDS, "role")
        silent = play.passed or play.spent_role
        fits = not play.stance if silent else play.stance in STANCES
        demand(fits, "A card is laid down brave or cowardly, a spent role and a pass without.", "BS-5.9")
        demand(not play.outdone or play.stance == BRAVE, "Only who is brave is outdone.", "BS-5.3")
        demand(play.instead in ("", "event", *TILES), "Instead of an action there is the event, or a tile.", "BS-8.7")


def _check_lead(event: pb.PositionArranged, running: Sequence[pb.Play]) -> None:
    """BS-5.1."""
    demand(not running, "In `lead` nothing was laid down in the trick.", "BS-5.1")
    hand = event.hands[event.leader].roles
    demand(hand, f"Who leads holds a role: name `roles` of seat {event.leader}.", "BS-5.1")


def _check_trick(event: pb.PositionArranged, running: Sequence[pb.Play], terms: Terms) -> None:
    """BS-5.2: the leader, then the others clockwise."""
    order = [(event.leader + place) % terms.seats for place in range(terms.seats)]
    demand(running and [play.seat for play in running] == order[: len(running)], "Seats follow clockwise.", "BS-5.2")
    led = running[0]
    demand(not led.passed and all(play.role == led.role for play in running), "All follow one role.", "BS-5.2")
    if event.stage == Stage.FOLLOW:
        demand(len(running) < terms.seats, "Somebody is still to follow.", "BS-5.2")
        holds = led.role in event.hands[order[len(running)]].roles
        demand(holds, "Who follows holds the role that was led.", "BS-5.2")


def _check_brave(event: pb.PositionArranged, running: Sequence[pb.Play]) -> None:
    """BS-5.3, BS-12.4."""
    brave = [play.seat for play in running if play.stance == BRAVE] if event.stage in _IN_TRICK else []
    last = brave[-1] if brave and not event.seats[brave[-1]].retired else NO_ONE
    named = event.brave_seat if event.HasField("brave_seat") else NO_ONE
    demand(named == last, "Brave is the seat that said so last in the trick.", "BS-5.3")


# ---- steps -----------------------------------------------------------------------------------------------------------


def _check_steps(event: pb.PositionArranged, running: Sequence[pb.Play], terms: Terms) -> None:
    """BS-6."""
    carrying_out = event.stage == Stage.STEPS
    demand(carrying_out == bool(event.steps), "Steps are open in `steps`, and only there.", "BS-6.1")
    if not carrying_out:
        return
    whole = len(running) == terms.seats
    seats = {running[-1].seat} | ({event.brave_seat} if whole and event.HasField("brave_seat") else set())
    acts = event.HasField("acting_seat") and event.acting_seat in seats
    demand(acts and not event.seats[event.acting_seat].retired, "Who played last, or is brave, acts.", "BS-5.5")
    numbers = [step.step for step in event.steps]
    groups = [step.group for step in event.steps]
    rising = numbers == sorted({*numbers}) and groups == sorted(groups)
    demand(
        rising and numbers[0] >= 1 and numbers[-1] <= event.last_step <= _MOST_STEPS, "Steps are numbered.", "BS-6.1"
    )
    demand(groups[0] >= 1 and groups[-1] <= event.last_group <= event.last_step, "Groups are numbered.", "BS-6.1")
    for step in event.steps:
        _check_step(step, terms)


def _check_step(step: pb.Step, terms: Terms) -> None:
    """BS-6.2."""
    board = BOARDS[terms.board]
    demand(step.kind in [*StepKind], f"There is no step of a kind {step.kind[:20]!r}.", "BS-6.2")
    moves = step.kind == StepKind.MOVE
    demand(moves == bool(step.moves) and step.moves <= DATA.constants.pawns, "A move has moves left.", "BS-6.2")
    demand(max(read(step.take)) <= DATA.constants.pawns, "Nothing gives so much.", "BS-6.7")
    demand(any(read(step.take)) == (step.kind == StepKind.GATHER), "Who gathers takes something.", "BS-6.7")
    for terrain in step.terrains:
        known_word(terrain, _LAND, "terrain")
    demand(step.pawn < DATA.constants.pawns, "The pawns are 0 and 1.", "BS-2.3")
    demand(not step.region or step.region in board.terrain, "A step names a region of the board.", "BS-2.8")
    if step.kind == StepKind.TURBO:
        whole = step.HasField("pawn") and step.circles and all(circle in board.circles for circle in step.circles)
        demand(whole and step.region in board.sites["hill"], "A turbo broom leads from a hill to circles.", "BS-8.3")


# ---- sealed answers --------------------------------------------------------------------------------------------------


def _check_answers(event: pb.PositionArranged, terms: Terms) -> None:
    """BS-4.5, BS-9.6, BS-9.8."""
    demand(event.stage != Stage.EXTRA or terms.forest_tiles, "Extra roles come from forest tiles.", "BS-4.5")
    for stage, name in ((Stage.OFFER, THE_UPPER_HAND), (Stage.HAND_IN, THE_WORKS)):
        demand(event.stage != stage or event.event == name, f"`{stage}` belongs to {name}.", "BS-9")
    if event.stage in _AT_THE_END:
        demand(not any(hand.roles for hand in event.hands), "At a round's end nobody holds a role.", "BS-4.7")
    for hand, seat in zip(event.hands, event.seats, strict=True):
        waits = hand.seat in event.waiting
        held = read(seat.resources)
        demand(not waits or _can_answer(event, seat, kinds_in(held)), f"Seat {hand.seat} is not asked.", "BS-9")
        offers, adds = hand.HasField("offer"), bool(hand.extra_tile or hand.extra_role)
        demand(not offers or (event.stage == Stage.OFFER and not waits), "Offers are made in `offer`.", "BS-9.6")
        enough = all(offered <= has for offered, has in zip(read(hand.offer), held, strict=True))
        demand(enough, f"Seat {hand.seat} does not hold what it offers.", "BS-9.6")
        demand(not adds or (event.stage == Stage.EXTRA and not waits), "Roles are added in `extra`.", "BS-4.5")
        fits = hand.extra_tile in EXTRA_ROLE_TILES and hand.extra_tile in seat.forest_tiles
        fresh = hand.extra_role in ROLE_IDS and hand.extra_role not in hand.roles
        demand(not adds or (fits and fresh), f"Seat {hand.seat} cannot add that role.", "BS-4.5")


def _can_answer(event: pb.PositionArranged, seat: pb.ArrangedSeat, kinds: int) -> bool:
    if event.stage == Stage.EXTRA:
        return any(tile in EXTRA_ROLE_TILES for tile in seat.forest_tiles)
    if event.stage == Stage.OFFER:
        return kinds > 0
    return event.stage != Stage.HAND_IN or kinds > 2

"""What an asked seat may do: exactly the commands that `decide` accepts (BS-11).

Where a role, a region, a tower or a space is to be pointed at, an entry leaves a slot open for it: its candidates are
refs such as `role:hill_witch`, `region:f1`, `tower:purple_rd_01`, `space:c08`, `circle:A`, `resource:wand`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from broom_service.reach import charmable, circles_free, destinations, servable
from broom_service.resources import INDEX, RESOURCE_IDS, Holding, kinds_in
from broom_service.roles import BLACK_DISTILLERY, BRAVE, BRAVE_HEART, COWARDLY, EVENT, ROLE_IDS, roles_to_choose
from broom_service.state import Stage, State, Step, StepKind
from broom_service.tiles import EXTRA_ROLE_TILES
from broom_service.tricks import instead_offered, is_spent, tiles_usable
from grimoire.engine import Fixed, Legal, Prompt
from grimoire.engine.slots import Slot, amounts, number, one, some

__all__ = ["legal_commands"]

_Refs = tuple[str, ...]
_Pairs = tuple[tuple[str, Fixed], ...]
_PAWNS: Final = range(2)


def legal_commands(state: State, seat: int, prompt: Prompt) -> tuple[Legal, ...]:
    """Every command this seat may send to this prompt; none for a seat that is not asked."""
    asked = state.asked
    if prompt.kind != asked or seat != prompt.seat:
        return ()
    return (*_LISTERS[asked](state, seat),)


# ---- entries ---------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _complete(command: str, *fixed: tuple[str, Fixed], label: str = "", about: _Pairs = ()) -> Legal:
    return Legal(command, fixed, label=label or command, about=_words(about))


def _open(command: str, *slots: Slot, fixed: _Pairs = (), label: str = "", about: _Pairs = ()) -> Legal:
    return Legal(command, fixed, slots, label=label or command, about=_words(about))


def _words(about: _Pairs) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in about)


@functools.lru_cache(maxsize=4096)
def _refs(kind: str, ids: tuple[str, ...]) -> _Refs:
    return tuple([f"{kind}:{each}" for each in ids])


# ---- choosing (BS-4.3, BS-4.5) ---------------------------------------------------------------------------------------


def _choose(state: State, _seat: int) -> Iterator[Legal]:
    least, most = roles_to_choose(state.event)
    yield _open("choose_roles", some("roles", _refs("role", ROLE_IDS), least, most))


def _extra(state: State, seat: int) -> Iterator[Legal]:
    left = tuple(role for role in ROLE_IDS if role not in state.hands[seat])
    for tile in state.forest_tiles[seat]:
        if tile in EXTRA_ROLE_TILES:
            yield _open("add_role", one("role", _refs("role", left)), fixed=(("tile", tile),), label="add_role_with")
    yield _complete("decline_extra")


# ---- tricks (BS-5) ---------------------------------------------------------------------------------------------------


def _lead(state: State, seat: int) -> Iterator[Legal]:
    hand = state.hands[seat]
    spent = tuple(role for role in hand if is_spent(state, role))
    if spent:  # BS-5.9
        yield _open("play_role", one("role", _refs("role", spent)), label="play_role_spent")
    fresh = tuple(role for role in hand if role not in spent)
    if not fresh:
        return
    role = one("role", _refs("role", fresh))
    yield _open("play_role", role, fixed=(("stance", BRAVE),), label="play_role_brave")
    if state.event != BRAVE_HEART:  # BS-9.3
        yield from _cowardly(state, seat, (role,), ())


def _follow(state: State, seat: int) -> Iterator[Legal]:
    role: _Pairs = (("role", state.led_role),)
    yield _complete("play_role", *role, ("stance", BRAVE), label="play_role_brave")
    yield from _cowardly(state, seat, (), role)


def _cowardly(state: State, seat: int, slots: tuple[Slot, ...], fixed: _Pairs) -> Iterator[Legal]:
    """The action, or what may stand in its place (BS-8.7, BS-9.2)."""
    fixed = (*fixed, ("stance", COWARDLY))
    yield _open("play_role", *slots, fixed=fixed, label="play_role_cowardly")
    event = instead_offered(state)
    if event:
        resource = (one("resource", _refs("resource", RESOURCE_IDS)),) if event == BLACK_DISTILLERY else ()
        instead = (*fixed, ("instead", EVENT))
        yield _open("play_role", *slots, *resource, fixed=instead, label="play_role_event", about=(("event", event),))
    for tile in tiles_usable(state, seat):
        yield _open("play_role", *slots, fixed=(*fixed, ("instead", tile)), label="play_role_tile")


# ---- steps (BS-6) ----------------------------------------------------------------------------------------------------


def _steps(state: State, seat: int) -> Iterator[Legal]:
    for step in state.top_steps:
        yield from _STEP_LISTERS[step.kind](state, seat, step)
        if step.kind is not StepKind.TURBO:  # BS-6.3
            about = (("kind", step.kind.value), _cause(step))
            yield _complete("skip_step", ("step", step.number), label="skip_step_of", about=about)


def _cause(step: Step) -> tuple[str, Fixed]:
    """What opened it, for the label."""
    return "cause", step.cause


def _amounts(holding: Holding, least: int, most: int) -> Slot:
    return amounts(
        "resources",
        [(f"resource:{resource}", holding[index]) for resource, index in INDEX.items() if holding[index]],
        least,
        most,
    )


def _gather(_state: State, _seat: int, step: Step) -> Iterator[Legal]:
    slot = _amounts(step.take, 1, 1 if step.one else sum(step.take))
    yield _open("gather", slot, fixed=(("step", step.number),), label="gather_by", about=(_cause(step),))


def _move(state: State, seat: int, step: Step) -> Iterator[Legal]:
    for pawn in _PAWNS:
        regions = destinations(state, seat, step, pawn)
        if regions:
            fixed: _Pairs = (("step", step.number), ("pawn", pawn))
            about = (("from", state.pawns[seat][pawn]), _cause(step))
            to = one("to", _refs("region", regions))
            yield _open("move_pawn", to, fixed=fixed, label="move_pawn_from", about=about)


def _ride(state: State, _seat: int, step: Step) -> Iterator[Legal]:
    circles = one("circle", _refs("circle", circles_free(state, step)))
    about = (("pawn", step.pawn), _cause(step))
    yield _open("ride", circles, fixed=(("step", step.number),), label="ride_with", about=about)


def _deliver(state: State, seat: int, step: Step) -> Iterator[Legal]:
    """Towers one by one: what each is worth is told, and how many of its wands are taken is asked (BS-7.2)."""
    for pawn in _PAWNS:
        for tower in servable(state, seat, step, pawn):
            fixed: _Pairs = (("step", step.number), ("pawn", pawn), ("tower", tower.id))
            about = (("from", state.pawns[seat][pawn]), ("vp", tower.vp), ("wands", tower.wands), _cause(step))
            if tower.wands:
                wands = number("take_wands", 0, tower.wands)
                yield _open("deliver", wands, fixed=fixed, label="deliver_wands", about=about)
            else:
                yield _complete("deliver", *fixed, label="deliver_to", about=about)


def _dispel(state: State, seat: int, step: Step) -> Iterator[Legal]:
    spaces = charmable(state, seat)
    if spaces:
        space = one("space", _refs("space", spaces))
        yield _open("dispel", space, fixed=(("step", step.number),), label="dispel_by", about=(_cause(step),))


# ---- the end of a round (BS-9.6, BS-9.8) -----------------------------------------------------------------------------


def _offer(state: State, seat: int) -> Iterator[Legal]:
    held = state.resources[seat]
    yield _open("offer", _amounts(held, 0, sum(held)))


def _hand_in(state: State, seat: int) -> Iterator[Legal]:
    held = state.resources[seat]
    kinds = tuple(resource for resource, index in INDEX.items() if held[index])
    for size in (4, 3):
        if kinds_in(held) >= size:
            resources = some("resources", _refs("resource", kinds), size, size)
            yield _open("hand_in", resources, fixed=(("size", size),), label="hand_in_set")
    yield _complete("decline_set")


_LISTERS: Final[dict[Stage, Callable[[State, int], Iterable[Legal]]]] = {
    Stage.CHOOSE: _choose,
    Stage.EXTRA: _extra,
    Stage.LEAD: _lead,
    Stage.FOLLOW: _follow,
    Stage.STEPS: _steps,
    Stage.OFFER: _offer,
    Stage.HAND_IN: _hand_in,
}

_STEP_LISTERS: Final[dict[StepKind, Callable[[State, int, Step], Iterable[Legal]]]] = {
    StepKind.GATHER: _gather,
    StepKind.MOVE: _move,
    StepKind.TURBO: _ride,
    StepKind.DELIVER: _deliver,
    StepKind.DISPEL: _dispel,
}

"""What may be picked: in what order it is offered, how a thing is marked, and what a thing is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from broom_service.names import name_of, pawn_name
from broom_service.roles import EVENT, ROLE_IDS, STANCES
from broom_service.screen.speech import Speech, view_of
from broom_service.short import SEAT_SIGNS, board_of, open_steps, step_words, tower_sign, tower_words
from grimoire.boards import marks_of
from grimoire.engine.board import Shown

__all__ = ["choices", "in_picture", "marks", "ref_words"]

_ORDER: Final = (
    "role",
    "stance",
    "instead",
    "tile",
    "region",
    "tower",
    "space",
    "circle",
    "pawn",
    "step",
    "resource",
    "size",
)
"""Kinds of refs as they are offered."""
_IN_PICTURE: Final = frozenset({"region", "tower", "space"})


def choices(shown: Shown) -> Sequence[str]:
    """What may be picked next, in the order of the digits."""
    view = view_of(shown)
    offered = [ref for ref in shown.fits or shown.instead if ref.partition(":")[0] in _ORDER]
    dull = {"step"} if len(open_steps(view)) < 2 else set()
    if view.stage == "follow":
        dull.add("role")  # it is the one that was led
    elif view.stage == "lead" and not any(ref.startswith("role:") for ref in shown.picked):
        dull |= {"stance", "instead"}  # how it is played is asked once it is clear what
    if f"instead:{EVENT}" not in shown.picked:
        dull.add("resource")
    if sum(ref.startswith("pawn:") for ref in offered) < 2:
        dull.add("pawn")  # it goes without saying
    return sorted((ref for ref in offered if ref.partition(":")[0] not in dull), key=_ranking(shown))


def _ranking(shown: Shown) -> Callable[[str], tuple[int, int, str]]:
    board = board_of(view_of(shown))
    ranks: dict[str, int] = {}
    listed: Iterable[Sequence[str]] = (ROLE_IDS, STANCES, board.regions, (*board.towers,), (*board.spaces,))
    for names in listed:
        ranks |= {name: number for number, name in enumerate(names)}

    def rank(ref: str) -> tuple[int, int, str]:
        kind, _, name = ref.partition(":")
        return _ORDER.index(kind), ranks.get(name, 0), name

    return rank


def marks(shown: Shown) -> Mapping[str, str]:
    """The sign before each thing that is picked, or may be picked next."""
    return marks_of(choices(shown), shown.picked)


def in_picture(ref: str) -> bool:
    """Whether a thing stands on the map, where its sign marks it."""
    return ref.partition(":")[0] in _IN_PICTURE


def ref_words(ref: str, shown: Shown, *, brief: bool = False) -> str:
    """A thing that may be picked, in a few words, or in even fewer."""
    view, language = view_of(shown), shown.language
    speech = Speech(language)
    kind, _, name = ref.partition(":")
    if kind == "stance":
        return speech.words.names[f"stance.{name}"]
    if kind == "instead":
        return name_of(view.event if name == EVENT else name, language)
    if kind == "pawn":
        pawns = view.seats[shown.seat].pawns if shown.seat is not None else ()
        where = f" ({name_of(pawns[int(name)], language)})" if int(name) < len(pawns) else ""
        return pawn_name(int(name), language) + where
    if kind == "step":
        step = next((each for each in view.steps if str(each.step) == name), None)
        return step_words(step, language) if step is not None else name
    if kind == "size":
        return speech.words.refs["size"].format(size=name)
    if kind == "region" and brief:
        return name
    tower = next((each for each in view.towers if kind == "tower" and each.tower == name), None)
    if tower is not None:
        return f"{tower_sign(tower)} {'/'.join(tower.touches)}" if brief else tower_words(tower, language)
    cloud = next((each for each in view.clouds if kind == "space" and each.space == name), None)
    if cloud is not None:
        return speech("cloud_brief", stars=cloud.stars, region=cloud.region) if brief else _cloud(name, shown)
    if kind == "seat":
        return f"{SEAT_SIGNS[int(name)]} {speech.words.seat(int(name), shown.names)}"
    return name_of(name, language)


def _cloud(space: str, shown: Shown) -> str:
    cloud = next(each for each in view_of(shown).clouds if each.space == space)
    words = Speech(shown.language).words.terminal["cloud"]
    return words.format(cloud=name_of(cloud.cloud, shown.language), region=name_of(cloud.region, shown.language))

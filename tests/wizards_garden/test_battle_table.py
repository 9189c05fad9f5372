"""WG-9.6 to WG-9.11: every attacker against every defender with every defence, held against the rules' table.

The expectation is worked out here from the table alone, in counts of pieces; the game is asked by commands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from google.protobuf.message import Message

from grimoire.engine import ALL, Decision, Illegal
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from tests.wizards_garden.lively import GAME, asked, decide, draws, setup_of
from wizards_garden.positions import WizardsGardenPositions
from wizards_garden.state import State

PESTS = {"P": 1, "PP": 2, "PB": 2, "PR": 2}
MOST = 5


class Case(NamedTuple):
    """Blue attacks a4 from b4, or by Skull."""

    attacker: str
    defender: str
    fire: int
    how: str
    amount: int


class Left(NamedTuple):
    """What is left: on b4 (after going back) and on a4; and whether a bright lantern dimmed."""

    origin: str
    target: str
    dimmed: bool = False


# ---- the table -------------------------------------------------------------------------------------------------------


def expected(case: Case) -> Left:
    strength = case.fire or PESTS[case.attacker]
    left = strength - (case.amount if case.how == "water" else 0)
    if left == 0:
        return Left(case.attacker, case.defender)
    defence = case.amount if case.how == "fire" else bulk(case.defender)
    return Left(attackers_left(case.attacker, left, defence), *defenders_left(case.defender, left, defence))


def bulk(defender: str) -> int:
    if defender.startswith("F"):
        return int(defender[1:])
    return PESTS.get(defender, 0)


def attackers_left(attacker: str, left: int, defence: int) -> str:
    if attacker in ("P", "PP"):
        return "P" * (PESTS[attacker] - left)  # those not put out are destroyed, whatever comes of it
    if attacker in ("PB", "PR"):
        return attacker[1] if left > defence else ""
    return attacker if left > defence or attacker == "skull" else ""


def defenders_left(defender: str, left: int, defence: int) -> tuple[str, bool]:
    if defender == "R":
        return ("" if left >= defence else "R"), False
    if defender.startswith("R"):
        dims = defender == "R*fire" and left >= defence
        return ("R~fire" if dims else defender), dims
    if defender in ("P", "PP"):
        return "P" * max(0, PESTS[defender] - left), False
    if defender.startswith("F"):
        rest = int(defender[1:]) - left
        return (f"F{rest}" if rest > 0 else ""), False
    return (defender[1] if left == 1 else ""), False


# ---- the cases -------------------------------------------------------------------------------------------------------

GNOMES = ("R", "R*fire", "R~fire")
FISH = ("F1", "F2", "F3", "F4", "F5")


def cases() -> Iterator[Case]:
    for attacker in ("B", "R", "skull", "P", "PP", "PB", "PR"):
        by_fire = attacker not in PESTS
        for defender in (*GNOMES, "P", "PP", "PB", "PR", *FISH):
            if attacker in PESTS and defender in PESTS:
                continue  # pests threaten no pests (WG-8.3)
            if attacker == "skull" and defender in FISH:
                continue  # WG-13.2
            most = 1 if defender == "PB" else MOST  # WG-9.12
            for fire in range(1, most + 1) if by_fire else (0,):
                yield Case(attacker, defender, fire, "none", 0)
                if defender in GNOMES:
                    strength = fire or PESTS[attacker]
                    yield from (Case(attacker, defender, fire, "water", n) for n in range(1, strength + 1))
                    yield from (Case(attacker, defender, fire, "fire", n) for n in range(1, MOST + 1))


CASES = [*cases()]


# ---- the game --------------------------------------------------------------------------------------------------------


def word(what: str, space: str) -> str:
    sign = next((mark for mark in "*~" if mark in what), "")
    piece, _, kind = what.partition(sign) if sign else (what, "", "")
    return f"{piece}@{space}{sign}{kind}"


def arranged(case: Case) -> State:
    yard = [word(case.defender, "a4")]
    if case.attacker != "skull":
        yard.append(word(case.attacker, "b4"))
    red = MOST if case.how == "fire" else 0
    water = case.amount if case.how == "water" else 0
    if water:
        yard.append(f"w{water}@a4")
    position: dict[str, object] = {
        "state": "attack",
        "yard": yard,
        "threats": ["b4>a4"] if case.attacker != "skull" else [],
        "blue": {"fire": case.fire, "spells": ["skull", "gem"]},
        "red": {"fire": red},
    }
    event = WizardsGardenPositions().parse(position, {})
    start = GAME.start(setup_of({}, event.SerializeToString()), draws(0))
    assert not isinstance(start, Illegal), start
    return start.state


def defend(case: Case) -> pb.Defend:
    command = pb.Defend(amount=case.amount)
    setattr(command, "with", case.how)
    return command


def played(case: Case) -> tuple[State, list[Message]]:
    """Attack, answer, no light, back to the origin."""
    skull = pb.CastSkull(target="a4", fire=case.fire)
    command: Message = skull if case.attacker == "skull" else pb.DeclareAttack(group="b4>a4", fire=case.fire)
    state, events = arranged(case), []
    for _ in range(4):
        answer = decide(state, command)
        assert isinstance(answer, Decision), (case, answer)
        state = answer.state
        events += answer.events
        kind = asked(state).kind
        if kind == "defence":
            command = defend(case)
        elif kind == "after_battle":
            assert state.battle is not None
            command = pb.ChooseLight() if state.battle.dimmed >= 0 else pb.ChooseSpace(to="origin")
        else:
            return state, events
    raise AssertionError("the battle does not end")


def found(view: pb.View, space: str) -> str:
    holds = next((each for each in view.spaces if each.space == space), pb.Space())
    if holds.fish_fire:
        return f"F{holds.fish_fire}"
    gnome = {"": "", "b": "B", "r": "R"}[holds.gnome[:1]]
    lantern = f"{'*' if holds.bright else '~'}{holds.lantern}" if holds.lantern else ""
    return "P" * len(holds.pests) + gnome + lantern


@pytest.mark.parametrize("attacker", ["B", "R", "skull", "P", "PP", "PB", "PR"])
def test_what_is_left_is_what_the_table_says(attacker: str) -> None:
    tried = [case for case in CASES if case.attacker == attacker]
    assert tried
    for case in tried:
        state, events = played(case)
        view = GAME.view(state, ALL)
        assert isinstance(view, pb.View)
        left = expected(case)
        origin = "" if attacker == "skull" else left.origin
        assert (found(view, "b4"), found(view, "a4")) == (origin, left.target), case
        assert any(isinstance(event, pb.LanternDimmed) for event in events) == left.dimmed, case
        used = case.amount if case.how == "fire" else 0
        fish = int(left.target[1:]) if left.target.startswith("F") else 0
        assert [side.fire for side in view.seats] == [0, (MOST if case.how == "fire" else 0) - used], case
        assert view.fire_in_supply == 10 - fish - view.seats[1].fire, case
        assert view.water_in_supply == 20, case
        assert not view.groups, case


def test_there_are_many_cases() -> None:
    assert len(CASES) > 300

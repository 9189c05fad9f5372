"""The attack phase and battles (WG-9): judged and carried out.

Every function that takes a command gives the code of the rejection and leaves everything as it was, or an empty text
and has done it.
"""

from __future__ import annotations

from typing import Final

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import FOR_GNOMES, FOR_PESTS, IS_DEPOSIT, SPACES
from wizards_garden.catalogue import DATA
from wizards_garden.course import Course
from wizards_garden.draft import Draft
from wizards_garden.pieces import FIRST_PEST, GNOMES_EACH, KINDS, PIECES, colour_of
from wizards_garden.reach import facing
from wizards_garden.state import BRIGHT, DIM_ON_BOARD, NO_ONE, SUPPLY, Battle, Group, Stage, other

__all__ = [
    "advance",
    "begin_battle",
    "choose_light",
    "choose_space",
    "conch_fault",
    "declare_attack",
    "defend",
    "defending_gnome",
    "group_named",
    "most_fire",
    "stop_by_conch",
    "withdraw",
]

_PAIR: Final = DATA.constants.pair_strength
_ONE_HIT: Final = 1
"""More fire than this would hit the gnome of an own pair, too (WG-9.12)."""


# ---- taking up a group (WG-9.1 to WG-9.4) ----------------------------------------------------------------------------


def group_named(draft: Draft, name: str) -> Group | None:
    """The group of this id."""
    return next((group for group in draft.groups if group.id == name), None)


def declare_attack(course: Course, command: pb.DeclareAttack) -> str:
    """A group attacks what stands on its target (WG-9.3)."""
    draft, fire = course.draft, command.fire
    group = group_named(draft, command.group)
    if group is None:
        return "unknown_id"
    seat = draft.active
    by_gnome = group.pieces[0] < FIRST_PEST
    found = facing(draft, seat, group)
    if found != "opposed" and not draft.fire[seat]:
        return found  # scenario 27 of WG-17: who has no fire is told of the free target
    fault = _fire_fault(draft, seat, group.target, fire) if by_gnome else _no_fire_fault(draft, seat, fire)
    if fault:
        return fault
    if found != "opposed":
        return found
    strength = fire if by_gnome else len(group.pieces)
    begin_battle(course, group.origin, group.target, strength, fire)
    return ""


def _fire_fault(draft: Draft, seat: int, target: int, fire: int) -> str:
    if fire > draft.fire[seat] or not draft.fire[seat]:  # WG-9.3: with none the attack cannot be declared
        return "not_enough_fire"
    if fire < 1:
        return "bad_amount"
    return "own_target" if fire > most_fire(draft, seat, target) else ""


def _no_fire_fault(draft: Draft, seat: int, fire: int) -> str:
    """Pests and pairs name no fire (WG-9.3)."""
    if fire > draft.fire[seat]:
        return "not_enough_fire"
    return "bad_amount" if fire else ""


def most_fire(draft: Draft, seat: int, target: int) -> int:
    """The most fire that this seat may attack this space with (WG-9.12)."""
    pieces = draft.standing[target]
    own_pair = len(pieces) == 2 and pieces[1] < FIRST_PEST and colour_of(pieces[1]) == seat
    return min(draft.fire[seat], _ONE_HIT) if own_pair else draft.fire[seat]


def withdraw(course: Course, command: pb.Withdraw) -> str:
    """A group goes back (WG-9.4)."""
    group = group_named(course.draft, command.group)
    if group is None:
        return "unknown_id"
    course.withdraw(group)
    course.resume()
    return ""


def advance(course: Course, command: pb.Advance) -> str:
    """A group takes a place that nobody holds any more (WG-9.2)."""
    draft = course.draft
    group = group_named(draft, command.group)
    if group is None:
        return "unknown_id"
    found = facing(draft, draft.active, group)
    if found != "unopposed":
        return found
    draft.settle(group.pieces, group.target)
    course.tell(pb.GroupAdvanced(group=group.id, pieces=_ids(group.pieces), to=SPACES[group.target]))
    course.resume()
    return ""


# ---- attack and defence (WG-9.3, WG-9.5) -----------------------------------------------------------------------------


def begin_battle(course: Course, origin: int, target: int, strength: int, fire: int) -> None:
    """An attack is declared; `origin` is `NO_ONE` for the Skull. Whoever may answer it is asked."""
    draft = course.draft
    seat = draft.active
    draft.declare(seat, origin, target, strength, fire)
    battle = _battle(draft)
    course.tell(pb.AttackDeclared(seat=seat, group=battle.group, target=SPACES[target], strength=strength, fire=fire))
    if _may_answer(draft, target):
        draft.enter(Stage.DEFENCE, other(seat))
        course.tell(pb.StateEntered(state=Stage.DEFENCE.value, seat=other(seat)))
    else:
        _resolve(course, "none", 0, automatic=True)


def _may_answer(draft: Draft, target: int) -> bool:
    """Whether the defending seat is asked: public facts only (WG-9.5, WG-13.2)."""
    defender = other(draft.active)
    if draft.phase is Stage.ATTACK and draft.spells[defender]:
        return True
    if defending_gnome(draft, target, defender) == NO_ONE:
        return False
    return draft.fire[defender] > 0 or (IS_DEPOSIT[target] and draft.water[target] > 0)


def defending_gnome(draft: Draft, target: int, defender: int) -> int:
    """The gnome of this seat that is attacked, or `NO_ONE`: for others nobody may add anything."""
    pieces = draft.standing[target]
    if len(pieces) == 1 and pieces[0] < FIRST_PEST and pieces[0] // GNOMES_EACH == defender:
        return pieces[0]
    return NO_ONE


def defend(course: Course, command: pb.Defend) -> str:
    """The defender answers with nothing, water or fire (WG-9.5)."""
    how: str = getattr(command, "with")
    amount = command.amount
    if how not in ("none", "water", "fire"):
        return "unknown_id"
    fault = _defence_fault(course.draft, how, amount)
    if fault:
        return fault
    _resolve(course, how, amount, automatic=False)
    return ""


def _defence_fault(draft: Draft, how: str, amount: int) -> str:
    battle = _battle(draft)
    defender = other(battle.seat)
    if how == "none":
        return "bad_amount" if amount else ""
    if defending_gnome(draft, battle.target, defender) == NO_ONE:
        return "no_defence_possible"
    if how == "water":
        if not IS_DEPOSIT[battle.target]:
            return "no_defence_possible"
        there, most = draft.water[battle.target], battle.strength
    else:
        there = most = draft.fire[defender]
    if amount > there:
        return f"not_enough_{how}"
    return "" if 1 <= amount <= most else "bad_amount"


def conch_fault(draft: Draft) -> str:
    """Conch stops attacks of the attack phase alone (WG-13.2, WG-13.11)."""
    return "" if draft.stage is Stage.DEFENCE and draft.phase is Stage.ATTACK else "spell_timing"


def stop_by_conch(course: Course) -> None:
    """The attack is stopped, its fire goes back to the attacker (WG-13.11)."""
    draft = course.draft
    battle = _battle(draft)
    draft.stop_attack("conch")
    course.tell(pb.AttackStopped(group=battle.group, why="conch"))
    _go_back(course)


# ---- what comes of it (WG-9.6 to WG-9.11) ----------------------------------------------------------------------------


def _resolve(course: Course, how: str, amount: int, *, automatic: bool) -> None:
    draft = course.draft
    battle = _battle(draft)
    defender = other(battle.seat)
    made = pb.DefenceMade(seat=defender, amount=amount, automatic=automatic)
    setattr(made, "with", how)
    course.tell(made)
    left = battle.strength
    if how == "water":  # WG-9.6
        left -= amount
        course.return_water(battle.target, amount, "defence")
    if left == 0:
        draft.stop_attack("put_out")
        course.tell(pb.AttackStopped(group=battle.group, why="put_out"))
        if battle.fire:
            course.return_fire(battle.seat, battle.fire, "attack")
        _go_back(course)
        return
    defence = amount if how == "fire" else _bulk(draft, battle.target)
    outcome = "attacker" if left > defence else "tie" if left == defence else "defender"
    course.tell(pb.BattleResolved(group=battle.group, left=left, defence=defence, outcome=outcome))
    if battle.fire:
        course.return_fire(battle.seat, battle.fire, "attack")
    if how == "fire":
        course.return_fire(defender, amount, "defence")
    _attackers_losses(course, left, defence)
    _defenders_losses(course, battle.target, left, defence)
    _after_losses(course)


def _bulk(draft: Draft, target: int) -> int:
    """What pests, fish fire and pairs defend with by themselves (WG-9.7)."""
    pieces = draft.standing[target]
    if not pieces:
        return draft.fish[target]
    return len(pieces) if pieces[0] >= FIRST_PEST else 0


def _attackers_losses(course: Course, left: int, defence: int) -> None:
    group = course.draft.battle_group()
    if group is None:
        return
    pieces = group.pieces
    if pieces[0] < FIRST_PEST:
        if left <= defence:
            _destroy(course, pieces[0], group.origin)
    elif len(pieces) == _PAIR and pieces[1] < FIRST_PEST:
        _hit_pair(course, pieces, group.origin, gnome_too=left <= defence)
    else:
        for pest in reversed(pieces[len(pieces) - left :]):  # WG-9.8: the lower id lives
            _destroy(course, pest, group.origin)


def _defenders_losses(course: Course, target: int, left: int, defence: int) -> None:
    draft = course.draft
    pieces = draft.standing[target]
    if not pieces:
        removed = min(left, draft.fish[target])
        draft.remove_fish_fire(target, removed)
        course.tell(pb.FishFireRemoved(space=SPACES[target], amount=removed))
    elif pieces[0] < FIRST_PEST:
        if left >= defence:
            _hit_gnome(course, pieces[0], target)
    elif pieces[-1] < FIRST_PEST:
        course.leave_groups(pieces)
        _hit_pair(course, pieces, target, gnome_too=left >= _PAIR)
    else:
        lost = tuple(reversed(pieces[len(pieces) - min(left, len(pieces)) :]))
        course.leave_groups(lost)
        for pest in lost:
            _destroy(course, pest, target)


def _hit_gnome(course: Course, gnome: int, space: int) -> None:
    """A plain gnome is destroyed, a bearer's bright lantern dims (WG-9.7)."""
    draft = course.draft
    kind, seat = draft.bears[gnome], colour_of(gnome)
    if kind == NO_ONE:
        course.leave_groups((gnome,))
        _destroy(course, gnome, space)
    elif draft.lanterns[seat][kind] == BRIGHT:
        draft.dim(seat, kind)
        course.tell(pb.LanternDimmed(seat=seat, kind=KINDS[kind], space=SPACES[space]))


def _hit_pair(course: Course, pair: tuple[int, ...], space: int, *, gnome_too: bool) -> None:
    """The pest of a pair is destroyed, its gnome with it or free again (WG-9.7)."""
    pest, gnome = pair
    _destroy(course, pest, space)
    if gnome_too:
        _destroy(course, gnome, space)
    else:
        course.tell(pb.GnomeFreed(gnome=PIECES[gnome], pest=PIECES[pest], space=SPACES[space]))


def _destroy(course: Course, piece: int, space: int) -> None:
    course.draft.destroy(piece)
    event = pb.GnomeDestroyed if piece < FIRST_PEST else pb.PestDestroyed
    course.tell(event(piece=PIECES[piece], space=SPACES[space]))


def _after_losses(course: Course) -> None:
    """The captured light, if there is one to be had (WG-9.10)."""
    draft = course.draft
    battle = _battle(draft)
    if battle.dimmed != NO_ONE and draft.lanterns[battle.seat][battle.dimmed] == DIM_ON_BOARD:
        _wait_for_attacker(course)
    else:
        _place_survivors(course)


def choose_light(course: Course, command: pb.ChooseLight) -> str:
    """The attacker lights the lantern of the kind that dimmed, or does not (WG-9.10)."""
    battle = _battle(course.draft)
    if battle.dimmed == NO_ONE:
        return "wrong_state"
    if command.light:
        course.light(battle.seat, battle.dimmed, "attack")
    _place_survivors(course)
    return ""


def _place_survivors(course: Course) -> None:
    """The attacker chooses where its pieces go, if they may go in (WG-9.11)."""
    draft = course.draft
    group = draft.battle_group()
    if group is None:
        course.resume()
    elif _may_go_in(draft, group):
        _wait_for_attacker(course)
    else:
        _settle(course, group, inside=False)


def _may_go_in(draft: Draft, group: Group) -> bool:
    piece, target = group.pieces[0], group.target
    own_or_freed = FOR_GNOMES[draft.active] if colour_of(piece) == draft.active else FOR_PESTS
    return draft.is_free(target) and own_or_freed[target]


def choose_space(course: Course, command: pb.ChooseSpace) -> str:
    """Survivors go in, or back (WG-9.11)."""
    draft = course.draft
    group = draft.battle_group()
    if group is None or _battle(draft).dimmed != NO_ONE:
        return "wrong_state"
    if command.to not in ("target", "origin"):
        return "unknown_id"
    _settle(course, group, inside=command.to == "target")
    return ""


def _settle(course: Course, group: Group, *, inside: bool) -> None:
    back = SUPPLY if group.in_transit else group.origin
    to = group.target if inside else back
    course.draft.settle(group.pieces, to)
    course.tell(pb.SurvivorsPlaced(pieces=_ids(group.pieces), to="supply" if to == SUPPLY else SPACES[to]))
    course.resume()


def _wait_for_attacker(course: Course) -> None:
    draft = course.draft
    if draft.stage is not Stage.AFTER_BATTLE:
        draft.enter(Stage.AFTER_BATTLE, draft.active)
        course.tell(pb.StateEntered(state=Stage.AFTER_BATTLE.value, seat=draft.active))


def _go_back(course: Course) -> None:
    """A stopped attack: the group goes back as if withdrawn (WG-9.6)."""
    group = course.draft.battle_group()
    if group is not None:
        course.withdraw(group)
    course.resume()


def _battle(draft: Draft) -> Battle:
    if draft.battle is None:
        raise RuntimeError("no battle is under way")
    return draft.battle


def _ids(pieces: tuple[int, ...]) -> list[str]:
    return [PIECES[piece] for piece in pieces]

"""What the asked seat may do: exactly the commands that `decide` accepts (WG-14).

A command that has few forms is listed complete. Where a piece, a card or a place is to be pointed at, an entry leaves
a slot open for it: its candidates are refs such as `space:a4`, `gnome:blue_gnome_01`, `pest:pest_01`, `pile:deck` or
`card:spirit_fire_01`. The maps of Bottle and Fish are one slot of bounded amounts, a crystal count for each space.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from grimoire.engine import Legal
from grimoire.engine.legal import Fixed
from grimoire.v1 import prompt_pb2
from wizards_garden.battle import defending_gnome, most_fire
from wizards_garden.board import DEPOSITS, IS_DEPOSIT, PITS, SPACES, TERRACE_DEPOSIT
from wizards_garden.choices import WATER_TO_LIGHT, deposit_open, lantern_fault, pair_fault
from wizards_garden.draft import Draft
from wizards_garden.pieces import CARD_KIND, COLOURS, FIRE, FIRST_PEST, GNOME, KINDS, PEST, PIECES, SPIRIT, WATER
from wizards_garden.reach import (
    GNOMES_OF,
    PESTS,
    facing,
    gnome_arrivals,
    gnome_fault,
    gnome_moves,
    gnome_targets,
    held_deposits,
    pest_arrivals,
    pest_fault,
    pest_moves,
    pest_targets,
    transit_gnome_targets,
    transit_pest_targets,
    water_fault,
)
from wizards_garden.spells import (
    MAX_FISH,
    butterfly_fault,
    can_feather,
    dagger_fault,
    doll_fault,
    eye_useful,
    face_up,
    fish_space_fault,
    pending_of,
    pending_useful,
    skull_target_fault,
    timing_fault,
)
from wizards_garden.state import BRIGHT, LIT, NO_ONE, Action, Source, Stage, State, other
from wizards_garden.steps import HAND_LIMIT

__all__ = ["legal_commands"]

_Slot = prompt_pb2.Slot
_Refs = tuple[str, ...]

_SPACE_REFS: Final = tuple(f"space:{space}" for space in SPACES)
_PIECE_REFS: Final = tuple(f"{'gnome' if n < FIRST_PEST else 'pest'}:{piece}" for n, piece in enumerate(PIECES))


def legal_commands(state: State, seat: int) -> tuple[Legal, ...]:
    """Every command this seat may send; none for a seat that is not asked."""
    if seat != state.asked:
        return ()
    lister = _LISTERS.get(state.stage)
    return () if lister is None else (*lister(Draft(state), seat),)


# ---- entries ---------------------------------------------------------------------------------------------------------


_Said = tuple[tuple[str, str], ...]


def _label(command: str, about: _Said) -> str:
    return f"{command}_at" if about else command


@functools.cache
def _complete(command: str, *fixed: tuple[str, Fixed], label: str = "", about: _Said = ()) -> Legal:
    return Legal(command, fixed, label=label or _label(command, about), about=about)


@functools.cache
def _asks(field: str) -> prompt_pb2.Label:
    """The question that a slot is: a term of the game."""
    return prompt_pb2.Label(key=f"slot_{field}")


@functools.lru_cache(maxsize=4096)
def _one(field: str, refs: _Refs) -> _Slot:
    return _Slot(field=field, label=_asks(field), one=prompt_pb2.One(candidates=refs))


@functools.lru_cache(maxsize=1024)
def _number(field: str, least: int, most: int) -> _Slot:
    return _Slot(field=field, label=_asks(field), number=prompt_pb2.NumberRange(min=least, max=most))


@functools.lru_cache(maxsize=1024)
def _some(field: str, refs: _Refs, least: int) -> _Slot:
    return _Slot(field=field, label=_asks(field), some=prompt_pb2.Some(candidates=refs, min=least, max=len(refs)))


def _amounts(field: str, most: Iterable[tuple[int, int]], in_all: int) -> _Slot:
    """So many crystals for each of these spaces, at least one in all."""
    refs = [prompt_pb2.AmountRange(ref=_SPACE_REFS[space], min=0, max=amount) for space, amount in most]
    return _Slot(field=field, label=_asks(field), amounts=prompt_pb2.Amounts(refs=refs, min_sum=1, max_sum=in_all))


def _open(
    command: str, *slots: _Slot, fixed: tuple[tuple[str, Fixed], ...] = (), label: str = "", about: _Said = ()
) -> Legal:
    return Legal(command, fixed, slots, label=label or _label(command, about), about=about)


def _spaces(spaces: Iterable[int]) -> _Refs:
    return tuple([_SPACE_REFS[space] for space in spaces])


def _cards(cards: Iterable[str]) -> _Refs:
    return tuple([f"card:{card}" for card in cards])


# ---- preparation and phases ------------------------------------------------------------------------------------------


def _preparation(draft: Draft, seat: int) -> Iterator[Legal]:
    hand = draft.hands[seat]
    for first in range(len(hand)):
        for second in range(first + 1, len(hand)):
            pair = hand[first], hand[second]
            kinds = tuple(f"kind:{kind}" for kind in dict.fromkeys(KINDS[CARD_KIND[card]] for card in pair))
            about = ("first", pair[0]), ("second", pair[1])
            yield _open("prepare", _some("spirits", _cards(pair), 2), _one("kind", kinds), about=about)


def _garden(draft: Draft, seat: int) -> Iterator[Legal]:
    lanterns = draft.lanterns[seat]
    for kind, lantern in enumerate(lanterns):
        if lantern == BRIGHT:
            yield _complete("lantern_action", ("kind", KINDS[kind]), label=f"lantern_action_{KINDS[kind]}")
    if draft.water[TERRACE_DEPOSIT[seat]] >= WATER_TO_LIGHT:
        for kind in range(len(KINDS)):
            if not lantern_fault(draft, seat, kind):
                yield _complete("light_with_water", ("kind", KINDS[kind]), label=f"light_with_water_{KINDS[kind]}")
    if LIT in lanterns:
        for deposit in DEPOSITS:
            if deposit_open(draft, seat, deposit):
                yield _complete("place_lantern", ("space", SPACES[deposit]), label="place_lantern_at")
    yield from _spells(draft, seat)
    yield _complete("end_phase")


def _wizard_start(draft: Draft, seat: int) -> Iterator[Legal]:
    hand = draft.hands[seat]
    if hand:
        for slot in range(2):
            card, about = _one("card", _cards(hand)), (("kind", _spirit(draft, seat, slot)),)
            yield _open("swap_spirit", card, fixed=(("slot", slot),), label=f"swap_spirit_{slot}", about=about)
    yield from _wizard_main(draft, seat)


def _wizard_main(draft: Draft, seat: int) -> Iterator[Legal]:
    if not pair_fault(draft, seat):
        yield _complete("light_with_pair", label=f"light_with_pair_{_spirit(draft, seat, 0)}")
    for slot in range(2):
        yield _complete("spirit_action", ("slot", slot), label=f"spirit_action_{_spirit(draft, seat, slot)}")
    for kind in KINDS:
        yield _complete("magician_action", ("kind", kind), label=f"magician_action_{kind}")
    yield from _spells(draft, seat)
    yield _complete("end_phase")


def _spirit(draft: Draft, seat: int, slot: int) -> str:
    """The kind of the spirit in this slot of the seat's board."""
    return KINDS[CARD_KIND[draft.spirits[seat][slot]]]


def _wizard_pending(draft: Draft, seat: int) -> Iterator[Legal]:
    for pending in draft.pending:
        label = f"start_action_{KINDS[pending.kind]}_{pending.steps}"
        yield _complete("start_action", ("index", pending.index), label=label)
    yield from _spells(draft, seat)
    yield _complete("end_phase")


def _wizard_end(draft: Draft, seat: int) -> Iterator[Legal]:
    yield from _spells(draft, seat)
    yield _complete("end_phase")


# ---- attack and battle -----------------------------------------------------------------------------------------------


def _attack(draft: Draft, seat: int) -> Iterator[Legal]:
    for group in draft.groups:
        name = group.id
        about = ("origin", SPACES[group.origin]), ("target", SPACES[group.target])
        found = facing(draft, seat, group)
        if found == "unopposed":
            yield _complete("advance", ("group", name), about=about)
        elif found == "opposed" and group.pieces[0] >= FIRST_PEST:
            yield _complete("declare_attack", ("group", name), ("fire", 0), about=about)
        elif found == "opposed" and draft.fire[seat]:
            most = most_fire(draft, seat, group.target)
            yield _open("declare_attack", _number("fire", 1, most), fixed=(("group", name),), about=about)
        yield _complete("withdraw", ("group", name), about=about)
    yield from _spells(draft, seat)
    yield _complete("end_phase")


def _defence(draft: Draft, seat: int) -> Iterator[Legal]:
    battle = draft.battle
    if battle is None:
        return
    yield _complete("defend", ("with", "none"), ("amount", 0), label="defend_none")
    if defending_gnome(draft, battle.target, seat) != NO_ONE:
        water = min(draft.water[battle.target], battle.strength) if IS_DEPOSIT[battle.target] else 0
        for how, most in (("water", water), ("fire", draft.fire[seat])):
            if most:
                yield _open("defend", _number("amount", 1, most), fixed=(("with", how),), label=f"defend_{how}")
    yield from _spells(draft, seat)


def _after_battle(draft: Draft, seat: int) -> Iterator[Legal]:  # noqa: ARG001
    battle = draft.battle
    if battle is None:
        return
    if battle.dimmed != NO_ONE:
        yield _complete("choose_light", ("light", True), label=f"choose_light_{KINDS[battle.dimmed]}")
        yield _complete("choose_light", ("light", False), label="choose_light_not")
    else:
        about = (("space", SPACES[battle.target]),)
        yield _complete("choose_space", ("to", "target"), label="choose_space_target", about=about)
        yield _complete("choose_space", ("to", "origin"), label="choose_space_origin")


# ---- steps -----------------------------------------------------------------------------------------------------------


def _action(draft: Draft, seat: int) -> Iterator[Legal]:
    action = draft.action
    if action is not None:
        yield from _STEPS[action.kind](draft, seat, action)
    yield _complete("end_action")


def _pest_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:  # noqa: ARG001
    for pest in PESTS:
        if not pest_fault(draft, pest):
            moves = pest_moves(draft, pest)
            if moves:
                fixed = (("pest", PIECES[pest]),)
                yield _open("move_pest", _one("to", _spaces(moves)), fixed=fixed, about=_stands(draft, pest))
    yield from _pest_threats(draft, seat)
    if draft.next_pest() == NO_ONE:
        return
    for pit in PITS:
        for command, field, spaces in (
            ("bring_pest", "to", pest_arrivals(draft, pit)),
            ("bring_pest_threatening", "target", transit_pest_targets(draft, seat, pit)),
        ):
            if spaces:
                source = _one("from", (_SPACE_REFS[pit],))
                yield _open(command, source, _one(field, _spaces(spaces)), about=(("from", SPACES[pit]),))


def _pest_threats(draft: Draft, seat: int) -> Iterator[Legal]:
    """By space: one pest, the other, both; in one entry where they may do the same."""
    for space in sorted({place for place in draft.places[FIRST_PEST:] if place >= 0}):
        there = draft.standing[space]
        if there[-1] < FIRST_PEST:
            there = there[:1]  # a pair is named by its pest
        able = tuple([pest for pest in there if not pest_fault(draft, pest)])
        single = [(pest, pest_targets(draft, (pest,), seat)) for pest in able]
        if len(able) == 2 and single[0][1] == single[1][1]:
            yield from _threat(draft, able, single[0][1], 1)
            continue
        for pest, targets in single:
            yield from _threat(draft, (pest,), targets, 1)
        if len(able) == 2:
            yield from _threat(draft, able, pest_targets(draft, able, seat), 2)


def _threat(draft: Draft, pests: tuple[int, ...], targets: list[int], least: int) -> Iterator[Legal]:
    if not targets:
        return
    slots = _some("pests", tuple([_PIECE_REFS[pest] for pest in pests]), least), _one("target", _spaces(targets))
    about = _stands(draft, pests[0])
    if len(pests) == 1:
        about = ("pest", PIECES[pests[0]]), *about
        yield _open("threaten_with_pests", *slots, label="threaten_with_pest", about=about)
    else:
        yield _open("threaten_with_pests", *slots, about=about)


def _stands(draft: Draft, piece: int) -> _Said:
    """Where a piece is, for its label."""
    return (("at", SPACES[draft.places[piece]]),)


def _water_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:  # noqa: ARG001
    if draft.water_supply() > 0:
        deposits = [deposit for deposit in DEPOSITS if not water_fault(draft, deposit)]
        if deposits:
            yield _open("collect_water", _one("deposit", _spaces(deposits)))


def _spirit_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:  # noqa: ARG001
    hand = draft.hands[seat]
    full = len(hand) >= HAND_LIMIT
    sources = _cards(card for card in draft.row if card)
    if draft.deck or draft.discards or full:
        sources = ("pile:deck", *sources)
    if not sources:
        return
    slots = (_one("source", sources),)
    yield _open("draw_spirit", *slots, *((_one("discard", _cards(hand)),) if full else ()))


def _gnome_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:
    paid: tuple[_Slot, ...] = ()
    threats = True
    gnomes: Iterable[int] = GNOMES_OF[seat]
    if action.source == Source.BUTTERFLY:
        paid, threats = (_one("discard", _cards(draft.hands[seat])),), False
    elif action.gnome != NO_ONE:
        gnomes = (action.gnome,)
    for gnome in gnomes:
        if gnome_fault(draft, seat, gnome):
            continue
        fixed: tuple[tuple[str, Fixed], ...] = (("gnome", PIECES[gnome]),)
        about = _stands(draft, gnome)
        moves = gnome_moves(draft, gnome, seat)
        if moves:
            yield _open("move_gnome", _one("to", _spaces(moves)), *paid, fixed=fixed, about=about)
        targets = gnome_targets(draft, gnome, seat) if threats else ()
        if targets:
            yield _open("threaten_with_gnome", _one("target", _spaces(targets)), fixed=fixed, about=about)
    if action.gnome == NO_ONE and draft.next_gnome(seat) != NO_ONE:
        yield from _gnome_arrivals(draft, seat, paid, threats)


def _gnome_arrivals(draft: Draft, seat: int, paid: tuple[_Slot, ...], threats: bool) -> Iterator[Legal]:
    for origin in held_deposits(draft, seat):
        source, about = _one("from", (_SPACE_REFS[origin],)), (("from", SPACES[origin]),)
        arrivals = gnome_arrivals(draft, seat, origin)
        if arrivals:
            yield _open("bring_gnome", source, _one("to", _spaces(arrivals)), *paid, about=about)
        targets = transit_gnome_targets(draft, seat, origin) if threats else ()
        if targets:
            yield _open("bring_gnome_threatening", source, _one("target", _spaces(targets)), about=about)


def _fire_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:  # noqa: ARG001
    yield _complete("collect_fire")  # an action of fire is open only while a step is legal (WG-6.1)


# ---- spells ----------------------------------------------------------------------------------------------------------


def _spells(draft: Draft, seat: int) -> Iterator[Legal]:
    for spell in draft.spells[seat]:
        if not timing_fault(draft, spell):
            yield from _SPELLS[spell](draft, seat)


def _feather(draft: Draft, seat: int) -> Iterator[Legal]:
    cards = [card for card in draft.hands[seat] if can_feather(draft, seat, card)]
    if cards:
        yield _open("cast_feather", _one("discard", _cards(cards)))


def _skull(draft: Draft, seat: int) -> Iterator[Legal]:
    if not draft.fire[seat]:
        return
    by_most: dict[int, list[int]] = {}
    for space in range(len(SPACES)):
        if not skull_target_fault(draft, seat, space):
            by_most.setdefault(most_fire(draft, seat, space), []).append(space)
    for most, spaces in sorted(by_most.items()):
        about = (("most", str(most)),)
        yield _open("cast_skull", _one("target", _spaces(spaces)), _number("fire", 1, most), about=about)


def _eye(draft: Draft, seat: int) -> Iterator[Legal]:  # noqa: ARG001
    places = face_up(draft)
    for a in places:
        others = _cards(b.card for b in places if eye_useful(a, b))
        if others:
            where = COLOURS[a.seat] if a.where == "board" else "open_row"
            yield _open("cast_eye", _one("b", others), fixed=(("a", a.card),), about=(("where", where),))


def _gem(draft: Draft, seat: int) -> Iterator[Legal]:
    if pending_useful(draft, seat, pending_of(draft, seat, "gem")):
        yield _complete("cast_gem")


def _flower(draft: Draft, seat: int) -> Iterator[Legal]:
    if pending_useful(draft, seat, pending_of(draft, seat, "flower")):
        yield _complete("cast_flower")


def _butterfly(draft: Draft, seat: int) -> Iterator[Legal]:
    if not butterfly_fault(draft, seat):
        yield _complete("cast_butterfly")


def _dagger(draft: Draft, seat: int) -> Iterator[Legal]:  # noqa: ARG001
    gnomes = tuple([_PIECE_REFS[gnome] for gnome in range(FIRST_PEST) if not dagger_fault(draft, gnome)])
    if gnomes:
        yield _open("cast_dagger", _one("gnome", gnomes))


def _doll(draft: Draft, seat: int) -> Iterator[Legal]:
    gnomes = tuple([_PIECE_REFS[gnome] for gnome in GNOMES_OF[other(seat)] if not doll_fault(draft, seat, gnome)])
    if gnomes:
        yield _open("cast_doll", _one("gnome", gnomes))


def _bottle(draft: Draft, seat: int) -> Iterator[Legal]:
    most = [(deposit, draft.water[deposit]) for deposit in held_deposits(draft, seat) if draft.water[deposit]]
    in_all = min(draft.fire[other(seat)], sum(amount for _, amount in most))
    if in_all:
        yield _open("cast_bottle", _amounts("water", most, in_all))


def _trinket(draft: Draft, seat: int) -> Iterator[Legal]:
    kinds = tuple([f"kind:{KINDS[kind]}" for kind in range(len(KINDS)) if not lantern_fault(draft, seat, kind)])
    if kinds:
        yield _open("cast_trinket", _one("kind", kinds))


def _conch(draft: Draft, seat: int) -> Iterator[Legal]:  # noqa: ARG001
    yield _complete("cast_conch")


def _fish(draft: Draft, seat: int) -> Iterator[Legal]:
    fire = draft.fire[seat]
    spaces = [space for space in range(len(SPACES)) if not fish_space_fault(draft, space)]
    if fire and spaces:
        yield _open("cast_fish", _amounts("fires", [(space, min(fire, MAX_FISH)) for space in spaces], fire))


_Lister = Callable[[Draft, int], Iterator[Legal]]

_SPELLS: Final[dict[str, _Lister]] = {
    "feather": _feather,
    "skull": _skull,
    "eye": _eye,
    "gem": _gem,
    "butterfly": _butterfly,
    "dagger": _dagger,
    "flower": _flower,
    "doll": _doll,
    "bottle": _bottle,
    "trinket": _trinket,
    "conch": _conch,
    "fish": _fish,
}

_STEPS: Final[dict[int, Callable[[Draft, int, Action], Iterator[Legal]]]] = {
    PEST: _pest_steps,
    WATER: _water_steps,
    SPIRIT: _spirit_steps,
    GNOME: _gnome_steps,
    FIRE: _fire_steps,
}

_LISTERS: Final[dict[Stage, _Lister]] = {
    Stage.PREPARATION: _preparation,
    Stage.GARDEN: _garden,
    Stage.WIZARD_START: _wizard_start,
    Stage.WIZARD_MAIN: _wizard_main,
    Stage.WIZARD_PENDING: _wizard_pending,
    Stage.WIZARD_END: _wizard_end,
    Stage.ATTACK: _attack,
    Stage.ACTION: _action,
    Stage.BUTTERFLY: _action,
    Stage.DEFENCE: _defence,
    Stage.AFTER_BATTLE: _after_battle,
}

"""What the asked seat may do: exactly the commands that `decide` accepts (WG-14).

A command that has few forms is listed complete. Where a piece, a card or a place is to be pointed at, an entry leaves
a slot open for it: its candidates are refs such as `space:a4`, `gnome:blue_gnome_01`, `pest:pest_01`, `pile:deck` or
`card:spirit_fire_01`. The maps of Bottle and Fish are one slot of bounded amounts, a crystal count for each space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from grimoire.engine import Legal
from grimoire.engine.legal import Fixed
from grimoire.engine.slots import Slot, number, one, some
from wizards_garden.battle import defending_gnome, most_fire
from wizards_garden.board import DEPOSITS, IS_DEPOSIT, PITS, SPACES, TERRACE_DEPOSIT
from wizards_garden.choices import WATER_TO_LIGHT, deposit_open, lantern_fault, pair_fault
from wizards_garden.draft import Draft
from wizards_garden.entries import PIECE_REFS, SPACE_REFS, About, card_refs, complete, opened, space_refs
from wizards_garden.pieces import CARD_KIND, FIRE, FIRST_PEST, GNOME, KINDS, PEST, PIECES, SPIRIT, WATER
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
from wizards_garden.spell_entries import spell_entries
from wizards_garden.state import BRIGHT, LIT, NO_ONE, Action, Source, Stage, State
from wizards_garden.steps import HAND_LIMIT

__all__ = ["legal_commands"]


def legal_commands(state: State, seat: int) -> tuple[Legal, ...]:
    """Every command this seat may send; none for a seat that is not asked."""
    if seat != state.asked:
        return ()
    lister = _LISTERS.get(state.stage)
    return () if lister is None else (*lister(Draft(state), seat),)


# ---- preparation and phases ------------------------------------------------------------------------------------------


def _preparation(draft: Draft, seat: int) -> Iterator[Legal]:
    hand = draft.hands[seat]
    for first in range(len(hand)):
        for second in range(first + 1, len(hand)):
            pair = hand[first], hand[second]
            kinds = tuple(f"kind:{kind}" for kind in dict.fromkeys(KINDS[CARD_KIND[card]] for card in pair))
            about = ("first", pair[0]), ("second", pair[1])
            yield opened("prepare", some("spirits", card_refs(pair), 2, 2), one("kind", kinds), about=about)


def _garden(draft: Draft, seat: int) -> Iterator[Legal]:
    lanterns = draft.lanterns[seat]
    for kind, lantern in enumerate(lanterns):
        if lantern == BRIGHT:
            yield complete("lantern_action", ("kind", KINDS[kind]), label=f"lantern_action_{KINDS[kind]}")
    if draft.water[TERRACE_DEPOSIT[seat]] >= WATER_TO_LIGHT:
        for kind in range(len(KINDS)):
            if not lantern_fault(draft, seat, kind):
                yield complete("light_with_water", ("kind", KINDS[kind]), label=f"light_with_water_{KINDS[kind]}")
    if LIT in lanterns:
        for deposit in DEPOSITS:
            if deposit_open(draft, seat, deposit):
                yield complete("place_lantern", ("space", SPACES[deposit]), label="place_lantern_at")
    yield from spell_entries(draft, seat)
    yield complete("end_phase")


def _wizard_start(draft: Draft, seat: int) -> Iterator[Legal]:
    hand = draft.hands[seat]
    if hand:
        for slot in range(2):
            card, about = one("card", card_refs(hand)), (("kind", _spirit(draft, seat, slot)),)
            yield opened("swap_spirit", card, fixed=(("slot", slot),), label=f"swap_spirit_{slot}", about=about)
    yield from _wizard_main(draft, seat)


def _wizard_main(draft: Draft, seat: int) -> Iterator[Legal]:
    if not pair_fault(draft, seat):
        yield complete("light_with_pair", label=f"light_with_pair_{_spirit(draft, seat, 0)}")
    for slot in range(2):
        yield complete("spirit_action", ("slot", slot), label=f"spirit_action_{_spirit(draft, seat, slot)}")
    for kind in KINDS:
        yield complete("magician_action", ("kind", kind), label=f"magician_action_{kind}")
    yield from spell_entries(draft, seat)
    yield complete("end_phase")


def _spirit(draft: Draft, seat: int, slot: int) -> str:
    """The kind of the spirit in this slot of the seat's board."""
    return KINDS[CARD_KIND[draft.spirits[seat][slot]]]


def _wizard_pending(draft: Draft, seat: int) -> Iterator[Legal]:
    for pending in draft.pending:
        label = f"start_action_{KINDS[pending.kind]}_{pending.steps}"
        yield complete("start_action", ("index", pending.index), label=label)
    yield from spell_entries(draft, seat)
    yield complete("end_phase")


def _wizard_end(draft: Draft, seat: int) -> Iterator[Legal]:
    yield from spell_entries(draft, seat)
    yield complete("end_phase")


# ---- attack and battle -----------------------------------------------------------------------------------------------


def _attack(draft: Draft, seat: int) -> Iterator[Legal]:
    for group in draft.groups:
        name = group.id
        about = ("origin", SPACES[group.origin]), ("target", SPACES[group.target])
        found = facing(draft, seat, group)
        if found == "unopposed":
            yield complete("advance", ("group", name), about=about)
        elif found == "opposed" and group.pieces[0] >= FIRST_PEST:
            yield complete("declare_attack", ("group", name), ("fire", 0), about=about)
        elif found == "opposed" and draft.fire[seat]:
            most = most_fire(draft, seat, group.target)
            yield opened("declare_attack", number("fire", 1, most), fixed=(("group", name),), about=about)
        yield complete("withdraw", ("group", name), about=about)
    yield from spell_entries(draft, seat)
    yield complete("end_phase")


def _defence(draft: Draft, seat: int) -> Iterator[Legal]:
    battle = draft.battle
    if battle is None:
        return
    yield complete("defend", ("with", "none"), ("amount", 0), label="defend_none")
    if defending_gnome(draft, battle.target, seat) != NO_ONE:
        water = min(draft.water[battle.target], battle.strength) if IS_DEPOSIT[battle.target] else 0
        for how, most in (("water", water), ("fire", draft.fire[seat])):
            if most:
                yield opened("defend", number("amount", 1, most), fixed=(("with", how),), label=f"defend_{how}")
    yield from spell_entries(draft, seat)


def _after_battle(draft: Draft, seat: int) -> Iterator[Legal]:  # noqa: ARG001
    battle = draft.battle
    if battle is None:
        return
    if battle.dimmed != NO_ONE:
        yield complete("choose_light", ("light", True), label=f"choose_light_{KINDS[battle.dimmed]}")
        yield complete("choose_light", ("light", False), label="choose_light_not")
    else:
        about = (("space", SPACES[battle.target]),)
        yield complete("choose_space", ("to", "target"), label="choose_space_target", about=about)
        yield complete("choose_space", ("to", "origin"), label="choose_space_origin")


# ---- steps -----------------------------------------------------------------------------------------------------------


def _action(draft: Draft, seat: int) -> Iterator[Legal]:
    action = draft.action
    if action is not None:
        yield from _STEPS[action.kind](draft, seat, action)
    yield complete("end_action")


def _pest_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:  # noqa: ARG001
    for pest in PESTS:
        if not pest_fault(draft, pest):
            moves = pest_moves(draft, pest)
            if moves:
                fixed = (("pest", PIECES[pest]),)
                yield opened("move_pest", one("to", space_refs(moves)), fixed=fixed, about=_stands(draft, pest))
    yield from _pest_threats(draft, seat)
    if draft.next_pest() == NO_ONE:
        return
    for pit in PITS:
        for command, field, spaces in (
            ("bring_pest", "to", pest_arrivals(draft, pit)),
            ("bring_pest_threatening", "target", transit_pest_targets(draft, seat, pit)),
        ):
            if spaces:
                source = one("from", (SPACE_REFS[pit],))
                yield opened(command, source, one(field, space_refs(spaces)), about=(("from", SPACES[pit]),))


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
    slots = (
        some("pests", tuple([PIECE_REFS[pest] for pest in pests]), least, len(pests)),
        one("target", space_refs(targets)),
    )
    about = _stands(draft, pests[0])
    if len(pests) == 1:
        about = ("pest", PIECES[pests[0]]), *about
        yield opened("threaten_with_pests", *slots, label="threaten_with_pest", about=about)
    else:
        yield opened("threaten_with_pests", *slots, about=about)


def _stands(draft: Draft, piece: int) -> About:
    """Where a piece is, for its label."""
    return (("at", SPACES[draft.places[piece]]),)


def _water_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:  # noqa: ARG001
    if draft.water_supply() > 0:
        deposits = [deposit for deposit in DEPOSITS if not water_fault(draft, deposit)]
        if deposits:
            yield opened("collect_water", one("deposit", space_refs(deposits)))


def _spirit_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:  # noqa: ARG001
    hand = draft.hands[seat]
    full = len(hand) >= HAND_LIMIT
    sources = card_refs(card for card in draft.row if card)
    if draft.deck or draft.discards or full:
        sources = ("pile:deck", *sources)
    if not sources:
        return
    slots = (one("source", sources),)
    yield opened("draw_spirit", *slots, *((one("discard", card_refs(hand)),) if full else ()))


def _gnome_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:
    paid: tuple[Slot, ...] = ()
    threats = True
    gnomes: Iterable[int] = GNOMES_OF[seat]
    if action.source == Source.BUTTERFLY:
        paid, threats = (one("discard", card_refs(draft.hands[seat])),), False
    elif action.gnome != NO_ONE:
        gnomes = (action.gnome,)
    for gnome in gnomes:
        if gnome_fault(draft, seat, gnome):
            continue
        fixed: tuple[tuple[str, Fixed], ...] = (("gnome", PIECES[gnome]),)
        about = _stands(draft, gnome)
        moves = gnome_moves(draft, gnome, seat)
        if moves:
            yield opened("move_gnome", one("to", space_refs(moves)), *paid, fixed=fixed, about=about)
        targets = gnome_targets(draft, gnome, seat) if threats else ()
        if targets:
            yield opened("threaten_with_gnome", one("target", space_refs(targets)), fixed=fixed, about=about)
    if action.gnome == NO_ONE and draft.next_gnome(seat) != NO_ONE:
        yield from _gnome_arrivals(draft, seat, paid, threats)


def _gnome_arrivals(draft: Draft, seat: int, paid: tuple[Slot, ...], threats: bool) -> Iterator[Legal]:
    for origin in held_deposits(draft, seat):
        source, about = one("from", (SPACE_REFS[origin],)), (("from", SPACES[origin]),)
        arrivals = gnome_arrivals(draft, seat, origin)
        if arrivals:
            yield opened("bring_gnome", source, one("to", space_refs(arrivals)), *paid, about=about)
        targets = transit_gnome_targets(draft, seat, origin) if threats else ()
        if targets:
            yield opened("bring_gnome_threatening", source, one("target", space_refs(targets)), about=about)


def _fire_steps(draft: Draft, seat: int, action: Action) -> Iterator[Legal]:  # noqa: ARG001
    yield complete("collect_fire")  # an action of fire is open only while a step is legal (WG-6.1)


_Lister = Callable[[Draft, int], Iterator[Legal]]

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

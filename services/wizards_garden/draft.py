"""The one place where a state changes: a draft that is thawed, changed in place, and frozen again.

Both roads lead through it. `evolve` reads the values out of an event, `decide` has just worked them out; both call the
same method, so the state after a command cannot differ from the fold of its events. No rules, no chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from grimoire.engine import Seat
from wizards_garden.board import IS_DEPOSIT
from wizards_garden.pieces import FIRE_IN_ALL, FIRST_PEST, GNOMES_EACH, PIECES, WATER_IN_ALL
from wizards_garden.state import (
    BORDER,
    BRIGHT,
    DIM_ON_BOARD,
    DIMMED,
    LIT,
    NO_ONE,
    PHASES,
    SUPPLY,
    Action,
    Battle,
    Group,
    Pending,
    Result,
    SeatState,
    Source,
    Stage,
    State,
)

__all__ = ["Draft"]

_new_state = State
_new_seat = SeatState


class Draft:
    """A state under change. Attributes are those of `State`, the seats' parts in lists by seat."""

    __slots__ = (
        "action",
        "active",
        "battle",
        "bears",
        "cast",
        "deck",
        "discards",
        "events",
        "fire",
        "fish",
        "groups",
        "hands",
        "lanterns",
        "pending",
        "pending_source",
        "phase",
        "places",
        "replaced",
        "reshuffles",
        "result",
        "row",
        "set_aside",
        "spells",
        "spirits",
        "stage",
        "standing",
        "terms",
        "turn_no",
        "water",
    )

    def __init__(self, state: State) -> None:
        blue, red = state.seats
        self.terms = state.terms
        self.fire = [blue.fire, red.fire]
        self.lanterns = ([*blue.lanterns], [*red.lanterns])
        self.spirits = [blue.spirits, red.spirits]
        self.hands = [blue.hand, red.hand]
        self.spells = [blue.spells, red.spells]
        self.events = state.events
        self.turn_no = state.turn_no
        self.active = state.active
        self.stage = state.stage
        self.phase = state.phase
        self.replaced = state.replaced
        self.standing = [*state.standing]
        self.places = [*state.places]
        self.bears = [*state.bears]
        self.water = [*state.water]
        self.fish = [*state.fish]
        self.groups = state.groups
        self.action = state.action
        self.pending_source = state.pending_source
        self.pending = state.pending
        self.battle = state.battle
        self.deck = state.deck
        self.discards = state.discards
        self.row = state.row
        self.set_aside = state.set_aside
        self.cast = state.cast
        self.reshuffles = state.reshuffles
        self.result = state.result

    def freeze(self) -> State:
        """The state as it is now."""
        fire, lanterns, spirits, hands, spells = self.fire, self.lanterns, self.spirits, self.hands, self.spells
        return _new_state(
            self.terms,
            (
                _new_seat(fire[0], (*lanterns[0],), spirits[0], hands[0], spells[0]),
                _new_seat(fire[1], (*lanterns[1],), spirits[1], hands[1], spells[1]),
            ),
            self.events,
            self.turn_no,
            self.active,
            self.stage,
            self.phase,
            self.replaced,
            (*self.standing,),
            (*self.places,),
            (*self.bears,),
            (*self.water,),
            (*self.fish,),
            self.groups,
            self.action,
            self.pending_source,
            self.pending,
            self.battle,
            self.deck,
            self.discards,
            self.row,
            self.set_aside,
            self.cast,
            self.reshuffles,
            self.result,
        )

    # ---- what is where -----------------------------------------------------------------------------------------------

    def is_free(self, space: int) -> bool:
        """No piece and no fish fire; water does not count (WG-2.8). A pit is for the caller to know."""
        return not self.standing[space] and not self.fish[space]

    def holder(self, space: int) -> int:
        """Whose deposit it is (WG-2.10); -1: nobody's, or no deposit."""
        pieces = self.standing[space]
        if len(pieces) == 1 and pieces[0] < FIRST_PEST and IS_DEPOSIT[space]:
            return pieces[0] // GNOMES_EACH
        return NO_ONE

    def has_pair(self, space: int) -> bool:
        """A possessed pair stands there (WG-13.6)."""
        pieces = self.standing[space]
        return len(pieces) == 2 and pieces[1] < FIRST_PEST

    def is_possessed(self, gnome: int) -> bool:
        """This gnome is half of a pair."""
        place = self.places[gnome]
        return place >= 0 and len(self.standing[place]) == 2

    def next_gnome(self, seat: int) -> int:
        """The gnome that comes from the supply next (WG-2.5), or `NO_ONE`."""
        first = seat * GNOMES_EACH
        for gnome in range(first, first + GNOMES_EACH):
            if self.places[gnome] == SUPPLY:
                return gnome
        return NO_ONE

    def next_pest(self) -> int:
        """The pest that comes from the supply next (WG-2.5), or `NO_ONE`."""
        for pest in range(FIRST_PEST, len(PIECES)):
            if self.places[pest] == SUPPLY:
                return pest
        return NO_ONE

    def fire_supply(self) -> int:
        """Fire crystals in the supply (WG-2.2)."""
        aside = self.battle.fire if self.battle is not None else 0
        return FIRE_IN_ALL - self.fire[0] - self.fire[1] - sum(self.fish) - aside

    def water_supply(self) -> int:
        """Water crystals in the supply (WG-2.2)."""
        return WATER_IN_ALL - sum(self.water)

    def group_over(self, origin: int, target: int) -> Group | None:
        """The threat over this border."""
        for group in self.groups:
            if group.origin == origin and group.target == target:
                return group
        return None

    def battle_group(self) -> Group | None:
        """The attacking group of the battle under way; None for the Skull, and once it is destroyed."""
        battle = self.battle
        return None if battle is None or battle.origin < 0 else self.group_over(battle.origin, battle.target)

    # ---- the start (WG-3) --------------------------------------------------------------------------------------------

    def begin(self, seat: int) -> None:
        """Who takes the first turn (WG-3.1)."""
        self.terms = replace(self.terms, first_seat=Seat(seat))
        self.active = seat

    def set_up(self, gnome: int, space: int) -> None:
        """A gnome comes to its first space (WG-3.2)."""
        self._put((gnome,), space)

    def deal_spirits(self, seat: int, cards: Iterable[str]) -> None:
        """WG-3.3."""
        self.hands[seat] = (*self.hands[seat], *cards)

    def deal_spells(self, seat: int, spells: Iterable[str]) -> None:
        """WG-3.4."""
        self.spells[seat] = (*self.spells[seat], *spells)

    def set_deck(self, order: Iterable[str], set_aside: Iterable[str]) -> None:
        """What is left after the deal."""
        self.deck = tuple(order)
        self.set_aside = tuple(set_aside)

    def place_spirits(self, seat: int, cards: Iterable[str]) -> None:
        """Two cards of the hand become the board's spirits (WG-3.5)."""
        chosen = tuple(cards)
        self.spirits[seat] = chosen
        self.hands[seat] = tuple(card for card in self.hands[seat] if card not in chosen)

    def set_row(self, cards: Iterable[str]) -> None:
        """The top of the deck is turned up (WG-3.6)."""
        self.row = tuple(cards)
        self.deck = self.deck[len(self.row) :]

    # ---- turns and phases (WG-4) -------------------------------------------------------------------------------------

    def start_turn(self, turn: int, seat: int) -> None:
        """A turn begins."""
        self.turn_no = turn
        self.active = seat
        self.replaced = False

    def enter(self, stage: Stage, seat: int) -> None:
        """The match waits for something else. A phase has nothing under way; only `wizard_pending` keeps what pends."""
        self.stage = stage
        if stage in PHASES:
            self.phase = stage
            self.active = seat
            self.battle = None
            if stage is not Stage.WIZARD_PENDING:
                self.pending = ()
                self.pending_source = ""

    def end(self, result: Result) -> None:
        """The match is over."""
        self.result = result
        self.stage = self.phase = Stage.OVER
        self.action = None
        self.battle = None
        self.pending = ()
        self.pending_source = ""

    # ---- lanterns (WG-5) ---------------------------------------------------------------------------------------------

    def light(self, seat: int, kind: int) -> None:
        """A lantern on the board is lit."""
        self.lanterns[seat][kind] = LIT

    def put_out(self, seat: int, kind: int) -> None:
        """The lit lantern is dim again (WG-5.5)."""
        self.lanterns[seat][kind] = DIM_ON_BOARD

    def place_lantern(self, seat: int, kind: int, gnome: int) -> None:
        """A lantern goes bright onto a gnome."""
        self.lanterns[seat][kind] = BRIGHT
        self.bears[gnome] = kind

    def dim(self, seat: int, kind: int) -> None:
        """A bright lantern of the yard dims (WG-9.7)."""
        self.lanterns[seat][kind] = DIMMED
        battle = self.battle
        if battle is not None:
            self.battle = replace(battle, dimmed=kind)

    # ---- actions (WG-6) ----------------------------------------------------------------------------------------------

    def open_action(self, source: str, kind: int, steps: int, index: int | None, gnome: int) -> None:
        """An action begins; one of Gem or Flower pends no longer."""
        self.action = Action(source, kind, steps, steps, (), gnome)
        if index is not None:
            self.pending = tuple(pending for pending in self.pending if pending.index != index)

    def close_action(self) -> None:
        """The action is over."""
        self.action = None

    def _step(self, moved: tuple[int, ...] = ()) -> None:
        """One step of the action is used; what has moved takes no other (WG-6.7), but in Butterfly (WG-13.5)."""
        action = self.action
        if action is None:
            return
        if action.source == Source.BUTTERFLY:
            moved = ()
        self.action = Action(
            action.source, action.kind, action.steps, action.left - 1, (*action.moved, *moved), action.gnome
        )

    def _put(self, pieces: tuple[int, ...], space: int) -> None:
        for piece in pieces:
            self.places[piece] = space
        there = self.standing[space]
        self.standing[space] = tuple(sorted((*there, *pieces))) if there else pieces

    def _lift(self, pieces: tuple[int, ...]) -> None:
        for piece in pieces:
            place = self.places[piece]
            if place >= 0:
                self.standing[place] = tuple(there for there in self.standing[place] if there != piece)

    def bring(self, piece: int, space: int) -> None:
        """A piece of the supply comes to a space."""
        self._put((piece,), space)
        self._step()

    def move(self, pieces: tuple[int, ...], space: int) -> None:
        """A piece, or a pair (pest first), goes to a space."""
        self._lift(pieces)
        self._put(pieces, space)
        self._step(pieces)

    def threaten(self, origin: int, target: int, pieces: tuple[int, ...], in_transit: bool) -> None:
        """Pieces are set on a border; those of the same border are one group (WG-8.2)."""
        if in_transit:
            for piece in pieces:
                self.places[piece] = BORDER
        there = self.group_over(origin, target)
        if there is None:
            joined = Group(origin, target, pieces, in_transit)
        else:
            joined = Group(origin, target, tuple(sorted((*there.pieces, *pieces))), in_transit)
            self._forget(there)
        self.groups = tuple(sorted((*self.groups, joined), key=_group_id))
        self._step(() if in_transit else pieces)

    def drop(self, pieces: tuple[int, ...]) -> None:
        """Pieces leave their groups (WG-8.7, WG-8.8); an empty group is gone."""
        left = []
        for group in self.groups:
            kept = tuple(piece for piece in group.pieces if piece not in pieces)
            if kept:
                left.append(
                    group if kept == group.pieces else Group(group.origin, group.target, kept, group.in_transit)
                )
        self.groups = tuple(left)

    def _forget(self, group: Group) -> None:
        self.groups = tuple(other for other in self.groups if other is not group)

    def collect_water(self, deposit: int, now: int) -> None:
        """WG-6.3."""
        self.water[deposit] = now
        self._step()

    def collect_fire(self, seat: int, now: int) -> None:
        """WG-6.6."""
        self.fire[seat] = now
        self._step()

    # ---- cards (WG-10) -----------------------------------------------------------------------------------------------

    def draw_spirit(self, seat: int, source: str, card: str) -> None:
        """A card of the deck, or an open one, comes into the hand."""
        if source == "deck":
            self.deck = self.deck[1:]
        else:
            self.row = tuple("" if there == source else there for there in self.row)
        self.hands[seat] = (*self.hands[seat], card)
        self._step()

    def refill_row(self, place: int, card: str) -> None:
        """The top of the deck lies open at this place."""
        self.row = (*self.row[:place], card, *self.row[place + 1 :])
        self.deck = self.deck[1:]

    def discard(self, seat: int, card: str) -> None:
        """A card of the hand goes to the discard pile."""
        self.hands[seat] = tuple(held for held in self.hands[seat] if held != card)
        self.discards = (*self.discards, card)

    def reshuffle(self, number: int, order: Iterable[str]) -> None:
        """The discard pile becomes the deck (WG-10.3)."""
        self.reshuffles = number
        self.deck = tuple(order)
        self.discards = ()

    def swap_spirit(self, seat: int, slot: int, card: str) -> None:
        """A card of the hand takes the place of a spirit, which is discarded (WG-10.2)."""
        spirits = [*self.spirits[seat]]
        self.discards = (*self.discards, spirits[slot])
        spirits[slot] = card
        self.spirits[seat] = tuple(spirits)
        self.hands[seat] = tuple(held for held in self.hands[seat] if held != card)

    def exchange(self, a: str, b: str) -> None:
        """Two face-up cards change places (WG-13.3)."""

        def exchanged(cards: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(b if card == a else a if card == b else card for card in cards)

        self.spirits = [exchanged(self.spirits[0]), exchanged(self.spirits[1])]
        self.row = exchanged(self.row)

    # ---- crystals ----------------------------------------------------------------------------------------------------

    def return_water(self, deposit: int, amount: int) -> None:
        """Water goes to the supply."""
        self.water[deposit] -= amount

    def return_fire(self, seat: int, amount: int, why: str) -> None:
        """Fire goes to the supply: what was set aside for an attack, else from the wizard board."""
        battle = self.battle
        if why == "attack" and battle is not None:
            self.battle = replace(battle, fire=battle.fire - amount)
        else:
            self.fire[seat] -= amount

    def lay_fish_fire(self, seat: int, space: int, amount: int) -> None:
        """Fire of the wizard board is laid on a space (WG-13.12)."""
        self.fire[seat] -= amount
        self.fish[space] += amount

    def remove_fish_fire(self, space: int, amount: int) -> None:
        """Fish fire goes to the supply."""
        self.fish[space] -= amount

    # ---- battles (WG-9) ----------------------------------------------------------------------------------------------

    def declare(self, seat: int, origin: int, target: int, strength: int, fire: int) -> None:
        """An attack begins; its fire is set aside."""
        self.fire[seat] -= fire
        self.battle = Battle(seat, origin, target, strength, fire)

    def stop_attack(self, why: str) -> None:
        """Conch gives the fire set aside back (WG-13.11)."""
        battle = self.battle
        if why == "conch" and battle is not None:
            self.fire[battle.seat] += battle.fire
            self.battle = replace(battle, fire=0)

    def withdraw(self, group: Group) -> None:
        """A group goes back; pieces in transit to the supply (WG-9.4)."""
        for piece in group.pieces:
            if self.places[piece] == BORDER:
                self.places[piece] = SUPPLY
        self._forget(group)

    def settle(self, pieces: tuple[int, ...], space: int) -> None:
        """Pieces of a group come to a space, or stay there; `SUPPLY`: in transit, they go back. Their group is gone."""
        if space == SUPPLY:
            for piece in pieces:
                self.places[piece] = SUPPLY
        elif self.places[pieces[0]] != space:
            self._lift(pieces)
            self._put(pieces, space)
        self.drop(pieces)

    def destroy(self, piece: int) -> None:
        """A piece goes to its supply (WG-9.9)."""
        self._lift((piece,))
        self.places[piece] = SUPPLY
        self.drop((piece,))

    # ---- spells (WG-13) ----------------------------------------------------------------------------------------------

    def cast_spell(self, seat: int, spell: str, pending: tuple[Pending, ...]) -> None:
        """A spell leaves the hand face up; what it leaves pending may be started (WG-7.2)."""
        self.spells[seat] = tuple(held for held in self.spells[seat] if held != spell)
        self.cast = (*self.cast, (seat, spell))
        if pending:
            self.pending = pending
            self.pending_source = spell
            self.replaced = True

    def possess(self, gnome: int, pest: int) -> None:
        """A pest of the supply goes onto a gnome (WG-13.6)."""
        space = self.places[gnome]
        self.places[pest] = space
        self.standing[space] = (pest, gnome)

    # ---- analysis ----------------------------------------------------------------------------------------------------

    def arrange_space(self, space: int, pieces: tuple[int, ...], water: int, fish: int) -> None:
        """What a space of an arranged position holds."""
        self.standing[space] = pieces
        for piece in pieces:
            self.places[piece] = space
        self.water[space] = water
        self.fish[space] = fish

    def arrange_groups(self, groups: Sequence[Group]) -> None:
        """The threats of an arranged position."""
        for group in groups:
            if group.in_transit:
                for piece in group.pieces:
                    self.places[piece] = BORDER
        self.groups = tuple(sorted(groups, key=_group_id))


def _group_id(group: Group) -> str:
    return group.id

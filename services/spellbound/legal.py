"""What an asked seat may do: exactly the commands that `decide` accepts (SB-18.2).

A command that has few forms is listed complete. Where a card, a place or a book is to be pointed at, an entry leaves a
slot open for it: its candidates are refs such as `card:centaur_1`, `place:village_03`, `book:red` or `piece:hat_red`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from grimoire.engine import Legal, Prompt
from grimoire.engine.legal import Fixed
from grimoire.engine.slots import Slot, assign, one, some
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.battle import SUN, battle_fault, destroyable
from spellbound.cards import FORTUNA, MODES, PIXIES, STEPS, TYPE, WICKED
from spellbound.judge import ANY_TIME
from spellbound.notions import books_on_track, idle_piece, wicked_in_upper_row
from spellbound.places import BOOKS, FIRST_VILLAGE, GAINED, HATS, NOWHERE, PIECES, PLACES, VILLAGES, on_track
from spellbound.spells import (
    CIRCLE_OF_MAGI,
    PUPPETRY,
    SUN_BURST,
    WINNING_SMILE,
    spell_fault,
)
from spellbound.state import Progress, Stage, State
from spellbound.steps import (
    STEP_FAULTS,
    book_fault,
    changeling_fault,
    move_fault,
    ride_fault,
    step_left,
    watchman_fault,
)
from spellbound.story import cost_cards, mode_fault, skip_fault, too_many_cards
from spellbound.windows import (
    ALCHEMY,
    BOOK_WYRM,
    HAT_TRICK,
    TELEPORT,
    asked_seat,
    spells_in_window,
    useful_any_time,
)

__all__ = ["LOSES_A_BOOK", "legal_commands"]

GRAVE: Final = "grave"
"""Flag of what clients ask twice about."""

LOSES_A_BOOK: Final = "loses_a_book"
"""Flag of an end of the story that moves a piece onto a book (SB-11.2)."""

_Refs = tuple[str, ...]

_PLACE_REFS: Final = tuple(f"place:{place}" for place in PLACES)
_ALL_PLACES: Final = range(len(PLACES))


def legal_commands(state: State, seat: int, prompt: Prompt) -> tuple[Legal, ...]:
    """Every command this seat may send to this prompt; none for a seat that is not asked."""
    if prompt.kind == ANY_TIME:
        return (*_any_time(state, seat),)
    asked = state.asked
    if prompt.kind != asked or seat != prompt.seat:
        return ()
    return (*_LISTERS[asked](state, seat),)


# ---- entries ---------------------------------------------------------------------------------------------------------


@functools.cache
def _complete(command: str, *fixed: tuple[str, Fixed], label: str = "", flags: tuple[str, ...] = ()) -> Legal:
    return Legal(command, fixed, flags=flags, label=label or command)


def _open(
    command: str,
    *slots: Slot,
    fixed: tuple[tuple[str, Fixed], ...] = (),
    label: str = "",
    about: tuple[tuple[str, str], ...] = (),
    flags: tuple[str, ...] = (),
) -> Legal:
    return Legal(command, fixed, slots, flags, label or command, about)


def _cards(cards: Iterable[str]) -> _Refs:
    return tuple([f"card:{card}" for card in cards])


def _to(places: Iterable[int]) -> Slot:
    return one("to", tuple([_PLACE_REFS[place] for place in places]))


# ---- witching time ---------------------------------------------------------------------------------------------------


def _witching(state: State, seat: int) -> Iterator[Legal]:
    pixies = [card for card in state.lower if card in PIXIES]
    together = len(pixies) > 1
    alone = [card for card in state.lower if card != FORTUNA and not (together and card in PIXIES)]
    if alone or state.upper:
        yield _open("send_to_tower", some("cards", _cards((*alone, *state.upper)), 1, 1))
    if together:
        yield _open("send_to_tower", some("cards", _cards(pixies), 1, len(pixies)), label="send_to_tower_pixies")
    if not skip_fault(state):
        yield _complete("skip_turn")
    yield from _battle(state)
    yield from _whenever_asked(state, seat)


def _battle(state: State) -> Iterator[Legal]:
    """SB-15.4: each gained book is `sun` or destroys a card, no two of them the same."""
    if battle_fault(state):
        return
    cards = _cards(destroyable(state))
    gained = [book for book, at in zip(BOOKS, state.books, strict=True) if at == GAINED]
    uses = assign("books", [(f"book:{book}", (SUN, *cards)) for book in gained], once=cards)
    yield _open("declare_final_battle", uses, flags=(GRAVE,))


def _whenever_asked(state: State, seat: int) -> Iterator[Legal]:
    """What the active seat may do in witching time, in the story and during a card (SB-4.4)."""
    for village, lying in enumerate(state.lying):
        if lying:
            cards = some("cards", _cards(card for card, _ in lying), 1, len(lying))
            fixed = (("village", VILLAGES[village]),)
            yield _open("discard_influence", cards, fixed=fixed, label="discard_influence_at")
    seats = state.terms.mage_seats
    for mage, spells in enumerate(state.spells):
        if spells and seats[mage] == seat:
            for spell in spells:
                if spell in _SPELLS and (mage == state.turn_mage or spell in (TELEPORT, BOOK_WYRM)):
                    yield from _SPELLS[spell](state)


# ---- the story -------------------------------------------------------------------------------------------------------


def _story(state: State, seat: int) -> Iterator[Legal]:
    for card in state.lower:
        yield from _plays(state, card)
    discards = [card for card in state.lower if card != FORTUNA]
    if discards:
        yield _open("discard_card", one("card", _cards(discards)))
    yield from _wand(state)
    yield from _battle(state)
    yield from _whenever_asked(state, seat)
    if not too_many_cards(state):
        piece = idle_piece(state)
        catches = piece != NOWHERE and on_track(state.books[piece]) and state.pieces[piece] + 1 == state.books[piece]
        yield _complete("end_story", flags=(GRAVE, LOSES_A_BOOK) if catches else ())


def _plays(state: State, card: str) -> Iterator[Legal]:
    """SB-6.1."""
    for name, mode in MODES[card].items():
        label = f"play_card_{TYPE[card]}_{name}"
        if mode.cost == "discard_ally_or_witch":
            cost = cost_cards(state, card)
            if cost:
                fixed = ("card", card), ("mode", name)
                yield _open("play_card", one("discard", _cards(cost)), fixed=fixed, label=label)
        elif not mode_fault(state, card, mode, ""):
            yield _complete("play_card", ("card", card), ("mode", name), label=label)


def _wand(state: State) -> Iterator[Legal]:
    """SB-9."""
    level = state.wands[state.turn_mage]
    if not level:
        return
    mage = state.acting
    yield _open("use_wand", _to(_reach(state, mage)), fixed=(("level", 1),), label="use_wand_1")
    if level > 1 and not book_fault(state):
        yield _complete("use_wand", ("level", 2), label="use_wand_2")
    wicked = wicked_in_upper_row(state)
    if level > 2 and wicked:
        yield _open("use_wand", one("card", _cards(wicked)), fixed=(("level", 3),), label="use_wand_3")


def _reach(state: State, mage: int) -> list[int]:
    """Where one movement leads (SB-7.1)."""
    return [place for place in _ALL_PLACES if not move_fault(state, mage, place)]


# ---- a card in progress ----------------------------------------------------------------------------------------------


def _card(state: State, seat: int) -> Iterator[Legal]:
    progress = state.progress
    if progress is not None:
        for step in STEPS:
            if step_left(progress, step):
                yield from _steps(state, progress, step)
    yield _complete("end_card")
    yield from _wand(state)
    yield from _whenever_asked(state, seat)


def _steps(state: State, progress: Progress, step: str) -> Iterator[Legal]:
    fixed, label = ("step", step), f"card_step_{step}"
    if step == "move":
        yield from _movements(state, progress)
    elif step == "watchman":
        cities = [_PLACE_REFS[city] for city in HATS if not watchman_fault(state, city)]
        yield _open("card_step", one("city", tuple(cities)), fixed=(fixed,), label=label)
    elif step == "changeling":
        villages = [place for place in _ALL_PLACES[FIRST_VILLAGE:] if not changeling_fault(state, place)]
        if villages:
            refs = tuple(_PLACE_REFS[place] for place in villages)
            yield _open("card_step", one("village", refs), fixed=(fixed,), label=label)
    elif not STEP_FAULTS[step](state, progress):
        yield _complete("card_step", fixed, label=label)


def _movements(state: State, progress: Progress) -> Iterator[Legal]:
    """SB-7.1, SB-8.2."""
    step = ("step", "move")
    places = _reach(state, state.acting)
    yield _open("card_step", _to(places), fixed=(step,), label="card_step_move")
    if not MODES[progress.card][progress.mode].carry:
        return
    for rider in range(len(state.places)):
        together = [place for place in places if not ride_fault(state, progress, rider, place)]
        if together:
            fixed, about = (step, ("rider", rider)), (("mage", str(rider)),)
            yield _open("card_step", _to(together), fixed=fixed, label="card_step_ride", about=about)


# ---- spells ----------------------------------------------------------------------------------------------------------


def _spell(spell: str, *fixed: tuple[str, Fixed]) -> Legal:
    return _complete("cast_spell", ("spell", spell), *fixed, label=f"cast_spell_{spell}")


def _spell_at(spell: str, slot: Slot, *fixed: tuple[str, Fixed]) -> Legal:
    return _open("cast_spell", slot, fixed=(("spell", spell), *fixed), label=f"cast_spell_{spell}")


def _plain(spell: str) -> Callable[[State], Iterator[Legal]]:
    """A spell that names nothing."""

    def listed(state: State) -> Iterator[Legal]:
        if not spell_fault(state, pb.CastSpell(spell=spell)):
            yield _spell(spell)

    return listed


def _book_wyrm(state: State) -> Iterator[Legal]:
    books = tuple(f"book:{BOOKS[book]}" for book in books_on_track(state))
    if books:
        yield _spell_at(BOOK_WYRM, one("book", books))


def _teleport(state: State) -> Iterator[Legal]:
    for mage, here in enumerate(state.places):
        yield _spell_at(TELEPORT, _to(place for place in _ALL_PLACES if place != here), ("mage", mage))


def _puppetry(state: State) -> Iterator[Legal]:
    for mage in range(len(state.places)):
        if mage != state.acting:
            yield _spell(PUPPETRY, ("mage", mage))


def _sun_burst(state: State) -> Iterator[Legal]:
    wicked = [card for card in state.moon_pile if card in WICKED]
    if wicked:
        yield _spell_at(SUN_BURST, one("card", _cards(wicked)))


def _hat_trick(state: State) -> Iterator[Legal]:
    moves = () if state.batch is None else state.batch.moves
    hats = tuple(f"piece:{PIECES[piece]}" for piece in HATS if piece in moves)
    if hats:
        yield _spell_at(HAT_TRICK, one("piece", hats))


_SPELLS: Final[dict[str, Callable[[State], Iterator[Legal]]]] = {
    BOOK_WYRM: _book_wyrm,
    TELEPORT: _teleport,
    PUPPETRY: _puppetry,
    SUN_BURST: _sun_burst,
    CIRCLE_OF_MAGI: _plain(CIRCLE_OF_MAGI),
    WINNING_SMILE: _plain(WINNING_SMILE),
}
"""Spells that the active seat casts in its own turn."""

_IN_WINDOWS: Final = {**_SPELLS, ALCHEMY: _plain(ALCHEMY), HAT_TRICK: _hat_trick}


def _any_time(state: State, seat: int) -> Iterator[Legal]:
    """SB-16.2."""
    for spell in useful_any_time(state, seat):
        yield from _SPELLS[spell](state)


def _reaction(state: State, seat: int) -> Iterator[Legal]:
    """SB-16.3."""
    if asked_seat(state) != seat:
        return
    for spell in spells_in_window(state, seat):
        yield from _IN_WINDOWS[spell](state)
    yield _complete("pass")


def _consent(_state: State, _seat: int) -> Iterator[Legal]:
    yield _complete("answer_ride", ("accept", True), label="answer_ride_accept")
    yield _complete("answer_ride", ("accept", False), label="answer_ride_decline")


def _choose_book(state: State, _seat: int) -> Iterator[Legal]:
    yield _open("choose_book", one("book", tuple(f"book:{BOOKS[book]}" for book in books_on_track(state))))


_LISTERS: Final[dict[Stage, Callable[[State, int], Iterable[Legal]]]] = {
    Stage.SETUP: lambda _state, _seat: (),
    Stage.WITCHING: _witching,
    Stage.STORY: _story,
    Stage.CARD: _card,
    Stage.REACTION: _reaction,
    Stage.CONSENT: _consent,
    Stage.CHOOSE_BOOK: _choose_book,
    Stage.OVER: lambda _state, _seat: (),
}

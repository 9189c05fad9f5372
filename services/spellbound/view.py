"""What is open (SB-17), as the game's view message: the same for every seat. Clients compute nothing."""

from __future__ import annotations

from collections.abc import Iterable

from grimoire.engine import Viewer, ViewerKind
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import BOOK, GUARDS, INFLUENCE, MOON, SUN
from spellbound.catalogue import DATA
from spellbound.deal import sorted_cards
from spellbound.notions import amount_at, books_gained, books_lost, idle_piece, tower_at
from spellbound.places import (
    BOOKS,
    FIRST_VILLAGE,
    GAINED,
    LOST,
    NOWHERE,
    PIECES,
    PLACES,
    STRENGTH,
    TRACK_END,
    VILLAGES,
)
from spellbound.state import NO_ONE, Batch, Progress, Stage, State, Stone
from spellbound.windows import asked_seat

__all__ = ["batch_message", "progress_message", "stone_messages", "view"]

_GROUP = {card.id: card.group for card in DATA.cards}
_SPELL_SPACES = [track.spell_spaces for track in DATA.tracks]


def view(state: State, viewer: Viewer) -> pb.View:
    """The match as this viewer may see it.

    Raises:
        ValueError: for a seat that the match does not have.
    """
    if viewer.kind is ViewerKind.SEAT and not 0 <= viewer.seat < state.terms.seats:
        raise ValueError(f"this match of Spellbound has no seat {viewer.seat}")
    terms = state.terms
    shown = pb.View(
        state=state.asked.value,
        turn=state.turn,
        turn_mage=state.turn_mage,
        active_seat=state.active_seat,
        acting_mage=state.acting,
        moved=state.moved,
        fortuna_visited=state.visited,
        mages=[_mage(state, mage) for mage in range(len(state.places))],
        tracks=[_track(state, track) for track in range(len(BOOKS))],
        villages=[_village(state, village) for village in range(len(VILLAGES))],
        watchman="" if state.watchman == NOWHERE else PLACES[state.watchman],
        lower_row=[_card(state, card) for card in state.lower],
        upper_row=[_card(state, card) for card in state.upper],
        tower=_tower(state),
        bag=pb.Stones(sun=state.bag[0], moon=state.bag[1]),
        drawn=pb.Stones(sun=state.drawn[0], moon=state.drawn[1]),
        supply=pb.Stones(sun=state.supply[0], moon=state.supply[1]),
        deck_count=len(state.deck),
        discards=state.discards,
        wicked_deck_count=len(state.wicked_deck),
        wicked_top=state.wicked_deck[0] if state.wicked_deck else "",
        spell_deck_count=len(state.spell_deck),
        set_aside_count=len(state.set_aside),
        box_count=len(state.box),
        removed=state.removed,
        deck_cards=sorted_cards(state.deck),
        deck_ends=state.deck_ends,
        policies=state.policies,
        stones=stone_messages(state.stones),
        books_gained=books_gained(state),
        books_lost=books_lost(state),
        arranged=terms.arranged,
        troll_buster=terms.troll_buster,
        dan=terms.dan,
        witchfinder_general=terms.witchfinder_general,
    )
    _show_under_way(state, shown)
    if viewer.kind is ViewerKind.ALL:
        _show_hidden(state, shown)
    return shown


def _show_under_way(state: State, shown: pb.View) -> None:
    if state.progress is not None:
        shown.progress.CopyFrom(progress_message(state.progress))
    if state.ride is not None:
        shown.ride.CopyFrom(pb.Ride(mage=state.acting, rider=state.ride.rider, to=PLACES[state.ride.to]))
    if state.window is not None:
        asked = asked_seat(state)
        window = pb.WindowView(window=state.window.kind.value, seat=max(asked, 0), passed=state.window.passed)
        shown.window.CopyFrom(window)
    if state.batch is not None:
        shown.batch.CopyFrom(batch_message(state.batch))
    if state.result is not None:
        shown.result.CopyFrom(pb.Result(result="won" if state.result.won else "lost", reason=state.result.reason))
    piece = idle_piece(state) if state.asked in (Stage.STORY, Stage.CARD) else NOWHERE
    if piece != NOWHERE and state.pieces[piece] < TRACK_END:
        shown.idle_piece = PIECES[piece]


def _show_hidden(state: State, shown: pb.View) -> None:
    """What nobody sees before the end (SB-17.1)."""
    shown.deck.extend(state.deck)
    shown.wicked_deck.extend(state.wicked_deck)
    shown.spell_deck.extend(state.spell_deck)
    shown.set_aside.extend(state.set_aside)
    shown.box.extend(state.box)
    shown.face_down.extend("" if up else card for card, up in zip(state.villages, state.face_up, strict=True))


def _mage(state: State, mage: int) -> pb.MageView:
    return pb.MageView(
        mage=mage,
        seat=state.terms.mage_seats[mage],
        place=PLACES[state.places[mage]],
        wand=state.wands[mage],
        spells=state.spells[mage],
    )


def _track(state: State, track: int) -> pb.TrackView:
    book = state.books[track]
    return pb.TrackView(
        book=BOOKS[track],
        piece=PIECES[track],
        place=PLACES[track],
        piece_at=state.pieces[track],
        book_state={GAINED: "gained", LOST: "lost"}.get(book, "on_track"),
        book_at=book,
        spell_spaces=_SPELL_SPACES[track],
        length=TRACK_END,
    )


def _village(state: State, village: int) -> pb.VillageView:
    face_up, card = state.face_up[village], state.villages[village]
    shown = card if face_up else ""
    return pb.VillageView(
        village=VILLAGES[village],
        card=shown,
        face_down=bool(card) and not face_up,
        requirement=INFLUENCE.get(shown, 0),
        influence=[pb.Influence(card=each, amount=amount) for each, amount in state.lying[village]],
        amount=amount_at(state, FIRST_VILLAGE + village),
    )


def _card(state: State, card: str) -> pb.CardView:
    return pb.CardView(
        card=card,
        group=_GROUP[card],
        sun=SUN[card],
        moon=MOON[card],
        book="" if BOOK[card] == NOWHERE else BOOKS[BOOK[card]],
        new=card in state.fresh,
        guard=card in GUARDS and card in state.upper,
    )


def _tower(state: State) -> pb.TowerView:
    village = tower_at(state)
    return pb.TowerView(
        witch=state.witch,
        strength=STRENGTH[state.witch],
        sun_pile=state.sun_pile,
        moon_pile=state.moon_pile,
        minions=state.minions,
        sun_force=sum(SUN[card] for card in state.sun_pile),
        moon_force=STRENGTH[state.witch] + sum(MOON[card] for card in (*state.moon_pile, *state.minions)),
        village="" if village == NOWHERE else PLACES[village],
    )


def progress_message(progress: Progress) -> pb.Progress:
    """The card in progress."""
    return pb.Progress(
        card=progress.card,
        mode=progress.mode,
        left=[pb.Part(any=kinds, times=times) for kinds, times in progress.left],
        village="" if progress.village == NOWHERE else PLACES[progress.village],
        given=progress.given,
        recruited=progress.recruited,
        rider=None if progress.rider == NO_ONE else progress.rider,
        refused=[pb.Ride(rider=rider, to=PLACES[to]) for rider, to in progress.refused],
    )


def batch_message(batch: Batch) -> pb.Batch:
    """Moves that are about to be made."""
    return pb.Batch(cause=batch.cause, moves=[PIECES[piece] for piece in batch.moves])


def stone_messages(stones: Iterable[Stone]) -> list[pb.DrawnStone]:
    """Stones drawn for what is under way."""
    return [pb.DrawnStone(number=s.number, stone="sun" if s.sun else "moon", turned=s.turned) for s in stones]

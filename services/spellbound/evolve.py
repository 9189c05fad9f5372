"""Events into changes of the state: no rules, no randomness. `decide` changes its draft in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.engine.tuples import put, without
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.draft import Draft
from spellbound.places import (
    BOOK_INDEX,
    FIRST_VILLAGE,
    GAINED,
    LOST,
    NOWHERE,
    PIECE_INDEX,
    PLACE_INDEX,
    VILLAGES,
)
from spellbound.state import (
    NO_BATTLE,
    NO_ONE,
    WHEN_IT_MATTERS,
    Batch,
    Parts,
    Progress,
    Result,
    Ride,
    Stage,
    State,
    Stone,
    Stones,
    Window,
    WindowKind,
)

__all__ = ["apply", "evolve", "fold"]

_GUARD: Final = "guard"


def _village(place: str) -> int:
    return PLACE_INDEX[place] - FIRST_VILLAGE


def _add(stones: Stones, stone: str, by: int) -> Stones:
    sun, moon = stones
    return (sun + by, moon) if stone == "sun" else (sun, moon + by)


# ---- the start -------------------------------------------------------------------------------------------------------


def _pieces_placed(draft: Draft, event: pb.PiecesPlaced) -> None:
    mages = len(event.mages)
    draft.pieces = (*event.hats, event.troll)
    draft.books = (*event.books,)
    draft.witch = event.witch
    draft.places = tuple(PLACE_INDEX[place] for place in event.mages)
    draft.wands = (0,) * mages
    draft.spells = ((),) * mages
    draft.policies = (WHEN_IT_MATTERS,) * event.seats
    draft.bag = event.bag.sun, event.bag.moon
    draft.supply = event.supply.sun, event.supply.moon


def _spell_deck_set(draft: Draft, event: pb.SpellDeckSet) -> None:
    draft.spell_deck = (*event.order,)


def _villages_set(draft: Draft, event: pb.VillagesSet) -> None:
    draft.villages = (*event.cards,)
    draft.set_aside = (*event.set_aside,)
    draft.box = (*event.box,)


def _wicked_deck_set(draft: Draft, event: pb.WickedDeckSet) -> None:
    draft.wicked_deck = (*event.order,)


def _destiny_deck_set(draft: Draft, event: pb.DestinyDeckSet) -> None:
    draft.deck = (*event.order,)
    if event.number:
        draft.sweep_ups = event.number
        draft.discards = ()
        draft.deck_ending = False
        draft.choosing = False


def _setup_display_undone(draft: Draft, event: pb.SetupDisplayUndone) -> None:
    draft.lower = draft.upper = draft.fresh = ()
    draft.pieces = (*event.hats, event.troll)


def _village_revealed(draft: Draft, event: pb.VillageRevealed) -> None:
    draft.face_up = put(draft.face_up, _village(event.village), True)


# ---- turns -----------------------------------------------------------------------------------------------------------


def _turn_started(draft: Draft, event: pb.TurnStarted) -> None:
    draft.turn = event.turn
    draft.turn_mage = draft.acting = event.mage
    draft.stage = Stage.WITCHING
    draft.moved = draft.squire_used = False


def _turn_skipped(draft: Draft, event: pb.TurnSkipped) -> None:
    """The next turn's start says what changes."""


def _turn_ended(draft: Draft, event: pb.TurnEnded) -> None:
    """The next turn's start says what changes."""


def _story_ended(draft: Draft, event: pb.StoryEnded) -> None:
    """What the automatic part does, its own events say."""


def _match_ended(draft: Draft, event: pb.MatchEnded) -> None:
    draft.result = Result(event.result == "won", event.reason)


def _reaction_policy_set(draft: Draft, event: pb.ReactionPolicySet) -> None:
    draft.policies = put(draft.policies, event.seat, event.policy)


# ---- cards -----------------------------------------------------------------------------------------------------------


def _leave_display(draft: Draft, card: str) -> None:
    if card in draft.lower:
        draft.lower = without(draft.lower, card)
    else:
        _leave_upper_row(draft, card)


def _leave_upper_row(draft: Draft, card: str) -> None:
    draft.upper = without(draft.upper, card)
    if card in draft.fresh:
        draft.fresh = without(draft.fresh, card)


def _sent_to_tower(draft: Draft, event: pb.SentToTower) -> None:
    for card in event.cards:
        _leave_display(draft, card)
    if event.pile == "sun":
        draft.sun_pile = (*draft.sun_pile, *event.cards)
    else:
        draft.moon_pile = (*draft.moon_pile, *event.cards)
    draft.stage = Stage.STORY


def _parts(parts: Iterable[pb.Part]) -> Parts:
    return tuple(((*part.any,), part.times) for part in parts)


def _card_played(draft: Draft, event: pb.CardPlayed) -> None:
    draft.lower = without(draft.lower, event.card)
    draft.progress = Progress(event.card, event.mode, _parts(event.parts))


def _card_ended(draft: Draft, event: pb.CardEnded) -> None:
    draft.progress = None
    draft.stones = ()
    if event.to == "discards":
        draft.discards = (*draft.discards, event.card)
    elif event.to == _GUARD:
        draft.upper = (*draft.upper, event.card)
    else:
        village = _village(event.to)
        draft.lying = put(draft.lying, village, (*draft.lying[village], (event.card, event.influence)))


def _card_discarded(draft: Draft, event: pb.CardDiscarded) -> None:
    card, source = event.card, getattr(event, "from")
    if source == "display":
        draft.lower = without(draft.lower, card)
    elif source == "upper_row":
        _leave_upper_row(draft, card)
    elif source == "tower":
        draft.moon_pile = without(draft.moon_pile, card)
    else:
        _leave_village(draft, _village(source), card)
    draft.discards = (*draft.discards, card)
    if event.cause == "changeling":
        _use(draft, "changeling")
    elif event.cause == "ranger":
        _use(draft, "tower_discard_top")


def _leave_village(draft: Draft, village: int, card: str) -> None:
    if draft.villages[village] == card:
        draft.villages = put(draft.villages, village, "")
    else:
        rest = tuple(each for each in draft.lying[village] if each[0] != card)
        draft.lying = put(draft.lying, village, rest)


def _use(draft: Draft, *kinds: str) -> None:
    """One step of one of these kinds of the card in progress is used up."""
    progress = draft.progress
    if progress is None:
        return
    for number, (listed, times) in enumerate(progress.left):
        if times and not {*kinds}.isdisjoint(listed):
            left = put(progress.left, number, (listed, times - 1))
            draft.progress = Progress(
                progress.card,
                progress.mode,
                left,
                progress.village,
                progress.given,
                progress.recruited,
                progress.rider,
                progress.refused,
            )
            return


# ---- mages -----------------------------------------------------------------------------------------------------------


def _mage_moved(draft: Draft, event: pb.MageMoved) -> None:
    mage = event.mage
    draft.places = put(draft.places, mage, PLACE_INDEX[event.to])
    if mage == draft.acting:
        draft.moved = True
    if event.cause == "card":
        draft.ride = None
        _use(draft, "move")
    elif event.cause == "ride" and draft.progress is not None:
        draft.progress = replace(draft.progress, rider=mage)


def _ride_asked(draft: Draft, event: pb.RideAsked) -> None:
    draft.ride = Ride(event.rider, PLACE_INDEX[event.to])


def _ride_answered(draft: Draft, event: pb.RideAnswered) -> None:
    draft.ride = None
    progress = draft.progress
    if not event.accept and progress is not None:
        refused = (*progress.refused, (event.rider, PLACE_INDEX[event.to]))
        draft.progress = replace(progress, refused=refused)


def _wand_charged(draft: Draft, event: pb.WandCharged) -> None:
    draft.wands = put(draft.wands, event.mage, event.level_now)
    if event.cause == "magic":
        _use(draft, "magic")


def _wand_used(draft: Draft, event: pb.WandUsed) -> None:
    draft.wands = put(draft.wands, event.mage, 0)


def _influence_added(draft: Draft, event: pb.InfluenceAdded) -> None:
    _use(draft, "influence")
    progress = draft.progress
    if progress is not None:
        draft.progress = replace(progress, village=PLACE_INDEX[event.village], given=progress.given + 1)


def _ally_recruited(draft: Draft, event: pb.AllyRecruited) -> None:
    village = _village(event.village)
    leaving = {*event.to_discards}
    draft.villages = put(draft.villages, village, "")
    draft.lying = put(draft.lying, village, ())
    draft.lower = (*draft.lower, event.card)
    draft.set_aside = tuple(card for card in draft.set_aside if card not in leaving)
    draft.discards = (*draft.discards, *event.to_discards)
    progress = draft.progress
    if progress is not None and progress.village == PLACE_INDEX[event.village]:
        draft.progress = replace(progress, recruited=True)


def _village_restocked(draft: Draft, event: pb.VillageRestocked) -> None:
    if event.card:
        draft.villages = put(draft.villages, _village(event.village), event.card)
        draft.set_aside = without(draft.set_aside, event.card)


def _watchman_moved(draft: Draft, event: pb.WatchmanMoved) -> None:
    draft.watchman = PLACE_INDEX[event.to]
    _use(draft, "watchman")


def _fortuna_visited(draft: Draft, event: pb.FortunaVisited) -> None:  # noqa: ARG001
    draft.visited = True


def _fortuna_resolved(draft: Draft, event: pb.FortunaResolved) -> None:
    draft.visited = False  # SB-11.3; a turn that is skipped forgets nothing
    if event.stone:
        draft.supply = _add(draft.supply, event.stone, -1)
        draft.bag = _add(draft.bag, event.stone, 1)


# ---- stones ----------------------------------------------------------------------------------------------------------


def _bag_refilled(draft: Draft, event: pb.BagRefilled) -> None:
    draft.bag = event.sun, event.moon
    draft.drawn = 0, 0


def _stone_drawn(draft: Draft, event: pb.StoneDrawn) -> None:
    draft.bag = _add(draft.bag, event.stone, -1)
    draft.drawn = _add(draft.drawn, event.stone, 1)
    draft.stones_drawn = event.number
    stone = Stone(event.number, event.stone == "sun")
    if event.cause == "magic":
        draft.stones = (stone,)
        _use(draft, "magic")
    else:
        draft.stones = (*draft.stones, stone)


def _stone_turned(draft: Draft, event: pb.StoneTurned) -> None:
    draft.stones = tuple(replace(s, turned=True) if s.number == event.number else s for s in draft.stones)


# ---- books and spells ------------------------------------------------------------------------------------------------


def _book_moved(draft: Draft, event: pb.BookMoved) -> None:
    draft.books = put(draft.books, BOOK_INDEX[event.book], event.to)
    if event.cause == "card":
        _use(draft, "book_own", "book_any")
    elif event.cause == "encounter":
        draft.choosing = False


def _book_gained(draft: Draft, event: pb.BookGained) -> None:
    draft.books = put(draft.books, BOOK_INDEX[event.book], GAINED)


def _book_lost(draft: Draft, event: pb.BookLost) -> None:
    draft.books = put(draft.books, BOOK_INDEX[event.book], LOST)


def _spell_gained(draft: Draft, event: pb.SpellGained) -> None:
    draft.spell_deck = without(draft.spell_deck, event.spell)
    draft.spells = put(draft.spells, event.mage, (*draft.spells[event.mage], event.spell))


def _spell_cast(draft: Draft, event: pb.SpellCast) -> None:
    mage = event.mage
    draft.spells = put(draft.spells, mage, without(draft.spells[mage], event.spell))
    draft.removed = (*draft.removed, event.spell)
    if draft.window is not None:
        draft.window = replace(draft.window, caster=draft.terms.mage_seats[mage])


def _puppet_taken(draft: Draft, event: pb.PuppetTaken) -> None:
    draft.acting = event.puppet


# ---- pieces ----------------------------------------------------------------------------------------------------------


def _batch_formed(draft: Draft, event: pb.BatchFormed) -> None:
    draft.batch = Batch(event.cause, tuple(PIECE_INDEX[piece] for piece in event.moves))


def _piece_moved(draft: Draft, event: pb.PieceMoved) -> None:
    draft.pieces = put(draft.pieces, PIECE_INDEX[event.piece], event.to)
    if event.by > 0:
        draft.batch = None


def _move_prevented(draft: Draft, event: pb.MovePrevented) -> None:
    if draft.batch is not None:
        draft.batch = replace(draft.batch, moves=without(draft.batch.moves, PIECE_INDEX[event.piece]))


def _window_opened(draft: Draft, event: pb.WindowOpened) -> None:
    draft.window = Window(WindowKind(event.window))


def _passed(draft: Draft, event: pb.Passed) -> None:
    if draft.window is not None:
        draft.window = replace(draft.window, passed=(*draft.window.passed, event.seat))


def _window_closed(draft: Draft, event: pb.WindowClosed) -> None:  # noqa: ARG001
    draft.window = None
    draft.batch = None


# ---- the deck, and its end -------------------------------------------------------------------------------------------


def _display_purged(draft: Draft, event: pb.DisplayPurged) -> None:
    for card in event.cards:
        _leave_upper_row(draft, card)
    draft.discards = (*draft.discards, *event.cards)


def _destiny_card_drawn(draft: Draft, event: pb.DestinyCardDrawn) -> None:
    card = event.card
    draft.deck = draft.deck[1:]
    if event.to == "lower":
        draft.lower = (*draft.lower, card)
    elif event.to == "upper":
        draft.upper = (*draft.upper, card)
        draft.fresh = (*draft.fresh, card)
    else:
        draft.discards = (*draft.discards, card)
        draft.squire_used = True


def _wicked_card_acted(draft: Draft, event: pb.WickedCardActed) -> None:
    if event.card in draft.fresh:
        draft.fresh = without(draft.fresh, event.card)


def _deck_ran_out(draft: Draft, event: pb.DeckRanOut) -> None:
    draft.deck_ends = event.number
    draft.deck_ending = True


def _wicked_card_added(draft: Draft, event: pb.WickedCardAdded) -> None:
    draft.wicked_deck = draft.wicked_deck[1:]
    draft.discards = (*draft.discards, event.card)


_CLIMBS: Final = {"one_step": 1, "two_steps": 2}


def _encounter_counted(draft: Draft, event: pb.EncounterCounted) -> None:
    draft.stones = ()
    draft.climb = _CLIMBS.get(event.result, 0)


def _tower_cleared(draft: Draft, event: pb.TowerCleared) -> None:
    draft.sun_pile = draft.moon_pile = ()
    draft.discards = (*draft.discards, *event.cards)


def _encounter_won(draft: Draft, event: pb.EncounterWon) -> None:
    draft.choosing = True
    if event.minion:
        draft.minions = (*draft.minions, event.minion)


def _witch_climbed(draft: Draft, event: pb.WitchClimbed) -> None:
    draft.witch = event.step
    draft.climb -= 1


def _battle_declared(draft: Draft, event: pb.BattleDeclared) -> None:
    destroyed = {*event.destroyed}
    draft.battle = sum(book.use == "sun" for book in event.books)
    draft.moon_pile = tuple(card for card in draft.moon_pile if card not in destroyed)
    draft.minions = tuple(card for card in draft.minions if card not in destroyed)
    draft.removed = (*draft.removed, *event.destroyed)


# ---- an arranged position --------------------------------------------------------------------------------------------


def _position_arranged(draft: Draft, event: pb.PositionArranged) -> None:
    draft.terms = replace(draft.terms, seats=event.seats, mage_seats=(*event.mage_seats,), arranged=True)
    draft.turn, draft.turn_mage, draft.acting = event.turn, event.turn_mage, event.acting_mage
    draft.stage = Stage.WITCHING if event.state == Stage.WITCHING else Stage.STORY
    draft.moved, draft.visited = event.moved, event.visited
    draft.pieces = (*event.hats, event.troll)
    draft.books = (*event.books,)
    draft.witch = event.witch
    draft.places = tuple(PLACE_INDEX[mage.place] for mage in event.mages)
    draft.wands = tuple(mage.wand for mage in event.mages)
    draft.spells = tuple((*mage.spells,) for mage in event.mages)
    draft.policies = (*event.policies,)
    draft.watchman = PLACE_INDEX.get(event.watchman, NOWHERE)
    draft.bag = event.bag.sun, event.bag.moon
    draft.drawn = event.drawn.sun, event.drawn.moon
    draft.supply = event.supply.sun, event.supply.moon
    draft.stones_drawn = event.stones_drawn
    _arrange_cards(draft, event)
    _arrange_under_way(draft, event)


def _arrange_cards(draft: Draft, event: pb.PositionArranged) -> None:
    draft.lower, draft.upper, draft.fresh = (*event.lower_row,), (*event.upper_row,), (*event.new_cards,)
    draft.squire_used = event.squire_used
    draft.sun_pile, draft.moon_pile, draft.minions = (*event.sun_pile,), (*event.moon_pile,), (*event.minions,)
    draft.discards, draft.removed = (*event.discards,), (*event.removed,)
    hidden = event.face_down or ("",) * len(VILLAGES)
    draft.villages = tuple(v.card or card for v, card in zip(event.villages, hidden, strict=True))
    draft.face_up = tuple(not village.face_down for village in event.villages)
    draft.lying = tuple(tuple((i.card, i.amount) for i in village.influence) for village in event.villages)
    draft.deck, draft.spell_deck, draft.wicked_deck = (*event.deck,), (*event.spell_deck,), (*event.wicked_deck,)
    draft.set_aside, draft.box = (*event.set_aside,), (*event.box,)
    draft.deck_ends, draft.sweep_ups = event.deck_ends, event.sweep_ups


def _arrange_under_way(draft: Draft, event: pb.PositionArranged) -> None:
    draft.deck_ending = event.deck_ending
    draft.climb = event.steps_to_climb
    if event.HasField("progress"):
        draft.progress = _progress(event.progress)
    if event.HasField("ride"):
        draft.ride = Ride(event.ride.rider, PLACE_INDEX[event.ride.to])
    if event.window:
        caster = event.window_caster if event.HasField("window_caster") else NO_ONE
        draft.window = Window(WindowKind(event.window), (*event.passed,), caster)
    if event.HasField("batch"):
        draft.batch = Batch(event.batch.cause, tuple(PIECE_INDEX[piece] for piece in event.batch.moves))
    draft.stones = tuple(Stone(s.number, s.stone == "sun", s.turned) for s in event.stones)
    draft.battle = event.battle_books if event.battle else NO_BATTLE
    draft.choosing = event.state == Stage.CHOOSE_BOOK


def _progress(message: pb.Progress) -> Progress:
    return Progress(
        card=message.card,
        mode=message.mode,
        left=_parts(message.left),
        village=PLACE_INDEX.get(message.village, NOWHERE),
        given=message.given,
        recruited=message.recruited,
        rider=message.rider if message.HasField("rider") else NO_ONE,
        refused=tuple((ride.rider, PLACE_INDEX[ride.to]) for ride in message.refused),
    )


_HANDLERS: Final[dict[type[Message], Callable[[Draft, Any], None]]] = {
    pb.PiecesPlaced: _pieces_placed,
    pb.SpellDeckSet: _spell_deck_set,
    pb.VillagesSet: _villages_set,
    pb.WickedDeckSet: _wicked_deck_set,
    pb.DestinyDeckSet: _destiny_deck_set,
    pb.SetupDisplayUndone: _setup_display_undone,
    pb.VillageRevealed: _village_revealed,
    pb.TurnStarted: _turn_started,
    pb.TurnSkipped: _turn_skipped,
    pb.SentToTower: _sent_to_tower,
    pb.CardPlayed: _card_played,
    pb.CardEnded: _card_ended,
    pb.CardDiscarded: _card_discarded,
    pb.MageMoved: _mage_moved,
    pb.RideAsked: _ride_asked,
    pb.RideAnswered: _ride_answered,
    pb.WandCharged: _wand_charged,
    pb.WandUsed: _wand_used,
    pb.BagRefilled: _bag_refilled,
    pb.StoneDrawn: _stone_drawn,
    pb.StoneTurned: _stone_turned,
    pb.InfluenceAdded: _influence_added,
    pb.AllyRecruited: _ally_recruited,
    pb.VillageRestocked: _village_restocked,
    pb.WatchmanMoved: _watchman_moved,
    pb.FortunaVisited: _fortuna_visited,
    pb.FortunaResolved: _fortuna_resolved,
    pb.BookMoved: _book_moved,
    pb.BookGained: _book_gained,
    pb.BookLost: _book_lost,
    pb.SpellGained: _spell_gained,
    pb.SpellCast: _spell_cast,
    pb.PuppetTaken: _puppet_taken,
    pb.StoryEnded: _story_ended,
    pb.DisplayPurged: _display_purged,
    pb.DestinyCardDrawn: _destiny_card_drawn,
    pb.WickedCardActed: _wicked_card_acted,
    pb.BatchFormed: _batch_formed,
    pb.PieceMoved: _piece_moved,
    pb.MovePrevented: _move_prevented,
    pb.DeckRanOut: _deck_ran_out,
    pb.WickedCardAdded: _wicked_card_added,
    pb.EncounterCounted: _encounter_counted,
    pb.TowerCleared: _tower_cleared,
    pb.EncounterWon: _encounter_won,
    pb.WitchClimbed: _witch_climbed,
    pb.BattleDeclared: _battle_declared,
    pb.WindowOpened: _window_opened,
    pb.Passed: _passed,
    pb.WindowClosed: _window_closed,
    pb.ReactionPolicySet: _reaction_policy_set,
    pb.TurnEnded: _turn_ended,
    pb.MatchEnded: _match_ended,
    pb.PositionArranged: _position_arranged,
}


def apply(draft: Draft, event: Message) -> None:
    """Changes the draft as the event says."""
    kind = type(event)
    _HANDLERS[kind](draft, event)
    if kind is not pb.ReactionPolicySet:
        draft.facts += 1


def evolve(state: State, event: Message) -> State:
    """The state after one event."""
    return fold(state, (event,))


def fold(state: State, events: Iterable[Message]) -> State:
    """The state after these events, thawed and frozen once."""
    draft = Draft.of(state)
    for event in events:
        apply(draft, event)
    return draft.freeze()

"""What is under way in an arranged position: a card in progress, a ride, a window, an end of the deck, the battle."""

from __future__ import annotations

from collections import Counter
from typing import Final

from grimoire.engine.written import demand
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import ALLIES, GUARDS, MODES, WICKED
from spellbound.catalogue import DATA, ModeRecord
from spellbound.notation import SHOWN
from spellbound.places import BOOKS, CITIES, GAINED, PIECES, PLACE_INDEX, STRENGTH, TRACK_END, VILLAGES, on_track
from spellbound.state import Stage, WindowKind

__all__ = ["check_under_way"]

_IN_CARD: Final = (Stage.CARD, Stage.CONSENT)
_ENCOUNTER_CAUSES: Final = ("encounter", "battle")
_WICKED_CAUSES: Final = ("witch", "troll")
_CAUSES: Final = (*_WICKED_CAUSES, "not_moved", "purge", "empty_places", "tower_step")


def check_under_way(event: pb.PositionArranged) -> None:
    """Raises `PositionError` for what cannot be under way."""
    _check_present(event)
    if event.HasField("progress"):
        _check_progress(event, event.progress)
    if event.state == Stage.CONSENT:
        _check_ride(event, event.ride)
    if event.state == Stage.REACTION:
        _check_window(event)
    if event.state == Stage.CHOOSE_BOOK:
        _check_choice(event)
    _check_refill(event)


def _check_present(event: pb.PositionArranged) -> None:
    """Each record is there exactly in the states it belongs to."""
    state, window = event.state, event.window
    in_card = state in _IN_CARD or window in (WindowKind.STONE, WindowKind.MOVES)
    needs_card = state in _IN_CARD or window == WindowKind.STONE
    has_card = event.HasField("progress")
    demand(in_card or not has_card, f"In {state} no card is in progress.", "SB-6.2")
    demand(has_card or not needs_card, f"In {state} a card is in progress.", "SB-6.2")
    demand(window != WindowKind.MOVES or not has_card, "No piece moves on while a card is in progress.", "SB-13.1")
    asking = state == Stage.CONSENT
    demand(event.HasField("ride") == asking, "A ride is asked for in `consent`, and only there.", "SB-8.2")
    demand(bool(window) == (state == Stage.REACTION), "A window is open in `reaction`, and only there.", "SB-16.3")
    acts = event.passed or event.HasField("window_caster")
    demand(window or not acts, "Seats pass and cast in a window.", "SB-16.3")
    moves = window == WindowKind.MOVES
    demand(event.HasField("batch") == moves, "A batch waits in the window `moves`, and only there.", "SB-13.3")
    in_battle = window == WindowKind.ENCOUNTER_STONES
    demand(not event.battle or in_battle, "The battle waits for nothing but the window of its stones.", "SB-15.5")
    demand(event.battle or not event.battle_books, "Books are sun force in the battle only.", "SB-15.4")


# ---- the card in progress --------------------------------------------------------------------------------------------


def _check_progress(event: pb.PositionArranged, progress: pb.Progress) -> None:
    """SB-6.1, SB-6.2."""
    modes = MODES.get(progress.card, {})
    demand(progress.mode in modes, f"{progress.card[:SHOWN]} has no mode {progress.mode[:SHOWN]!r}.", "SB-6.1")
    mode = modes[progress.mode]
    same = [tuple(part.any) for part in progress.left] == [part.any for part in mode.parts]
    fits = same and all(left.times <= part.times for left, part in zip(progress.left, mode.parts, strict=True))
    demand(fits, f"These are no steps of {progress.card}.", "SB-6.2")
    left = sum(part.times for part in progress.left)
    demand(left or event.window, "With no step left the card has ended.", "SB-6.2")
    _check_given(progress, mode)
    _check_riders(event, progress, mode)


def _check_given(progress: pb.Progress, mode: ModeRecord) -> None:
    """SB-7.9: what the card gave fits the steps it has used."""
    demand(bool(progress.village) == bool(progress.given), "Influence is given to a village.", "SB-7.9")
    demand(not progress.village or progress.village in VILLAGES, "Influence is given to a village.", "SB-7.9")
    demand(not progress.recruited or progress.given, "Who gave no influence recruited nobody.", "SB-7.11")
    used = sum(
        part.times - left.times for left, part in zip(progress.left, mode.parts, strict=True) if "influence" in part.any
    )
    demand(progress.given <= used, "A card gives one influence with each step.", "SB-7.9")


def _check_riders(event: pb.PositionArranged, progress: pb.Progress, mode: ModeRecord) -> None:
    riders = [ride.rider for ride in progress.refused]
    riders += [progress.rider] if progress.HasField("rider") else []
    demand(mode.carry or not riders, "Only a Centaur carries a rider.", "SB-8.2")
    mages = len(event.mages)
    demand(all(rider < mages for rider in riders), f"There are {mages} mages.", "SB-1.2")
    for ride in progress.refused:
        demand(ride.to in PLACE_INDEX, f"There is no place {ride.to[:SHOWN]!r}.", "SB-2.1")


def _check_ride(event: pb.PositionArranged, ride: pb.Ride) -> None:
    """SB-8.2: a request that could have been made."""
    progress = event.progress
    mode = MODES[progress.card][progress.mode]
    demand(mode.carry and any(part.times for part in progress.left), "No Centaur has a movement left.", "SB-8.2")
    mages = len(event.mages)
    demand(ride.mage == event.acting_mage, "The acting mage rides.", "SB-8.2")
    demand(ride.rider < mages and ride.rider != ride.mage, "Another mage rides along.", "SB-8.2")
    demand(not progress.HasField("rider") or progress.rider == ride.rider, "A Centaur carries one rider.", "SB-8.2")
    here = event.mages[ride.mage].place
    demand(event.mages[ride.rider].place == here, "The rider stands where the acting mage stands.", "SB-8.2")
    demand(ride.to in PLACE_INDEX, f"There is no place {ride.to[:SHOWN]!r}.", "SB-2.1")
    cities = PLACE_INDEX[here] < CITIES and PLACE_INDEX[ride.to] < CITIES
    demand(ride.to != here and not cities, "No movement leads there.", "SB-7.1")
    asked = event.mage_seats[ride.rider] != event.mage_seats[event.turn_mage]
    demand(asked, "A seat does not ask itself.", "SB-8.2")
    barred = any(refused.rider == ride.rider and refused.to == ride.to for refused in progress.refused)
    demand(not barred, "This ride was declined.", "SB-8.2")


# ---- windows ---------------------------------------------------------------------------------------------------------


def _check_window(event: pb.PositionArranged) -> None:
    kinds = [kind.value for kind in WindowKind]
    demand(event.window in kinds, f"`window` must be one of {', '.join(kinds)}.", "SB-16")
    passed = [*event.passed]
    demand(len({*passed}) == len(passed), "A seat passes once in a window.", "SB-16.3")
    known = all(seat < event.seats for seat in (*passed, event.window_caster))
    demand(known, f"There are {event.seats} seats.", "SB-1.2")
    if event.window == WindowKind.MOVES:
        _check_batch(event, event.batch)
    if event.window == WindowKind.STONE:
        drawn = len(event.stones) == 1 and event.stones[0].stone == "moon" and not event.stones[0].turned
        demand(drawn, "A moonstone was drawn.", "SB-16.7")
        in_city = PLACE_INDEX[event.mages[event.acting_mage].place] < CITIES
        demand(in_city, "Stones are drawn by magic in a city.", "SB-7.6")
    if event.window == WindowKind.ENCOUNTER_STONES:
        strength = STRENGTH[event.witch]
        demand(len(event.stones) == strength, f"As many stones are drawn as her strength, {strength}.", "SB-14.5")
        demand(event.battle != event.deck_ending, "Stones are drawn in an encounter or in the battle.", "SB-15.5")
    if event.battle:
        _check_battle(event)
    ending = event.window == WindowKind.END_OF_DECK
    demand(not ending or event.deck_ending, "The deck has run out.", "SB-14.1")
    story_end = event.window == WindowKind.STORY_END
    demand(not (story_end and event.deck_ending), "The story ends before the refill.", "SB-11.1")
    numbers = [stone.number for stone in event.stones]
    last = event.stones_drawn
    demand(numbers == [*range(last - len(numbers) + 1, last + 1)], "The stones are the last ones drawn.", "SB-7.8")
    demand(all(stone.stone in ("sun", "moon") for stone in event.stones), "A stone is a sun or a moon.", "SB-2.5")
    turned = any(stone.turned for stone in event.stones)
    demand(not turned or "alchemy" in event.removed, "Only Alchemy turns a stone.", "SB-10.2")


def _check_batch(event: pb.PositionArranged, batch: pb.Batch) -> None:
    """SB-13.1, SB-13.2."""
    demand(batch.cause in _CAUSES, f"`cause` must be one of {', '.join(_CAUSES)}.", "SB-13.1")
    demand(batch.moves, "A batch has at least one move.", "SB-13.3")
    spaces = dict(zip(PIECES, [*event.hats, event.troll], strict=True))
    for piece, times in Counter(batch.moves).items():
        demand(piece in spaces, f"There is no piece {piece[:SHOWN]!r}.", "SB-2.2")
        twice = batch.cause == "tower_step" and piece == "troll"
        demand(times <= 1 + twice, f"{piece} moves once.", "SB-13.1")
        demand(spaces[piece] < TRACK_END, f"{piece} stands on 9 and does not move.", "SB-13.2")
    climbing = batch.cause == "tower_step"
    demand(not climbing or event.deck_ending, "She climbs after an encounter.", "SB-14.10")
    demand(batch.cause != "empty_places" or event.deck_ending, "Empty places count at an end of the deck.", "SB-14.3")
    wicked = [card for card in event.upper_row if card not in GUARDS]
    acting = batch.cause in _WICKED_CAUSES
    demand(not acting or wicked, "The wicked card that acts lies in the upper row.", "SB-12.3")
    early = batch.cause in ("not_moved", "purge")
    demand(not (early and event.deck_ending), "These moves come before the refill.", "SB-11")


def _check_battle(event: pb.PositionArranged) -> None:
    """SB-15.4."""
    gained = [*event.books].count(GAINED)
    demand(gained >= DATA.constants.books_to_win, "The battle needs four books.", "SB-15.4")
    destroyed = sum(card not in ("", *event.spell_deck) and _is_destroyed(card) for card in event.removed)
    demand(event.battle_books + destroyed == gained, "Every gained book has one use.", "SB-15.4")
    tower = next((n for n, village in zip(VILLAGES, event.villages, strict=True) if village.card == "witchs_tower"), "")
    demand(tower and all(mage.place == tower for mage in event.mages), "All mages are at the tower.", "SB-15.4")


def _is_destroyed(card: str) -> bool:
    """Whether a removed card was destroyed by a book: it is no spell."""
    return card in WICKED or card in ALLIES or card in DATA.minion_order


def _check_choice(event: pb.PositionArranged) -> None:
    """SB-14.9."""
    demand(event.deck_ending, "A book is chosen after an encounter.", "SB-14.9")
    demand(sum(on_track(book) for book in event.books) > 1, "A choice needs two books on track.", "SB-14.9")
    demand(event.minions, "An encounter was won: a minion is in play.", "SB-14.9")
    demand(not event.sun_pile and not event.moon_pile, "The tower was cleared.", "SB-14.7")
    demand(len(event.books) == len(BOOKS) and not event.steps_to_climb, "She lost: she does not climb.", "SB-14.8")


# ---- the refill ------------------------------------------------------------------------------------------------------


def _check_refill(event: pb.PositionArranged) -> None:
    """SB-12: what is remembered between the end of the story and the next turn."""
    automatic = event.state in (Stage.REACTION, Stage.CHOOSE_BOOK) and not event.HasField("progress")
    demand(automatic or not event.deck_ending, "The end of the deck runs by itself.", "SB-14")
    demand(automatic or not event.new_cards, "New wicked cards have acted when somebody decides.", "SB-12.3")
    demand(automatic or not event.squire_used, "The Squire meets his card in the refill.", "SB-8.9")
    new = [card for card in event.upper_row if card in event.new_cards]
    demand(new == [*event.new_cards], "New cards lie in the upper row, in the order drawn.", "SB-12.1")
    demand(all(card in WICKED for card in new), "A guard is no new card.", "SB-8.9")
    climbs = event.window == WindowKind.MOVES and event.deck_ending and event.batch.cause == "tower_step"
    demand(climbs or not event.steps_to_climb, "Nothing but her moves holds the witch up.", "SB-14.10")
    demand(event.steps_to_climb <= 1, "Two steps are the most, and one is done.", "SB-14.8")
    shown = event.window in (WindowKind.STONE, WindowKind.ENCOUNTER_STONES)
    demand(shown or not event.stones, "Stones wait in their windows only.", "SB-16.7")

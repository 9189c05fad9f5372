"""What a view shows, in signs and in words: cards with their force, villages, the card in progress, what is asked.

Every sign stands beside its word somewhere on the same page, and nothing is told by colour alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import MOON, SUN
from spellbound.names import mage_letter, mage_name, name_of
from spellbound.words import Words, words_in

__all__ = [
    "BOOK_SIGN",
    "GUARD_SIGN",
    "HAT_SIGN",
    "MOON_SIGN",
    "NEW_SIGN",
    "SPELL_SIGN",
    "SUN_SIGN",
    "TROLL_SIGN",
    "WATCHMAN_SIGN",
    "asked_seats",
    "batch_words",
    "card_words",
    "counted",
    "force_signs",
    "gap",
    "is_caught_next",
    "legend",
    "letters_at",
    "mages_at",
    "part_words",
    "piece_sign",
    "progress_words",
    "stones_words",
    "village_words",
    "window_words",
]

HAT_SIGN: Final = "▲"
TROLL_SIGN: Final = "T"
BOOK_SIGN: Final = "■"
SPELL_SIGN: Final = "✦"
WATCHMAN_SIGN: Final = "W"
SUN_SIGN: Final = "☀"
MOON_SIGN: Final = "☾"
NEW_SIGN: Final = "!"
GUARD_SIGN: Final = "+"

_LEGEND: Final = (
    "mages",
    "hat",
    "troll",
    "book",
    "spell",
    "watchman",
    "force",
    "influence",
    "new",
    "guard",
    "down",
    "turn",
    "danger",
)


def legend(language: str) -> tuple[str, ...]:
    """What the signs mean, one line each."""
    words = words_in(language)
    return tuple(words.terminal[f"legend_{key}"] for key in _LEGEND)


# ---- signs -----------------------------------------------------------------------------------------------------------


def piece_sign(piece: str) -> str:
    """A hat or the troll.

    >>> piece_sign("hat_red"), piece_sign("troll")
    ('▲', 'T')
    """
    return TROLL_SIGN if piece == "troll" else HAT_SIGN


def force_signs(card: str) -> str:
    """What a card counts at the tower; empty: nothing.

    >>> force_signs("dragon_1"), force_signs("troll_b"), force_signs("fortuna_deck")
    ('☀4', '☾2', '')
    """
    if SUN.get(card):
        return f"{SUN_SIGN}{SUN[card]}"
    return f"{MOON_SIGN}{MOON[card]}" if MOON.get(card) else ""


def mages_at(view: pb.View, place: str) -> list[int]:
    """Figures that stand there, by number."""
    return [mage.mage for mage in view.mages if mage.place == place]


def letters_at(view: pb.View, place: str) -> str:
    """Figures and the watchman, by their letters."""
    watchman = WATCHMAN_SIGN if view.watchman == place else ""
    return "".join(map(mage_letter, mages_at(view, place))) + watchman


def gap(track: pb.TrackView) -> int:
    """How many spaces the book is ahead of the piece; 0: it is not on its track."""
    return track.book_at - track.piece_at if track.book_state == "on_track" else 0


def is_caught_next(track: pb.TrackView) -> bool:
    """Whether the next move of the piece catches the book."""
    return gap(track) == 1


# ---- words -----------------------------------------------------------------------------------------------------------


def counted(cards: Iterable[str], language: str) -> str:
    """Cards by name, those alike counted.

    >>> counted(["pixies_1", "troll_a", "pixies_4"], "en")
    'Pixies ×2, Troll'
    """
    names = Counter(name_of(card, language) for card in cards)
    return ", ".join(f"{name} ×{n}" if n > 1 else name for name, n in names.items())


def card_words(card: pb.CardView, language: str) -> str:
    """A card of the display with its force, and whether it is new or on guard."""
    say = words_in(language).terminal
    text = name_of(card.card, language)
    if card.guard:
        return say["card_guard"].format(card=text)
    if card.sun:
        text = say["card_sun"].format(card=text, n=card.sun)
    elif card.moon:
        text = say["card_moon"].format(card=text, n=card.moon)
    return say["card_new"].format(card=text) if card.new else text


def village_words(village: pb.VillageView, view: pb.View, language: str) -> str:
    """Everything at a village, e.g. `village 3: Lizardman, influence 2 of 4; there: mage A`."""
    say, name = words_in(language).terminal, name_of(village.village, language)
    if village.face_down:
        line = say["village_down"].format(village=name)
    elif not village.card:
        line = say["village_empty"].format(village=name)
    else:
        card = name_of(village.card, language)
        key = "village_ally" if village.requirement else "village_place"
        line = say[key].format(village=name, card=card, amount=village.amount, requirement=village.requirement)
    if village.influence:
        lying = counted((each.card for each in village.influence), language)
        line = say["village_lying"].format(line=line, cards=lying)
    there = mages_at(view, village.village)
    if there:
        mages = ", ".join(mage_name(mage, language) for mage in there)
        line = say["village_mages"].format(line=line, mages=mages)
    return line


def part_words(left: Iterable[pb.Part], words: Words) -> str:
    """Steps that are left, e.g. `movement 2 times, magic or influence`."""
    parts = []
    for part in left:
        if part.times:
            steps = words.terminal["or"].join(words.terms[f"step.{step}"] for step in part.any)
            parts.append(words.terminal["part" if part.times > 1 else "part_once"].format(steps=steps, n=part.times))
    return ", ".join(parts) or words.terminal["nothing"]


def progress_words(view: pb.View, language: str) -> str:
    """The card in progress, what is left of it, where its influence goes and who rides; empty: there is none."""
    if not view.HasField("progress"):
        return ""
    words, progress = words_in(language), view.progress
    say = words.terminal
    line = say["progress"].format(card=name_of(progress.card, language), left=part_words(progress.left, words))
    if progress.village:
        place = words.events[f"at.{progress.village}"]
        line = say["progress_village"].format(line=line, place=place, given=progress.given)
    if progress.HasField("rider"):
        line = say["progress_rider"].format(line=line, rider=mage_name(progress.rider, language))
    return line


def stones_words(stones: pb.Stones, words: Words) -> str:
    """Sunstones and moonstones."""
    return words.terminal["stone_count"].format(sun=stones.sun, moon=stones.moon)


def _drawn_words(stones: Iterable[pb.DrawnStone], words: Words) -> str:
    keys = ("turned" if stone.turned else f"{stone.stone}_stone" for stone in stones)
    return ", ".join(words.terminal[key] for key in keys)


def batch_words(view: pb.View, language: str) -> str:
    """Pieces that are about to move on; empty: none."""
    if not view.HasField("batch"):
        return ""
    moves = counted(view.batch.moves, language)
    return words_in(language).terminal["batch"].format(moves=moves)


def asked_seats(view: pb.View) -> Sequence[int]:
    """Whose required answer the match waits for."""
    if view.HasField("result") or not view.turn:
        return ()
    if view.HasField("window"):
        return (view.window.seat,)
    if view.HasField("ride"):
        return tuple(mage.seat for mage in view.mages if mage.mage == view.ride.rider)
    return (view.active_seat,)


def window_words(view: pb.View, language: str, names: Mapping[int, str]) -> Iterable[str]:
    """What is asked besides the turn itself: a ride, a window with what it is about."""
    words = words_in(language)
    say = words.terminal
    if view.HasField("ride"):
        ride = view.ride
        goal = words.events[f"to.{ride.to}"]
        mage, rider = mage_name(ride.mage, language), mage_name(ride.rider, language)
        yield say["ride"].format(mage=mage, rider=rider, goal=goal)
    batch = batch_words(view, language)
    if batch:
        yield batch
    if view.stones:
        yield say["drawn_stones"].format(stones=_drawn_words(view.stones, words))
    if view.HasField("window"):
        seat = words.seat(view.window.seat, names)
        line = say["window"].format(window=words.terms[view.window.window], seat=seat)
        if view.window.passed:
            passed = ", ".join(words.seat(each, names) for each in view.window.passed)
            line = say["window_passed"].format(line=line, seats=passed)
        yield line

"""A turn in pencil: what a seat sees, as plain lists on which a turn is played out thousands of times.

The rules proper make events, records and draws; a player that tries hundreds of turns for one decision needs none of
them. A sketch knows only what the view shows. What chance decides is put in by its mean (a stone of magic moves the hat
by the share of sunstones), and what is hidden stays unknown: a village that is turned up can be stood at, no more.
Every action that a sketch offers is legal where it stands; what it leads to is a forecast.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from google.protobuf.message import Message

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import (
    ALLIES,
    BOOK,
    FAIRY_SPRING,
    FORTUNA,
    FORTUNA_VILLAGE,
    GUARDS,
    INFLUENCE,
    KNIGHT,
    MODES,
    MOON,
    PIXIES,
    SET_CARDS,
    STEPS,
    SUN,
    TOWER,
    WARLOCKS,
    WICKED,
    WITCHES,
)
from spellbound.catalogue import DATA
from spellbound.places import (
    BOOKS,
    CITIES,
    FIRST_VILLAGE,
    GAINED,
    LOST,
    NOWHERE,
    PLACE_INDEX,
    PLACES,
    SPELL_SPACES,
    TRACK_START,
    WILDERNESS,
)
from spellbound.state import Stage

__all__ = ["HIDDEN", "UNKNOWN", "Action", "Offer", "Sketch", "command_of"]

HIDDEN: Final = "hidden"
"""A face-down card of a village."""
UNKNOWN: Final = "unknown"
"""A card that the plan turns up: nobody can know which."""

Action = tuple[str, ...]
"""What is done and with what; places and mages by number, as text."""

Offer = tuple[Action, float]
"""Something that may be done, and how gladly it is tried."""

Steps = tuple[tuple[tuple[str, ...], int], ...]

_LIMITS: Final = DATA.constants
_PLACES: Final = range(len(PLACES))
_TEXT: Final = tuple(str(number) for number in _PLACES)

_PLAYS: Final[dict[str, tuple[tuple[str, str, str, Steps, bool], ...]]] = {
    card: tuple(
        (
            mode.id,
            mode.cost,
            mode.parts[0].any[0],
            tuple((tuple(part.any), part.times) for part in mode.parts if part.any[0] in STEPS),
            mode.carry,
        )
        for mode in modes.values()
    )
    for card, modes in MODES.items()
}
"""By card: mode, cost, first kind, steps, whether it carries a rider."""


def _gladly(cost: str, first: str, steps: Steps) -> float:
    if cost:
        return 1.0 if cost == "discard_other_warlock" else 0.7
    if not steps:
        return 1.5
    if first == "book_own":
        return 4.0
    return 1.0 if first == "move" and len(steps) == 1 else 2.0


_OFFERS: Final[dict[str, tuple[tuple[Action, str, str, tuple[str, ...], float], ...]]] = {
    card: tuple(
        (
            ("play", card, mode),
            cost,
            first,
            tuple(dict.fromkeys(kind for kinds, _ in steps for kind in kinds)),
            _gladly(cost, first, steps),
        )
        for mode, cost, first, steps, _ in plays
    )
    for card, plays in _PLAYS.items()
}
"""By card: how it is played, cost, first kind, all kinds of steps, how gladly it is tried."""


class Sketch:
    """One turn under change. Copy it with `copied` before trying something.

    Attributes:
        stage: witching, story, or over when the story has ended.
        pieces: spaces; a share of a space where chance moves it.
        villages: by village its card, `HIDDEN`, `UNKNOWN`, or empty.
        lying: influence by village.
        spells: that the active seat may cast now.
        left: steps of the card in progress; empty `card`: none is.
        guard: the Knight 2, the Squire 1.
        reveals, spells_gained, recruits, restocked: what the turn brought, to be appraised.
        skipped: the turn was skipped.
    """

    __slots__ = (
        "acting",
        "books",
        "card",
        "carry",
        "given_to",
        "guard",
        "here_refused",
        "left",
        "lower",
        "lying",
        "moon",
        "moon_pile",
        "moved",
        "pieces",
        "places",
        "recruits",
        "restocked",
        "reveals",
        "rider",
        "skipped",
        "spells",
        "spells_gained",
        "stage",
        "sun",
        "sun_share",
        "turn_mage",
        "upper",
        "villages",
        "visited",
        "wand",
        "watchman",
    )

    def __init__(self, view: pb.View) -> None:
        self.stage = view.state
        self.turn_mage = view.turn_mage
        self.acting = view.acting_mage
        self.places = [PLACE_INDEX[mage.place] for mage in view.mages]
        self.wand = view.mages[self.turn_mage].wand
        self.spells = [
            spell
            for mage in view.mages
            if mage.seat == view.active_seat
            for spell in mage.spells
            if mage.mage == self.turn_mage or spell in ("teleport", "book_wyrm")
        ]
        self.books = [_book_at(track) for track in view.tracks]
        self.pieces = [float(track.piece_at) for track in view.tracks]
        self.villages = [HIDDEN if each.face_down else each.card for each in view.villages]
        self.lying = [each.amount for each in view.villages]
        self.watchman = PLACE_INDEX[view.watchman] if view.watchman else NOWHERE
        self.lower = [card.card for card in view.lower_row]
        self.upper = [card.card for card in view.upper_row if not card.guard]
        guards = [card.card for card in view.upper_row if card.guard]
        self.guard = 2 if KNIGHT in guards else len(guards)
        self.sun = view.tower.sun_force
        self.moon = view.tower.moon_force
        self.moon_pile = [*view.tower.moon_pile]
        self.moved = view.moved
        self.visited = view.fortuna_visited
        bag = view.bag if view.bag.sun + view.bag.moon else view.drawn
        self.sun_share = bag.sun / max(1, bag.sun + bag.moon)
        self.reveals = self.spells_gained = 0
        self.recruits: list[str] = []
        self.restocked = 0
        self.skipped = False
        self._progress(view)

    def _progress(self, view: pb.View) -> None:
        progress = view.progress
        under_way = view.HasField("progress")
        if under_way and self.stage not in (Stage.CARD, Stage.WITCHING, Stage.STORY):
            under_way = self.stage == Stage.CONSENT
        self.card = progress.card if under_way else ""
        self.left: list[tuple[tuple[str, ...], int]] = [(tuple(part.any), part.times) for part in progress.left]
        self.given_to = PLACE_INDEX[progress.village] if progress.village else NOWHERE
        self.carry = bool(under_way and MODES[progress.card][progress.mode].carry)
        self.rider = progress.rider if progress.HasField("rider") else NOWHERE
        self.here_refused = {(ride.rider, PLACE_INDEX[ride.to]) for ride in progress.refused}
        if self.stage == Stage.CARD:
            self.stage = Stage.STORY.value

    def copied(self) -> Sketch:
        """Another one that may be changed."""
        other = Sketch.__new__(Sketch)
        other.stage = self.stage
        other.turn_mage = self.turn_mage
        other.acting = self.acting
        other.wand = self.wand
        other.watchman = self.watchman
        other.guard = self.guard
        other.sun = self.sun
        other.moon = self.moon
        other.moved = self.moved
        other.visited = self.visited
        other.sun_share = self.sun_share
        other.reveals = self.reveals
        other.spells_gained = self.spells_gained
        other.restocked = self.restocked
        other.skipped = self.skipped
        other.card = self.card
        other.given_to = self.given_to
        other.carry = self.carry
        other.rider = self.rider
        other.here_refused = self.here_refused
        other.places = self.places[:]
        other.books = self.books[:]
        other.pieces = self.pieces[:]
        other.villages = self.villages[:]
        other.lying = self.lying[:]
        other.lower = self.lower[:]
        other.upper = self.upper[:]
        other.moon_pile = self.moon_pile[:]
        other.spells = self.spells[:]
        other.left = self.left[:]
        other.recruits = self.recruits[:]
        return other

    # ---- what is asked of it -----------------------------------------------------------------------------------------

    @property
    def here(self) -> int:
        """Where the acting mage stands."""
        return self.places[self.acting]

    @property
    def gained(self) -> int:
        """Books above the tower."""
        return self.books.count(GAINED)

    @property
    def tower(self) -> int:
        """Place of the Witch's Tower, if it lies open."""
        return FIRST_VILLAGE + self.villages.index(TOWER) if TOWER in self.villages else NOWHERE

    def live(self, book: int) -> bool:
        """A book that can still move."""
        return LOST < self.books[book] < GAINED

    def too_many(self) -> bool:
        """SB-6.7."""
        return len(self.lower) - (FORTUNA in self.lower) > _LIMITS.leave_at_most

    def ally_here(self) -> str:
        """The ally that lies open where the acting mage stands."""
        village = self.here - FIRST_VILLAGE
        card = self.villages[village] if village >= 0 else ""
        return card if card in ALLIES else ""

    def exchangeable(self) -> list[int]:
        """Places of villages that Changeling may name (SB-8.4)."""
        allies = [(INFLUENCE[card], n) for n, card in enumerate(self.villages, FIRST_VILLAGE) if card in ALLIES]
        least = min(allies)[0] if allies else 0
        return [place for need, place in allies if need == least]

    def does(self, kind: str) -> bool:
        """Whether such a step does anything here and now."""
        if kind == "move":
            return True
        here = self.places[self.acting]
        if kind == "magic":
            if here == WILDERNESS:
                return self.wand < _LIMITS.wand_top
            return here < WILDERNESS and self.pieces[here] > TRACK_START
        if kind == "influence":
            open_here = here > WILDERNESS and self.villages[here - FIRST_VILLAGE] in INFLUENCE
            return open_here and self.given_to in (NOWHERE, here)
        if kind == "book_any":
            return here <= WILDERNESS and LOST < self.books[here] < GAINED
        if kind == "book_own":
            return here == BOOK[self.card] and LOST < self.books[here] < GAINED
        if kind == "tower_discard_top":
            return any(card in WICKED for card in self.moon_pile)
        return kind == "watchman" or (kind == "changeling" and any(card in ALLIES for card in self.villages))

    # ---- what may be done --------------------------------------------------------------------------------------------

    def sends(self) -> list[Action]:
        """SB-5.1."""
        found: list[Action] = [("send", card) for card in (*self.lower, *self.upper) if card != FORTUNA]
        pixies = [card for card in self.lower if card in PIXIES]
        return [*found, ("send", *pixies)] if len(pixies) > 1 else found

    def plays(self) -> list[Offer]:
        """Cards that would do something, each with how gladly it is tried."""
        found: list[Offer] = []
        lower, here = self.lower, self.places[self.acting]
        researched = here if here <= WILDERNESS and LOST < self.books[here] < GAINED else NOWHERE
        for card in lower:
            for play, cost, first, kinds, weight in _OFFERS[card]:
                if first == "book_own":
                    if BOOK[card] == researched != NOWHERE:
                        found.append((play, weight))
                elif cost == "discard_other_warlock":
                    if all(warlock in lower for warlock in WARLOCKS) and len(self.moon_pile) > 1:
                        found.append((play, weight))
                elif cost:
                    found += [((*play, victim), weight) for victim in self._victims(card)]
                elif not kinds:
                    if first != "display_discard_witches" or any(wicked in WITCHES for wicked in self.upper):
                        found.append((play, weight))
                else:
                    for kind in kinds:
                        if self.does(kind):
                            found.append((play, weight))
                            break
        return found

    def _victims(self, card: str) -> list[str]:
        allies = [each for each in self.lower if each in ALLIES and each != card]
        return allies + [each for each in self.upper if each in WITCHES]

    def destinations(self) -> list[tuple[int, float]]:
        """Where a movement may usefully lead, each with how gladly it is tried."""
        found: list[tuple[int, float]] = []
        here, books = self.places[self.acting], self.books
        enough = books.count(GAINED) >= _LIMITS.books_to_win
        held = [BOOK[card] for card in self.lower]
        for place in range(WILDERNESS + 1) if here >= CITIES else (WILDERNESS,):
            if place != here:
                gladly = 1.5 + held.count(place) if LOST < books[place] < GAINED else 0.3
                found.append((place, gladly + (place == WILDERNESS)))
        hidden = 2.0 if enough and TOWER not in self.villages else 0.8
        place = WILDERNESS
        for card in self.villages:
            place += 1
            if not card or place == here:
                continue
            if card == HIDDEN:
                if hidden:
                    found.append((place, hidden))
                    hidden = 0.0
            elif card in INFLUENCE:
                found.append((place, 0.6 + 1.5 * self.lying[place - FIRST_VILLAGE] / INFLUENCE[card]))
            elif card == TOWER:
                found.append((place, 12.0 if enough else 0.1))
            elif card == FAIRY_SPRING:
                if self.wand < _LIMITS.wand_top:
                    found.append((place, 0.7))
            elif card == FORTUNA_VILLAGE and FORTUNA in self.lower and not self.visited:
                found.append((place, 2.0))
        return found

    def wand_uses(self) -> Iterator[Offer]:
        """SB-9."""
        if not self.wand:
            return
        yield ("wand", "1"), 0.4
        if self.wand > 1 and self.here <= WILDERNESS and self.live(self.here):
            yield ("wand", "2"), 1.5
        if self.wand > 2:
            for card in self.upper:
                yield ("wand", "3", card), 0.8

    def casts(self) -> Iterator[Offer]:
        """SB-10."""
        for spell in self.spells:
            if spell == "book_wyrm":
                for book in range(len(BOOKS)):
                    if self.live(book):
                        yield ("cast", spell, _TEXT[book]), 0.15
            elif spell == "circle_of_magi":
                if self.here < CITIES and self.live(self.here):
                    yield ("cast", spell), 0.6
            elif spell == "sun_burst":
                for card in dict.fromkeys(self.moon_pile):
                    if card in WICKED:
                        yield ("cast", spell, card), 0.15
            elif spell == "winning_smile":
                ally = self.ally_here()
                if ally and self.lying[self.here - FIRST_VILLAGE] + _LIMITS.winning_smile >= INFLUENCE[ally]:
                    yield ("cast", spell), 0.8
            elif spell == "puppetry" and not self.card:
                for mage in range(len(self.places)):
                    if mage != self.acting:
                        yield ("cast", spell, _TEXT[mage]), 0.2
            elif spell == "teleport":
                for mage in range(len(self.places)):
                    yield ("cast", spell, _TEXT[mage]), 0.2

    # ---- whether it may still be done --------------------------------------------------------------------------------

    def can(self, action: Action) -> bool:
        """Whether what was offered elsewhere in a turn may be done here; a step that would do nothing may not."""
        if self.stage == Stage.WITCHING:
            return action[0] == "send" and all(card in self.lower or card in self.upper for card in action[1:])
        return _CAN[action[0]](self, action)

    def _can_never(self, _action: Action) -> bool:
        return False

    def _can_play(self, action: Action) -> bool:
        card, mode = action[1], action[2]
        if self.card or card not in self.lower:
            return False
        if len(action) > 3:
            return action[3] in self.lower or action[3] in self.upper
        return mode != "decimate" or all(warlock in self.lower for warlock in WARLOCKS)

    def _can_discard(self, action: Action) -> bool:
        return not self.card and action[1] in self.lower

    def _can_end_card(self, _action: Action) -> bool:
        return bool(self.card)

    def _can_end(self, _action: Action) -> bool:
        return not self.card and not self.too_many()

    def _can_step(self, action: Action) -> bool:
        kind = action[1]
        if not any(times and kind in kinds for kinds, times in self.left) or not self.does(kind):
            return False
        if kind == "move":
            to = int(action[2])
            return self._reaches(to) and (len(action) < 4 or self._carries(int(action[3]), to))
        if kind == "watchman":
            return int(action[2]) != self.watchman
        return kind != "changeling" or int(action[2]) in self.exchangeable()

    def _reaches(self, to: int) -> bool:
        here = self.places[self.acting]
        return to != here and (here >= CITIES or to >= CITIES)

    def _carries(self, rider: int, to: int) -> bool:
        """SB-8.2."""
        free = self.carry and rider != self.acting and self.rider in (NOWHERE, rider)
        return free and self.places[rider] == self.here and (rider, to) not in self.here_refused

    def _can_use_wand(self, action: Action) -> bool:
        level = int(action[1])
        if level > self.wand:
            return False
        if level == 1:
            return self._reaches(int(action[2]))
        return self.does("book_any") if level == 2 else action[2] in self.upper

    def _can_cast(self, action: Action) -> bool:
        spell = action[1]
        if spell not in self.spells:
            return False
        if spell == "teleport":
            return self.places[int(action[2])] != int(action[3])
        return any(offered == action for offered, _ in self.casts())

    # ---- doing it ----------------------------------------------------------------------------------------------------

    def do(self, action: Action) -> None:
        """Carries out what this sketch, or one like it, offered."""
        _DO[action[0]](self, action)

    def _send(self, action: Action) -> None:
        for card in action[1:]:
            (self.lower if card in self.lower else self.upper).remove(card)
            self.sun += SUN[card]
            self.moon += MOON[card]
            if MOON[card]:
                self.moon_pile.append(card)
        self.stage = Stage.STORY.value

    def _play(self, action: Action) -> None:
        card, mode = action[1], action[2]
        self.lower.remove(card)
        _, cost, first, steps, carry = next(play for play in _PLAYS[card] if play[0] == mode)
        if cost == "discard_other_warlock":
            self.lower.remove(next(each for each in WARLOCKS if each != card))
            for wicked in [each for each in self.moon_pile if each in WICKED]:
                self._leave_tower(wicked)
        elif cost:
            (self.lower if action[3] in self.lower else self.upper).remove(action[3])
        if steps:
            self.card, self.left, self.carry = card, [*steps], carry
            self.given_to, self.rider, self.here_refused = NOWHERE, NOWHERE, set()
        elif card in GUARDS:
            self.guard = max(self.guard, 2 if card == KNIGHT else 1)
        elif first == "display_discard_witches":
            self.upper = [each for each in self.upper if each not in WITCHES]

    def _leave_tower(self, card: str) -> None:
        self.moon_pile.remove(card)
        self.moon -= MOON[card]

    def _discard(self, action: Action) -> None:
        self.lower.remove(action[1])

    def _end_card(self, _action: Action) -> None:
        self.card, self.left = "", []

    def _end(self, _action: Action) -> None:
        self.stage = Stage.OVER.value

    def _skip(self, action: Action) -> None:
        self.skipped = True
        self._end(action)

    def _step(self, action: Action) -> None:
        kind = action[1]
        for number, (kinds, times) in enumerate(self.left):
            if times and kind in kinds:
                self.left[number] = kinds, times - 1
                break
        _STEP[kind](self, action)
        if not any(times for _, times in self.left):
            self.card, self.left = "", []

    def _step_move(self, action: Action) -> None:
        to = int(action[2])
        if len(action) > 3:
            self.rider = int(action[3])
            self.places[self.rider] = to
        self._go(self.acting, to)

    def _go(self, mage: int, to: int) -> None:
        self.places[mage] = to
        if mage == self.acting:
            self.moved = True
        village = to - FIRST_VILLAGE
        if village < 0:
            return
        card = self.villages[village]
        if card == HIDDEN:
            self.villages[village] = UNKNOWN
            self.reveals += 1
        elif card == FAIRY_SPRING and self.wand < _LIMITS.wand_top and mage == self.acting:
            self.wand += 1
        elif card == FORTUNA_VILLAGE and FORTUNA in self.lower:
            self.visited = True

    def _step_magic(self, _action: Action) -> None:
        here = self.here
        if here == WILDERNESS:
            self.wand += 1
        else:
            self.pieces[here] = max(TRACK_START, self.pieces[here] - self.sun_share)

    def _step_influence(self, _action: Action) -> None:
        self.given_to = self.here
        self.lying[self.here - FIRST_VILLAGE] += 1
        self._recruit_if_enough(0)

    def _recruit_if_enough(self, more: int) -> None:
        village = self.here - FIRST_VILLAGE
        ally = self.ally_here()
        if ally and self.lying[village] + more >= INFLUENCE[ally]:
            self.villages[village], self.lying[village] = "", 0
            self.lower.append(ally)
            self.recruits.append(ally)

    def _step_book(self, _action: Action) -> None:
        self._move_book(self.here)

    def _move_book(self, book: int) -> None:
        self.books[book] += 1
        if self.books[book] in SPELL_SPACES:
            self.spells_gained += 1

    def _step_watchman(self, action: Action) -> None:
        left = self.watchman
        if left != NOWHERE:
            self.pieces[left] = max(TRACK_START, self.pieces[left] - 1)
        self.watchman = int(action[2])

    def _step_changeling(self, action: Action) -> None:
        village = int(action[2]) - FIRST_VILLAGE
        rest = len(SET_CARDS[self.villages[village]]) > 1
        self.villages[village] = UNKNOWN if rest else ""
        self.restocked += 1

    def _step_discard_top(self, _action: Action) -> None:
        self._leave_tower(next(card for card in reversed(self.moon_pile) if card in WICKED))

    def _use_wand(self, action: Action) -> None:
        self.wand = 0
        if action[1] == "1":
            self._go(self.acting, int(action[2]))
        elif action[1] == "2":
            self._move_book(self.here)
        else:
            self.upper.remove(action[2])

    def _cast(self, action: Action) -> None:
        spell = action[1]
        self.spells.remove(spell)
        if spell == "book_wyrm":
            self._move_book(int(action[2]))
        elif spell == "circle_of_magi":
            city = self.here
            for _ in range(self.places.count(city)):
                if self.live(city):
                    self._move_book(city)
        elif spell == "sun_burst":
            self._leave_tower(action[2])
        elif spell == "winning_smile":
            self._recruit_if_enough(_LIMITS.winning_smile)
        elif spell == "puppetry":
            self.acting, self.moved = int(action[2]), False
        else:
            self._go(int(action[2]), int(action[3]))


_DO: Final = {
    "send": Sketch._send,
    "play": Sketch._play,
    "discard": Sketch._discard,
    "step": Sketch._step,
    "end_card": Sketch._end_card,
    "wand": Sketch._use_wand,
    "cast": Sketch._cast,
    "end": Sketch._end,
    "skip": Sketch._skip,
}
_CAN: Final = {
    "send": Sketch._can_never,
    "play": Sketch._can_play,
    "discard": Sketch._can_discard,
    "step": Sketch._can_step,
    "end_card": Sketch._can_end_card,
    "wand": Sketch._can_use_wand,
    "cast": Sketch._can_cast,
    "end": Sketch._can_end,
    "skip": Sketch._can_never,
}
_STEP: Final = {
    "move": Sketch._step_move,
    "magic": Sketch._step_magic,
    "influence": Sketch._step_influence,
    "book_own": Sketch._step_book,
    "book_any": Sketch._step_book,
    "watchman": Sketch._step_watchman,
    "changeling": Sketch._step_changeling,
    "tower_discard_top": Sketch._step_discard_top,
}


def _book_at(track: pb.TrackView) -> int:
    return {"gained": GAINED, "lost": LOST}.get(track.book_state, track.book_at)


# ---- into commands ---------------------------------------------------------------------------------------------------


def command_of(action: Action) -> Message:
    """The command that does this.

    >>> command_of(("wand", "1", "4"))
    level: 1
    to: "wilderness"
    <BLANKLINE>
    """
    verb, args = action[0], action[1:]
    if verb == "send":
        return pb.SendToTower(cards=args)
    if verb == "play":
        return pb.PlayCard(card=args[0], mode=args[1], discard=args[2] if len(args) > 2 else "")
    if verb == "discard":
        return pb.DiscardCard(card=args[0])
    if verb == "step":
        return _step_command(args)
    if verb == "wand":
        return _wand_command(args)
    if verb == "cast":
        return _cast_command(args)
    return {"end_card": pb.EndCard, "end": pb.EndStory, "skip": pb.SkipTurn}[verb]()


def _step_command(args: Action) -> pb.CardStep:
    command = pb.CardStep(step=args[0])
    if len(args) > 1:
        field = {"watchman": "city", "changeling": "village"}.get(args[0], "to")
        setattr(command, field, PLACES[int(args[1])])
    if len(args) > 2:
        command.rider = int(args[2])
    return command


def _wand_command(args: Action) -> pb.UseWand:
    level = int(args[0])
    to = PLACES[int(args[1])] if level == 1 else ""
    return pb.UseWand(level=level, to=to, card=args[1] if level == 3 else "")


def _cast_command(args: Action) -> pb.CastSpell:
    spell = args[0]
    command = pb.CastSpell(spell=spell)
    if spell == "book_wyrm":
        command.book = BOOKS[int(args[1])]
    elif spell == "sun_burst":
        command.card = args[1]
    elif spell in ("puppetry", "teleport"):
        command.mage = int(args[1])
    if spell == "teleport":
        command.to = PLACES[int(args[2])]
    return command

"""From a partial mapping to the event `position_arranged`. Keys and defaults: see README.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from grimoire.engine.written import (
    by_name,
    by_number,
    demand,
    flag,
    known_keys,
    known_word,
    one_of,
    whole_number,
    words,
)
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import ALLIES, CARD_ORDER, SET_CARDS, SPELLS
from spellbound.catalogue import DATA
from spellbound.deal import sorted_cards
from spellbound.faults import MOST_TURNS
from spellbound.notation import SHOWN, read_book, read_influence, read_stones, read_village
from spellbound.places import BOOKS, CITIES, PLACES, TRACK_END, TRACK_START, VILLAGES
from spellbound.state import Terms

__all__ = ["QUIET", "arrange"]

QUIET: Final = ("story", "witching")
"""States in which a written position may begin."""

_KEYS: Final = (
    "state",
    "turn",
    "turn_mage",
    "acting_mage",
    "moved",
    "visited",
    "mages",
    "wands",
    "spells",
    "policies",
    "hats",
    "troll",
    "books",
    "witch",
    "minions",
    "watchman",
    "bag",
    "drawn",
    "stones_drawn",
    "lower_row",
    "upper_row",
    "sun_pile",
    "moon_pile",
    "villages",
    "influence",
    "deck",
    "deck_top",
    "discards",
    "sweep_ups",
    "wicked_deck",
    "spell_deck",
    "spell_top",
    "removed",
)
_PLACES: Final = ("wilderness", "village_01", "village_02", "wilderness")
"""Where the mages of the standard position stand (SB-21)."""

_VILLAGES: Final = {
    "village_03": "lizardman_1",
    "village_04": "witchs_tower",
    "village_05": "fairy_spring",
    "village_06": "fortuna_village",
    "village_07": "squire",
    "village_08": "halfling_1",
    "village_09": "?vampire_1",
    "village_10": "?",
    "village_11": "?",
    "village_12": "?",
}
"""The villages of the standard position; `?`: any ally, face down."""

_BASICS: Final = tuple(card.id for card in DATA.cards if card.group == "basic")
_MOST_DRAWN: Final = 100_000


def arrange(plan: Mapping[str, object], terms: Terms) -> pb.PositionArranged:
    """The event for a plan; what the plan does not name is as in the rules' standard position (SB-21).

    Raises:
        ValueError: for a plan that cannot be read; what contradicts the rules is for `position_fault` to find.
    """
    plan = {str(key): value for key, value in plan.items()}
    known_keys(plan, _KEYS, "a position")
    mages = range(len(terms.mage_seats))
    turn_mage = whole_number(plan, "turn_mage", 0, 0, len(mages) - 1)
    dan = DATA.stones.bag_start_dan.sun, terms.dan
    bag = _stones(plan, "bag", dan if terms.dan else (DATA.stones.bag_start.sun, DATA.stones.bag_start.moon))
    drawn = _stones(plan, "drawn", (0, 0))
    supply = DATA.stones.sun - bag[0] - drawn[0], DATA.stones.moon - bag[1] - drawn[1]
    demand(min(supply) >= 0, f"There are {DATA.stones.sun} sunstones and {DATA.stones.moon} moonstones.", "SB-2.5")
    hats = by_name(plan, "hats", DATA.colours)
    books = by_name(plan, "books", BOOKS)
    sweep_ups = whole_number(plan, "sweep_ups", 0, 0, _MOST_DRAWN)
    event = pb.PositionArranged(
        mage_seats=terms.mage_seats,
        seats=terms.seats,
        turn=whole_number(plan, "turn", 1, 1, MOST_TURNS),
        turn_mage=turn_mage,
        acting_mage=whole_number(plan, "acting_mage", turn_mage, 0, len(mages) - 1),
        state=one_of(plan, "state", QUIET),
        moved=flag(plan, "moved"),
        visited=flag(plan, "visited"),
        hats=[whole_number(hats, colour, TRACK_START, TRACK_START, TRACK_END) for colour in DATA.colours],
        troll=whole_number(plan, "troll", TRACK_START, TRACK_START, TRACK_END),
        books=[read_book(books.get(track.book, track.book_start)) for track in DATA.tracks],
        witch=whole_number(plan, "witch", 1, 1, len(DATA.tower) - 1),
        mages=_mages(plan, mages),
        policies=_policies(plan, terms.seats),
        watchman="" if plan.get("watchman") is None else one_of(plan, "watchman", PLACES[:CITIES]),
        bag=pb.Stones(sun=bag[0], moon=bag[1]),
        drawn=pb.Stones(sun=drawn[0], moon=drawn[1]),
        supply=pb.Stones(sun=supply[0], moon=supply[1]),
        stones_drawn=whole_number(plan, "stones_drawn", sum(drawn), 0, _MOST_DRAWN),
        deck_ends=sweep_ups,
        sweep_ups=sweep_ups,
    )
    _lay_spells(event, plan)
    _Table(event, plan, terms).lay()
    return event


# ---- mages and seats -------------------------------------------------------------------------------------------------


def _mages(plan: Mapping[str, object], mages: Sequence[int]) -> Iterable[pb.ArrangedMage]:
    places = by_number(plan, "mages", mages)
    wands = by_number(plan, "wands", mages)
    spells = by_number(plan, "spells", mages)
    top = DATA.constants.wand_top
    for mage in mages:
        place = one_of({"mages": places.get(mage, _PLACES[mage])}, "mages", PLACES)
        wand = whole_number({"wands": wands.get(mage, 0)}, "wands", 0, 0, top)
        held = words({"spells": spells.get(mage, [])}, "spells")
        yield pb.ArrangedMage(place=place, wand=wand, spells=[known_word(spell, SPELLS, "spell") for spell in held])


def _policies(plan: Mapping[str, object], seats: int) -> Iterable[str]:
    named = by_number(plan, "policies", range(seats))
    for seat in range(seats):
        word = named.get(seat, DATA.reaction_policies[0])
        yield one_of({"policies": word}, "policies", DATA.reaction_policies)


def _lay_spells(event: pb.PositionArranged, plan: Mapping[str, object]) -> None:
    """Spells that are not named lie in the spell deck, in the order of the data."""
    demand("spell_deck" not in plan or "spell_top" not in plan, "Name `spell_deck` or `spell_top`, not both.")
    held = {spell for mage in event.mages for spell in mage.spells}
    gone = [known_word(card, CARD_ORDER, "card") for card in words(plan, "removed")]
    top = [known_word(spell, SPELLS, "spell") for key in ("spell_deck", "spell_top") for spell in words(plan, key)]
    rest = [spell for spell in SPELLS if spell not in {*held, *gone, *top}]
    event.spell_deck.extend(top if "spell_deck" in plan else [*top, *rest])
    event.removed.extend([*gone, *rest] if "spell_deck" in plan else gone)
    event.spell_deck_count = len(event.spell_deck)


# ---- cards -----------------------------------------------------------------------------------------------------------


class _Table:
    """Every card gets its place: named ones first, then the villages', the decks', and what is left.

    Args:
        event: to be filled; its spells are laid.
        plan: what was written.
        terms: of the match.
    """

    def __init__(self, event: pb.PositionArranged, plan: Mapping[str, object], terms: Terms) -> None:
        self._event = event
        self._plan = plan
        self._terms = terms
        demand("deck" not in plan or "deck_top" not in plan, "Name `deck` or `deck_top`, not both.")
        self._rows = {key: self._cards(key) for key in ("lower_row", "upper_row", "sun_pile", "moon_pile", "discards")}
        self._minions = self._cards("minions")
        self._deck = self._cards("deck_top") + (self._cards("deck") if self._listed("deck") else [])
        self._wicked = self._cards("wicked_deck") if self._listed("wicked_deck") else []
        self._lying = self._influence()
        self._written = self._villages()
        self._taken = {card for row in self._rows.values() for card in row} | {*self._deck, *self._wicked}
        self._taken |= {card for cards in self._lying.values() for card, _ in cards} | {*event.removed}
        self._gone = {*self._taken}
        self._taken |= {card for card, _ in self._written.values()}

    def lay(self) -> None:
        """Fills the event."""
        event = self._event
        self._lay_villages()
        self._lay_rows()
        self._lay_decks()
        rest = [card.id for card in DATA.cards if card.kind in ("mage", "location", "wicked")]
        rest = [card for card in rest if card not in self._taken]
        event.set_aside.extend(card for card in rest if card in ALLIES and card != SET_CARDS[card][0])
        event.box.extend(card for card in rest if card not in event.set_aside)
        event.minions.extend(self._minions)

    # ---- reading -----------------------------------------------------------------------------------------------------

    def _listed(self, key: str) -> bool:
        return not isinstance(self._plan.get(key, 0), int)

    def _cards(self, key: str) -> list[str]:
        return [known_word(card, CARD_ORDER, "card") for card in words(self._plan, key)]

    def _influence(self) -> dict[str, list[tuple[str, int]]]:
        named = by_name(self._plan, "influence", VILLAGES)
        lying = {village: [read_influence(word) for word in words(named, village)] for village in named}
        for cards in lying.values():
            for card, _ in cards:
                known_word(card, CARD_ORDER, "card")
        return lying

    def _villages(self) -> dict[str, tuple[str, bool]]:
        named = by_name(self._plan, "villages", VILLAGES)
        found = {village: read_village(written) for village, written in named.items()}
        for card, _ in found.values():
            demand(not card or card in CARD_ORDER, f"There is no card {card[:SHOWN]!r}.")
        return found

    # ---- laying ------------------------------------------------------------------------------------------------------

    def _lay_villages(self) -> None:
        for village in VILLAGES:
            card, face_down = self._written[village] if village in self._written else self._usual(village)
            self._event.villages.add(
                card="" if face_down else card,
                face_down=face_down,
                influence=[pb.Influence(card=c, amount=amount) for c, amount in self._lying.get(village, ())],
            )
            self._event.face_down.append(card if face_down else "")
            self._taken.add(card)

    def _usual(self, village: str) -> tuple[str, bool]:
        """What lies there in the standard position; nothing, once its set is met elsewhere."""
        card, face_down = read_village(_VILLAGES[village]) if _VILLAGES.get(village, "?") != "?" else ("", True)
        if village not in _VILLAGES:
            return "", False
        if card and not self._met(card):
            return card, face_down
        if face_down:
            return next(((first, True) for first in self._hidden()), ("", False))
        return "", False

    def _met(self, card: str) -> bool:
        """Whether the card is named, or one of its set is out of villages."""
        return card in self._taken or any(other in self._gone for other in SET_CARDS.get(card, ()))

    def _hidden(self) -> Iterable[str]:
        """Allies that may lie face down: first of a set that is not met and lies at no village (SB-3.6)."""
        usual = {read_village(word)[0] for word in _VILLAGES.values() if word != "?"}
        few = len(self._terms.mage_seats) <= 2  # the watchman is in the start deck then (SB-3.5)
        for ally_set in DATA.ally_sets:
            in_start_deck = few and ally_set.village_first in DATA.start_deck.mages_1_2
            laid = usual | self._taken
            if not in_start_deck and not any(card in laid or self._met(card) for card in ally_set.cards):
                yield ally_set.village_first

    def _lay_rows(self) -> None:
        event = self._event
        if "lower_row" not in self._plan and event.state == "witching":
            self._rows["lower_row"] = self._free_basics()[: DATA.constants.display_mages]
        for key, cards in self._rows.items():
            getattr(event, key).extend(cards)
            self._taken.update(cards)

    def _free_basics(self) -> list[str]:
        return [card for card in _BASICS if card not in self._taken]

    def _lay_decks(self) -> None:
        """All basic cards that are not named are in the destiny deck, or, where its cards are told, in the discards."""
        event, free = self._event, self._free_basics()
        in_deck = len(free) if "deck" not in self._plan else 0
        if not self._listed("deck"):
            in_deck = whole_number(self._plan, "deck", in_deck, 0, len(free))
        event.deck.extend([*self._deck, *free[:in_deck]])
        event.deck_cards.extend(sorted_cards((*event.deck,)))
        event.discards.extend(free[in_deck:])
        troll = () if self._terms.troll_buster else (DATA.wicked_deck.top,)
        wicked = [card for card in (*troll, *DATA.wicked_deck.shuffled) if card not in self._taken]
        if self._listed("wicked_deck"):
            wicked = self._wicked
        elif "wicked_deck" in self._plan:
            wicked = wicked[: whole_number(self._plan, "wicked_deck", 0, 0, len(wicked))]
        event.wicked_deck.extend(wicked)
        event.deck_count, event.wicked_deck_count = len(event.deck), len(wicked)
        event.wicked_top = wicked[0] if wicked else ""
        self._taken.update((*free, *wicked))


# ---- reading ---------------------------------------------------------------------------------------------------------


def _stones(plan: Mapping[str, object], key: str, default: tuple[int, int]) -> tuple[int, int]:
    return read_stones(plan[key]) if key in plan else default

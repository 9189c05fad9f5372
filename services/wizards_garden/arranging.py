"""From a partial mapping to the event `position_arranged`. Keys and defaults: see README.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from grimoire.engine.written import flag, known_keys, one_of, whole_number, words
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import SPACE_INDEX, SPACES, START, TERRACE_DEPOSIT
from wizards_garden.notation import Placed, PositionError, Threat, read_placed, read_threat
from wizards_garden.pieces import (
    CARD_KIND,
    CARDS,
    COLOURS,
    FIRST_PEST,
    GNOMES_EACH,
    KIND_INDEX,
    KINDS,
    PIECES,
    SPELLS,
    colour_of,
)

__all__ = ["QUIET", "arrange"]

QUIET: Final = ("garden", "wizard_start", "wizard_main", "wizard_end", "attack")
"""States in which a written position may begin."""

_KEYS: Final = (
    "yard",
    "free",
    "threats",
    *COLOURS,
    "row",
    "deck",
    "deck_top",
    "discards",
    "state",
    "active",
    "turn",
    "wizard_replaced",
    "reshuffles",
)
_SEAT_KEYS: Final = ("fire", "lit", "spirits", "hand", "spells", "cast")
_GNOMES: Final = (PIECES[:GNOMES_EACH], PIECES[GNOMES_EACH:FIRST_PEST])
_PESTS: Final = PIECES[FIRST_PEST:]
_HOME: Final = {SPACES[space]: gnome for gnome, space in START}
_FIRST_LANTERNS: Final = dict(zip((SPACES[space] for space in TERRACE_DEPOSIT), ("gnome", "water"), strict=True))
_SPIRITS: Final = (("gnome", "fire"), ("water", "pest"))
_ROW: Final = ("pest", "water", "fire")
_MOST: Final = 1_000


def arrange(plan: Mapping[str, object], spells_per_player: int, turn_limit: int) -> pb.PositionArranged:
    """The event for a plan; what the plan does not name is as in the rules' standard position (WG-17).

    Raises:
        ValueError: for a plan that cannot be read; what contradicts the rules is for `position_fault` to find.
    """
    plan = {str(key): value for key, value in plan.items()}
    known_keys(plan, _KEYS, "a position")
    sides = [_side(plan, seat) for seat in COLOURS]
    active = COLOURS.index(one_of(plan, "active", COLOURS))
    turn = whole_number(plan, "turn", 1, 1, turn_limit)
    yard = _Yard(_words(plan, "free"))
    for word in _words(plan, "yard"):
        yard.put(read_placed(word), word)
    groups = [yard.threaten(read_threat(word), word) for word in _words(plan, "threats")]
    cards = _deal(plan, sides)
    spells = [_ids(side, "spells", SPELLS, "spell") for side in sides]
    cast = [
        pb.CastSpell(seat=seat, spell=s) for seat, side in enumerate(sides) for s in _ids(side, "cast", SPELLS, "spell")
    ]
    known = {*spells[0], *spells[1], *(each.spell for each in cast)}
    return pb.PositionArranged(
        first_seat=active if turn % 2 else 1 - active,  # turns alternate
        turn_no=turn,
        turn_limit=turn_limit,
        spells_per_player=spells_per_player,
        active_seat=active,
        phase=one_of(plan, "state", QUIET),
        wizard_replaced=flag(plan, "wizard_replaced"),
        spaces=yard.listed(),
        groups=sorted(groups, key=lambda group: group.group),
        boards=[
            pb.ArrangedBoard(
                seat=seat,
                spirits=cards.spirits[seat],
                fire=whole_number(side, "fire", 0, 0, 5),
                lit=_kind(side, "lit"),
                hand_count=len(cards.hands[seat]),
                spell_count=len(spells[seat]),
            )
            for seat, side in enumerate(sides)
        ],
        row=cards.row,
        discards=cards.discards,
        deck_count=len(cards.deck),
        reshuffles=whole_number(plan, "reshuffles", 0, 0, _MOST),
        cast=cast,
        hands=[pb.ArrangedHand(seat=seat, cards=cards.hands[seat], spells=spells[seat]) for seat in range(2)],
        deck=cards.deck,
        set_aside=[spell for spell in SPELLS if spell not in known],
    )


def _side(plan: Mapping[str, object], seat: str) -> Mapping[str, object]:
    side = plan.get(seat)
    side = {} if side is None else side
    if not isinstance(side, Mapping):
        raise PositionError(f"`{seat}` must be a mapping, e.g. {{fire: 2, hand: [gnome], spells: [conch]}}.")
    known_keys(side, _SEAT_KEYS, seat)
    return side


# ---- the yard --------------------------------------------------------------------------------------------------------


class _Yard:
    """The board being filled: pieces come from the supply, the lowest free number first (WG-2.5).

    Args:
        free: spaces of the terraces whose gnomes are in the supply.
    """

    def __init__(self, free: Iterable[str]) -> None:
        self._spaces: dict[str, pb.Space] = {}
        self._gnomes = [list(ids) for ids in _GNOMES]
        self._pests = list(_PESTS)
        self._threatening: set[str] = set()
        freed = {*free}
        for space in sorted(freed):
            if space not in _HOME or space in _FIRST_LANTERNS:
                raise PositionError(f"`free` names spaces of the terraces without a deposit, not {space[:40]!r}.")
        for space, piece in _HOME.items():
            if space not in freed:
                gnome, lantern = PIECES[piece], _FIRST_LANTERNS.get(space, "")
                self._gnomes[colour_of(piece)].remove(gnome)
                self._spaces[space] = pb.Space(space=space, gnome=gnome, lantern=lantern, bright=bool(lantern))

    def put(self, placed: Placed, word: str) -> None:
        """Adds what one word says."""
        if placed.space not in SPACE_INDEX:
            raise PositionError(f"{word!r}: there is no space {placed.space}; spaces are a1 to e7.")
        if placed.lantern and placed.lantern not in KINDS:
            raise PositionError(f"{word!r}: there is no kind {placed.lantern[:40]!r}; kinds are {', '.join(KINDS)}.")
        space = self._spaces.setdefault(placed.space, pb.Space(space=placed.space))
        if placed.water:
            space.water += placed.water
            return
        if placed.lantern and space.gnome and placed.space in _FIRST_LANTERNS:  # another first lantern
            space.lantern, space.bright = placed.lantern, placed.bright
            return
        if space.gnome or space.pests or space.fish_fire:
            raise PositionError(f"{word!r}: something stands on {placed.space} already.", "WG-2.8")
        if placed.seat is not None:
            space.gnome = self._take(self._gnomes[placed.seat], word)
        space.pests.extend(self._take(self._pests, word) for _ in range(placed.pests))
        space.fish_fire, space.lantern, space.bright = placed.fish_fire, placed.lantern, placed.bright

    def threaten(self, threat: Threat, word: str) -> pb.Group:
        """The group that one word says."""
        if threat.in_transit:
            pieces = [self._take(self._pests, word) for _ in range(threat.pests)]
            if threat.seat is not None:
                pieces.append(self._take(self._gnomes[threat.seat], word))
        else:
            pieces = self._standing(threat, word)
        self._threatening.update(pieces)
        pests = sum(piece in _PESTS for piece in pieces)
        return pb.Group(
            group=threat.group,
            origin=threat.origin,
            target=threat.target,
            pieces=pieces,
            in_transit=threat.in_transit,
            strength=0 if not pests else len(pieces),
        )

    def _standing(self, threat: Threat, word: str) -> list[str]:
        space = self._spaces.get(threat.origin, pb.Space())
        pieces = [*space.pests, *([space.gnome] if space.gnome else [])]
        pieces = [piece for piece in pieces if piece not in self._threatening][: 1 if threat.lone else None]
        if not pieces:
            raise PositionError(f"{word!r}: nothing stands on {threat.origin} that could threaten.", "WG-8.1")
        return pieces

    def _take(self, supply: list[str], word: str) -> str:
        if not supply:
            raise PositionError(f"{word!r}: the supply holds no more of these.", "WG-2.2")
        return supply.pop(0)

    def listed(self) -> list[pb.Space]:
        """Every space that holds something, in the order of the data."""
        return [self._spaces[space] for space in SPACES if space in self._spaces]


# ---- cards -----------------------------------------------------------------------------------------------------------


class _Cards:
    """All fifty spirit cards by where they lie."""

    def __init__(self) -> None:
        self.spirits: list[list[str]] = []
        self.hands: list[list[str]] = []
        self.row: list[str] = []
        self.deck: list[str] = []
        self.discards: list[str] = []


def _deal(plan: Mapping[str, object], sides: Sequence[Mapping[str, object]]) -> _Cards:
    """Every card gets its place: kinds take their lowest card not named, in the order in which the lines stand here."""
    written = [
        *(words(side, "spirits", _SPIRITS[seat]) for seat, side in enumerate(sides)),
        words(plan, "row", _ROW),
        *(words(side, "hand") for side in sides),
        words(plan, "deck_top"),
        () if isinstance(plan.get("deck"), int) else words(plan, "deck"),
        words(plan, "discards"),
    ]
    if "deck" in plan and "deck_top" in plan:
        raise PositionError("Name `deck` or `deck_top`, not both.")
    taken = {card for cards in written for card in cards}
    found = [[_card(word, taken) for word in named] for named in written]
    rest = [card for card in CARDS if card not in taken]
    cards = _Cards()
    cards.spirits, cards.row, cards.hands = found[:2], found[2], found[3:5]
    cards.deck, cards.discards = found[5] + found[6], found[7]
    if "deck" not in plan:
        cards.deck += rest
    else:
        count = 0 if found[6] else whole_number(plan, "deck", 0, 0, len(rest)) if isinstance(plan["deck"], int) else 0
        cards.deck += rest[:count]
        cards.discards += rest[count:]
    return cards


def _card(word: str, taken: set[str]) -> str:
    """The card of that id, or the lowest of that kind that is not taken; it is taken then."""
    if word in CARD_KIND:
        return word
    if word not in KIND_INDEX:
        raise PositionError(
            f"There is no card {word[:40]!r}; write a kind ({', '.join(KINDS)}) or an id, e.g. {CARDS[0]}."
        )
    for card in CARDS:
        if CARD_KIND[card] == KIND_INDEX[word] and card not in taken:
            taken.add(card)
            return card
    raise PositionError(f"There are no more cards of the kind {word}.", "WG-2.2")


# ---- reading ---------------------------------------------------------------------------------------------------------


def _words(plan: Mapping[str, object], key: str) -> Sequence[str]:
    """A list of words, or a text of words with spaces between."""
    value = plan.get(key, ())
    return value.split() if isinstance(value, str) else words(plan, key)


def _ids(side: Mapping[str, object], key: str, known: Sequence[str], what: str) -> Sequence[str]:
    named = words(side, key)
    for word in named:
        if word not in known:
            raise PositionError(f"There is no {what} {word[:40]!r}; there are {', '.join(known)}.")
    return named


def _kind(side: Mapping[str, object], key: str) -> str:
    value = side.get(key)
    return "" if value is None else one_of(side, key, KINDS)

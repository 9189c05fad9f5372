"""The state of a match: frozen records that compare by value. Hidden cards never show in a repr.

Spaces, pieces and kinds are numbers here (`board.py`, `pieces.py`), cards and spells are ids. The records hold no
cycles, so the garbage collector need not look at them (`gc=False`).
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from grimoire.engine import Seat
from wizards_garden.board import SPACES, group_id
from wizards_garden.pieces import COLOURS, KINDS, PIECES

__all__ = [
    "BORDER",
    "BRIGHT",
    "DIMMED",
    "DIM_ON_BOARD",
    "LANTERN_STATES",
    "LIT",
    "NO_ONE",
    "PHASES",
    "SKULL",
    "SUPPLY",
    "Action",
    "Battle",
    "Group",
    "Pending",
    "Result",
    "SeatState",
    "Source",
    "Stage",
    "State",
    "Terms",
    "other",
]

SUPPLY: Final = -1
"""The place of a piece that is in the supply; other places are the numbers of spaces, or `BORDER`."""

BORDER: Final = -2
"""The place of a piece in transit (WG-8.1)."""

NO_ONE: Final = -1
"""No kind, no gnome, no space."""

SKULL: Final = "skull"
"""What stands for a group in a battle of the Skull (WG-13.2)."""

# States of a lantern (WG-2.3), as plain integers: they are compared in every listing of what is legal.
DIM_ON_BOARD: Final = 0
LIT: Final = 1
BRIGHT: Final = 2
DIMMED: Final = 3
LANTERN_STATES: Final = ("dim_on_board", "lit_on_board", "bright_in_yard", "dim_in_yard")


class Stage(enum.StrEnum):
    """What the match waits for (WG-4)."""

    SETUP = "setup"
    PREPARATION = "preparation"
    GARDEN = "garden"
    WIZARD_START = "wizard_start"
    WIZARD_MAIN = "wizard_main"
    WIZARD_PENDING = "wizard_pending"
    WIZARD_END = "wizard_end"
    ATTACK = "attack"
    ACTION = "action"
    BUTTERFLY = "butterfly"
    DEFENCE = "defence"
    AFTER_BATTLE = "after_battle"
    OVER = "over"


PHASES: Final = frozenset(
    {
        Stage.PREPARATION,
        Stage.GARDEN,
        Stage.WIZARD_START,
        Stage.WIZARD_MAIN,
        Stage.WIZARD_PENDING,
        Stage.WIZARD_END,
        Stage.ATTACK,
    }
)
"""Stages that are phases of their own; the others lie inside one of these."""


class Source(enum.StrEnum):
    """What opened an action (WG-6)."""

    LANTERN = "lantern"
    MAGICIAN = "magician"
    SPIRIT = "spirit"
    FEATHER = "feather"
    GEM = "gem"
    FLOWER = "flower"
    DOLL = "doll"
    BUTTERFLY = "butterfly"


class Terms(msgspec.Struct, frozen=True, gc=False):
    """What is fixed for the whole match (WG-1.3).

    Attributes:
        arranged: the match began from an arranged position.
    """

    spells_per_player: int
    turn_limit: int
    first_seat: Seat = Seat(0)
    arranged: bool = False


class SeatState(msgspec.Struct, frozen=True, gc=False):
    """One seat's wizard board and hand (WG-2.4).

    Attributes:
        fire: crystals on the wizard board.
        lanterns: their states, by kind.
        spirits: face up, by slot; empty before the preparation.
        hand: spirit cards.
        spells: spell cards in hand.
    """

    fire: int = 0
    lanterns: tuple[int, ...] = (DIM_ON_BOARD,) * len(KINDS)
    spirits: tuple[str, ...] = ()
    hand: tuple[str, ...] = ()
    spells: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"SeatState(fire={self.fire}, lanterns={self.lanterns}, spirits={self.spirits}, "
            f"hand={len(self.hand)} cards, spells={len(self.spells)} cards)"
        )

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [
            ("fire", self.fire),
            ("lanterns", self.lanterns),
            ("spirits", self.spirits),
            ("hand_count", len(self.hand)),
            ("spell_count", len(self.spells)),
        ]


class Group(msgspec.Struct, frozen=True, gc=False):
    """A threat (WG-8.2).

    Attributes:
        pieces: in rising order; of a pair first the pest.
        in_transit: they have no space of their own (WG-8.1).
    """

    origin: int
    target: int
    pieces: tuple[int, ...]
    in_transit: bool = False

    @property
    def id(self) -> str:
        """Its name, e.g. `a3>a4`."""
        return group_id(self.origin, self.target)


class Action(msgspec.Struct, frozen=True, gc=False):
    """An action that is under way (WG-6).

    Attributes:
        moved: pieces that take no further step in it (WG-6.7).
        gnome: of Doll: the gnome that steps.
    """

    source: str
    kind: int
    steps: int
    left: int
    moved: tuple[int, ...] = ()
    gnome: int = NO_ONE


class Pending(msgspec.Struct, frozen=True, gc=False):
    """An action of Gem or Flower that may still be started."""

    index: int
    kind: int
    steps: int


class Battle(msgspec.Struct, frozen=True, gc=False):
    """A battle that is under way (WG-9).

    Attributes:
        origin: of the attacking group; `NO_ONE` for the Skull.
        fire: crystals that are set aside.
        dimmed: kind of the bright lantern that this battle dimmed, else `NO_ONE`.
    """

    seat: int
    origin: int
    target: int
    strength: int
    fire: int
    dimmed: int = NO_ONE

    @property
    def group(self) -> str:
        """The group's id, or `skull`."""
        return SKULL if self.origin < 0 else group_id(self.origin, self.target)


class Result(msgspec.Struct, frozen=True, gc=False):
    """How the match ended (WG-12); `winner` is None in a draw."""

    winner: int | None
    reason: str

    @property
    def name(self) -> str:
        """`blue`, `red` or `draw`."""
        return "draw" if self.winner is None else COLOURS[self.winner]


class State(msgspec.Struct, frozen=True, gc=False):
    """A match at one version.

    Attributes:
        events: how many events led here; tells one prompt from the next.
        turn_no: 0 before the first turn.
        active: whose turn it is; in the preparation, who prepares.
        stage: what the match waits for.
        phase: the phase that is open, or lies behind an action or battle that is under way.
        replaced: Gem or Flower took the place of this turn's wizard phase.
        standing: by space, the pieces on it: none, a gnome, one or two pests, or a pair (its pest, then its gnome).
        places: by piece, where it is: a space, `SUPPLY` or `BORDER`. The same facts as `standing`, the other way round.
        bears: by gnome, the kind of lantern it bears, or `NO_ONE`.
        water, fish: by space, crystals of water, and of fish fire.
        groups: threats, in the order of their ids.
        pending: actions of Gem or Flower (`pending_source`) that may still be started.
        deck: index 0 on top.
        discards: oldest first.
        row: open spirit cards by place.
        set_aside: spells that nobody has.
        cast: spells out of the match, as (seat, spell), oldest first.
        reshuffles: how often the deck was reshuffled (WG-10.3).
        result: None while the match runs.
    """

    terms: Terms
    seats: tuple[SeatState, SeatState] = (SeatState(), SeatState())
    events: int = 0
    turn_no: int = 0
    active: int = 0
    stage: Stage = Stage.SETUP
    phase: Stage = Stage.SETUP
    replaced: bool = False
    standing: tuple[tuple[int, ...], ...] = ((),) * len(SPACES)
    places: tuple[int, ...] = (SUPPLY,) * len(PIECES)
    bears: tuple[int, ...] = (NO_ONE,) * len(PIECES)
    water: tuple[int, ...] = (0,) * len(SPACES)
    fish: tuple[int, ...] = (0,) * len(SPACES)
    groups: tuple[Group, ...] = ()
    action: Action | None = None
    pending_source: str = ""
    pending: tuple[Pending, ...] = ()
    battle: Battle | None = None
    deck: tuple[str, ...] = ()
    discards: tuple[str, ...] = ()
    row: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    cast: tuple[tuple[int, str], ...] = ()
    reshuffles: int = 0
    result: Result | None = None

    def __repr__(self) -> str:
        return (
            f"State(turn_no={self.turn_no}, active={self.active}, stage={self.stage.value}, seats={self.seats}, "
            f"places={self.places}, groups={self.groups}, deck={len(self.deck)} cards, "
            f"discards={len(self.discards)} cards, result={self.result})"
        )

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [
            ("turn_no", self.turn_no),
            ("active", self.active),
            ("stage", self.stage),
            ("seats", self.seats),
            ("groups", self.groups),
        ]

    @property
    def asked(self) -> int:
        """The seat the match waits for (WG-4.9)."""
        return 1 - self.active if self.stage is Stage.DEFENCE else self.active


def other(seat: int) -> int:
    """The opponent's seat."""
    return 1 - seat

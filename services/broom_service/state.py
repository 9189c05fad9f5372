"""The state of a match: frozen records that compare by value. Nothing hidden shows in a repr.

Regions, roles, tiles, clouds and towers are ids of the data. The records hold no cycles, so the garbage collector need
not look at them (`gc=False`).
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from broom_service.resources import NOTHING, Holding

__all__ = [
    "ASKED_TOGETHER",
    "NO_ONE",
    "Extra",
    "Fields",
    "Play",
    "Result",
    "Score",
    "Stage",
    "State",
    "Step",
    "StepKind",
    "Terms",
]

NO_ONE: Final = -1
"""No seat, or no pawn."""


class Stage(enum.StrEnum):
    """What the match waits for (BS-4); prompts are called so too."""

    SETUP = "setup"
    CHOOSE = "choose"
    EXTRA = "extra"
    LEAD = "lead"
    FOLLOW = "follow"
    STEPS = "steps"
    OFFER = "offer"
    HAND_IN = "hand_in"
    OVER = "over"


ASKED_TOGETHER: Final = frozenset({Stage.CHOOSE, Stage.EXTRA, Stage.OFFER, Stage.HAND_IN})
"""Stages in which several seats are asked at once."""


class StepKind(enum.StrEnum):
    """BS-6.2."""

    GATHER = "gather"
    MOVE = "move"
    DELIVER = "deliver"
    DISPEL = "dispel"
    TURBO = "turbo"


class Terms(msgspec.Struct, frozen=True, gc=False):
    """What is fixed for the whole match (BS-1.3).

    Attributes:
        first_player: the seat that begins; None: it is drawn.
        arranged: the match began from an arranged position.
    """

    seats: int
    board: str
    storm_clouds: bool
    heavy_clouds: int
    mountain_tiles: bool
    forest_tiles: bool
    hill_tiles: bool
    timeout_limit: int
    first_player: int | None = None
    arranged: bool = False


class Play(msgspec.Struct, frozen=True, gc=False):
    """A card that was laid down in this round, or a seat that passed (BS-5.1, BS-5.2).

    Attributes:
        stance: empty: it passed, or the role was spent.
        passed: it does not hold the role.
        outdone: a later seat was brave too (BS-5.3).
        spent_role: the role was led before in this round (BS-5.9).
    """

    trick_no: int
    seat: int
    role: str
    stance: str = ""
    instead: str = ""
    passed: bool = False
    outdone: bool = False
    spent_role: bool = False


class Step(msgspec.Struct, frozen=True, gc=False):
    """An open step (BS-6).

    Attributes:
        cause: the role, tile or cloud that opened it.
        number: from 1 within one carrying out of an action; 0 before it opens.
        group: the highest one is on top of the stack.
        take: gather: the most of each.
        one: gather: exactly one of them, not any part.
        moves: move: moves that are left.
        terrains: move: where to; deliver: where from; empty: any land.
        delivers: move, turbo: a delivery opens where a brave witch's pawn arrives (BS-8.5).
        pawn: the pawn that arrived; `NO_ONE`: either.
        region: deliver: where that pawn must stand; turbo: the hill.
        bonus: deliver, dispel: bonus VP.
        circles: turbo: those of the tile.
    """

    kind: StepKind
    cause: str
    number: int = 0
    group: int = 0
    take: Holding = NOTHING
    one: bool = False
    moves: int = 0
    terrains: tuple[str, ...] = ()
    delivers: bool = False
    pawn: int = NO_ONE
    region: str = ""
    bonus: int = 0
    circles: tuple[str, ...] = ()


class Extra(msgspec.Struct, frozen=True, gc=False):
    """A sealed answer in `extra` that uses a tile (BS-4.5)."""

    tile: str
    role: str

    def __repr__(self) -> str:
        return "Extra(...)"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return []


class Score(msgspec.Struct, frozen=True, gc=False):
    """A seat at the end (BS-10)."""

    seat: int
    vp_before: int
    lightning: int
    lightning_vp: int
    sets4: int
    sets3: int
    sets_vp: int
    amulets: int
    amulets_vp: int
    vp: int
    resources_total: int
    rank: int


class Result(msgspec.Struct, frozen=True, gc=False):
    """How the match ended."""

    scores: tuple[Score, ...]
    winners: tuple[int, ...]
    reason: str


class Fields(msgspec.Struct, gc=False):
    """Everything there is at one version; `State` is this, frozen, and `Draft` is this under change.

    Attributes:
        round: 0 before the first.
        event: of the round.
        events_to_come: of the later rounds, in order.
        events_out: of the three that are out of the game.
        bewitched: open in this round.
        bewitched_stack: index 0 on top.
        bewitched_shuffles: so far; `bewitched/1` is the first (BS-13).
        stage: one of `ASKED_TOGETHER`, or `LEAD` while tricks are played; `asked` says what is asked.
        waiting: seats that are still asked in a simultaneous stage.
        leader: of the trick, or of the next one between two.
        trick_no: 0 before the first of a round.
        plays: of this round, in order.
        brave: the seat that may still be brave in the trick (BS-5.3).
        hands: by seat, chosen and not played, in catalogue order.
        extras: by seat, its sealed answer in `extra`.
        offers: by seat, its sealed offer.
        pawns: by seat, regions of its pawns.
        charmed: by seat, clouds in the order they came.
        amulets: by seat, sites where its amulet was taken.
        forest_tiles: by seat, tiles it holds, in the order they came.
        timeouts: by seat, expired decisions in a row.
        clouds: by cloud space; empty: none.
        tiles: region and tile, in the order of the sites.
        covered, occupied: towers.
        steps: open steps in the order they opened; the top group is last.
        acting: seat that carried out an action last in this trick.
        last_step, last_group: highest numbers of that action.
        step_facts: changes to steps over the match; tells one prompt from the next.
    """

    terms: Terms
    first_seat: int = 0
    round: int = 0
    event: str = ""
    events_to_come: tuple[str, ...] = ()
    events_out: tuple[str, ...] = ()
    bewitched: tuple[str, ...] = ()
    bewitched_stack: tuple[str, ...] = ()
    bewitched_shuffles: int = 0
    stage: Stage = Stage.SETUP
    waiting: tuple[int, ...] = ()
    leader: int = 0
    trick_no: int = 0
    plays: tuple[Play, ...] = ()
    brave: int = NO_ONE
    hands: tuple[tuple[str, ...], ...] = ()
    extras: tuple[Extra | None, ...] = ()
    offers: tuple[Holding | None, ...] = ()
    vp: tuple[int, ...] = ()
    resources: tuple[Holding, ...] = ()
    pawns: tuple[tuple[str, str], ...] = ()
    charmed: tuple[tuple[str, ...], ...] = ()
    amulets: tuple[tuple[str, ...], ...] = ()
    forest_tiles: tuple[tuple[str, ...], ...] = ()
    timeouts: tuple[int, ...] = ()
    retired: tuple[bool, ...] = ()
    clouds: tuple[str, ...] = ()
    tiles: tuple[tuple[str, str], ...] = ()
    covered: tuple[str, ...] = ()
    occupied: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    acting: int = NO_ONE
    last_step: int = 0
    last_group: int = 0
    step_facts: int = 0
    result: Result | None = None

    @property
    def asked(self) -> Stage:
        """What the match waits for."""
        if self.result is not None:
            return Stage.OVER
        if self.steps:
            return Stage.STEPS
        if self.stage is Stage.LEAD and self.trick_plays:
            return Stage.FOLLOW
        return self.stage

    @property
    def trick_plays(self) -> tuple[Play, ...]:
        """Of the running trick."""
        count = 0
        for play in reversed(self.plays):
            if play.trick_no != self.trick_no:
                break
            count += 1
        return self.plays[len(self.plays) - count :]

    @property
    def led_role(self) -> str:
        """Of the running trick; empty: none yet."""
        plays = self.trick_plays
        return plays[0].role if plays else ""

    @property
    def follower(self) -> int:
        """The seat whose turn it is to follow in the running trick (BS-5.2)."""
        return (self.leader + len(self.trick_plays)) % self.terms.seats

    @property
    def top_steps(self) -> tuple[Step, ...]:
        """Steps of the top group (BS-6.1)."""
        steps = self.steps
        if not steps:
            return ()
        top = steps[-1].group
        return tuple(step for step in steps if step.group == top)


class State(Fields, frozen=True, gc=False):  # type: ignore[misc]  # msgspec freezes what the base leaves open
    """A match at one version. Its repr tells nothing hidden."""

    def __repr__(self) -> str:
        return f"State(round={self.round}, trick={self.trick_no}, asked={self.asked.value})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("round", self.round), ("trick", self.trick_no), ("asked", self.asked.value)]

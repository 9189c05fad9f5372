"""The Game protocol: a game is a few pure functions (the Decider pattern)."""

from __future__ import annotations

import enum
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec
from google.protobuf.message import Message

from grimoire.engine.draws import Draws
from grimoire.engine.legal import Legal
from grimoire.engine.outcome import Outcome
from grimoire.engine.prompts import Prompt
from grimoire.engine.rejection import Illegal
from grimoire.engine.schema import Schema
from grimoire.engine.seats import Actor, Seat, Viewer
from grimoire.v1 import prompt_pb2

S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


class Leaving(enum.IntEnum):
    """What becomes of a seat whose person leaves a running match. Numbers are those of `grimoire.v1.Leaving`."""

    GAME = 0
    """Seats never change hands: `decide` judges who resigns and who lets its time run out."""
    RETIRES = 1
    """`decide` judges who resigns (it is out); who only goes away is replaced by a bot until it comes back."""
    REPLACED = 2
    """Who resigns or goes away is replaced by a bot until it comes back; `decide` sees no resignation."""
    VOTED = 3
    """Co-operative: the others vote for a bot or one of themselves; `decide` judges who resigns as the last person."""


class MatchFacts(msgspec.Struct, frozen=True):
    """What the platform needs to know of a configured match.

    Attributes:
        options: every option by name with its final value as text, defaults filled in, in the rules file's order.
        seconds: limit of each deadline class, e.g. `{"turn": 60}`.
        timeout_limit: for display; games judge expiry themselves.
        leaving: what becomes of a seat whose person leaves. Expiries are judged by `decide` whatever it says.
        difficulty: co-operative games: names of the options that make the match harder or easier. Each combination of
            their values and the number of seats is rated like a player.
    """

    options: tuple[tuple[str, str], ...]
    seconds: tuple[tuple[str, int], ...]
    timeout_limit: int = 0
    leaving: Leaving = Leaving.GAME
    difficulty: tuple[str, ...] = ()


class Setup(msgspec.Struct, frozen=True):
    """What a match begins from.

    Attributes:
        match_id: the platform's text id.
        seats: number of seats.
        options: as in `MatchFacts.options`, as a mapping.
        position: only in analysis matches: the game's serialised `PositionArranged` event (empty otherwise).
        game_no: number of the match in its series, from 0; the first player of a rematch follows from it.
    """

    match_id: str
    seats: int
    options: Mapping[str, str]
    position: bytes = b""
    game_no: int = 0


class Start(msgspec.Struct, Generic[S], frozen=True):
    """The first events.

    Attributes:
        deal_lines: the game's lines of the deal digest (fairness specification, section 3), without line feeds.
        events: deal and start position, up to the first prompt. The platform's `match_started` comes before them.
        state: `fold(events)`.
    """

    deal_lines: tuple[str, ...]
    events: tuple[Message, ...]
    state: S


class Decision(msgspec.Struct, Generic[S], frozen=True):
    """An accepted command: its events in order, and the state after them (`state == fold(events)`)."""

    events: tuple[Message, ...]
    state: S


class Game(Protocol[S]):
    """One game's rules. Implementations hold no mutable state: all functions are pure.

    Platform matters are not a game's business: handshake, prompt numbers, deadlines, duplicate commands, the void, the
    reveal and the chain belong to `grimoire.match`. Of the platform's commands a game judges two: `Resign` (from a
    seat) and `Expire` (from the clock).
    """

    id: str
    """Code name, e.g. `two_towers`."""
    rules_version: int
    """Raised only when a golden log no longer re-decides identically."""
    catalog_version: str
    rules_digest: bytes
    """32 bytes, from `grimoire.fairness.rules_digest`."""
    min_seats: int
    max_seats: int
    schema: Schema
    """The game's events and commands."""
    view_type: type[Message]
    standing: frozenset[str]
    """Command codes that answer no prompt (the platform adds its own, `resign` among them)."""

    def configure(self, options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
        """Judges options; unknown names, ids and ranges give `bad_option` with the field named."""
        ...

    def initial(self, setup: Setup) -> S:
        """The state before the first event; `evolve` starts here. Depends on `setup` only."""
        ...

    def start(self, setup: Setup, draws: Draws) -> Start[S] | Illegal:
        """Deals. With `setup.position` (analysis) it arranges that position instead, or says why it cannot."""
        ...

    def decide(
        self, state: S, actor: Actor, command: Message, prompt: Prompt | None, draws: Draws
    ) -> Decision[S] | Illegal:
        """The only place where rules judge a command.

        Args:
            state: before the command.
            actor: a seat, the clock (`Expire`) or the host.
            command: the game's command message, or the platform's `Resign` or `Expire`.
            prompt: the open prompt it answers or that expired; the platform has checked that it is open and belongs to
                the seat. None for standing commands.
            draws: the match's randomness.
        """
        ...

    def evolve(self, state: S, event: Message) -> S:
        """The only place where state changes: no rules, no randomness, no catalogue; never fails on own events."""
        ...

    def prompts(self, state: S) -> tuple[Prompt, ...]:
        """Who may act now, on what. Empty once the match is over."""
        ...

    def legal(self, state: S, seat: Seat, prompt: Prompt) -> tuple[Legal, ...]:
        """Exactly the commands that `decide` would accept from this seat for this prompt, or families of them."""
        ...

    def view(self, state: S, viewer: Viewer) -> Message:
        """What this viewer may know, as the game's view message."""
        ...

    def outcome(self, state: S) -> Outcome | None:
        """None while the match runs."""
        ...


def usual_seats(fewest: int, most: int) -> int:
    """How many seats a match has where nobody says: two, or the nearest number the game allows.

    >>> [usual_seats(*bounds) for bounds in ((2, 2), (1, 4), (3, 5), (1, 1))]
    [2, 2, 3, 1]
    """
    return max(fewest, min(2, most))


class Bot(Protocol):
    """A game's built-in player. It is fed only with what its seat may see."""

    levels: tuple[str, ...]
    """Weakest first, e.g. `("random", "heuristic", "searching")`."""

    def suggest(
        self,
        view: Message,
        prompt: prompt_pb2.Prompt,
        level: str,
        rng: random.Random,
        budget_ms: int,
    ) -> tuple[str, Message]:
        """A legal command (code and message) for one's own open prompt.

        Args:
            view: the seat's view message.
            prompt: the seat's prompt with its `legal` entries.
            level: one of `levels`.
            rng: the bot's own randomness (never the match's).
            budget_ms: how long it may think.
        """
        ...


@runtime_checkable
class Volunteer(Protocol):
    """A `Bot` that also answers open offers: prompts that nobody waits for. Other bots leave them alone."""

    def volunteers(self, view: Message, prompt: prompt_pb2.Prompt, level: str) -> bool:
        """Whether to answer this offer now; if so, `suggest` says with what.

        It is asked again after every change while the offer is open, so it must be cheap, and it must not want what it
        wanted before once that is done: who always wants to would never stop.

        Args:
            view: the seat's view message.
            prompt: the seat's own open offer.
            level: one of the bot's `levels`.
        """
        ...


@runtime_checkable
class Retiring(Protocol[S_contra]):
    """A `Game` in which a seat can be out while the others play on: it is asked nothing more, so nobody misses it."""

    def out(self, state: S_contra) -> frozenset[int]:
        """The seats that are out for good: nobody leaves them any more, and nobody is put there."""
        ...


@runtime_checkable
class Folding(Protocol[S]):
    """A `Game` that folds the events of an entry together, where thawing and freezing a state costs more than a change.

    What has no such function is folded with `evolve`, one event at a time. Whoever overrides one of them in a subclass
    overrides both.
    """

    def fold(self, state: S, events: Iterable[Message]) -> S:
        """What `evolve` comes to when it is given these events one after the other."""
        ...


class Terminal(Protocol):
    """How a game looks as text: used by the terminal client's spectators, replay and by people without pictures."""

    def render(self, view: Message, language: str, names: Mapping[int, str], width: int) -> Sequence[str]:
        """Plain text lines of a view, readable aloud, at most `width` columns wide."""
        ...


class Positions(Protocol):
    """Arranged positions, as scenario files and people write them."""

    def parse(self, position: Mapping[str, object], options: Mapping[str, str]) -> Message:
        """The game's `PositionArranged` event for a partial position; what is not named takes the documented default.

        Raises:
            ValueError: with a sentence that says what is wrong and what is allowed.
        """
        ...

    def from_state(self, state: Any) -> Message:
        """The game's `PositionArranged` event for a state of the running match, so that play can go on from there.

        A match that begins with it has the same position, the same prompts for the same seats and the same legal
        commands; what only tells of the past may be left out.

        Args:
            state: of any installed version of the rules.

        Raises:
            ValueError: with a sentence: this state cannot be arranged.
        """
        ...

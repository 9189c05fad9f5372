"""A match as it is shown: what is going on, what was chosen, what there is to say. No widgets."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator

import msgspec
from google.protobuf.message import DecodeError, Message

from grimoire.cli.screens.chronicle import Chronicle, Line, LineKind, seat_label, short
from grimoire.cli.screens.composer import Draft
from grimoire.cli.screens.countdown import Countdown, countdown
from grimoire.cli.screens.feed import Feed
from grimoire.cli.screens.sitters import Sitters, mark
from grimoire.cli.screens.wording import Wording, refusal
from grimoire.cli.screens.words import Words, common_language, next_language
from grimoire.client import Rejected, Update
from grimoire.engine.board import Shown
from grimoire.plugins import GamePlugin
from grimoire.v1 import frame_pb2, match_pb2, prompt_pb2

__all__ = ["Ending", "MatchModel", "Said", "Stage", "Step", "Tone"]


class Stage(enum.Enum):
    """What is going on, for this viewer."""

    HANDSHAKE = "handshake"
    ASKED = "asked"
    WAITING = "waiting"
    OVER = "over"
    VOID = "void"
    BROKEN = "broken"


class Tone(enum.Enum):
    """How something is said."""

    HINT = "hint"
    REFUSAL = "refusal"


class Said(msgspec.Struct, frozen=True):
    """A sentence for the prompt bar, said in whatever language is spoken then."""

    tone: Tone
    say: Callable[[], str]


class Ending(enum.Enum):
    """How a match ended for this viewer."""

    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    SHARED = "shared"
    DECIDED = "decided"
    VOID = "void"


class Step(msgspec.Struct, frozen=True):
    """A line of the handshake."""

    done: bool
    text: str


class MatchModel:
    """Everything the screens of one match share.

    Args:
        feed: the match as it is followed.
        plugin: its game.
        sitters: who plays.
        language: of everything that is said.
    """

    def __init__(self, feed: Feed, plugin: GamePlugin, sitters: Sitters, language: str) -> None:
        self.feed = feed
        self.plugin = plugin
        self.sitters = sitters
        self.chronicle = Chronicle(plugin)
        self.draft = Draft()
        self.said: Said | None = None
        self.sending = False
        self.version = 0
        self._news: tuple[Message, ...] = ()
        self._prompt_ids: tuple[int, ...] = ()
        # As of the last update that was taken in: the feed itself may be ahead of what is on the screen.
        self.head = feed.head
        self._view = feed.view
        self._prompts = feed.prompts
        self.speak(language)

    def speak(self, language: str) -> None:
        """Says everything in this language from now on, if client and game both speak it."""
        self.words = Words(common_language(language, self.plugin.texts.languages))
        self.wording = Wording(self.plugin, self.words.language)
        self.names = self.sitters.names(self.words, self.wording)
        self._lines: list[Line] = []
        self._said = 0

    @property
    def language(self) -> str:
        """Of everything that is said."""
        return self.words.language

    @property
    def next_language(self) -> str:
        """What a switch would lead to."""
        return next_language(self.language, self.plugin.texts.languages)

    # ---- what comes in ---------------------------------------------------------------------------------------------

    def take(self, update: Update) -> None:
        """Takes in what came with a frame; one that was taken before changes nothing."""
        fresh = update.last > self.version
        self._news = tuple(self.chronicle.add(update.events)) if fresh else ()
        if update.last < self.version:
            return
        self.version = update.last
        self.head, self._view = update.snapshot.head, update.snapshot.view
        self._prompts = tuple(update.snapshot.prompts)
        own = self.own_prompts
        ids = tuple(prompt.prompt_id for prompt in own)
        if ids != self._prompt_ids:
            self._prompt_ids = ids
            self.said = None
            self.draft = Draft.of(own)
        else:
            self.draft = self.draft.kept_for(own)

    def refuse(self, rejected: Rejected, *, sent: bool = True) -> None:
        """A refusal, as a sentence and the rule it rests on.

        Args:
            rejected: what was said.
            sent: a command was refused: that stays in the log as one's own line; otherwise somebody only asked.
        """

        def say() -> str:
            return refusal(rejected, self.words, self.wording)

        self.said = Said(Tone.REFUSAL, say)
        if sent:
            self.chronicle.note(lambda: self.words("log.refused", text=say()))

    def hint(self, key: str, **arguments: object) -> None:
        """Something to know, until the next thing happens."""
        self.said = Said(Tone.HINT, lambda: self.words(key, **arguments))

    # ---- what is going on ------------------------------------------------------------------------------------------

    @property
    def stage(self) -> Stage:
        """What is going on."""
        status = self.head.status
        if status == frame_pb2.MATCH_STATUS_VOID:
            return Stage.VOID
        if status == frame_pb2.MATCH_STATUS_CLOSED:
            return Stage.OVER
        if status == frame_pb2.MATCH_STATUS_BROKEN:
            return Stage.BROKEN
        if status != frame_pb2.MATCH_STATUS_RUNNING:
            return Stage.HANDSHAKE
        return Stage.ASKED if self.asked is not None else Stage.WAITING

    @property
    def watching(self) -> bool:
        """This viewer has no seat."""
        return self.feed.seat is None

    @property
    def own_prompts(self) -> tuple[prompt_pb2.Prompt, ...]:
        """What this viewer's seat is asked."""
        return tuple(prompt for prompt in self._prompts if not self.watching and prompt.seat == self.feed.seat)

    @property
    def asked(self) -> prompt_pb2.Prompt | None:
        """One's own required prompt."""
        return next((prompt for prompt in self.own_prompts if prompt.required), None)

    @property
    def may_act(self) -> bool:
        """There is something this viewer may do now, asked for or offered."""
        return bool(self.draft.offers) and self.ending is None and not self.sending

    @property
    def timed(self) -> prompt_pb2.Prompt | None:
        """The prompt whose clock counts for this viewer: one's own, else the one the match waits for."""
        return self.asked or next((prompt for prompt in self._prompts if prompt.required), None)

    def clock(self) -> Countdown | None:
        """The running clock."""
        prompt = self.timed
        return None if prompt is None else countdown(prompt, self.feed.server_time_ms)

    def view(self) -> Message | None:
        """The game's view; None before the match has started."""
        if not self._view:
            return None
        try:
            return self.plugin.game.view_type.FromString(self._view)
        except DecodeError:
            return None

    def shown(self, *, with_news: bool = False) -> Shown | None:
        """What the board draws; None before the match has started."""
        view = self.view()
        if view is None:
            return None
        return Shown(
            view=view,
            language=self.wording.language,
            names=self.names,
            usable=self.draft.usable if not self.sending else frozenset(),
            picked=self.draft.picked,
            fits=self.draft.fits if not self.sending else frozenset(),
            instead=self.draft.instead if not self.sending else frozenset(),
            asked=self.stage is Stage.ASKED,
            news=self._news if with_news else (),
            seat=self.feed.seat,
        )

    # ---- what is said ----------------------------------------------------------------------------------------------

    def seat(self, seat: int) -> str:
        """A seat's name with its shape."""
        return f"{mark(seat)} {seat_label(seat, self.words, self.names)}"

    def lines(self) -> list[Line]:
        """The log, in the language that is spoken now; what was said once is kept."""
        self._lines.extend(self.lines_since(self._said))
        self._said = len(self.chronicle)
        return self._lines

    def lines_since(self, first: int) -> Iterator[Line]:
        """The log from the chronicle's item `first` on."""
        return self.chronicle.lines(self.words, self.wording.language, self.names, first)

    def turn(self) -> str:
        """Who is to do what, in one sentence."""
        stage = self.stage
        if stage is Stage.ASKED and self.asked is not None:
            return f"{self.words('turn.yours')} · {self.wording.prompt(self.asked.kind)}"
        if stage is Stage.WAITING:
            waited = [p for p in self._prompts if p.required]
            if not waited:
                return self.words("turn.nobody")
            seats = ", ".join(self.seat(p.seat) for p in waited)
            return self.words("turn.watching" if self.watching else "turn.waiting", seats=seats)
        return self.words(f"turn.{stage.value}")

    def handshake(self) -> list[Step]:
        """The four lines of the handshake, each with whether it has happened."""
        started = self.chronicle.last(match_pb2.MatchStarted)
        seal = "handshake.sealed" if not self.watching else "handshake.sealed.watching"
        sealed = self._all_sealed() if self.watching else self.chronicle.has(match_pb2.NonceSealed, self.feed.seat)
        return [
            Step(True, self.words("handshake.committed", hash=short(self.head.created.server_commitment))),
            Step(sealed, self.words(seal)),
            Step(self.chronicle.has(match_pb2.NoncesRevealed), self.words("handshake.opened")),
            Step(started is not None, self.words("handshake.dealt")),
        ]

    def _all_sealed(self) -> bool:
        return all(self.chronicle.has(match_pb2.NonceSealed, s.seat) for s in self.head.created.seats)

    @property
    def deal_digest(self) -> str:
        """What the whole deal was hashed to before the first turn, hex; empty before that."""
        started = self.chronicle.last(match_pb2.MatchStarted)
        return "" if started is None else started.deal_digest.hex()

    @property
    def seed(self) -> str:
        """The host's seed, hex; empty before it is revealed."""
        revealed = self.chronicle.last(match_pb2.FairnessRevealed)
        return "" if revealed is None else revealed.server_seed.hex()

    # ---- the end ---------------------------------------------------------------------------------------------------

    @property
    def ending(self) -> Ending | None:
        """How it ended for this viewer; None while it runs."""
        if self.stage is Stage.VOID:
            return Ending.VOID
        if not self.head.HasField("closed"):
            return None
        closed = self.head.closed
        if closed.kind == match_pb2.OUTCOME_KIND_DRAW:
            return Ending.DRAWN
        if closed.kind == match_pb2.OUTCOME_KIND_COOP_WON:
            return Ending.WON
        if closed.kind == match_pb2.OUTCOME_KIND_COOP_LOST:
            return Ending.LOST
        if self.feed.seat is None:
            return Ending.DECIDED
        best = [seat for seat, rank in enumerate(closed.ranks) if rank == 1]
        if self.feed.seat not in best:
            return Ending.LOST
        return Ending.SHARED if len(best) > 1 else Ending.WON

    def result(self) -> str:
        """Why it ended: the game's last sentence, or the platform's for a void match."""
        if self.stage is Stage.VOID:
            voided = self.chronicle.last(match_pb2.MatchVoided)
            return "" if voided is None else self.chronicle.say_platform(voided, self.words, self.names)
        said = [line.text for line in self.lines() if line.kind is LineKind.GAME]
        return said[-1] if said else ""

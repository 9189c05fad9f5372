"""Whole matches between random players: to be played on a service, or judged by the referee alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from google.protobuf.message import Message

from grimoire.engine import HOST, Actor, Bot, Game, Viewer
from grimoire.fairness import Secret, nonce_seal, server_seed
from grimoire.fairness.export import write_export
from grimoire.match import Entry, Parsed, Referee, opened_entry
from grimoire.match.frames import prompts_for
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2
from tests.support.toy import PLUGIN
from tests.support.transparency import logged

GAME = "toy"
HOST_KEY = Secret(bytes(range(32)))


def play(
    match_id: str,
    occupants: Sequence[str] = ("ada", "bo"),
    *,
    seed: int = 1,
    entries: int = 10_000,
    game: Game | None = None,
    **options: str,
) -> list[Entry]:
    """A match judged here, to its end or for so many entries."""
    log: list[Entry] = []
    moves = Moves(match_id, occupants, seed, options, HOST_KEY, log, game or PLUGIN.game)
    while len(log) < entries and next(moves, None) is not None:
        pass
    return log


class Moves:
    """The commands of a match between random players, one after the other.

    Each is judged here when the next is asked for; with the host key of a service it goes the same way as there.
    """

    def __init__(
        self,
        match_id: str,
        occupants: Sequence[str],
        seed: int,
        options: dict[str, str],
        host_key: Secret,
        log: list[Entry] | None = None,
        game: Game = PLUGIN.game,
        bot: Bot = PLUGIN.bot,
        level: str = "random",
    ) -> None:
        self._match_id = match_id
        self._occupants = occupants
        self._options = options
        self._rng = random.Random(seed)
        self._game = game.id
        self._bot = bot
        self._level = level
        self._judge = Referee(game, lambda name, match, _key: server_seed(host_key, name, match))
        self._log: list[Entry] = [] if log is None else log
        self._commands = self._all()

    def __iter__(self) -> Iterator[envelope_pb2.Submission]:
        return self

    def __next__(self) -> envelope_pb2.Submission:
        actor, command = next(self._commands)
        occupant = "" if actor is HOST else self._occupants[actor.seat]
        parsed = self._judge.read(command, occupant)
        assert isinstance(parsed, Parsed), parsed
        now_ms = 1_700_000_000_000 + 1_000 * len(self._log)
        if not self._log:
            entry = self._judge.create(self._match_id, parsed, now_ms)
        else:
            entry = self._judge.judge(self._log[-1].state, actor, parsed, now_ms)
        assert isinstance(entry, Entry), entry
        self._log.append(entry)
        return envelope_pb2.Submission(command=command, occupant_id=occupant, host=actor is HOST)

    def _all(self) -> Iterator[tuple[Actor, envelope_pb2.Command]]:
        seats = [
            match_pb2.SeatOccupant(seat=n, occupant_id=name, kind=match_pb2.OCCUPANT_KIND_PERSON)
            for n, name in enumerate(self._occupants)
        ]
        create = match_pb2.CreateMatch(
            game=self._game,
            mode=match_pb2.MATCH_MODE_CASUAL,
            seats=seats,
            options=[match_pb2.OptionValue(name=k, value=v) for k, v in self._options.items()],
        )
        yield HOST, self._command("create_match", create)
        nonces = [self._rng.randbytes(32) for _ in self._occupants]
        for seat, nonce in enumerate(nonces):
            seal = match_pb2.SealNonce(seal=nonce_seal(self._game, self._match_id, seat, nonce))
            yield Actor.of_seat(seat), self._command("seal_nonce", seal, seat)
        for seat, nonce in enumerate(nonces):
            yield Actor.of_seat(seat), self._command("open_nonce", match_pb2.OpenNonce(nonce=nonce), seat)
        while not self._log[-1].state.over:
            yield self._answer()

    def _answer(self) -> tuple[Actor, envelope_pb2.Command]:
        state = self._log[-1].state
        asked = self._rng.choice([p for p in state.prompts if p.prompt.required])
        seat = asked.prompt.seat
        viewer = Viewer.of_seat(seat)
        prompt = next(p for p in prompts_for(self._judge, state, viewer) if p.prompt_id == asked.prompt_id)
        view = self._judge.game.view(state.game, viewer)
        code, message = self._bot.suggest(view, prompt, self._level, self._rng, 0)
        return Actor.of_seat(seat), self._command(code, message, seat, asked.prompt_id)

    def _command(
        self, code: str, message: Message, seat: int | None = None, prompt_id: int | None = None
    ) -> envelope_pb2.Command:
        return envelope_pb2.Command(
            command_id=self._rng.randbytes(16),
            match_id=self._match_id,
            seat=seat,
            prompt_id=prompt_id,
            type=code,
            payload=message.SerializeToString(),
        )


def opened(log: Sequence[Entry], viewer: Viewer) -> list[frame_pb2.ViewerEntry]:
    """A log that was judged here, as a viewer receives it at its end."""
    revealed = log[-1].state.revealed
    game = match_pb2.MatchCreated.FromString(log[0].state.created).game
    return [
        opened_entry(
            match_id=e.match_id,
            version=e.version,
            header=e.header,
            public=e.public,
            digests=e.stored_digests(),
            hash_=e.hash,
            parts=dict(e.parts),
            viewer=viewer,
            revealed=revealed,
            seed=server_seed(HOST_KEY, game, e.match_id),
        )
        for e in log
    ]


def file_of(log: Sequence[Entry], viewer: Viewer) -> bytes:
    """A log that was judged here, as a file, with the proofs of a transparency log of the tests' own."""
    entries = opened(log, viewer)
    return b"".join(write_export(GAME, log[0].match_id, entries, viewer, logged(entries)))

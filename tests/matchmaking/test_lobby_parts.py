"""Parts of the lobby by themselves: words, bytes, the ledger under two hands."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grimoire.engine import Illegal
from grimoire.eventstore import EventStore, NewEntry, StoredEntry, Unavailable, open_store
from grimoire.fairness import chain
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import manifest_pb2, match_pb2
from matchmaking.challenge import (
    Cancel,
    Challenge,
    Command,
    Create,
    End,
    Expire,
    Fail,
    Join,
    Open,
    Sitter,
    Stage,
    decide,
)
from matchmaking.creation import create_match
from matchmaking.errands import Errands
from matchmaking.ledger import Ledger
from matchmaking.log import BrokenLogError, Record, command_id, derived_id, next_entry, read_log
from matchmaking.shown import show_options
from matchmaking.texts import SENTENCES, TERMS, illegal, rejection

MANIFEST = manifest_pb2.Manifest(
    options=[
        manifest_pb2.OptionSchema(
            name="deck",
            type=manifest_pb2.OPTION_TYPE_CHOICE,
            default="standard",
            label="Pakka",
            icon="cards",
            choices=[
                manifest_pb2.OptionItem(value="standard", label="vakio", icon="deck"),
                manifest_pb2.OptionItem(value="endless", label="loputon"),
            ],
        ),
        manifest_pb2.OptionSchema(
            name="turn_time_s",
            type=manifest_pb2.OPTION_TYPE_INTEGER,
            default="60",
            label="Vuoro",
            unit="s",
            icon="clock",
        ),
        manifest_pb2.OptionSchema(name="open", type=manifest_pb2.OPTION_TYPE_BOOL, default="false", label="Avoin"),
    ]
)


def test_options_are_shown_with_icon_and_word_and_defaults_are_marked() -> None:
    shown = show_options([("deck", "endless"), ("turn_time_s", "60"), ("open", "true"), ("new", "7")], MANIFEST, "fi")
    assert [(o.name, o.label, o.value_label, o.icon, o.is_default) for o in shown] == [
        ("deck", "Pakka", "loputon", "cards", False),
        ("turn_time_s", "Vuoro", "60 s", "clock", True),
        ("open", "Avoin", "kyllä", "", False),
        ("new", "new", "7", "", False),
    ]
    assert show_options([("deck", "standard")], MANIFEST, "fi")[0].icon == "deck", "a value may have its own icon"


def test_every_sentence_exists_in_both_languages_with_the_same_arguments() -> None:
    def arguments(text: str) -> set[str]:
        return {part.partition("}")[0] for part in text.split("{")[1:]}

    for code, sentences in {**SENTENCES, **TERMS}.items():
        assert set(sentences) == {"en", "fi"}, code
        assert arguments(sentences["en"]) == arguments(sentences["fi"]), code


def test_a_rejection_is_worded_for_its_reader_and_a_games_own_words_stay() -> None:
    refusal = illegal("too_many_challenges", limit=5)
    assert rejection(refusal, "fi").message.startswith("Sinulla on jo 5")
    assert rejection(refusal, "sv").message == rejection(refusal, "en").message == refusal.message
    of_a_game = replace(illegal("bad_option", detail="x"), rule="TT-1.5", message="There is no such tower.")
    assert rejection(of_a_game, "fi").message == "There is no such tower."
    bare = replace(of_a_game, rule="", arguments=())
    assert rejection(bare, "fi").message == "There is no such tower."
    assert rejection(illegal("rate_limited", retry_after_ms=70)).retry_after_ms == 70


def opening(match_id: str = "m0") -> Open:
    return Open("2" * 26, "toy", (("mode", "duel"),), 2, ((0, Sitter("ada")),), 1_000, match_id, "s")


def log_of(*steps: tuple[Command, int]) -> tuple[Record, list[StoredEntry]]:
    """A log written by hand, as the store would give it back."""
    record: Record | None = None
    entries = []
    for command, at_ms in steps:
        events = decide(record.challenge if record else None, command, at_ms)
        assert not isinstance(events, Illegal)
        new, record = next_entry(record, command, events, at_ms, "a")
        fields = {name: getattr(new, name) for name in StoredEntry.__struct_fields__}
        entries.append(StoredEntry(**fields))
    assert record is not None
    return record, entries


LOG = log_of((opening(), 10), (Join(Sitter("bo"), "m1"), 5), (Create(), 30))


def test_a_log_reads_back_as_it_was_written_and_its_time_never_goes_back() -> None:
    record, entries = LOG
    assert read_log(entries) == record
    assert [e.server_time_ms for e in entries] == [10, 10, 30]
    headers = [match_pb2.EntryHeader.FromString(e.header) for e in entries]
    assert [(h.actor, h.seat) for h in headers] == [
        (match_pb2.ACTOR_KIND_SEAT, 0),
        (match_pb2.ACTOR_KIND_SEAT, 1),
        (match_pb2.ACTOR_KIND_HOST, 0),
    ]
    assert read_log([]) is None


@pytest.mark.parametrize("field", ["header", "public", "hash", "version"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_changed_byte_anywhere_is_found(field: str, at: int) -> None:
    _, entries = LOG
    value = getattr(entries[at], field)
    changed = value + 1 if isinstance(value, int) else bytes((value[0] ^ 1,)) + value[1:]
    damaged = [replace(e, **{field: changed}) if n == at else e for n, e in enumerate(entries)]
    with pytest.raises(BrokenLogError, match=str(at + 1)):
        read_log(damaged)
    with pytest.raises(BrokenLogError):
        read_log(entries[1:])


def test_entries_that_hold_but_say_nonsense_are_found() -> None:
    _, (first, *_) = LOG
    nonsense = match_pb2.Events(events=[match_pb2.Event(type="challenge_sung")]).SerializeToString()
    hash_ = chain.link(first.hash, first.header, nonsense, ())
    with pytest.raises(BrokenLogError, match="version 2 does not fold"):
        read_log([first, replace(first, version=2, public=nonsense, hash=hash_)])


def test_the_creating_command_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    keys = KeyRing.load_or_create(tmp_path / "keys")
    challenge = LOG[0].challenge
    first, second = (create_match(challenge, KeyRing.load_or_create(tmp_path / "keys")) for _ in range(2))
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)
    assert len(first.command.command_id) == 16
    assert create_match(replace(challenge, challenge_id="3" * 26), keys).command.command_id != first.command.command_id


def test_ids_differ_by_all_they_are_made_of() -> None:
    assert len({derived_id("open", "ada", "1"), derived_id("open", "ada1", ""), derived_id("rematch", "ada", "1")}) == 3
    commands: list[Command] = [
        opening(), Join(Sitter("a"), "m"), Join(Sitter("b"), "m"), Cancel("a"), Cancel("b"), Expire(), Create(),
        Fail("x"), End(b"", 1),
    ]  # fmt: skip
    what = itertools.product(("c1", "c2"), commands, (1, 2), ("one", "other"))
    assert len({command_id(*each) for each in what}) == 8 * len(commands)


async def test_errands_run_once_at_a_time_and_can_be_recalled() -> None:
    errands, begun, go = Errands(), [], asyncio.Event()

    async def work() -> None:
        begun.append(1)
        await go.wait()

    async def fail() -> None:
        raise RuntimeError("told")

    for _ in range(3):
        errands.send("a", work)
    errands.send("b", work)
    errands.send("c", fail)
    await asyncio.sleep(0)
    assert len(begun) == 2
    errands.recall("a")
    go.set()
    while len(errands):
        await asyncio.sleep(0)
    errands.send("a", work)
    await errands.close()
    errands.send("d", work)
    assert len(errands) == 0


class LateReplies:
    """A real store whose replies to appends come late, or are lost, while the entries are there."""

    def __init__(self, store: EventStore, late: Iterator[int | None]) -> None:
        self._store = store
        self._late = late
        self.read = store.read
        self.heads = store.heads

    async def append(self, entries: Sequence[NewEntry]) -> None:
        """As the store's; how many reads come before the reply, and None loses it, says the next of `late`."""
        await self._store.append(entries)
        reads = next(self._late, 0)
        if reads is None:
            raise Unavailable("the reply was lost")
        for _ in range(reads):
            await self._store.read(entries[0].match_id)


def ledger_on(
    store: EventStore, late: Iterable[int | None], wrote: Callable[[Record], Awaitable[None]] | None = None
) -> tuple[Ledger, list[tuple[Record, bool]]]:
    """A ledger, and what it says of its challenges."""
    ledger = Ledger(cast("EventStore", LateReplies(store, iter(late))), lambda: 5, wrote)
    said: list[tuple[Record, bool]] = []
    ledger.on_change(lambda record, own: said.append((record, own)))
    return ledger, said


async def test_an_entry_read_back_before_its_reply_is_here_is_still_the_writers_own(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:///{tmp_path / 'own.db'}") as store:
        ledger, said = ledger_on(store, [0, 50])
        await ledger.act("2" * 26, opening())
        joining = asyncio.create_task(ledger.act("2" * 26, Join(Sitter("bo"), "m1")))
        while (head := await store.head("2" * 26)) is None or head.version < 2:
            await asyncio.sleep(0)
        await ledger.refresh("2" * 26, 2)
        assert [(record.version, own) for record, own in said] == [(1, True), (2, True)]
        assert await joining == said[-1][0]
        assert len(said) == 2


async def test_an_entry_whose_reply_was_lost_is_known_again_and_not_decided_twice(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:///{tmp_path / 'lost.db'}") as store:
        told: list[int] = []

        async def tell(record: Record) -> None:
            told.append(record.version)

        ledger, said = ledger_on(store, [None, None, 0], tell)
        answers = [await ledger.act("2" * 26, command) for command in (opening(), Join(Sitter("bo"), "m1"), Create())]
        assert [record for record, own in said if own] == answers
        assert told == [1, 2, 3]
        assert await ledger.get("2" * 26) == answers[-1]


class GoesAway:
    """A real store that goes away while an entry's reply is awaited; somebody else may read the entry before."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self.heads = store.heads
        self.away = False
        self.appended = asyncio.Event()
        self.goes = asyncio.Event()

    async def append(self, entries: Sequence[NewEntry]) -> None:
        """As the store's; the reply to the second entry is lost."""
        await self._store.append(entries)
        if entries[0].version > 1:
            self.appended.set()
            await self.goes.wait()
            raise Unavailable("the reply was lost")

    async def read(self, match_id: str) -> Sequence[StoredEntry]:
        """As the store's, while it is there."""
        if self.away:
            raise Unavailable("away")
        return await self._store.read(match_id)


async def test_an_entry_that_was_read_back_is_done_though_the_store_goes_away_then(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:///{tmp_path / 'away.db'}") as store:
        told: list[int] = []

        async def tell(record: Record) -> None:
            told.append(record.version)

        going = GoesAway(store)
        ledger = Ledger(cast("EventStore", going), lambda: 5, tell)
        await ledger.act("2" * 26, opening())
        joining = asyncio.create_task(ledger.act("2" * 26, Join(Sitter("bo"), "m1")))
        await going.appended.wait()
        await ledger.refresh("2" * 26, 2)
        going.away = True
        going.goes.set()
        answer = await joining
        assert isinstance(answer, Record)
        assert (answer.version, answer.challenge.stage) == (2, Stage.FULL)
        assert told == [1, 2]


async def test_who_is_broken_off_leaves_nothing_half_known(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:///{tmp_path / 'off.db'}") as store:
        ledger, said = ledger_on(store, [0, 5])
        await ledger.act("2" * 26, opening())
        joining = asyncio.create_task(ledger.act("2" * 26, Join(Sitter("bo"), "m1")))
        await asyncio.sleep(0)
        joining.cancel()
        await asyncio.gather(joining, return_exceptions=True)
        await ledger.close()
        assert [(record.version, own) for record, own in said] == [(1, True), (2, True)]
        assert [c.stage for c in ledger.live] == [Stage.FULL]


_hands = st.integers(0, 1)
_moves = st.one_of(
    st.builds(Join, st.builds(Sitter, st.sampled_from(["bo", "cleo", "dag"])), st.sampled_from(["m1", "m2"])),
    st.just(Cancel("ada")),
    st.just(Create()),
    st.just(Fail("no")),
    st.just(End(match_pb2.MatchClosed(ranks=[1, 2]).SerializeToString(), 7)),
    st.just(opening()),
)
_names = itertools.count()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moves=st.lists(st.tuples(_hands, _moves), min_size=2, max_size=12),
    at_once=st.integers(1, 4),
    late=st.lists(st.integers(0, 3), max_size=8),
)
async def test_two_hands_on_one_log_agree(
    moves: list[tuple[int, Command]], at_once: int, late: list[int], tmp_path: Path
) -> None:
    async with await open_store(f"sqlite:///{tmp_path / f'{next(_names)}.db'}") as store:
        slow = cast("EventStore", LateReplies(store, iter(late)))
        ledgers = [Ledger(slow, lambda: 5) for _ in range(2)]
        seen: list[Challenge] = []
        for ledger in ledgers:
            ledger.on_change(lambda record, own: seen.append(record.challenge) if own else None)
        await ledgers[0].act("2" * 26, opening())
        for start in range(0, len(moves), at_once):
            some = moves[start : start + at_once]
            await asyncio.gather(*(ledgers[hand].act("2" * 26, move) for hand, move in some))
        record = read_log(await store.read("2" * 26))
        assert record is not None
        assert record.version == len(seen), "each entry was written by one hand"
        for ledger in ledgers:
            await ledger.reconcile()
            known = await ledger.get("2" * 26)
            assert known == record
            live = record.challenge.stage.live
            assert list(ledger.live) == ([record.challenge] if live else [])
            assert ledger.open_count == (record.challenge.stage is Stage.OPEN)
            assert ledger.of_account("ada") == ([record.challenge] if live else [])
            matched = ledger.of_match(record.challenge.match_id)
            assert matched == (record.challenge if live and record.challenge.match_id else None)

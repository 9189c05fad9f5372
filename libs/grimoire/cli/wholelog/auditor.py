"""Reads a server's whole log and every match in it, and judges both here."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final, TypeVar

from grimoire.cli.wholelog.findings import Doubt, Findings, KeyFrom, MatchDoubt, Sums
from grimoire.cli.wholelog.judge import Judged, judge
from grimoire.client import Alarm, Client, ClientError, Rejected, UnavailableError
from grimoire.fairness.export import ExportError
from grimoire.fairness.statistics import Tally, judge_all
from grimoire.fairness.transparency import Checkpoint, LeafKind, NoteError, VerifierKey, open_checkpoint
from grimoire.fairness.transparency.summary import FOR_EVER, Story, Summary, allowed_until, summarise
from grimoire.fairness.transparency.wholelog import WholeLog

__all__ = ["LogAuditor", "Tell"]

T = TypeVar("T")

Tell = Callable[[str, int, int], None]
"""Is told what is being done, how much of it, of how much."""

_AT_ONCE: Final = 4
_BATCH: Final = 32
_TRIES: Final = 5
_PAUSE_S: Final = 0.5
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class LogAuditor:
    """One audit.

    Args:
        client: signed in to the server.
        server: its address, for the report.
        key: of the log, as known from elsewhere; None: the one that was seen first.
        tell: is told how far it is.
        others: checkpoints that others were shown, by a name for each: this log must be what they were signed for.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        client: Client,
        server: str,
        key: VerifierKey | None,
        tell: Tell,
        others: Mapping[str, bytes] = MappingProxyType({}),
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._client = client
        self._key = key
        self._tell = tell
        self._others = others
        self._now_ms = now_ms
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._whole = WholeLog()
        self._tallies: dict[tuple[str, str], Tally] = {}
        self._found = Findings(server)

    async def run(self) -> Findings:
        """Audits.

        Raises:
            UnavailableError, Rejected: if the log itself cannot be had.
        """
        seen, known = self._client.log_seen, self._client.log_key
        try:
            await self._client.log_checkpoint()
        except Alarm as alarm:
            self._found.faults.append(alarm.reason)
        key, checkpoint = self._client.log_key, self._client.log_seen
        if key is None or checkpoint is None:
            return self._found
        self._describe(key, known, checkpoint, seen)
        if self._key not in (None, key):
            self._found.faults.append(f"the log's key is {key}, not {self._key}")
            return self._found
        await self._read_log(checkpoint, seen)
        self._compare_others(key)
        stories = list(self._whole.stories.values())
        await self._count(stories)
        await self._judge_all([story for story in stories if LeafKind.REVEAL in story.times], key)
        self._found.draws = judge_all(self._tallies)
        return self._found

    def _describe(
        self, key: VerifierKey, known: VerifierKey | None, checkpoint: Checkpoint, seen: Checkpoint | None
    ) -> None:
        found = self._found
        found.key = str(key)
        found.key_from = KeyFrom.GIVEN if self._key else KeyFrom.PINNED if known else KeyFrom.SHOWN
        found.checkpoint = self._client.log_note.decode()
        found.size, found.seen_before = checkpoint.size, 0 if seen is None else seen.size

    # ---- the log -------------------------------------------------------------------------------------------------

    async def _read_log(self, checkpoint: Checkpoint, seen: Checkpoint | None) -> None:
        whole, faults = self._whole, self._found.faults
        async for leaves in self._client.log_leaves(checkpoint.size):
            for leaf in leaves:
                whole.take(leaf)
            self._tell("Reading the log", min(whole.size, checkpoint.size), checkpoint.size)
            if whole.size > checkpoint.size:
                break
        faults += [f"leaf {fault.number}: {fault.what}" for fault in whole.faults]
        if whole.size != checkpoint.size:
            faults.append(f"the log was signed for {checkpoint.size} leaves, and the server gives {whole.size}")
        elif not whole.agrees_with(checkpoint):
            faults.append(f"the {checkpoint.size} leaves that the server gives are not those it signed for")
        if seen is not None and not whole.agrees_with(seen):
            faults.append(f"the first {seen.size} leaves are not those of the checkpoint that was seen before")

    def _compare_others(self, key: VerifierKey) -> None:
        for name, note in self._others.items():
            try:
                shown = open_checkpoint(note, key)
            except NoteError as error:
                self._found.faults.append(f"{name}: {error}")
                continue
            if not self._whole.agrees_with(shown):
                self._found.faults.append(
                    f"{name}: it was signed for {shown.size} leaves, and they are not this log's first {shown.size}"
                )

    # ---- what it adds up to --------------------------------------------------------------------------------------

    async def _count(self, stories: Sequence[Story]) -> None:
        now_ms = self._now_ms()
        late = [story for story in stories if story.awaits is not None and now_ms > story.young_until_ms]
        allowed = {
            s.match_id: until async for s, until in self._each("Looking after open matches", late, self._allowed)
        }
        groups: dict[tuple[str, str], list[Story]] = {}
        for story in stories:
            groups.setdefault((story.game, _month(story)), []).append(story)
        for (game, month), group in sorted(groups.items()):
            summary = summarise(group, now_ms, allowed)
            self._found.sums.append(_sums(game, month, summary))
            self._found.missing += summary.missing
            outcomes = self._found.outcomes.setdefault(game, {})
            for (_, outcome), count in summary.outcomes.items():
                outcomes[outcome] = outcomes.get(outcome, 0) + count

    async def _allowed(self, story: Story) -> int:
        try:
            head = (await self._patiently(lambda: self._client.match(story.match_id))).head
        except Rejected:
            return 0
        except ClientError as error:
            self._doubt(story, Doubt.UNANSWERED, str(error))
            return FOR_EVER
        return allowed_until(head)

    def _doubt(self, story: Story, doubt: Doubt, what: str) -> None:
        self._found.matches.append(MatchDoubt(story.match_id, story.game, doubt, what))

    # ---- its matches ---------------------------------------------------------------------------------------------

    async def _judge_all(self, stories: Sequence[Story], key: VerifierKey) -> None:
        async def judged(story: Story) -> Judged:
            return await self._judge(story, key)

        async for story, result in self._each("Auditing matches", stories, judged):
            if result.doubt is None:
                self._found.audited += 1
            else:
                self._doubt(story, result.doubt, result.what)
            if result.doubt in (None, Doubt.UNJUDGED):
                self._tallies.setdefault((story.game, _month(story)), Tally()).match(result.draws)

    async def _judge(self, story: Story, key: VerifierKey) -> Judged:
        try:
            data = await self._patiently(lambda: self._client.export(story.match_id))
        except ExportError as error:
            return Judged(Doubt.LIES, f"its file cannot be read: {error}")
        except Rejected as error:
            return Judged(Doubt.UNANSWERED if error.retry_after_ms else Doubt.WITHHELD, error.message)
        except ClientError as error:
            return Judged(Doubt.UNANSWERED, str(error))
        return await asyncio.to_thread(judge, data, story, self._whole, key)

    # ---- asking --------------------------------------------------------------------------------------------------

    async def _each(
        self, what: str, stories: Sequence[Story], work: Callable[[Story], Awaitable[T]]
    ) -> AsyncIterator[tuple[Story, T]]:
        """Works on all, some at once; the results in the same order."""

        async def one(story: Story) -> T:
            async with self._gate:
                return await work(story)

        for at in range(0, len(stories), _BATCH):
            batch = stories[at : at + _BATCH]
            for story, result in zip(batch, await asyncio.gather(*map(one, batch)), strict=True):
                yield story, result
            self._tell(what, at + len(batch), len(stories))

    @staticmethod
    async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
        tries = 0
        while True:
            tries += 1
            pause = _PAUSE_S
            try:
                return await ask()
            except UnavailableError:
                if tries == _TRIES:
                    raise
            except Rejected as error:
                if tries == _TRIES or not error.retry_after_ms:
                    raise
                pause = error.retry_after_ms / 1000
            await asyncio.sleep(pause)


def _sums(game: str, month: str, summary: Summary) -> Sums:
    missing = Counter(one.kind for one in summary.missing)
    return Sums(
        game,
        month,
        commits=summary.commits,
        starts=summary.starts,
        voids=summary.voids,
        handshakes=summary.handshakes,
        closes=summary.closes,
        running=summary.running,
        reveals=summary.reveals,
        unrevealed=summary.closes + summary.voids - summary.reveals - missing[LeafKind.REVEAL],
        missing_starts=missing[LeafKind.START],
        missing_closes=missing[LeafKind.CLOSE],
        missing_reveals=missing[LeafKind.REVEAL],
    )


def _month(story: Story) -> str:
    try:
        return f"{_EPOCH + timedelta(milliseconds=story.times[LeafKind.COMMIT]):%Y-%m}"
    except OverflowError:
        # Whatever a strange log claims.
        return "never"

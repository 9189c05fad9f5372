"""Compares what a step expects with the match as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from google.protobuf.message import Message

from grimoire.engine import ALL, GameTexts, Legal, Seat, Viewer
from grimoire.fairness.commitments import deal_salt
from grimoire.fairness.verify import first_lie
from grimoire.match.entry import Entry
from grimoire.match.referee import PLATFORM
from grimoire.match.scenario.auditing import audit
from grimoire.match.scenario.invariants import Invariants, words
from grimoire.match.scenario.legality import allows
from grimoire.match.scenario.matching import Difference, compare, in_order, show
from grimoire.match.scenario.plain import Hex, enum_name, fill, plain
from grimoire.match.scenario.spec import Events, Expect, FeedExpect, LegalExpect
from grimoire.match.state import MatchState, OpenPrompt, Phase
from grimoire.match.table import Answer, Table
from grimoire.v1 import audit_pb2, envelope_pb2, match_pb2

__all__ = ["Checker"]


class Checker:
    """Looks at one table.

    Args:
        table: where the match is played.
        invariants: follows the same match.
        texts: of its game.
    """

    def __init__(self, table: Table, invariants: Invariants, texts: GameTexts) -> None:
        self._table = table
        self._invariants = invariants
        self._texts = texts

    # ---- answers -------------------------------------------------------------------------------------------------

    def answered(self, expect: Expect, answer: Answer) -> list[Difference]:
        """Everything about a command's answer, and about the match after it."""
        differences = [*self._answer(expect, answer)]
        if differences or self._table.state is None:
            return differences
        if isinstance(answer, Entry):
            differences += self._entry(expect, answer)
        return differences + self.look(expect)

    def _answer(self, expect: Expect, answer: Answer) -> Iterator[Difference]:
        if isinstance(answer, envelope_pb2.Rejection):
            got = _rejection(answer)
            if expect.rejected is None:
                yield Difference("accepted", "the command is accepted", f"rejected {show(got)}")
            else:
                yield from compare(expect.rejected, got, "rejected")
            return
        if expect.rejected is not None:
            yield Difference("rejected", show(expect.rejected), f"accepted as version {answer.version}")
        elif isinstance(answer, Entry) == expect.duplicate:
            yield Difference("duplicate", show(expect.duplicate), show(not expect.duplicate))

    def _entry(self, expect: Expect, entry: Entry) -> Iterator[Difference]:
        yield from self._feed(expect.own, list(entry.events), "")
        for viewer, feed in expect.feeds:
            yield from self._feed(feed, self._table.feed(viewer, entry), f"feeds.{viewer}.")
        for viewer, by_language in expect.says:
            yield from self._says(viewer, by_language, self._table.feed(viewer, entry))
        if expect.draws is not None:
            yield from compare(expect.draws, [plain(draw) for draw in entry.draws], "draws")

    def _says(
        self, viewer: Viewer, by_language: Mapping[str, list[str]], events: list[Message]
    ) -> Iterator[Difference]:
        """Sentences in this order, others between them or not."""
        own = [event for event in events if self._table.referee.schema.code(event) not in PLATFORM.events]
        for language, expected in by_language.items():
            got = [sentence for event in own if (sentence := self._texts.say_event(event, language, {}))]
            rest = iter(got)
            for number, sentence in enumerate(expected):
                if sentence not in rest:
                    yield Difference(f"says.{viewer}.{language}[{number}]", sentence, " ".join(got) or "nothing")
                    break

    def _feed(self, feed: FeedExpect, events: list[Message], path: str) -> Iterator[Difference]:
        code = self._table.referee.schema.code
        got = [(code(event), plain(event)) for event in events]
        game = [(type_, fields) for type_, fields in got if type_ not in PLATFORM.events]
        if feed.events is not None:
            yield from in_order(feed.events, got, f"{path}events")
        if feed.events_exactly is not None:
            yield from _exactly(feed.events_exactly, got, f"{path}events_exactly")
        if feed.game_events_exactly is not None:
            yield from _exactly(feed.game_events_exactly, game, f"{path}game_events_exactly")
        for unwanted, where in feed.no_events:
            for type_, fields in got:
                if type_ == unwanted and not compare(where, fields):
                    yield Difference(f"{path}no_events", f"no {type_} {show(where)}", f"{type_} {show(fields)}")

    # ---- the match as it is --------------------------------------------------------------------------------------

    def look(self, expect: Expect) -> list[Difference]:
        """Everything about the match itself."""
        return [difference for look in self._looks() for difference in look(expect)]

    def _looks(self) -> tuple[Callable[[Expect], Iterator[Difference]], ...]:
        return (
            self._views,
            self._prompts,
            self._legal,
            self._outcome,
            self._facts,
            self._digests,
            self._unseen,
            self._manifest,
            self._log,
            self._audit,
        )

    def whole_view(self) -> dict[str, Any]:
        """The view of everything; empty before the match has started."""
        return self._view(ALL)

    def _view(self, viewer: Viewer) -> dict[str, Any]:
        game = self._table.running.game
        return {} if game is None else plain(self._table.referee.game.view(game, viewer))

    def _views(self, expect: Expect) -> Iterator[Difference]:
        for viewer, expected in expect.view:
            yield from compare(expected, self._view(viewer), f"view.{viewer}")
        if expect.state is not None:
            yield from compare(expect.state, self.whole_view(), "state")

    def _prompts(self, expect: Expect) -> Iterator[Difference]:
        if expect.prompts is not None:
            state = self._table.running
            got = [_prompt(opened, state, self._table.now_ms) for opened in state.prompts]
            yield from compare(expect.prompts, got, "prompts")

    def _legal(self, expect: Expect) -> Iterator[Difference]:
        for seat, wanted in expect.legal:
            yield from self._legal_of(seat, wanted)

    def _legal_of(self, seat: int, wanted: LegalExpect) -> Iterator[Difference]:
        state, schema = self._table.running, self._table.referee.schema
        listed: list[Legal] = []
        for opened in state.prompts:
            if opened.prompt.seat == seat and state.game is not None:
                listed += self._table.referee.game.legal(state.game, Seat(seat), opened.prompt)
        shown = [(legal.type, dict(legal.fixed)) for legal in listed]
        path = f"legal.seat:{seat}"
        for type_, fields in wanted.includes:
            if not self._listed(listed, type_, fields):
                yield Difference(f"{path}.includes", f"{type_} {show(fields)}", show(shown))
        for type_, fields in wanted.excludes:
            if self._listed(listed, type_, fields):
                yield Difference(f"{path}.excludes", f"no {type_} {show(fields)}", show(shown))
        if wanted.exactly is not None:
            complete = [plain(schema.command(legal.type, legal.fixed)) for legal in listed]
            types = [legal.type for legal in listed]
            yield from _exactly(wanted.exactly, list(zip(types, complete, strict=True)), f"{path}.exactly")

    def _listed(self, listed: list[Legal], type_: str, fields: Mapping[str, Any]) -> bool:
        """Whether a command with these fields (others free) is listed, open slots included."""
        schema = self._table.referee.schema
        for legal in listed:
            if legal.type != type_:
                continue
            slots = {slot.field for slot in legal.slots}
            fixed = {name: value for name, value in fields.items() if name not in slots}
            if compare(fixed, plain(schema.command(type_, legal.fixed))):
                continue
            chosen = {name: value for name, value in fields.items() if name in slots}
            whole = schema.command(type_, legal.fixed)
            fill(whole, chosen, 0, type_)
            if len(chosen) < len(slots) or allows([legal], schema, whole) is not False:
                return True
        return False

    def _outcome(self, expect: Expect) -> Iterator[Difference]:
        if expect.outcome is None:
            return
        got = outcome_of(self._table)
        if expect.outcome == "none":
            if got is not None:
                yield Difference("outcome", "none: the match runs", show(got))
        elif got is None:
            yield Difference("outcome", show(expect.outcome), "none: the match runs")
        else:
            yield from compare(expect.outcome, got, "outcome")

    def _facts(self, expect: Expect) -> Iterator[Difference]:
        state = self._table.running
        if expect.status is not None:
            yield from compare(expect.status, state.phase.name.lower(), "status")
        if expect.revealed is not None:
            yield from compare(expect.revealed, state.revealed, "revealed")
        if expect.version is not None:
            yield from compare(expect.version, state.version, "version")
        if expect.time_ms is not None:
            yield from compare(expect.time_ms, state.time_ms - state.created_ms, "time_ms")

    def _digests(self, expect: Expect) -> Iterator[Difference]:
        if expect.digests is not None:
            yield from compare(expect.digests, digests_of(self._table), "digests")

    def _unseen(self, expect: Expect) -> Iterator[Difference]:
        for viewer, hidden in expect.unseen:
            game = self._table.running.game
            shown = set(self._invariants.seen(viewer))
            if game is not None:
                shown |= words(self._table.referee.game.view(game, viewer))
            for word in hidden:
                if word in shown:
                    yield Difference(f"unseen.{viewer}", f"{word} was never shown", "it was")

    def _manifest(self, expect: Expect) -> Iterator[Difference]:
        for language, expected in expect.manifest.items():
            yield from compare(expected, plain(self._texts.manifest(language)), f"manifest.{language}")

    def _log(self, expect: Expect) -> Iterator[Difference]:
        """Earlier entries as a viewer receives them now: whole, once the match is revealed."""
        entries, revealed = self._table.entries, self._table.running.revealed
        for index, wanted in enumerate(expect.log):
            if wanted.version > len(entries):
                yield Difference(f"log[{index}]", f"an entry {wanted.version}", f"{len(entries)} entries")
                continue
            entry = entries[wanted.version - 1]
            events = list(entry.events) if revealed else self._table.feed(wanted.viewer, entry)
            yield from self._feed(wanted.feed, events, f"log[{index}].")

    def _audit(self, expect: Expect) -> Iterator[Difference]:
        if expect.audit is None:
            return
        if not self._table.running.revealed:
            yield Difference("audit", "a log that can be audited", "a match that is not over")
            return
        report = audit(self._table, expect.audit.tamper)
        failed = [check.number for check in report.checks if check.status == audit_pb2.CHECK_STATUS_FAILED]
        details = "; ".join(f"{c.number} at entry {c.version}: {c.detail}" for c in report.checks if c.number in failed)
        if failed != list(expect.audit.failed):
            yield Difference("audit.failed", show(list(expect.audit.failed)), f"{show(failed)} {details}".strip())
        lie = first_lie(report)
        if expect.audit.version is not None:
            yield from compare(expect.audit.version, lie.version if lie else 0, "audit.version")


def _exactly(expected: Events, got: list[tuple[str, Any]], path: str) -> Iterator[Difference]:
    if [type_ for type_, _ in expected] != [type_ for type_, _ in got]:
        yield Difference(path, show([type_ for type_, _ in expected], 2000), show([type_ for type_, _ in got], 2000))
        return
    for index, ((type_, fields), (_, found)) in enumerate(zip(expected, got, strict=True)):
        yield from compare(fields, found, f"{path}[{index}].{type_}")


def _rejection(rejection: envelope_pb2.Rejection) -> dict[str, Any]:
    return {
        "code": rejection.code,
        "rule": rejection.rule,
        "field": rejection.field,
        "message": rejection.message,
        "arguments": {argument.name: argument.value for argument in rejection.arguments},
        "version": rejection.version,
    }


def _prompt(opened: OpenPrompt, state: MatchState[Any], now_ms: int) -> dict[str, Any]:
    prompt, limited = opened.prompt, bool(opened.limit_ms)
    return {
        "prompt_id": opened.prompt_id,
        "seat": prompt.seat,
        "kind": prompt.kind,
        "key": prompt.key,
        "required": prompt.required,
        "deadline_class": prompt.deadline_class,
        "limit_ms": opened.limit_ms,
        "deadline_ms": opened.deadline_ms - state.created_ms if limited else None,
        "left_ms": opened.deadline_ms - now_ms if limited else None,
        "extended_ms": opened.extended_ms,
    }


def outcome_of(table: Table) -> dict[str, Any] | None:
    """How the match ended, as scenario files say it; None while it runs."""
    state = table.running
    if state.phase is Phase.VOID:
        voided = next(e for e in table.entries[-1].events if isinstance(e, match_pb2.MatchVoided))
        by = enum_name(match_pb2.VoidedBy.DESCRIPTOR, voided.by)
        nobody: dict[str, Any] = {"winner": None, "winners": [], "ranks": []}
        return {"kind": "void", "reasons": [voided.reason], "by": by, "seats": list(voided.seats)} | nobody
    if state.outcome is None:
        return None
    outcome = state.outcome
    winners = list(outcome.winners)
    return {
        "kind": outcome.kind.name.lower(),
        "winner": winners[0] if len(winners) == 1 else None,
        "winners": winners,
        "ranks": list(outcome.ranks),
        "reasons": list(outcome.reasons),
        "by": None,
        "seats": [],
    }


def digests_of(table: Table) -> dict[str, Any]:
    """What is committed to and what follows from it, so far; None for what is not known yet."""
    state = table.running
    created = match_pb2.MatchCreated.FromString(state.created)
    started = [e for entry in table.entries for e in entry.events if isinstance(e, match_pb2.MatchStarted)]
    joint = state.joint
    return {
        "server_commitment": Hex(created.server_commitment.hex()),
        "seals": [Hex(seal.hex()) for seal in state.seals],
        "nonces": [Hex(nonce.hex()) for nonce in state.nonces],
        "joint_seed": Hex(joint.open().hex()) if joint else None,
        "salt": Hex(deal_salt(created.game, joint).hex()) if joint else None,
        "deal_digest": Hex(started[0].deal_digest.hex()) if started else None,
        "head": Hex(state.hash.hex()),
    }

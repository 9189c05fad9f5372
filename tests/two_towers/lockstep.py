"""Plays the game and its oracle side by side, and compares everything after every command."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness.secret import Secret
from grimoire.match import Entry
from grimoire.match.frames import prompts_for
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2, prompt_pb2
from tests.two_towers import oracle

__all__ = ["Lockstep", "odd_position", "plain"]

PLUGIN: Final = load_game("two_towers")
_DEFAULTS: Final = {
    "battlefield": "archmage_fortress",
    "deck_type": "standard",
    "turn_time_s": "60",
    "timeout_limit": "3",
    "first_player": "random",
}
_VIEWERS: Final = {0: Viewer.of_seat(0), 1: Viewer.of_seat(1), None: PUBLIC, "all": ALL}
_ABSENT: Final = (None, "", 0, [], {})


def plain(message: Message) -> dict[str, Any]:
    """A message as a dict without what is absent."""
    return {field.name: _plain(value) for field, value in message.ListFields()}


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return plain(value)
    if isinstance(value, str | bytes | int):
        return value
    return [_plain(item) for item in value]


def trimmed(value: Any) -> Any:
    """The oracle's dicts as `plain` would give them: what is 0, empty or None is left out."""
    if isinstance(value, Mapping):
        return {key: kept for key, inner in value.items() if (kept := trimmed(inner)) not in _ABSENT}
    if isinstance(value, list):
        return [trimmed(inner) for inner in value]
    return value


class Lockstep:
    """One match on both sides.

    Args:
        number: of the match; seeds, nonces and all choices follow from it.
        options: by name; the others take their defaults.
        styles: how each seat chooses: `random`, `heuristic`, `hoarding` (discards nearly always), `absent` (lets the
            clock run out), each name now and then makes room for a random choice.
        troubles: how often, in a hundred, something is tried that is refused, or the clock runs out.
        plan: a position to begin from, which names everything; None: a real deal.
    """

    def __init__(
        self,
        number: int,
        options: Mapping[str, str],
        styles: Sequence[str],
        troubles: tuple[int, int] = (10, 3),
        plan: Mapping[str, Any] | None = None,
    ) -> None:
        self._chance = random.Random(f"lockstep {number}")
        self._styles = styles
        self._junk, self._lateness = troubles
        self.counts: Counter[str] = Counter()
        nonces = [self._chance.randbytes(32) for _ in (0, 1)]
        seed = self._chance.randbytes(32)
        chosen = {**_DEFAULTS, **options}
        self._limit_ms = int(chosen["turn_time_s"]) * 1000
        match_id = f"lockstep-{number}"
        self.table = Table(
            PLUGIN.game,
            match_id=match_id,
            seats=2,
            options=options,
            mode=match_pb2.MATCH_MODE_ANALYSIS if plan else match_pb2.MATCH_MODE_CASUAL,
            position=PLUGIN.positions.parse(plan, options).SerializeToString() if plan else b"",
            seed=Secret(seed),
            nonces=nonces,
        )
        self.table.begin()
        joint = oracle.joint_seed(match_id, seed, nonces)
        begun = self.table.entries[-1]
        if plan:
            self.match = oracle.arranged(dict(plan), chosen, joint)
            self._compare_events(begun, [], before=4)
        else:
            self.match, events, digest = oracle.begin(match_id, chosen, joint)
            started = next(event for event in begun.events if isinstance(event, match_pb2.MatchStarted))
            assert started.deal_digest.hex() == digest
            self._compare_events(begun, events, before=3)
        self._arranged = plan is not None
        self._compare_screens()

    # ---- playing -------------------------------------------------------------------------------------------------

    def play_out(self, at_most: int = 4_000) -> None:
        """Plays to the end."""
        for _ in range(at_most):
            if self.match["result"]:
                self._try_after_the_end()
                return
            self.step()
        raise AssertionError("no end")

    def step(self) -> None:
        """One decision, and now and then something that is refused before it."""
        chance, seat = self._chance, self.match["active"]
        if chance.randrange(100) < self._junk:
            self._try_anything()
        style = self._styles[seat]
        if style == "absent" or chance.randrange(100) < self._lateness:
            self._expire()
            return
        self._compare_heuristic(seat)
        options = oracle.legal(self.match, seat)
        if style == "heuristic" and chance.random() < 0.95:
            kind, slot = oracle.heuristic(self.match, seat)
        elif style == "hoarding" and chance.random() < 0.97:
            kind, slot = "discard_card", chance.randrange(6)
        else:
            kind, slot, _ = chance.choice(options)
        self._answer(seat, kind, slot)

    def _answer(self, seat: int, kind: str, slot: int) -> None:
        decision = self.match["decision"]
        self.table.now_ms += self._chance.choice((0, 1, 700, self._limit_ms))
        answer = self.table.play(seat, self._command(kind, slot, self.match["seats"][seat]["hand"][slot]), decision)
        assert isinstance(answer, Entry), answer
        events = oracle.answer(self.match, seat, kind, slot)
        self.counts.update(event["type"] for event in events)
        self._compare_events(answer, events, closed=(decision, match_pb2.PROMPT_CAUSE_ANSWERED))
        self._compare_screens()

    def _expire(self) -> None:
        decision = self.match["decision"]
        answer = self.table.expire_next()
        assert isinstance(answer, Entry), answer
        events = oracle.expire(self.match)
        self.counts.update(event["type"] for event in events)
        self._compare_events(answer, events, closed=(decision, match_pb2.PROMPT_CAUSE_EXPIRED))
        self._compare_screens()

    def resign(self, seat: int) -> None:
        """A seat gives up."""
        decision = self.match["decision"]
        answer = self.table.play(seat, match_pb2.Resign())
        assert isinstance(answer, Entry), answer
        events = oracle.resign(self.match, seat)
        self._compare_events(answer, events, closed=(decision, match_pb2.PROMPT_CAUSE_MATCH_OVER))
        self._compare_screens()

    # ---- what is refused -----------------------------------------------------------------------------------------

    def _try_anything(self) -> None:
        """A command out of plausible and implausible values; only what the oracle refuses too is sent."""
        chance = self._chance
        seat = chance.choice((0, 1, self.match["active"], self.match["active"]))
        hand = self.match["seats"][seat]["hand"]
        kind = chance.choice(("play_card", "discard_card"))
        slot = chance.choice((0, 1, 2, 3, 4, 5, 6, -1, 2**31 - 1))
        card = chance.choice((hand[slot % 6], hand[slot % 6], hand[chance.randrange(6)], "dragon", "", "no_card"))
        decision = self.match["decision"] + chance.choice((0, 0, 0, 0, -1, 1))
        code = oracle.rejection(self.match, seat, kind, decision, slot, card)
        if not code:
            return
        before = self.table.running
        refused = self.table.play(seat, self._command(kind, slot, card), decision)
        assert not isinstance(refused, Entry), refused
        assert refused.code == code, (refused, code)
        assert self.table.running is before
        self.counts[code] += 1

    def _try_after_the_end(self) -> None:
        before = self.table.running
        for seat in (0, 1):
            refused = self.table.play(seat, self._command("discard_card", 0, "dragon"), self.match["decision"])
            assert refused.code == "match_over"
            assert self.table.play(seat, match_pb2.Resign()).code == "match_over"
        assert self.table.running is before

    def _command(self, kind: str, slot: int, card: str) -> Message:
        return PLUGIN.game.schema.command(kind, {"slot": slot, "card": card})

    # ---- comparing -----------------------------------------------------------------------------------------------

    def _compare_events(
        self,
        entry: Entry,
        events: list[dict[str, Any]],
        closed: tuple[int, int] | None = None,
        before: int = 0,
    ) -> None:
        """Every event of the entry, the platform's too, and every viewer's feed."""
        code = self.table.referee.schema.code
        expected = list(events)
        if closed:
            expected.append({"type": "prompt_closed", "prompt_id": closed[0], "cause": closed[1]})
        result = self.match["result"]
        if result is None:
            expected.append(
                {
                    "type": "prompt_opened",
                    "prompt_id": self.match["decision"],
                    "seat": self.match["active"],
                    "kind": self.match["phase"],
                    "deadline_class": "turn",
                    "limit_ms": self._limit_ms,
                    "required": True,
                }
            )
            tail: list[str] = []
        else:
            ranks = [1, 1] if result["winner"] is None else [1, 2] if result["winner"] == 0 else [2, 1]
            kind = match_pb2.OUTCOME_KIND_DRAW if result["winner"] is None else match_pb2.OUTCOME_KIND_WIN
            expected.append({"type": "match_closed", "kind": kind, "ranks": ranks, "reasons": result["reasons"]})
            tail = ["fairness_revealed"]
        got = [_with_type(code(event), event) for event in entry.events[before:]]
        if tail:
            assert [event["type"] for event in got[-1:]] == tail
            got = got[:-1]
        assert _same(got, expected)
        for viewer, eyes in _VIEWERS.items():
            feed = [_with_type(code(event), event) for event in self.table.feed(eyes, entry)][before:]
            shown = expected if viewer == "all" else oracle.redacted(expected, viewer)
            assert _same(feed[: len(shown)], shown), viewer

    def _compare_screens(self) -> None:
        """Views, prompts, legal commands, outcome."""
        state = self.table.running
        for viewer, eyes in _VIEWERS.items():
            view = PLUGIN.game.view(state.game, eyes)
            assert view.arranged is self._arranged
            assert _seen(view) == oracle.seen(self.match, viewer), viewer
        for viewer, eyes in _VIEWERS.items():
            prompts = prompts_for(self.table.referee, state, eyes)
            if self.match["result"]:
                assert prompts == []
                continue
            [prompt] = prompts
            assert (prompt.prompt_id, prompt.seat) == (self.match["decision"], self.match["active"])
            assert prompt.deadline_ms == state.time_ms + self._limit_ms
            offered = oracle.legal(self.match, viewer) if viewer in (0, 1) else []
            assert [_offer(entry) for entry in prompt.legal] == offered
            assert ["act_again" in entry.flags for entry in prompt.legal] == [
                kind == "play_card" and oracle.CARDS[card]["again"] for kind, _, card in offered
            ]
        winner = self.match["result"] and self.match["result"]["winner"]
        outcome = PLUGIN.game.outcome(state.game)
        assert (outcome is None) == (self.match["result"] is None)
        if outcome:
            assert outcome.winners == (() if winner is None else (winner,))
            assert list(outcome.reasons) == self.match["result"]["reasons"]

    def _compare_heuristic(self, seat: int) -> None:
        """The built-in player does what TT-13.1 says, and the worst card is TT-7.5's."""
        [prompt] = prompts_for(self.table.referee, self.table.running, _VIEWERS[seat])
        view = PLUGIN.game.view(self.table.running.game, _VIEWERS[seat])
        kind, command = PLUGIN.bot.suggest(view, prompt, "heuristic", random.Random(0), 0)
        assert (kind, command.slot) == oracle.heuristic(self.match, seat), self.match["seats"]


def odd_position(number: int, options: Mapping[str, str]) -> dict[str, Any]:
    """A position at the edges: bare producers, low or nearly finished towers, long turns, the last turns, no pile."""
    chance = random.Random(f"odd position {number}")
    chosen = {**_DEFAULTS, **options}
    goals = oracle.BATTLEFIELDS[chosen["battlefield"]]
    standard = chosen["deck_type"] == "standard"
    pack = chance.sample([*oracle.CARDS], 102)
    if not standard:  # pairs in both hands
        pack = [*pack[:3], *pack[:3], *pack[3:6], *pack[2:5]]
    if standard and chance.random() < 0.5:  # scouts and cards that act again come to the front
        pack.sort(key=lambda card: not oracle.CARDS[card]["again"])
        pack[:12] = chance.sample(pack[:12], 12)
    phase = "forced_discard" if chance.random() < 0.15 else "main"
    plan: dict[str, Any] = {
        "active": chance.randrange(2),
        "turn": chance.choice((1, 2, 77, 78, 500, 501, 990, 999, 1000)),
        "phase": phase,
        "plays_this_turn": chance.choice((0, 1, 97, 98, 99)) if phase == "main" else chance.choice((1, 99, 100)),
        "seats": [
            {
                "tower": chance.choice((1, 6, *(20,) * 6, goals["goal_tower"] - 1, goals["goal_tower"] - 4)),
                "wall": chance.choice((0, 1, 5, 10, 11, 40, 60)),
                **{name: chance.choice((0, 0, 1, 2, 7)) for name in ("mines", "monasteries", "barracks")},
                **{name: chance.choice((*(0, 1, 3, 8) * 4, goals["goal_resource"] - 2)) for name in oracle._MADE_BY},
                "timeouts": chance.randrange(int(chosen["timeout_limit"])),
                "hand": pack[6 * seat : 6 * seat + 6],
            }
            for seat in (0, 1)
        ],
    }
    if standard:
        cut = 12 + chance.choice((0, 1, 2, 5, 45, 89))
        plan |= {"pile": pack[12:cut], "discards": pack[cut:], "reshuffles": chance.randrange(4)}
    else:
        plan |= {"draws_made": chance.choice((12, 13, 99, 500))}
    return plan


def _with_type(code: str, event: Message) -> dict[str, Any]:
    return {"type": code, **plain(event)}


def _same(got: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    """Equal but for what the platform alone knows of a prompt (its key, and the time it cost)."""
    for event in got:
        if event["type"] in ("prompt_opened", "prompt_closed"):
            event.pop("key", None)
            event.pop("charged_ms", None)
    # A winner of 0 and an empty pile are there; a winner of None and a missing pile are not.
    assert [_told(event) for event in got] == [_told(event) for event in map(dict, expected)]
    return True


def _told(event: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = trimmed(event)
    for field in ("winner", "pile_count"):
        if event.get(field) is not None:
            told[field] = event[field]
    return told


def _offer(entry: prompt_pb2.LegalEntry) -> tuple[str, int, str]:
    command = PLUGIN.game.schema.commands[entry.type].FromString(entry.payload)
    return entry.type, command.slot, command.card


def _seen(view: Any) -> dict[str, Any]:
    """A view message in the oracle's words; what the hand's slots say beyond the card is checked here."""
    seats = []
    for number, side in enumerate(view.seats):
        assert side.seat == number
        numbers = {name: getattr(side.numbers, name) for name in oracle._NUMBERS}
        for slot, held in enumerate(side.hand):
            assert held.slot == slot
            if not held.card:
                assert plain(held).keys() <= {"slot"}, "an empty slot says nothing else"
                continue
            card = oracle.CARDS[held.card]
            short = max(0, card["cost"] - numbers[card["pays"]])
            assert (held.cost, held.resource, held.colour) == (card["cost"], card["pays"], card["colour"])
            assert (held.affordable, held.shortfall, held.act_again) == (short == 0, short, card["again"])
        seats.append(
            {
                "numbers": numbers,
                "hand_count": side.hand_count,
                "timeouts": side.timeouts,
                "hand": [held.card or None for held in side.hand] or None,
            }
        )
    result = None
    if view.HasField("result"):
        result = {
            "outcome": view.result.outcome,
            "winner": view.result.winner if view.result.HasField("winner") else None,
            "reasons": list(view.result.reasons),
            "ladder_step": view.result.ladder_step,
        }
    return {
        "seats": seats,
        "own_seat": view.own_seat if view.HasField("own_seat") else None,
        "battlefield": view.battlefield,
        "deck_type": view.deck_type,
        "goal_tower": view.goal_tower,
        "goal_resource": view.goal_resource,
        "first_seat": view.first_seat,
        "turn_limit": view.turn_limit,
        "play_limit": view.play_limit,
        "timeout_limit": view.timeout_limit,
        "turn_no": view.turn_no,
        "active_seat": view.active_seat,
        "phase": view.phase,
        "plays_this_turn": view.plays_this_turn,
        "pile_count": view.pile_count if view.HasField("pile_count") else None,
        "discards": list(view.discards),
        "reshuffles": view.reshuffles,
        "draws_made": view.draws_made,
        "pile": list(view.pile),
        "last_cards": [
            {"seat": shown.seat, "card": shown.card, "how": shown.how, "turn_no": shown.turn_no}
            for shown in view.last_cards
        ],
        "result": result,
    }

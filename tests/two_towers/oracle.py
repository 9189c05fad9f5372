"""Two Towers a second time: plain functions over plain dicts, written from the rules' sentences alone.

It shares nothing with the game service but the catalogue's facts (costs, names, texts, battlefields). What cards do is
read from their texts, not from their effect records; chance is made here from TT-9.4's own words. `lockstep.py` plays
it beside the real game and compares everything.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from tests.two_towers.card_texts import Deed, read_text

__all__ = [
    "BATTLEFIELDS",
    "CARDS",
    "answer",
    "arranged",
    "begin",
    "expire",
    "heuristic",
    "joint_seed",
    "legal",
    "redacted",
    "rejection",
    "resign",
    "score",
    "seen",
    "worst",
]

Match = dict[str, Any]
Event = dict[str, Any]

_DATA: Final = json.loads(
    (Path(__file__).parents[2] / "services" / "two_towers" / "data" / "two_towers.json").read_text("utf-8")
)
CARDS: Final[dict[str, dict[str, Any]]] = {
    card["id"]: {
        "no": card["no"],
        "id": card["id"],
        "cost": card["cost"],
        "pays": card["resource"],
        "colour": card["colour"],
        "deeds": read_text(card["text"]["en"], "en"),
    }
    for card in _DATA["cards"]
}
for _card in CARDS.values():
    _card["again"] = ("play_again",) in _card["deeds"]
    _card["scouts"] = ("draw_and_discard",) in _card["deeds"]
BATTLEFIELDS: Final[dict[str, dict[str, Any]]] = {field["id"]: field for field in _DATA["battlefields"]}
_ORDER: Final = sorted(CARDS, key=lambda card: CARDS[card]["no"])
_NUMBERS: Final = ("tower", "wall", "mines", "monasteries", "barracks", "ore", "mana", "recruits")
_MADE_BY: Final = {"ore": "mines", "mana": "monasteries", "recruits": "barracks"}


# ---- chance (TT-9.1 to TT-9.5) ---------------------------------------------------------------------------------------


def _lines(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode("ascii")


def joint_seed(match_id: str, server_seed: bytes, nonces: list[bytes]) -> bytes:
    """J (TT-9.3)."""
    parts = ("grimoire/two_towers/joint/1", match_id, server_seed.hex(), nonces[0].hex(), nonces[1].hex())
    return hashlib.sha256(_lines(*parts)).digest()


class _Stream:
    """The words of one label."""

    def __init__(self, joint: bytes, label: str) -> None:
        self._joint, self._label, self._blocks, self._words = joint, label, 0, []

    def below(self, n: int) -> int:
        while True:
            if not self._words:
                text = _lines("grimoire/two_towers/stream/1", self._label, str(self._blocks))
                block = hmac.new(self._joint, text, hashlib.sha256).digest()
                self._words = [int.from_bytes(block[at : at + 8], "big") for at in (0, 8, 16, 24)]
                self._blocks += 1
            word = self._words.pop(0)
            if word < (2**64 // n) * n:
                return word % n


def _shuffled(joint: bytes, label: str, cards: list[str]) -> list[str]:
    stream, cards = _Stream(joint, label), list(cards)
    for i in range(len(cards) - 1, 0, -1):
        j = stream.below(i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


def _drawn_endless(match: Match, hand: list[str | None]) -> str:
    """TT-8.3."""
    match["draws"] += 1
    stream = _Stream(match["joint"], f"draw/{match['draws']}")
    while True:
        card = _ORDER[stream.below(102)]
        if sum(held == card for held in hand) < 2:
            return card


# ---- set-up (TT-3) ---------------------------------------------------------------------------------------------------


def begin(match_id: str, options: dict[str, str], joint: bytes) -> tuple[Match, list[Event], str]:
    """The match at its first decision, the events that led there, and the deal digest."""
    field = BATTLEFIELDS[options["battlefield"]]
    figures = {"tower": field["tower"], "wall": field["wall"], **field["producers"], **field["stock"]}
    standard = options["deck_type"] == "standard"
    first = {"seat_0": 0, "seat_1": 1}.get(options["first_player"])
    if first is None:
        first = _Stream(joint, "first_seat").below(2)
    match: Match = {
        "joint": joint,
        "standard": standard,
        "options": options,
        "goal_tower": field["goal_tower"],
        "goal_resource": field["goal_resource"],
        "limit": int(options["timeout_limit"]),
        "seats": [{**figures, "hand": [None] * 6, "timeouts": 0} for _ in (0, 1)],
        "first": first,
        "turn": 0,
        "active": first,
        "phase": "main",
        "plays": 0,
        "pile": _shuffled(joint, "deck", _ORDER) if standard else [],
        "discards": [],
        "reshuffles": 0,
        "draws": 0,
        "decision": 1,
        "result": None,
        "left_hand": [],
    }
    order = []
    for slot in range(6):
        for seat in (first, 1 - first):
            hand = match["seats"][seat]["hand"]
            hand[slot] = match["pile"].pop(0) if standard else _drawn_endless(match, hand)
            order.append(hand[slot])
    events: list[Event] = [
        {
            "type": "battle_begun",
            "first_seat": first,
            "deck_type": options["deck_type"],
            "battlefield": field["id"],
            "numbers": [dict(figures), dict(figures)],
            "goal_tower": field["goal_tower"],
            "goal_resource": field["goal_resource"],
            "pile_count": 90 if standard else None,
            "timeout_limit": match["limit"],
        }
    ]
    if standard:
        events.append({"type": "pile_ordered", "cards": list(match["pile"])})
    hands = [list(side["hand"]) for side in match["seats"]]
    events += [{"type": "hand_dealt", "seat": seat, "cards": hands[seat]} for seat in (first, 1 - first)]
    salt = hmac.new(joint, _lines("grimoire/two_towers/salt/1"), hashlib.sha256).hexdigest()
    whole = ",".join([*order, *match["pile"]])
    digest = _lines("grimoire/two_towers/deal/1", match_id, salt, options["deck_type"], str(first), whole)
    _begin_turn(match, events, first)
    return match, events, hashlib.sha256(digest).hexdigest()


def arranged(plan: dict[str, Any], options: dict[str, str], joint: bytes) -> Match:
    """A match that goes on from a position that names everything, at an open decision."""
    field = BATTLEFIELDS[options["battlefield"]]
    return {
        "joint": joint,
        "standard": options["deck_type"] == "standard",
        "options": options,
        "goal_tower": field["goal_tower"],
        "goal_resource": field["goal_resource"],
        "limit": int(options["timeout_limit"]),
        "seats": [{**side, "hand": [*side["hand"]]} for side in plan["seats"]],
        "first": plan["active"] if plan["turn"] % 2 else 1 - plan["active"],
        "turn": plan["turn"],
        "active": plan["active"],
        "phase": plan["phase"],
        "plays": plan["plays_this_turn"],
        "pile": [*plan.get("pile", [])],
        "discards": [*plan.get("discards", [])],
        "reshuffles": plan.get("reshuffles", 0),
        "draws": plan.get("draws_made", 0),
        "decision": 1,
        "result": None,
        "left_hand": [],
    }


# ---- the turn (TT-4) -------------------------------------------------------------------------------------------------


def _begin_turn(match: Match, events: list[Event], seat: int) -> None:
    match["turn"] += 1
    match["active"], match["phase"], match["plays"] = seat, "main", 0
    side = match["seats"][seat]
    produced = {stock: side[producer] for stock, producer in _MADE_BY.items()}
    for stock, amount in produced.items():
        side[stock] += amount
    stocks = {stock: side[stock] for stock in _MADE_BY}
    events.append(
        {"type": "turn_started", "turn_no": match["turn"], "seat": seat, "produced": produced, "stocks_after": stocks}
    )
    _judge(match, events)


def _end_turn(match: Match, events: list[Event]) -> None:
    events.append({"type": "turn_ended", "turn_no": match["turn"], "seat": match["active"]})
    if match["turn"] == 1000:
        winner, step = _ladder(match)
        _end(match, events, winner, ["turn_limit"], step)
    else:
        _begin_turn(match, events, 1 - match["active"])


def _largest(side: dict[str, Any]) -> int:
    return max(side["ore"], side["mana"], side["recruits"])


def _met(match: Match, seat: int) -> list[str]:
    own, enemy = match["seats"][seat], match["seats"][1 - seat]
    met = []
    if own["tower"] >= match["goal_tower"]:
        met.append("tower_built")
    if enemy["tower"] == 0:
        met.append("tower_destroyed")
    if _largest(own) >= match["goal_resource"]:
        met.append("resource")
    return met


def _ladder(match: Match) -> tuple[int | None, str]:
    zero, one = match["seats"]
    for step, a, b in (
        ("tower", zero["tower"], one["tower"]),
        ("wall", zero["wall"], one["wall"]),
        ("stock", _largest(zero), _largest(one)),
    ):
        if a != b:
            return int(b > a), step
    return None, ""


def _judge(match: Match, events: list[Event]) -> None:
    met = [_met(match, 0), _met(match, 1)]
    if met[0] and met[1]:
        winner, step = _ladder(match)
        named = met[0] + met[1] if winner is None else met[winner]
        reasons = [r for r in ("tower_built", "tower_destroyed", "resource") if r in named]
        _end(match, events, winner, reasons, step)
    elif met[0] or met[1]:
        winner = 0 if met[0] else 1
        _end(match, events, winner, met[winner], "")


def _end(match: Match, events: list[Event], winner: int | None, reasons: list[str], step: str) -> None:
    outcome = "draw" if winner is None else "win"
    match["result"] = {"outcome": outcome, "winner": winner, "reasons": reasons, "ladder_step": step}
    match["phase"] = "over"
    numbers = [{name: side[name] for name in _NUMBERS} for side in match["seats"]]
    events.append({"type": "match_ended", **match["result"], "numbers": numbers})


def _leave_hand(match: Match, seat: int, slot: int, how: str) -> str:
    hand = match["seats"][seat]["hand"]
    card: str = hand[slot]
    hand[slot] = None
    if match["standard"]:
        match["discards"].append(card)
    match["left_hand"].append({"seat": seat, "card": card, "how": how, "turn_no": match["turn"]})
    return card


def _draw(match: Match, events: list[Event], seat: int, slot: int, cause: str) -> None:
    hand = match["seats"][seat]["hand"]
    if match["standard"]:
        if not match["pile"]:
            match["reshuffles"] += 1
            cards = sorted(match["discards"], key=_ORDER.index)
            match["pile"] = _shuffled(match["joint"], f"reshuffle/{match['reshuffles']}", cards)
            match["discards"] = []
            events.append(
                {
                    "type": "pile_reshuffled",
                    "n": match["reshuffles"],
                    "count": len(match["pile"]),
                    "cards": list(match["pile"]),
                }
            )
        hand[slot] = match["pile"].pop(0)
    else:
        hand[slot] = _drawn_endless(match, hand)
    events.append(
        {
            "type": "card_drawn",
            "seat": seat,
            "slot": slot,
            "cause": cause,
            "pile_count": len(match["pile"]) if match["standard"] else None,
            "draw_no": match["draws"],
            "card": hand[slot],
        }
    )


def _refill(match: Match, events: list[Event], seat: int) -> None:
    for slot in range(6):
        if match["seats"][seat]["hand"][slot] is None:
            _draw(match, events, seat, slot, "refill")


# ---- what cards do (TT-2.7) ------------------------------------------------------------------------------------------


def _do(deeds: list[Deed], sides: list[dict[str, Any]], changes: list[Event]) -> None:
    """The deeds for the acting side (the first) and the enemy; writes down every change as (0 own or 1 enemy, ...)."""

    def add(who: int, field: str, amount: int) -> None:
        before = sides[who][field]
        after = max(0, before + amount)
        sides[who][field] = after
        if after != before:
            changes.append({"seat": who, "field": field, "delta": after - before, "value": after})

    def hurt(who: int, amount: int) -> None:
        stopped = min(sides[who]["wall"], amount)
        add(who, "wall", -stopped)
        add(who, "tower", -(amount - stopped))

    for verb, *rest in deeds:
        if verb in ("gain", "lose"):
            whose, field, n = rest
            for who in _whom(whose):
                add(who, field, n if verb == "gain" else -n)
        elif verb == "damage":
            for who in _whom(rest[0]):
                hurt(who, rest[1])
        elif verb in ("tower_damage", "wall_damage"):
            for who in _whom(rest[0]):
                add(who, verb.removesuffix("_damage"), -rest[1])
        elif verb == "rise_to_enemy":
            add(0, rest[0], max(0, sides[1][rest[0]] - sides[0][rest[0]]))
        elif verb == "rise_to_larger":
            larger = max(sides[0][rest[0]], sides[1][rest[0]])
            for who in (0, 1):
                add(who, rest[0], larger - sides[who][rest[0]])
        elif verb == "swap_walls":
            own, enemy = sides[0]["wall"], sides[1]["wall"]
            add(0, "wall", enemy - own)
            add(1, "wall", own - enemy)
        elif verb == "steal_half_up":
            lost = min(rest[1], sides[1][rest[0]])
            add(1, rest[0], -lost)
            add(0, rest[0], lost // 2 + lost % 2)
        elif verb == "lower_wall_loses":
            walls = sides[0]["wall"], sides[1]["wall"]
            if walls[0] != walls[1]:
                lower = walls.index(min(walls))
                add(lower, rest[0], -rest[1])
                add(lower, rest[2], -rest[3])
        elif verb == "if":
            _do(rest[1] if _holds(rest[0], sides) else rest[2], sides, changes)
        else:
            assert verb in ("draw_and_discard", "play_again"), verb


def _whom(whose: str) -> tuple[int, ...]:
    return {"self": (0,), "enemy": (1,), "both": (0, 1)}[whose]


def _holds(condition: Deed, sides: list[dict[str, Any]]) -> bool:
    owner, field, comparison, *right = condition
    left = sides[["self", "enemy"].index(owner)][field]
    other = right[0] if len(right) == 1 else sides[["self", "enemy"].index(right[0])][right[1]]
    return {"<": left < other, ">": left > other, "==": left == other}[comparison]


# ---- commands (TT-5, TT-7) -------------------------------------------------------------------------------------------


def rejection(match: Match, seat: int, kind: str, decision: int, slot: int, card: str) -> str:
    """The first reason in TT-5.2's order why this command is refused; empty: none."""
    hand = match["seats"][seat]["hand"]
    if match["result"]:
        return "match_over"
    if decision != match["decision"]:
        return "stale_prompt"
    if seat != match["active"]:
        return "not_your_prompt"
    if kind == "play_card" and match["phase"] == "forced_discard":
        return "must_discard"
    if not 0 <= slot <= 5:
        return "bad_slot"
    if hand[slot] is None:
        return "empty_slot"
    if hand[slot] != card:
        return "card_mismatch"
    if kind == "play_card" and match["seats"][seat][CARDS[card]["pays"]] < CARDS[card]["cost"]:
        return "cannot_afford"
    return ""


def answer(match: Match, seat: int, kind: str, slot: int) -> list[Event]:
    """A `play_card` or `discard_card` that is not refused; changes the match and returns its events."""
    events: list[Event] = []
    match["decision"] += 1
    match["seats"][seat]["timeouts"] = 0
    if kind == "play_card":
        _play(match, events, seat, slot)
    else:
        forced = match["phase"] == "forced_discard"
        cause = "forced" if forced else "chosen"
        card = _leave_hand(match, seat, slot, cause)
        events.append({"type": "card_discarded", "seat": seat, "slot": slot, "card": card, "cause": cause})
        _refill(match, events, seat)
        match["phase"] = "main"
        if not forced or match["plays"] >= 100:
            _end_turn(match, events)
    return events


def _play(match: Match, events: list[Event], seat: int, slot: int) -> None:
    side = match["seats"][seat]
    card = CARDS[side["hand"][slot]]
    side[card["pays"]] -= card["cost"]
    _leave_hand(match, seat, slot, "played")
    match["plays"] += 1
    events.append(
        {
            "type": "card_played",
            "seat": seat,
            "slot": slot,
            "card": card["id"],
            "cost": card["cost"],
            "resource": card["pays"],
            "stock_after": side[card["pays"]],
        }
    )
    changes: list[Event] = []
    _do(card["deeds"], [side, match["seats"][1 - seat]], changes)
    if changes:
        for change in changes:
            change["seat"] = (seat, 1 - seat)[change["seat"]]
        events.append({"type": "effects_applied", "seat": seat, "card": card["id"], "changes": changes})
    _judge(match, events)
    if match["result"]:
        return
    if card["scouts"]:
        _draw(match, events, seat, slot, "effect")
        match["phase"] = "forced_discard"
        return
    _refill(match, events, seat)
    if not card["again"] or match["plays"] >= 100:
        _end_turn(match, events)


def expire(match: Match) -> list[Event]:
    """The clock of the open decision runs out (TT-7)."""
    events: list[Event] = []
    seat = match["active"]
    side = match["seats"][seat]
    side["timeouts"] += 1
    match["decision"] += 1
    events.append({"type": "turn_timed_out", "seat": seat, "turn_no": match["turn"], "consecutive": side["timeouts"]})
    if side["timeouts"] == match["limit"]:
        _end(match, events, 1 - seat, ["timeouts"], "")
        return events
    slot = worst(side)
    card = _leave_hand(match, seat, slot, "timeout")
    events.append({"type": "card_discarded", "seat": seat, "slot": slot, "card": card, "cause": "timeout"})
    _refill(match, events, seat)
    _end_turn(match, events)
    return events


def resign(match: Match, seat: int) -> list[Event]:
    """TT-5.4."""
    events: list[Event] = []
    _end(match, events, 1 - seat, ["resigned"], "")
    return events


def legal(match: Match, seat: int) -> list[tuple[str, int, str]]:
    """Everything the seat may answer to the open decision: plays by slot, then discards by slot."""
    if match["result"] or seat != match["active"]:
        return []
    hand = match["seats"][seat]["hand"]
    return [
        (kind, slot, hand[slot])
        for kind in ("play_card", "discard_card")
        for slot in range(6)
        if not rejection(match, seat, kind, match["decision"], slot, hand[slot])
    ]


def worst(side: dict[str, Any]) -> int:
    """The slot of the worst card (TT-7.5), key after key."""
    slots = [slot for slot in range(6) if side["hand"][slot]]

    def keep(key: Any, pick: Any) -> None:
        wanted = pick(key(slot) for slot in slots)
        slots[:] = [slot for slot in slots if key(slot) == wanted]

    def card(slot: int) -> dict[str, Any]:
        return CARDS[side["hand"][slot]]

    keep(lambda slot: max(0, card(slot)["cost"] - side[card(slot)["pays"]]), max)
    keep(lambda slot: card(slot)["again"], min)
    keep(lambda slot: card(slot)["cost"], min)
    keep(lambda slot: card(slot)["no"], min)
    return slots[0]


# ---- what is seen (TT-6) ---------------------------------------------------------------------------------------------

_OWNERS_ONLY: Final = {"hand_dealt": "cards", "card_drawn": "card"}
_NOBODYS: Final = {"pile_ordered": "cards", "pile_reshuffled": "cards"}


def redacted(events: list[Event], viewer: int | None) -> list[Event]:
    """The events as a seat, or (None) a spectator, sees them before the end."""
    shown = []
    for event in events:
        event = dict(event)
        if event["type"] in _NOBODYS or event.get("seat") != viewer or viewer is None:
            event.pop(_NOBODYS.get(event["type"]) or _OWNERS_ONLY.get(event["type"], ""), None)
        shown.append(event)
    return shown


def seen(match: Match, viewer: int | str | None) -> dict[str, Any]:
    """What a seat, a spectator (None) or the all-seeing (`"all"`) may know now."""
    seats = []
    for number, side in enumerate(match["seats"]):
        shown = {
            "numbers": {name: side[name] for name in _NUMBERS},
            "hand_count": 6 - side["hand"].count(None),
            "timeouts": side["timeouts"],
            "hand": list(side["hand"]) if viewer in (number, "all") else None,
        }
        seats.append(shown)
    last = [shown for shown in match["left_hand"] if shown["turn_no"] >= match["turn"] - 1]
    return {
        "seats": seats,
        "own_seat": viewer if viewer in (0, 1) else None,
        "battlefield": match["options"]["battlefield"],
        "deck_type": match["options"]["deck_type"],
        "goal_tower": match["goal_tower"],
        "goal_resource": match["goal_resource"],
        "first_seat": match["first"],
        "turn_limit": 1000,
        "play_limit": 100,
        "timeout_limit": match["limit"],
        "turn_no": match["turn"],
        "active_seat": match["active"],
        "phase": match["phase"],
        "plays_this_turn": match["plays"],
        "pile_count": len(match["pile"]) if match["standard"] else None,
        "discards": list(match["discards"]),
        "reshuffles": match["reshuffles"],
        "draws_made": match["draws"],
        "pile": list(match["pile"]) if viewer == "all" else [],
        "last_cards": last,
        "result": match["result"],
    }


# ---- the built-in heuristic player (TT-13.1), in exact fractions -----------------------------------------------------


def heuristic(match: Match, seat: int) -> tuple[str, int]:
    """What the heuristic player does."""
    side, enemy = match["seats"][seat], match["seats"][1 - seat]
    if match["phase"] == "forced_discard":
        return "discard_card", worst(side)
    plays = []
    for slot in range(6):
        card = CARDS[side["hand"][slot]]
        if side[card["pays"]] >= card["cost"]:
            plays.append((_score_after(match, card, side, enemy), -slot))
    if plays:
        value, slot = max(plays)
        if value >= score(match, side, enemy) - 1:
            return "play_card", -slot
    return "discard_card", worst(side)


def _score_after(match: Match, card: dict[str, Any], side: dict[str, Any], enemy: dict[str, Any]) -> Fraction:
    after = [dict(side), dict(enemy)]
    after[0][card["pays"]] -= card["cost"]
    _do(card["deeds"], after, [])
    value = score(match, after[0], after[1])
    trial = {**match, "seats": after}
    met = _met(trial, 0), _met(trial, 1)
    winner = _ladder(trial)[0] if met[0] and met[1] else 0 if met[0] else 1 if met[1] else None
    if winner is not None:
        value += 1_000_000 if winner == 0 else -1_000_000
    return value + 3 if card["again"] else value


def score(match: Match, own: dict[str, Any], enemy: dict[str, Any]) -> Fraction:
    """How good a position is for its owner; of the match only the goals count."""
    return _worth(match, own) - _worth(match, enemy)


def _worth(match: Match, side: dict[str, Any]) -> Fraction:
    worth = Fraction(side["tower"]) + Fraction(min(side["wall"], 40), 2)
    for producer in _MADE_BY.values():
        worth += 4 * min(side[producer], 6) + 2 * max(side[producer] - 6, 0)
    for stock in _MADE_BY:
        worth += Fraction(12, 100) * min(side[stock], 60)
    worth += 30 * Fraction(side["tower"], match["goal_tower"]) ** 2
    worth += 30 * Fraction(_largest(side), match["goal_resource"]) ** 2
    return worth - Fraction(180, 1 + side["tower"])

"""Reads a scenario's document: every mistake is named with its line and what is allowed."""

from __future__ import annotations

import re
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import Schema
from grimoire.match.scenario.document import Items, Keys, ScenarioError
from grimoire.match.scenario.expectations import Expectations
from grimoire.match.scenario.reader import Reader, bytes_at
from grimoire.match.scenario.spec import At, Command, Expect, Scenario, Step, Who

__all__ = ["MAX_STEPS", "read_scenario"]

MAX_STEPS: Final = 10_000

_RULE: Final = re.compile(r"^[A-Z]{2,4}-\d+(\.\d+)?[a-z]?$")
_AT: Final = re.compile(r"^(?:(?P<kind>deadline|created)?(?:(?P<sign>[+-])(?P<ms>\d+))?)$")
_MATCH_ID: Final = re.compile(r"^[a-zA-Z0-9_/.-]{1,64}$")
_MODES: Final = ("rated", "casual", "analysis")
_KEYS: Final = (
    "game",
    "name",
    "rules",
    "note",
    "options",
    "mode",
    "seats",
    "match_id",
    "seeds",
    "game_no",
    "handshake_s",
    "handshake",
    "position",
    "draws",
    "create",
    "start",
    "steps",
)


def read_scenario(
    document: Keys, schema: Schema, view: type[Message], seats: int, languages: tuple[str, ...]
) -> Scenario:
    """Reads one document.

    Args:
        document: as loaded.
        schema: of the game and the platform, for the names of commands, events and fields.
        view: the game's view message, for the names of its fields.
        seats: how many seats a match has unless the file says so.
        languages: the game's, for texts.

    Raises:
        ScenarioError: for the first mistake in the file.
    """
    top = Reader(document, "a scenario", _KEYS)
    expects = Expectations(schema, view, languages)
    seats = top.number("seats", seats, 1, 8)
    seeds = Reader(top.mapping("seeds"), "`seeds`", ("server_seed", "nonces"))
    position = top.mapping("position") if "position" in document else None
    draws = _draws(top)
    analysis = position is not None or bool(draws)
    mode = top.one_of("mode", _MODES, "analysis" if analysis else "casual")
    if analysis and mode != "analysis":
        raise top.fault("mode", "must be analysis where a position or draws are set by hand")
    steps: list[Step] = []
    _read_steps(top.items("steps"), expects, steps, "", "")
    return Scenario(
        line=document.line,
        game=top.text("game"),
        name=top.text("name"),
        rules=_rules(top),
        options=_options(top.mapping("options")),
        mode=mode,
        seats=seats,
        match_id=_match_id(top, "match_id", "scenario"),
        server_seed=_sized(seeds, "server_seed"),
        nonces=_nonces(seeds, seats),
        game_no=top.number("game_no", 0, 0, 1_000_000),
        handshake_s=top.number("handshake_s", 0, 0, 1_000_000),
        by_steps=top.one_of("handshake", ("automatic", "steps"), "automatic") == "steps",
        position=position,
        position_line=top.line("position"),
        draws=draws,
        draws_line=top.line("draws"),
        create=_entry_expect(top, "create", expects),
        start=_entry_expect(top, "start", expects),
        steps=tuple(steps),
    )


def _rules(top: Reader) -> tuple[str, ...]:
    rules = top.items("rules")
    if not rules:
        raise top.fault("rules", "names at least one rule this scenario tests, e.g. [TT-4.6]")
    for rule, line in zip(rules, rules.lines, strict=True):
        if not isinstance(rule, str) or not _RULE.match(rule):
            raise ScenarioError(line, f"{rule!r} is no rule number; write e.g. TT-4.6")
    return tuple(rules)


def _options(options: Keys) -> dict[str, str]:
    texts = {}
    for name, value in options.items():
        if isinstance(value, bool):
            value = "true" if value else "false"
        if not isinstance(value, str | int):
            raise ScenarioError(options.lines[name], f"option `{name}` is a text or a number, not {value!r}")
        texts[str(name)] = str(value)
    return texts


def _match_id(reader: Reader, key: str, default: str) -> str:
    match_id = reader.text(key, default)
    if match_id and not _MATCH_ID.match(match_id):
        raise reader.fault(key, "has 1 to 64 of a-z A-Z 0-9 _ / . -")
    return match_id


def _sized(seeds: Reader, key: str) -> bytes | None:
    value = seeds.bytes_of(key)
    if value is not None and len(value) != 32:
        raise seeds.fault(key, f"has 32 bytes, not {len(value)}")
    return value


def _nonces(seeds: Reader, seats: int) -> tuple[bytes, ...]:
    listed = seeds.items("nonces")
    if not listed:
        return ()
    nonces = tuple(bytes_at(value, line) for value, line in zip(listed, listed.lines, strict=True))
    if len(nonces) != seats or any(len(nonce) != 32 for nonce in nonces):
        raise seeds.fault("nonces", f"are {seats} values of 32 bytes, one for each seat")
    return nonces


def _draws(top: Reader) -> dict[str, list[int | str]]:
    draws: dict[str, list[int | str]] = {}
    for label, results in top.mapping("draws").items():
        line = top.mapping("draws").lines[label]
        listed = results if isinstance(results, Items) else [results]
        if not all(isinstance(r, int | str) and not isinstance(r, bool) for r in listed):
            raise ScenarioError(line, f"the results of `{label}` are numbers or names")
        draws[str(label)] = list(listed)
    return draws


def _entry_expect(top: Reader, key: str, expects: Expectations) -> Expect:
    block = Reader(top.mapping(key), f"`{key}`", ("expect",))
    return expects.read(block.mapping("expect"), f"`{key}`")


# ---- steps -----------------------------------------------------------------------------------------------------------

_STEP_KEYS: Final = (
    "seat",
    "clock",
    "host",
    "command",
    "bot",
    "at",
    "down_ms",
    "id",
    "sender",
    "match",
    "expect",
    "note",
)
_NEEDS_SENDER: Final = ("command", "bot", "id", "sender", "match")


def _read_steps(items: Items, expects: Expectations, steps: list[Step], prefix: str, suffix: str) -> None:
    for number, (item, line) in enumerate(zip(items, items.lines, strict=True), 1):
        if not isinstance(item, Keys):
            raise ScenarioError(line, "a step is a mapping, e.g. {seat: 0, command: resign}")
        label = f"{prefix}{number}"
        if "repeat" in item:
            group = Reader(item, "a repeated group", ("repeat", "steps", "note"))
            for turn in range(1, group.number("repeat", 1, 1, MAX_STEPS) + 1):
                _read_steps(group.items("steps"), expects, steps, f"{label}.", f" (round {turn})")
        else:
            steps.append(_read_step(item, expects, label + suffix))
        if len(steps) > MAX_STEPS:
            raise ScenarioError(line, f"a scenario has at most {MAX_STEPS} steps")


def _read_step(keys: Keys, expects: Expectations, label: str) -> Step:
    step = Reader(keys, "a step", _STEP_KEYS)
    actors = [key for key in ("seat", "clock", "host") if key in keys]
    if len(actors) > 1:
        raise ScenarioError(keys.line, f"one acts in a step, not {' and '.join(actors)}")
    who = Who(actors[0]) if actors else Who.NOBODY
    if who is Who.NOBODY:
        for key in _NEEDS_SENDER:
            if key in keys:
                raise step.fault(key, "needs somebody who sends it: seat, clock or host")
    if "bot" in keys and (who is not Who.SEAT or {"command", "id", "sender", "match"} & keys.keys()):
        raise step.fault("bot", "chooses for a seat, instead of a command, and sends honestly")
    command_id = keys.get("id")
    if isinstance(command_id, Keys):
        command_id = Reader(command_id, "`id`", ("bytes",)).bytes_of("bytes")
    elif command_id is not None:
        command_id = step.text("id")
    seat = keys.get("seat")
    if who is Who.SEAT and seat != "none" and (isinstance(seat, bool) or not isinstance(seat, int) or seat < 0):
        raise step.fault("seat", f"is a number from 0, or none, not {seat!r}")
    return Step(
        label=label,
        line=keys.line,
        who=who,
        seat=seat if who is Who.SEAT and seat != "none" else None,
        command=None if "bot" in keys else _read_command(step, who, expects.schema),
        bot=step.text("bot", ""),
        at=_read_at(step),
        sender=step.text("sender", ""),
        match_id=_match_id(step, "match", ""),
        command_id=command_id,
        down_ms=step.number("down_ms", 0, 0, 10**12),
        expect=expects.read(step.mapping("expect"), f"step {label}"),
    )


def _read_command(step: Reader, who: Who, schema: Schema) -> Command | None:
    if who is Who.NOBODY:
        return None
    keys, line = step.keys, step.line("command")
    written = keys.get("command")
    if who is not Who.SEAT:
        allowed = ("expire",) if who is Who.CLOCK else ("void", "create_match")
        type_ = step.one_of(who.value, allowed, "")
        line = step.line(who.value)
    elif isinstance(written, str):
        type_ = written
    elif isinstance(written, Keys) and isinstance(written.get("type"), str):
        type_ = written["type"]
    else:
        raise step.fault("command", "is the type of a command, or a mapping with `type` and its fields")
    fields = Keys(line)
    prompt: Any = "current"
    payload = None
    if isinstance(written, Keys):
        for key, value in written.items():
            if key == "prompt":
                prompt = _read_prompt(value, written.lines[key])
            elif key == "payload":
                payload = bytes_at(value, written.lines[key])
            elif key != "type":
                fields[key] = value
                fields.lines[key] = written.lines[key]
    if payload is not None and fields:
        raise step.fault("command", "has either `payload` (raw bytes) or fields, not both")
    cls = schema.commands.get(type_)
    for name in fields:
        if cls is None:
            known = ", ".join(sorted(schema.commands))
            raise ScenarioError(line, f"there is no command {type_!r}, so it has no fields; there are {known}")
        extra = ("of",) if type_ == "seal_nonce" else ()
        if name not in cls.DESCRIPTOR.fields_by_name and name not in extra:
            fields_known = ", ".join((*cls.DESCRIPTOR.fields_by_name, *extra)) or "none"
            raise ScenarioError(fields.lines[name], f"{type_} has no field {name!r}; its fields: {fields_known}")
    return Command(type_, fields, prompt, payload, line)


def _read_prompt(value: Any, line: int) -> Any:
    if isinstance(value, Keys):
        Reader(value, "`prompt`", ("kind", "seat"))
        return value
    if value in ("current", "previous", "handshake", "none") or (
        isinstance(value, int) and not isinstance(value, bool) and value >= 0
    ):
        return value
    raise ScenarioError(line, "`prompt` is current, previous, handshake, none, a number, or {kind: …, seat: …}")


def _read_at(step: Reader) -> At:
    if "at" not in step.keys:
        return At()
    value = step.keys["at"]
    match = _AT.match(value) if isinstance(value, str) and value else None
    if (
        match is None
        or (match["kind"] is None and match["sign"] == "-")
        or (match["kind"] == "created" and match["sign"] != "+")
    ):
        raise step.fault(
            "at",
            f"is +MS (after the last step), created+MS, deadline, deadline-MS or deadline+MS, not {value!r}",
        )
    offset = int(match["ms"] or 0) * (-1 if match["sign"] == "-" else 1)
    return At(match["kind"] or "last", offset)

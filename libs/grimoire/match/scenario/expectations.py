"""Reads `expect` blocks; every name in them is checked against the schemas, so that no slip passes unseen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import Schema, Viewer
from grimoire.match.scenario.document import Items, Keys, ScenarioError
from grimoire.match.scenario.matching import OPERATORS
from grimoire.match.scenario.reader import Reader, viewer_at
from grimoire.match.scenario.spec import AuditExpect, Events, Expect, FeedExpect, LegalExpect, LogExpect, Tamper
from grimoire.v1 import manifest_pb2

__all__ = ["Expectations"]

_FEED_KEYS: Final = ("events", "events_exactly", "game_events_exactly", "no_events")
_EXPECT_KEYS: Final = (
    "rejected",
    "duplicate",
    *_FEED_KEYS,
    "feeds",
    "view",
    "state",
    "prompts",
    "legal",
    "outcome",
    "status",
    "digests",
    "draws",
    "version",
    "time_ms",
    "unseen",
    "says",
    "manifest",
    "revealed",
    "log",
    "audit",
)
_REJECTED_KEYS: Final = ("code", "rule", "field", "message", "arguments", "version")
_DIGEST_KEYS: Final = ("server_commitment", "seals", "nonces", "joint_seed", "salt", "deal_digest", "head", "absent")
_PROMPT_KEYS: Final = (
    "prompt_id",
    "seat",
    "kind",
    "key",
    "required",
    "deadline_class",
    "limit_ms",
    "deadline_ms",
    "left_ms",
    "extended_ms",
    "absent",
)
_DRAW_KEYS: Final = ("label", "kind", "bound", "results")
_OUTCOME_KEYS: Final = ("kind", "winner", "winners", "ranks", "reasons", "by", "seats", "absent")
_STATUSES: Final = ("handshake", "running", "closed", "void")


class Expectations:
    """Reads them for one game.

    Args:
        schema: of the game and the platform.
        view: the game's view message.
        languages: the game's.
    """

    def __init__(self, schema: Schema, view: type[Message], languages: tuple[str, ...]) -> None:
        self.schema = schema
        self.view = view
        self.languages = languages

    def read(self, keys: Keys, what: str) -> Expect:
        """Reads the block of one step.

        Raises:
            ScenarioError: for the first mistake in it.
        """
        block = Reader(keys, f"the expectation of {what}", _EXPECT_KEYS)
        rejected = self._rejected(block)
        others = [key for key in keys if key in (*_FEED_KEYS, "feeds", "says", "draws", "duplicate")]
        if rejected is not None and others:
            raise block.fault(others[0], "cannot be expected of a rejected command: it leaves no entry")
        return Expect(
            line=keys.line,
            lines=keys.lines,
            rejected=rejected,
            duplicate=block.flag("duplicate"),
            own=self._feed(keys, "an expectation"),
            feeds=self._by_viewer(block, "feeds", self._feed_block),
            view=self._by_viewer(block, "view", self._view),
            state=self._view(keys["state"], block.line("state")) if "state" in keys else None,
            prompts=self._listed(block, "prompts", _PROMPT_KEYS),
            legal=self._legal(block),
            outcome=self._outcome(block),
            status=block.one_of("status", _STATUSES, "") if "status" in keys else None,
            digests=self._digests(block),
            draws=self._listed(block, "draws", _DRAW_KEYS),
            version=keys.get("version"),
            time_ms=keys.get("time_ms"),
            unseen=self._by_viewer(block, "unseen", _words),
            says=self._by_viewer(block, "says", self._sentences),
            manifest=self._manifest(block),
            revealed=block.flag("revealed") if "revealed" in keys else None,
            log=self._log(block),
            audit=self._audit(block),
        )

    def _rejected(self, block: Reader) -> Mapping[str, Any] | None:
        if "rejected" not in block.keys:
            return None
        written = block.keys["rejected"]
        if isinstance(written, str):
            return {"code": written}
        keys = block.mapping("rejected")
        Reader(keys, "`rejected`", _REJECTED_KEYS, paths=True)
        if "code" not in keys:
            raise block.fault("rejected", "names a code, e.g. {code: cannot_afford, rule: TT-4.3}")
        return keys

    def _by_viewer(self, block: Reader, key: str, read: Callable[[Any, int], Any]) -> tuple[tuple[Viewer, Any], ...]:
        keys = block.mapping(key)
        return tuple((viewer_at(v, keys.lines[v]), read(value, keys.lines[v])) for v, value in keys.items())

    def _feed_block(self, value: Any, line: int) -> FeedExpect:
        if not isinstance(value, Keys):
            raise ScenarioError(line, f"a feed is a mapping with some of {', '.join(_FEED_KEYS)}")
        Reader(value, "a feed", _FEED_KEYS)
        return self._feed(value, "a feed")

    def _feed(self, keys: Keys, what: str) -> FeedExpect:
        block = Reader(keys, what, tuple(keys))

        def events(key: str) -> Events | None:
            return self._messages(block.items(key), self.schema.events, "event") if key in keys else None

        return FeedExpect(
            events("events"),
            events("events_exactly"),
            events("game_events_exactly"),
            events("no_events") or (),
        )

    def _messages(self, items: Items, known: Mapping[str, type[Message]], what: str) -> Events:
        return tuple(self._message(i, known, what, line) for i, line in zip(items, items.lines, strict=True))

    def _message(self, item: Any, known: Mapping[str, type[Message]], what: str, line: int) -> tuple[str, Any]:
        """`type`, or `type: {fields}`; the names of fields are checked here, so that a slip never passes unseen."""
        if isinstance(item, str):
            type_, fields = item, Keys(line)
        elif isinstance(item, Keys) and len(item) == 1:
            ((type_, fields),) = item.items()
            fields = Keys(line) if fields is None else fields
        else:
            raise ScenarioError(line, f"an {what} is its type, or one `type: {{fields}}`, not {item!r}")
        if type_ not in known:
            raise ScenarioError(line, f"there is no {what} {type_!r}; there are {', '.join(sorted(known))}")
        if not isinstance(fields, Keys):
            raise ScenarioError(line, f"the fields of {type_} are a mapping, not {fields!r}")
        inner = fields["exactly"] if [*fields] == ["exactly"] else fields
        if isinstance(inner, Keys):
            check_paths(inner, known[type_], type_)
        return type_, fields

    def _view(self, value: Any, line: int) -> Any:
        if not isinstance(value, Keys):
            raise ScenarioError(line, "a view is a mapping of fields or paths, e.g. {seats.0.numbers.tower: 25}")
        inner = value["exactly"] if [*value] == ["exactly"] else value
        check_paths(inner, self.view, "the view")
        return value

    def _listed(self, block: Reader, key: str, allowed: tuple[str, ...]) -> Any:
        """A list of mappings with these keys, or what may stand in place of any list."""
        if key not in block.keys:
            return None
        if isinstance(block.keys[key], Keys):
            keys = block.mapping(key)
            Reader(keys, f"`{key}`, unless it is a list,", tuple(OPERATORS))
            return keys
        items = block.items(key)
        for item, line in zip(items, items.lines, strict=True):
            if not isinstance(item, Keys):
                raise ScenarioError(line, f"each of `{key}` is a mapping with some of {', '.join(allowed)}")
            Reader(item, f"each of `{key}`", allowed, paths=True)
        return items

    def _legal(self, block: Reader) -> tuple[tuple[int, LegalExpect], ...]:
        keys = block.mapping("legal")
        read = []
        for name, value in keys.items():
            line = keys.lines[name]
            viewer = viewer_at(name, line)
            if not str(viewer).startswith("seat:") or not isinstance(value, Keys):
                raise ScenarioError(line, "`legal` is by seat: {seat:0: {includes: […], excludes: […], exactly: […]}}")
            lists = Reader(value, "`legal`", ("includes", "excludes", "exactly"))

            def commands(key: str, lists: Reader = lists) -> Events:
                return self._messages(lists.items(key), self.schema.commands, "command")

            exactly = commands("exactly") if "exactly" in value else None
            read.append((int(viewer.seat), LegalExpect(commands("includes"), commands("excludes"), exactly)))
        return tuple(read)

    def _outcome(self, block: Reader) -> Any:
        outcome = block.keys.get("outcome")
        if outcome is None or outcome == "none":
            return outcome
        keys = block.mapping("outcome")
        Reader(keys, "`outcome`", _OUTCOME_KEYS, paths=True)
        return keys

    def _log(self, block: Reader) -> tuple[LogExpect, ...]:
        items = block.items("log")
        read = []
        for item, line in zip(items, items.lines, strict=True):
            if not isinstance(item, Keys):
                raise ScenarioError(line, f"each of `log` has version, viewer and some of {', '.join(_FEED_KEYS)}")
            entry = Reader(item, "each of `log`", ("version", "viewer", *_FEED_KEYS))
            version = entry.number("version", 0, 1, 50_000)
            viewer = viewer_at(entry.text("viewer"), line)
            read.append(LogExpect(version, viewer, self._feed(item, "an entry of `log`")))
        return tuple(read)

    def _sentences(self, value: Any, line: int) -> Mapping[str, list[str]]:
        if not isinstance(value, Keys):
            raise ScenarioError(line, "`says` is by viewer and language: {public: {fi: [sentence, sentence]}}")
        Reader(value, "`says`", self.languages)
        for language, sentences in value.items():
            if not isinstance(sentences, Items) or not all(isinstance(s, str) for s in sentences):
                raise ScenarioError(value.lines[language], "`says` has a list of sentences for each language")
        return value

    def _manifest(self, block: Reader) -> Mapping[str, Any]:
        keys = block.mapping("manifest")
        Reader(keys, "`manifest`", self.languages)
        for language, value in keys.items():
            if not isinstance(value, Keys):
                raise ScenarioError(keys.lines[language], "a manifest is a mapping of fields or paths")
            check_paths(value, manifest_pb2.Manifest, "the manifest")
        return keys

    def _audit(self, block: Reader) -> AuditExpect | None:
        written = block.keys.get("audit")
        if written is None or written == "passed":
            return None if written is None else AuditExpect()
        keys = block.mapping("audit")
        audit = Reader(keys, "`audit`", ("failed", "version", "tamper"))
        failed = audit.items("failed")
        if not all(isinstance(number, int) and 1 <= number <= 8 for number in failed):
            raise audit.fault("failed", "is a list of check numbers from 1 to 8")
        listed = keys.get("tamper")
        changes = [listed] if isinstance(listed, Keys) else audit.items("tamper")
        return AuditExpect(tuple(failed), keys.get("version"), tuple(self._tamper(c, audit) for c in changes))

    def _tamper(self, keys: Any, audit: Reader) -> Tamper:
        if not isinstance(keys, Keys):
            raise audit.fault("tamper", "is a mapping with version, event and fields, or a list of such")
        tamper = Reader(keys, "`tamper`", ("version", "event", "nth", "fields", "reseal"))
        event = tamper.text("event")
        if event not in self.schema.events and event != "command":
            known = ", ".join(sorted(self.schema.events))
            raise tamper.fault("event", f"is command, or one of {known}")
        return Tamper(
            version=tamper.number("version", 0, 1, 50_000),
            event=event,
            nth=tamper.number("nth", 1, 1, 1_000),
            fields=tamper.mapping("fields"),
            reseal=tamper.flag("reseal"),
            line=keys.line,
        )

    def _digests(self, block: Reader) -> Mapping[str, Any] | None:
        if "digests" not in block.keys:
            return None
        keys = block.mapping("digests")
        Reader(keys, "`digests`", _DIGEST_KEYS, paths=True)
        return keys


def _words(value: Any, line: int) -> tuple[str, ...]:
    if not isinstance(value, Items) or not all(isinstance(word, str) for word in value):
        raise ScenarioError(line, "`unseen` is a list of words for each viewer, e.g. {seat:1: [ruby]}")
    return tuple(value)


def check_paths(keys: Keys, message: type[Message], what: str) -> None:
    """Finds names that the message does not have, also in paths and in `absent`.

    Raises:
        ScenarioError: at the first.
    """
    for key, value in keys.items():
        line = keys.lines.get(key, keys.line)
        if key == "absent":
            for name in value if isinstance(value, Items) else [value]:
                _check_path(str(name), message.DESCRIPTOR, line, what)
            continue
        _check_path(str(key), message.DESCRIPTOR, line, what)


def _check_path(path: str, descriptor: Any, line: int, what: str) -> None:
    for name in path.split("."):
        if name == "*" or name.lstrip("-").isdigit():
            continue
        field = descriptor.fields_by_name.get(name) if descriptor is not None else None
        if field is None:
            known = ", ".join(descriptor.fields_by_name) if descriptor is not None else "nothing below"
            raise ScenarioError(line, f"{what} has no field {name!r} (in `{path}`); there is {known}")
        descriptor = field.message_type

"""A game's words as its manifest gives them: commands, prompts, refusals, things and options, in one language."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from grimoire.cli.screens.words import Words
from grimoire.client import Rejected
from grimoire.plugins import GamePlugin
from grimoire.v1 import manifest_pb2, prompt_pb2

__all__ = ["Wording", "refusal"]

_REF: Final = manifest_pb2.TEMPLATE_KIND_REF
_SWITCH: Final = ("false", "true")
_WORDS: Final = frozenset({"resource", "field", "phase", "kind", "pile", "with", "to", "where"})
"""Arguments whose value may be one of the game's terms."""


class Wording:
    """One game in one language.

    Args:
        plugin: of the game.
        language: one that the game does not speak gives its first one.
    """

    def __init__(self, plugin: GamePlugin, language: str) -> None:
        self.plugin = plugin
        self.language = language if language in plugin.texts.languages else plugin.texts.languages[0]
        self.manifest = plugin.texts.manifest(self.language)
        self._templates = {(t.kind, t.key): t for t in self.manifest.templates}
        self._names = {c.name: {item.id: item.name for item in c.items} for c in self.manifest.catalogues}
        self._things = {thing: name for items in reversed(self._names.values()) for thing, name in items.items()}

    def name(self) -> str:
        """The game's name."""
        return self.manifest.name

    def term(self, key: str) -> str:
        """A word of the game; the key itself, readable, where there is none."""
        found = self._templates.get((manifest_pb2.TEMPLATE_KIND_TERM, key))
        return found.text if found else key.replace("_", " ")

    def has_term(self, key: str) -> bool:
        """The game has a word for this."""
        return (manifest_pb2.TEMPLATE_KIND_TERM, key) in self._templates

    def prompt(self, kind: str) -> str:
        """What a seat is asked."""
        found = self._templates.get((manifest_pb2.TEMPLATE_KIND_PROMPT, kind))
        return found.text if found else kind.replace("_", " ")

    def command(self, code: str) -> str:
        """A command without its things, e.g. `Play`."""
        found = self._templates.get((manifest_pb2.TEMPLATE_KIND_COMMAND, code))
        text = found.text if found else code.replace("_", " ").capitalize()
        return " ".join(text.format_map(_Nothing()).split())

    def entry(self, entry: prompt_pb2.LegalEntry) -> str:
        """A legal command in words, e.g. `Play Ruby`."""
        arguments = {a.name: self._argument(a.name, a.value) for a in entry.label.arguments}
        found = self._templates.get((manifest_pb2.TEMPLATE_KIND_COMMAND, entry.label.key))
        if found is None:
            return " ".join([entry.type.replace("_", " ").capitalize(), *arguments.values()])
        return found.text.format_map(_Known(arguments))

    def labels(self, prefix: str) -> list[str]:
        """Keys of the command labels that begin so, in the game's order."""
        command = manifest_pb2.TEMPLATE_KIND_COMMAND
        return [key for kind, key in self._templates if kind == command and key.startswith(prefix)]

    def thing(self, ref: str) -> str:
        """A ref in words, e.g. `card:ruby` as `Ruby`."""
        kind, colon, name = ref.partition(":")
        if not colon:
            return self.term(ref)
        known = self._argument(kind, name)
        if known != name:
            return known
        found = self._templates.get((_REF, kind))
        return found.text.format_map(_Known({kind: name})) if found else f"{kind} {name}"

    def slot(self, slot: prompt_pb2.Slot) -> str:
        """What a slot asks for."""
        return self.term(slot.label.key or slot.field)

    def rejection(self, rejected: Rejected) -> str:
        """A refusal in the game's own words in this language; empty: the game has none for it."""
        found = self._templates.get((manifest_pb2.TEMPLATE_KIND_REJECTION, rejected.code))
        if found is None:
            return ""
        arguments = {name: self._argument(name, value) for name, value in rejected.arguments.items()}
        try:
            return found.text.format(**arguments)
        except (KeyError, IndexError):
            return ""

    def reason(self, code: str) -> str:
        """Why a match ended."""
        found = self._templates.get((manifest_pb2.TEMPLATE_KIND_REASON, code))
        return found.text if found else code.replace("_", " ")

    def clause(self, rule: str) -> manifest_pb2.Clause | None:
        """A numbered rule in short."""
        return self._clauses.get(rule)

    def level(self, level: str) -> str:
        """A built-in player's name."""
        return next((b.name for b in self.manifest.bot_levels if b.level == level), level)

    def names(self, catalogue: str) -> Mapping[str, str]:
        """Ids and names of a catalogue."""
        return self._names.get(catalogue, {})

    def options(self, values: Iterable[tuple[str, str]]) -> list[str]:
        """Chosen options, each as an icon and a word, in the schema's order; unknown ones as they are."""
        chosen = dict(values)
        shown = [self._option(schema, chosen.pop(schema.name)) for schema in self.schemas if schema.name in chosen]
        return [*shown, *(f"{name} {value}" for name, value in chosen.items())]

    @property
    def schemas(self) -> Iterable[manifest_pb2.OptionSchema]:
        """What can be chosen for a match."""
        return self.manifest.options

    def _option(self, schema: manifest_pb2.OptionSchema, value: str) -> str:
        choice = next((item for item in schema.choices if item.value == value), None)
        icon = (choice.icon if choice else "") or schema.icon
        if choice is not None:
            # A bare yes or no says nothing.
            asked = f"{schema.label}: " if schema.label and value in _SWITCH else ""
            return f"{icon} {asked}{choice.label}".strip()
        unit = f" {schema.unit}" if schema.unit else ""
        return f"{icon} {schema.label or schema.name}: {value}{unit}".strip()

    def _argument(self, name: str, value: str) -> str:
        """An argument as people read it: things of a catalogue by name, the game's words in this language."""
        for catalogue in (name, f"{name}s"):
            if value in self._names.get(catalogue, {}):
                return self._names[catalogue][value]
        if name == "name":  # of an option
            return next((schema.label or value for schema in self.schemas if schema.name == value), value)
        if value in self._things and not value.isdecimal():  # a card may be called a source; a bare number is none
            return self._things[value]
        found = self._templates.get((manifest_pb2.TEMPLATE_KIND_TERM, value))
        return found.text if found and name in _WORDS else value

    @functools.cached_property
    def _clauses(self) -> dict[str, manifest_pb2.Clause]:
        return {clause.rule: clause for clause in self.manifest.clauses}


def refusal(rejected: Rejected, words: Words, wording: Wording) -> str:
    """Why not, as a sentence with the rule it rests on: the game's wording, else this client's, else the server's."""
    key = f"rejection.{rejected.code}"
    sentence = wording.rejection(rejected) or (words(key) if words.has(key) else rejected.message)
    return f"{sentence} ({rejected.rule})" if rejected.rule else sentence


class _Nothing(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""


class _Known(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "?"

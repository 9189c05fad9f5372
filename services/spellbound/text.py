"""The game in words and tables: the manifest, sentences for events, marks for a replay's timeline.

An event's sentence is the template of its code, or of the variant that `_VARIANTS` names, with the event's fields as
arguments: seats, mages and things by name, lists with commas.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import MarkNote
from grimoire.engine.phrasebook import LANGUAGES, facts, templates
from grimoire.engine.schema import snake_case
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.v1 import manifest_pb2 as mf
from grimoire.v1 import match_pb2
from spellbound.catalogue import DATA
from spellbound.levels import Level
from spellbound.names import mage_name, name_of
from spellbound.options import MAX_MAGES, OPTIONS, PRESETS, RANDOM
from spellbound.places import PLACES
from spellbound.rejections import CODES
from spellbound.words import Words, words_in

__all__ = ["SpellboundTexts"]

_MAGES: Final = frozenset({"mage", "rider", "puppet", "target"})
"""Fields whose number is a mage."""


class SpellboundTexts:
    """`GameTexts` of Spellbound."""

    languages: tuple[str, ...] = LANGUAGES

    def manifest(self, language: str) -> mf.Manifest:
        """Everything a client says or lists about the game."""
        manifest = mf.Manifest()
        manifest.CopyFrom(_manifest(language if language in LANGUAGES else "en"))
        return manifest

    def say_event(self, event: Message, language: str, names: Mapping[int, str]) -> str:
        """One sentence for an event; empty where there is nothing to say.

        >>> SpellboundTexts().say_event(pb.PieceMoved(piece="hat_red", to=3, by=1, cause="witch"), "en", {})
        'Red hat moves on to space 3.'
        """
        words = words_in(language)
        key = _key(event)
        if key not in words.events:
            return ""
        said = words.events[key].format(**_arguments(event, words, language, names))
        return said[:1].upper() + said[1:]

    def mark(self, event: Message) -> MarkNote | None:
        """The timeline mark this event deserves: turns, books, lost or gained, ends of the deck, the end."""
        match event:
            case pb.TurnStarted():
                return MarkNote("turn", "mark.turn", (("turn", str(event.turn)), ("mage", str(event.mage))))
            case pb.BookGained():
                return MarkNote("key_event", "mark.book_gained", (("book", event.book),))
            case pb.BookLost():
                return MarkNote("key_event", "mark.book_lost", (("book", event.book),))
            case pb.DeckRanOut():
                return MarkNote("key_event", "mark.deck", (("number", str(event.number)),))
            case pb.SpellCast():
                return MarkNote("key_event", "mark.spell", (("spell", event.spell),))
            case pb.MatchEnded():
                return MarkNote("key_event", "mark.ended")
        return None


# ---- sentences -------------------------------------------------------------------------------------------------------

_VARIANTS: Final[dict[type[Message], str]] = {
    pb.MatchEnded: "result",
    pb.EncounterCounted: "result",
    pb.StoneDrawn: "stone",
    pb.FortunaResolved: "stone",
    pb.DestinyCardDrawn: "to",
    pb.WindowOpened: "window",
}
"""Events whose code and this field name the template."""


def _key(event: Any) -> str:
    """The key of an event's template."""
    code = snake_case(event.DESCRIPTOR.name)
    variant = _VARIANTS.get(type(event))
    if variant is not None:
        return f"{code}_{getattr(event, variant) or 'none'}"
    match event:
        case pb.PieceMoved():
            return code if event.by > 0 else f"{code}_back"
        case pb.CardEnded():
            return f"{code}_{event.to}" if event.to in ("discards", "guard") else f"{code}_village"
        case pb.RideAnswered():
            return f"{code}_accepted" if event.accept else f"{code}_declined"
        case pb.VillageRestocked():
            return code if event.card else f"{code}_none"
        case pb.EncounterWon():
            return code if event.minion else f"{code}_none"
        case pb.DestinyDeckSet():
            return f"{code}_again" if event.number else code
        case _:
            return code


def _arguments(event: Message, words: Words, language: str, names: Mapping[int, str]) -> dict[str, str]:
    """The event's plain fields as people read them."""
    said = {
        field.name: _said(field.name, getattr(event, field.name), words, language, names)
        for field in event.DESCRIPTOR.fields
        if field.message_type is None
    }
    if isinstance(event, pb.PositionArranged):
        said["mage"] = mage_name(event.turn_mage, language)
    if isinstance(event, pb.MatchEnded):
        said["reason"] = words.reasons[event.reason]
    return said


def _said(field: str, value: Any, words: Words, language: str, names: Mapping[int, str]) -> str:
    if field == "seat":
        return words.seat(value, names)
    if field in _MAGES:
        return mage_name(value, language)
    if isinstance(value, str | int):
        return name_of(str(value), language)
    return ", ".join(name_of(str(each), language) for each in value)


# ---- the manifest ----------------------------------------------------------------------------------------------------

_OPTION_ICONS: Final = {
    "mages": "☺",
    "mage_seats": "⚇",
    "first_mage": "⚑",
    "troll_buster": "▲",
    "dan": "☾",
    "witchfinder_general": "⚔",
}
_CHOICE_ICONS: Final = {"random": "⚄", "true": "✓", "false": "✗"}
_RULES: Final = {code: rule for code, (rule, _) in CODES.items()} | {"bad_option": "SB-1.4", "bad_position": "SB-2"}


@functools.cache
def _manifest(language: str) -> mf.Manifest:
    words = words_in(language)
    manifest = mf.Manifest(
        game=DATA.game,
        language=language,
        name=words.name,
        rules_version=1,
        catalog_version=str(DATA.data_version),
        min_seats=1,
        max_seats=MAX_MAGES,
        options=[_option(name, words) for name in OPTIONS],
        catalogues=[_cards(words, language), _places(words, language)],
        templates=templates(words, _RULES),
        clauses=[mf.Clause(rule=rule, title=title, text=text) for rule, (title, text) in words.clauses.items()],
        languages=LANGUAGES,
        bot_levels=[mf.BotLevel(level=level.value, name=words.bots[level]) for level in Level],
        presets=[_preset(preset, words) for preset in PRESETS],
    )
    manifest.digest = hashlib.sha256(manifest.SerializeToString(deterministic=True)).digest()
    return manifest


def _preset(preset: str, words: Words) -> mf.Preset:
    changed = [match_pb2.OptionValue(name=name, value=value) for name, value in PRESETS[preset].items()]
    return mf.Preset(preset=preset, name=words.presets[preset], options=changed)


_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "mages": ("", *(str(number) for number in range(1, MAX_MAGES + 1))),
    "mage_seats": ("",),
    "first_mage": (RANDOM, *(str(number) for number in range(MAX_MAGES))),
    "troll_buster": ("false", "true"),
    "dan": tuple(str(number) for number in DATA.options.dan.values),
    "witchfinder_general": ("false", "true"),
}


def _option(name: str, words: Words) -> mf.OptionSchema:
    """The first choice is the default; an empty one stands for what the number of seats makes of it."""
    choices = _CHOICES[name]
    schema = mf.OptionSchema(name=name, default=choices[0], label=words.options[name], icon=_OPTION_ICONS[name])
    schema.type = mf.OPTION_TYPE_CHOICE
    for value in choices:
        label = words.options.get(value or f"{name}_by_seats", value)
        schema.choices.add(value=value, label=label, icon=_CHOICE_ICONS.get(value, "·"))
    return schema


def _cards(words: Words, language: str) -> mf.Catalogue:
    items = []
    for card in DATA.cards:
        told = facts(group=card.group, sun=card.sun, moon=card.moon)
        if card.influence:
            told += facts(influence=card.influence)
        if card.book or card.colour:
            told += facts(colour=card.book or card.colour)
        items.append(
            mf.CatalogueItem(
                id=card.id,
                name=name_of(card.id, language),
                text=DATA.types[card.type].text.en,
                short_text=DATA.types[card.type].text.en,
                facts=told,
                rules=["SB-2"],
            )
        )
    return mf.Catalogue(name="cards", label=words.terms["cards"], items=items)


def _places(words: Words, language: str) -> mf.Catalogue:
    items = [mf.CatalogueItem(id=place, name=name_of(place, language), rules=["SB-2.1"]) for place in PLACES]
    return mf.Catalogue(name="places", label=words.terms["places"], items=items)

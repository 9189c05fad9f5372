"""The game in words and tables: the manifest, sentences for events, marks for a replay's timeline.

An event's sentence is the template of its code, or of the variant that `_phrase` names, with the event's fields as
arguments: seats and things by name, lists with commas. `{lantern}`, `{name}`, `{action}` and `{source}` are other
templates (`lantern.fire`, `action.fire.2`, ...), so that each language may inflect them as its sentences need. A
sentence that begins with a thing's name begins with a capital. Clients that fill in templates do it the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import MarkNote
from grimoire.engine.options import Choice
from grimoire.engine.phrasebook import LANGUAGES, Manifests, bot_levels, clauses, facts, presets, templates
from grimoire.engine.schema import snake_case
from grimoire.engine.sentences import plain_arguments, sentence
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.v1 import manifest_pb2 as mf
from wizards_garden.catalogue import DATA
from wizards_garden.levels import Level
from wizards_garden.names import name_of, timing_of
from wizards_garden.options import OPTIONS, PRESETS
from wizards_garden.pieces import CARD_KIND, COLOURS, KINDS, PIECES
from wizards_garden.rejections import CODES
from wizards_garden.words import Words, words_in

__all__ = ["WizardsGardenTexts", "seat_name"]

_SEATS: Final = frozenset({"seat", "winner", "first_seat", "active_seat"})
"""Fields whose number is a seat."""


class WizardsGardenTexts:
    """`GameTexts` of the Wizard's Garden."""

    languages: tuple[str, ...] = LANGUAGES

    def manifest(self, language: str) -> mf.Manifest:
        """Everything a client says or lists about the game."""
        return _MANIFESTS.in_language(language)

    def say_event(self, event: Message, language: str, names: Mapping[int, str]) -> str:
        """One sentence for an event; empty where there is nothing to say.

        >>> collected = pb.FireCollected(seat=0, amount_now=3)
        >>> WizardsGardenTexts().say_event(collected, "en", {0: "Mira"})
        'Mira collects one fire, now 3.'
        >>> moved = pb.GnomeMoved(piece="red_gnome_04", **{"from": "c6", "to": "c5"})
        >>> WizardsGardenTexts().say_event(moved, "fi", {})
        'Punainen tonttu 4 siirtyy ruudusta c6 ruutuun c5.'
        """
        words = words_in(language)
        phrase = _phrase(event, words, language, names)
        if phrase is None:
            return ""
        key, more = phrase
        arguments = plain_arguments(event, lambda field, value: _said(field, value, language, names))
        return sentence(words.events[key], arguments | more, _SEATS)

    def mark(self, event: Message) -> MarkNote | None:
        """The timeline mark this event deserves: turns, lanterns placed and dimmed, spells, reshuffles, the end."""
        match event:
            case pb.TurnStarted():
                return MarkNote("turn", "mark.turn", (("turn", str(event.turn)), ("seat", str(event.seat))))
            case pb.LanternPlaced():
                return MarkNote("key_event", "mark.lantern", (("seat", str(event.seat)), ("space", event.space)))
            case pb.LanternDimmed():
                return MarkNote("key_event", "mark.dimmed", (("seat", str(event.seat)), ("space", event.space)))
            case pb.SpellCast():
                return MarkNote("key_event", "mark.spell", (("seat", str(event.seat)), ("spell", event.spell)))
            case pb.DeckReshuffled():
                return MarkNote("key_event", "mark.reshuffle", (("number", str(event.number)),))
            case pb.MatchEnded():
                return MarkNote("key_event", "mark.ended")
        return None


def seat_name(seat: int, language: str, names: Mapping[int, str]) -> str:
    """A seat's display name, or `Seat 0` for one without."""
    return words_in(language).seat(seat, names)


# ---- sentences -------------------------------------------------------------------------------------------------------


def _said(field: str, value: Any, language: str, names: Mapping[int, str]) -> str:
    if field in _SEATS:
        return seat_name(value, language, names)
    if isinstance(value, str | int):
        return name_of(str(value), language)
    return ", ".join(name_of(each, language) for each in value)


_Phrase = tuple[str, dict[str, str]]

_SILENT: Final = (pb.DeckSet, pb.TurnEnded, pb.StateEntered)
"""A pile's order, the bare end of a turn and what is asked next are no news to anybody."""

_VARIANTS: Final[dict[type[Message], str]] = {
    pb.LanternLit: "by",
    pb.AttackStopped: "why",
    pb.GroupWithdrawn: "to",
    pb.BattleResolved: "outcome",
}
"""Events whose code and this field name the template."""


def _phrase(event: Message, words: Words, language: str, names: Mapping[int, str]) -> _Phrase | None:
    """The key of an event's template, and arguments that are not its fields; None: there is nothing to say."""
    if isinstance(event, _SILENT):
        return None
    code = snake_case(event.DESCRIPTOR.name)
    variant = _VARIANTS.get(type(event))
    key = _special(event, code) if variant is None else f"{code}_{getattr(event, variant)}"
    return None if key is None else (key, dict(_more(event, words, language, names)))


def _special(event: Any, code: str) -> str | None:
    """The template of an event that is worded by more than one field."""
    match event:
        case pb.SpiritsDealt():
            return code if event.cards else f"{code}_hidden"
        case pb.SpellsDealt():
            return code if event.spells else f"{code}_hidden"
        case pb.ActionClosed():
            return None if event.reason == "used_up" else f"{code}_{event.reason}"
        case pb.PestMoved():
            return "pair_moved" if event.pair else code
        case pb.SpiritDrawn():
            shown = "open" if event.source != "deck" else "deck" if event.card else "hidden"
            return f"{code}_{shown}"
        case pb.AttackDeclared():
            return f"{code}_skull" if event.group == "skull" else code
        case pb.DefenceMade():
            return f"{code}_automatic" if event.automatic else f"{code}_{getattr(event, 'with')}"
        case pb.SurvivorsPlaced():
            if not event.pieces:
                return None
            return f"{code}_supply" if event.to == "supply" else code
        case pb.MatchEnded():
            return f"{code}_draw" if event.result == "draw" else f"{code}_{event.reason}"
        case _:
            return code


def _more(event: Any, words: Words, language: str, names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    match event:
        case pb.ActionOpened():
            action = "butterfly" if event.source == "butterfly" else f"{event.kind}.{event.steps}"
            yield "source", words.events[f"source.{event.source}"]
            yield "action", words.events[f"action.{action}"]
        case pb.SpiritsExchanged():
            yield "a", name_of(event.a.card, language)
            yield "b", name_of(event.b.card, language)
        case pb.LanternPlaced() | pb.LanternLit():
            yield "lantern", words.events[f"lantern.{event.kind}"]
        case pb.LanternPutOut() | pb.LanternDimmed():
            yield "name", words.events[f"name.{event.kind}"]
        case pb.MatchEnded() if event.result in COLOURS:
            yield "winner", words.seat(COLOURS.index(event.result), names)
        case pb.PositionArranged():
            yield "turn", str(event.turn_no)
            yield "seat", words.seat(event.active_seat, names)


# ---- the manifest ----------------------------------------------------------------------------------------------------

ICONS: Final = {"random": "⚄", "blue": "●", "red": "■"}
"""Plain signs for option values; each stands beside its label, never alone."""

_OPTION_ICONS: Final = {
    "spells_per_player": "✧",
    "first_player": "⚑",
    "turn_limit": "⌛",
    "turn_time_s": "◷",
    "timeout_limit": "⊘",
}


_RULES: Final = {code: rule for code, (rule, _) in CODES.items()} | {"bad_option": "WG-1.4", "bad_position": "WG-2"}


def _manifest(language: str) -> mf.Manifest:
    words = words_in(language)
    return mf.Manifest(
        game=DATA.game,
        language=language,
        name=words.name,
        rules_version=1,
        catalog_version=str(DATA.data_version),
        min_seats=DATA.players,
        max_seats=DATA.players,
        options=[_option(name, words) for name in OPTIONS],
        catalogues=[
            _spells(words, language),
            _kinds(words, language),
            _cards(words, language),
            _pieces(words, language),
        ],
        templates=templates(words, _RULES),
        clauses=clauses(words),
        languages=LANGUAGES,
        bot_levels=bot_levels(words, Level),
        presets=presets(words, PRESETS),
    )


_MANIFESTS: Final = Manifests(_manifest)


def _option(name: str, words: Words) -> mf.OptionSchema:
    option = OPTIONS[name]
    schema = mf.OptionSchema(
        name=name, default=str(option.default), label=words.options[name], icon=_OPTION_ICONS[name]
    )
    if isinstance(option, Choice):
        schema.type = mf.OPTION_TYPE_CHOICE
        for value in option.values:
            label = words.options.get(value) or words.terms[value]
            schema.choices.add(value=value, label=label, icon=ICONS[value])
    else:
        schema.type = mf.OPTION_TYPE_INTEGER
        schema.min, schema.max = option.min, option.max
        schema.unit = words.options["seconds"] if name.endswith("_s") else ""
    return schema


def _spells(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=spell.id,
            name=spell.name.in_language(language),
            text=spell.text.in_language(language),
            short_text=words.terms[timing_of(spell.id)],
            facts=facts(timing=timing_of(spell.id)),
            rules=[f"WG-13.{number}"],
        )
        for number, spell in enumerate(DATA.spells, 1)
    ]
    return mf.Catalogue(name="spells", label=words.terms["spells"], items=items)


def _kinds(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=kind.id,
            name=words.terms[kind.id],
            text=words.terms["kind_text"].format(
                lantern=kind.lantern_name.in_language(language),
                card=kind.spirit_name.in_language(language),
                one=words.events[f"action.{kind.id}.1"],
                two=words.events[f"action.{kind.id}.2"],
            ),
            short_text=kind.action_name.in_language(language),
            facts=facts(colour=kind.colour),
            rules=["WG-2.1", f"WG-6.{number}"],
        )
        for number, kind in enumerate(DATA.kinds, 2)
    ]
    return mf.Catalogue(name="kinds", label=words.terms["kinds"], items=items)


def _cards(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=card,
            name=name_of(card, language),
            short_text=words.events[f"action.{KINDS[kind]}.2"],
            facts=facts(kind=KINDS[kind]),
            rules=["WG-4.5"],
        )
        for card, kind in CARD_KIND.items()
    ]
    return mf.Catalogue(name="cards", label=words.terms["spirits"], items=items)


def _pieces(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=piece,
            name=name_of(piece, language),
            rules=["WG-6.2" if piece.startswith("pest") else "WG-6.5"],
        )
        for piece in PIECES
    ]
    return mf.Catalogue(name="pieces", label=words.terms["pieces"], items=items)

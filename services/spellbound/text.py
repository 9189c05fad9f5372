"""The game in words and tables: the manifest, sentences for events, marks for a replay's timeline.

An event's sentence is the template of its code, or of the variant that `_phrase` names, with the event's fields as
arguments: seats, mages and things by name, lists with commas. `{goal}`, `{source}` and `{place}` are other templates
(`to.city_red`, `from.city_red`, `at.city_red`), so that each language may inflect places as its sentences need;
`{stones}` is the template `stones`. A sentence that begins with a mage or a thing begins with a capital. Clients that
fill in templates do it the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import MarkNote
from grimoire.engine.phrasebook import LANGUAGES, Manifests, bot_levels, clauses, facts, presets, templates
from grimoire.engine.schema import snake_case
from grimoire.engine.sentences import plain_arguments, sentence
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.v1 import manifest_pb2 as mf
from spellbound.cards import BOOK
from spellbound.catalogue import DATA, CardRecord
from spellbound.levels import Level
from spellbound.names import mage_letter, mage_name, name_of, type_text
from spellbound.options import MAX_MAGES, OPTIONS, PRESETS, RANDOM
from spellbound.places import BOOKS, PIECES, PLACE_INDEX, PLACES
from spellbound.rejections import CODES
from spellbound.words import Words, words_in

__all__ = ["SpellboundTexts"]

_SEATS: Final = frozenset({"seat", "seats"})
"""Fields whose numbers are seats."""
_MAGES: Final = frozenset({"mage", "rider", "puppet", "target"})
"""Fields whose number is a mage."""


class SpellboundTexts:
    """`GameTexts` of Spellbound."""

    languages: tuple[str, ...] = LANGUAGES

    def manifest(self, language: str) -> mf.Manifest:
        """Everything a client says or lists about the game."""
        return _MANIFESTS.in_language(language)

    def say_event(self, event: Message, language: str, names: Mapping[int, str]) -> str:
        """One sentence for an event; empty where there is nothing to say.

        >>> moved = pb.MageMoved(mage=0, **{"from": "city_red", "to": "village_03"}, cause="card")
        >>> SpellboundTexts().say_event(moved, "en", {})
        'Mage A moves from the red city to village 3.'
        >>> SpellboundTexts().say_event(moved, "fi", {})
        'Velho A siirtyy punaisesta kaupungista kylään 3.'
        """
        words = words_in(language)
        key = _key(event)
        if not key:
            return ""
        arguments = plain_arguments(event, lambda field, value: _said(field, value, words, language, names))
        arguments |= dict(_more(event, words, language))
        return sentence(words.events[key], arguments, _SEATS)

    def mark(self, event: Message) -> MarkNote | None:
        """The timeline mark this event deserves: turns, books, allies, spells, encounters, ends."""
        found = _MARKS.get(type(event))
        if found is None:
            return None
        label, fields = found
        return MarkNote(
            "turn" if label == "turn" else "key_event",
            f"mark.{label}",
            tuple((field, str(getattr(event, field))) for field in fields),
        )


_MARKS: Final[dict[type[Message], tuple[str, Sequence[str]]]] = {
    pb.TurnStarted: ("turn", ("turn", "mage")),
    pb.BookGained: ("gained", ("book",)),
    pb.BookLost: ("lost", ("book",)),
    pb.AllyRecruited: ("recruited", ("card",)),
    pb.SpellCast: ("spell", ("mage", "spell")),
    pb.DisplayPurged: ("purge", ()),
    pb.DeckRanOut: ("deck", ("number",)),
    pb.EncounterCounted: ("encounter", ("sun", "moon")),
    pb.WitchClimbed: ("climbed", ("step",)),
    pb.BattleDeclared: ("battle", ()),
    pb.MatchEnded: ("ended", ()),
}


# ---- sentences -------------------------------------------------------------------------------------------------------


def _said(field: str, value: Any, words: Words, language: str, names: Mapping[int, str]) -> str:
    if field in _SEATS:
        seats = [value] if isinstance(value, int) else value
        return ", ".join(words.seat(seat, names) for seat in seats)
    if field in _MAGES:
        return mage_name(value, language)
    if isinstance(value, str | int):
        return name_of(str(value), language)
    return ", ".join(name_of(str(each), language) for each in value)


_SILENT: Final = (pb.TurnEnded, pb.WindowClosed)
"""The bare end of a turn or of a window is no news to anybody."""

_VARIANTS: Final[dict[type[Message], str]] = {
    pb.SentToTower: "pile",
    pb.MageMoved: "cause",
    pb.WandCharged: "cause",
    pb.WandUsed: "level",
    pb.StoneDrawn: "stone",
    pb.FortunaResolved: "stone",
    pb.DestinyCardDrawn: "to",
    pb.CardDiscarded: "cause",
    pb.WindowOpened: "window",
    pb.ReactionPolicySet: "policy",
    pb.MatchEnded: "reason",
}
"""Events whose code and this field name the template."""

_PLAYED: Final = frozenset({"research", "move", "influence", "decimate"})
"""Uses of a card that are worth telling; of the others the card's name says enough."""


def _key(event: Message) -> str:
    """The key of an event's template; empty: there is nothing to say."""
    if isinstance(event, _SILENT):
        return ""
    code = snake_case(event.DESCRIPTOR.name)
    variant = _VARIANTS.get(type(event))
    if variant is not None:
        return f"{code}_{getattr(event, variant) or 'none'}"
    ending = _ending(event)
    return "" if ending is None else f"{code}_{ending}" if ending else code


def _ending(event: Any) -> str | None:
    """What follows the code of an event that is worded by what it holds; None: it is not said."""
    match event:
        case pb.DestinyDeckSet():
            return "swept" if event.number else ""
        case pb.CardPlayed():
            return event.mode if event.mode in _PLAYED else ""
        case pb.CardEnded():
            return "guard" if event.to == "guard" else "village" if event.to in PLACE_INDEX else ""
        case pb.RideAnswered():
            return "yes" if event.accept else "no"
        case pb.AllyRecruited():
            return "with" if event.to_discards else ""
        case pb.VillageRestocked():
            return "" if event.card else "none"
        case pb.WatchmanMoved():
            return "" if getattr(event, "from") else "set"
        case pb.BatchFormed():
            # What a wicked card moves is said when it acts, and when the piece moves.
            return None if event.cause in ("witch", "troll") else event.cause
        case pb.PieceMoved():
            return "on" if event.by > 0 else "back"
        case pb.WickedCardAdded():
            return "" if event.next_top else "last"
        case pb.EncounterCounted():
            return event.result
        case pb.EncounterWon():
            return "" if event.minion else "none"
        case pb.BattleDeclared():
            return "destroying" if event.destroyed else ""
        case _:
            return ""


def _more(event: Any, words: Words, language: str) -> Iterator[tuple[str, str]]:
    """Arguments that are not plain fields."""
    yield from _places(event, words)
    match event:
        case pb.PiecesPlaced():
            yield "hat", str(event.hats[0])
            yield "book", str(event.books[0])
            yield "stones", _stones(event.bag, words)
        case pb.BagRefilled():
            yield "stones", _stones(event, words)
        case pb.TowerCleared():
            yield "n", str(len(event.cards))
        case pb.BattleDeclared():
            yield "n", str(sum(use.use == "sun" for use in event.books))
        case pb.PositionArranged():
            yield "mage", mage_name(event.turn_mage, language)


def _places(event: Any, words: Words) -> Iterator[tuple[str, str]]:
    """Places as a sentence needs them."""
    for field, argument, case in _INFLECTED:
        place = getattr(event, field, "")
        if isinstance(place, str) and place in PLACE_INDEX:
            yield argument, words.events[f"{case}.{place}"]


_INFLECTED: Final = (
    ("village", "place", "at"),
    ("to", "place", "at"),
    ("to", "goal", "to"),
    ("from", "source", "from"),
)
"""A field, the argument it gives, and which form of the place that is."""


def _stones(stones: Any, words: Words) -> str:
    return words.events["stones"].format(sun=stones.sun, moon=stones.moon)


# ---- the manifest ----------------------------------------------------------------------------------------------------

_OPTION_ICONS: Final = {
    "mages": "☺",
    "mage_seats": "⚇",
    "first_mage": "⚑",
    "troll_buster": "▲",
    "dan": "☾",
    "witchfinder_general": "⚔",
}
"""Plain signs; each stands beside its label, never alone."""

_RULES: Final = {code: rule for code, (rule, _) in CODES.items()} | {"bad_option": "SB-1.4", "bad_position": "SB-2"}


def _manifest(language: str) -> mf.Manifest:
    words = words_in(language)
    return mf.Manifest(
        game=DATA.game,
        language=language,
        name=words.name,
        rules_version=1,
        catalog_version=str(DATA.data_version),
        min_seats=1,
        max_seats=MAX_MAGES,
        options=[_option(name, words) for name in OPTIONS],
        catalogues=[_cards(words, language), *_named_things(words, language)],
        templates=templates(words, _RULES),
        clauses=clauses(words),
        languages=LANGUAGES,
        bot_levels=bot_levels(words, Level),
        presets=presets(words, PRESETS),
    )


_MANIFESTS: Final = Manifests(_manifest)


_SWITCH: Final = ("false", "true")
_IN_TURN: Final = tuple(
    ",".join(str(mage % seats) for mage in range(mages))
    for mages in range(1, MAX_MAGES + 1)
    for seats in range(1, mages + 1)
)
"""What `mage_seats` becomes where nothing is chosen: tables show it, so it needs a label."""
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "mages": ("", *(str(number) for number in range(1, MAX_MAGES + 1))),
    "mage_seats": (
        *("", "0,1,1", "0,0,1", "0,0,1,1", "0,1,1,0", "0,1,1,1", "0,0,0,1", "0,1,2,2", "0,1,1,2", "0,0,1,2"),
        *_IN_TURN,
    ),
    "first_mage": (RANDOM, *(str(number) for number in range(MAX_MAGES))),
    "troll_buster": _SWITCH,
    "dan": tuple(str(number) for number in DATA.options.dan.values),
    "witchfinder_general": _SWITCH,
}
"""Values in the order they are offered, the default first; empty: what the number of seats makes of it."""

_CHOICE_ICONS: Final = {RANDOM: "⚄", "true": "✓", "false": "✗", "": "="}


def _option(name: str, words: Words) -> mf.OptionSchema:
    choices = _CHOICES[name]
    schema = mf.OptionSchema(name=name, default=choices[0], label=words.options[name], icon=_OPTION_ICONS[name])
    schema.type = mf.OPTION_TYPE_CHOICE
    for value in choices:
        icon = _CHOICE_ICONS.get(value, _OPTION_ICONS[name])
        schema.choices.add(value=value, label=_choice(name, value, words), icon=icon)
    return schema


def _choice(name: str, value: str, words: Words) -> str:
    if not value:
        return words.options[f"{name}_by_seats"]
    if value == RANDOM or name in ("troll_buster", "witchfinder_general"):
        return words.options[value]
    if name == "mage_seats":
        return _distribution(value)
    if name == "first_mage":
        return words.mages[value]
    return words.options.get(f"{name}.{value}") or words.options[f"{name}.n"].format(n=value)


def _distribution(seats: str) -> str:
    """Which mages each seat leads.

    >>> _distribution("0,1,0")
    'A C · B'
    """
    held: dict[str, list[str]] = {}
    for mage, seat in enumerate(seats.split(",")):
        held.setdefault(seat, []).append(mage_letter(mage))
    return " · ".join(" ".join(held[seat]) for seat in sorted(held))


def _cards(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=card.id,
            name=name_of(card.id, language),
            text=type_text(card.type, language),
            short_text=type_text(card.type, language),
            facts=_facts(card),
            rules=[_rule(card)],
        )
        for card in DATA.cards
    ]
    return mf.Catalogue(name="cards", label=words.terms["cards"], items=items)


def _facts(card: CardRecord) -> list[mf.Fact]:
    told: dict[str, object] = {"group": card.group}
    if card.sun or card.moon:
        told |= {"sun_force": card.sun, "moon_force": card.moon} if card.sun and card.moon else _force(card)
    if card.influence:
        told["influence"] = card.influence
    if card.timing:
        told["timing"] = card.timing
    if card.id in BOOK and (card.book or card.colour):
        told["colour"] = card.book or card.colour
    return facts(**told)


def _force(card: CardRecord) -> dict[str, object]:
    return {"sun_force": card.sun} if card.sun else {"moon_force": card.moon}


_GROUP_RULES: Final = {
    "basic": "SB-2.7",
    "ally": "SB-8",
    "fortuna": "SB-11.3",
    "location": "SB-2.11",
    "witch": "SB-2.9",
    "troll": "SB-2.9",
    "minion": "SB-2.10",
    "wand": "SB-9",
}
_ALLY_RULES: Final = {
    "centaur": "SB-8.2",
    "city_watchman": "SB-8.3",
    "changeling": "SB-8.4",
    "pixies": "SB-5.1",
    "ranger": "SB-8.6",
    "vampire": "SB-8.7",
    "warlock": "SB-8.8",
    "knight": "SB-8.9",
    "squire": "SB-8.9",
    "warrior": "SB-8.10",
}
_SPELL_RULES: Final = {
    card.id: f"SB-10.{number}" for number, card in enumerate((c for c in DATA.cards if c.group == "spell"), 2)
}


def _rule(card: CardRecord) -> str:
    """Where the rules tell of a card."""
    return _SPELL_RULES.get(card.id) or _ALLY_RULES.get(card.type) or _GROUP_RULES.get(card.group, "SB-2.13")


def _named_things(words: Words, language: str) -> Iterator[mf.Catalogue]:
    """What has a name and nothing else to tell."""
    tables: tuple[tuple[str, Sequence[str], str], ...] = (
        ("places", PLACES, "SB-2.1"),
        ("books", BOOKS, "SB-2.3"),
        ("pieces", PIECES, "SB-2.2"),
    )
    for name, ids, rule in tables:
        items = [mf.CatalogueItem(id=each, name=name_of(each, language), rules=[rule]) for each in ids]
        yield mf.Catalogue(name=name, label=words.terms[name], items=items)
    mages = [mf.CatalogueItem(id=number, name=name, rules=["SB-1.2"]) for number, name in words.mages.items()]
    yield mf.Catalogue(name="mages", label=words.terms["mages"], items=mages)

"""The game in words and tables: the manifest, sentences for events, marks for a replay's timeline.

An event's sentence is the template of its code, or of the variant that `_key` names, with the event's fields as
arguments: seats, pawns and things by name, lists with commas. `{goal}`, `{source}` and `{place}` are other templates
(`to.p3`, `from.p3`, `at.p3`), so that each language may inflect regions as its sentences need. `{list}` is made of the
templates `amount.<resource>`, `{counts}` and `{scores}` of `count`. A sentence that begins with a thing begins with a
capital. Clients that fill in templates do it the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from broom_service.boards import BOARDS
from broom_service.catalogue import DATA, TowerRecord
from broom_service.clouds import CLOUDS
from broom_service.levels import Level
from broom_service.names import CIRCLES, REGIONS, SPACES, TOWERS, name_of, pawn_name, role_text, text_of
from broom_service.options import OPTIONS, PRESETS, RANDOM
from broom_service.rejections import RULES
from broom_service.resources import RESOURCE_IDS, read
from broom_service.roles import BRAVE, COWARDLY, EVENT, STANCES
from broom_service.tiles import TILE_SITE, TILES
from broom_service.words import LANGUAGES, Words, words_in
from grimoire.engine import MarkNote
from grimoire.engine.options import Range
from grimoire.engine.phrasebook import Manifests, bot_levels, clauses, facts, presets, templates
from grimoire.engine.schema import snake_case
from grimoire.engine.sentences import plain_arguments, sentence
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.v1 import manifest_pb2 as mf

__all__ = ["BroomServiceTexts", "amounts_words", "signed"]

_SEATS: Final = frozenset({"seat", "seats", "by", "leader", "first_seat", "next_leader", "brave_seat", "winners"})
"""Fields whose numbers are seats."""


class BroomServiceTexts:
    """`GameTexts` of Broom Service."""

    languages: tuple[str, ...] = LANGUAGES

    def manifest(self, language: str) -> mf.Manifest:
        """Everything a client says or lists about the game."""
        return _MANIFESTS.in_language(language)

    def say_event(self, event: Message, language: str, names: Mapping[int, str]) -> str:
        """One sentence for an event; empty where there is nothing to say.

        >>> moved = pb.PawnMoved(seat=0, pawn=1, to="f6", cause="role", **{"from": "p5"})
        >>> BroomServiceTexts().say_event(moved, "en", {0: "Mira"})
        'Mira flies from prairie 5 to forest 6 (pawn 2).'
        >>> BroomServiceTexts().say_event(moved, "el", {0: "Mira"})
        'Mira πετάει από το λιβάδι 5 στο δάσος 6 (πιόνι 2).'
        """
        words = words_in(language)
        key = _key(event)
        if not key:
            return ""
        arguments = plain_arguments(event, lambda field, value: _said(field, value, words, language, names))
        arguments |= dict(_more(event, words, language, names))
        return sentence(words.events[key], arguments, _SEATS)

    def mark(self, event: Message) -> MarkNote | None:
        """The timeline mark this event deserves: rounds, tricks, deliveries, clouds, amulets, who is out, the end."""
        found = _MARKS.get(type(event))
        if found is None:
            return None
        kind, label, fields = found
        return MarkNote(kind, f"mark.{label}", tuple((field, str(getattr(event, field))) for field in fields))


def signed(number: int) -> str:
    """With its sign.

    >>> signed(3), signed(-3)
    ('+3', '-3')
    """
    return f"{number:+}"


def amounts_words(amounts: Sequence[int], language: str) -> str:
    """Resources in catalogue order, those that are not 0.

    >>> amounts_words((2, 0, 0, 1), "en"), amounts_words((0, 0, 0, 0), "el")
    ('orange 2, wands 1', 'τίποτα')
    """
    say = words_in(language).events
    told = (say[f"amount.{each}"].format(n=n) for each, n in zip(RESOURCE_IDS, amounts, strict=True) if n)
    return ", ".join(told) or say["amount.none"]


_MARKS: Final[dict[type[Message], tuple[str, str, Sequence[str]]]] = {
    pb.RoundStarted: ("turn", "round", ("round", "event")),
    pb.TrickStarted: ("phase", "trick", ("trick_no",)),
    pb.BraveOutdone: ("key_event", "outdone", ("seat",)),
    pb.PotionDelivered: ("key_event", "delivered", ("tower",)),
    pb.CloudCharmed: ("key_event", "charmed", ("cloud",)),
    pb.AmuletTaken: ("key_event", "amulet", ("seat",)),
    pb.SeatRetired: ("key_event", "retired", ("seat",)),
    pb.MatchEnded: ("key_event", "ended", ()),
}


# ---- sentences -------------------------------------------------------------------------------------------------------


def _said(field: str, value: Any, words: Words, language: str, names: Mapping[int, str]) -> str:
    if field in _SEATS:
        seats = [value] if isinstance(value, int) else value
        return ", ".join(words.seat(seat, names) for seat in seats)
    if field == "pawn":
        return pawn_name(value, language)
    if isinstance(value, str | int):
        return name_of(str(value), language)
    return ", ".join(name_of(str(each), language) for each in value)


_SILENT: Final = (pb.StepOpened, pb.StepUsed, pb.TimeoutsCleared)
"""What may be done next is said where it is asked."""

_TOLD_ELSEWHERE: Final[dict[type[Message], frozenset[str]]] = {
    # Potions and wands of a delivery, of a charm, of offers and sets are told with it, and so are their points.
    pb.ResourcesChanged: frozenset({"delivery", "charm", "the_upper_hand", "the_works"}),
    pb.VpChanged: frozenset({"delivery", "charm", "the_works"}),
    pb.StepClosed: frozenset({"done"}),
}
"""Events that are not said for these reasons."""

_VARIANTS: Final[dict[type[Message], str]] = {
    pb.SeatsAsked: "stage",
    pb.StepClosed: "reason",
    pb.ResourcesChanged: "reason",
    pb.SeatRetired: "reason",
    pb.MatchEnded: "reason",
}
"""Events whose code and this field name the template."""

_OWN_SENTENCE: Final = frozenset({"bewitched", "show", "five_points"})
"""Reasons of points that are no event of a round."""


def _key(event: Message) -> str:
    """The key of an event's template; empty: there is nothing to say."""
    if isinstance(event, _SILENT):
        return ""
    kind = type(event)
    if kind in _TOLD_ELSEWHERE and getattr(event, "reason", "") in _TOLD_ELSEWHERE[kind]:
        return ""
    code = snake_case(event.DESCRIPTOR.name)
    variant = _VARIANTS.get(kind)
    ending = getattr(event, variant) if variant is not None else _ending(event)
    return f"{code}_{ending}" if ending else code


def _ending(event: Any) -> str:
    """What follows the code of an event that is worded by what it holds."""
    match event:
        case pb.RolesChosen():
            return "own" if event.roles else ""
        case pb.ExtraAnswered():
            return "own" if event.used else ""
        case pb.ExtrasRevealed():
            return "" if event.extras else "none"
        case pb.RolePlayed():
            return _played(event)
        case pb.TrickEnded():
            return "" if event.HasField("brave_seat") else "none"
        case pb.VpChanged():
            return event.reason if event.reason in _OWN_SENTENCE else ""
        case pb.PawnMoved():
            return "turbo" if event.cause == "turbo" else ""
        case pb.PotionDelivered():
            return "wands" if event.wands else ""
        case pb.CloudCharmed():
            return "bonus" if event.vp_bonus else ""
        case pb.OfferMade():
            return "own" if event.HasField("resources") else ""
        case _:
            return ""


def _played(event: pb.RolePlayed) -> str:
    if event.spent_role:
        return "spent"
    if event.instead:
        return "event" if event.instead == EVENT else "tile"
    return event.stance


def _more(event: Any, words: Words, language: str, names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    """Arguments that are not plain fields."""
    yield from _places(event, words)
    match event:
        case pb.TableLaid():
            yield "n", str(len(event.clouds))
        case pb.CountsRevealed():
            yield "counts", _counts(enumerate(event.counts), words, names)
        case pb.ExtrasRevealed():
            yield "seats", ", ".join(words.seat(extra.seat, names) for extra in event.extras)
        case pb.ResourcesChanged():
            yield "list", amounts_words([abs(n) for n in read(event.deltas)], language)
        case pb.VpChanged():
            yield "delta", signed(event.delta)
        case pb.PotionDelivered():
            yield "sum", _sum(event)
        case pb.OfferMade():
            yield "list", amounts_words(read(event.resources), language)
        case pb.OffersRevealed():
            offers = ((offer.seat, sum(read(offer.resources))) for offer in event.offers)
            yield "counts", _counts(offers, words, names)
        case pb.MatchEnded():
            yield "scores", _counts(((score.seat, score.vp) for score in event.scores), words, names)


def _places(event: Any, words: Words) -> Iterator[tuple[str, str]]:
    """Regions as a sentence needs them."""
    for field, argument, case in _INFLECTED:
        place = words.events.get(f"{case}.{getattr(event, field, '')}")
        if place:
            yield argument, place


_INFLECTED: Final = (
    ("region", "place", "at"),
    ("region", "source", "from"),
    ("to", "goal", "to"),
    ("from", "source", "from"),
)
"""A field, the argument it gives, and which form of the region that is."""


def _counts(counted: Iterable[tuple[int, int]], words: Words, names: Mapping[int, str]) -> str:
    return ", ".join(words.events["count"].format(seat=words.seat(seat, names), n=n) for seat, n in counted)


def _sum(event: pb.PotionDelivered) -> str:
    """The points of a delivery with their parts: of the tower, of a brave druid, of storm clouds (BS-7.2).

    >>> _sum(pb.PotionDelivered(vp_tower=2, vp_bonus=3, vp_storm=4)), _sum(pb.PotionDelivered(vp_tower=6))
    ('2 + 3 + 4 = 9', '6')
    """
    parts = [part for part in (event.vp_tower, event.vp_bonus, event.vp_storm) if part]
    added = " + ".join(map(str, parts))
    return f"{added} = {sum(parts)}" if len(parts) > 1 else added


# ---- the manifest ----------------------------------------------------------------------------------------------------

_OPTION_ICONS: Final = {
    "board": "⬡",
    "storm_clouds": "↯",
    "heavy_clouds": "☁",
    "mountain_tiles": "▲",
    "forest_tiles": "♣",
    "hill_tiles": "◠",
    "first_player": "⚑",
    "turn_time_s": "◷",
    "timeout_limit": "⊘",
}
"""Plain signs; each stands beside its label, never alone."""

_CHOICE_ICONS: Final = {RANDOM: "⚄", "true": "✓", "false": "✗", "": "="}
_BY_BOARD: Final = frozenset({"mountain_tiles", "forest_tiles", "hill_tiles"})
"""Options that may be left to the board: the first choice."""


def _manifest(language: str) -> mf.Manifest:
    words = words_in(language)
    return mf.Manifest(
        game=DATA.game,
        language=language,
        name=words.name,
        rules_version=1,
        catalog_version=DATA.catalog_version,
        min_seats=DATA.options.seats.min,
        max_seats=DATA.options.seats.max,
        options=[_option(name, words, language) for name in OPTIONS],
        catalogues=[
            _roles(words, language),
            _events(words, language),
            _tiles(words, language),
            _clouds(words, language),
            _resources(words, language),
            _regions(words, language),
            _towers(words, language),
            *_named_things(words, language),
        ],
        templates=templates(words, {**RULES, "bad_position": "BS-2"}, _terms(language)),
        clauses=clauses(words),
        languages=LANGUAGES,
        bot_levels=bot_levels(words, Level),
        presets=presets(words, PRESETS),
    )


_MANIFESTS: Final = Manifests(_manifest, LANGUAGES)


def _terms(language: str) -> Iterator[mf.Template]:
    """Words of the rules that stand in the data."""
    for term in (*(each.id for each in DATA.terms), *(each.id for each in DATA.terrains)):
        yield mf.Template(kind=mf.TEMPLATE_KIND_TERM, key=term, text=name_of(term, language))


def _option(name: str, words: Words, language: str) -> mf.OptionSchema:
    option = OPTIONS[name]
    by_board = name in _BY_BOARD
    default = "" if by_board else str(option.default)
    schema = mf.OptionSchema(name=name, default=default, label=words.options[name], icon=_OPTION_ICONS[name])
    if isinstance(option, Range):
        schema.type = mf.OPTION_TYPE_INTEGER
        schema.min, schema.max = option.min, option.max
        schema.unit = words.options["seconds"] if name == "turn_time_s" else ""
        return schema
    schema.type = mf.OPTION_TYPE_CHOICE
    for value in ("", *option.values) if by_board else option.values:
        icon = _CHOICE_ICONS.get(value, _OPTION_ICONS[name])
        schema.choices.add(value=value, label=_choice(value, words, language), icon=icon)
    return schema


def _choice(value: str, words: Words, language: str) -> str:
    return words.options["by_board"] if not value else words.options.get(value) or name_of(value, language)


def _roles(words: Words, language: str) -> mf.Catalogue:
    items = []
    for role in DATA.roles:
        brave, cowardly = (role_text(role.id, stance, language) for stance in (BRAVE, COWARDLY))
        text = words.terminal["role_text"].format(brave=brave, cowardly=cowardly)
        told: dict[str, object] = {"kind": role.kind, BRAVE: brave, COWARDLY: cowardly}
        if role.terrains:
            told["terrain"] = ", ".join(role.terrains)
        if role.colour:
            told["colour"] = role.colour
        item = mf.CatalogueItem(id=role.id, name=name_of(role.id, language), text=text, short_text=brave)
        item.facts.extend(facts(**told))
        item.rules.extend(["BS-2.4", _ROLE_RULES[role.kind]])
        items.append(item)
    return mf.Catalogue(name="roles", label=words.terms["roles"], items=items)


_ROLE_RULES: Final = {"gatherer": "BS-6.7", "witch": "BS-7.3", "druid": "BS-7.3", "fairy": "BS-7.5"}

_EVENT_RULES: Final = {
    "more_or_less": "BS-9.1",
    "black_market": "BS-9.2",
    "black_distillery": "BS-9.2",
    "brave_heart": "BS-9.3",
    "the_upper_hand": "BS-9.6",
    "the_works": "BS-9.8",
}


def _events(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=event.id,
            name=name_of(event.id, language),
            text=text_of(event.id, language),
            short_text=words.terms[event.when],
            facts=facts(when=event.when),
            rules=["BS-2.5", _EVENT_RULES.get(event.id, "BS-9.4")],
        )
        for event in DATA.events
    ]
    return mf.Catalogue(name="events", label=words.terms["events"], items=items)


_TILE_RULES: Final = {"mountain": "BS-8.5", "forest": "BS-8.4", "hill": "BS-8.3"}


def _tiles(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=tile.id,
            name=name_of(tile.id, language),
            text=text_of(tile.id, language),
            short_text=name_of(f"{TILE_SITE[tile.id]}_tile", language),
            facts=facts(kind=f"{TILE_SITE[tile.id]}_tile"),
            rules=["BS-2.7", _TILE_RULES[TILE_SITE[tile.id]]],
        )
        for tile in TILES.values()
    ]
    return mf.Catalogue(name="tiles", label=words.terms["tiles"], items=items)


def _clouds(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=cloud.id,
            name=name_of(cloud.id, language),
            text=text_of(cloud.id, language),
            short_text=words.terms["storm" if cloud.kind else "heavy"],
            facts=facts(kind="storm" if cloud.kind else "heavy", stars=cloud.stars, lightning=cloud.lightning),
            rules=["BS-2.6", "BS-7.6" if cloud.kind else "BS-7.5"],
        )
        for cloud in CLOUDS.values()
    ]
    return mf.Catalogue(name="clouds", label=words.terms["clouds"], items=items)


def _resources(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(id=each.id, name=name_of(each.id, language), facts=facts(kind=each.kind), rules=["BS-2.1"])
        for each in DATA.resources
    ]
    return mf.Catalogue(name="resources", label=words.terms["resources"], items=items)


def _regions(words: Words, language: str) -> mf.Catalogue:
    terrain = {region.id: region.terrain for board in DATA.boards for region in board.regions}
    items = [
        mf.CatalogueItem(
            id=region, name=name_of(region, language), facts=facts(terrain=terrain[region]), rules=["BS-2.8"]
        )
        for region in REGIONS
    ]
    return mf.Catalogue(name="regions", label=words.terms["regions"], items=items)


def _towers(words: Words, language: str) -> mf.Catalogue:
    """Towers of the same id are another on each side of the board."""
    items = []
    for tower in TOWERS:
        records = {board.id: board.towers[tower] for board in BOARDS.values() if tower in board.towers}
        say = words.terminal["tower_side"]
        text = " ".join(
            say.format(board=name_of(side, language), tower=_worth(record, words, language))
            for side, record in records.items()
        )
        record = next(iter(records.values()))
        told = facts(colour=record.colour, shape=f"{record.shape}_tower")
        name = name_of(tower, language)
        items.append(mf.CatalogueItem(id=tower, name=name, text=text, facts=told, rules=["BS-2.8"]))
    return mf.Catalogue(name="towers", label=words.terms["towers"], items=items)


def _worth(record: TowerRecord, words: Words, language: str) -> str:
    touches = ", ".join(name_of(region, language) for region in record.touches)
    key = "tower_worth_wands" if record.wands else "tower_worth"
    return words.terminal[key].format(vp=record.vp, wands=record.wands, regions=touches)


def _named_things(words: Words, language: str) -> Iterator[mf.Catalogue]:
    """What has a name and nothing else to tell."""
    pawns = {str(pawn): pawn_name(pawn, language) for pawn in range(DATA.constants.pawns)}
    stances = {stance: words.names[f"stance.{stance}"] for stance in (*STANCES, EVENT)}
    tables: tuple[tuple[str, Mapping[str, str], str], ...] = (
        ("spaces", {space: name_of(space, language) for space in SPACES}, "BS-2.8"),
        ("circles", {circle: name_of(circle, language) for circle in CIRCLES}, "BS-8.3"),
        ("pawns", pawns, "BS-2.3"),
        ("stances", stances, "BS-5.1"),
        ("boards", {board: name_of(board, language) for board in BOARDS}, "BS-2.8"),
    )
    for catalogue, named, rule in tables:
        items = [mf.CatalogueItem(id=each, name=name, rules=[rule]) for each, name in named.items()]
        yield mf.Catalogue(name=catalogue, label=words.terms[catalogue], items=items)

"""The game in words and tables (TT-14): the manifest, sentences for events, marks for a replay's timeline.

Arguments of templates are named like the fields they come from. `seat`, `winner`, `first_seat` and `active_seat` are
seats; `card` and `cards` are ids of the catalogue `cards`, `battlefield` one of `battlefields`; `resource` and `field`
are keys of terms. Clients put names in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import MarkNote
from grimoire.engine.options import Choice
from grimoire.engine.phrasebook import Manifests, bot_levels, clauses, facts, presets, templates
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import manifest_pb2 as mf
from two_towers.battlefields import BATTLEFIELDS
from two_towers.cards import CARDS, Card
from two_towers.catalogue import DATA
from two_towers.fields import FIELDS
from two_towers.levels import Level
from two_towers.options import OPTIONS, PRESETS
from two_towers.rejections import RULES
from two_towers.short import short_text, signed
from two_towers.words import LANGUAGES, Words, words_in

__all__ = ["ICONS", "TwoTowersTexts", "card_name", "seat_name", "short_text"]

ICONS: Final = {"standard": "▤", "endless": "∞", "random": "⚄", "seat_0": "①", "seat_1": "②"}
"""Plain signs for option values; each stands beside its label, never alone."""

_OPTION_ICONS: Final = {
    "battlefield": "⛰",
    "deck_type": "▤",
    "turn_time_s": "◷",
    "timeout_limit": "⌛",
    "first_player": "⚑",
}
_BLOW: Final = 10
"""A card that changes a tower by so much is a key event of a replay."""


class TwoTowersTexts:
    """`GameTexts` of Two Towers."""

    languages: tuple[str, ...] = LANGUAGES

    def manifest(self, language: str) -> mf.Manifest:
        """Everything a client says or lists about the game."""
        return _MANIFESTS.in_language(language)

    def say_event(self, event: Message, language: str, names: Mapping[int, str]) -> str:
        """One sentence for an event; empty where there is nothing to say.

        >>> drawn = pb.CardDrawn(seat=1, slot=2, cause="refill", pile_count=80)
        >>> TwoTowersTexts().say_event(drawn, "en", {1: "Mira"})
        'Mira draws a card.'
        """
        say = _SAY.get(type(event))
        return say(event, _Speaker(language, names)) if say else ""

    def mark(self, event: Message) -> MarkNote | None:
        """The timeline mark this event deserves: turns, great blows, reshuffles, missed turns, the end."""
        make = _MARKS.get(type(event))
        return make(event) if make else None


def _mark_turn(event: pb.TurnStarted) -> MarkNote:
    return MarkNote("turn", "mark.turn", (("turn_no", str(event.turn_no)), ("seat", str(event.seat))))


def _mark_blow(event: pb.EffectsApplied) -> MarkNote | None:
    blow = max((c.delta for c in event.changes if c.field == "tower"), key=abs, default=0)
    if abs(blow) < _BLOW:
        return None
    return MarkNote("key_event", "mark.blow", (("card", event.card), ("delta", signed(blow))))


def _mark_reshuffle(event: pb.PileReshuffled) -> MarkNote:
    return MarkNote("key_event", "mark.reshuffle", (("n", str(event.n)),))


def _mark_timed_out(event: pb.TurnTimedOut) -> MarkNote:
    return MarkNote("key_event", "mark.timed_out", (("seat", str(event.seat)),))


def _mark_ended(event: pb.MatchEnded) -> MarkNote:  # noqa: ARG001 - as the others
    return MarkNote("key_event", "mark.ended")


_MARKS: Final[dict[type[Message], Callable[[Any], MarkNote | None]]] = {
    pb.TurnStarted: _mark_turn,
    pb.EffectsApplied: _mark_blow,
    pb.PileReshuffled: _mark_reshuffle,
    pb.TurnTimedOut: _mark_timed_out,
    pb.MatchEnded: _mark_ended,
}
"""Looked at for every event of a replay."""


def card_name(card: str, language: str) -> str:
    """A card's display name."""
    return CARDS[card].name.in_language(language)


def seat_name(seat: int, language: str, names: Mapping[int, str]) -> str:
    """A seat's display name, or `Seat 0` for one without."""
    return words_in(language).seat(seat, names)


# ---- sentences -------------------------------------------------------------------------------------------------------


class _Speaker:
    """One language and the players' names."""

    def __init__(self, language: str, names: Mapping[int, str]) -> None:
        self.language = language
        self.words = words_in(language)
        self._names = names

    def say(self, key: str, **arguments: object) -> str:
        return self.words.events[key].format(**arguments)

    def seat(self, seat: int) -> str:
        return seat_name(seat, self.language, self._names)

    def card(self, card: str) -> str:
        return card_name(card, self.language)

    def reasons(self, reasons: Iterable[str]) -> str:
        return ", ".join(self.words.reasons[reason] for reason in reasons)


def _battle_begun(event: pb.BattleBegun, to: _Speaker) -> str:
    return to.say(
        "battle_begun",
        battlefield=BATTLEFIELDS[event.battlefield].name.in_language(to.language),
        goal_tower=event.goal_tower,
        goal_resource=event.goal_resource,
        first_seat=to.seat(event.first_seat),
    )


def _hand_dealt(event: pb.HandDealt, to: _Speaker) -> str:
    if not event.cards:
        return to.say("hand_dealt_hidden", seat=to.seat(event.seat))
    return to.say("hand_dealt", seat=to.seat(event.seat), cards=", ".join(map(to.card, event.cards)))


def _turn_started(event: pb.TurnStarted, to: _Speaker) -> str:
    gained = event.produced
    return to.say(
        "turn_started",
        turn_no=event.turn_no,
        seat=to.seat(event.seat),
        ore=gained.ore,
        mana=gained.mana,
        recruits=gained.recruits,
    )


def _card_played(event: pb.CardPlayed, to: _Speaker) -> str:
    return to.say(
        "card_played",
        seat=to.seat(event.seat),
        card=to.card(event.card),
        cost=event.cost,
        resource=to.words.terms[event.resource],
    )


def _effects_applied(event: pb.EffectsApplied, to: _Speaker) -> str:
    changes = (
        to.say("change", seat=to.seat(c.seat), field=to.words.terms[c.field], delta=signed(c.delta), value=c.value)
        for c in event.changes
    )
    return to.say("effects_applied", changes="; ".join(changes))


def _card_discarded(event: pb.CardDiscarded, to: _Speaker) -> str:
    return to.say(f"card_discarded_{event.cause}", seat=to.seat(event.seat), card=to.card(event.card))


def _pile_reshuffled(event: pb.PileReshuffled, to: _Speaker) -> str:
    return to.say("pile_reshuffled", count=event.count)


def _card_drawn(event: pb.CardDrawn, to: _Speaker) -> str:
    if not event.card:
        return to.say("card_drawn_hidden", seat=to.seat(event.seat))
    return to.say("card_drawn", seat=to.seat(event.seat), card=to.card(event.card))


def _turn_timed_out(event: pb.TurnTimedOut, to: _Speaker) -> str:
    return to.say("turn_timed_out", seat=to.seat(event.seat), consecutive=event.consecutive)


def _match_ended(event: pb.MatchEnded, to: _Speaker) -> str:
    reasons = to.reasons(event.reasons)
    if not event.HasField("winner"):
        return to.say("match_ended_draw", reasons=reasons)
    winner = to.seat(event.winner)
    if not event.ladder_step:
        return to.say("match_ended_win", winner=winner, reasons=reasons)
    step = to.words.ladder[event.ladder_step]
    return to.say("match_ended_ladder", winner=winner, ladder_step=step, reasons=reasons)


def _position_arranged(event: pb.PositionArranged, to: _Speaker) -> str:
    return to.say("position_arranged", turn_no=event.turn_no, active_seat=to.seat(event.active_seat))


# A pile's order and the bare end of a turn are no news to anybody.
_SAY: Final[dict[type[Message], Callable[[Any, _Speaker], str]]] = {
    pb.BattleBegun: _battle_begun,
    pb.HandDealt: _hand_dealt,
    pb.TurnStarted: _turn_started,
    pb.CardPlayed: _card_played,
    pb.EffectsApplied: _effects_applied,
    pb.CardDiscarded: _card_discarded,
    pb.PileReshuffled: _pile_reshuffled,
    pb.CardDrawn: _card_drawn,
    pb.TurnTimedOut: _turn_timed_out,
    pb.MatchEnded: _match_ended,
    pb.PositionArranged: _position_arranged,
}


# ---- the manifest ----------------------------------------------------------------------------------------------------


def _manifest(language: str) -> mf.Manifest:
    words = words_in(language)
    return mf.Manifest(
        game=DATA.game,
        language=language,
        name=words.name,
        rules_version=1,
        catalog_version=DATA.catalog_version,
        min_seats=DATA.constants.seats,
        max_seats=DATA.constants.seats,
        options=[_option(name, words, language) for name in OPTIONS],
        catalogues=[_cards(words, language), _battlefields(words, language)],
        templates=templates(words, RULES, _ladder(words)),
        clauses=clauses(words),
        languages=LANGUAGES,
        bot_levels=bot_levels(words, Level),
        presets=presets(words, PRESETS),
    )


_MANIFESTS: Final = Manifests(_manifest)


def _option(name: str, words: Words, language: str) -> mf.OptionSchema:
    option = OPTIONS[name]
    schema = mf.OptionSchema(
        name=name, default=str(option.default), label=words.options[name], icon=_OPTION_ICONS[name]
    )
    if isinstance(option, Choice):
        schema.type = mf.OPTION_TYPE_CHOICE
        schema.choices.extend(_choice(name, value, words, language) for value in option.values)
    else:
        schema.type = mf.OPTION_TYPE_INTEGER
        schema.min, schema.max = option.min, option.max
        schema.unit = words.options["seconds"] if name == "turn_time_s" else ""
    return schema


def _choice(option: str, value: str, words: Words, language: str) -> mf.OptionItem:
    if option == "battlefield":
        field = BATTLEFIELDS[value]
        tower, wall, *_ = field.numbers
        note = words.options["field_note"].format(
            tower=tower, wall=wall, goal_tower=field.goal_tower, goal_resource=field.goal_resource
        )
        return mf.OptionItem(value=value, label=field.name.in_language(language), note=note)
    if option == "deck_type":
        label = next(deck.name.in_language(language) for deck in DATA.deck_types if deck.id == value)
        return mf.OptionItem(value=value, label=label, icon=ICONS[value], note=words.options[f"{value}_note"])
    return mf.OptionItem(value=value, label=words.options[value], icon=ICONS[value])


def _cards(words: Words, language: str) -> mf.Catalogue:
    items = [_card_item(card, language) for card in CARDS.values()]
    return mf.Catalogue(name="cards", label=words.terms["cards"], items=items)


def _card_item(card: Card, language: str) -> mf.CatalogueItem:
    rules = ["TT-4.4", *(["TT-4.6"] if card.draws else []), *(["TT-4.7"] if card.play_again else [])]
    return mf.CatalogueItem(
        id=card.id,
        name=card.name.in_language(language),
        text=card.text.in_language(language),
        short_text=short_text(card.id, language),
        facts=facts(
            no=card.no,
            colour=card.colour,
            resource=card.resource,
            cost=card.cost,
            act_again=str(card.play_again).lower(),
        ),
        rules=rules,
    )


def _battlefields(words: Words, language: str) -> mf.Catalogue:
    items = [
        mf.CatalogueItem(
            id=field.id,
            name=field.name.in_language(language),
            facts=facts(
                **dict(zip(FIELDS, field.numbers, strict=True)),
                tower_goal=field.goal_tower,
                resource_goal=field.goal_resource,
            ),
            rules=["TT-2.3"],
        )
        for field in BATTLEFIELDS.values()
    ]
    return mf.Catalogue(name="battlefields", label=words.terms["battlefield"], items=items)


def _ladder(words: Words) -> Iterable[mf.Template]:
    return (
        mf.Template(kind=mf.TEMPLATE_KIND_REASON, key=f"ladder.{key}", text=text) for key, text in words.ladder.items()
    )

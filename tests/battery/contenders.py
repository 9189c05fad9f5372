"""The games under test, and what the battery must be told of each."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from grimoire.plugins import GamePlugin, game_names, load_game
from tests.support.toy import PLUGIN as TOY
from tests.support.toy.state import RUNES

Swap = Callable[[Any, int, frozenset[str], random.Random], Any]
"""(state, seat, words to be left alone, chance) to a state that differs only in what this seat may not know, and not in
what the next command brings to light."""


class Contender(msgspec.Struct, frozen=True):
    """One game with one set of options.

    Attributes:
        bound: the longest match, in accepted commands.
        swap: exchanges what a seat may not know.
    """

    plugin: GamePlugin
    seats: int
    options: Mapping[str, str]
    bound: int
    swap: Swap

    def __str__(self) -> str:
        chosen = "-".join(self.options.values()) or "defaults"
        return f"{self.plugin.game.id}-{self.seats}-{chosen}"


# ---- two_towers ------------------------------------------------------------------------------------------------------

BATTLEFIELDS = (
    "archmage_fortress",
    "crystal_garden",
    "coastal_fortress",
    "azure_valley",
    "misty_harbour",
    "square_of_winds",
    "free_steppe",
    "mirror_labyrinth",
)
_DRAWN_BY_ONE_COMMAND = 2


def swap_two_towers(state: Any, seat: int, keep: frozenset[str], chance: random.Random) -> Any:
    """Cards of the enemy's hand and of the deeper pile change places; endless: other cards in the enemy's hand."""
    from two_towers.cards import CATALOGUE

    enemy = 1 - seat
    hand, pile = [*state.seats[enemy].hand], [*state.pile]
    slots = [slot for slot, card in enumerate(hand) if card and card not in keep]
    if state.terms.standard:
        deep = range(_DRAWN_BY_ONE_COMMAND, len(pile))
        places = [(hand, slot) for slot in slots] + [(pile, index) for index in deep if pile[index] not in keep]
        cards = [where[index] for where, index in places]
        chance.shuffle(cards)
        for (where, index), card in zip(places, cards, strict=True):
            where[index] = card
    else:
        for slot in slots:
            card = chance.choice(CATALOGUE)
            if hand.count(card) < 2 and card not in keep:
                hand[slot] = card
    seats = [*state.seats]
    seats[enemy] = replace(seats[enemy], hand=tuple(hand))
    return replace(state, seats=tuple(seats), pile=tuple(pile))


def _two_towers() -> list[Contender]:
    plugin = load_game("two_towers")
    return [
        Contender(plugin, 2, {"battlefield": field, "deck_type": deck}, 2_000, swap_two_towers)
        for field in BATTLEFIELDS
        for deck in ("standard", "endless")
    ]


# ---- wizards_garden --------------------------------------------------------------------------------------------------

_TURNED_UP_BY_ONE_COMMAND = 3


def swap_wizards_garden(state: Any, seat: int, keep: frozenset[str], chance: random.Random) -> Any:
    """Spirits of the opponent's hand and of the deeper deck change places, and its spells with those nobody has."""
    enemy = 1 - seat
    side = state.seats[enemy]
    hand, deck = [*side.hand], [*state.deck]
    spells, aside = [*side.spells], [*state.set_aside]
    for hidden, rest in ((hand, deck), (spells, aside)):
        first = _TURNED_UP_BY_ONE_COMMAND if rest is deck else 0
        places = [(hidden, index) for index in range(len(hidden))]
        places += [(rest, index) for index in range(first, len(rest))]
        places = [(where, index) for where, index in places if where[index] not in keep]
        cards = [where[index] for where, index in places]
        chance.shuffle(cards)
        for (where, index), card in zip(places, cards, strict=True):
            where[index] = card
    seats = [*state.seats]
    seats[enemy] = replace(side, hand=tuple(hand), spells=tuple(spells))
    return replace(state, seats=tuple(seats), deck=tuple(deck), set_aside=tuple(aside))


def _wizards_garden() -> list[Contender]:
    plugin = load_game("wizards_garden")
    return [
        Contender(plugin, 2, {"spells_per_player": spells, "turn_limit": turns}, 100 * int(turns), swap_wizards_garden)
        for spells, turns in (("2", "60"), ("3", "40"), ("1", "40"))
    ]


# ---- spellbound ------------------------------------------------------------------------------------------------------

_DECK_SEEN, _WICKED_SEEN, _SPELLS_SEEN, _VILLAGES_SEEN = 17, 5, 3, 3
"""So many cards, from the top or from the lowest number, one command may bring to light."""


def swap_spellbound(state: Any, seat: int, keep: frozenset[str], chance: random.Random) -> Any:
    """Deeper cards of the three decks change places, and face-down cards of villages, allies also with the box."""
    from spellbound.cards import ALLIES
    from spellbound.places import VILLAGES

    villages, box = [*state.villages], [*state.box]
    hidden = [n for n, (card, up) in enumerate(zip(villages, state.face_up, strict=True)) if card and not up]
    free = [n for n in hidden[_VILLAGES_SEEN:] if VILLAGES[n] not in keep]
    _shuffle([(villages, n) for n in free], chance)
    allies = [(villages, n) for n in free if villages[n] in ALLIES]
    _shuffle([*allies, *((box, n) for n in range(len(box)))], chance)
    decks = [[*deck] for deck in (state.deck, state.wicked_deck, state.spell_deck)]
    for deck, seen in zip(decks, (_DECK_SEEN, _WICKED_SEEN, _SPELLS_SEEN), strict=True):
        _shuffle([(deck, n) for n in range(seen, len(deck))], chance)
    deck, wicked, spells = map(tuple, decks)
    return replace(state, villages=tuple(villages), box=tuple(box), deck=deck, wicked_deck=wicked, spell_deck=spells)


def _shuffle(places: list[tuple[list[str], int]], chance: random.Random) -> None:
    cards = [where[index] for where, index in places]
    chance.shuffle(cards)
    for (where, index), card in zip(places, cards, strict=True):
        where[index] = card


def _spellbound() -> list[Contender]:
    plugin = load_game("spellbound")
    return [
        Contender(plugin, seats, options, 20_000, swap_spellbound)
        for seats, options in (
            (3, {"troll_buster": "true"}),
            (1, {"mages": "2"}),
            (2, {"mages": "4", "mage_seats": "0,1,1,0"}),
            (4, {"dan": "5", "witchfinder_general": "true"}),
        )
    ]


# ---- broom_service ---------------------------------------------------------------------------------------------------

_EVENTS_SEEN, _BEWITCHED_SEEN = 1, 3
"""So many of each stack, from the top, one command may bring to light."""


def swap_broom_service(state: Any, seat: int, keep: frozenset[str], chance: random.Random) -> Any:
    """Roles, sealed answers and offers of the others become other ones, and the deeper stacks change places.

    The next trick shows who holds the role that is led; the last answer of a simultaneous stage shows the others.
    """
    from broom_service.roles import MORE_OR_LESS, ROLE_IDS, in_order
    from broom_service.state import Extra, Stage
    from broom_service.tiles import EXTRA_ROLE_TILES

    asked, others = state.asked, [other for other in range(state.terms.seats) if other != seat]
    shown = keep | {state.led_role}
    if asked is Stage.LEAD and state.leader == seat:
        shown |= {*state.hands[seat]}
    waits_on = len(state.waiting) > 1
    hands, extras, offers = [*state.hands], [*state.extras], [*state.offers]
    for other in others:
        stays = [role for role in hands[other] if role in shown]
        free = [role for role in ROLE_IDS if role not in shown]
        count = len(hands[other]) - len(stays)
        if asked is Stage.CHOOSE and waits_on and state.event == MORE_OR_LESS and hands[other]:
            count = chance.randint(1, 5)
        hands[other] = in_order((*stays, *chance.sample(free, min(count, len(free)))))
        tiles = [tile for tile in state.forest_tiles[other] if tile in EXTRA_ROLE_TILES]
        if asked is Stage.EXTRA and tiles and other not in state.waiting:
            tile = extras[other].tile if extras[other] else ""
            tile = chance.choice(["", *tiles]) if waits_on else tile
            roles = [role for role in ROLE_IDS if role not in hands[other] and role not in shown]
            extras[other] = Extra(tile, chance.choice(roles)) if tile else None
        if asked is Stage.OFFER and waits_on and offers[other] is not None:
            offers[other] = tuple(chance.randint(0, held) for held in state.resources[other])
    events, out = [*state.events_to_come], [*state.events_out]
    places = [(events, n) for n in range(_EVENTS_SEEN, len(events))] + [(out, n) for n in range(len(out))]
    _shuffle([(where, n) for where, n in places if where[n] not in keep], chance)
    stack = [*state.bewitched_stack]
    _shuffle([(stack, n) for n in range(_BEWITCHED_SEEN, len(stack))], chance)
    return replace(
        state,
        hands=tuple(hands),
        extras=tuple(extras),
        offers=tuple(offers),
        events_to_come=tuple(events),
        events_out=tuple(out),
        bewitched_stack=tuple(stack),
    )


def _broom_service() -> list[Contender]:
    plugin = load_game("broom_service")
    return [
        Contender(plugin, seats, options, 1_200, swap_broom_service)
        for seats, options in (
            (3, {"board": "back", "storm_clouds": "true", "heavy_clouds": "11"}),
            (4, {"mountain_tiles": "true"}),
            (2, {"board": "back"}),
            (5, {"storm_clouds": "true", "heavy_clouds": "10"}),
        )
    ]


# ---- toy -------------------------------------------------------------------------------------------------------------


def swap_toy(state: Any, seat: int, keep: frozenset[str], chance: random.Random) -> Any:
    """Runes of the others' hands, hidden choices that stay hidden, and the deeper pouch change places."""
    keepers, pouch = [*state.keepers], [*state.pouch]
    hands = [[*keeper.hand] for keeper in keepers]
    places: list[tuple[list[str], int]] = [(pouch, index) for index in range(len(keepers), len(pouch))]
    for other, hand in enumerate(hands):
        if other != seat:
            places += [(hand, index) for index in range(len(hand))]
    places = [(where, index) for where, index in places if where[index] not in keep]
    runes = [where[index] for where, index in places]
    chance.shuffle(runes)
    for (where, index), rune in zip(places, runes, strict=True):
        where[index] = rune
    changed = tuple(replace(keeper, hand=tuple(hand)) for keeper, hand in zip(keepers, hands, strict=True))
    assert sorted(runes) == sorted({*runes} & RUNES.keys())
    return replace(state, keepers=changed, pouch=tuple(pouch))


def _toy() -> list[Contender]:
    return [
        Contender(TOY, seats, {"mode": mode, "rounds": rounds}, 200, swap_toy)
        for seats, mode, rounds in (
            (2, "coop", "2"),
            (3, "duel", "3"),
            (4, "coop", "1"),
            (2, "duel", "1"),
            (1, "party", "2"),
            (5, "party", "2"),
            (3, "melee", "3"),
        )
    ]


KNOWN = {
    "two_towers": _two_towers,
    "wizards_garden": _wizards_garden,
    "spellbound": _spellbound,
    "broom_service": _broom_service,
    "toy": _toy,
}

CONTENDERS = [*_toy(), *(c for name in game_names() if name in KNOWN for c in KNOWN[name]())]
"""Every option set of every game."""

SOME = [*{c.plugin.game.id: c for c in reversed(CONTENDERS)}.values()]
"""One option set of each game, for what does not depend on options."""

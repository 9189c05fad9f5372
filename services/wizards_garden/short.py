"""What a view shows, in signs and in words: spaces, wizard boards, threats, the battle.

Every sign stands beside its word somewhere on the same page, and nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.catalogue import DATA
from wizards_garden.names import kind_of, name_of, number_of
from wizards_garden.words import Words, words_in

__all__ = [
    "BRIGHT",
    "DIM",
    "FISH",
    "KIND_SIGNS",
    "LIT",
    "PEST_SIGN",
    "RECORDS",
    "SEAT_SIGNS",
    "WATER_SIGN",
    "battle_words",
    "cards_words",
    "cell_signs",
    "contents",
    "empty_sign",
    "gnome_sign",
    "group_signs",
    "group_words",
    "kind_words",
    "lantern_signs",
    "piece_sign",
    "signs_legend",
    "space_words",
    "spell_words",
    "turned",
]

SEAT_SIGNS: Final = ("●", "■")
"""Blue gnomes stand on discs, red ones on squares."""

KIND_SIGNS: Final = {"pest": "ж", "water": "≈", "spirit": "ψ", "gnome": "Λ", "fire": "ϟ"}
PEST_SIGN: Final = KIND_SIGNS["pest"]
WATER_SIGN: Final = KIND_SIGNS["water"]
FISH: Final = KIND_SIGNS["fire"]

BRIGHT: Final = "✶"
DIM: Final = "○"
LIT: Final = "!"
_STATE_SIGNS: Final = {"dim_on_board": "·", "lit_on_board": LIT, "bright_in_yard": BRIGHT, "dim_in_yard": DIM}

RECORDS: Final = {space.id: space for space in DATA.board.spaces}
"""The data's spaces, by id."""


def turned(view: pb.View) -> bool:
    """Whether the yard is drawn upside down: everybody has the own terrace below; without a seat, blue has."""
    return view.HasField("own_seat") and view.own_seat == 1


# ---- signs -----------------------------------------------------------------------------------------------------------


def contents(view: pb.View) -> dict[str, pb.Space]:
    """What lies on each space that holds something."""
    return {space.space: space for space in view.spaces}


def empty_sign(space: str) -> str:
    """A space on which nothing is, one sign: pit, deposit, terrace, plain."""
    record = RECORDS[space]
    if record.has_deposit:
        return "◎"
    return {"pit": "#", "terrace": "▫"}.get(record.kind, "·")


def cell_signs(held: pb.Space | None) -> tuple[str, str]:
    """Pieces and crystals of a space, without the water; and whose colour they have: blue, red, pest, fire or none.

    >>> cell_signs(pb.Space(space="a4", gnome="blue_gnome_05", lantern="fire", bright=True, water=2))
    ('●5✶ϟ', 'blue')
    >>> cell_signs(pb.Space(space="a3", pests=["pest_01", "pest_10"]))[0]
    'ж1ж10'
    """
    if held is None:
        return "", "none"
    pests = "".join(f"{PEST_SIGN}{number_of(pest)}" for pest in held.pests)
    if held.gnome:
        gnome = gnome_sign(held.gnome)
        if held.lantern:
            gnome += (BRIGHT if held.bright else DIM) + KIND_SIGNS[held.lantern]
        return (pests + gnome, "pest") if pests else (gnome, held.gnome.partition("_")[0])
    if pests:
        return pests, "pest"
    return (f"{FISH}{held.fish_fire}", "fire") if held.fish_fire else ("", "none")


def gnome_sign(gnome: str) -> str:
    """A gnome with its number.

    >>> gnome_sign("red_gnome_07")
    '■7'
    """
    return f"{SEAT_SIGNS[gnome.startswith('red')]}{number_of(gnome)}"


def piece_sign(piece: str) -> str:
    """A gnome or pest with its number."""
    return f"{PEST_SIGN}{number_of(piece)}" if piece.startswith("pest") else gnome_sign(piece)


def lantern_signs(side: pb.SeatView) -> Iterable[tuple[str, str]]:
    """A seat's five lanterns as signs, e.g. `ϟ✶` bright in the yard, `≈·` dim on the board, each with its state."""
    for lantern in side.lanterns:
        yield KIND_SIGNS[lantern.kind] + _STATE_SIGNS[lantern.state], lantern.state


def group_signs(group: pb.Group) -> str:
    """A threat in signs, e.g. `a3>a4 ж1ж2`; pieces in transit in brackets."""
    pieces = "".join(map(piece_sign, group.pieces))
    return f"{group.group} {f'({pieces})' if group.in_transit else pieces}"


# ---- words -----------------------------------------------------------------------------------------------------------


def signs_legend(language: str) -> tuple[str, ...]:
    """What the signs mean, one line each."""
    words = words_in(language)
    return tuple(words.terminal[f"legend_{key}"] for key in _LEGEND)


_LEGEND: Final = (
    "gnomes",
    "pest",
    "pair",
    "fish",
    "water",
    "bright",
    "dim",
    "lit",
    "unlit",
    "threat",
    "transit",
    "ground",
)


def kind_words(kind: str, language: str) -> str:
    """A kind with its sign, e.g. `ϟ fire`."""
    return f"{KIND_SIGNS[kind]} {words_in(language).terms[kind]}"


def spell_words(spells: Sequence[str], language: str) -> str:
    """Spells by name, in order."""
    return ", ".join(name_of(spell, language) for spell in spells)


def cards_words(cards: Sequence[str], language: str) -> str:
    """Spirit cards by their kinds."""
    return ", ".join(kind_words(kind_of(card), language) for card in cards)


def space_words(space: str, held: pb.Space | None, language: str) -> str:
    """Everything on a space, in words, e.g. `a4: deposit, blue gnome 5, bright fire lantern, water 2`.

    >>> space_words("a4", pb.Space(space="a4", gnome="blue_gnome_05", lantern="fire", bright=True, water=2), "en")
    'a4: deposit, blue gnome 5, bright fire lantern, water 2'
    >>> space_words("b3", None, "fi")
    'b3: kaivoruutu'
    """
    words = words_in(language)
    things = [*_things(held, words, language)] if held is not None else []
    ground = [] if things and RECORDS[space].kind == "plain" else [*_ground(space, words)]
    return f"{space}: " + ", ".join([*ground, *things])


def _ground(space: str, words: Words) -> Iterable[str]:
    record = RECORDS[space]
    if record.terrace_owner is not None:
        yield words.terminal[f"terrace_{record.terrace_owner}"]
    if record.has_deposit:
        yield words.terms["deposit"]
    elif record.terrace_owner is None:
        yield words.terms[record.kind]


def _things(held: pb.Space, words: Words, language: str) -> Iterable[str]:
    say = words.terminal
    if held.gnome and held.pests:
        yield say["possessed"].format(gnome=name_of(held.gnome, language), pest=name_of(held.pests[0], language))
    else:
        yield from (name_of(piece, language) for piece in (*([held.gnome] if held.gnome else []), *held.pests))
    if held.lantern:
        yield f"{words.terms['bright' if held.bright else 'dim']} {words.events[f'name.{held.lantern}']}"
    if held.fish_fire:
        yield say["fish_fire"].format(n=held.fish_fire)
    if held.water:
        yield say["water"].format(n=held.water)


def group_words(group: pb.Group, language: str) -> str:
    """A threat in words, e.g. `a3>a4: pest 1, pest 2, strength 2`."""
    words = words_in(language)
    text = f"{group.group}: " + ", ".join(name_of(piece, language) for piece in group.pieces)
    if group.in_transit:
        text += ", " + words.terminal["in_transit"]
    strength = words.terminal["strength"].format(n=group.strength) if group.strength else words.terminal["needs_fire"]
    return f"{text}, {strength}"


def battle_words(view: pb.View, language: str, attacker: str) -> str:
    """The battle that is under way and what it waits for; empty: none is.

    Args:
        view: what is shown.
        language: of the words.
        attacker: the attacking player's name.
    """
    if not view.HasField("battle"):
        return ""
    words, battle = words_in(language), view.battle
    key = {"light": "battle_light", "space": "battle_space"}.get(battle.awaits, "battle")
    return words.terminal[key].format(
        seat=attacker,
        group=name_of(battle.group, language),
        target=battle.target,
        n=battle.strength,
        lantern=words.events[f"lantern.{battle.kind}"] if battle.kind else "",
        pieces=", ".join(name_of(piece, language) for piece in battle.survivors),
    )

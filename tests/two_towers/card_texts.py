"""Reads the cards' texts, English or Finnish, sentence by sentence: what a card does according to its words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

__all__ = ["Deed", "read_text"]

Deed = tuple[Any, ...]
"""A verb and its arguments: `("gain", "self", "wall", 3)`, `("if", condition, [...], [...])`."""

_FIELDS: Final = {
    "en": {
        "tower": "tower",
        "wall": "wall",
        "mine": "mines",
        "mines": "mines",
        "monastery": "monasteries",
        "monasteries": "monasteries",
        "barracks": "barracks",
        "ore": "ore",
        "mana": "mana",
        "recruits": "recruits",
    },
    "fi": {
        "kaivoksen": "mines",
        "kaivosta": "mines",
        "luostarin": "monasteries",
        "luostaria": "monasteries",
        "kasarmin": "barracks",
        "kasarmia": "barracks",
        "malmia": "ore",
        "manaa": "mana",
        "joukkoja": "recruits",
    },
}
_WORDS: Final = {"yhden": 1, "kaksi": 2}
_LESS: Final = ("self", "mines", "<", "enemy", "mines")

# A sentence, and the deeds it tells; `$1` is a number, `#1` a field, as groups of the pattern.
_EN: Final[tuple[tuple[str, Sequence[Deed]], ...]] = (
    (r"You gain (\d+) (\w+)", [("gain", "self", "#2", "$1")]),
    (r"You lose (\d+) (\w+)", [("lose", "self", "#2", "$1")]),
    (r"The enemy loses (\d+) (\w+)", [("lose", "enemy", "#2", "$1")]),
    (r"Both players gain (\d+) (\w+)", [("gain", "both", "#2", "$1")]),
    (r"Both players lose (\d+) (\w+)", [("lose", "both", "#2", "$1")]),
    (r"Your (tower|wall) grows by (\d+)", [("gain", "self", "#1", "$2")]),
    (r"The enemy tower grows by (\d+)", [("gain", "enemy", "tower", "$1")]),
    (r"Both towers grow by (\d+)", [("gain", "both", "tower", "$1")]),
    (r"Your wall shrinks by (\d+)", [("lose", "self", "wall", "$1")]),
    (r"Deal (\d+) damage to the enemy", [("damage", "enemy", "$1")]),
    (r"Deal (\d+) damage straight to the enemy tower", [("tower_damage", "enemy", "$1")]),
    (r"Both towers take (\d+) damage", [("tower_damage", "both", "$1")]),
    (r"Both walls take (\d+) damage; towers are safe", [("wall_damage", "both", "$1")]),
    (r"Both players take (\d+) damage", [("damage", "both", "$1")]),
    (r"You take (\d+) damage yourself", [("damage", "self", "$1")]),
    (r"Your own tower takes (\d+) damage", [("tower_damage", "self", "$1")]),
    (r"Your mines rise to the enemy's number", [("rise_to_enemy", "mines")]),
    (r"Both players' monasteries rise to the larger of the two numbers", [("rise_to_larger", "monasteries")]),
    (r"The two walls change owners", [("swap_walls",)]),
    (
        r"The enemy loses up to (\d+) mana and up to (\d+) ore; you receive half of each loss, rounded up",
        [("steal_half_up", "mana", "$1"), ("steal_half_up", "ore", "$2")],
    ),
    (
        r"The player whose wall is strictly lower loses (\d+) barracks and (\d+) tower; equal walls: nothing happens",
        [("lower_wall_loses", "barracks", "$1", "tower", "$2")],
    ),
    (r"Draw one card, then discard one card of your choice", [("draw_and_discard",)]),
    (r"Act again", [("play_again",)]),
)
_FI: Final[tuple[tuple[str, Sequence[Deed]], ...]] = (
    (r"Saat (\w+) (?!heti)(\w+)", [("gain", "self", "#2", "$1")]),
    (r"Menetät (\w+) (\w+)", [("lose", "self", "#2", "$1")]),
    (r"Vihollinen menettää (\w+) (\w+)", [("lose", "enemy", "#2", "$1")]),
    (r"Molemmat pelaajat saavat (\w+) (\w+)", [("gain", "both", "#2", "$1")]),
    (r"Molemmat pelaajat menettävät (\w+) (\w+)", [("lose", "both", "#2", "$1")]),
    (r"Muurisi kasvaa (\d+)", [("gain", "self", "wall", "$1")]),
    (r"Tornisi kasvaa (\d+)", [("gain", "self", "tower", "$1")]),
    (r"Vihollisen torni kasvaa (\d+)", [("gain", "enemy", "tower", "$1")]),
    (r"Molempien tornit kasvavat (\d+)", [("gain", "both", "tower", "$1")]),
    (r"Muurisi madaltuu (\d+)", [("lose", "self", "wall", "$1")]),
    (r"Tee viholliselle (\d+) vahinkoa", [("damage", "enemy", "$1")]),
    (r"Tee suoraan vihollisen tornille (\d+) vahinkoa", [("tower_damage", "enemy", "$1")]),
    (r"Molemmat tornit kärsivät (\d+) vahinkoa", [("tower_damage", "both", "$1")]),
    (r"Molemmat muurit kärsivät (\d+) vahinkoa; tornit säästyvät", [("wall_damage", "both", "$1")]),
    (r"Molemmat pelaajat kärsivät (\d+) vahinkoa", [("damage", "both", "$1")]),
    (r"Kärsit itse (\d+) vahinkoa", [("damage", "self", "$1")]),
    (r"Oma tornisi kärsii (\d+) vahinkoa", [("tower_damage", "self", "$1")]),
    (r"Kaivostesi määrä nousee vihollisen tasolle", [("rise_to_enemy", "mines")]),
    (r"Kummankin luostarien määrä nousee isompaan kahdesta luvusta", [("rise_to_larger", "monasteries")]),
    (r"Muurit vaihtavat omistajaa", [("swap_walls",)]),
    (
        r"Vihollinen menettää enintään (\d+) manaa ja enintään (\d+) malmia; "
        r"saat kummastakin menetyksestä puolet ylöspäin pyöristettynä",
        [("steal_half_up", "mana", "$1"), ("steal_half_up", "ore", "$2")],
    ),
    (
        r"Se, jonka muuri on aidosti matalampi, menettää (\w+) kasarmin ja tornistaan (\d+); "
        r"tasamuureilla ei käy mitään",
        [("lower_wall_loses", "barracks", "$1", "tower", "$2")],
    ),
    (r"Nosta yksi kortti ja hylkää sitten valitsemasi kortti", [("draw_and_discard",)]),
    (r"Saat toimia heti uudelleen", [("play_again",)]),
)
_SENTENCES: Final = {"en": _EN, "fi": _FI}

_CONDITIONS: Final = {
    "en": (
        (r"you have no wall", ("self", "wall", "==", 0)),
        (r"the enemy has no wall", ("enemy", "wall", "==", 0)),
        (r"the enemy wall is above (\d+)", ("enemy", "wall", ">", "$1")),
        (r"you have fewer (\w+) than the enemy", ("self", "#1", "<", "enemy", "#1")),
        (r"you have more (\w+) than the enemy", ("self", "#1", ">", "enemy", "#1")),
        (r"your wall is higher than the enemy wall", ("self", "wall", ">", "enemy", "wall")),
        (r"your tower is higher than the enemy wall", ("self", "tower", ">", "enemy", "wall")),
        (r"your tower is lower than the enemy tower", ("self", "tower", "<", "enemy", "tower")),
    ),
    "fi": (
        (r"sinulla ei ole muuria", ("self", "wall", "==", 0)),
        (r"vihollisella ei ole muuria", ("enemy", "wall", "==", 0)),
        (r"vihollisen muuri on yli (\d+)", ("enemy", "wall", ">", "$1")),
        (r"sinulla on vähemmän kaivoksia kuin vihollisella", _LESS),
        (r"sinulla on vähemmän kasarmeja kuin vihollisella", ("self", "barracks", "<", "enemy", "barracks")),
        (r"sinulla on enemmän luostareita kuin vihollisella", ("self", "monasteries", ">", "enemy", "monasteries")),
        (r"muurisi on korkeampi kuin vihollisen muuri", ("self", "wall", ">", "enemy", "wall")),
        (r"tornisi on korkeampi kuin vihollisen muuri", ("self", "tower", ">", "enemy", "wall")),
        (r"tornisi on matalampi kuin vihollisen torni", ("self", "tower", "<", "enemy", "tower")),
    ),
}
_IF: Final = {"en": "If ", "fi": "Jos "}
_ELSE: Final = {"en": "Otherwise ", "fi": "Muuten "}


def read_text(text: str, language: str) -> list[Deed]:
    """The deeds of a card's text, in order.

    Raises:
        ValueError: for a sentence that no card may have.

    >>> read_text("Deal 8 damage to the enemy. Your own tower takes 3 damage.", "en")
    [('damage', 'enemy', 8), ('tower_damage', 'self', 3)]
    """
    deeds: list[Deed] = []
    for sentence in re.findall(r"[^.]+(?=\.)", text):
        sentence = sentence.strip()
        if sentence.startswith(_ELSE[language]):
            verb, condition, then, _ = deeds.pop()
            assert verb == "if", text
            deeds.append((verb, condition, then, _read(sentence.removeprefix(_ELSE[language]), language)))
        elif sentence.startswith(_IF[language]):
            condition, _, rest = sentence.removeprefix(_IF[language]).partition(", ")
            deeds.append(("if", _condition(condition, language), _read(rest, language), []))
        else:
            deeds += _read(sentence, language)
    return deeds


def _read(sentence: str, language: str) -> list[Deed]:
    sentence = sentence[0].upper() + sentence[1:]
    for pattern, deeds in _SENTENCES[language]:
        match = re.fullmatch(pattern, sentence)
        if match:
            return [_filled(deed, match, language) for deed in deeds]
    raise ValueError(f"no card may say {sentence!r}")


def _condition(text: str, language: str) -> Deed:
    for pattern, condition in _CONDITIONS[language]:
        match = re.fullmatch(pattern, text)
        if match:
            return _filled(condition, match, language)
    raise ValueError(f"no card may ask whether {text!r}")


def _filled(deed: Deed, match: re.Match[str], language: str) -> Deed:
    def fill(part: Any) -> Any:
        if isinstance(part, str) and part[0] in "$#":
            word = match[int(part[1:])]
            if part[0] == "#":
                return _FIELDS[language][word]
            return _WORDS.get(word) or int(word)
        return part

    return tuple(map(fill, deed))

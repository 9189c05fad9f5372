"""The names people show to each other."""

from __future__ import annotations

import secrets
import unicodedata

__all__ = ["MAX_NAME", "clean_name", "made_up_name", "name_key"]

MAX_NAME = 24
"""Characters of a name."""

_MAX_MARKS = 2
"""Accents on top of one letter; more is made to overflow other people's screens."""

_MANNERS = (
    "Amber", "Ashen", "Bold", "Bright", "Calm", "Candid", "Clever", "Copper", "Curious", "Dusky", "Eager", "Early",
    "Fabled", "Gentle", "Gilded", "Grave", "Hidden", "Humble", "Ivory", "Jolly", "Keen", "Lucky", "Mellow", "Merry",
    "Misty", "Nimble", "Patient", "Quiet", "Rustic", "Silver", "Sly", "Steady", "Sunlit", "Velvet", "Wandering", "Wry",
)  # fmt: skip
_BEINGS = (
    "Adept", "Alchemist", "Augur", "Badger", "Conjurer", "Dragon", "Druid", "Enchanter", "Falcon", "Gnome", "Griffin",
    "Hare", "Hermit", "Heron", "Kelpie", "Lynx", "Mage", "Newt", "Oracle", "Otter", "Owl", "Phoenix", "Pixie", "Raven",
    "Sage", "Salamander", "Scholar", "Seer", "Sphinx", "Sprite", "Stag", "Toad", "Unicorn", "Witch", "Wyvern",
)  # fmt: skip


def made_up_name() -> str:
    """A name for somebody who gave none, such as `Quiet Heron 407`."""
    return f"{secrets.choice(_MANNERS)} {secrets.choice(_BEINGS)} {secrets.randbelow(900) + 100}"


def clean_name(text: str) -> str | None:
    r"""The name as others will see it: one form for what looks the same (NFKC), single spaces.

    Returns:
        The name of 1 to `MAX_NAME` printable characters; None if the text is no such name.

    >>> clean_name("  Aino   Kallas ")
    'Aino Kallas'
    >>> clean_name("a\u202eb") is None, clean_name("") is None
    (True, True)
    """
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
        return None
    marks = 0
    for position, character in enumerate(name):
        marks = marks + 1 if unicodedata.category(character).startswith("M") else 0
        if marks > _MAX_MARKS or (marks and position == 0):
            return None
    return name


def name_key(name: str) -> str:
    """The form of a name that no two accounts with a password share.

    >>> name_key("Väinö") == name_key("VÄINÖ")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", name).casefold())

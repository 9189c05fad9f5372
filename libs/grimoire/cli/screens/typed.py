"""What a person types in place of choosing: a number of the list, or words such as `play ruby`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from grimoire.cli.screens.composer import Offer
from grimoire.cli.screens.wording import Wording

__all__ = ["meant"]

_WORD: Final = re.compile(r"\w+")


def meant(text: str, offers: Sequence[Offer], wordings: Sequence[Wording]) -> list[Offer]:
    """Which of the offers the text means.

    A number counts from 1. Of words each must begin a word of the offer's label in any language, of its command's
    code or of the ids it holds; whole words go before beginnings. Offers that read alike are one: the first.

    Args:
        text: what was typed.
        offers: in the order they were listed.
        wordings: the game in the languages that may be typed.

    Returns:
        One offer if it is clear, several if it is not, none if nothing fits.
    """
    typed = text.strip().casefold()
    if typed.isdecimal():
        number = int(typed)
        return [offers[number - 1]] if 1 <= number <= len(offers) else []
    words = _WORD.findall(typed)
    if not words:
        return []
    known = [(offer, _words_of(offer, wordings)) for offer in offers]
    whole = [offer for offer, has in known if all(word in has for word in words)]
    begun = [offer for offer, has in known if all(any(h.startswith(word) for h in has) for word in words)]
    return _apart(whole or begun, wordings)


def _words_of(offer: Offer, wordings: Sequence[Wording]) -> set[str]:
    said = [offer.type.replace("_", " "), *(wording.entry(offer.entry) for wording in wordings)]
    ids = [field.ref.partition(":")[2] for field in offer.entry.fixed]
    said += [name.replace("_", " ") for name in ids if not name.isdecimal()] + ids
    return {word for text in said for word in _WORD.findall(text.casefold())}


def _apart(offers: Sequence[Offer], wordings: Sequence[Wording]) -> list[Offer]:
    first: dict[tuple[str, str], Offer] = {}
    for offer in offers:
        label = wordings[0].entry(offer.entry) if wordings else ""
        first.setdefault((offer.type, label), offer)
    return list(first.values())

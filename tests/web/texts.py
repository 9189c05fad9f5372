"""What the interface says, from its own catalogues, so that a test names a text by its key."""

from __future__ import annotations

import functools
import json
import re

from tests.web.built import WEB


@functools.cache
def _catalogue(area: str, language: str) -> dict[str, str]:
    texts: dict[str, str] = json.loads((WEB / "src" / "i18n" / language / f"{area}.json").read_text())
    return texts


def says(key: str, language: str = "en") -> str:
    """A text without arguments."""
    text = _catalogue(key.partition(".")[0], language)[key]
    assert "{" not in text, key
    return text


def like(key: str, language: str = "en") -> re.Pattern[str]:
    """What a text with plain arguments looks like, whatever they are."""
    text = _catalogue(key.partition(".")[0], language)[key]
    return re.compile(".*".join(map(re.escape, re.split(r"\{\w+\}", text))))

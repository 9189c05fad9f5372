"""In which language a page says that each of its texts is (WCAG 3.1.2)."""

from __future__ import annotations

from playwright.async_api import Page

from grimoire.plugins import load_game

# Every text of the page with the language that it is marked as; names that are read in place of a text, too.
_TEXTS = """() => [...document.body.querySelectorAll("*")].flatMap((each) => {
    if (each.matches("script, style, svg, svg *")) return [];
    const lang = each.closest("[lang]").lang;
    const own = [...each.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE).map((one) => one.data).join(" ");
    return [own, each.getAttribute("aria-label") ?? ""]
        .map((text) => [text.replace(/\\s+/g, " ").trim(), lang])
        .filter(([text]) => text !== "");
})"""


def _greek(text: str) -> int:
    return sum("Ͱ" <= letter <= "Ͽ" or "ἀ" <= letter <= "῿" for letter in text)


def own_texts(game: str) -> frozenset[str]:
    """What a game says in English as it is: names, texts, terms and questions, in small letters."""
    manifest = load_game(game).texts.manifest("en")
    things = [item for catalogue in manifest.catalogues for item in catalogue.items]
    texts = [text for item in things for text in (item.name, item.text, item.short_text)]
    texts += [text for each in manifest.templates if "{" not in (text := each.text)]
    return frozenset(text.lower() for text in texts if sum(letter.isalpha() for letter in text) > 2)


async def misread(page: Page, game: str) -> list[str]:
    """What a reader of a Greek page would say in the wrong language.

    Args:
        page: a match of a game that speaks English.
        game: its id.

    Returns:
        Greek that is marked as English, and the game's English that is not, each with its mark.
    """
    known = {text.strip(" .") for text in own_texts(game)}
    texts: list[tuple[str, str]] = await page.evaluate(_TEXTS)
    return [
        f"{lang}: {text[:100]}"
        for text, lang in texts
        if (lang == "en" and 2 * _greek(text) > sum(letter.isalpha() for letter in text))
        or (lang != "en" and text.lower().strip("· .") in known)
    ]

"""A game's words, one file `data/<language>.toml` for each language, and the parts of a manifest made of them."""

from __future__ import annotations

import hashlib
import importlib.resources
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

import msgspec

from grimoire.v1 import manifest_pb2 as mf
from grimoire.v1 import match_pb2

__all__ = [
    "LANGUAGES",
    "Manifests",
    "Phrases",
    "ScreenSpeech",
    "bot_levels",
    "clauses",
    "facts",
    "presets",
    "read_phrases",
    "read_screen_words",
    "templates",
]

LANGUAGES: Final = ("en", "fi")
"""Of every game, which may speak others besides; the first is spoken where one is asked for that it does not speak."""


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One language. Each table maps a key to a text, some with {named} arguments; clauses to a title and a sentence."""

    name: str
    events: dict[str, str]
    prompts: dict[str, str]
    commands: dict[str, str]
    refs: dict[str, str]
    rejections: dict[str, str]
    reasons: dict[str, str]
    terms: dict[str, str]
    options: dict[str, str]
    presets: dict[str, str]
    bots: dict[str, str]
    terminal: dict[str, str]
    marks: dict[str, str]
    clauses: dict[str, tuple[str, str]]

    def seat(self, seat: int, names: Mapping[int, str]) -> str:
        """A seat's display name, or its number for one without."""
        return names.get(seat) or self.refs["seat"].format(seat=seat)


P = TypeVar("P", bound=Phrases)


def read_phrases(package: str, kind: type[P], languages: Iterable[str] = LANGUAGES) -> Mapping[str, P]:
    """A game's words by language.

    Args:
        package: of the game, with a folder `data`.
        kind: `Phrases`, or what a game adds to it.
        languages: that it speaks.

    Raises:
        msgspec.ValidationError: if a table is missing, or is no table of texts.
    """
    folder = importlib.resources.files(package).joinpath("data")
    read = {n: tomllib.loads(folder.joinpath(f"{n}.toml").read_text("utf-8")) for n in languages}
    return {language: msgspec.convert(text, kind) for language, text in read.items()}


def read_screen_words(package: str) -> Mapping[str, Mapping[str, str]]:
    """The words of a game's board in the terminal client, by language: `data/screen.toml`."""
    text = importlib.resources.files(package).joinpath("data", "screen.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, dict[str, str]])


class ScreenSpeech:
    """A board's words in one language; in the first one where the game does not speak it.

    Args:
        texts: by language, as `read_screen_words` gives them.
        language: wanted.
    """

    def __init__(self, texts: Mapping[str, Mapping[str, str]], language: str) -> None:
        self.language = language if language in texts else LANGUAGES[0]
        self._texts = texts[self.language]

    def __call__(self, key: str, **arguments: object) -> str:
        """A text with its arguments filled in."""
        return self._texts[key].format(**arguments)


# ---- parts of a manifest -------------------------------------------------------------------------------------------


class Manifests:
    """A game's manifests: each is made once, digested, and given out as a copy.

    Args:
        make: the manifest of one of the languages, without its digest.
        languages: that the game speaks.
    """

    def __init__(self, make: Callable[[str], mf.Manifest], languages: Iterable[str] = LANGUAGES) -> None:
        self._make = make
        self._languages = tuple(languages)
        self._made: dict[str, mf.Manifest] = {}

    def in_language(self, language: str) -> mf.Manifest:
        """The manifest in this language; in the first one where the game does not speak it."""
        spoken = language if language in self._languages else self._languages[0]
        made = self._made.get(spoken)
        if made is None:
            made = self._made[spoken] = self._make(spoken)
            made.digest = hashlib.sha256(made.SerializeToString(deterministic=True)).digest()
        copy = mf.Manifest()
        copy.CopyFrom(made)
        return copy


def clauses(words: Phrases) -> list[mf.Clause]:
    """The rules in short."""
    return [mf.Clause(rule=rule, title=title, text=text) for rule, (title, text) in words.clauses.items()]


def bot_levels(words: Phrases, levels: Iterable[str]) -> list[mf.BotLevel]:
    """Built-in players by name, weakest first."""
    return [mf.BotLevel(level=level, name=words.bots[level]) for level in levels]


def presets(words: Phrases, chosen: Mapping[str, Mapping[str, str]]) -> list[mf.Preset]:
    """Queues of quick play: names, and the options that are not the defaults."""
    return [
        mf.Preset(
            preset=preset,
            name=words.presets[preset],
            options=[match_pb2.OptionValue(name=name, value=value) for name, value in options.items()],
        )
        for preset, options in chosen.items()
    ]


_K: Final = mf.TemplateKind


def templates(words: Phrases, rules: Mapping[str, str], more: Iterable[mf.Template] = ()) -> Iterator[mf.Template]:
    """All sentences of a manifest.

    Args:
        words: of one language.
        rules: the rule that each rejection rests on, by code.
        more: what this game alone has.
    """
    tables: tuple[tuple[mf.TemplateKind.ValueType, str, Mapping[str, str]], ...] = (
        (_K.TEMPLATE_KIND_EVENT, "", words.events),
        (_K.TEMPLATE_KIND_EVENT, "mark.", words.marks),
        (_K.TEMPLATE_KIND_PROMPT, "", words.prompts),
        (_K.TEMPLATE_KIND_COMMAND, "", words.commands),
        (_K.TEMPLATE_KIND_REF, "", words.refs),
        (_K.TEMPLATE_KIND_REASON, "", words.reasons),
        (_K.TEMPLATE_KIND_TERM, "", words.terms),
    )
    for kind, prefix, table in tables:
        for key, text in table.items():
            yield mf.Template(kind=kind, key=prefix + key, text=text)
    for code, text in words.rejections.items():
        yield mf.Template(kind=_K.TEMPLATE_KIND_REJECTION, key=code, text=text, rule=rules[code])
    yield from more


def facts(**named: object) -> list[mf.Fact]:
    """Facts of a catalogue's item, in this order."""
    return [mf.Fact(name=name, value=str(value)) for name, value in named.items()]

"""The toy's words: as few as the interface allows."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.message import Message

from grimoire.engine import MarkNote
from grimoire.v1 import manifest_pb2, match_pb2
from tests.support.toy import schema as pb
from tests.support.toy.rules import DEFAULTS, Toy
from tests.support.toy.state import RUNES


class ToyTexts:
    """Beacon's `GameTexts`."""

    languages: tuple[str, ...] = ("en",)

    def manifest(self, language: str) -> manifest_pb2.Manifest:
        return manifest_pb2.Manifest(
            game=Toy.id,
            language="en",
            name="Beacon",
            rules_version=Toy.rules_version,
            catalog_version=Toy.catalog_version,
            digest=bytes(32),
            min_seats=Toy.min_seats,
            max_seats=Toy.max_seats,
            options=[manifest_pb2.OptionSchema(name=name, default=value) for name, value in DEFAULTS.items()],
            catalogues=[
                manifest_pb2.Catalogue(name="runes", items=[manifest_pb2.CatalogueItem(id=r, name=r) for r in RUNES])
            ],
            languages=self.languages,
            bot_levels=[manifest_pb2.BotLevel(level=level, name=level) for level in ("random", "careful")],
            presets=[
                manifest_pb2.Preset(
                    preset="short",
                    name="Short",
                    options=[
                        match_pb2.OptionValue(name="choose_s", value="10"),
                        match_pb2.OptionValue(name="react_s", value="5"),
                    ],
                ),
                manifest_pb2.Preset(preset="normal", name="Normal"),
            ],
        )

    def say_event(self, event: Message, language: str, names: Mapping[int, str]) -> str:
        return f"{type(event).__name__} {event}".replace("\n", " ").strip()

    def mark(self, event: Message) -> MarkNote | None:
        if isinstance(event, pb.RoundStarted):
            return MarkNote("turn", "round_started", (("round_no", str(event.round_no)),))
        return None

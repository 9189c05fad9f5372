"""Beacon, a toy game that has everything the engine's interface must carry (see README.md beside this file)."""

from msgspec.structs import replace

from grimoire.plugins import GamePlugin
from tests.support.toy.bot import ToyBot, ToyTerminal
from tests.support.toy.positions import ToyPositions
from tests.support.toy.rules import Toy
from tests.support.toy.texts import ToyTexts

__all__ = ["MANY", "PLUGIN", "Toy"]

PLUGIN = GamePlugin(game=Toy(), bot=ToyBot(), texts=ToyTexts(), terminal=ToyTerminal(), positions=ToyPositions())

MANY = replace(PLUGIN, quick_seats=(3, 5))
"""The toy whose quick play aims at three seats, or at five."""

"""Beacon, a toy game that has everything the engine's interface must carry (see README.md beside this file)."""

from grimoire.plugins import GamePlugin
from tests.support.toy.bot import ToyBot, ToyTerminal
from tests.support.toy.positions import ToyPositions
from tests.support.toy.rules import Toy
from tests.support.toy.texts import ToyTexts

__all__ = ["PLUGIN", "Toy"]

PLUGIN = GamePlugin(game=Toy(), bot=ToyBot(), texts=ToyTexts(), terminal=ToyTerminal(), positions=ToyPositions())

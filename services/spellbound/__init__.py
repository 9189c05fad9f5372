"""Spellbound: one to four mages search five spell books, and beat the witch Baba Yaga together or lose together."""

from grimoire.plugins import GamePlugin
from spellbound.bot import SpellboundBot
from spellbound.positions import SpellboundPositions
from spellbound.rules import Spellbound
from spellbound.terminal import SpellboundTerminal
from spellbound.text import SpellboundTexts

PLUGIN = GamePlugin(
    game=Spellbound(),
    bot=SpellboundBot(),
    texts=SpellboundTexts(),
    terminal=SpellboundTerminal(),
    positions=SpellboundPositions(),
    screen="spellbound.screen:SpellboundBoard",
)

"""The Wizard's Garden: two wizards race to set five lanterns in a garden that is fought over."""

from grimoire.plugins import GamePlugin
from wizards_garden.bot import WizardsGardenBot
from wizards_garden.positions import WizardsGardenPositions
from wizards_garden.rules import WizardsGarden
from wizards_garden.terminal import WizardsGardenTerminal
from wizards_garden.text import WizardsGardenTexts

PLUGIN = GamePlugin(
    game=WizardsGarden(),
    bot=WizardsGardenBot(),
    texts=WizardsGardenTexts(),
    terminal=WizardsGardenTerminal(),
    positions=WizardsGardenPositions(),
    screen="wizards_garden.screen:WizardsGardenBoard",
)

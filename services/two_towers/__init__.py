"""Two Towers: a duel of two wizards with one pack of 102 cards."""

from grimoire.plugins import GamePlugin
from two_towers.bot import TwoTowersBot
from two_towers.positions import TwoTowersPositions
from two_towers.rules import TwoTowers
from two_towers.terminal import TwoTowersTerminal
from two_towers.text import TwoTowersTexts

PLUGIN = GamePlugin(
    game=TwoTowers(),
    bot=TwoTowersBot(),
    texts=TwoTowersTexts(),
    terminal=TwoTowersTerminal(),
    positions=TwoTowersPositions(),
    screen="two_towers.screen:TwoTowersBoard",
)

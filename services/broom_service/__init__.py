"""Broom Service: two to five rivals deliver potions by broom, bravely or cowardly."""

from broom_service.bot import BroomServiceBot
from broom_service.positions import BroomServicePositions
from broom_service.rules import BroomService
from broom_service.terminal import BroomServiceTerminal
from broom_service.text import BroomServiceTexts
from grimoire.plugins import GamePlugin

PLUGIN = GamePlugin(
    game=BroomService(),
    bot=BroomServiceBot(),
    texts=BroomServiceTexts(),
    terminal=BroomServiceTerminal(),
    positions=BroomServicePositions(),
    screen="broom_service.screen:BroomServiceBoard",
    quick_seats=(4, 3, 2, 5),
)

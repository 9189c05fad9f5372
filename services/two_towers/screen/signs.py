"""Signs and colours of the board."""

from typing import Final

__all__ = [
    "AGAIN",
    "BAD",
    "BRICK",
    "DARK",
    "DIM",
    "FLAG",
    "GOAL",
    "GOOD",
    "PRODUCERS",
    "RESOURCES",
    "RESOURCE_COLOURS",
    "SEATS",
    "SEAT_COLOURS",
    "STONE",
]

SEATS: Final = ("●", "▲")
SEAT_COLOURS: Final = ("#7DB8FF", "#FF9A84")

RESOURCES: Final = {"ore": "◆", "mana": "◉", "recruits": "■"}
"""Each stock's mark: red cut, blue round, green square."""
RESOURCE_COLOURS: Final = {"ore": "#FF9A84", "mana": "#7DB8FF", "recruits": "#5FD3A6"}
PRODUCERS: Final = {"ore": "mines", "mana": "monasteries", "recruits": "barracks"}

AGAIN: Final = "↻"
FLAG: Final = "⚑"

STONE: Final = "#B8AFC6"
BRICK: Final = "#9A91AA"
DIM: Final = "#857C94"
GOAL: Final = "#F0B85A"
GOOD: Final = "#5FD3A6"
BAD: Final = "#FF8F8F"
DARK: Final = "#15121B"

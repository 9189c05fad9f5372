"""Colours of the board; each stands beside a sign or a word that says the same."""

from typing import Final

__all__ = [
    "ACCENT",
    "COLOURS",
    "DANGER",
    "FAINT",
    "GROUNDS",
    "LABEL",
    "MUTED",
    "STORM",
    "WHITE",
    "seat_colour",
]

_SEATS: Final = ("#7DB8FF", "#FF9A84", "#5FD3A6", "#D6A2F0", "#F0D25A")
COLOURS: Final = {"orange": "#FFB066", "green": "#7FE0A0", "purple": "#D9AEF5"}
GROUNDS: Final = {
    "prairie": "#3F431C",
    "forest": "#173A22",
    "hill": "#4B321E",
    "mountain": "#3B3A45",
    "water": "#14304F",
}
"""Behind each kind of terrain."""
WHITE: Final = "#F2F0F5"
STORM: Final = "#8FD3FF"
LABEL: Final = "#CFC9D8"
ACCENT: Final = "#F0B85A"
DANGER: Final = "bold #FF7A6B"
MUTED: Final = "#B8AFC6"
FAINT: Final = "#857C94"


def seat_colour(seat: int) -> str:
    """A seat's colour, which stands beside its shape."""
    return _SEATS[seat % len(_SEATS)]

"""Colours of the board; each stands beside a sign or a word that says the same."""

from typing import Final

__all__ = ["ACCENT", "BOOK_COLOURS", "DANGER", "FAINT", "MOON", "MUTED", "SEATS", "SEAT_COLOURS", "SUN", "seat_colour"]

SEATS: Final = ("●", "▲", "■", "◆")
"""By which players are told apart all over the client."""
SEAT_COLOURS: Final = ("#7DB8FF", "#FF9A84", "#5FD3A6", "#D6A2F0")
BOOK_COLOURS: Final = {
    "red": "#FF9A84",
    "blue": "#7DB8FF",
    "green": "#5FD3A6",
    "yellow": "#F0D25A",
    "silver": "#D8D3E0",
}
SUN: Final = "#F0D25A"
MOON: Final = "#B9A2F0"
ACCENT: Final = "#F0B85A"
DANGER: Final = "bold #FF7A6B"
MUTED: Final = "#B8AFC6"
FAINT: Final = "#857C94"


def seat_colour(seat: int) -> str:
    """A seat's colour, which stands beside its shape."""
    return SEAT_COLOURS[seat % len(SEAT_COLOURS)]

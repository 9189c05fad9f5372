"""Colours of the board; each stands beside a sign or a word that says the same."""

from typing import Final

__all__ = ["ACCENT", "COLOURS", "FAINT", "KIND_COLOURS", "MUTED", "SEATS", "SEAT_COLOURS", "STATE_COLOURS"]

SEATS: Final = ("●", "▲")
"""By which players are told apart all over the client; their gnomes have signs of their own."""
SEAT_COLOURS: Final = ("#7DB8FF", "#FF9A84")
KIND_COLOURS: Final = {
    "pest": "#D6A2F0",
    "water": "#7DB8FF",
    "spirit": "#F0D25A",
    "gnome": "#5FD3A6",
    "fire": "#FF9A84",
}
COLOURS: Final = {
    "blue": SEAT_COLOURS[0],
    "red": SEAT_COLOURS[1],
    "pest": KIND_COLOURS["pest"],
    "fire": "#FFB347",
    "none": "#B8AFC6",
}
"""Of what stands on a space."""

STATE_COLOURS: Final = {
    "dim_on_board": "#857C94",
    "lit_on_board": "bold #F0B85A",
    "bright_in_yard": "bold #F0D25A",
    "dim_in_yard": "#B8AFC6",
}
ACCENT: Final = "#F0B85A"
MUTED: Final = "#B8AFC6"
FAINT: Final = "#857C94"

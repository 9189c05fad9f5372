"""The board in the terminal client: two towers, two walls, six cards.

It draws a view and lets one pick; there are no rules here. Whatever a colour says is said by a shape or a word as well.
"""

from two_towers.screen.board import TwoTowersBoard

__all__ = ["TwoTowersBoard"]

"""The board in the terminal client: the yard, both wizard boards, the table, one's own cards.

It draws a view and lets one pick; there are no rules here. Whatever a colour says is said by a sign or a word as well.
"""

from wizards_garden.screen.board import WizardsGardenBoard

__all__ = ["WizardsGardenBoard"]

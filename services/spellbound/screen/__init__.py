"""The board in the terminal client: tracks, villages, the display, the tower, all mages.

It draws a view and lets one pick; there are no rules here. Whatever a colour says is said by a sign or a word as well.
"""

from spellbound.screen.board import SpellboundBoard

__all__ = ["SpellboundBoard"]

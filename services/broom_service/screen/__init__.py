"""The board in the terminal client: the map, seats, the event and bewitched roles, the trick, what may be chosen.

It draws a view and lets one pick; there are no rules here. Whatever a colour says is said by a sign or a word as well.
"""

from broom_service.screen.board import BroomServiceBoard

__all__ = ["BroomServiceBoard"]

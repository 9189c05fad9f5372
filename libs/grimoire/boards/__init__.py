"""What boards of games in the terminal client have in common: widgets that draw lines of pieces and let one pick."""

from grimoire.boards.marks import DIGITS, marks_of
from grimoire.boards.one_table import OneTableBoard
from grimoire.boards.table import LineTable, content_of, legend_lines

__all__ = ["DIGITS", "LineTable", "OneTableBoard", "content_of", "legend_lines", "marks_of"]

"""The map: every region a brick of text, the odd rows shifted by half of one, so that neighbours touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from broom_service.boards import WATER
from broom_service.catalogue import DATA
from broom_service.screen.signs import ACCENT, COLOURS, GROUNDS, LABEL, STORM, WHITE, seat_colour
from broom_service.short import (
    CASTLE_SIGN,
    CLOUD_SIGN,
    SEAT_SIGNS,
    STORM_SIGN,
    board_of,
    cloud_sign,
    clouds_at,
    pawns_at,
    tile_at,
    tile_sign,
    tower_sign,
    towers_at,
)
from broom_service.tiles import VAT
from grimoire.engine.pieces import Line, Piece, padded, width_of
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["LEAST_HEIGHT", "LEAST_WIDTH", "map_lines", "map_size"]

_HEXES: Final[dict[str, dict[tuple[int, int], str]]] = {
    board.id: {region.hex: region.id for region in board.regions} for board in DATA.boards
}
_COLUMNS: Final = 1 + max(column for hexes in _HEXES.values() for column, _ in hexes)
_ROWS: Final = 1 + max(row for hexes in _HEXES.values() for _, row in hexes)

LEAST_WIDTH, LEAST_HEIGHT = 7, 4
"""Of one region, in cells; its last column is a gap."""
_MOST_WIDTH: Final = 13
_MOST_HEIGHT: Final = 6

Marked = Callable[[str, str, str], Piece]
"""A piece of this text, style and ref, with a mark before it if the ref has one."""


def map_size(width: int, height: int) -> tuple[int, int]:
    """Cells of one region, so that the map fits; a width below the least: there is no room for it."""
    # The gap of the last column may fall over the edge; the odd rows are shifted by half a region.
    wide = max((each for each in range(_MOST_WIDTH + 1) if _COLUMNS * each + each // 2 - 1 <= width), default=0)
    return wide, max(LEAST_HEIGHT, min(_MOST_HEIGHT, height // _ROWS))


def map_lines(view: pb.View, wide: int, high: int, marked: Marked) -> Iterator[Line]:
    """The map from the top downwards.

    Args:
        view: what is seen.
        wide, high: cells of one region.
        marked: puts marks before what may be picked.
    """
    hexes = _HEXES[board_of(view).id]
    for row in range(_ROWS):
        regions = [hexes.get((column, row), "") for column in range(_COLUMNS)]
        bricks = [_Brick(view, region, wide - 1, marked).lines(high) if region else [()] * high for region in regions]
        for at in range(high):
            line: list[Piece] = [Piece(" " * (wide // 2))] if row % 2 else []
            for brick in bricks:
                line += padded(brick[at], wide)
            yield line


class _Brick:
    """One region.

    Args:
        width: without the gap.
    """

    def __init__(self, view: pb.View, region: str, width: int, marked: Marked) -> None:
        self._view, self._region, self._width = view, region, width
        self._board = board_of(view)
        self._ground = GROUNDS[self._board.terrain[region]]
        self._marked = marked

    def lines(self, high: int) -> list[Line]:
        """Name and what is special; pawns or clouds, which are never together; towers."""
        head = self._head()
        pawns = self._pawns()
        guests = pawns or self._clouds()
        if pawns and width_of([*head, *pawns]) <= self._width and self._needs(high - 1):
            head, guests = [*head, *pawns], []
        towers = self._towers(high - 2 if guests else high - 1)
        lines = [head, guests, *towers] if guests else [head, *towers]
        lines += [[]] * (high - len(lines))
        return [self._filled(line) for line in lines[:high]]

    def _filled(self, line: Line) -> Line:
        """On the terrain's ground, all of it leading to the region."""
        ref = (f"region:{self._region}",)
        pieces = [
            Piece(p.text, f"{p.style} on {self._ground}".strip(), p.refs if p.refs == ref else p.refs + ref, p.mark)
            for p in line
        ]
        filled = padded(pieces, self._width)
        if width_of(pieces) < self._width:
            filled[-1] = Piece(filled[-1].text, f"on {self._ground}", ref)
        return filled

    def _head(self) -> list[Piece]:
        board, region = self._board, self._region
        tile = tile_at(self._view, region)
        circle = next((circle for circle, place in board.circles.items() if place == region), "")
        special = CASTLE_SIGN if region in board.castles else tile_sign(tile) if tile and tile != VAT else circle
        name = self._marked(region, f"bold {LABEL}", f"region:{region}")
        name = name if name.mark else Piece(f" {region}", name.style, name.refs)
        if not special:
            return [name]
        gap = " " if width_of([name]) + len(special) < self._width else ""
        return [name, Piece(f"{gap}{special}", f"bold {ACCENT}")]

    def _pawns(self) -> list[Piece]:
        """Each pawn by its seat's shape; where they are too many, each shape once."""
        seats = [seat for seat, _ in pawns_at(self._view, self._region)]
        shown = seats if len(seats) < self._width else [*dict.fromkeys(seats)]
        pieces = [Piece(SEAT_SIGNS[seat], f"bold {seat_colour(seat)}") for seat in shown]
        return [Piece(" "), *pieces] if pieces else []

    def _clouds(self) -> list[Piece]:
        clouds = clouds_at(self._view, self._region)
        pieces = [self._cloud(cloud, brief=False) for cloud in clouds]
        if width_of(pieces) > self._width:
            pieces = [self._cloud(cloud, brief=True) for cloud in clouds]
        return pieces

    def _cloud(self, cloud: pb.CloudView, *, brief: bool) -> Piece:
        sign = f"{STORM_SIGN if cloud.storm else CLOUD_SIGN}{cloud.stars}" if brief else cloud_sign(cloud)
        piece = self._marked(sign, f"bold {STORM if cloud.storm else WHITE}", f"space:{cloud.space}")
        return piece if piece.mark else Piece(f" {sign}", piece.style, piece.refs)

    def _towers(self, high: int) -> list[Line]:
        """In as few lines as there are; with blanks between them where there is room."""
        if self._board.terrain[self._region] == WATER or high <= 0:
            return []
        pieces = [self._tower(tower) for tower in towers_at(self._view, self._region)]
        for gap in (" ", ""):
            lines = _packed(pieces, self._width, gap)
            if len(lines) <= high:
                return lines
        lines = _packed(pieces, self._width, "")
        return [*lines[: high - 1], [*padded(lines[high - 1], self._width - 1), Piece("…")]]

    def _needs(self, high: int) -> bool:
        """Whether the towers fill so many lines."""
        pieces = [self._tower(tower) for tower in towers_at(self._view, self._region)]
        return len(_packed(pieces, self._width, "")) >= high

    def _tower(self, tower: pb.TowerView) -> Piece:
        colour = COLOURS[tower.colour]
        return self._marked(tower_sign(tower), colour if tower.occupied else f"bold {colour}", f"tower:{tower.tower}")


def _packed(pieces: Sequence[Piece], width: int, gap: str) -> list[Line]:
    """As many as fit into each line."""
    lines: list[list[Piece]] = []
    for piece in pieces:
        if lines and width_of(lines[-1]) + len(gap) + len(piece.text) <= width:
            lines[-1] += [Piece(gap), piece] if gap else [piece]
        else:
            lines.append([Piece(gap), piece] if gap else [piece])
    return [*lines]

"""Where the borders of a grid cross: light and heavy lines in every combination."""

from __future__ import annotations

from typing import Final

__all__ = ["crossing"]

_CROSSINGS: Final = {
    "": " ",
    **dict(zip(("dr", "dR", "Dr", "DR"), "┌┍┎┏", strict=True)),
    **dict(zip(("dl", "dL", "Dl", "DL"), "┐┑┒┓", strict=True)),
    **dict(zip(("ur", "uR", "Ur", "UR"), "└┕┖┗", strict=True)),
    **dict(zip(("ul", "uL", "Ul", "UL"), "┘┙┚┛", strict=True)),
    **dict(zip(("udr", "udR", "Udr", "uDr", "UDr", "UdR", "uDR", "UDR"), "├┝┞┟┠┡┢┣", strict=True)),
    **dict(zip(("udl", "udL", "Udl", "uDl", "UDl", "UdL", "uDL", "UDL"), "┤┥┦┧┨┩┪┫", strict=True)),
    **dict(zip(("dlr", "dLr", "dlR", "dLR", "Dlr", "DLr", "DlR", "DLR"), "┬┭┮┯┰┱┲┳", strict=True)),
    **dict(zip(("ulr", "uLr", "ulR", "uLR", "Ulr", "ULr", "UlR", "ULR"), "┴┵┶┷┸┹┺┻", strict=True)),
    **dict(zip(("udlr", "udLr", "udlR", "udLR", "Udlr", "uDlr", "UDlr", "UdLr"), "┼┽┾┿╀╁╂╃", strict=True)),
    **dict(zip(("UdlR", "uDLr", "uDlR", "UdLR", "uDLR", "UDLr", "UDlR", "UDLR"), "╄╅╆╇╈╉╊╋", strict=True)),
}


def crossing(arms: str) -> str:
    """The sign where these arms meet.

    Args:
        arms: of `u`, `d`, `l`, `r` (up, down, left, right) those that are there, in this order; heavy ones in capitals.

    >>> crossing("udlr"), crossing("dL"), crossing("UDR")
    ('┼', '┑', '┣')
    """
    return _CROSSINGS[arms]

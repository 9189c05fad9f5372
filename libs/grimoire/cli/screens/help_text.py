"""The help screen, and the facts of a match."""

from __future__ import annotations

from typing import Final

from textual.content import Content

from grimoire.cli.screens.model import MatchModel
from grimoire.engine.board import Board

__all__ = ["help_lines", "info_lines"]

_KEYS: Final = (
    ("1 … 9", "help.pick"),
    ("← → ↑ ↓", "help.arrows"),
    ("space", "help.choices"),
    ("enter", "help.enter"),
    ("esc", "help.undo"),
    ("? h", "help.help"),
    ("c", "help.catalogue"),
    ("e", "help.log"),
    ("i", "help.info"),
    ("l", "help.language"),
    ("j", "help.standing"),
    ("r", "help.resign"),
    ("m a b", "help.after"),
    ("q", "help.quit"),
)
_KEY_CELLS: Final = 10


def help_lines(model: MatchModel, board: Board) -> list[Content]:
    """The keys, those of the board among them, and the rules in short."""
    words, wording = model.words, model.wording
    lines = [Content.styled(words("help.keys"), "bold $primary")]
    lines += [_key(key, wording.command(command)) for key, command in board.shortcuts.items()]
    if model.view() is not None:
        lines += [_key(panel.key, panel.title) for panel in board.panels()]
    lines += [_key(keys, words(key)) for keys, key in _KEYS]
    lines += [Content(""), Content(words("help.mouse"))]
    if wording.manifest.clauses:
        lines += [Content(""), Content.styled(words("help.rules"), "bold $primary")]
        for clause in wording.manifest.clauses:
            lines.append(
                Content.assemble((f"{clause.rule:<8}", "$muted"), (f"{clause.title}: ", "bold"), Content(clause.text))
            )
    return lines


def info_lines(model: MatchModel, command: str) -> list[Content]:
    """Everything about this match that is the same for all who look at it."""
    words, head = model.words, model.head
    created = head.created
    lines = [_fact(words("info.match"), head.match_id), _fact(words("info.game"), model.wording.name())]
    seats = [model.seat(seat.seat) for seat in created.seats]
    lines.append(_fact(words("info.seats"), ", ".join(seats)))
    lines += [
        _fact(words("info.options"), o) for o in model.wording.options((o.name, o.value) for o in created.options)
    ]
    lines.append(_fact(words("info.commitment"), created.server_commitment.hex()))
    if model.deal_digest:
        lines.append(_fact(words("info.digest"), model.deal_digest))
    if model.seed:
        lines.append(_fact(words("info.seed"), model.seed))
    lines.append(_fact(words("info.rules"), f"{created.rules_version} · {created.rules_digest.hex()}"))
    lines += [Content(""), Content(words("match.leave.hint", command=command))]
    lines.append(Content(words("info.audit", command=f"grimoire audit {head.match_id}")))
    return lines


def _key(keys: str, what: str) -> Content:
    return Content.assemble((f"  {keys:<{_KEY_CELLS}}", "bold $accent"), Content(what))


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name}: ", "$muted"), Content(value))

"""The whole board: the yard, both wizard boards beside it, one's own cards below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize

from grimoire.engine.board import BoardHost, Panel, Shown
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.catalogue import DATA
from wizards_garden.names import kind_of, name_of, timing_of
from wizards_garden.pieces import CARD_KIND, KINDS
from wizards_garden.screen.layout import layout
from wizards_garden.screen.own import own_lines, ref_words
from wizards_garden.screen.pane import Pane
from wizards_garden.screen.refs import DIGITS, beside, choices, place_of
from wizards_garden.screen.side import side_lines
from wizards_garden.screen.speech import Speech, view_of
from wizards_garden.screen.yard import Yard
from wizards_garden.short import contents, group_words, kind_words, signs_legend, space_words, turned
from wizards_garden.terminal import yard_words

__all__ = ["WizardsGardenBoard"]

_SPELLS = {spell.id: spell for spell in DATA.spells}


class WizardsGardenBoard(Vertical):
    """`grimoire.engine.board.Board` of the Wizard's Garden.

    Args:
        host: the client.
    """

    DEFAULT_CSS = """
    WizardsGardenBoard { height: 1fr; width: 1fr; }
    WizardsGardenBoard #wg-top { height: auto; }
    WizardsGardenBoard Yard { height: auto; }
    WizardsGardenBoard #wg-side { width: 1fr; margin: 0 0 0 1; }
    WizardsGardenBoard #wg-own { height: 1fr; }
    """
    shortcuts: ClassVar[Mapping[str, str]] = {
        "n": "end_phase",
        "d": "end_action",
        "f": "collect_fire",
        "p": "light_with_pair",
        "k": "declare_attack",
        "v": "advance",
        "w": "withdraw",
    }

    def __init__(self, host: BoardHost) -> None:
        super().__init__()
        self._shown: Shown | None = None
        self._start = ""
        self._yard = Yard(host)
        self._side = Pane(side_lines, id="wg-side")
        self._own = Pane(own_lines, id="wg-own")

    def compose(self) -> ComposeResult:
        """The yard left, what everybody knows right, one's own below."""
        yield Horizontal(self._yard, self._side, id="wg-top")
        yield self._own

    # ---- drawing ---------------------------------------------------------------------------------------------------

    def show(self, shown: Shown) -> None:
        """Draws a view."""
        self._shown = shown
        self._draw()

    def on_resize(self, _: Resize) -> None:
        """Divides the board anew."""
        self._draw()

    def _draw(self) -> None:
        if self._shown is None:
            return
        if not self.size:
            # Told before it was laid out, or while it is hidden.
            self.call_after_refresh(self._draw_laid_out)
            return
        plan = layout(self.size.width, self.size.height)
        self._yard.styles.width, self._yard.styles.height = plan.yard_width, plan.yard_height
        self._side.styles.height = plan.yard_height
        self._yard.tell(self._shown, plan)
        self._side.tell(self._shown)
        self._own.tell(self._shown)

    def _draw_laid_out(self) -> None:
        if self.size:
            self._draw()

    # ---- what the client asks --------------------------------------------------------------------------------------

    def picks(self) -> Sequence[str]:
        """What may be picked next."""
        return choices(self._shown)[:DIGITS] if self._shown is not None else ()

    def neighbour(self, ref: str, right: int, down: int) -> str:
        """A picked piece's way in that direction; with nothing picked the next thing, one after the other."""
        if self._shown is None:
            return ""
        if ref:
            way = -1 if turned(view_of(self._shown)) else 1
            return beside(ref, self._shown, right * way, down * way)
        offered = choices(self._shown)
        if not offered:
            return ""
        at = offered.index(self._start) + (right or down) if self._start in offered else 0
        self._start = offered[at % len(offered)]
        return self._start

    def headline(self) -> str:
        """What is decided now, the turn, and the steps that are left."""
        if self._shown is None:
            return ""
        view, speech = view_of(self._shown), Speech(self._shown.language)
        return " · ".join(_headline(view, speech))

    def detail(self, ref: str) -> str:
        """Everything about one thing."""
        if self._shown is None:
            return ""
        view, language = view_of(self._shown), self._shown.language
        space = place_of(ref, view)
        if space:
            return space_words(space, contents(view).get(space), language) + "."
        kind, _, name = ref.partition(":")
        if kind == "group":
            return next((f"{group_words(group, language)}." for group in view.groups if group.group == name), "")
        if name in CARD_KIND:
            return _kind_text(kind_of(name), language)
        if kind == "kind" and name in KINDS:
            return _kind_text(name, language)
        return f"{ref_words(ref, self._shown)}."

    def panels(self) -> Sequence[Panel]:
        """Threats, spells, the discard pile, and the yard in words."""
        if self._shown is None:
            return ()
        view, language = view_of(self._shown), self._shown.language
        speech = Speech(language)
        threats = tuple(f"{group_words(group, language)}" for group in view.groups)
        newest_first = tuple(f"{n:>3}  {name_of(card, language)}" for n, card in enumerate(view.discards[::-1], 1))
        return (
            Panel("g", speech("signs"), signs_legend(language)),
            Panel("t", speech("threats"), threats or (speech("no_threats"),)),
            Panel("s", speech("spell_list"), tuple(_spells(view, speech))),
            Panel("x", speech("discards"), newest_first),
            Panel("y", speech("yard"), tuple(yard_words(view, language))),
        )


def _headline(view: pb.View, speech: Speech) -> Iterable[str]:
    words = speech.words
    if view.HasField("battle"):
        battle = view.battle
        if battle.awaits == "light":
            yield speech("light_now", lantern=words.events[f"name.{battle.kind}"])
        elif battle.awaits == "space":
            yield speech("space_now", target=battle.target)
        elif view.HasField("own_seat") and view.own_seat != battle.seat:
            yield speech("defend", target=battle.target, n=battle.strength)
    if view.HasField("action"):
        action = view.action
        key = "butterfly" if action.source == "butterfly" else f"{action.kind}.{action.steps}"
        yield speech("steps_left", action=words.events[f"action.{key}"], n=action.steps_left)
    yield speech("turn", n=view.turn_no, limit=view.turn_limit) if view.turn_no else speech("preparation")
    if view.phase in words.terms and view.turn_no:
        yield words.terms[view.phase]


def _kind_text(kind: str, language: str) -> str:
    record = next(each for each in DATA.kinds if each.id == kind)
    words = Speech(language).words
    text = words.terms["kind_text"].format(
        lantern=record.lantern_name.in_language(language),
        card=record.spirit_name.in_language(language),
        one=words.events[f"action.{kind}.1"],
        two=words.events[f"action.{kind}.2"],
    )
    return f"{kind_words(kind, language)} · {text}"


def _spells(view: pb.View, speech: Speech) -> Iterable[str]:
    """One's own with their texts, then those that were cast."""
    own = view.seats[view.own_seat].spells if view.HasField("own_seat") else ()
    if own:
        yield f"{speech('own_spells')}:"
    for spell in own:
        record = _SPELLS[spell]
        timing = speech.words.terms[timing_of(spell)]
        yield f"  {name_of(spell, speech.language)} ({timing}): {record.text.in_language(speech.language)}"
    if view.cast:
        yield f"{speech('cast')}: " + ", ".join(name_of(cast.spell, speech.language) for cast in view.cast)

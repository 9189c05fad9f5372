"""One open field of a command, asked with the control that its kind needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Select, SelectionList, Static
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from grimoire.cli.screens.dialogs import Box
from grimoire.cli.screens.slots import Answer, SlotKind, fault, kind_of, start, things
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import Words
from grimoire.v1 import prompt_pb2

__all__ = ["SlotDialog"]

_LISTS: Final = (SlotKind.ONE, SlotKind.OPTION, SlotKind.NAME)
_MARKS: Final = (SlotKind.SOME, SlotKind.PAYMENT)


class SlotDialog(Box[Answer]):
    """Asks for one answer; Escape gives none.

    Args:
        words: of the interface.
        wording: of the game.
        command: what it is for, e.g. `Counter`.
        slot: what is asked.
        detail: all there is to say about a thing on the board; empty: nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "confirm", show=False),
        Binding("shift+up,K", "move(-1)", show=False),
        Binding("shift+down,J", "move(1)", show=False),
    ]

    def __init__(
        self,
        words: Words,
        wording: Wording,
        command: str,
        slot: prompt_pb2.Slot,
        detail: Callable[[str], str] = lambda _: "",
    ) -> None:
        super().__init__(words, command)
        self._wording = wording
        self._detail = detail
        self._slot = slot
        self._kind = kind_of(slot)
        self._answer: Answer | None = start(slot)
        self._names: Mapping[str, str] = wording.names(slot.name.catalogue) if self._kind is SlotKind.NAME else {}

    def body(self) -> Iterable[Widget]:
        """The control, what is still missing, and the button."""
        question = self._wording.slot(self._slot)
        yield Static(Content(question[:1].upper() + question[1:]), classes="question")
        yield from self._control()
        yield Static(id="missing", classes="muted")
        if self._kind not in _LISTS:
            yield Horizontal(
                Button(Content(self.words("slot.done")), id="done", variant="primary", compact=True), classes="answers"
            )

    def on_mount(self) -> None:
        """The control takes the keys."""
        self._judge()
        first = next((w for w in self.query(".control") if w.focusable), None)
        if first is not None:
            first.focus()

    # ---- controls --------------------------------------------------------------------------------------------------

    def _control(self) -> Iterable[Widget]:
        offered = things(self._slot)
        if self._kind in _LISTS:
            if self._kind is SlotKind.NAME:
                yield Input(placeholder=self.words("filter.hint"), classes="control", id="filter")
            yield OptionList(*self._options(""), classes="control", id="choices")
        elif self._kind in _MARKS:
            before = {*self._answer} if isinstance(self._answer, tuple) else set()
            rows = [Selection(Content(self._thing(ref)), ref, ref in before) for ref in offered]
            yield SelectionList[str](*rows, classes="control")
        elif self._kind is SlotKind.NUMBER:
            yield Input(str(self._answer), type="integer", classes="control", id="number")
            low, high = self._slot.number.min, self._slot.number.max
            yield Static(Content(self.words("slot.number.hint", min=low, max=high)), classes="muted")
        elif self._kind is SlotKind.ORDER:
            yield OptionList(*self._ordered(), classes="control", id="order")
            yield Static(Content(self.words("slot.order.hint")), classes="muted")
        else:
            yield VerticalScroll(*self._rows(), classes="rows")

    def _options(self, wanted: str) -> list[Option]:
        if self._kind is SlotKind.NAME:
            known = self._names.items()
            key_part = wanted.replace(" ", "_")
            return [Option(Content(n), id=key) for key, n in known if wanted in n.casefold() or key_part in key]
        return [
            Option(Content(f"{number}  {self._thing(ref)}"), id=ref) for number, ref in enumerate(things(self._slot), 1)
        ]

    def _thing(self, ref: str) -> str:
        """A thing and what there is to say about it."""
        name, detail = self._wording.thing(ref), self._detail(ref)
        if not detail:
            return name
        return detail if detail.startswith(name) else f"{name} · {detail}"

    def _ordered(self) -> list[Option]:
        refs = self._answer if isinstance(self._answer, tuple) else ()
        return [Option(Content(f"{n}  {self._wording.thing(ref)}"), id=ref) for n, ref in enumerate(refs, 1)]

    def _rows(self) -> Iterable[Widget]:
        """One row for each thing: an amount, or a choice."""
        for number, ref in enumerate(things(self._slot)):
            label = Static(Content(self._wording.thing(ref)), classes="label")
            yield Horizontal(label, self._row_control(number, ref), classes="row")

    def _row_control(self, number: int, ref: str) -> Widget:
        answer = self._answer if isinstance(self._answer, Mapping) else {}
        if self._kind is SlotKind.AMOUNTS:
            return Input(str(answer.get(ref, 0)), type="integer", classes="control", name=ref, compact=True)
        choices = self._slot.assign.refs[number].choices
        pairs = [(self._wording.thing(choice), choice) for choice in choices]
        return Select[str](pairs, allow_blank=False, classes="control", name=ref, compact=True)

    # ---- answers ---------------------------------------------------------------------------------------------------

    @on(OptionList.OptionSelected, "#choices")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._answer = event.option.id
        self.action_confirm()

    @on(SelectionList.SelectedChanged)
    def _marked(self, event: SelectionList.SelectedChanged[str]) -> None:
        event.stop()
        offered = things(self._slot)
        self._answer = tuple(ref for ref in offered if ref in event.selection_list.selected)
        self._judge()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.id == "filter":
            choices = self.query_one("#choices", OptionList)
            choices.clear_options().add_options(self._options(event.value.strip().casefold()))
            if choices.option_count:
                choices.highlighted = 0
            return
        number = int(event.value) if event.value.lstrip("-").isdecimal() else None
        if event.input.id == "number":
            self._answer = number
        else:
            self._set(event.input.name or "", -1 if number is None else number)
        self._judge()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id == "filter":
            self.query_one("#choices", OptionList).action_select()
        else:
            self.action_confirm()

    @on(Select.Changed)
    def _assigned(self, event: Select.Changed) -> None:
        event.stop()
        if isinstance(event.value, str):
            self._set(event.select.name or "", event.value)
            self._judge()

    def _set(self, ref: str, value: int | str) -> None:
        before: dict[str, Any] = dict(self._answer) if isinstance(self._answer, Mapping) else {}
        self._answer = {**before, ref: value}

    def on_key(self, event: Key) -> None:
        """Up and down change a number; digits choose from a list."""
        number = self.query("#number")
        if event.key in ("up", "down") and number and isinstance(self._answer, int):
            step = 1 if event.key == "up" else -1
            if self._slot.number.min <= self._answer + step <= self._slot.number.max:
                number.first(Input).value = str(self._answer + step)
            event.prevent_default().stop()
        elif self._kind in (SlotKind.ONE, SlotKind.OPTION) and event.character and event.character.isdecimal():
            offered = things(self._slot)
            if 1 <= int(event.character) <= len(offered):
                self._answer = offered[int(event.character) - 1]
                self.action_confirm()

    def action_move(self, step: int) -> None:
        """Moves the marked thing of an order up or down."""
        order = self.query("#order")
        if not order or not isinstance(self._answer, tuple):
            return
        view = order.first(OptionList)
        at = view.highlighted or 0
        to = at + step
        if 0 <= to < len(self._answer):
            refs = list(self._answer)
            refs[at], refs[to] = refs[to], refs[at]
            self._answer = tuple(refs)
            view.clear_options().add_options(self._ordered())
            view.highlighted = to

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_confirm()

    @on(OptionList.OptionSelected, "#order")
    def _order_done(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_confirm()

    def action_confirm(self) -> None:
        """Gives the answer, if it is one."""
        if self._judge() and self._answer is not None:
            self.dismiss(self._answer)

    def _judge(self) -> bool:
        """Says what is missing; whether nothing is."""
        wrong = fault(self._slot, self._answer, [*self._names])
        text = "" if wrong is None else self.words(wrong.key, **wrong.arguments)
        self.query_one("#missing", Static).update(Content("" if self._kind in _LISTS else text))
        for button in self.query("#done"):
            button.disabled = wrong is not None
        return wrong is None

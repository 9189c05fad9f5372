"""A new match: the opponent, and every option of the game's schema."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, Select, Static

from grimoire.cli.screens.dialogs import Box
from grimoire.cli.screens.wish import SEATS
from grimoire.cli.screens.wording import Wording, refusal
from grimoire.cli.screens.words import Words
from grimoire.client import ClientError, Rejected
from grimoire.engine.game import usual_seats
from grimoire.v1 import manifest_pb2, matchmaking_pb2

__all__ = ["ChallengeForm", "Create"]

Create = Callable[[Mapping[str, str], str], Awaitable[matchmaking_pb2.Challenge]]
"""Makes the challenge: options, and the bot's level or nothing."""

_ANYBODY = ""


class ChallengeForm(Box[matchmaking_pb2.Challenge]):
    """Made from the schema; the server judges the values, and a refused one is marked.

    Args:
        words: of the interface.
        wording: of the game.
        values: options to begin with.
        create: makes the challenge.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "create", show=False)]

    def __init__(self, words: Words, wording: Wording, values: Mapping[str, str], create: Create) -> None:
        super().__init__(words, words("form.title"))
        self._wording = wording
        self._values = dict(values)
        self._create = create

    def body(self) -> Iterable[Widget]:
        """A row for the opponent and one for each option."""
        rows = [self._opponent(), *self._seats(), *map(self._row, self._wording.schemas)]
        yield VerticalScroll(*rows, classes="rows")
        yield Static(id="fault")
        yield Horizontal(
            Button(Content(self.words("cancel")), id="cancel", compact=True, classes="key"),
            Button(
                Content(self.words("form.create")), id="create", variant="primary", compact=True, classes="key main"
            ),
            classes="answers",
        )

    def _opponent(self) -> Widget:
        levels = [(Content(self.words("lobby.bot", name=b.name)), b.level) for b in self._wording.manifest.bot_levels]
        choices = [(Content(self.words("form.anybody")), _ANYBODY), *levels]
        select = Select[str](choices, value=_ANYBODY, allow_blank=False, id="opponent", compact=True)
        return Horizontal(Static(Content(self.words("form.opponent")), classes="label"), select, classes="row")

    def _seats(self) -> Iterable[Widget]:
        """How many seats, where the game leaves a choice."""
        fewest, most = self._wording.manifest.min_seats, self._wording.manifest.max_seats
        if fewest == most:
            return
        choices = [(Content(str(number)), str(number)) for number in range(fewest, most + 1)]
        value = self._values.get(SEATS, "")
        known = value if any(value == each for _, each in choices) else str(usual_seats(fewest, most))
        select = Select[str](choices, value=known, allow_blank=False, name=SEATS, classes="option", compact=True)
        label = Static(Content(self.words("form.seats")), classes="label")
        yield Horizontal(label, select, classes="row", id=f"row-{SEATS}")

    def _row(self, schema: manifest_pb2.OptionSchema) -> Widget:
        value = self._values.get(schema.name, schema.default)
        unit = f" ({schema.unit})" if schema.unit else ""
        label = Static(Content(f"{schema.icon} {schema.label or schema.name}{unit}".strip()), classes="label")
        return Horizontal(label, self._control(schema, value), classes="row", id=f"row-{schema.name}")

    def _control(self, schema: manifest_pb2.OptionSchema, value: str) -> Widget:
        if schema.type == manifest_pb2.OPTION_TYPE_CHOICE and schema.choices:
            choices = [(_choice(item), item.value) for item in schema.choices]
            known = value if any(value == item.value for item in schema.choices) else schema.choices[0].value
            return Select[str](
                choices, value=known, allow_blank=False, name=schema.name, classes="option", compact=True
            )
        if schema.type == manifest_pb2.OPTION_TYPE_BOOL:
            return Checkbox(value=value == "true", name=schema.name, classes="option", compact=True)
        whole = schema.type == manifest_pb2.OPTION_TYPE_INTEGER
        hint = f"{schema.min} … {schema.max}" if whole else ""
        return Input(
            value,
            placeholder=hint,
            type="integer" if whole else "text",
            name=schema.name,
            classes="option",
            compact=True,
        )

    def on_mount(self) -> None:
        """The first control takes the keys."""
        self.query_one("#opponent").focus()

    def values(self) -> dict[str, str]:
        """The options as they stand."""
        found = {}
        for widget in self.query(".option"):
            if isinstance(widget, Checkbox):
                found[widget.name or ""] = str(widget.value).lower()
            elif isinstance(widget, Select | Input):
                found[widget.name or ""] = str(widget.value)
        return found

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "create":
            self.action_create()
        else:
            self.dismiss(None)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_create()

    @work(exclusive=True, group="create")
    async def action_create(self) -> None:
        """Asks the server."""
        for row in self.query(".row"):
            row.remove_class("wrong")
        level = str(self.query_one("#opponent", Select).value)
        try:
            challenge = await self._create(self.values(), level)
        except Rejected as rejected:
            self._say(f"✗ {refusal(rejected, self.words, self._wording)}")
            for row in self.query(f"#row-{rejected.field}") if rejected.field.isidentifier() else ():
                row.add_class("wrong")
        except ClientError as error:
            self._say(f"✗ {error}")
        else:
            self.dismiss(challenge)

    def _say(self, text: str) -> None:
        self.query_one("#fault", Static).update(Content.styled(text, "bold $error"))


def _choice(item: manifest_pb2.OptionItem) -> Content:
    note = f" · {item.note}" if item.note else ""
    return Content.assemble(f"{item.icon} {item.label}".strip(), (note, "$muted"))

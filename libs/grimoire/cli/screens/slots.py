"""Open fields of a legal command: the nine kinds, and what answers them (`grimoire.engine.answers`)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from grimoire.engine.answers import Answer, fill
from grimoire.v1 import prompt_pb2

__all__ = ["Answer", "Fault", "SlotKind", "fault", "fill", "forced", "how_many", "kind_of", "parse", "start", "things"]


class SlotKind(enum.StrEnum):
    """The nine kinds of `prompt.proto`."""

    ONE = "one"
    SOME = "some"
    NUMBER = "number"
    AMOUNTS = "amounts"
    ASSIGN = "assign"
    ORDER = "order"
    OPTION = "option"
    NAME = "name"
    PAYMENT = "payment"


class Fault(msgspec.Struct, frozen=True):
    """Why an answer does not fit: a key of the interface's words, and its arguments."""

    key: str
    arguments: dict[str, int | str] = {}


def kind_of(slot: prompt_pb2.Slot) -> SlotKind:
    """What kind of answer it takes."""
    return SlotKind(slot.WhichOneof("kind") or "")


def things(slot: prompt_pb2.Slot) -> tuple[str, ...]:
    """The refs or options it offers, in order; none for numbers and names."""
    match kind_of(slot):
        case SlotKind.ONE:
            return tuple(slot.one.candidates)
        case SlotKind.SOME:
            return tuple(slot.some.candidates)
        case SlotKind.AMOUNTS:
            return tuple(each.ref for each in slot.amounts.refs)
        case SlotKind.ASSIGN:
            return tuple(each.ref for each in slot.assign.refs)
        case SlotKind.ORDER:
            return tuple(slot.order.refs)
        case SlotKind.OPTION:
            return tuple(slot.option.options)
        case SlotKind.PAYMENT:
            return tuple(slot.payment.sources)
        case _:
            return ()


def start(slot: prompt_pb2.Slot) -> Answer | None:
    """The answer to begin with, where there is a natural one."""
    match kind_of(slot):
        case SlotKind.NUMBER:
            return slot.number.min
        case SlotKind.AMOUNTS:
            return {each.ref: each.min for each in slot.amounts.refs}
        case SlotKind.ASSIGN:
            return {each.ref: each.choices[0] for each in slot.assign.refs if each.choices}
        case SlotKind.ORDER:
            return tuple(slot.order.refs)
        case SlotKind.PAYMENT:
            return tuple(slot.payment.automatic)
        case SlotKind.SOME:
            return ()
        case _:
            return None


def forced(slot: prompt_pb2.Slot) -> Answer | None:
    """The only things that answer it; None: there is a choice.

    >>> forced(prompt_pb2.Slot(field="from", one=prompt_pb2.One(candidates=["space:b3"])))
    'space:b3'
    """
    match kind_of(slot):
        case SlotKind.ONE if len(slot.one.candidates) == 1:
            return slot.one.candidates[0]
        case SlotKind.SOME if slot.some.min == len(slot.some.candidates):
            return tuple(slot.some.candidates)
        case _:
            return None


# ---- judging ---------------------------------------------------------------------------------------------------------


def fault(slot: prompt_pb2.Slot, answer: Answer | None, names: Sequence[str] = ()) -> Fault | None:
    """Why this is no answer; None: it is one.

    Args:
        slot: what is asked.
        answer: None: nothing yet.
        names: ids of the slot's catalogue, for a `name`.

    >>> slot = prompt_pb2.Slot(field="stake", number=prompt_pb2.NumberRange(min=1, max=3))
    >>> fault(slot, 4)
    Fault(key='slot.fault.number', arguments={'min': 1, 'max': 3})
    """
    if answer is None:
        return Fault("slot.fault.none")
    return _FAULTS[kind_of(slot)](slot, answer, names)


def _among(allowed: Iterable[str], answer: Answer) -> Fault | None:
    return None if isinstance(answer, str) and answer in allowed else Fault("slot.fault.none")


def _some(slot: prompt_pb2.Slot, answer: Answer, _: Sequence[str]) -> Fault | None:
    wanted = slot.some
    fits = isinstance(answer, tuple) and len({*answer}) == len(answer) and {*wanted.candidates}.issuperset(answer)
    if fits and isinstance(answer, tuple) and wanted.min <= len(answer) <= wanted.max:
        return None
    return how_many(slot)


def how_many(slot: prompt_pb2.Slot) -> Fault:
    """How many things of a `some` are chosen, as it is said before and after.

    >>> some = prompt_pb2.Some(candidates=["role:a", "role:b", "role:c"], min=2, max=2)
    >>> how_many(prompt_pb2.Slot(field="roles", some=some))
    Fault(key='slot.fault.exactly', arguments={'min': 2})
    """
    least, most = slot.some.min, slot.some.max
    if least == most:
        return Fault("slot.fault.exactly", {"min": least})
    return Fault("slot.fault.some", {"min": least, "max": most})


def _number(slot: prompt_pb2.Slot, answer: Answer, _: Sequence[str]) -> Fault | None:
    low, high = slot.number.min, slot.number.max
    return None if isinstance(answer, int) and low <= answer <= high else Fault("slot.fault.number", _range(low, high))


def _amounts(slot: prompt_pb2.Slot, answer: Answer, _: Sequence[str]) -> Fault | None:
    if not isinstance(answer, Mapping):
        return Fault("slot.fault.none")
    for each in slot.amounts.refs:
        n = answer.get(each.ref)
        if not isinstance(n, int) or not each.min <= n <= each.max:
            return Fault("slot.fault.number", _range(each.min, each.max))
    total = sum(n for n in answer.values() if isinstance(n, int))
    if not slot.amounts.min_sum <= total <= slot.amounts.max_sum:
        return Fault("slot.fault.sum", {**_range(slot.amounts.min_sum, slot.amounts.max_sum), "sum": total})
    return None


def _assign(slot: prompt_pb2.Slot, answer: Answer, _: Sequence[str]) -> Fault | None:
    if not isinstance(answer, Mapping) or not all(answer.get(each.ref) in each.choices for each in slot.assign.refs):
        return Fault("slot.fault.none")
    given = [*answer.values()]
    return Fault("slot.fault.once") if any(given.count(choice) > 1 for choice in slot.assign.once) else None


def _order(slot: prompt_pb2.Slot, answer: Answer, _: Sequence[str]) -> Fault | None:
    fits = isinstance(answer, tuple) and sorted(answer) == sorted(slot.order.refs)
    return None if fits else Fault("slot.fault.order")


def _payment(slot: prompt_pb2.Slot, answer: Answer, _: Sequence[str]) -> Fault | None:
    known = {*slot.payment.sources, *slot.payment.automatic}
    fits = isinstance(answer, tuple) and len({*answer}) == len(answer) and known.issuperset(answer)
    return None if fits else Fault("slot.fault.none")


def _range(low: int, high: int) -> dict[str, int | str]:
    return {"min": low, "max": high}


_FAULTS: Final[dict[SlotKind, Callable[[prompt_pb2.Slot, Answer, Sequence[str]], Fault | None]]] = {
    SlotKind.ONE: lambda slot, answer, _: _among(slot.one.candidates, answer),
    SlotKind.OPTION: lambda slot, answer, _: _among(slot.option.options, answer),
    SlotKind.NAME: lambda _slot, answer, names: _among(names, answer),
    SlotKind.SOME: _some,
    SlotKind.NUMBER: _number,
    SlotKind.AMOUNTS: _amounts,
    SlotKind.ASSIGN: _assign,
    SlotKind.ORDER: _order,
    SlotKind.PAYMENT: _payment,
}


# ---- from a line of text ---------------------------------------------------------------------------------------------


def parse(slot: prompt_pb2.Slot, line: str, names: Sequence[str] = ()) -> Answer | None:
    """Reads an answer from a line: numbers count the offered things from 1.

    `2` or its id is one thing; `1 3` several, an order, or sources; `2 0 1` an amount for each thing in turn, or each
    thing's choice; `c4 2 b4` amounts for some of them. A name is its id or how it begins.

    >>> parse(prompt_pb2.Slot(field="to", one=prompt_pb2.One(candidates=["space:c2", "space:c3"])), "C3")
    'space:c3'

    Returns:
        None if it cannot be read; whether it fits is for `fault` to say.
    """
    words = line.replace(",", " ").split()
    offered = things(slot)
    kind = kind_of(slot)
    try:
        if kind is SlotKind.NUMBER:
            return int(line)
        if kind is SlotKind.NAME:
            return _by_beginning(line.strip(), names)
        if kind in (SlotKind.ONE, SlotKind.OPTION):
            return _nth(offered, line.strip())
        if kind is SlotKind.AMOUNTS:
            if any(not word.isdecimal() for word in words):
                return _named_amounts(slot.amounts, words)
            return dict(zip(offered, map(int, words), strict=True))
        if kind is SlotKind.ASSIGN:
            rows = zip(slot.assign.refs, words, strict=True)
            return {each.ref: _nth(tuple(each.choices), word) for each, word in rows}
        if kind is SlotKind.PAYMENT and not words:
            return tuple(slot.payment.automatic)
        return tuple(_nth(offered, word) for word in words)
    except ValueError:
        return None


def _named_amounts(amounts: prompt_pb2.Amounts, words: Sequence[str]) -> dict[str, int]:
    """`c4 2 b4` is two for c4 and one for b4; what is not named gets its least."""
    given = {each.ref: each.min for each in amounts.refs}
    names = [*given]
    for at, word in enumerate(words):
        if word.isdecimal():
            continue
        follows = words[at + 1] if at + 1 < len(words) else ""
        given[_nth(names, word)] = int(follows) if follows.isdecimal() else 1
    return given


def _nth(offered: Sequence[str], word: str) -> str:
    if word in offered:
        return word
    named = [ref for ref in offered if ref.partition(":")[2] == word.casefold()]
    if named and not word.isdecimal():
        return named[0]
    number = int(word)
    if not 1 <= number <= len(offered):
        raise ValueError(word)
    return offered[number - 1]


def _by_beginning(text: str, names: Sequence[str]) -> str:
    wanted = text.casefold().replace(" ", "_")
    if wanted in names:
        return wanted
    found = [name for name in names if wanted and name.startswith(wanted)]
    if len(found) != 1:
        raise ValueError(text)
    return found[0]

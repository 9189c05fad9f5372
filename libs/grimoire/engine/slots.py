"""Open slots of legal commands, made once and shared: listing is on the path of every decision.

The question that a slot is, is a term of the game: `slot_<field>`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from grimoire.v1 import prompt_pb2

__all__ = ["Slot", "amounts", "assign", "number", "one", "some"]

Slot = prompt_pb2.Slot


@functools.cache
def _asks(field: str) -> prompt_pb2.Label:
    return prompt_pb2.Label(key=f"slot_{field}")


@functools.lru_cache(maxsize=8192)
def one(field: str, refs: tuple[str, ...]) -> Slot:
    """One of these things.

    >>> one("to", ("space:a1", "space:b2")).label.key
    'slot_to'
    """
    return Slot(field=field, label=_asks(field), one=prompt_pb2.One(candidates=refs))


@functools.lru_cache(maxsize=8192)
def some(field: str, refs: tuple[str, ...], least: int, most: int) -> Slot:
    """So many of these things."""
    return Slot(field=field, label=_asks(field), some=prompt_pb2.Some(candidates=refs, min=least, max=most))


@functools.lru_cache(maxsize=1024)
def number(field: str, least: int, most: int) -> Slot:
    """A whole number."""
    return Slot(field=field, label=_asks(field), number=prompt_pb2.NumberRange(min=least, max=most))


def amounts(field: str, most: Iterable[tuple[str, int]], least_sum: int, most_sum: int) -> Slot:
    """So many for each of these things, none to begin with: ref and most of each, and the bounds of their sum."""
    refs = [prompt_pb2.AmountRange(ref=ref, min=0, max=amount) for ref, amount in most]
    chosen = prompt_pb2.Amounts(refs=refs, min_sum=least_sum, max_sum=most_sum)
    return Slot(field=field, label=_asks(field), amounts=chosen)


def assign(field: str, choices: Iterable[tuple[str, tuple[str, ...]]], once: tuple[str, ...] = ()) -> Slot:
    """One choice for each of these things: ref and choices of each, and the choices that serve one thing only."""
    refs = [prompt_pb2.AssignChoice(ref=ref, choices=offered) for ref, offered in choices]
    return Slot(field=field, label=_asks(field), assign=prompt_pb2.Assign(refs=refs, once=once))

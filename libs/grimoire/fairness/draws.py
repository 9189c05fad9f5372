"""The one source of chance in a match: labelled draws from the joint seed (fairness specification, section 3)."""

from __future__ import annotations

import hmac
import struct
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from grimoire.engine.draws import Draws
from grimoire.fairness.names import check_game, check_label
from grimoire.fairness.secret import Secret
from grimoire.v1 import match_pb2

__all__ = ["MAX_BOUND", "DrawRecorder", "ForcedDrawError", "ForcedDraws", "RecordedDraws", "Stream"]

T = TypeVar("T")

MAX_BOUND = 2**32
"""The largest n of `below(n)`."""

_WORDS = 2**64
_cut = struct.Struct(">4Q").unpack

_BELOW = match_pb2.DRAW_KIND_BELOW
_SHUFFLE = match_pb2.DRAW_KIND_SHUFFLE
_SAMPLE = match_pb2.DRAW_KIND_SAMPLE


class Stream:
    """The words of one label: block i is HMAC-SHA256(J, lines("grimoire/<game>/stream/1", label, i)), cut in four.

    Args:
        game: code name.
        joint: J.
        label: 1 to 64 of `[a-z0-9_/.-]`.

    >>> from grimoire.fairness.secret import Secret
    >>> joint = Secret(bytes.fromhex("a3cf2d2ced3fa6c8ef17d2865fbf425b0abd714bef60d21fccfe9a5b0ccd4f87"))
    >>> Stream("two_towers", joint, "first_seat").word()
    11174516263788401379
    >>> Stream("two_towers", joint, "first_seat").below(2)
    1
    >>> Stream("two_towers", joint, "x/1").sample(12, 4)
    [5, 0, 8, 1]
    """

    __slots__ = ("_block", "_joint", "_prefix", "_words")

    def __init__(self, game: str, joint: Secret, label: str) -> None:
        self._joint = joint
        self._prefix = f"grimoire/{check_game(game)}/stream/1\n{check_label(label)}\n".encode("ascii")
        self._block = 0
        self._words: list[int] = []

    def word(self) -> int:
        """The next 64-bit word."""
        if not self._words:
            block = hmac.digest(self._joint.open(), self._prefix + b"%d\n" % self._block, "sha256")
            self._words.extend(reversed(_cut(block)))
            self._block += 1
        return self._words.pop()

    @property
    def position(self) -> tuple[int, tuple[int, ...]]:
        """Where the stream stands; as secret as the draws to come."""
        return self._block, tuple(self._words)

    def go_to(self, position: tuple[int, tuple[int, ...]]) -> None:
        """Stands again where it stood."""
        self._block = position[0]
        self._words = list(position[1])

    def below(self, n: int) -> int:
        """A uniform integer in 0..n-1: words at or above floor(2**64 / n) * n are passed over, so none is favoured.

        Raises:
            ValueError: unless 1 <= n <= 2**32.
        """
        if not 1 <= n <= MAX_BOUND:
            raise ValueError(f"a draw is below 1..2**32, not below {n}")
        limit = _WORDS - _WORDS % n
        word = self.word()
        while word >= limit:
            word = self.word()
        return word % n

    def shuffle(self, n: int) -> list[int]:
        """The order of n shuffled things: what stands at i now stood at `result[i]` (Fisher-Yates, from the end)."""
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def sample(self, n: int, k: int) -> list[int]:
        """Former indices of k different things out of n, in the order drawn (Fisher-Yates, from the front).

        Raises:
            ValueError: unless 0 <= k <= n.
        """
        if not 0 <= k <= n:
            raise ValueError(f"cannot sample {k} of {n}")
        # Only places that changed are kept, so the cost follows k, not n.
        moved: dict[int, int] = {}
        drawn: list[int] = []
        for t in range(k):
            j = t + self.below(n - t)
            drawn.append(moved.get(j, j))
            moved[j] = moved.get(t, t)
        return drawn


class DrawRecorder(Draws, Protocol):
    """Draws that write down what they gave."""

    taken: list[match_pb2.Draw]


class RecordedDraws:
    """A match's draws for one command, each use written down in `taken`.

    A label asked again continues its stream (TT-8.3). That no label occurs in two commands is the game's duty (labels
    are numbered where they repeat) and is checked by the audit.

    Args:
        game: code name.
        joint: J.

    >>> joint = Secret(bytes.fromhex("a3cf2d2ced3fa6c8ef17d2865fbf425b0abd714bef60d21fccfe9a5b0ccd4f87"))
    >>> draws = RecordedDraws("two_towers", joint)
    >>> draws.sample("x/1", range(1, 13), 4)
    [6, 1, 9, 2]
    >>> [(d.label, d.bound, list(d.results)) for d in draws.taken]
    [('x/1', 12, [5, 0, 8, 1])]
    """

    __slots__ = ("_game", "_joint", "_streams", "taken")

    def __init__(self, game: str, joint: Secret) -> None:
        self.taken: list[match_pb2.Draw] = []
        self._game = game
        self._joint = joint
        self._streams: dict[str, Stream] = {}

    def below(self, label: str, n: int) -> int:
        """A uniform integer in 0..n-1."""
        result = self._stream(label).below(n)
        self.taken.append(match_pb2.Draw(label=label, kind=_BELOW, bound=n, results=(result,)))
        return result

    def coin(self, label: str) -> int:
        """`below(label, 2)`."""
        return self.below(label, 2)

    def choice(self, label: str, items: Sequence[T]) -> T:
        """`items[below(label, len(items))]`."""
        return items[self.below(label, len(items))]

    def shuffle(self, label: str, items: Sequence[T]) -> list[T]:
        """A shuffled copy; index 0 is the top."""
        order = self._stream(label).shuffle(len(items))
        self.taken.append(match_pb2.Draw(label=label, kind=_SHUFFLE, bound=len(items), results=order))
        return [items[i] for i in order]

    def sample(self, label: str, items: Sequence[T], k: int) -> list[T]:
        """Different items, k of them, in the order drawn."""
        drawn = self._stream(label).sample(len(items), k)
        self.taken.append(match_pb2.Draw(label=label, kind=_SAMPLE, bound=len(items), results=drawn))
        return [items[i] for i in drawn]

    def _stream(self, label: str) -> Stream:
        stream = self._streams.get(label)
        if stream is None:
            stream = self._streams[label] = Stream(self._game, self._joint, label)
        return stream


class ForcedDrawError(ValueError):
    """A result set by hand that the draw cannot have."""


class ForcedDraws:
    """Draws whose results are set by hand, for analysis matches only (an audit fails on them in any other mode).

    Args:
        forced: by label. For `below`, `coin` and `choice` one number an ask; for `shuffle` and `sample` the former
            indices of what comes first; a shorter list is a forced beginning, the rest follows in the items' order;
            what one ask does not use, the label's next ask takes.
        fallback: answers labels that are not forced, and asks beyond a label's last number; its `taken` is shared.

    >>> joint = Secret(bytes(32))
    >>> draws = ForcedDraws({"deck": [2], "first_seat": [1]}, RecordedDraws("two_towers", joint))
    >>> draws.shuffle("deck", ["a", "b", "c"]), draws.coin("first_seat")
    (['c', 'a', 'b'], 1)
    """

    __slots__ = ("_fallback", "_forced", "taken")

    def __init__(self, forced: Mapping[str, Sequence[int]], fallback: DrawRecorder) -> None:
        self._forced = {check_label(label): list(numbers) for label, numbers in forced.items()}
        self._fallback = fallback
        self.taken = fallback.taken

    def below(self, label: str, n: int) -> int:
        """The label's next number.

        Raises:
            ForcedDrawError: if it is not in 0..n-1.
        """
        numbers = self._forced.get(label)
        if not numbers:
            return self._fallback.below(label, n)
        result = numbers.pop(0)
        if not 0 <= result < n:
            raise ForcedDrawError(f"{label}: {result} is not in 0..{n - 1}")
        self.taken.append(match_pb2.Draw(label=label, kind=_BELOW, bound=n, results=(result,)))
        return result

    def coin(self, label: str) -> int:
        """`below(label, 2)`."""
        return self.below(label, 2)

    def choice(self, label: str, items: Sequence[T]) -> T:
        """`items[below(label, len(items))]`."""
        return items[self.below(label, len(items))]

    def shuffle(self, label: str, items: Sequence[T]) -> list[T]:
        """The forced beginning, then the rest in order.

        Raises:
            ForcedDrawError: if the label's numbers are not different indices of the items.
        """
        numbers = self._take(label, len(items))
        if not numbers:
            return self._fallback.shuffle(label, items)
        order = _completed(label, numbers, len(items))
        self.taken.append(match_pb2.Draw(label=label, kind=_SHUFFLE, bound=len(items), results=order))
        return [items[i] for i in order]

    def sample(self, label: str, items: Sequence[T], k: int) -> list[T]:
        """The forced beginning, then the rest in order, k in all.

        Raises:
            ForcedDrawError: if the label's numbers are not different indices of the items.
        """
        numbers = self._take(label, k)
        if not numbers or k > len(items):
            return self._fallback.sample(label, items, k)
        drawn = _completed(label, numbers, len(items))[:k]
        self.taken.append(match_pb2.Draw(label=label, kind=_SAMPLE, bound=len(items), results=drawn))
        return [items[i] for i in drawn]

    def _take(self, label: str, count: int) -> list[int]:
        """Up to this many of the label's numbers; the rest waits for its next ask."""
        numbers = self._forced.get(label, [])
        taken = numbers[:count]
        del numbers[:count]
        return taken


def _completed(label: str, numbers: list[int], n: int) -> list[int]:
    if len({*numbers}) != len(numbers) or not all(0 <= number < n for number in numbers):
        raise ForcedDrawError(f"{label}: not different indices in 0..{n - 1}")
    first = {*numbers}
    return numbers + [i for i in range(n) if i not in first]

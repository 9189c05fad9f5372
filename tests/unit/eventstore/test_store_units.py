"""The small pure parts of the store."""

from __future__ import annotations

import doctest
import io
import pickle
from collections import Counter
from types import ModuleType

import pytest
import rich.console
import rich.pretty

from grimoire.eventstore import Conflict, ConflictKind, StoredEntry, api, ownership, partition_of, partitions
from tests.support.eventstore import new_entry


def test_partitions_are_the_first_eight_bytes_of_the_hash() -> None:
    # `printf %s m1 | sha256sum` begins ca0df2c95aa144c1, and c1 mod 64 is 1; the others likewise.
    assert [partition_of(match_id) for match_id in ("m1", "m2", "tt-vector-1", "")] == [1, 21, 32, 20]


def test_partitions_are_filled_evenly() -> None:
    filled = Counter(partition_of(f"match-{number}") for number in range(6_400))
    assert len(filled) == 64
    assert max(filled.values()) < 150


@pytest.mark.parametrize("module", [api, ownership, partitions])
def test_the_examples_hold(module: ModuleType) -> None:
    done = doctest.testmod(module)
    assert done.attempted
    assert not done.failed


def test_entries_print_without_their_bytes() -> None:
    new = new_entry("m1", 7, parts=b"queen of spades", public=b"queen of spades")
    stored = StoredEntry("m1", 7, b"", 0, b"", b"queen of spades", b"", b"", b"queen of spades")
    for entry in (new, stored):
        shown = io.StringIO()
        rich.pretty.pprint(entry, console=rich.console.Console(file=shown, width=500), expand_all=True)
        for text in (repr(entry), str(entry), f"{entry}", shown.getvalue()):
            assert "queen" not in text
            assert "m1" in text


def test_a_conflict_tells_the_gravest_reason_and_survives_pickling() -> None:
    conflict = Conflict({"m1": ConflictKind.VERSION, "m2": ConflictKind.DUPLICATE})
    assert (conflict.kind, conflict.match_ids) == (ConflictKind.DUPLICATE, ("m1", "m2"))
    copy = pickle.loads(pickle.dumps(conflict))
    assert copy.faults == conflict.faults
    assert str(copy) == "m1: version, m2: duplicate"

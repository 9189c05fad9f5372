"""What is streamed to the eyes of a seat ends with the entry that gives the seat to somebody else."""

from __future__ import annotations

from grimoire.engine import PUBLIC, Viewer
from grimoire.match.table import Table
from grimoire.runtime.rules_service import _while_held
from grimoire.v1 import match_pb2
from tests.support.toy import PLUGIN
from tests.support.toy import schema as toy

PERSON = match_pb2.OCCUPANT_KIND_PERSON


def test_a_burst_is_cut_at_the_entry_that_gives_the_seat_away() -> None:
    table = Table(PLUGIN.game, match_id="burst", seats=3, options={"mode": "party"})
    table.begin()
    first = len(table.entries)
    table.play(0, toy.SetStance(always_pass=True))
    table.bind(match_pb2.BindSeat(seat=1, occupant_id="eve", kind=PERSON, reason="vote"))
    bound = len(table.entries)
    table.play(0, toy.SetStance(always_pass=False))
    burst = table.entries[first:]
    assert _while_held(burst, Viewer.of_seat(1), "seat-1") == (burst[: bound - first], False)
    assert _while_held(burst, Viewer.of_seat(0), "seat-0") == (burst, True)
    assert _while_held(burst, PUBLIC, "seat-1") == (burst, True)
    assert _while_held(burst, Viewer.of_seat(1), "") == (burst, True), "who asks for itself names nobody"
    assert _while_held(burst[bound - first :], Viewer.of_seat(1), "eve") == (burst[bound - first :], True)


def test_the_last_entry_is_open_to_all() -> None:
    table = Table(PLUGIN.game, match_id="burst", seats=3, options={"mode": "party"})
    table.begin()
    table.bind(match_pb2.BindSeat(seat=1, occupant_id="eve", kind=PERSON, reason="vote"))
    table.void("enough")
    assert _while_held(table.entries[-1:], Viewer.of_seat(1), "seat-1") == (table.entries[-1:], True)

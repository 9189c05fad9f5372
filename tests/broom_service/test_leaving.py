"""Seats whose person goes away: a bot sits in until it comes back; who resigns is out (BS-12)."""

from __future__ import annotations

import pytest
from google.protobuf.message import Message

from broom_service.state import Stage
from broom_service.timeout import default_command
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.match import Entry
from grimoire.match.frames import head
from grimoire.match.table import Table
from grimoire.v1 import envelope_pb2, match_pb2
from tests.broom_service.lively import GAME

ROLES = ("root_gatherer", "herb_gatherer", "hill_witch", "weather_fairy")


def table_of(seats: int, mode: match_pb2.MatchMode = match_pb2.MATCH_MODE_RATED, **options: str) -> Table:
    """A table of persons that has begun."""
    table = Table(GAME, match_id="leaving", seats=seats, options={"first_player": "seat_0", **options}, mode=mode)
    table.begin()
    return table


def said(answer: object) -> list[str]:
    assert isinstance(answer, Entry), answer
    return [type(event).__name__ for event in answer.events]


def in_bot(table: Table, seat: int) -> object:
    """The host lets a bot sit in after the grace period."""
    kind = match_pb2.OCCUPANT_KIND_BOT
    return table.bind(
        match_pb2.BindSeat(seat=seat, occupant_id="bot", kind=kind, level="heuristic", reason="left", if_left=True)
    )


def test_who_goes_away_is_replaced_by_a_bot_and_keeps_its_seat_and_cards():
    table = table_of(3)
    assert said(table.answer(1, pb.ChooseRoles(roles=ROLES))) == ["RolesChosen", "PromptClosed"]
    assert said(table.play(1, match_pb2.LeaveSeat())) == ["SeatLeft"]
    assert table.running.created
    assert match_pb2.MatchCreated.FromString(table.running.created).grace_s > 0
    assert "SeatBound" in said(in_bot(table, 1))
    assert table.running.game.hands[1] == ROLES
    assert not table.running.game.retired[1]


def test_who_resigns_is_out_and_the_others_play_on():
    table = table_of(3)
    assert said(table.play(1, match_pb2.Resign()))[0] == "SeatRetired"
    assert not table.running.over
    assert {opened.prompt.seat for opened in table.running.prompts} == {0, 2}
    for seat in (0, 2):
        table.answer(seat, pb.ChooseRoles(roles=ROLES))
    assert table.running.game.asked is Stage.LEAD


@pytest.mark.parametrize("limit", [3, 5])
def test_a_bot_may_sit_in_before_too_many_expiries_retire_the_seat(limit):
    """The platform counts two in a row as gone; the rules retire at the limit (BS-12.3)."""
    table = table_of(2, timeout_limit=str(limit))
    table.answer(1, pb.ChooseRoles(roles=ROLES))
    assert "SeatLeft" not in said(table.expire_next())
    entry = table.expire_next()
    assert "SeatLeft" in said(entry)
    assert not table.running.game.retired[0]
    assert table.running.game.timeouts[0] == 2
    while not table.running.game.retired[0] and not table.running.over:
        asked = table.running.prompts[0].prompt
        if asked.seat == 0:
            table.expire_next()
        else:
            command = table.referee.game.legal(table.running.game, asked.seat, asked)[-1]
            message = GAME.schema.command(command.type, command.fixed)
            assert isinstance(table.answer(asked.seat, message), Entry)
    assert table.running.game.retired[0]
    assert table.running.game.result is not None
    assert table.running.game.result.reason == "others_left"


def test_who_comes_back_in_time_is_counted_anew():
    table = table_of(2)
    table.expire_next()
    table.expire_next()
    asked = table.running.prompts[0].prompt
    answered = said(table.answer(asked.seat, _default(table)))
    assert "TimeoutsCleared" in answered
    assert table.running.game.timeouts[asked.seat] == 0


def _default(table: Table) -> Message:
    state = table.running.game
    return default_command(state, table.running.prompts[0].prompt.seat)


# ---- who is out has no seat to leave, and nobody sits in for it (BS-12.4) --------------------------------------------


def test_who_has_resigned_and_goes_is_not_away():
    table = table_of(3)
    table.play(1, match_pb2.Resign())
    refused = table.play(1, match_pb2.LeaveSeat())
    assert isinstance(refused, envelope_pb2.Rejection)
    assert refused.code == "already_left"
    assert not table.running.away


def test_whose_time_ran_out_too_often_is_out_and_not_away():
    table = table_of(3, timeout_limit="2")
    for seat in (1, 2):
        table.answer(seat, pb.ChooseRoles(roles=ROLES))
    table.expire_next()
    entry = table.expire_next()
    assert "SeatRetired" in said(entry)
    assert "SeatLeft" not in said(entry)
    assert not table.running.away


def test_no_bot_sits_in_for_who_was_away_and_is_out_by_now():
    table = table_of(3)
    for seat in (1, 2):
        table.answer(seat, pb.ChooseRoles(roles=ROLES))
    assert said(table.play(0, match_pb2.LeaveSeat())) == ["SeatLeft"]
    while not table.running.game.retired[0]:
        asked = table.running.prompts[0].prompt
        if asked.seat == 0:
            table.expire_next()
        else:
            table.answer(asked.seat, _default(table))
    assert not table.running.over
    refused = in_bot(table, 0)
    assert isinstance(refused, envelope_pb2.Rejection)
    assert refused.code == "not_left"
    assert not head(table.referee, table.running).away

"""What is going on and what there is to say, without any screen."""

from __future__ import annotations

import pytest

from grimoire.cli.screens.chronicle import LineKind
from grimoire.cli.screens.model import Ending, MatchModel, Stage
from grimoire.cli.screens.sitters import Sitter, Sitters, find_sitters, mark
from grimoire.client import Update
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.v1 import frame_pb2, match_pb2, matchmaking_pb2
from tests.support.feed import TableFeed, table_of
from tests.support.toy import PLUGIN as TOY

PLUGIN = load_game("two_towers")
SITTERS = Sitters({0: Sitter("Aino"), 1: Sitter("", "searching")})


async def updates(feed: TableFeed, count: int) -> list[Update]:
    found = []
    async for update in feed.updates():
        found.append(update)
        if len(found) == count:
            break
    return found


async def model_of(table: Table, seat: int | None = 0, language: str = "en") -> MatchModel:
    feed = TableFeed(table, seat)
    model = MatchModel(feed, PLUGIN, SITTERS, language)
    for update in await updates(feed, len(table.entries)):
        model.take(update)
    return model


async def test_an_update_that_comes_twice_is_taken_once() -> None:
    feed = TableFeed(table_of(PLUGIN.game))
    model = MatchModel(feed, PLUGIN, SITTERS, "en")
    for update in await updates(feed, 5) * 2:
        model.take(update)
    texts = [line.text for line in model.lines()]
    assert len(texts) == len(set(texts))


async def test_the_log_is_said_anew_in_another_language() -> None:
    model = await model_of(table_of(PLUGIN.game))
    assert any(line.text.startswith("Turn 1:") for line in model.lines())
    model.speak("fi")
    assert any(line.text.startswith("Vuoro 1:") for line in model.lines())
    assert not any(line.text.startswith("Turn 1:") for line in model.lines())
    assert model.names[1] == "Ennakoiva (botti)"


async def test_a_line_knows_whose_doing_it_is() -> None:
    model = await model_of(table_of(PLUGIN.game, {"first_player": "seat_1"}))
    by_text = {line.text: line for line in model.lines()}
    turn = next(line for text, line in by_text.items() if text.startswith("Turn 1:"))
    assert (turn.kind, turn.seat) == (LineKind.GAME, 1)
    sealed = next(line for text, line in by_text.items() if "seals a number" in text)
    assert sealed.kind is LineKind.PLATFORM


async def test_what_this_program_does_not_know_is_passed_over() -> None:
    model = await model_of(table_of(PLUGIN.game))
    before = len(model.lines())
    model.take(
        Update(
            model.version + 1,
            model.version + 1,
            (
                match_pb2.Event(type="from_the_future", body=b"\x08\x01"),
                match_pb2.Event(type="card_drawn", body=b"\xff"),
            ),
            model.feed.table.entries and frame_pb2.Snapshot(head=model.head),  # type: ignore[attr-defined]
        )
    )
    assert len(model.lines()) == before


async def test_stages_from_the_first_seal_to_the_end() -> None:
    table = Table(PLUGIN.game, match_id="m", seats=2, options={"first_player": "seat_0"})
    table.create()
    assert (await model_of(table)).stage is Stage.HANDSHAKE
    for seat in (0, 1):
        table.seal(seat)
    for seat in (0, 1):
        table.open(seat)
    assert (await model_of(table, 0)).stage is Stage.ASKED
    assert (await model_of(table, 1)).stage is Stage.WAITING
    assert (await model_of(table, None)).stage is Stage.WAITING
    table.play(1, match_pb2.Resign())
    won, lost, seen = await model_of(table, 0), await model_of(table, 1), await model_of(table, None)
    assert {won.stage, lost.stage, seen.stage} == {Stage.OVER}
    assert (won.ending, lost.ending, seen.ending) == (Ending.WON, Ending.LOST, Ending.DECIDED)
    assert won.result() == "Aino wins: one side resigned."
    assert won.seed == bytes(range(32)).hex()


@pytest.mark.parametrize(
    ("kind", "ranks", "seat", "ending"),
    [
        (match_pb2.OUTCOME_KIND_DRAW, [1, 1], 0, Ending.DRAWN),
        (match_pb2.OUTCOME_KIND_SHARED, [1, 1, 3], 0, Ending.SHARED),
        (match_pb2.OUTCOME_KIND_SHARED, [1, 1, 3], 2, Ending.LOST),
        (match_pb2.OUTCOME_KIND_COOP_WON, [1, 1], None, Ending.WON),
        (match_pb2.OUTCOME_KIND_COOP_LOST, [1, 1], 1, Ending.LOST),
        (match_pb2.OUTCOME_KIND_WIN, [2, 1], None, Ending.DECIDED),
    ],
)
async def test_every_outcome(kind: int, ranks: list[int], seat: int | None, ending: Ending) -> None:
    feed = TableFeed(table_of(TOY.game, seats=3), seat)
    model = MatchModel(feed, TOY, Sitters(), "en")
    closed = match_pb2.MatchClosed(kind=match_pb2.OutcomeKind.ValueType(kind), ranks=ranks)
    head = frame_pb2.MatchHead(match_id="m", game="toy", status=frame_pb2.MATCH_STATUS_CLOSED, closed=closed)
    model.take(Update(99, 99, (), frame_pb2.Snapshot(head=head)))
    assert model.ending is ending


async def test_a_new_prompt_drops_what_was_picked_and_said() -> None:
    table = table_of(PLUGIN.game, {"first_player": "seat_0"})
    model = await model_of(table)
    model.draft = model.draft.pick("slot:0") or model.draft
    model.hint("not.usable")
    assert model.draft.picked
    hand = table.running.game.seats[0].hand
    table.answer(0, pb.DiscardCard(slot=0, card=hand[0]))
    feed = model.feed
    assert isinstance(feed, TableFeed)
    model.take(feed._update(table.entries[-1]))
    assert (model.draft.picked, model.said) == ((), None)


async def test_a_match_set_aside_is_told() -> None:
    model = await model_of(table_of(PLUGIN.game))
    head = frame_pb2.MatchHead(match_id="m", status=frame_pb2.MATCH_STATUS_BROKEN)
    model.take(Update(99, 99, (), frame_pb2.Snapshot(head=head)))
    assert model.stage is Stage.BROKEN
    assert model.turn() == "This match cannot be shown any more."


# ---- who sits where --------------------------------------------------------------------------------------------------


class Lists:
    """The lobby's lists of matches."""

    def __init__(self) -> None:
        seats = [matchmaking_pb2.ChallengeSeat(seat=0, name="Vaka"), matchmaking_pb2.ChallengeSeat(seat=1, name="Ilma")]
        self.finished = [matchmaking_pb2.MatchSummary(match_id="old", seats=seats)]

    async def matches(self, *, mine: bool, game: str, finished: bool, limit: int) -> list[matchmaking_pb2.MatchSummary]:
        return self.finished if finished and not mine else []


async def test_names_are_looked_up_wherever_a_match_is_listed() -> None:
    model = await model_of(table_of(PLUGIN.game))
    found = await find_sitters(Lists(), "old")  # type: ignore[arg-type]
    assert found.names(model.words, model.wording) == {0: "Vaka", 1: "Ilma"}
    nobody = await find_sitters(Lists(), "new")  # type: ignore[arg-type]
    assert not nobody
    assert nobody.names(model.words, model.wording) == {}


def test_seats_have_shapes() -> None:
    assert [mark(n) for n in range(6)] == ["●", "▲", "■", "◆", "✚", "5"]


def test_holders_of_one_name_are_told_apart() -> None:
    model = MatchModel(TableFeed(table_of(TOY.game)), TOY, Sitters(), "en")
    holders = [Sitter("Aino"), Sitter("", "random"), Sitter("Aino"), Sitter("", "random"), Sitter("Otso")]
    names = Sitters(dict(enumerate(holders))).names(model.words, model.wording)
    level = model.wording.level("random")
    assert [*names.values()] == ["Aino 1", f"{level} 1 (bot)", "Aino 2", f"{level} 2 (bot)", "Otso"]

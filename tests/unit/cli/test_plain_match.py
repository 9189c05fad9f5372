"""A match in lines: answers from a pipe, at their own pace, in words or numbers; every question a slot can ask."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

import pytest

from grimoire.cli.screens.model import MatchModel
from grimoire.cli.screens.plain_match import PlainMatch
from grimoire.cli.screens.sitters import Sitter, Sitters
from grimoire.client import ClientError, UnavailableError
from grimoire.games.spellbound.v1 import spellbound_pb2
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.match.table import Table
from grimoire.plugins import GamePlugin, load_game
from grimoire.v1 import match_pb2
from tests.support.feed import TableFeed, table_of
from tests.support.toy import PLUGIN as TOY
from tests.support.toy import schema as toy_pb

PLUGIN = load_game("two_towers")
GARDEN = load_game("wizards_garden")
HAND = ["dragon", "ruby", "quartz", "orc", "prism", "great_wall"]


class Player:
    """A person at a pipe."""

    def __init__(self, feed: TableFeed, plugin: GamePlugin = PLUGIN, language: str = "en") -> None:
        self.feed = feed
        self.said: list[str] = []
        self.lines: deque[str | None] = deque()
        self.arrived = asyncio.Event()
        sitters = Sitters({0: Sitter("Aino"), 1: Sitter("Otso"), 2: Sitter("Eino")})
        self.model = MatchModel(feed, plugin, sitters, language)
        self.match = PlainMatch(self.model, self.said.append, "grimoire play --match screen-test", lambda: 80)

    def type(self, *lines: str | None) -> None:
        self.lines.extend(lines)
        self.arrived.set()

    async def run(self, *lines: str | None) -> bool:
        self.type(*lines)
        async with asyncio.timeout(20):
            return await self.match.run(self.lines, self.arrived, tuple)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.005)

    @property
    def text(self) -> str:
        return "\n".join(self.said)


def position(**mine: int) -> Table:
    event = PLUGIN.positions.parse({"seats": {0: {"hand": HAND, **mine}, 1: {}}}, {})
    return table_of(PLUGIN.game, position=event.SerializeToString(), mode=match_pb2.MATCH_MODE_ANALYSIS)


async def test_the_view_is_read_out_and_the_choices_are_numbered() -> None:
    player = Player(TableFeed(position(mana=7)))
    assert await player.run(None)
    for each in (
        "Two Towers",
        "● Aino: tower 20",
        "Your turn",
        "You have 1:00.",
        "  1  Play Ruby",
        "  9  Discard Great Wall",
    ):
        assert each in player.text
    assert player.said[-1].startswith("The input has ended.")
    assert "--match screen-test" in player.said[-1]


@pytest.mark.parametrize("line", ["1", "play ruby", "pelaa rubiini"])
async def test_a_number_or_words_play_a_card(line: str) -> None:
    player = Player(TableFeed(position(mana=7)))
    await player.run(line, None)
    assert player.feed.submitted == [("play_card", pb.PlayCard(slot=1, card="ruby").SerializeToString(), 1)]
    assert "Aino plays Ruby for 3 mana." in player.said
    assert "Aino: tower +5, now 25." in player.said


async def test_answers_wait_for_their_questions() -> None:
    """Two turns' answers come at once; the second waits until the other seat has played."""
    player = Player(TableFeed(position(mana=7)))
    running = asyncio.create_task(player.run("play ruby", "discard dragon", None))
    await player.until(lambda: player.feed.table.running.game.active == 1)
    await player.until(lambda: "Aino: tower +5, now 25." in player.said)
    assert len(player.feed.submitted) == 1
    slot, card = 0, player.feed.table.running.game.seats[1].hand[0]
    player.feed.table.answer(1, pb.DiscardCard(slot=slot, card=card))
    player.feed.push()
    await running
    assert [command for command, _, _ in player.feed.submitted] == ["play_card", "discard_card"]


async def test_what_is_unclear_or_unknown_is_said() -> None:
    player = Player(TableFeed(position(mana=7)))
    await player.run("ruby", "fly away", "99", None)
    assert "That fits several: Play Ruby, Discard Ruby" in player.said
    assert "There is no such thing: fly away" in player.said
    assert "There is no such thing: 99" in player.said
    assert player.feed.submitted == []


async def test_what_the_rules_refuse_is_a_sentence_with_its_rule() -> None:
    player = Player(TableFeed(position(mana=7)))
    running = asyncio.create_task(player.run())
    await player.until(lambda: player.said[-1:] == ["Number or words (help lists what can be typed):"])
    player.feed.table.answer(0, pb.PlayCard(slot=2, card="quartz"))  # another screen of the same player was quicker
    player.type("play ruby", None)
    await running
    assert "This question is no longer open; the match has moved on." in player.said


async def test_help_log_cards_rules_info_and_language_at_any_time() -> None:
    player = Player(TableFeed(position(mana=7)))
    await player.run("help", "cards dragon", "rules acting again", "info", "log", "view", "language", None)
    assert "A number or words choose what is offered." in player.text
    assert "Dragon's Heart" in player.text
    assert "TT-4.7 Acting again" in player.text
    assert "Server commitment:" in player.text
    assert "Everything is dealt." in player.text
    assert "Sinun vuorosi" in player.text
    assert "Syöte loppui." in player.said[-1]


async def test_resigning_asks_for_a_word_more() -> None:
    player = Player(TableFeed(position(mana=7)))
    left = await player.run("resign", "resign yes")
    assert not left
    assert "Type: resign yes" in player.said
    assert player.said[-1] == "Defeat. Otso wins: one side resigned."


async def test_quitting_tells_the_way_back() -> None:
    player = Player(TableFeed(position(mana=7)))
    assert await player.run("quit")
    assert player.said[-1] == "Come back with: grimoire play --match screen-test"


async def test_the_end_is_told_with_the_last_view() -> None:
    player = Player(TableFeed(position(mana=7, tower=46)))
    assert not await player.run("play ruby")
    assert player.said[-1] == "Victory. Aino wins: a tower reached its goal."
    assert any(line.startswith("The server's seed is open: 000102") for line in player.said)
    assert any("tower 51" in line for line in player.said)


async def test_the_handshake_is_told_as_it_happens() -> None:
    table = Table(PLUGIN.game, match_id="screen-test", seats=2)
    table.create()
    player = Player(TableFeed(table))
    running = asyncio.create_task(player.run(None))
    await player.until(lambda: bool(player.said))
    assert player.said[0].startswith("✓ The server has committed itself")
    for seat in (0, 1):
        table.seal(seat)
    for seat in (0, 1):
        table.open(seat)
    player.feed.push()
    await running
    digest = player.model.deal_digest
    assert digest
    assert any(digest in line for line in player.said)
    assert player.text.index(digest) < player.text.index("Turn 1:")


async def test_low_time_and_a_lost_connection_are_said_once() -> None:
    player = Player(TableFeed(position(mana=7)))
    running = asyncio.create_task(player.run())
    await player.until(lambda: "You may:" in player.said)
    player.feed.table.now_ms += 50_000
    player.feed.connected = False
    player.arrived.set()
    await player.until(lambda: "0:10 left." in player.said)
    for _ in range(3):
        player.arrived.set()
        await asyncio.sleep(0.01)
    player.type("quit")
    await running
    assert player.said.count("0:10 left.") == 1
    assert sum("Connection lost" in line for line in player.said) == 1


async def test_a_command_whose_answer_is_lost_is_sent_again_under_its_id() -> None:
    player = Player(TableFeed(position(mana=7)))
    player.feed.fail_next = [UnavailableError("no answer"), UnavailableError("no answer")]
    await player.run("play ruby", None)
    assert len(player.feed.submitted) == 3
    assert len(set(player.feed.command_ids)) == 1


async def test_a_watcher_sees_it_to_the_end_though_nothing_is_typed() -> None:
    player = Player(TableFeed(position(mana=7, tower=46), None))
    running = asyncio.create_task(player.run("1", None))
    await player.until(lambda: len(player.said) > 5)
    assert not any("Dragon" in line for line in player.said)
    player.feed.table.answer(0, pb.PlayCard(slot=1, card="ruby"))
    player.feed.push()
    assert not await running
    assert player.said[-1].startswith("The match is decided. Aino wins")
    assert player.feed.submitted == []


async def test_a_feed_that_fails_ends_it_with_the_reason() -> None:
    player = Player(TableFeed(position(mana=7)))
    running = asyncio.create_task(player.run())
    await player.until(lambda: "You may:" in player.said)
    player.feed.stop(ClientError("following the match failed"))
    assert await running
    assert player.said[-1] == "following the match failed"


async def test_open_fields_are_asked_one_by_one_for_any_game() -> None:
    player = Player(TableFeed(table_of(TOY.game, {"mode": "duel"}, seats=3)), TOY)
    hand = player.feed.table.running.game.keepers[0].hand
    await player.run("choose", "2", "chant", None)
    assert f"  2  rune {hand[1]}" in player.said
    assert player.feed.submitted == [
        ("choose_rune", toy_pb.ChooseRune(rune=hand[1]).SerializeToString(), 1),
        ("chant", b"", 4),
    ]


async def test_an_answer_that_does_not_fit_asks_again() -> None:
    player = Player(TableFeed(table_of(TOY.game, {"mode": "duel"}, seats=3)), TOY)
    await player.run("choose", "9", "choose", "1", None)
    assert "Choose." in player.said
    assert len(player.feed.submitted) == 1


@pytest.mark.parametrize(("language", "word"), [("en", "Your turn"), ("fi", "Sinun vuorosi")])
async def test_both_languages(language: str, word: str) -> None:
    player = Player(TableFeed(position(mana=7)), language=language)
    await player.run(None)
    assert word in player.text
    assert all(len(line) <= 200 for line in player.said)


def garden(**described: object) -> Table:
    event = GARDEN.positions.parse(described, {})
    return table_of(GARDEN.game, position=event.SerializeToString(), mode=match_pb2.MATCH_MODE_ANALYSIS)


async def test_what_was_just_read_out_is_not_said_again_unless_it_is_asked_for() -> None:
    player = Player(TableFeed(garden(state="wizard_main")), GARDEN)
    await player.run("magician action: collect 1 fire", "view", None)
    first, _, after = player.text.partition("Magician action: collect 1 fire.")
    assert "Row 2: c2: blue terrace, blue gnome 4" in first
    asked_again, _, viewed = after.partition("End the action")
    assert "Under way: Magician action, collect 1 fire; steps left 1" in asked_again
    assert "Row 2" not in asked_again
    assert "Row 2: c2: blue terrace, blue gnome 4" in viewed


async def test_what_the_label_says_is_not_asked_in_lines_either() -> None:
    player = Player(TableFeed(garden(state="wizard_main")), GARDEN)
    await player.run("magician pest", "pit b3", "c3", None)
    assert player.feed.submitted[1][0] == "bring_pest"
    assert "where from:" not in player.text
    assert "where to:" in player.text
    assert "Pest 1 comes out of the pit b3 to c3." in player.said


async def test_amounts_are_given_by_name() -> None:
    table = garden(state="garden", blue={"fire": 3, "spells": ["fish"]})
    player = Player(TableFeed(table), GARDEN)
    await player.run("fish", "c4 2 b4", None)
    assert "A name and how much" in player.text
    command, payload, _ = player.feed.submitted[0]
    fish = GARDEN.game.schema.commands[command].FromString(payload)
    assert {(each.space, each.amount) for each in fish.fires if each.amount} == {("c4", 2), ("b4", 1)}
    assert "Aino lays fish fire on c4: 2." in player.said


async def test_how_many_are_chosen_is_said_before_they_are() -> None:
    brooms = load_game("broom_service")
    event = brooms.positions.parse({"players": 2, "stage": "choose", "event": "the_works"}, {})
    table = table_of(brooms.game, position=event.SerializeToString(), mode=match_pb2.MATCH_MODE_ANALYSIS)
    player = Player(TableFeed(table), brooms)
    await player.run("choose", "1 2 3", "choose", "1 2 3 10", None)
    assert player.said.count("Numbers or words one after the other, e.g. 1 2 3 4") == 2
    assert player.said.count("Choose 4.") == 3
    assert [code for code, _, _ in player.feed.submitted] == ["choose_roles"]


async def test_what_holds_at_any_time_is_set() -> None:
    spellbound = load_game("spellbound")
    feed = TableFeed(table_of(spellbound.game, {"first_mage": "0"}))
    player = Player(feed, spellbound, "fi")
    await player.run("set", "set often", "set aina", "quit")
    assert "  2  Kysy aina" in player.said
    assert player.text.count("Aseta: set NUMERO") == 2
    assert [code for code, _, _ in feed.submitted] == ["set_reaction_policy"]
    assert spellbound_pb2.SetReactionPolicy.FromString(feed.submitted[0][1]).policy == "always"
    towers = Player(TableFeed(position()))
    await towers.run("set", "quit")
    assert "There is no such thing: set" in towers.said

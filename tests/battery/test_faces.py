"""What a game shows and says: schemas, texts, pictures, bots."""

from __future__ import annotations

import random
import re

import pytest

from grimoire.engine import ALL, PUBLIC, Actor, Decision, Viewer
from grimoire.engine.schema import lint
from grimoire.match.frames import legal_entries, prompts_for
from grimoire.match.referee import PLATFORM
from grimoire.v1 import prompt_pb2
from tests.battery.contenders import CONTENDERS, SOME
from tests.battery.playing import decide, play_out, random_match, table_of

some = pytest.mark.parametrize("contender", SOME, ids=str)
every = pytest.mark.parametrize("contender", CONTENDERS, ids=str)


def viewers(contender):
    return [PUBLIC, *map(Viewer.of_seat, range(contender.seats))]


# ---- schema ----------------------------------------------------------------------------------------------------------


@some
def test_the_schema_keeps_the_rules_of_visibility(contender):
    game = contender.plugin.game
    files = {message.DESCRIPTOR.file for message in game.schema.events.values()}
    assert [fault for file in files for fault in lint(file)] == []
    assert game.schema.standing == game.standing
    assert not game.schema.events.keys() & PLATFORM.events.keys()
    assert not game.schema.commands.keys() & PLATFORM.commands.keys()
    assert re.fullmatch(r"[a-z0-9_]+", game.id)
    assert len(game.rules_digest) == 32


@some
def test_which_parts_an_event_has_follows_from_its_type_and_seat_alone(contender):
    """A part of zero bytes is still a part: its presence tells nothing."""
    schema = contender.plugin.game.schema
    for message in schema.events.values():
        for seat in range(contender.seats):
            empty = message()
            if "seat" in message.DESCRIPTOR.fields_by_name:
                empty.seat = seat
            full = _filled(message(), seat)
            audiences = [[*schema.split([event], contender.seats).parts] for event in (empty, full)]
            assert audiences[0] == audiences[1]
            split = schema.split([full], contender.seats)
            assert schema.merge(split.public, split.parts) == [full]


def _filled(message, seat: int):
    """Some value in every field."""
    for field in message.DESCRIPTOR.fields:
        if field.name == "seat":
            message.seat = seat
        elif field.is_repeated:
            target = getattr(message, field.name)
            if field.message_type is not None:
                _filled(target.add(), seat)
            else:
                target.append(_something(field))
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            _filled(getattr(message, field.name), seat)
        else:
            setattr(message, field.name, _something(field))
    return message


def _something(field):
    if field.type == field.TYPE_STRING:
        return "something"
    if field.type == field.TYPE_BYTES:
        return b"something"
    return True if field.type == field.TYPE_BOOL else 1


@some
def test_every_event_of_a_match_is_of_the_schema_and_some_of_each_occur(contender):
    game, seen = contender.plugin.game, set()
    for seed in range(6):
        for turn in random_match(contender, seed):
            seen |= {game.schema.code(event) for event in turn.events}
    assert len(seen) >= 6


# ---- views and legal entries -----------------------------------------------------------------------------------------


@every
def test_views_are_the_games_view_messages_for_every_viewer(contender):
    game = contender.plugin.game
    for turn in random_match(contender, 2):
        for viewer in (*viewers(contender), ALL):
            assert type(game.view(turn.state, viewer)) is game.view_type


@some
def test_legal_entries_travel_with_a_payload_that_parses(contender):
    table = table_of(contender, 1)
    table.begin()
    game, referee = contender.plugin.game, table.referee
    for turn in random_match(contender, 1):
        for prompt in game.prompts(turn.state):
            for entry in legal_entries(referee, turn.state, prompt):
                message = referee.schema.commands[entry.type].FromString(entry.payload)
                assert {f.ref.partition(":")[0] for f in entry.fixed} <= {*message.DESCRIPTOR.fields_by_name}
                assert {slot.field for slot in entry.slots} <= {*message.DESCRIPTOR.fields_by_name}
                assert entry.label.key


# ---- texts -----------------------------------------------------------------------------------------------------------


@some
def test_a_manifest_tells_what_clients_list(contender):
    plugin = contender.plugin
    game, texts = plugin.game, plugin.texts
    assert texts.languages[0] == "en"
    facts = game.configure({}, contender.seats)
    for language in texts.languages:
        manifest = texts.manifest(language)
        assert (manifest.game, manifest.language) == (game.id, language)
        assert (manifest.min_seats, manifest.max_seats) == (game.min_seats, game.max_seats)
        assert len(manifest.digest) == 32
        assert manifest.name
        # An empty default stands for what the number of seats makes of it.
        assert {o.name: o.default for o in manifest.options if o.default}.items() <= dict(facts.options).items()
        assert [o.name for o in manifest.options] == [name for name, _ in facts.options]
        assert [b.level for b in manifest.bot_levels] == [*plugin.bot.levels]
    assert texts.manifest("xx").language == "en"


@some
def test_every_event_can_be_said_in_every_language_as_any_viewer_sees_it(contender):
    table = table_of(contender, 8)
    table.begin()
    play_out(table, contender, 8)
    texts, names = contender.plugin.texts, {seat: f"Ada {seat}" for seat in range(contender.seats)}
    code = table.referee.schema.code
    for entry in table.entries:
        for viewer in viewers(contender):
            for event in table.feed(viewer, entry):
                if code(event) in PLATFORM.events:
                    continue
                for language in texts.languages:
                    sentence = texts.say_event(event, language, names)
                    assert "\n" not in sentence
                mark = texts.mark(event)
                assert mark is None or mark.kind in ("turn", "phase", "key_event")


@some
@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_terminal_picture_keeps_its_width(contender, width):
    game, names = contender.plugin.game, dict.fromkeys(range(contender.seats), "A rather long name " * 3)
    for turn in list(random_match(contender, 6))[::7]:
        for viewer in (*viewers(contender), ALL):
            view = game.view(turn.state, viewer)
            for language in contender.plugin.texts.languages:
                lines = contender.plugin.terminal.render(view, language, names, width)
                assert lines
                assert max(map(len, lines)) <= width


# ---- bots ------------------------------------------------------------------------------------------------------------


@some
def test_every_bot_answers_legally_from_what_its_seat_sees(contender):
    game, bot = contender.plugin.game, contender.plugin.bot
    table = table_of(contender, 2)
    table.begin()
    for level in bot.levels:
        for number, turn in enumerate(random_match(contender, 12)):
            if number % 5 or number > 60:
                continue
            for prompt in game.prompts(turn.state):
                viewer = Viewer.of_seat(prompt.seat)
                view = game.view(turn.state, viewer)
                asked = _prompt_message(table.referee, turn.state, prompt)
                code, command = bot.suggest(view, asked, level, random.Random(number), 20)
                assert code == game.schema.code(command)
                answer = decide(contender, turn.state, Actor.of_seat(prompt.seat), command, prompt, 12)
                assert isinstance(answer, Decision), answer


def _prompt_message(referee, state, prompt):
    return prompt_pb2.Prompt(
        prompt_id=1, seat=prompt.seat, kind=prompt.kind, legal=legal_entries(referee, state, prompt)
    )


@some
def test_the_weakest_bot_depends_on_its_own_chance_alone(contender):
    game, bot = contender.plugin.game, contender.plugin.bot
    table = table_of(contender, 2)
    table.begin()
    seat = next(p.prompt.seat for p in table.running.prompts)
    view = game.view(table.running.game, Viewer.of_seat(seat))
    asked = next(p for p in prompts_for(table.referee, table.running, Viewer.of_seat(seat)) if p.legal)
    level = bot.levels[0]
    answers = {str(bot.suggest(view, asked, level, random.Random(seed), 20)[1]) for seed in range(40) for _ in range(2)}
    again = [bot.suggest(view, asked, level, random.Random(1), 20)[1] for _ in range(3)]
    assert again[0] == again[1] == again[2]
    assert len(answers) > 1

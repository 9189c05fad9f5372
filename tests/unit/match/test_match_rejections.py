"""Every refusal of the platform, and their order; a refused command leaves nothing behind."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from grimoire.engine import CLOCK, HOST, Actor
from grimoire.match import RULES, Entry, MatchState, Parsed, Referee, clock_command
from grimoire.match.referee import MAX_COMMAND_BYTES, MAX_ENTRIES
from grimoire.match.table import START_MS, Table, default_seed
from grimoire.v1 import envelope_pb2, match_pb2
from tests.support.toy import PLUGIN
from tests.support.toy import schema as toy

GAME = PLUGIN.game


def new(**more) -> Table:
    return Table(GAME, match_id="refusals", seats=2, **more)


def running(**more) -> Table:
    made = new(**more)
    made.begin()
    return made


def parsed(message, prompt_id: int | None = None, occupant_id: str = "") -> Parsed:
    code = Referee(GAME, lambda *_: default_seed()).schema.code(message)
    return Parsed(bytes(range(16)), code, message, message.SerializeToString(), prompt_id, occupant_id)


def judge(table: Table, actor: Actor, message, prompt_id: int | None = None) -> Entry | envelope_pb2.Rejection:
    return table.referee.judge(table.running, actor, parsed(message, prompt_id), table.now_ms)


# ---- reading ---------------------------------------------------------------------------------------------------------


def envelope(**changes) -> envelope_pb2.Command:
    fields = {"command_id": bytes(range(16)), "match_id": "m", "seat": 0, "type": "resign"}
    return envelope_pb2.Command(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"command_id": b""}, "command_id"),
        ({"command_id": bytes(15)}, "command_id"),
        ({"command_id": b"x" * 17}, "command_id"),
        ({"command_id": bytes(16)}, "command_id"),
        ({"type": ""}, "type"),
        ({"type": "Resign"}, "type"),
        ({"type": "play_card"}, "type"),
        ({"type": "match_created"}, "type"),
        ({"type": "choose_rune", "payload": b"\xff", "prompt_id": 1}, "payload"),
        ({"type": "choose_rune", "payload": b"\x0a\x02\xff\xfe", "prompt_id": 1}, "payload"),
        ({"type": "choose_rune"}, "prompt_id"),
        ({"type": "resign", "prompt_id": 1}, "prompt_id"),
        ({"type": "resign", "prompt_id": 0}, "prompt_id"),
        ({"type": "set_stance", "prompt_id": 1}, "prompt_id"),
        ({"type": "seal_nonce", "prompt_id": 1}, "prompt_id"),
    ],
)
def test_what_cannot_be_read_is_malformed(changes, field):
    refused = new().referee.read(envelope(**changes))
    assert (refused.code, refused.field) == ("malformed", field)
    assert refused.message


def test_a_command_has_a_largest_size():
    referee = new().referee
    refused = referee.read(envelope(payload=bytes(MAX_COMMAND_BYTES + 1)))
    assert refused.code == "too_large"
    assert {a.name: a.value for a in refused.arguments} == {"size": "8193", "limit": "8192"}
    largest = b"\x7a\xfd\x3f" + bytes(MAX_COMMAND_BYTES - 3)  # an unknown field that fills it up
    assert isinstance(referee.read(envelope(payload=largest)), Parsed)


@given(st.binary(max_size=40), st.text(max_size=20), st.binary(max_size=60), st.none() | st.integers(0, 2**32 - 1))
def test_reading_never_raises(command_id, type_, payload, prompt_id):
    command = envelope(command_id=command_id, type=type_, payload=payload, prompt_id=prompt_id)
    assert isinstance(new().referee.read(command), Parsed | envelope_pb2.Rejection)


# ---- creation --------------------------------------------------------------------------------------------------------


def create(match_id: str = "m", **changes) -> Entry | envelope_pb2.Rejection:
    seats = [match_pb2.SeatOccupant(seat=n, occupant_id=f"o{n}", kind=1) for n in range(2)]
    fields = {"game": "toy", "mode": match_pb2.MATCH_MODE_CASUAL, "seats": seats} | changes
    return new().referee.create(match_id, parsed(match_pb2.CreateMatch(**fields)), START_MS)


SAME = [match_pb2.SeatOccupant(seat=n, occupant_id="x", kind=1) for n in (0, 1)]
"""One person on both seats."""


def option(name: str, value: str) -> match_pb2.OptionValue:
    return match_pb2.OptionValue(name=name, value=value)


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"game": "two_towers"}, "malformed", "game"),
        ({"mode": 0}, "malformed", "mode"),
        ({"mode": 77}, "malformed", "mode"),
        ({"options": [option("goal", "3"), option("goal", "4")]}, "bad_option", "options"),
        ({"options": [option("colour", "red")]}, "bad_option", "colour"),
        ({"options": [option("goal", "0")]}, "bad_option", "goal"),
        ({"options": [option("mode", "solo")]}, "bad_option", "mode"),
        ({"seats": []}, "bad_option", "seats"),
        ({"seats": [match_pb2.SeatOccupant(seat=n, occupant_id="x") for n in range(6)]}, "bad_option", "seats"),
        ({"seats": [match_pb2.SeatOccupant(seat=n, occupant_id="x") for n in (0, 0)]}, "malformed", "seats"),
        ({"seats": [match_pb2.SeatOccupant(seat=n, occupant_id="x") for n in (1, 0)]}, "malformed", "seats"),
        ({"seats": [match_pb2.SeatOccupant(seat=n) for n in (0, 1)]}, "malformed", "seats"),
        ({"seats": SAME, "mode": match_pb2.MATCH_MODE_RATED}, "malformed", "seats"),
        ({"position": b"x"}, "malformed", "position"),
        ({"position": b"\xff", "mode": match_pb2.MATCH_MODE_ANALYSIS}, "bad_position", ""),
    ],
)
def test_what_cannot_be_created_is_refused_with_the_field(changes, code, field):
    refused = create(**changes)
    assert isinstance(refused, envelope_pb2.Rejection)
    assert (refused.code, refused.field) == (code, field)


@pytest.mark.parametrize("mode", [match_pb2.MATCH_MODE_CASUAL, match_pb2.MATCH_MODE_ANALYSIS])
def test_one_person_may_play_all_seats_unless_it_is_rated(mode):
    assert isinstance(create(seats=SAME, mode=mode), Entry)


@pytest.mark.parametrize("match_id", ["", "a b", "x" * 65, "ä", "m\n"])
def test_a_match_id_is_of_the_hashed_kind(match_id):
    refused = create(match_id)
    assert (refused.code, refused.field) == ("malformed", "match_id")


# ---- the order -------------------------------------------------------------------------------------------------------

SEAT_0, SEAT_1, SEAT_2 = Actor.of_seat(0), Actor.of_seat(1), Actor.of_seat(2)
SEAL = match_pb2.SealNonce(seal=bytes(32))
OPEN = match_pb2.OpenNonce(nonce=bytes(32))
RUNE = toy.ChooseRune(rune="none")
EXPIRE = match_pb2.Expire(prompt_id=1)
VOID = match_pb2.Void(reason="x")
CREATE = match_pb2.CreateMatch(game="toy")


def over() -> Table:
    made = running()
    made.play(0, match_pb2.Resign())
    return made


def voided() -> Table:
    made = new()
    made.create()
    made.void("x")
    return made


def handshaking() -> Table:
    made = new()
    made.create()
    return made


CASES = [
    # not_a_seat comes before everything that is known of the match
    (over, SEAT_2, RUNE, 1, "not_a_seat"),
    (handshaking, SEAT_2, SEAL, None, "not_a_seat"),
    (running, Actor.of_seat(-1), match_pb2.Resign(), None, "not_a_seat"),
    # match_over before authority, prompt and phase
    (over, SEAT_0, VOID, None, "match_over"),
    (over, SEAT_0, SEAL, None, "match_over"),
    (over, SEAT_1, RUNE, 1, "match_over"),
    (over, CLOCK, EXPIRE, None, "match_over"),
    (over, HOST, VOID, None, "match_over"),
    (over, HOST, CREATE, None, "match_over"),
    (voided, SEAT_0, SEAL, None, "match_over"),
    # match_not_started before authority and prompt
    (handshaking, SEAT_0, RUNE, 9, "match_not_started"),
    (handshaking, SEAT_0, match_pb2.Resign(), None, "match_not_started"),
    (handshaking, SEAT_0, toy.SetStance(), None, "match_not_started"),
    (handshaking, HOST, RUNE, 9, "match_not_started"),
    # not_authorised
    (handshaking, SEAT_0, EXPIRE, None, "not_authorised"),
    (handshaking, SEAT_0, VOID, None, "not_authorised"),
    (handshaking, SEAT_0, CREATE, None, "not_authorised"),
    (handshaking, HOST, SEAL, None, "not_authorised"),
    (handshaking, CLOCK, OPEN, None, "not_authorised"),
    (handshaking, CLOCK, VOID, None, "not_authorised"),
    (running, SEAT_0, EXPIRE, None, "not_authorised"),
    (running, SEAT_1, VOID, None, "not_authorised"),
    (running, HOST, EXPIRE, None, "not_authorised"),
    (running, HOST, match_pb2.Resign(), None, "not_authorised"),
    (running, HOST, RUNE, 1, "not_authorised"),
    (running, CLOCK, RUNE, 1, "not_authorised"),
    (running, HOST, CREATE, None, "match_exists"),
    # the handshake's commands when it is over
    (running, SEAT_0, SEAL, None, "handshake_over"),
    (running, SEAT_0, OPEN, None, "handshake_over"),
    # prompts: stale before not yours, both before the game
    (running, SEAT_0, RUNE, 99, "stale_prompt"),
    (running, SEAT_0, RUNE, 0, "stale_prompt"),
    (running, SEAT_0, RUNE, 2, "not_your_prompt"),
    (running, SEAT_0, RUNE, 1, "not_in_hand"),
    (running, SEAT_0, toy.LetPass(), 1, "wrong_command"),
    (running, CLOCK, match_pb2.Expire(prompt_id=0), None, "stale_prompt"),
    (running, CLOCK, match_pb2.Expire(prompt_id=99), None, "stale_prompt"),
    (running, CLOCK, EXPIRE, None, "not_due"),
    (handshaking, CLOCK, EXPIRE, None, "stale_prompt"),
    (handshaking, CLOCK, match_pb2.Expire(), None, "not_due"),
    (handshaking, SEAT_0, OPEN, None, "seals_missing"),
]


@pytest.mark.parametrize(("table", "actor", "message", "prompt_id", "code"), CASES)
def test_the_first_refusal_that_applies_is_given(table, actor, message, prompt_id, code):
    made = table()
    before = made.running
    refused = judge(made, actor, message, prompt_id)
    assert isinstance(refused, envelope_pb2.Rejection)
    assert refused.code == code
    assert refused.message
    assert refused.version == before.version
    assert made.running is before


def test_a_games_refusal_carries_its_rule():
    refused = judge(running(), SEAT_0, RUNE, 1)
    assert (refused.code, refused.rule) == ("not_in_hand", "TOY-3")


def test_a_refusal_gives_no_down_time_back():
    made = running()
    made.down.append((START_MS, START_MS + 5_000))
    made.now_ms += 6_000
    assert made.play(0, RUNE, 1).code == "not_in_hand"
    assert {p.extended_ms for p in made.running.prompts} == {0}


# ---- who sends, and duplicates ---------------------------------------------------------------------------------------


def test_a_seat_is_held_by_its_occupant_only():
    made = running()
    referee, state = made.referee, made.running
    assert referee.holds_seat(state, 0, "seat-0")
    for seat, occupant in [(0, "seat-1"), (1, "seat-0"), (0, ""), (2, "seat-2"), (-1, "seat-1"), (0, "stranger")]:
        assert not referee.holds_seat(state, seat, occupant)


def test_the_desk_refuses_strangers_other_matches_and_claimed_seats():
    made = running()
    resign = made.envelope(0, "resign")
    assert made.submit(resign, "seat-1").code == "not_a_seat"
    assert made.submit(resign, "").code == "not_a_seat"
    elsewhere = made.envelope(0, "resign")
    elsewhere.match_id = "other"
    assert made.submit(elsewhere, "seat-0").code == "unknown_match"
    seatless = made.envelope(0, "resign")
    seatless.ClearField("seat")
    assert made.submit(seatless, "seat-0").code == "not_a_seat"
    assert len(made.entries) == 5


def test_a_command_sent_again_is_answered_as_before():
    made = running()
    command = made.envelope(0, "set_stance", toy.SetStance(always_pass=True).SerializeToString())
    first = made.submit(command, "seat-0")
    assert made.submit(command, "seat-0") == envelope_pb2.Accepted(version=first.version, duplicate=True)
    assert len(made.entries) == first.version


def test_a_command_id_means_one_command_of_one_seat():
    made = running()
    command = made.envelope(0, "set_stance", toy.SetStance(always_pass=True).SerializeToString())
    first = made.submit(command, "seat-0")
    other_payload = made.envelope(0, "set_stance", b"", command_id=command.command_id)
    other_type = made.envelope(0, "resign", command_id=command.command_id)
    other_seat = made.envelope(1, "set_stance", command.payload, command_id=command.command_id)
    for again, occupant in ((other_payload, "seat-0"), (other_type, "seat-0"), (other_seat, "seat-1")):
        refused = made.submit(again, occupant)
        assert (refused.code, refused.version) == ("command_id_reused", first.version)


def test_a_refused_command_may_be_sent_again_under_its_id():
    made = running()
    command = made.envelope(0, "let_pass", prompt_id=1)
    assert made.submit(command, "seat-0").code == made.submit(command, "seat-0").code == "wrong_command"


# ---- the bound -------------------------------------------------------------------------------------------------------


def at_version(version: int) -> tuple[Table, MatchState]:
    made = running()
    return made, replace(made.running, version=version)


def test_a_match_holds_at_most_fifty_thousand_entries_the_last_for_the_host():
    assert MAX_ENTRIES == 50_000
    made, full = at_version(MAX_ENTRIES - 1)
    for actor, message in ((SEAT_0, match_pb2.Resign()), (SEAT_0, toy.SetStance()), (CLOCK, EXPIRE)):
        assert made.referee.judge(full, actor, parsed(message), made.now_ms + 10**6).code == "match_broken"
    assert made.referee.judge(full, HOST, parsed(VOID), made.now_ms).version == MAX_ENTRIES
    made, nearly = at_version(MAX_ENTRIES - 2)
    assert made.referee.judge(nearly, SEAT_0, parsed(match_pb2.Resign()), made.now_ms).version == MAX_ENTRIES - 1


# ---- texts -----------------------------------------------------------------------------------------------------------


def test_every_refusal_is_a_sentence():
    for code, sentence in RULES.items():
        assert code.replace("_", "").islower()
        assert sentence.endswith((".", "}"))


# ---- anything at all -------------------------------------------------------------------------------------------------

MESSAGES = st.one_of(
    st.builds(lambda s: match_pb2.SealNonce(seal=s), st.binary(max_size=40)),
    st.builds(lambda n: match_pb2.OpenNonce(nonce=n), st.binary(max_size=40)),
    st.builds(lambda n: match_pb2.Expire(prompt_id=n), st.integers(0, 9)),
    st.builds(lambda r: toy.ChooseRune(rune=r), st.sampled_from(["ash", "yew", "", "x"])),
    st.builds(lambda n: toy.Counter(stake=n), st.integers(0, 2**32 - 1)),
    st.sampled_from([match_pb2.Resign(), VOID, CREATE, toy.Chant(), toy.LetPass(), toy.SetStance(always_pass=True)]),
)
ACTORS = st.sampled_from([SEAT_0, SEAT_1, SEAT_2, CLOCK, HOST])


@given(st.sampled_from([handshaking, running]), st.lists(st.tuples(ACTORS, MESSAGES, st.none() | st.integers(0, 9))))
def test_whoever_sends_whatever_the_referee_answers(table, commands):
    made = table()
    for (actor, message, prompt_id), number in zip(commands, itertools.count(1), strict=False):
        if prompt_id is None and made.referee.schema.code(message) in ("choose_rune", "counter", "chant", "let_pass"):
            continue  # `read` refuses these before
        state = made.running
        answer = made.referee.judge(state, actor, parsed(message, prompt_id), made.now_ms + number)
        if isinstance(answer, Entry):
            assert answer.version == state.version + 1
            made.state = answer.state
        else:
            assert answer.code


def test_the_clocks_command_is_readable_as_any_other():
    assert clock_command(7).message.prompt_id == 7

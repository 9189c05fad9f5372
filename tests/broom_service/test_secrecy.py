"""Choices made at the same time stay hidden until all have chosen (BS-4.3, BS-4.5, BS-9.7, BS-11.4, BS-15.10).

Two tables differ in one secret answer alone. Whatever everybody else receives of them must be the same: entries with
their times, sizes and numbers of events, views, prompts, refusals. Only salted digests may differ, and what hangs on
them; nobody can compute those without the salt.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from broom_service import PLUGIN
from broom_service.roles import ROLE_IDS, in_order
from broom_service.state import Stage, State
from grimoire.engine import PUBLIC, Actor, Decision, Viewer
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.match import Entry
from grimoire.match.frames import prompts_for, snapshot
from grimoire.match.table import Table
from grimoire.v1 import envelope_pb2, match_pb2
from tests.broom_service import lively
from tests.broom_service.lively import GAME, answer, draws, lively_match
from tests.support.mutation import exchanged

MANY = settings(max_examples=25, deadline=None)
roles = st.lists(st.sampled_from(ROLE_IDS), min_size=4, max_size=4, unique=True)
some_roles = st.lists(st.sampled_from(ROLE_IDS), min_size=1, max_size=5, unique=True)
CHOOSING: Mapping[str, object] = {"stage": "choose", "round": 3}


def table_of(seats: int, position: Mapping[str, object] | None = None, **options: str) -> Table:
    """A table that has begun."""
    arranged = b""
    if position is not None:
        arranged = PLUGIN.positions.parse({"players": seats, **position}, options).SerializeToString()
    table = Table(
        GAME,
        match_id="secrecy",
        seats=seats,
        options=options,
        position=arranged,
        mode=match_pb2.MATCH_MODE_ANALYSIS if arranged else match_pb2.MATCH_MODE_CASUAL,
    )
    table.begin()
    return table


def others(seats: int, secret: int) -> list[Viewer]:
    """Everybody but the seat with the secret."""
    return [*(Viewer.of_seat(seat) for seat in range(seats) if seat != secret), PUBLIC]


def received(table: Table, viewer: Viewer, secret: int) -> list[bytes]:
    """Everything this viewer was sent, in order, without the digests that the secret decides."""
    sent = []
    for entry in table.log(viewer):
        kept = type(entry).FromString(entry.SerializeToString())
        for digest in kept.digests:
            assert len(digest.digest) == 32
            if digest.audience in ("command", f"seat/{secret}"):
                digest.digest = bytes(32)
        assert len(kept.hash) == 32
        kept.hash = bytes(32)
        sent.append(kept.SerializeToString())
        sent.append(len(entry.SerializeToString()).to_bytes(4))
    shown = snapshot(table.referee, table.running, viewer, table.now_ms)
    asked = prompts_for(table.referee, table.running, viewer)
    sent += [shown.view, *(prompt.SerializeToString() for prompt in asked)]
    return sent


def compare(one: Table, two: Table, secret: int) -> None:
    """Nobody else can tell the tables apart."""
    assert [len(entry.events) for entry in one.entries] == [len(entry.events) for entry in two.entries]
    for viewer in others(len(one.running.occupants), secret):
        assert received(one, viewer, secret) == received(two, viewer, secret)


def both(one: Table, two: Table, act: Callable[[Table], object]) -> None:
    """The same happens at both tables."""
    for table in (one, two):
        table.now_ms += 1_234
        assert isinstance(act(table), Entry)


# ---- the choice of roles (BS-4.3) ------------------------------------------------------------------------------------


@MANY
@given(roles, roles, st.integers(2, 5), st.data())
def test_nobody_sees_which_roles_a_seat_has_chosen(mine, instead, seats, data):
    secret = data.draw(st.integers(0, seats - 1))
    one, two = table_of(seats), table_of(seats)
    if one.running.game.event == "more_or_less":
        return
    for table, chosen in ((one, mine), (two, instead)):
        assert isinstance(table.answer(secret, pb.ChooseRoles(roles=chosen)), Entry)
    compare(one, two, secret)
    for seat in range(seats):
        if seat != secret:
            both(one, two, lambda table, seat=seat: table.answer(seat, pb.ChooseRoles(roles=ROLE_IDS[:4])))
    assert one.running.game.asked is Stage.LEAD
    compare(one, two, secret)


@MANY
@given(some_roles, some_roles)
def test_under_more_or_less_nobody_sees_how_many(mine, instead):
    one, two = (table_of(3, {**CHOOSING, "event": "more_or_less"}) for _ in range(2))
    for table, chosen in ((one, mine), (two, instead)):
        assert isinstance(table.answer(0, pb.ChooseRoles(roles=chosen)), Entry)
        assert [type(event) for event in table.entries[-1].events if type(event).__module__ == pb.__name__] == [
            pb.RolesChosen
        ]
    compare(one, two, 0)
    both(one, two, lambda table: table.answer(2, pb.ChooseRoles(roles=ROLE_IDS[2:7])))
    compare(one, two, 0)
    both(one, two, lambda table: table.answer(1, pb.ChooseRoles(roles=ROLE_IDS[:1])))
    for table, chosen in ((one, mine), (two, instead)):
        (counts,) = (event for event in table.entries[-1].events if isinstance(event, pb.CountsRevealed))
        assert [*counts.counts] == [len(chosen), 1, 5]


def test_a_clock_that_chooses_shows_no_more_than_that_it_did():
    """The default is known; that it was taken is public, as that a seat has chosen."""
    table = table_of(3)
    table.expire_next()
    events = [
        event for event in table.feed(Viewer.of_seat(2), table.entries[-1]) if type(event).__module__ == pb.__name__
    ]
    assert [type(event) for event in events] == [pb.DecisionTimedOut, pb.RolesChosen]
    assert events[1] == pb.RolesChosen(seat=0)


def test_a_choice_is_final_and_its_refusal_tells_nothing():
    one, two = table_of(3), table_of(3)
    for table, chosen in ((one, ROLE_IDS[:4]), (two, ROLE_IDS[6:])):
        assert isinstance(table.answer(1, pb.ChooseRoles(roles=chosen)), Entry)
    refusals = [
        table.play(1, pb.ChooseRoles(roles=ROLE_IDS[:4]), table.running.prompts[0].prompt_id) for table in (one, two)
    ]
    assert all(isinstance(refused, envelope_pb2.Rejection) for refused in refusals)
    assert refusals[0] == refusals[1]


def test_a_seat_that_leaves_takes_its_cards_along_unseen():
    one, two = table_of(4), table_of(4)
    for table, chosen in ((one, ROLE_IDS[:4]), (two, ROLE_IDS[6:])):
        assert isinstance(table.answer(1, pb.ChooseRoles(roles=chosen)), Entry)
    both(one, two, lambda table: table.play(1, match_pb2.Resign()))
    compare(one, two, 1)
    for seat in (0, 2, 3):
        both(one, two, lambda table, seat=seat: table.answer(seat, pb.ChooseRoles(roles=ROLE_IDS[2:6])))
    compare(one, two, 1)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_the_digest_of_a_choice_cannot_be_guessed(seats):
    """Two hundred and ten choices are soon tried out: the salt alone keeps them."""
    table = table_of(seats)
    table.answer(0, pb.ChooseRoles(roles=ROLE_IDS[:4]))
    entry = table.entries[-1]
    digest, body = dict(entry.digests)["seat/0"], dict(entry.parts)["seat/0"]
    plain = (body, b"seat/0" + body, b"seat/0\n" + body, entry.header + body, entry.public + body)
    assert digest not in [sha256(each).digest() for each in plain]
    again = table_of(seats)
    again.seed = type(again.seed)(bytes(range(1, 33)))
    assert digest != dict(_chosen(again).digests)["seat/0"]


def _chosen(table: Table) -> Entry:
    """The same choice at a table with another secret."""
    other = Table(GAME, match_id="secrecy", seats=len(table.running.occupants), seed=table.seed)
    other.begin()
    other.answer(0, pb.ChooseRoles(roles=ROLE_IDS[:4]))
    return other.entries[-1]


# ---- one more role (BS-4.5) ------------------------------------------------------------------------------------------

_TILES: Mapping[str, object] = {
    **CHOOSING,
    "event": "the_works",
    "seats": {seat: {"forest_tiles": [tile]} for seat, tile in enumerate(("f_card_1", "f_card_2"))},
}


def extra_table() -> Table:
    """Seats 0 and 1 are asked for one more role."""
    table = table_of(3, _TILES, board="back")
    for seat in range(3):
        table.answer(seat, pb.ChooseRoles(roles=ROLE_IDS[:4]))
    assert table.running.game.asked is Stage.EXTRA
    return table


@pytest.mark.parametrize("role", ROLE_IDS[4:])
def test_nobody_sees_whether_a_tile_was_used_before_all_have_answered(role):
    one, two = extra_table(), extra_table()
    assert isinstance(one.answer(0, pb.AddRole(tile="f_card_1", role=role)), Entry)
    assert isinstance(two.answer(0, pb.DeclineExtra()), Entry)
    assert [audience for audience, _ in one.entries[-1].parts] == [audience for audience, _ in two.entries[-1].parts]
    compare(one, two, 0)


@pytest.mark.parametrize("role", ROLE_IDS[5:])
def test_nobody_sees_for_which_role_a_tile_was_used(role):
    one, two = extra_table(), extra_table()
    assert isinstance(one.answer(0, pb.AddRole(tile="f_card_1", role=role)), Entry)
    assert isinstance(two.answer(0, pb.AddRole(tile="f_card_1", role=ROLE_IDS[4])), Entry)
    both(one, two, lambda table: table.answer(1, pb.DeclineExtra()))
    (revealed,) = (event for event in one.entries[-1].events if isinstance(event, pb.ExtrasRevealed))
    assert [*revealed.extras] == [pb.ExtraUsed(seat=0, tile="f_card_1")]
    compare(one, two, 0)


# ---- offers (BS-9.6, BS-9.7) -----------------------------------------------------------------------------------------


def offer_table() -> Table:
    """All three are asked for an offer."""
    hand = {"roles": ["weather_fairy"], "resources": "o2 g1 p2 w3"}
    seats = {0: hand, 1: {"resources": "o1 w2"}, 2: {"resources": "p5"}}
    table = table_of(3, {"event": "the_upper_hand", "seats": seats})
    table.answer(0, pb.PlayRole(role="weather_fairy", stance="cowardly"))
    assert table.running.game.asked is Stage.OFFER
    return table


@pytest.mark.parametrize("offered", [(), (("orange", 1),), (("orange", 2), ("green", 1), ("purple", 2), ("wand", 3))])
def test_nobody_sees_an_offer_before_all_are_in(offered):
    one, two = offer_table(), offer_table()
    amounts = [pb.Amount(resource=resource, amount=amount) for resource, amount in offered]
    assert isinstance(one.answer(0, pb.Offer(resources=amounts)), Entry)
    assert isinstance(two.answer(0, pb.Offer(resources=[pb.Amount(resource="wand", amount=1)])), Entry)
    compare(one, two, 0)
    both(one, two, lambda table: table.answer(2, pb.Offer()))
    compare(one, two, 0)
    both(one, two, lambda table: table.answer(1, pb.Offer()))
    for table in (one, two):
        (revealed,) = (event for event in table.entries[-1].events if isinstance(event, pb.OffersRevealed))
        assert len(revealed.offers) == 3


# ---- who holds the led role (BS-5.2) ---------------------------------------------------------------------------------


def _without_led(state: State, seat: int) -> State:
    """This seat holds the led role if it did not, and does not if it did; as many cards as before."""
    hand = [*state.hands[seat]]
    led = state.led_role
    if led in hand:
        hand[hand.index(led)] = next(role for role in ROLE_IDS if role not in hand)
    else:
        hand[-1] = led
    return replace(state, hands=tuple(in_order(hand) if n == seat else held for n, held in enumerate(state.hands)))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 40), st.integers(3, 5), st.integers(0, 5))
def test_while_a_cowardly_seat_acts_nobody_sees_who_must_follow(seed, seats, board):
    """Not even in events that come with its steps, as long as steps are left to it."""
    chance = random.Random(seed)
    for turn in lively_match(seed, seats, lively.BOARDS[board]):
        state = turn.after
        if not state.steps or len(state.trick_plays) == seats:
            continue
        later = next((seat for seat in range(seats) if not _has_played(state, seat) and state.hands[seat]), None)
        if later is None:
            continue
        other = _without_led(state, later)
        (prompt,) = GAME.prompts(state)
        assert GAME.prompts(other) == (prompt,)
        for viewer in others(seats, later):
            assert GAME.view(state, viewer) == GAME.view(other, viewer)
        command = lively.random_command(chance.choice(GAME.legal(state, prompt.seat, prompt)), chance)
        here = answer(state, Actor.of_seat(prompt.seat), command, prompt, seed)
        there = answer(other, Actor.of_seat(prompt.seat), command, prompt, seed)
        if here.state.steps and len(here.state.plays) == len(state.plays):
            assert here.events == there.events


def _has_played(state: State, seat: int) -> bool:
    return any(play.seat == seat for play in state.trick_plays)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 40), st.integers(2, 5), st.integers(0, 5))
def test_the_roles_left_aside_are_never_shown(seed, seats, board):
    """Neither in events nor in views: a seat that plays is known by what it has laid down alone (BS-11.4)."""
    for turn in lively_match(seed, seats, lively.BOARDS[board]):
        split = GAME.schema.split(turn.events, seats)
        public = GAME.schema.merge(split.public, {})
        for event in public:
            if isinstance(event, pb.RolesChosen):
                assert not event.roles
            if isinstance(event, pb.ExtraAnswered):
                assert event == pb.ExtraAnswered(seat=event.seat)
            if isinstance(event, pb.OfferMade):
                assert not event.HasField("resources")
        shown = GAME.view(turn.after, PUBLIC)
        assert not any(seat.roles for seat in shown.seats)
        for seat in range(seats):
            own = GAME.view(turn.after, Viewer.of_seat(seat))
            assert all(not each.roles for each in own.seats if each.seat != seat)
            assert not own.events_hidden
            assert not own.bewitched_stack
            assert not own.hands


def test_a_state_tells_nothing_hidden_in_its_repr():
    state = next(turn.after for turn in lively_match(3, 3, lively.BACK) if turn.after.asked is Stage.LEAD)
    shown = repr(state) + repr([*state.__rich_repr__()])
    assert not any(role in shown for hand in state.hands for role in hand)
    assert not any(event in shown for event in state.events_to_come)
    decision = GAME.decide(state, Actor.of_seat(0), pb.ChooseRoles(), None, draws(3))
    assert not isinstance(decision, Decision)


# ---- tests of the tests ----------------------------------------------------------------------------------------------

LEAKS = {
    "counts": ("view._seat", "state.asked is Stage.CHOOSE and not own", "False"),
    "roles": ("view._seat", "roles=hand if own else ()", "roles=hand"),
    "points": (
        "choosing.choose_roles",
        "course.tell(pb.RolesChosen(seat=seat, roles=in_order(roles)))",
        "course.tell(pb.VpChanged(seat=seat, vp=len(roles))), "
        "course.tell(pb.RolesChosen(seat=seat, roles=in_order(roles)))",
    ),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_noticed(leak, monkeypatch):
    where, old, new = LEAKS[leak]
    exchanged(f"broom_service.{where}", old, new)(monkeypatch)
    one, two = (table_of(3, {**CHOOSING, "event": "more_or_less"}) for _ in range(2))
    for table, chosen in ((one, ROLE_IDS[:2]), (two, ROLE_IDS[4:9])):
        table.answer(0, pb.ChooseRoles(roles=chosen))
    with pytest.raises(AssertionError):
        compare(one, two, 0)

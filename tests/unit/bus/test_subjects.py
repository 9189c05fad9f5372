from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grimoire import eventstore
from grimoire.bus import (
    SubjectError,
    bots_subject,
    command_subject,
    event_subject,
    lobby_subject,
    owner_subject,
    partition_commands,
    partition_of,
    who_subject,
)
from grimoire.bus.roles import game_role, permissions, platform_roles


def test_each_kind_of_message_has_its_place() -> None:
    assert command_subject("two_towers", "m1") == f"cmd.two_towers.{partition_of('m1')}.m1"
    assert event_subject("two_towers", "m1") == "evt.two_towers.m1"
    assert owner_subject("two_towers", 63) == "own.two_towers.63"
    assert owner_subject("two_towers") == "own.two_towers.*"
    assert who_subject("two_towers", 0) == "who.two_towers.0"
    assert bots_subject("two_towers") == "bots.two_towers"
    assert lobby_subject("two_towers") == "lobby.two_towers"


@given(st.text(max_size=80))
@example("")
@example("*")
@example(">")
@example("a.b")
@example("a b")
@example("a\r\nPUB evt.x 0")
@example("m1\n")
@example("ä")
@example("a" * 65)
def test_what_a_person_typed_never_changes_the_shape_of_a_subject(text: str) -> None:
    try:
        subject = command_subject("two_towers", text)
    except SubjectError:
        return
    assert subject.split(".")[3:] == [text]
    assert not set(subject) & set("*> \t\r\n")


@pytest.mark.parametrize("bad", ["", "*", ">", "a.b", "a b", "a\n", "x" * 65])
def test_no_builder_lets_a_bad_name_through(bad: str) -> None:
    for build in (
        lambda: command_subject(bad, "m1"),
        lambda: command_subject("two_towers", bad),
        lambda: event_subject(bad, "m1"),
        lambda: owner_subject(bad),
        lambda: who_subject(bad, 1),
        lambda: bots_subject(bad),
        lambda: lobby_subject(bad),
        lambda: partition_commands(bad, 1),
    ):
        with pytest.raises(SubjectError):
            build()


@pytest.mark.parametrize("number", [-1, 64])
def test_a_partition_that_does_not_exist_is_refused(number: int) -> None:
    for build in (owner_subject, who_subject, partition_commands):
        with pytest.raises(SubjectError):
            build("two_towers", number)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=26, max_size=26))
def test_broker_and_store_agree_on_partitions(match_id: str) -> None:
    assert partition_of(match_id) == eventstore.partition_of(match_id)


def test_no_role_may_do_everything() -> None:
    for role in (*platform_roles(), game_role("two_towers")):
        rights = permissions(role)
        assert not {">", "*"} & {*rights.publish, *rights.subscribe}


@pytest.mark.parametrize("role", ["", "admin", "game_", "game_>", "game_a.b", "Gateway"])
def test_an_unknown_role_has_no_rights(role: str) -> None:
    with pytest.raises(ValueError, match="no role"):
        permissions(role)

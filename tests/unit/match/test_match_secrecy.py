"""What is hidden stays hidden: in bytes, in feeds, in representations."""

from __future__ import annotations

import re

import pytest

from grimoire.engine import ALL, PUBLIC, Viewer, ViewerKind
from grimoire.fairness import chain, commitments
from grimoire.match import Parsed
from grimoire.match.frames import head, prompts_for, snapshot, viewer_message, viewer_of
from grimoire.match.table import Table, default_nonces, default_seed
from grimoire.v1 import frame_pb2, match_pb2
from tests.support.toy import PLUGIN
from tests.support.toy import schema as toy
from tests.support.toy.state import RUNES

SEATS = 3
VIEWERS = [Viewer.of_seat(seat) for seat in range(SEATS)]


@pytest.fixture
def table() -> Table:
    """Three seats; seat 0 has chosen, the others have not."""
    made = Table(PLUGIN.game, match_id="secrecy", seats=SEATS)
    made.begin()
    made.answer(0, toy.ChooseRune(rune=made.running.game.keepers[0].hand[0]))
    return made


def secrets_of(table: Table) -> dict[str, bytes]:
    state = table.running
    return {
        "S": default_seed().open(),
        "J": state.joint.open(),
        "salt": commitments.deal_salt("toy", state.joint),
    }


def bytes_shown(table: Table, viewer: Viewer) -> bytes:
    """Everything this viewer was ever sent, in one."""
    entries = b"".join(entry.SerializeToString() for entry in table.log(viewer))
    return entries + snapshot(table.referee, table.running, viewer, table.now_ms).SerializeToString()


@pytest.mark.parametrize("viewer", [*VIEWERS, PUBLIC], ids=str)
def test_no_seed_and_no_strange_rune_reaches_a_viewer(table, viewer):
    shown = bytes_shown(table, viewer)
    for name, secret in secrets_of(table).items():
        assert secret not in shown, name
        assert secret.hex().encode() not in shown, name
    state = table.running.game
    hidden = {r for s, k in enumerate(state.keepers) if s != viewer.seat for r in (*k.hand, k.chosen) if r}
    for rune in hidden | {*state.pouch}:
        assert not re.search(rb"[\n\x0a\x12\x1a]." + rune.encode(), shown), rune
    own = {*state.keepers[viewer.seat].hand} if viewer.kind is ViewerKind.SEAT else set()
    for rune in own:
        assert rune.encode() in shown, "a seat sees its own hand"


def test_unrevealed_nonces_are_in_no_public_bytes():
    made = Table(PLUGIN.game, match_id="secrecy", seats=SEATS)
    made.create()
    for seat in range(SEATS):
        made.seal(seat)
    made.open(0), made.open(1)
    for viewer in (PUBLIC, VIEWERS[2]):
        shown = b"".join(entry.SerializeToString() for entry in made.log(viewer))
        assert default_nonces(3)[0] not in shown
        assert default_nonces(3)[1] not in shown
    own = b"".join(entry.SerializeToString() for entry in made.log(VIEWERS[0]))
    assert default_nonces(3)[0] in own
    assert default_nonces(3)[1] not in own
    made.open(2)
    shown = b"".join(entry.SerializeToString() for entry in made.log(PUBLIC))
    assert all(nonce in shown for nonce in default_nonces(3))


def test_the_command_part_is_sealed_from_its_own_sender(table):
    for viewer in (*VIEWERS, PUBLIC):
        for entry in table.log(viewer):
            assert {p.audience for p in entry.parts} <= ({f"seat/{viewer.seat}"} if viewer.seat >= 0 else set())
            assert "command" in {d.audience for d in entry.digests}


def test_which_parts_there_are_follows_from_types_and_seats_alone(table):
    chosen = table.entries[-1]
    assert [a for a, _ in chosen.parts] == ["command", "seat/0"]
    dealt = table.entries[-2]
    assert [a for a, _ in dealt.parts] == ["command", "sealed", "seat/0", "seat/1", "seat/2"]


def test_parts_open_to_their_digests_and_the_chain_holds_for_every_viewer(table):
    table.play(1, match_pb2.Resign())
    assert table.running.revealed
    for viewer in (*VIEWERS, PUBLIC, ALL):
        previous = chain.genesis("secrecy")
        for entry in table.log(viewer):
            digests = {d.audience: d.digest for d in entry.digests}
            for part in entry.parts:
                assert chain.part_digest(part.audience, part.salt, part.body) == digests[part.audience]
            previous = chain.link(previous, entry.header, entry.public, list(digests.items()))
            assert entry.hash == previous
            assert {p.audience for p in entry.parts} == digests.keys(), "after the reveal everything is open to all"
        assert previous == table.running.hash


def test_the_reveal_opens_seed_nonces_joint_seed_and_salt(table):
    entry = table.play(1, match_pb2.Resign())
    revealed = entry.events[-1]
    assert isinstance(revealed, match_pb2.FairnessRevealed)
    expected = secrets_of(table)
    assert (revealed.server_seed, revealed.joint_seed, revealed.salt) == tuple(expected.values())
    assert [(n.seat, n.nonce) for n in revealed.nonces] == list(enumerate(default_nonces(SEATS)))
    assert revealed in table.feed(PUBLIC, entry)


def test_representations_name_nothing_hidden(table):
    state = table.running
    schema = table.referee.rules(state.rules_version).schema
    opened = [schema.opened(entry.public, dict(entry.parts)) for entry in table.entries]
    made_of = [state, *table.entries, *opened, state.joint, table.referee, table]
    parsed = table.referee.read(
        table.envelope(0, "open_nonce", match_pb2.OpenNonce(nonce=default_nonces(3)[0]).SerializeToString())
    )
    assert isinstance(parsed, Parsed)
    words = "|".join(RUNES)
    for thing in (*made_of, parsed):
        for text in (repr(thing), str(thing), f"{thing}"):
            assert not re.search(rf"\b({words})\b", text)
            for secret in (*secrets_of(table).values(), *default_nonces(3)):
                assert secret.hex() not in text
                assert repr(secret)[2:-1] not in text
    assert repr(state) == "<MatchState secrecy version 8 running>"
    assert repr(table.entries[0]) == "<Entry secrecy version 1>"


def test_a_snapshot_shows_a_viewer_its_own_answers_only(table):
    for viewer in VIEWERS:
        shown = snapshot(table.referee, table.running, viewer, 7)
        assert (shown.server_time_ms, shown.viewer.seat) == (7, viewer.seat)
        for prompt in shown.prompts:
            assert bool(prompt.legal) is (prompt.seat == viewer.seat)
    public = prompts_for(table.referee, table.running, PUBLIC)
    assert [(p.prompt_id, p.seat, p.kind, p.required, len(p.legal)) for p in public] == [
        (2, 1, "choose", True, 0),
        (3, 2, "choose", True, 0),
        (4, 0, "chant", False, 0),
        (5, 1, "chant", False, 0),
        (6, 2, "chant", False, 0),
    ]


def test_everything_is_shown_only_after_the_reveal(table):
    with pytest.raises(PermissionError):
        snapshot(table.referee, table.running, ALL, 0)
    table.play(0, match_pb2.Resign())
    view = toy.View.FromString(snapshot(table.referee, table.running, ALL, 0).view)
    assert [len(seat.hand) for seat in view.seats] == [2, 3, 3]
    assert view.pouch


def test_the_head_is_for_everybody(table):
    message = head(table.referee, table.running)
    assert (message.match_id, message.game, message.version) == ("secrecy", "toy", 8)
    assert (message.status, message.revealed) == (frame_pb2.MATCH_STATUS_RUNNING, False)
    assert not message.HasField("closed")
    table.play(0, match_pb2.Resign())
    message = head(table.referee, table.running)
    assert (message.status, message.revealed) == (frame_pb2.MATCH_STATUS_CLOSED, True)
    assert list(message.closed.reasons) == ["resigned"]


def test_a_viewer_that_is_not_named_is_refused():
    with pytest.raises(ValueError, match="must be named"):
        viewer_of(frame_pb2.Viewer())
    for viewer in (*VIEWERS, PUBLIC, ALL):
        assert viewer_of(viewer_message(viewer)) == viewer


def test_before_the_start_there_is_no_view():
    made = Table(PLUGIN.game, match_id="secrecy", seats=2)
    made.create()
    shown = snapshot(made.referee, made.running, VIEWERS[0], 0)
    assert (shown.view, list(shown.prompts)) == (b"", [])
    assert shown.head.status == frame_pb2.MATCH_STATUS_HANDSHAKE

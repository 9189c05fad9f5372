"""A whole match of Two Towers beside one of another game, through replay."""

from __future__ import annotations

from pathlib import Path

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.games.two_towers.v1 import two_towers_pb2 as tt
from grimoire.v1 import rules_pb2
from tests.replay.house import house

GAME = "two_towers"


async def test_a_match_of_two_towers_is_replayed_exported_brought_back_and_audited(toy: None, tmp_path: Path) -> None:
    async with house(tmp_path / "home", games=("toy", GAME)) as running:
        match_id = await running.play(game=GAME, level="heuristic", battlefield="crystal_garden")
        other = await running.play()
        ada, stranger = running.caller("ada"), running.caller("carl")

        head = (await ada.get(match_id)).head
        assert (head.game, head.revealed) == (GAME, True)
        brought = (await stranger.bring(await ada.export(match_id), 64 * 1024)).match_id
        for viewer in (Viewer.of_seat(0), Viewer.of_seat(1), PUBLIC, ALL):
            frames = await stranger.frames(match_id, viewer)
            assert [f.version for f in frames] == list(range(1, head.version + 1))
            assert not [f.version for f in frames if f.HasField("fault")]
            assert await ada.frames(brought, viewer) == frames
            for shown in views(frames)[:-1]:
                others = [seat.hand for n, seat in enumerate(shown.seats) if viewer != ALL and n != viewer.seat]
                assert not any(slot.card for hand in others for slot in hand)

        marks = await ada.marks(match_id)
        assert marks[0].kind == rules_pb2.MARK_KIND_START
        assert marks[-1].kind == rules_pb2.MARK_KIND_END
        assert len(marks) > 10
        assert (await stranger.audit(match_id)).passed
        assert (await stranger.audit(brought)).passed
        assert (await stranger.audit(other)).passed


def views(frames: list[rules_pb2.ReplayFrame]) -> list[tt.View]:
    return [tt.View.FromString(f.view) for f in frames if f.view]

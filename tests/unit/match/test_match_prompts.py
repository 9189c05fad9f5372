"""Prompts: numbered over the match, closed with a cause, opened anew."""

from __future__ import annotations

from grimoire.match import Entry
from grimoire.match.table import Table
from grimoire.v1 import match_pb2
from tests.support.toy import PLUGIN
from tests.support.toy import schema as toy

ANSWERED = match_pb2.PROMPT_CAUSE_ANSWERED
EXPIRED = match_pb2.PROMPT_CAUSE_EXPIRED
SUPERSEDED = match_pb2.PROMPT_CAUSE_SUPERSEDED
MATCH_OVER = match_pb2.PROMPT_CAUSE_MATCH_OVER


def arranged(hands, *, tokens=(2, 2), **options) -> Table:
    position = PLUGIN.positions.parse({"hands": hands, "tokens": list(tokens)}, options)
    made = Table(
        PLUGIN.game,
        match_id="prompts",
        seats=len(hands),
        options=options,
        mode=match_pb2.MATCH_MODE_ANALYSIS,
        position=position.SerializeToString(),
    )
    made.begin()
    return made


def closed(entry: Entry) -> list[tuple[int, int]]:
    return [(e.prompt_id, e.cause) for e in entry.events if isinstance(e, match_pb2.PromptClosed)]


def opened(entry: Entry) -> list[tuple[int, int, str]]:
    return [(e.prompt_id, e.seat, e.kind) for e in entry.events if isinstance(e, match_pb2.PromptOpened)]


def open_now(table: Table) -> list[int]:
    return [p.prompt_id for p in table.running.prompts]


def at_the_stack(**options) -> Table:
    """Both have chosen; seat 0 is asked about seat 1's rune (prompt 5)."""
    made = arranged([["ash"], ["yew"]], **options)
    made.answer(0, toy.ChooseRune(rune="ash"))
    made.answer(1, toy.ChooseRune(rune="yew"))
    return made


def test_simultaneous_prompts_are_open_side_by_side():
    made = arranged([["ash"], ["yew"]])
    assert opened(made.entries[-1]) == [(1, 0, "choose"), (2, 1, "choose"), (3, 0, "chant"), (4, 1, "chant")]
    entry = made.answer(1, toy.ChooseRune(rune="yew"))
    assert closed(entry) == [(2, ANSWERED)]
    assert opened(entry) == []
    assert open_now(made) == [1, 3, 4], "another seat's answer leaves this seat's prompt as it was"


def test_offers_go_when_their_time_is_over():
    made = arranged([["ash"], ["yew"]])
    made.answer(0, toy.ChooseRune(rune="ash"))
    entry = made.answer(1, toy.ChooseRune(rune="yew"))
    assert closed(entry) == [(2, ANSWERED), (3, SUPERSEDED), (4, SUPERSEDED)]
    assert opened(entry) == [(5, 0, "reaction")]


def test_an_offer_that_is_taken_leaves_the_others():
    made = arranged([["ash"], ["yew"]])
    entry = made.answer(0, toy.Chant())
    assert closed(entry) == [(3, ANSWERED)]
    assert open_now(made) == [1, 2, 4]


def test_a_reaction_may_be_answered_by_another_seat_and_so_on():
    made = at_the_stack()
    first = made.answer(0, toy.Counter(stake=1))
    assert (closed(first), opened(first)) == ([(5, ANSWERED)], [(6, 1, "reaction")])
    second = made.answer(1, toy.Counter(stake=2))
    assert closed(second) == [(6, ANSWERED)]
    undone = [(e.serial, e.by) for e in second.events if isinstance(e, toy.SpellUndone)]
    assert undone == [(3, 4)], "seat 0 cannot stake more, so its counter is taken away"
    assert opened(second) == [(7, 0, "reaction")], "and may counter the rune once more with what it has left"
    third = made.answer(0, toy.LetPass())
    assert [(e.rune, e.seat) for e in third.events if isinstance(e, toy.RuneBurnt)] == [("yew", 1), ("ash", 0)]


def test_a_standing_command_may_supersede_a_prompt():
    made = at_the_stack()
    entry = made.play(0, toy.SetStance(always_pass=True))
    assert closed(entry) == [(5, SUPERSEDED)]
    assert next(e.cause for e in entry.events if isinstance(e, toy.PassedOn)) == "stance"


def test_an_expired_prompt_closes_as_expired_and_the_others_as_superseded():
    made = arranged([["ash"], ["yew"]])
    made.answer(1, toy.ChooseRune(rune="yew"))
    entry = made.expire_next()
    assert closed(entry) == [(1, EXPIRED), (3, SUPERSEDED), (4, SUPERSEDED)]


def test_prompts_of_a_match_that_ends_close_as_match_over():
    made = arranged([["ash"], ["yew"]])
    entry = made.play(1, match_pb2.Resign())
    assert closed(entry) == [(n, MATCH_OVER) for n in (1, 2, 3, 4)]
    assert [type(e).__name__ for e in entry.events[-2:]] == ["MatchClosed", "FairnessRevealed"]


def test_the_answered_prompt_of_the_last_command_closes_as_answered():
    made = at_the_stack(rounds="1")
    made.answer(0, toy.LetPass())
    entry = made.answer(1, toy.LetPass())
    assert closed(entry) == [(6, ANSWERED)]
    assert made.running.over


def test_numbers_rise_over_the_match_and_are_never_used_again():
    made = arranged([["ash"], ["yew"]], rounds="3")
    numbers = [n for entry in made.entries for n, _, _ in opened(entry)]
    while (entry := made.expire_next()) is not None:
        numbers += [n for n, _, _ in opened(entry)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert made.running.next_prompt_id == len(numbers) + 1


def test_every_opened_prompt_is_closed_once():
    made = arranged([["ash"], ["yew"]], rounds="3")
    while made.expire_next() is not None:
        pass
    numbers = sorted(n for entry in made.entries for n, _ in closed(entry))
    assert numbers == list(range(1, made.running.next_prompt_id))


def test_an_accepted_command_writes_an_entry_even_when_nothing_changed():
    made = arranged([["ash"], ["yew"]])
    entry = made.play(0, toy.SetStance(always_pass=False))
    assert isinstance(entry, Entry)
    assert entry.events == ()
    assert [a for a, _ in entry.parts] == ["command"]
    assert entry.hash == made.running.hash != made.entries[-2].hash


def test_match_closed_is_the_outcome_in_the_platforms_words():
    made = arranged([["ash"], ["yew"]], mode="duel")
    closing = made.play(0, match_pb2.Resign()).events[-2]
    assert (closing.kind, list(closing.ranks), list(closing.reasons)) == (
        match_pb2.OUTCOME_KIND_WIN,
        [2, 1],
        ["resigned"],
    )
    together = arranged([["ash"], ["yew"]], mode="coop").play(0, match_pb2.Resign()).events[-2]
    assert (together.kind, list(together.ranks)) == (match_pb2.OUTCOME_KIND_COOP_LOST, [1, 1])

"""Whole matches of Broom Service: five browsers with everything the box holds; two seats, one of them by keys alone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from playwright.async_api import expect

from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from grimoire.v1.match_pb2 import Event
from tests.web.broom import EVERYTHING, GAME, ROLES, Company, Player, company
from tests.web.people import PHONE, Person
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(500)]

AHEAD = 8
"""So many commands of programs before the pages are waited for."""


async def by_program(table: Company, seat: int, rng: random.Random) -> None:
    """Does what is asked of a seat without its browser."""
    session = table.sessions[seat]
    prompt = next(one for one in session.own_prompts if one.required)
    bot = load_game(GAME).bot
    assert bot is not None
    code, command = bot.suggest(table.view(seat), prompt, "random", rng, 0)
    await everywhere(table, (await session.submit(code, command, prompt.prompt_id)).version)


async def everywhere(table: Company, version: int) -> None:
    """Waits until every seat's program has seen so much."""
    for session in table.sessions:
        await session.reached(version, timeout_s=30)


async def test_five_browsers_play_with_everything(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """Each of five does everything that is asked of it at least once by hand; what comes again a program decides."""
    rng = random.Random(5)
    async with (
        company(str(stack.config.gateway), tmp_path, 5, **EVERYTHING) as table,
        person() as aino,
        person(PHONE) as vaino,
        person(dark=True) as otso,
        person(PHONE, dark=True) as mielikki,
        person() as tapio,
    ):
        people = (aino, vaino, otso, mielikki, tapio)
        players = [await table.sit(seat, each) for seat, each in enumerate(people)]
        for player in players:
            await player.drawn()
        done: set[tuple[int, str]] = set()
        quick = 0
        while not table.sessions[0].finished:
            seat = table.asked()
            view = table.view(seat)
            if (seat, view.stage) in done:
                await by_program(table, seat, rng)
                quick += 1
                # Programs play faster than five pages show it; people would be looking at something long past.
                if quick % AHEAD == 0:
                    await asyncio.gather(*(each.reaches(table.sessions[0].version) for each in players))
                continue
            done.add((seat, view.stage))
            await players[seat].reaches(table.sessions[seat].version)
            await players[seat].act(view)
            await everywhere(table, await players[seat].version())
        assert {(seat, stage) for seat in range(5) for stage in ("choose", "follow", "steps")} <= done
        result = table.view(0).result
        for player in players:
            await player.reaches(table.sessions[0].version)
            end = player.page.get_by_role("region", name=says("match.end.title"))
            await expect(end).to_be_visible()
            scores = player.page.get_by_role("table", name=says("broom_service.scores"))
            for score in result.scores:
                await expect(scores).to_contain_text(str(score.vp))
        assert len({await player.version() for player in players}) == 1
        await asyncio.gather(*(each.no_sideways_scroll() for each in people))
        await aino.axe(at="the end")
        await mielikki.axe(at="the end")


async def pick_by_key(player: Player, ref: str, key: str) -> None:
    """A key picks a thing of the table."""
    await player.key(key, player.page.locator(f'.table [data-ref="{ref}"][aria-pressed=true]'))


def done_by(before: pb.View, after: pb.View) -> set[str]:
    """Which commands of a step the first seat has taken between two views."""
    old, new = before.seats[0], after.seats[0]
    kinds = ("orange", "green", "purple", "wand")
    gains = [getattr(new.resources, kind) - getattr(old.resources, kind) for kind in kinds]
    return {
        command
        for command, taken in (
            ("gather", min(gains) >= 0 and max(gains) > 0),
            ("move_pawn", new.pawns != old.pawns),
            ("deliver", new.vp > old.vp and min(gains) < 0 and new.pawns == old.pawns),
        )
        if taken
    }


async def test_a_seat_by_keys_alone(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """Roles by their digits, stances by their letters; resources are taken, pawns fly and deliver."""
    rng = random.Random(2)
    done: set[str] = set()
    offered_alone: set[str] = set()
    letters: set[str] = set()
    log: list[Event] = []
    # Nothing is done by the clock, so that what happened is what the keys did.
    async with company(str(stack.config.gateway), tmp_path, 2, turn_time_s="3600") as table, person() as aino:
        table.sessions[0].on_update(lambda update: log.extend(update.events))
        player = await table.sit(0, aino)
        await player.drawn()
        answers = 0
        while not table.sessions[0].finished:
            if table.asked() == 1:
                await by_program(table, 1, rng)
                continue
            before = table.view(0)
            await player.reaches(table.sessions[0].version)
            offered = {entry.type for each in table.sessions[0].own_prompts for entry in each.legal} & STEPS
            if len(offered) == 1:
                offered_alone |= offered
            told = len(log)
            letter = await by_keys(player, table, answers, may_skip=offered <= done)
            await everywhere(table, await player.version())
            answers += 1
            assert letter == "" or letter in told_by(log[told:]), (letter, before.stage)
            letters.add(letter)
            if before.stage == "steps":
                done |= done_by(before, table.view(0))
        await player.reaches(table.sessions[0].version)
        await expect(player.page.get_by_role("region", name=says("match.end.title"))).to_be_visible()
        assert {"gather", "move_pawn"} <= done
        assert offered_alone <= done
        assert {*STANCES} <= letters


STEPS = {"gather", "move_pawn", "deliver"}


STANCES = {"b": "brave", "c": "cowardly"}


def told_by(events: Iterable[Event]) -> set[str]:
    """Which letters have done these events of the first seat."""
    letters = set()
    for event in events:
        if event.type == "role_played":
            played = pb.RolePlayed.FromString(event.body)
            letters |= {letter for letter, stance in STANCES.items() if (played.seat, played.stance) == (0, stance)}
        elif event.type == "step_closed" and pb.StepClosed.FromString(event.body).reason == "skipped":
            letters.add("k")
    return letters


async def by_keys(player: Player, table: Company, turn: int, *, may_skip: bool) -> str:
    """Does what is asked by keys alone; now and then points at a thing first, now and then gives up a step.

    Args:
        player: whose browser it is, of the first seat.
        table: where it sits.
        turn: of this seat's answers, to vary what is done.
        may_skip: each command that is offered was sent before.

    Returns:
        The letter that said what was to be done; empty: none did.
    """
    view = table.view(0)
    if view.stage == "choose":
        for at in range(view.round, view.round + 4):
            await pick_by_key(player, f"role:{ROLES[at % 10]}", str((at + 1) % 10))
    elif view.stage in ("lead", "follow"):
        letter = "c" if turn % 2 else "b"
        if view.stage == "lead":
            own = view.seats[0].roles
            role = next((role for role in own if role not in view.led), own[0])
            await pick_by_key(player, f"role:{role}", str(list(own).index(role) + 1))
        # A role that was led before is neither (BS-5.9).
        if view.stage == "follow" or role not in view.led:
            if await player.thing(f"play:{STANCES[letter]}").count() == 0:
                letter = "b" if letter == "c" else "c"
            await pick_by_key(player, f"play:{STANCES[letter]}", letter)
            await player.act_by_keys()
            return letter
    elif view.stage == "steps" and may_skip and turn % 4 == 0:
        # What gives something up is a chip until it is the only thing left, and can then be taken back.
        await player.key("k", player.bar.locator(".chips .chip, .actions .plain"))
        await player.act_by_keys()
        return "k"
    elif view.stage == "steps" and turn % 2 == 0 and await player.things.count() > 0:
        await player.page.evaluate("document.activeElement.blur()")
        await player.key("n", player.page.locator(".table [data-usable]:focus"))
        await player.key("Enter", player.page.locator(".table .selected"))
    await player.act_by_keys()
    return ""

"""`grimoire demo`: whole matches through every part, each replayed and audited."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from grimoire.cli.say import ERRORS, OUT
from grimoire.cli.stacks import throw_away_stack
from grimoire.client import Client, ClientError, MatchSession
from grimoire.engine import ALL, PUBLIC, Illegal, Viewer
from grimoire.fairness.verify import exit_status, first_lie
from grimoire.match.offline import audit_bytes
from grimoire.plugins import GamePlugin, load_game
from grimoire.v1 import manifest_pb2

__all__ = ["demo"]

AT_ONCE = 8
MATCH_S = 600.0
_SEATS = 2
"""Of every match: one for each of two people, or a person and a bot."""


def choices(seed: object) -> random.Random:
    """The players' choices of one seed; never used for a deal."""
    return random.Random(str(seed))  # noqa: S311 (nobody's secret depends on it)


class Played(msgspec.Struct):
    """One match of the demo and what was found of it."""

    match_id: str = ""
    options: dict[str, str] = {}
    against: str = ""
    entries: int = 0
    commands: int = 0
    reasons: list[str] = []
    faults: list[str] = []


class Report(msgspec.Struct):
    """The demo's result."""

    game: str
    seed: str
    matches: list[Played]
    holds: bool
    commands: int
    seconds: float
    commands_per_s: float


async def demo(game: str, matches: int, *, seed: str, processes: bool, as_json: bool) -> int:
    """Plays whole matches, alternately person against person and person against the house's bot.

    Args:
        game: its name.
        matches: how many.
        seed: of options and of the players' choices; deals are always drawn fairly.
        processes: for the throw-away stack.
        as_json: prints the report as JSON.

    Returns:
        0 if every match was replayed and audited and nothing was found.
    """
    plugin = load_game(game)
    with tempfile.TemporaryDirectory(prefix="grimoire-demo-") as kept:
        async with throw_away_stack(processes=processes) as edge:
            began = time.perf_counter()
            played = await _play_all(edge, plugin, matches, seed, Path(kept))
            seconds = time.perf_counter() - began
    commands = sum(p.commands for p in played)
    holds = not any(p.faults for p in played)
    report = Report(game, seed, played, holds, commands, round(seconds, 2), round(commands / seconds, 1))
    if as_json:
        OUT.out(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        _show(report)
    return 0 if holds else 1


async def _play_all(edge: str, plugin: GamePlugin, matches: int, seed: str, kept: Path) -> list[Played]:
    turns = asyncio.Semaphore(AT_ONCE)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=ERRORS) as progress:
        bar = progress.add_task("Playing, replaying, auditing", total=matches)

        async def one(number: int) -> Played:
            async with turns:
                played = await _play_and_check(edge, plugin, number, choices(f"{seed}/{number}"), kept)
                progress.advance(bar)
                return played

        return list(await asyncio.gather(*(one(n) for n in range(matches))))


async def _play_and_check(edge: str, plugin: GamePlugin, number: int, rng: random.Random, kept: Path) -> Played:
    played = Played(options=_options(plugin, number, rng))
    try:
        async with asyncio.timeout(MATCH_S):
            await _play(edge, plugin, number, rng, played, kept)
    except (ClientError, TimeoutError) as error:
        played.faults.append(f"{type(error).__name__}: {error}")
    return played


async def _play(edge: str, plugin: GamePlugin, number: int, rng: random.Random, played: Played, kept: Path) -> None:
    one, other = kept / f"{number}a", kept / f"{number}b"
    async with (
        await Client.connect(edge, keepsakes=one) as first,
        await Client.connect(edge, keepsakes=other) as second,
    ):
        await first.guest(f"Demo {number} A")
        await second.guest(f"Demo {number} B")
        if number % 2:
            played.against = "bot"
            level = plugin.bot.levels[min(1, len(plugin.bot.levels) - 1)]
            challenge = await first.play_bot(plugin.game.id, level, played.options)
            players = [first]
        else:
            played.against = "person"
            opened = await first.create(plugin.game.id, played.options)
            await second.join(opened.challenge_id)
            challenge = await first.matched(opened.challenge_id)
            players = [first, second]
        played.match_id = challenge.match_id
        sessions = [await client.open_match(challenge.match_id) for client in players]
        try:
            counts = await asyncio.gather(*(_play_seat(s, plugin, choices(rng.random())) for s in sessions))
            played.commands = sum(counts)
            await _check(first, sessions, played)
        finally:
            for session in sessions:
                await session.close()


async def _play_seat(session: MatchSession, plugin: GamePlugin, rng: random.Random) -> int:
    """Plays one seat with the game's own bot, fed only by what the seat sees."""
    level = plugin.bot.levels[min(1, len(plugin.bot.levels) - 1)]
    commands = 0
    async for _ in session.updates():
        prompts = [p for p in session.own_prompts if p.required or p.legal]
        if session.finished or not prompts:
            continue
        prompt = prompts[0]
        view = plugin.game.view_type.FromString(session.view)
        code, message = plugin.bot.suggest(view, prompt, level, rng, 20)
        await session.submit(code, message, prompt.prompt_id)
        commands += 1
    return commands


async def _check(client: Client, sessions: list[MatchSession], played: Played) -> None:
    """Replays the match through everybody's eyes, audits it here and there, and tries a forgery."""
    head = (await client.match(played.match_id)).head
    played.entries = head.version
    played.reasons = list(head.closed.reasons)
    for session in sessions:
        verdict = await session.verify_result()
        if not verdict.holds or not verdict.same_head:
            played.faults.append(f"seat {session.seat}: {verdict}")
    for viewer in (PUBLIC, ALL, *(Viewer.of_seat(n) for n in range(len(head.created.seats)))):
        frames = [f async for f in client.frames(played.match_id, viewer)]
        if [f.version for f in frames] != list(range(1, head.version + 1)) or frames[-1].hash != head.hash:
            played.faults.append(f"the replay for {viewer} is not the match")
        if any(f.HasField("fault") for f in frames):
            played.faults.append(f"the replay for {viewer} has versions that cannot be shown")
        if any(s.seat == viewer.seat and frames[-1].view != s.view for s in sessions):
            played.faults.append(f"the replay for {viewer} does not end in the view its player had")
    data = await client.export(played.match_id)
    here = await asyncio.to_thread(audit_bytes, data)
    there = await client.audit(played.match_id)
    for name, report in (("this machine's audit", here), ("the server's audit", there)):
        if exit_status(report) != 0:
            played.faults.append(f"{name}: {first_lie(report) or 'not everything could be checked'}")
    if exit_status(await asyncio.to_thread(audit_bytes, _forged(data, len(data) // 2))) != 1:
        played.faults.append("a forged file was not found out")


def _forged(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _options(plugin: GamePlugin, number: int, rng: random.Random) -> dict[str, str]:
    """Goes through the choices of every option, so that a longer demo shows all of them.

    What does not go together is left out.
    """
    chosen: dict[str, str] = {}
    step = number
    for option in plugin.texts.manifest("en").options:
        if option.type == manifest_pb2.OPTION_TYPE_CHOICE and option.choices:
            chosen[option.name] = option.choices[step % len(option.choices)].value
            step = step // len(option.choices) + number + rng.randrange(2)
    while isinstance(refused := plugin.game.configure(chosen, _SEATS), Illegal) and refused.field in chosen:
        del chosen[refused.field]
    return chosen


def _show(report: Report) -> None:
    table = Table(title=f"{len(report.matches)} matches of {report.game}", title_justify="left")
    for heading in ("Match", "Against", "Entries", "Ended by", "Replayed and audited"):
        table.add_column(heading)
    for p in report.matches:
        verdict = "[green]✓ holds[/]" if not p.faults else "[bold red]✗ " + "; ".join(p.faults) + "[/]"
        table.add_row(p.match_id or "–", p.against, str(p.entries), ", ".join(p.reasons) or "–", verdict)
    OUT.print(table)
    ends = Counter(reason for p in report.matches for reason in p.reasons)
    OUT.print("Ends: " + ", ".join(f"{reason} {count}" for reason, count in ends.most_common()), highlight=False)
    OUT.print(
        f"{report.commands} commands in {report.seconds} s with replays and audits ({report.commands_per_s} a second).",
        highlight=False,
    )
    OUT.print("[bold green]Everything holds.[/]" if report.holds else "[bold red]Something does not hold.[/]")

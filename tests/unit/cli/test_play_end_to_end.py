"""Played for real: a stack in a process of its own, the full-screen client by its keys, the plain one by pipes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from grimoire.cli.screens.app import GrimoireApp
from grimoire.cli.screens.match_screen import MatchScreen
from grimoire.cli.screens.model import Ending, MatchModel, Stage
from grimoire.cli.screens.plain import PlainClient
from grimoire.cli.screens.wish import Wish
from grimoire.client import Client
from grimoire.runtime.config import Config, RunFile
from tests.support.screens import lines, text

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S = 240.0
GRIMOIRE = (sys.executable, "-c", "from grimoire.cli import main; main()")


class House:
    """A stack that can be killed and started again at the same addresses.

    Args:
        home: folder of all its data, and of the players'.
    """

    def __init__(self, home: Path) -> None:
        config = Config.for_test(home)
        self.env = {**os.environ, **config.to_env(), "XDG_DATA_HOME": str(home / "players"), "TERM": "dumb"}
        for service in config.addresses:
            self.env[f"GRIMOIRE_ADDRESS_{service.upper()}"] = f"127.0.0.1:{_free_port()}"
        self.home = home
        self.address = self.env["GRIMOIRE_ADDRESS_GATEWAY"]
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with (self.home / "up.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(*GRIMOIRE, "up", env=self.env, stdout=log, stderr=log)
        async with asyncio.timeout(60):
            while True:
                assert self._process.returncode is None, (self.home / "up.log").read_text()[-2000:]
                running = RunFile.read(self.home)
                if running is not None and running.pid == self._process.pid:
                    return
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """As a power cut does it."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGINT)
            await self._process.wait()

    @contextlib.asynccontextmanager
    async def client(self, name: str) -> AsyncIterator[Client]:
        async with await Client.connect(self.address, keepsakes=self.home / "keepsakes" / name) as client:
            await client.guest(name)
            yield client

    async def command(self, *arguments: str) -> asyncio.subprocess.Process:
        """The command line, over pipes."""
        return await asyncio.create_subprocess_exec(
            *GRIMOIRE,
            *arguments,
            env=self.env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path)
    await made.start()
    yield made
    await made.stop()


def app_of(client: Client, **wish: Any) -> GrimoireApp:
    app = GrimoireApp(client, Wish(**wish), me="Aino")
    app.animation_level = "none"
    return app


async def until(pilot: Pilot[Any], condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await pilot.pause(0.02)


def model(app: GrimoireApp) -> MatchModel | None:
    screen = next((s for s in reversed(app.screen_stack) if isinstance(s, MatchScreen)), None)
    return screen.model if screen is not None else None


async def decide(app: GrimoireApp, pilot: Pilot[Any]) -> None:
    """One decision by keys alone: the first card that can be played, else the first one is discarded."""
    match = model(app)
    assert match is not None
    before = match.version
    for number in "123456":
        await pilot.press("escape", number)
        labels = [str(b.label) for b in app.screen.query(Button) if b.display]
        if any(label.startswith("p ") for label in labels):
            await pilot.press("p")
            break
    else:
        await pilot.press("escape", "1", "d")
    await until(pilot, lambda: match.version > before)


async def play_out(app: GrimoireApp, pilot: Pilot[Any], decisions: int = 1000) -> None:
    """Until the match is over, or so many decisions."""
    await until(pilot, lambda: model(app) is not None)
    match = model(app)
    assert match is not None
    await until(pilot, lambda: match.stage is not Stage.HANDSHAKE)
    await pilot.press("f12")  # takes the digest away
    while match.ending is None and decisions:
        await until(pilot, lambda: match.stage is not Stage.WAITING)
        if match.stage is Stage.ASKED:
            await decide(app, pilot)
            decisions -= 1


@pytest.mark.parametrize(("language", "size"), [("en", (80, 24)), ("fi", (140, 40))])
async def test_a_whole_match_against_a_bot_by_keys_alone(house: House, language: str, size: tuple[int, int]) -> None:
    async with house.client("Aino") as client:
        app = app_of(client, level="heuristic", language=language, phrase="kuu")
        async with app.run_test(size=size) as pilot:
            await play_out(app, pilot)
            match = model(app)
            assert match is not None
            assert match.ending in (Ending.WON, Ending.LOST, Ending.DRAWN)
            await until(pilot, lambda: match.seed in text(app).replace(" ", ""))
            await pilot.press("a")
            holds = "Everything that was checked holds" if language == "en" else "Kaikki tarkistettu pitää"
            await until(pilot, lambda: holds in text(app))
            assert "8 ✓" in "".join(lines(app)) or match.deal_digest
            await pilot.press("escape", "m")
            await until(pilot, lambda: model(app) not in (None, match))
            await until(pilot, lambda: model(app).stage is not Stage.HANDSHAKE)  # type: ignore[union-attr]


async def test_two_people_play_one_on_a_screen_and_one_in_lines(house: House) -> None:
    async with house.client("Aino") as one, house.client("Otso") as other:
        app = app_of(one, challenge=True, options={"deck_type": "endless"})
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "--join" in text(app))
            (challenge,) = await other.challenges("two_towers")
            assert challenge.challenge_id in text(app)
            out, into = os.pipe()
            said: list[str] = []
            wish = Wish(join=challenge.challenge_id, plain=True)
            plain = PlainClient(other, wish, me="Otso", descriptor=out, say=said.append)
            playing = asyncio.create_task(plain.run())
            os.write(into, b"discard\n1\n" * 3 + b"resign yes\n")
            os.close(into)
            await play_out(app, pilot)
            match = model(app)
            assert match is not None
            assert match.ending is Ending.WON
            assert "Otso" in "".join(match.names.values())
            assert await playing == 0
            os.close(out)
            assert any("Aino wins" in line for line in said)


async def test_the_stack_is_killed_in_mid_match_and_the_screen_goes_on(house: House) -> None:
    async with house.client("Aino") as client:
        app = app_of(client, level="random", options={"turn_time_s": "600"})
        async with app.run_test(size=(80, 24)) as pilot:
            await play_out(app, pilot, decisions=3)
            match = model(app)
            assert match is not None
            await until(pilot, lambda: match.stage is Stage.ASKED)
            before = match.version
            await house.kill()
            await until(pilot, lambda: "Connection lost" in lines(app)[0])
            assert "Your turn" in text(app)
            await pilot.press("1", "d")
            await until(pilot, lambda: "Sending" in text(app))
            await house.start()
            await until(pilot, lambda: match.version > before and "Connection lost" not in lines(app)[0])
            await play_out(app, pilot, decisions=2)
            assert match.feed.alarm is None
            discarded = [line.text for line in match.lines() if line.text.startswith("Aino discards")]
            assert len(discarded) <= 6


async def test_a_whole_match_over_pipes(house: House) -> None:
    process = await house.command(
        "play", "two_towers", "--vs", "bot:random", "--plain", "--name", "Putki", "--lang", "fi"
    )
    assert process.stdin is not None
    assert process.stdout is not None
    said: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        while line := (await process.stdout.readline()).decode():
            said.append(line.rstrip())
            if line.startswith("Numero tai sanat"):
                process.stdin.write(b"1\n")
                await process.stdin.drain()
            if line.startswith("rematch ("):
                process.stdin.write(b"audit\n")
                process.stdin.close()
    assert await process.wait() == 0, (await process.stderr.read()).decode() if process.stderr else ""
    assert any(line.startswith(("Voitto.", "Tappio.", "Tasapeli.")) for line in said)
    assert any(line.startswith("✓ Kaikki tarkistettu pitää") for line in said)


async def test_the_end_of_input_is_polite_and_the_match_waits(house: House) -> None:
    process = await house.command("play", "two_towers", "--vs", "bot:random", "--plain", "-o", "turn_time_s=600")
    out, error = await process.communicate(b"help\n")
    assert process.returncode == 0, error.decode()
    last = out.decode().strip().splitlines()[-1]
    assert last.startswith("The input has ended. The match goes on without you.")
    match_id = last.split("--match ")[1].split()[0]
    again = await house.command("play", "two_towers", "--match", match_id, "--plain")
    out, error = await again.communicate(b"resign yes\n")
    assert again.returncode == 0, error.decode()
    assert "Defeat." in out.decode()


async def test_watching_from_a_pipe_lists_what_runs(house: House) -> None:
    process = await house.command("watch", "--plain")
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert out.decode().strip() == "No match can be watched now."
    async with house.client("Aino") as client:
        challenge = await client.play_bot("two_towers", "random")
        async with await client.open_match(challenge.match_id) as session:
            await session.started(timeout_s=60)
            process = await house.command("watch", "--plain")
            out, _ = await process.communicate()
            assert f"watch {challenge.match_id}:" in out.decode()
            watching = await house.command("watch", challenge.match_id, "--plain")
            await session.resign()
            out, error = await watching.communicate(b"")
            assert watching.returncode == 0, error.decode()
            assert "The match is decided." in out.decode()

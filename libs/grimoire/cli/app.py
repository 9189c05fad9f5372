"""Commands and their options; the work is done in the modules beside this one, imported only when asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from grimoire.cli.say import fail, quiet_exit

__all__ = ["app"]

T = TypeVar("T")

app = typer.Typer(
    name="grimoire",
    help="Games of magic whose every match is a log that anyone can replay and audit.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # a local variable may be a seed
    pretty_exceptions_enable=False,
)

Game = Annotated[str, typer.Argument(help="The game, e.g. two_towers.")]
Language = Annotated[str, typer.Option("--lang", help="Language of texts: en or fi, or el where the game speaks it.")]
Options = Annotated[list[str], typer.Option("--option", "-o", help="An option of the game, name=value; repeat it.")]
Server = Annotated[str, typer.Option("--server", help="Edge of a server, host:port; else the stack on this machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def _run(work: Coroutine[Any, Any, int]) -> None:
    """Runs a command's work; Ctrl+C ends it without a traceback."""
    from grimoire.cli.errors import explained

    with quiet_exit(), explained():
        raise typer.Exit(asyncio.run(work))


def _named(options: list[str]) -> dict[str, str]:
    named = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name:
            fail(f"{option!r} is no option: write name=value, e.g. --option deck_type=endless", code=2)
        named[name] = value
    return named


@app.command()
def up(
    processes: Annotated[bool, typer.Option("--processes", help="One process for each service.")] = False,
) -> None:
    """Start everything on this machine and keep it running."""
    from grimoire.cli.up import up as work

    with quiet_exit():
        raise typer.Exit(work(processes=processes))


@app.command()
def play(
    game: Game = "two_towers",
    vs: Annotated[str, typer.Option("--vs", help="Play a bot: bot:random, bot:heuristic, bot:searching.")] = "",
    challenge: Annotated[bool, typer.Option("--challenge", help="Open a challenge and wait for a friend.")] = False,
    join: Annotated[str, typer.Option("--join", help="Take the other seat of a challenge.")] = "",
    match: Annotated[str, typer.Option("--match", help="Go back to a match of yours.")] = "",
    source: Annotated[
        str,
        typer.Option(
            "--from", metavar="MATCH@VERSION", help="Play on from a match that is over (or its file), unrated."
        ),
    ] = "",
    seat: Annotated[int | None, typer.Option("--seat", min=0, help="Which of your seats.")] = None,
    seats: Annotated[int, typer.Option("--seats", min=0, help="Of a new match; 1: alone. 0: the usual number.")] = 0,
    name: Annotated[str, typer.Option("--name", help="Your name, 1 to 24 characters.")] = "",
    phrase: Annotated[str, typer.Option("--phrase", help="Words of your own, mixed into your random number.")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="Lines of text instead of a full screen.")] = False,
    option: Options = [],  # noqa: B006 (typer's way to say: none)
    lang: Language = "en",
    server: Server = "",
) -> None:
    """Play in this terminal: against a bot, against a friend, or choose on the screen.

    With --from you play on from any version of a finished match: against a bot (--vs), with a guest (--challenge), or
    on all seats yourself.
    """
    from grimoire.cli.play import SEATS, Wish
    from grimoire.cli.play import play as work

    if sum(bool(w) for w in (vs, challenge, join, match)) > 1 or (source and (join or match)):
        fail("choose one of --vs, --challenge, --join and --match; --from goes with the first two", code=2)
    begun, at, version = source.rpartition("@")
    if source and not (at and begun and version.isascii() and version.isdigit()):
        fail(f"--from {source}: write --from MATCH@VERSION, e.g. the version that `grimoire replay` shows", code=2)
    if vs and not vs.startswith("bot:"):
        fail(f"--vs {vs}: write --vs bot:LEVEL, e.g. bot:heuristic", code=2)
    wish = Wish(
        game=game,
        level=vs.removeprefix("bot:"),
        challenge=challenge or (seats == 1 and not (vs or join or match or source)),
        join=join,
        match=match,
        seat=seat,
        source=begun,
        version=int(version or 0),
        name=name,
        phrase=phrase,
        plain=plain,
        options=_named(option) | ({SEATS: str(seats)} if seats else {}),
        language=lang,
        server=server,
    )
    _run(work(wish))


@app.command()
def watch(
    match: Annotated[str, typer.Argument(help="The match; without it, those that can be watched are listed.")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="Lines of text instead of a full screen.")] = False,
    lang: Language = "en",
    server: Server = "",
) -> None:
    """Watch a running match; you see what is public."""
    from grimoire.cli.play import watch as work

    _run(work(match, plain=plain, language=lang, server=server))


@app.command()
def replay(
    match: Annotated[str, typer.Argument(metavar="MATCH|FILE", help="A stored match, or an exported file.")],
    at: Annotated[int, typer.Option("--at", help="Show this version only.")] = 0,
    viewer: Annotated[str, typer.Option("--viewer", help="Through whose eyes: seat:0, seat:1, public or all.")] = "",
    output: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    lang: Language = "en",
    server: Server = "",
) -> None:
    """Show a match as it was, version by version, through any eyes that may see it."""
    from grimoire.cli.replay import replay as work

    if output not in ("text", "json"):
        fail(f"--format {output}: choose text or json", code=2)
    _run(work(match, at=at, viewer=viewer, as_json=output == "json", language=lang, server=server))


@app.command()
def export(
    match: Annotated[str, typer.Argument(help="A stored match.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    server: Server = "",
) -> None:
    """Write a match into one self-contained file that anyone can audit."""
    from grimoire.cli.audit import export as work

    _run(work(match, output, server=server))


@app.command()
def audit(
    match: Annotated[str, typer.Argument(metavar="MATCH|FILE", help="A stored match, or an exported file.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="The server's whole log, and every match in it.")] = False,
    keepsake: Annotated[Path | None, typer.Option("--keepsake", help="What your client kept of the match.")] = None,
    log_key: Annotated[str, typer.Option("--log-key", help="Key of the transparency log, if you know it.")] = "",
    checkpoint: Annotated[
        list[Path],
        typer.Option("--checkpoint", help="With --all: a checkpoint that somebody else was shown; repeat it."),
    ] = [],  # noqa: B006
    as_json: AsJson = False,
    server: Server = "",
) -> None:
    """Check a match: seeds, nonces, draws, deal, chain, log, and every command judged anew; or all matches at once.

    With --all the transparency log is read from its first leaf: its tree, signature and history, whether every promised
    match was begun and ended, every match's file, and whether all draws together look drawn.
    """
    from grimoire.cli.audit import audit as work
    from grimoire.cli.audit import audit_all

    if bool(match) == everything or (everything and keepsake) or (checkpoint and not everything):
        fail(
            "name a match or a file, or say --all (--keepsake goes with the first, --checkpoint with the last)", code=2
        )
    if everything:
        _run(audit_all(log_key=log_key, checkpoints=checkpoint, as_json=as_json, server=server))
    else:
        _run(work(match, keepsake=keepsake, log_key=log_key, as_json=as_json, server=server))


@app.command()
def simulate(
    game: Game,
    matches: Annotated[int, typer.Option("--matches", "-n", min=1, help="How many matches.")] = 100,
    bots: Annotated[str, typer.Option("--bots", help="One level for each seat, or for all.")] = "heuristic",
    seats: Annotated[int, typer.Option("--seats", min=0, help="With one bot: of a match. 0: the usual number.")] = 0,
    seed: Annotated[str, typer.Option("--seed", help="The same seed gives the same matches.")] = "0",
    processes: Annotated[int, typer.Option("--processes", min=0, help="0: one for each core.")] = 0,
    option: Options = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Let bots play in the engine alone: win rates, lengths, decisions a second."""
    from grimoire.cli.simulate import simulate as work

    with quiet_exit():
        raise typer.Exit(
            work(
                game,
                matches,
                bots.split(","),
                _named(option),
                seed=seed,
                processes=processes,
                seats=seats,
                as_json=as_json,
            )
        )


@app.command()
def simulate_queue(
    rate: Annotated[list[float], typer.Option("--rate", help="Tickets a minute; repeat it to compare.")] = [1, 4, 20],  # noqa: B006
    minutes: Annotated[int, typer.Option("--minutes", min=1, help="How long, for each rate.")] = 600,
    rating_mean: Annotated[float, typer.Option("--rating-mean", help="Of the ratings, in points.")] = 1500,
    rating_sd: Annotated[float, typer.Option("--rating-sd", help="Standard deviation of the ratings.")] = 250,
    patience: Annotated[float, typer.Option("--patience", help="Seconds people wait on average.")] = 180,
    ready: Annotated[float, typer.Option("--ready", help="Part of the ready checks that are accepted.")] = 0.95,
    answer: Annotated[float, typer.Option("--answer", help="Seconds an answer takes on average.")] = 4,
    seats: Annotated[int, typer.Option("--seats", help="Of a match.")] = 2,
    parties: Annotated[float, typer.Option("--parties", help="Part that are parties of two.")] = 0,
    seed: Annotated[str, typer.Option("--seed", help="The same seed gives the same people.")] = "0",
    as_json: AsJson = False,
) -> None:
    """Say how long people wait in quick play, and how even their matches are, for stated numbers of people."""
    from grimoire.cli.simulate_queue import simulate_queue as work
    from grimoire.quickplay import Demand

    demand = Demand(
        rating_mean=rating_mean,
        rating_sd=rating_sd,
        patience_s=patience,
        ready=ready,
        answer_s=answer,
        seats=seats,
        parties=parties,
    )
    with quiet_exit():
        raise typer.Exit(work(rate, minutes, demand, seed=seed, as_json=as_json))


@app.command()
def demo(
    game: Annotated[str, typer.Option("--game", help="The game.")] = "two_towers",
    matches: Annotated[int, typer.Option("--matches", "-n", min=1, help="How many matches.")] = 10,
    seed: Annotated[str, typer.Option("--seed", help="Of the players' choices; deals are always fair.")] = "0",
    processes: Annotated[bool, typer.Option("--processes", help="One process for each service.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play whole matches through everything, then replay and audit each; ends 0 only if all hold."""
    from grimoire.cli.demo import demo as work

    _run(work(game, matches, seed=seed, processes=processes, as_json=as_json))


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Look at this set-up, running or not, and say what to mend; ends 0 if nothing must be."""
    from grimoire.cli.doctor import doctor as work

    _run(work(as_json=as_json))


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A new folder, .tar, .tar.gz or .tgz.")],
    keys: Annotated[bool, typer.Option("--keys", help="Put the keys in: then guard it as you guard them.")] = False,
    sample: Annotated[int, typer.Option("--sample", min=0, help="Prove so many logs only; 0: all.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Copy this installation as it is at one moment, while it runs, and prove the copy."""
    from grimoire.cli.backup import backup as work

    with quiet_exit():
        raise typer.Exit(work(target, keys=keys, sample=sample or None, as_json=as_json))


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="What `grimoire backup` made.")],
    as_json: AsJson = False,
) -> None:
    """Prove a backup and put it into an empty home; nothing is ever overwritten."""
    from grimoire.cli.backup import restore as work

    with quiet_exit():
        raise typer.Exit(work(source, as_json=as_json))


@app.command()
def scenario(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Scenario files, or folders of them.")],
    as_json: AsJson = False,
) -> None:
    """Run scenario files; ends 0 only if all pass."""
    from grimoire.cli.scenario import scenario as work

    with quiet_exit():
        raise typer.Exit(work(files, as_json=as_json))

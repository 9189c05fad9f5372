"""What the command line says, and how it ends."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console

__all__ = ["ERRORS", "OUT", "fail", "file_named", "quiet_exit"]

OUT = Console()
"""Results."""
ERRORS = Console(stderr=True)
"""Everything else: progress, hints, errors."""


def fail(message: str, *, hint: str = "", code: int = 1) -> NoReturn:
    """Says what is wrong and what to do, and ends."""
    ERRORS.print(f"[bold red]{_plain(message)}[/]", highlight=False)
    if hint:
        ERRORS.print(_plain(hint), highlight=False)
    raise typer.Exit(code)


def file_named(text: str) -> Path | None:
    """The file that MATCH|FILE names; None if it is the id of a match."""
    path = Path(text)
    if path.is_file():
        return path
    if "/" in text or path.suffix:
        fail(f"There is no file {text}.", code=2)
    return None


@contextlib.contextmanager
def quiet_exit() -> Iterator[None]:
    """Ctrl+C, a closed pipe, and text that cannot be read or shown, end a command without a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        ERRORS.print("Stopped.")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise typer.Exit(141) from None
    except UnicodeEncodeError as error:
        # Everything can be put into UTF-8 but half of a character, and that came in with an argument.
        if error.encoding == "utf-8":
            fail("An argument is no text: it holds bytes that are not UTF-8.", code=2)
        fail("This terminal cannot show what is to be said.", hint="Set PYTHONIOENCODING=utf-8.")


def _plain(text: str) -> str:
    """Text of others must not be read as markup."""
    return text.replace("[", "\\[")

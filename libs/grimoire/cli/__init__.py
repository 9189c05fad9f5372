"""The `grimoire` command."""

__all__ = ["main"]


def main() -> None:
    """Entry point of the console script."""
    from grimoire.cli.app import app

    app()

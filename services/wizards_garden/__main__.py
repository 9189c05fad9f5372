"""`python -m wizards_garden`: serves this game."""

from grimoire.runtime import serve_game

if __name__ == "__main__":
    serve_game("wizards_garden")

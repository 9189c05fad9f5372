"""`python -m broom_service`: serves this game."""

from grimoire.runtime import serve_game

if __name__ == "__main__":
    serve_game("broom_service")

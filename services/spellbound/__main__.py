"""`python -m spellbound`: serves this game."""

from grimoire.runtime import serve_game

if __name__ == "__main__":
    serve_game("spellbound")

"""`python -m bots`: serves the built-in players."""

from grimoire.runtime.lifecycle import main

if __name__ == "__main__":
    main("bots", "bots.service:serve")

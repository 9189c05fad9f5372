"""`python -m replay`: serves replays until it is told to stop."""

from grimoire.runtime.lifecycle import main

if __name__ == "__main__":
    main("replay", "replay.service:serve")

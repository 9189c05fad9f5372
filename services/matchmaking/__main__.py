"""`python -m matchmaking`: serves the lobby until it is told to stop."""

from grimoire.runtime.lifecycle import main

if __name__ == "__main__":
    main("matchmaking", "matchmaking.service:serve")

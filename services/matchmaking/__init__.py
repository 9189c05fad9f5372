"""The lobby: challenges, who joins them, the matches that come of them, bots and rematches. Holds no game code."""

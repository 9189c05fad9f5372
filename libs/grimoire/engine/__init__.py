"""What a game is: the Game protocol, seats, prompts, legal actions, outcome, draws. Pure; no I/O, no clock."""

from grimoire.engine.draws import Draws
from grimoire.engine.game import (
    Bot,
    Decision,
    Folding,
    Game,
    Leaving,
    MatchFacts,
    Positions,
    Retiring,
    Setup,
    Start,
    Terminal,
    Volunteer,
    usual_seats,
)
from grimoire.engine.legal import Fixed, Legal
from grimoire.engine.outcome import Outcome, OutcomeKind
from grimoire.engine.prompts import Prompt
from grimoire.engine.rejection import Illegal
from grimoire.engine.schema import Opened, Schema, SchemaError, Split
from grimoire.engine.seats import (
    ALL,
    CLOCK,
    HOST,
    PUBLIC,
    Actor,
    ActorKind,
    CommandId,
    MatchId,
    Seat,
    Viewer,
    ViewerKind,
)
from grimoire.engine.texts import GameTexts, MarkNote

__all__ = [
    "ALL",
    "CLOCK",
    "HOST",
    "PUBLIC",
    "Actor",
    "ActorKind",
    "Bot",
    "CommandId",
    "Decision",
    "Draws",
    "Fixed",
    "Folding",
    "Game",
    "GameTexts",
    "Illegal",
    "Leaving",
    "Legal",
    "MarkNote",
    "MatchFacts",
    "MatchId",
    "Opened",
    "Outcome",
    "OutcomeKind",
    "Positions",
    "Prompt",
    "Retiring",
    "Schema",
    "SchemaError",
    "Seat",
    "Setup",
    "Split",
    "Start",
    "Terminal",
    "Viewer",
    "ViewerKind",
    "Volunteer",
    "usual_seats",
]

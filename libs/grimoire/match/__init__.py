"""What happens to one match, purely: handshake, prompts, clock, void, reveal and chain, over any game."""

from grimoire.match.clock import clock_command, due_extensions, first_expired
from grimoire.match.codes import RULES, reject
from grimoire.match.entry import Entry, opened_entry
from grimoire.match.frames import FrameFold, snapshot
from grimoire.match.parsed import Parsed
from grimoire.match.redecide import redecide
from grimoire.match.referee import Referee
from grimoire.match.rules import Rulebook, Rules, RulesNotInstalledError, created_in
from grimoire.match.state import MatchState, Occupant, OpenPrompt, Phase
from grimoire.match.step import Step

__all__ = [
    "RULES",
    "Entry",
    "FrameFold",
    "MatchState",
    "Occupant",
    "OpenPrompt",
    "Parsed",
    "Phase",
    "Referee",
    "Rulebook",
    "Rules",
    "RulesNotInstalledError",
    "Step",
    "clock_command",
    "created_in",
    "due_extensions",
    "first_expired",
    "opened_entry",
    "redecide",
    "reject",
    "snapshot",
]

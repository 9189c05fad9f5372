"""The SDK: play, watch and check matches from a program of one's own."""

from grimoire.client.client import Client
from grimoire.client.errors import Alarm, ClientError, NotSignedInError, Rejected, UnavailableError
from grimoire.client.keepsakes import Keepsakes, default_folder
from grimoire.client.session import MatchSession, Update
from grimoire.client.tables import FRIEND, MINE, OPEN, Row, bot
from grimoire.client.verify import Verdict

__all__ = [
    "FRIEND",
    "MINE",
    "OPEN",
    "Alarm",
    "Client",
    "ClientError",
    "Keepsakes",
    "MatchSession",
    "NotSignedInError",
    "Rejected",
    "Row",
    "UnavailableError",
    "Update",
    "Verdict",
    "bot",
    "default_folder",
]

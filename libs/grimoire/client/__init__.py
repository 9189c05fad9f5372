"""The SDK: play, watch and check matches from a program of one's own."""

from grimoire.client.client import Client
from grimoire.client.errors import Alarm, ClientError, NotSignedInError, Rejected, UnavailableError
from grimoire.client.keepsakes import Keepsakes, default_folder
from grimoire.client.session import MatchSession, Update
from grimoire.client.verify import Verdict

__all__ = [
    "Alarm",
    "Client",
    "ClientError",
    "Keepsakes",
    "MatchSession",
    "NotSignedInError",
    "Rejected",
    "UnavailableError",
    "Update",
    "Verdict",
    "default_folder",
]

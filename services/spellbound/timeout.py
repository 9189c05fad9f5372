"""The command played for a seat whose time is up (SB-16.9)."""

from __future__ import annotations

from google.protobuf.message import Message

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import FORTUNA, MOON, SUN
from spellbound.notions import books_on_track
from spellbound.places import BOOKS
from spellbound.state import Stage, State
from spellbound.story import too_many_cards

__all__ = ["default_command"]


def default_command(state: State) -> Message:
    """What happens if the asked seat does not answer; always legal."""
    asked = state.asked
    if asked is Stage.REACTION:
        return pb.Pass()
    if asked is Stage.CONSENT:
        return pb.AnswerRide(accept=False)
    if asked is Stage.CHOOSE_BOOK:
        nearest = max(books_on_track(state), key=lambda book: (state.books[book], -book))
        return pb.ChooseBook(book=BOOKS[nearest])
    if asked is Stage.CARD:
        return pb.EndCard()
    if asked is Stage.WITCHING:
        return pb.SendToTower(cards=[_card_to_send(state)])
    if too_many_cards(state):
        return pb.DiscardCard(card=next(card for card in state.lower if card != FORTUNA))
    return pb.EndStory()


def _card_to_send(state: State) -> str:
    display = (*state.lower, *state.upper)
    with_sun = (card for card in state.lower if SUN[card])
    return next(with_sun, None) or next(card for card in display if SUN[card] or MOON[card])

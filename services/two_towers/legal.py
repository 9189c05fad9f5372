"""What a seat may do (TT-4.3, TT-4.6): exactly the commands that `decide` accepts."""

from __future__ import annotations

from grimoire.engine import Legal
from two_towers.cards import CARDS
from two_towers.state import HAND_SIZE, Phase, State

__all__ = ["legal_commands"]


def _entry(command: str, slot: int, card: str) -> Legal:
    flags = ("act_again",) if command == "play_card" and CARDS[card].play_again else ()
    return Legal(command, (("slot", slot), ("card", card)), flags=flags, label=command)


# Every command there can ever be, made once: listing is on the path of every decision.
_PLAYS = tuple(
    {card.id: (card.stock, card.cost, _entry("play_card", slot, card.id)) for card in CARDS.values()}
    for slot in range(HAND_SIZE)
)
_DISCARDS = tuple({card: _entry("discard_card", slot, card) for card in CARDS} for slot in range(HAND_SIZE))


def legal_commands(state: State, seat: int) -> tuple[Legal, ...]:
    """Plays that can be paid, by slot, then discards, by slot; none for a seat that has nothing to decide."""
    phase = state.phase
    if seat != state.active or not (phase is Phase.MAIN or phase is Phase.FORCED_DISCARD):
        return ()
    side = state.seats[seat]
    numbers, hand = side.numbers, side.hand
    commands: list[Legal] = []
    if phase is Phase.MAIN:
        for slot, card in enumerate(hand):
            if card:
                stock, cost, play = _PLAYS[slot][card]
                if cost <= numbers[stock]:
                    commands.append(play)
    commands += [_DISCARDS[slot][card] for slot, card in enumerate(hand) if card]
    return (*commands,)

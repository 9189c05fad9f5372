"""The toy's arranged positions: `hands`, `pouch`, `round_no`, `light`, `tokens`; see `parse`."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.message import Message

from tests.support.toy import schema as pb
from tests.support.toy.rules import DEFAULTS
from tests.support.toy.state import HAND_SIZE, RUNES, TOKENS, State

_KEYS = ("hands", "pouch", "round_no", "light", "tokens")


class ToyPositions:
    """Beacon's `Positions`."""

    def parse(self, position: Mapping[str, object], options: Mapping[str, str]) -> Message:
        """Two seats; hands not named take runes in catalogue order, the pouch holds the rest.

        Raises:
            ValueError: for an unknown key.
        """
        for key in position:
            if key not in _KEYS:
                raise ValueError(f"there is no key {key!r}; the keys are {', '.join(_KEYS)}")
        chosen = {**DEFAULTS, **options}
        hands = [list(hand) for hand in position.get("hands", ([], []))]
        named = {rune for hand in hands for rune in hand}
        rest = [rune for rune in RUNES if rune not in named]
        for hand in hands:
            while len(hand) < HAND_SIZE:
                hand.append(rest.pop(0))
        pouch = list(position.get("pouch", rest))
        return pb.PositionArranged(
            mode=chosen["mode"],
            rounds=int(chosen["rounds"]),
            goal=int(chosen["goal"]),
            pouch_count=len(pouch),
            hands=[pb.SeatRunes(seat=seat, runes=hand) for seat, hand in enumerate(hands)],
            pouch=pouch,
            round_no=position.get("round_no", 1),
            light=position.get("light", 0),
            tokens=position.get("tokens", [TOKENS] * len(hands)),
        )

    def from_state(self, state: State) -> Message:
        """Beacon goes on from the beginning of a round only.

        Raises:
            ValueError: in the middle of one.
        """
        keepers = state.keepers
        if state.phase != "choose" or any(k.chosen or k.chanted or k.always_pass or k.score for k in keepers):
            raise ValueError("Beacon goes on from the beginning of a round, before anybody has scored.")
        return pb.PositionArranged(
            mode=state.mode,
            rounds=state.rounds,
            goal=state.goal,
            pouch_count=len(state.pouch),
            hands=[pb.SeatRunes(seat=seat, runes=keeper.hand) for seat, keeper in enumerate(keepers)],
            pouch=state.pouch,
            round_no=state.round_no,
            light=state.light,
            tokens=[keeper.tokens for keeper in keepers],
        )

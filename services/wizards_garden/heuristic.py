"""The heuristic player (WG-20): tries what it may do, lets actions and battles run on, and values the position."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Final

from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.appraisal import Appraisal, Weights, best_defence, likelihood, threat_worth
from wizards_garden.board import ADJACENT, FOR_PESTS, IS_DEPOSIT, SPACE_INDEX, TERRACE_DEPOSIT
from wizards_garden.casting import spells_worth_trying
from wizards_garden.draft import Draft
from wizards_garden.legal import legal_commands
from wizards_garden.outlook import Chance, complete, tried
from wizards_garden.pieces import CARD_KIND, FIRE, FIRST_PEST, GNOME, GNOMES_EACH, KINDS, PEST, SPIRIT, WATER
from wizards_garden.reach import PESTS
from wizards_garden.state import DIM_ON_BOARD, LIT, NO_ONE, Action, Source, Stage, State

__all__ = ["Heuristic", "Ranked"]

Ranked = list[tuple[float, Message]]
"""Commands and what they lead to, the best first."""

WEIGHTS: Final = Weights()
"""WG-20's, but for what matches between players with other weights have shown to be better."""

NOISE: Final = 0.5
"""WG-20."""

_WON: Final = 10_000.0
_LIKED: Final = {GNOME: 5.0, FIRE: 4.0, WATER: 3.0, PEST: 2.0, SPIRIT: 1.0}
"""How good it is to have a kind's action at hand, in the preparation."""

_CARD_UNSEEN: Final = 0.9
"""What a card of the deck may turn out to be good for."""

_LIGHT_AT_HAND: Final = 14.0
"""What Eye adds that makes a pair before the wizard phase."""

_WIZARD_PHASE: Final = 12.0
"""What the wizard phase is usually worth, which Butterfly forgoes."""


@functools.cache
def _appraisal(weights: Weights) -> Appraisal:
    return Appraisal(weights)


class Heuristic:
    """The player.

    Args:
        chance: for what the tried commands would draw, and for the noise.
        weights: what it values.
        noise: choices so near, in points, are taken now this, now that way: two players do not repeat themselves.
    """

    def __init__(self, chance: Chance, weights: Weights = WEIGHTS, noise: float = NOISE) -> None:
        self._chance = chance
        self._noise = noise
        self._appraisal = _appraisal(weights)
        self._known: dict[tuple[State, int], Ranked] = {}
        """Steps that were valued before: those of an action are asked for again once it has been chosen."""

    def choose(self, state: State) -> Message:
        """The asked seat's best command."""
        return self.ranked(state)[0][1]

    def ranked(self, state: State) -> Ranked:
        """The asked seat's commands that are worth a thought, the best first; there is always one."""
        stage, me = state.stage, state.asked
        if stage is Stage.PREPARATION:
            ranked = self._preparations(state, me)
        elif stage is Stage.ACTION or stage is Stage.BUTTERFLY:
            ranked = self._steps(state, me)
        elif stage is Stage.WIZARD_START or stage is Stage.WIZARD_MAIN:
            ranked = self._wizard(state, me)
        else:
            ranked = self._tried(state, me, self._plain(state, me))
        if stage not in (Stage.PREPARATION, Stage.ACTION, Stage.BUTTERFLY):
            self._add_spells(state, me, ranked)
        if self._noise:
            ranked = [(worth + self._noise * self._chance.random(), command) for worth, command in ranked]
        ranked.sort(key=_worth, reverse=True)
        return ranked

    def worth(self, draft: Draft, me: int) -> float:
        """The points of a position, one that is decided included."""
        result = draft.result
        if result is not None:
            return 0.0 if result.winner is None else _WON if result.winner == me else -_WON
        return self._appraisal.worth(draft, me)

    # ---- trying ------------------------------------------------------------------------------------------------------

    def _tried(self, state: State, me: int, commands: Iterable[Message]) -> Ranked:
        ranked: Ranked = []
        for command in commands:
            draft = tried(state, command, self._chance)
            if draft is not None:
                ranked.append((self._settled(draft, me), command))
        return ranked

    def _plain(self, state: State, me: int) -> Iterator[Message]:
        """Everything but spells."""
        return complete(entry for entry in legal_commands(state, me) if not entry.type.startswith("cast_"))

    def _settled(self, draft: Draft, me: int) -> float:
        """The worth of a position once what is under way has run on."""
        stage = draft.stage
        if stage is Stage.ACTION or stage is Stage.BUTTERFLY:
            return self._after_action(draft.freeze(), me)
        if stage is Stage.DEFENCE or stage is Stage.AFTER_BATTLE:
            state = draft.freeze()
            asked = state.asked
            replies = self._tried(state, asked, self._plain(state, asked))
            best = max([worth for worth, _ in replies])
            if asked == me:
                return best
            reply = next(command for worth, command in replies if worth == best)
            answered = tried(state, reply, self._chance)
            return self._settled(answered, me) if answered is not None else best
        if stage is Stage.WIZARD_PENDING:
            return self._after_pending(draft.freeze(), me)
        return self.worth(draft, me)

    def _after_action(self, state: State, me: int) -> float:
        while True:
            worth, command = max(self._steps(state, me), key=_worth)
            draft = tried(state, command, self._chance)
            if draft is None:
                return worth
            if draft.stage not in (Stage.ACTION, Stage.BUTTERFLY):
                return self._settled(draft, me)
            state = draft.freeze()

    def _after_pending(self, state: State, me: int) -> float:
        """All that is pending, one after the other."""
        while state.stage is Stage.WIZARD_PENDING:
            draft = tried(state, pb.StartAction(index=state.pending[0].index), self._chance)
            while draft is not None and draft.stage is Stage.ACTION:
                state = draft.freeze()
                draft = tried(state, max(self._steps(state, me), key=_worth)[1], self._chance)
            if draft is None:
                break
            state = draft.freeze()
        return self.worth(Draft(state), me)

    # ---- steps -------------------------------------------------------------------------------------------------------

    def _steps(self, state: State, me: int) -> Ranked:
        """The steps of an action, each valued with what another step may make of it."""
        key = replace(state, events=0), me
        known = self._known.get(key)
        if known is None:
            drawn = self._chance.drawn
            known = self._steps_tried(state, me)
            if self._chance.drawn == drawn:  # else another try may come out otherwise
                self._known[key] = known
        return [*known]

    def _steps_tried(self, state: State, me: int) -> Ranked:
        before = self.worth(Draft(state), me)
        ranked: Ranked = []
        spare = _least_useful(state, me) if state.stage is Stage.BUTTERFLY else ""
        for command in self._plain(state, me):
            if spare and getattr(command, "discard", spare) != spare:
                continue
            if isinstance(command, pb.BringPest) and not _is_of_use(state, me, SPACE_INDEX[command.to]):
                continue
            if isinstance(command, pb.EndAction):
                ranked.append((before - 0.01, command))
            elif isinstance(command, pb.DrawSpirit) and command.source == "deck":
                ranked.append((before + _unseen_card(state, me, command), command))
            else:
                draft = tried(state, command, self._chance)
                if draft is not None:
                    ranked.append((self.worth(draft, me) + _prospect(draft, me), command))
        return ranked

    # ---- preparation and wizard phase --------------------------------------------------------------------------------

    def _preparations(self, state: State, me: int) -> Ranked:
        """The kinds whose actions will be at hand; one lantern's, and the spirits' two steps."""
        hand = state.seats[me].hand
        ranked: Ranked = []
        for one, two in itertools.combinations(hand, 2):
            kinds = CARD_KIND[one], CARD_KIND[two]
            spirits = sum(_LIKED[kind] for kind in {*kinds}) / 2
            for kind in {*kinds}:
                ranked.append((_LIKED[kind] + spirits, pb.Prepare(spirits=[one, two], kind=KINDS[kind])))
        return ranked

    def _wizard(self, state: State, me: int) -> Ranked:
        """The choices of the wizard phase. What an action is worth does not hang on where it comes from."""
        seat = state.seats[me]
        now = self.worth(Draft(state), me)
        spirits = [CARD_KIND[card] for card in seat.spirits]
        swaps = [*dict.fromkeys(CARD_KIND[card] for card in seat.hand)] if state.stage is Stage.WIZARD_START else []
        two_steps = {kind: self._gain(state, me, now, kind, 2) for kind in {*spirits, *swaps}}
        one_step = {kind: self._gain(state, me, now, kind, 1) for kind in range(len(KINDS)) if kind not in spirits}
        ranked: Ranked = [(now - 0.01, pb.EndPhase())]
        ranked += [
            (now + two_steps[kind], pb.SpiritAction(slot=slot))
            for slot, kind in enumerate(spirits)
            if kind not in spirits[:slot]
        ]
        ranked += [(now + gain, pb.MagicianAction(kind=KINDS[kind])) for kind, gain in one_step.items()]
        ranked += self._tried(state, me, [pb.LightWithPair()] if spirits[0] == spirits[1] else [])
        best_step = max(one_step.values(), default=0.0)
        for kind in swaps:
            card = next(card for card in seat.hand if CARD_KIND[card] == kind)
            for slot in range(2):
                if kind != spirits[slot]:
                    ranked += self._swap(state, me, slot, card, two_steps, best_step)
        return ranked

    def _swap(
        self, state: State, me: int, slot: int, card: str, two_steps: dict[int, float], best_step: float
    ) -> Ranked:
        """A swap, and the best that may follow it."""
        command = pb.SwapSpirit(slot=slot, card=card)
        draft = tried(state, command, self._chance)
        if draft is None:
            return []
        now = self.worth(draft, me)
        one, two = (CARD_KIND[held] for held in draft.spirits[me])
        gain = max(two_steps[one], two_steps[two], best_step)
        if one == two and draft.lanterns[me][one] == DIM_ON_BOARD:
            lit = tried(draft.freeze(), pb.LightWithPair(), self._chance)
            if lit is not None:
                gain = max(gain, self._settled(lit, me) - now)
        return [(now + gain, command)]

    def _gain(self, state: State, me: int, now: float, kind: int, steps: int) -> float:
        """What an action of this kind would add."""
        source = Source.SPIRIT if steps == 2 else Source.MAGICIAN
        acting = replace(state, stage=Stage.ACTION, action=Action(source.value, kind, steps, steps))
        return self._after_action(acting, me) - now

    # ---- spells ------------------------------------------------------------------------------------------------------

    def _add_spells(self, state: State, me: int, ranked: Ranked) -> None:
        """Spells that take a choice's place are valued like it; others by what they add to the best choice."""
        if not state.seats[me].spells:
            return
        best = max([worth for worth, _ in ranked])
        now = self.worth(Draft(state), me)
        for command, instead in spells_worth_trying(state, me):
            draft = tried(state, command, self._chance)
            if draft is None:
                continue
            worth = self._settled(draft, me)
            if isinstance(command, pb.CastButterfly):
                worth -= _WIZARD_PHASE
            elif isinstance(command, pb.CastEye):
                worth += _pair_at_hand(draft, me) - _pair_at_hand(Draft(state), me)
            ranked.append((worth if instead else best + worth - now, command))


def _worth(entry: tuple[float, Message]) -> float:
    return entry[0]


def _least_useful(state: State, me: int) -> str:
    """The card of the hand that Butterfly costs least (WG-13.5): it fits no spirit, or its action is liked least."""
    seat = state.seats[me]
    spirits = [CARD_KIND[card] for card in seat.spirits]
    return min(seat.hand, key=lambda card: (CARD_KIND[card] in spirits, _LIKED[CARD_KIND[card]]))


def _pair_at_hand(draft: Draft, me: int) -> float:
    """In the wizard phase a pair may be lit at once."""
    one, two = (CARD_KIND[card] for card in draft.spirits[me])
    lanterns = draft.lanterns[me]
    return _LIGHT_AT_HAND if one == two and lanterns[one] == DIM_ON_BOARD and LIT not in lanterns else 0.0


def _unseen_card(state: State, me: int, command: pb.DrawSpirit) -> float:
    """What a card of the deck adds, whichever it is; a card that is given up for it should not fit a pair."""
    seat = state.seats[me]
    if not command.discard:
        return _CARD_UNSEEN + (1.5 if len(seat.hand) < 3 else 0.0)
    kind = CARD_KIND[command.discard]
    fits = kind in [CARD_KIND[card] for card in seat.spirits] and seat.lanterns[kind] == DIM_ON_BOARD
    return 0.1 - 5.0 * fits


def _prospect(draft: Draft, me: int) -> float:
    """What the next step of the same action may win: a threat by a piece that has come near."""
    action = draft.action
    if action is None or action.left == 0:
        return 0.0
    if action.kind == PEST:
        return max([_pest_prospect(draft, me, place) for place in {draft.places[pest] for pest in PESTS}])
    if action.kind == GNOME and action.source != Source.BUTTERFLY and action.gnome == NO_ONE:
        return _gnome_prospect(draft, me, action)
    return 0.0


def _is_of_use(state: State, me: int, space: int) -> bool:
    """A pest that is only brought is of use with another step, beside a gnome of the other seat."""
    action = state.action
    if action is None or action.left < 2:
        return False
    return any(
        there and there[0] // GNOMES_EACH == 1 - me and FOR_PESTS[beside]
        for beside in ADJACENT[space]
        if (there := state.standing[beside])
    )


def _pest_prospect(draft: Draft, me: int, place: int) -> float:
    if place < 0:
        return 0.0
    strength, best = len(draft.standing[place]), 0.0
    for target in ADJACENT[place]:
        there = draft.standing[target]
        if (
            len(there) == 1
            and there[0] < FIRST_PEST
            and there[0] // GNOMES_EACH != me
            and target not in TERRACE_DEPOSIT
        ):
            best = max(best, _threat(draft, me, target, strength))
    return best


def _gnome_prospect(draft: Draft, me: int, action: Action) -> float:
    best = 0.0
    if not draft.fire[me]:
        return best
    first = me * GNOMES_EACH
    for gnome in range(first, first + GNOMES_EACH):
        place = draft.places[gnome]
        if place < 0 or gnome in action.moved or draft.bears[gnome] != NO_ONE or len(draft.standing[place]) != 1:
            continue
        for target in ADJACENT[place]:
            there = draft.standing[target]
            if there and (there[0] >= FIRST_PEST or there[0] // GNOMES_EACH != me) and IS_DEPOSIT[target]:
                best = max(best, _threat(draft, me, target, draft.fire[me]))
    return best


def _threat(draft: Draft, me: int, target: int, strength: int) -> float:
    if any(group.target == target for group in draft.groups):
        return 0.0
    return 0.9 * threat_worth(draft, me, target) * likelihood(strength, best_defence(draft, target, 1 - me))

"""The toy as a `Game`."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.message import DecodeError, Message

from grimoire.engine import (
    Actor,
    Decision,
    Draws,
    Illegal,
    Leaving,
    Legal,
    MatchFacts,
    Outcome,
    OutcomeKind,
    Prompt,
    Schema,
    Seat,
    Setup,
    Start,
    Viewer,
    ViewerKind,
)
from grimoire.fairness import rules_digest
from grimoire.v1 import match_pb2, prompt_pb2
from tests.support.toy import schema as pb
from tests.support.toy.state import HAND_SIZE, RUNES, Keeper, State, evolve, least_stake

DEFAULTS = {"mode": "coop", "rounds": "2", "goal": "12", "choose_s": "30", "react_s": "10"}
_LEAVING = {
    "coop": Leaving.GAME,
    "duel": Leaving.GAME,
    "party": Leaving.VOTED,
    "melee": Leaving.REPLACED,
    "league": Leaving.RETIRES,
}
"""By mode. In `party` all keepers win or lose together, in `melee` and `league` each plays for itself."""
_TOGETHER = ("coop", "party")
_RANGES = {"rounds": (1, 3), "goal": (1, 99), "choose_s": (5, 86400), "react_s": (5, 86400)}


class Toy:
    """Beacon, rules version 1."""

    id: str = "toy"
    rules_version: int = 1
    catalog_version: str = "1"
    rules_digest: bytes = rules_digest("toy", 1, {"runes": repr(RUNES).encode()})
    min_seats: int = 1
    max_seats: int = 5
    schema: Schema = Schema([pb.DESCRIPTOR])
    view_type: type[Message] = pb.View
    standing: frozenset[str] = frozenset({"set_stance"})

    def configure(self, options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
        if not self.min_seats <= seats <= self.max_seats:
            return _bad_option("seats", "Beacon is for one to five seats.")
        for name in options:
            if name not in DEFAULTS:
                return _bad_option(name, "There is no such option.")
        chosen = {**DEFAULTS, **options}
        if chosen["mode"] not in _LEAVING:
            return _bad_option("mode", f"mode is one of {', '.join(_LEAVING)}.")
        for name, (low, high) in _RANGES.items():
            if not (chosen[name].isascii() and chosen[name].isdigit() and low <= int(chosen[name]) <= high):
                return _bad_option(name, f"{name} is {low} to {high}.")
        if seats * (HAND_SIZE + int(chosen["rounds"]) - 1) > len(RUNES):
            return _bad_option("rounds", "There are not runes enough for so many seats and rounds.")
        seconds = (("turn", int(chosen["choose_s"])), ("reaction", int(chosen["react_s"])))
        leaving = _LEAVING[chosen["mode"]]
        difficulty = ("goal", "rounds") if leaving is Leaving.VOTED else ()
        return MatchFacts(tuple(chosen.items()), seconds, leaving=leaving, difficulty=difficulty)

    def initial(self, setup: Setup) -> State:
        return State((Keeper(),) * setup.seats)

    def start(self, setup: Setup, draws: Draws) -> Start[State] | Illegal:
        if setup.position:
            return self._start_arranged(setup, draws)
        options = setup.options
        runes = draws.shuffle("deck", list(RUNES))
        hands = [runes[seat :: setup.seats][:HAND_SIZE] for seat in range(setup.seats)]
        pouch = runes[setup.seats * HAND_SIZE :]
        dealt = pb.RunesDealt(
            mode=options["mode"],
            rounds=int(options["rounds"]),
            goal=int(options["goal"]),
            pouch_count=len(pouch),
            hands=[pb.SeatRunes(seat=seat, runes=hand) for seat, hand in enumerate(hands)],
            pouch=pouch,
        )
        table = _Table(self.initial(setup), draws)
        table.add(dealt)
        table.add(pb.RoundStarted(round_no=1))
        return Start((options["mode"], ",".join(runes)), tuple(table.events), table.state)

    def _start_arranged(self, setup: Setup, draws: Draws) -> Start[State] | Illegal:
        try:
            position = pb.PositionArranged.FromString(setup.position)
        except DecodeError:
            return Illegal("bad_position", "TOY-2", "This is no position of Beacon.")
        runes = [rune for hand in position.hands for rune in hand.runes] + list(position.pouch)
        if [h.seat for h in position.hands] != list(range(setup.seats)) or len(position.tokens) != setup.seats:
            return Illegal("bad_position", "TOY-2", "A position has one hand and one count of tokens for each seat.")
        if len(set(runes)) != len(runes) or not set(runes) <= RUNES.keys():
            return Illegal("bad_position", "TOY-2", "A position holds each rune at most once.")
        table = _Table(self.initial(setup), draws)
        table.add(position)
        table.add(pb.RoundStarted(round_no=position.round_no))
        return Start((position.mode, ",".join(runes)), tuple(table.events), table.state)

    def decide(
        self, state: State, actor: Actor, command: Message, prompt: Prompt | None, draws: Draws
    ) -> Decision[State] | Illegal:
        table = _Table(state, draws)
        refused = table.judge(actor, command, prompt)
        return refused if refused is not None else Decision(tuple(table.events), table.state)

    def evolve(self, state: State, event: Message) -> State:
        return evolve(state, event)

    def prompts(self, state: State) -> tuple[Prompt, ...]:
        if state.phase == "choose":
            asked = [Prompt(Seat(s), "choose", state.round_no) for s, k in enumerate(state.keepers) if not k.chosen]
            offers = [
                Prompt(Seat(s), "chant", state.round_no, "", required=False)
                for s, k in enumerate(state.keepers)
                if not k.chanted
            ]
            return (*asked, *offers)
        if state.phase == "stack":
            return (Prompt(Seat(state.asked), "reaction", state.stack[-1].serial, "reaction"),)
        return ()

    def legal(self, state: State, seat: Seat, prompt: Prompt) -> tuple[Legal, ...]:
        if prompt.kind == "chant":
            return (Legal("chant"),)
        keeper = state.keepers[seat]
        if prompt.kind == "choose":
            candidates = [f"rune:{rune}" for rune in keeper.hand]
            return (
                Legal("choose_rune", slots=(prompt_pb2.Slot(field="rune", one=prompt_pb2.One(candidates=candidates)),)),
            )
        stakes = prompt_pb2.NumberRange(min=least_stake(state), max=keeper.tokens)
        return (Legal("let_pass"), Legal("counter", slots=(prompt_pb2.Slot(field="stake", number=stakes),)))

    def view(self, state: State, viewer: Viewer) -> Message:
        everything = viewer.kind is ViewerKind.ALL
        own = viewer.seat if viewer.kind is ViewerKind.SEAT else None
        return pb.View(
            own_seat=own,
            phase=state.phase,
            mode=state.mode,
            round_no=state.round_no,
            rounds=state.rounds,
            goal=state.goal,
            light=state.light,
            seats=[_seat_view(s, k, everything or s == own) for s, k in enumerate(state.keepers)],
            stack=[
                pb.Spell(serial=s.serial, seat=s.seat, rune=s.rune, stake=s.stake, target=s.target) for s in state.stack
            ],
            pouch_count=len(state.pouch),
            pouch=state.pouch if everything else (),
            kind=state.kind,
            reason=state.reason,
        )

    def outcome(self, state: State) -> Outcome | None:
        if not state.kind:
            return None
        return Outcome(OutcomeKind[state.kind.upper()], state.ranks, (state.reason,))


class _Table:
    """Events and the state they lead to."""

    def __init__(self, state: State, draws: Draws) -> None:
        self.state = state
        self.events: list[Message] = []
        self._draws = draws

    def add(self, event: Message) -> None:
        self.events.append(event)
        self.state = evolve(self.state, event)

    # ---- judging -------------------------------------------------------------------------------------------------

    def judge(self, actor: Actor, command: Message, prompt: Prompt | None) -> Illegal | None:
        if isinstance(command, match_pb2.Resign):
            return self._resign(actor.seat)
        if isinstance(command, pb.SetStance):
            return self._set_stance(actor.seat, command.always_pass)
        if prompt is None:
            raise AssertionError("every other command answers a prompt")
        if isinstance(command, match_pb2.Expire):
            return self._expire(prompt)
        if isinstance(command, pb.ChooseRune) and prompt.kind == "choose":
            if command.rune not in self.state.keepers[prompt.seat].hand:
                return Illegal("not_in_hand", "TOY-3", "Choose a rune of your hand.")
            return self._choose(prompt.seat, command.rune, "chosen")
        if isinstance(command, pb.Chant) and prompt.kind == "chant":
            return self.add(pb.Chanted(seat=prompt.seat, tokens=self.state.keepers[prompt.seat].tokens + 1))
        if isinstance(command, pb.LetPass) and prompt.kind == "reaction":
            return self._pass(prompt.seat, "chosen")
        if isinstance(command, pb.Counter) and prompt.kind == "reaction":
            return self._counter(prompt.seat, command.stake)
        return Illegal("wrong_command", "TOY-3", "This does not answer what you are asked.")

    def _expire(self, prompt: Prompt) -> None:
        if prompt.kind == "choose":  # TOY-3
            hand = self.state.keepers[prompt.seat].hand
            self._choose(prompt.seat, min(hand, key=lambda rune: (RUNES[rune], rune)), "timeout")
        else:
            self._pass(prompt.seat, "timeout")

    def _choose(self, seat: int, rune: str, cause: str) -> None:
        self.add(pb.RuneChosen(seat=seat, cause=cause, rune=rune))
        if all(k.chosen for k in self.state.keepers):
            shown = [pb.SeatRune(seat=s, rune=k.chosen) for s, k in enumerate(self.state.keepers)]
            self.add(pb.RunesShown(shown=shown))
            self._settle()

    def _counter(self, seat: int, stake: int) -> Illegal | None:
        tokens = self.state.keepers[seat].tokens
        if not least_stake(self.state) <= stake <= tokens:  # TOY-5
            return Illegal("bad_stake", "TOY-5", f"Stake {least_stake(self.state)} to {tokens} tokens.")
        top = self.state.stack[-1].serial
        self.add(pb.Countered(seat=seat, serial=self.state.serials + 1, target=top, stake=stake, tokens=tokens - stake))
        return self._settle()

    def _pass(self, seat: int, cause: str) -> None:
        self.add(pb.PassedOn(seat=seat, serial=self.state.stack[-1].serial, cause=cause))
        self._resolve()
        self._settle()

    def _set_stance(self, seat: int, always_pass: bool) -> None:
        if self.state.keepers[seat].always_pass != always_pass:
            self.add(pb.StanceSet(seat=seat, always_pass=always_pass))
            self._settle()

    def _resign(self, seat: int) -> None:
        seats = range(len(self.state.keepers))
        if self.state.mode in _TOGETHER:
            self.add(pb.BeaconClosed(kind="coop_lost", ranks=[1 for _ in seats], reason="resigned"))
        else:
            kind = "win" if len(seats) == 2 else "shared"
            self.add(
                pb.BeaconClosed(kind=kind, ranks=[len(seats) if s == seat else 1 for s in seats], reason="resigned")
            )

    # ---- what follows by itself ----------------------------------------------------------------------------------

    def _settle(self) -> None:
        """The stack burns down until somebody is asked; then the round ends (TOY-4)."""
        while self.state.phase == "stack" and self.state.stack:
            asked = self.state.keepers[self.state.asked]
            if asked.tokens >= least_stake(self.state) and not asked.always_pass:
                return
            cause = "stance" if asked.always_pass else "unable"
            self.add(pb.PassedOn(seat=self.state.asked, serial=self.state.stack[-1].serial, cause=cause))
            self._resolve()
        if self.state.phase == "stack":
            self._end_round()

    def _resolve(self) -> None:
        top = self.state.stack[-1]
        if top.stake:
            self.add(pb.SpellUndone(serial=top.target, by=top.serial))
            return
        omen = self._draws.below(f"omen/{top.serial}", 3)  # TOY-6
        worth = RUNES[top.rune] + omen
        self.add(
            pb.RuneBurnt(
                seat=top.seat,
                serial=top.serial,
                rune=top.rune,
                omen=omen,
                light=self.state.light + worth,
                score=self.state.keepers[top.seat].score + worth,
            )
        )

    def _end_round(self) -> None:
        state = self.state
        if state.round_no >= state.rounds:
            self._close()
            return
        drawn = [pb.SeatRune(seat=s, rune=state.pouch[s]) for s in range(len(state.keepers))]
        self.add(pb.RunesDrawn(pouch_count=len(state.pouch) - len(drawn), drawn=drawn))
        self.add(pb.RoundStarted(round_no=state.round_no + 1))

    def _close(self) -> None:
        """TOY-7."""
        state = self.state
        if state.mode in _TOGETHER:
            won = state.light >= state.goal
            ranks = [1] * len(state.keepers)
            self.add(pb.BeaconClosed(kind="coop_won" if won else "coop_lost", ranks=ranks, reason="light"))
            return
        scores = [k.score for k in state.keepers]
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        best = ranks.count(1)
        kind = "win" if best == 1 else "draw" if best == len(ranks) else "shared"
        self.add(pb.BeaconClosed(kind=kind, ranks=ranks, reason="score"))


def _seat_view(seat: int, keeper: Keeper, is_open: bool) -> Message:
    return pb.SeatView(
        seat=seat,
        hand_count=len(keeper.hand),
        hand=keeper.hand if is_open else (),
        tokens=keeper.tokens,
        score=keeper.score,
        always_pass=keeper.always_pass,
        chanted=keeper.chanted,
        has_chosen=bool(keeper.chosen),
        chosen=keeper.chosen if is_open else "",
    )


def _bad_option(field: str, sentence: str) -> Illegal:
    return Illegal("bad_option", "TOY-1", sentence, field=field)

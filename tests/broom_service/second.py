"""The rules of Broom Service told a second time, from their text alone: who may send what, and all that comes of it.

It shares nothing with the game but the data file and the messages. A `Reading` begins with what a deal, or an arranged
position, shows; then it follows a match command by command. What chance decides (BS-13) it is told. Where the rules
leave the order of two events of one command open it has the game's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from google.protobuf.message import Message

import broom_service
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.v1 import match_pb2

DATA: Final = json.loads((Path(broom_service.__file__).parent / "data" / "broom_service.json").read_text())
KINDS: Final = ("orange", "green", "purple", "wand")
ROLES: Final = {role["id"]: role for role in DATA["roles"]}
ORDER: Final = [*ROLES]
EVENTS: Final = {event["id"]: event for event in DATA["events"]}
CLOUDS: Final = {cloud["id"]: cloud for cloud in (*DATA["heavy_clouds"], *DATA["storm_clouds"])}
TILES: Final = {tile["id"]: tile for tiles in DATA["landscape_tiles"].values() for tile in tiles}
FOREST: Final = ("f_heart_1", "f_heart_2", "f_card_1", "f_card_2", "f_five_1", "f_five_2")
LIGHTNING: Final = (0, 1, 2, 4, 6, 9, 12, 15, 19, 23, 27, 31, 35, 40, 45, 50)
AMULETS: Final = (0, 4, 9, 15)
COUNT_VP: Final = {1: 6, 2: 4, 3: 2, 4: 0, 5: -2}

BY_TILE: Final[dict[str, dict[str, Any]]] = {
    "m_potions": {"kind": "gather", "take": {"orange": 1, "green": 1, "purple": 1}},
    "m_wands": {"kind": "gather", "take": {"wand": 2}},
    "m_deliver": {"kind": "deliver"},
    "m_moves": {"kind": "move", "moves": 2, "terrains": []},
    "m_dispel": {"kind": "dispel"},
}
"""BS-8.5 (a)."""

Told = tuple[str, dict[str, Any]]
"""An event: its name, and its fields that have a value."""


def held(**amounts: int) -> dict[str, int]:
    """So many of each resource."""
    return {kind: amounts.get(kind, 0) for kind in KINDS}


def in_order(roles: Iterable[str]) -> list[str]:
    """In catalogue order."""
    return sorted(roles, key=ORDER.index)


class Side:
    """One side of the board (BS-2.8)."""

    def __init__(self, name: str) -> None:
        [board] = [board for board in DATA["boards"] if board["id"] == name]
        self.terrain = {region["id"]: region["terrain"] for region in board["regions"]}
        self.near = {region["id"]: region["adjacent"] for region in board["regions"]}
        self.spaces = {space["id"]: space["region"] for space in board["cloud_spaces"]}
        self.towers = {tower["id"]: tower for tower in board["towers"]}
        self.circles = {region["stone_circle"]: region["id"] for region in board["regions"] if region["stone_circle"]}


class Reading:
    """A match as the rules tell it."""

    def __init__(self, event: pb.PositionArranged | pb.TableLaid, stacks: pb.StacksOrdered | None) -> None:
        self.side = Side(event.board)
        self.n = len(event.seats)
        self.vp = [seat.vp for seat in event.seats]
        self.held = [{kind: getattr(seat.resources, kind) for kind in KINDS} for seat in event.seats]
        self.pawns = [[*seat.pawns] for seat in event.seats]
        self.limit = event.timeout_limit
        self.clouds = {placed.space: placed.cloud for placed in event.clouds if placed.cloud}
        self.tiles = {placed.region: placed.tile for placed in event.tiles}
        self.covered = {*event.covered_towers}
        self.occupied: set[str] = set()
        self.charmed: list[list[str]] = [[] for _ in range(self.n)]
        self.amulets: list[list[str]] = [[] for _ in range(self.n)]
        self.forest: list[list[str]] = [[] for _ in range(self.n)]
        self.late, self.gone = [0] * self.n, [False] * self.n
        self.hands: list[list[str]] = [[] for _ in range(self.n)]
        self.sealed: dict[int, Any] = {}
        self.waiting: list[int] = []
        self.steps: list[dict[str, Any]] = []
        self.numbers = [0, 0]
        self.trick, self.brave_done = 0, False
        self.said: list[int] = []
        self.brave: int | None = None
        self.last: tuple[int, int | None] | None = None
        """Leader of the last trick that was played in the round, and who was brave at its end."""
        self.led: list[str] = []
        self.now = ""
        self.over = False
        self.told: list[Told] = []
        self.shuffled: Iterator[list[str]] = iter(())
        self.leader = event.first_seat
        self.round, self.shuffles = 0, 1
        self.bewitched: list[str] = []
        if stacks is not None:
            self.coming, self.stack = [*stacks.events], [*stacks.bewitched]
        else:
            assert isinstance(event, pb.PositionArranged)
            self._arrange(event)

    def _arrange(self, event: pb.PositionArranged) -> None:
        assert event.stage in ("lead", "choose")
        self.occupied |= {*event.occupied_towers}
        for seat, each in enumerate(event.seats):
            self.charmed[seat], self.amulets[seat] = [*each.clouds], [*each.amulets]
            self.forest[seat], self.late[seat], self.gone[seat] = [*each.forest_tiles], each.timeouts, each.retired
            self.hands[seat] = [*event.hands[seat].roles]
        self.coming = [event.event, *event.events_to_come]
        self.stack, self.bewitched = [*event.bewitched_stack], [*event.bewitched]
        self.round, self.shuffles, self.leader = event.round, event.bewitched_shuffles, event.leader
        self.now, self.trick, self.waiting = event.stage, event.trick_no, [*event.waiting]
        self.led = [play.role for play in event.plays if not play.passed]
        self.last = (event.leader, None) if self.led else None

    @property
    def event(self) -> str:
        """Of the round."""
        return self.coming[0]

    # ---- telling -----------------------------------------------------------------------------------------------------

    def tell(self, name: str, **fields: Any) -> None:
        """An event; fields without a value are left out."""
        self.told.append((name, {key: value for key, value in fields.items() if value not in (0, "", None, [], False)}))

    def points(self, seat: int, delta: int, reason: str) -> None:
        """VP change; no change is told by nothing (BS-11.3)."""
        self.vp[seat] += delta
        if delta:
            self.tell("vp_changed", seat=seat, delta=delta, vp=self.vp[seat], reason=reason)

    def goods(self, seat: int, reason: str, **by: int) -> None:
        """Resources change."""
        for kind, amount in by.items():
            self.held[seat][kind] += amount
        by = {kind: amount for kind, amount in by.items() if amount}
        if by:
            self.tell("resources_changed", seat=seat, deltas=by, reason=reason)

    def begin(self) -> list[Told]:
        """The first round of a deal."""
        self.told = []
        self._open_round()
        return self.told

    # ---- rounds (BS-4) -----------------------------------------------------------------------------------------------

    def _open_round(self) -> None:
        if self.last is not None and not self.said:  # BS-4.6: the trick that nobody led was none
            before, brave = self.last
            self.leader = before if brave is None or self.gone[brave] else brave
        self.last = None
        self.round += 1
        self.trick, self.led, self.said, self.brave = 0, [], [], None
        self.tell("round_started", round=self.round, event=self.event, leader=self.leader)
        self.bewitched, wanted = [], 5 - self.n
        while len(self.bewitched) < wanted:  # BS-4.2
            if not self.stack:
                self.shuffles += 1
                self.stack = next(self.shuffled)
                assert sorted([*self.stack, *self.bewitched]) == sorted(ORDER)
                self.tell("bewitched_shuffled", n=self.shuffles, count=len(self.stack), roles=[*self.stack])
            opened = self.stack[: wanted - len(self.bewitched)]
            self.stack = self.stack[len(opened) :]
            self.bewitched += opened
            self.tell("bewitched_revealed", roles=opened)
        self._ask("choose", [seat for seat in range(self.n) if not self.gone[seat]])

    def _ask(self, kind: str, seats: list[int]) -> None:
        self.now, self.waiting, self.sealed = kind, [*seats], {}
        self.tell("seats_asked", stage=kind, seats=seats)

    def _all_chosen(self) -> None:
        if self.event == "more_or_less":  # BS-9.1
            counts = [len(hand) for hand in self.hands]
            self.tell("counts_revealed", counts=counts)
            for seat, count in enumerate(counts):
                self.points(seat, COUNT_VP[count] if not self.gone[seat] else 0, "more_or_less")
        holders = [s for s in range(self.n) if not self.gone[s] and any("card" in t for t in self.forest[s])]
        if holders:  # BS-4.5
            self._ask("extra", holders)
        else:
            self._next_trick()

    def _all_added(self) -> None:
        used = [(seat, *self.sealed[seat]) for seat in sorted(self.sealed) if self.sealed[seat]]
        self.tell("extras_revealed", extras=[self._some(seat=seat) | {"tile": tile} for seat, tile, _ in used])
        for seat, tile, role in used:
            self.hands[seat] = in_order([*self.hands[seat], role])
            self._spend(seat, tile)
        self._next_trick()

    def _spend(self, seat: int, tile: str) -> None:
        self.forest[seat].remove(tile)
        self.tell("forest_tile_spent", seat=seat, tile=tile)

    # ---- tricks (BS-5) -----------------------------------------------------------------------------------------------

    def _next_trick(self) -> None:
        order = [(self.leader + place) % self.n for place in range(self.n)]
        leader = next((seat for seat in order if self.hands[seat]), None)
        if leader is None:
            self._end_round()
            return
        self.trick, self.said, self.brave, self.brave_done = self.trick + 1, [], None, False
        self.leader, self.now = leader, "lead"
        self.tell("trick_started", trick_no=self.trick, leader=leader)

    def _lay(self, seat: int, command: pb.PlayRole, *, alone: bool = True) -> None:
        role, stance, instead = command.role, command.stance, command.instead
        spent = role in (self.led[:-1] if self.said else self.led)  # BS-5.9
        if not self.said:
            self.led.append(role)
        self.said.append(seat)
        self.hands[seat].remove(role)
        left = len(self.hands[seat])
        self.tell(
            "role_played", seat=seat, role=role, stance=stance, instead=instead, spent_role=spent, cards_left=left
        )
        if role in self.bewitched:  # BS-5.8
            self.points(seat, -3, "bewitched")
        if stance == "brave":  # BS-5.3
            if self.brave is not None:
                self.tell("brave_outdone", seat=self.brave, by=seat)
            self.brave = seat
        elif stance == "cowardly" and instead == "event":  # BS-9.2
            if self.event == "black_market":
                self.points(seat, 3, "black_market")
            else:
                self.goods(seat, "black_distillery", **{command.resource: 1})
        elif stance == "cowardly":  # BS-5.4, BS-8.7
            if instead:
                self._spend(seat, instead)
            if "five" in instead:
                self.points(seat, 5, "five_points")
            else:
                self._act(seat, role, brave="heart" in instead)
        if alone:
            self._go_on()

    def _go_on(self) -> None:
        """Until somebody is asked."""
        while not self.over:
            self._close_impossible()
            if self.steps:
                self.now = "steps"
                return
            if len(self.said) < self.n:  # BS-5.2
                seat = (self.leader + len(self.said)) % self.n
                if self.led[-1] in self.hands[seat]:
                    if self.led[-1] in self.led[:-1]:  # BS-5.9
                        self._lay(seat, pb.PlayRole(role=self.led[-1]), alone=False)
                        continue
                    self.now = "follow"
                    return
                self.said.append(seat)
                self.tell("seat_passed", seat=seat, role=self.led[-1])
            elif self.brave is not None and not self.brave_done:  # BS-5.5
                self.brave_done = True
                self._act(self.brave, self.led[-1], brave=True)
            else:  # BS-5.7
                self.last = self.leader, self.brave
                self.leader = self.leader if self.brave is None else self.brave
                self.told.append(
                    (
                        "trick_ended",
                        ({} if self.brave is None else {"brave_seat": self.brave})
                        | self._some(next_leader=self.leader),
                    )
                )
                self._next_trick()
                return

    @staticmethod
    def _some(**fields: int) -> dict[str, int]:
        return {name: value for name, value in fields.items() if value}

    # ---- actions (BS-6) ----------------------------------------------------------------------------------------------

    def _act(self, seat: int, role: str, *, brave: bool) -> None:
        record, self.numbers = ROLES[role], [0, 0]
        kind = record["kind"]
        if kind == "gatherer":
            take = {record["colour"]: 2 if brave else 1, "wand": 1}
            step = {"kind": "gather", "take": take, "one": not brave}
        elif kind == "witch":
            step = {"kind": "move", "moves": 1, "terrains": record["terrains"], "delivers": brave}
        elif kind == "druid":
            step = {"kind": "deliver", "terrains": record["terrains"], "bonus_vp": 3 if brave else 0}
        else:
            step = {"kind": "dispel", "bonus_vp": 3 if brave else 0}
        self._open(seat, [step | {"cause": role}])

    def _open(self, seat: int, group: list[dict[str, Any]]) -> None:
        self.acting = seat
        if group:
            self.numbers[1] += 1
        for step in group:
            self.numbers[0] += 1
            opened = {"step": self.numbers[0], "group": self.numbers[1]} | step
            self.steps.append(opened)
            shown = {key: value for key, value in opened.items() if value or key == "pawn"}
            self.tell("step_opened", seat=seat, step=shown)

    def _close(self, step: dict[str, Any], reason: str) -> None:
        self.steps.remove(step)
        self.tell("step_closed", step=step["step"], reason=reason)

    def top(self) -> list[dict[str, Any]]:
        """Steps of the top group."""
        return [step for step in self.steps if step["group"] == self.steps[-1]["group"]]

    def _close_impossible(self) -> None:
        """BS-6.4."""
        while self.steps and not any(self._possible(step) for step in self.top()):
            for step in self.top():
                self._close(step, "impossible")

    def _possible(self, step: dict[str, Any]) -> bool:
        seat, kind = self.acting, step["kind"]
        if kind == "move":
            return any(not self.move_faults(step, pawn, to) for pawn in (0, 1) for to in self.side.terrain)
        if kind == "deliver":
            towers = (*self.side.towers, "h_vat")
            return any(not self.deliver_faults(step, pawn, tower, None) for pawn in (0, 1) for tower in towers)
        if kind == "dispel":
            return any(not self.dispel_faults(seat, space) for space in self.side.spaces)
        return True

    # ---- what is wrong with a step's command (BS-11.1) ---------------------------------------------------------------

    def overcast(self, region: str) -> bool:
        """BS-7.4."""
        return any(self.side.spaces[space] == region for space in self.clouds)

    def move_faults(self, step: dict[str, Any], pawn: int, to: str) -> list[str]:
        """BS-8.1."""
        if pawn > 1:
            return ["bad_pawn"]
        faults = [] if to in self.side.near[self.pawns[self.acting][pawn]] else ["not_adjacent"]
        terrain = self.side.terrain.get(to, "")
        faults += ["water"] if terrain == "water" else []
        faults += ["wrong_terrain"] if step["terrains"] and terrain not in step["terrains"] else []
        return faults + (["clouded"] if self.overcast(to) else [])

    def deliver_faults(self, step: dict[str, Any], pawn: int, name: str, wands: int | None) -> list[str]:
        """BS-7.1, BS-7.3, BS-8.3, BS-8.5."""
        seat = self.acting
        if pawn > 1:
            return ["bad_pawn"]
        region = self.pawns[seat][pawn]
        faults = []
        if step.get("region") and (pawn != step["pawn"] or region != step["region"]):
            faults.append("bad_pawn")
        if step.get("terrains") and self.side.terrain[region] not in step["terrains"]:
            faults.append("wrong_terrain")
        tower = self.tower(name)
        if tower is None:
            return [*faults, "unknown_tower"]
        faults += ["tower_covered"] if name in self.covered else []
        faults += [] if region in tower["touches"] else ["tower_not_here"]
        faults += ["tower_occupied"] if name in self.occupied else []
        faults += [] if self.held[seat][tower["colour"]] else ["no_potion"]
        return faults + (["bad_wands"] if (wands or 0) > tower["wands"] else [])

    def tower(self, name: str) -> dict[str, Any] | None:
        """A tower of the board; the vat is one where its tile lies (BS-8.3)."""
        if name == "h_vat":
            at = [region for region, tile in self.tiles.items() if tile == "h_vat"]
            return {"touches": at, "colour": "orange", "shape": "square", "vp": 7, "wands": 0} if at else None
        found: dict[str, Any] | None = self.side.towers.get(name)
        return found

    def dispel_faults(self, seat: int, space: str) -> list[str]:
        """BS-7.5."""
        if space not in self.clouds:
            return ["no_cloud"]
        near = [other for pawn in self.pawns[seat] for other in self.side.near[pawn]]
        faults = [] if self.side.spaces[space] in near else ["cloud_not_near"]
        short = self.held[seat]["wand"] < CLOUDS[self.clouds[space]]["stars"]
        return faults + (["not_enough_wands"] if short else [])

    # ---- steps that are taken (BS-6 to BS-8) -------------------------------------------------------------------------

    def _gather(self, seat: int, step: dict[str, Any], command: pb.Gather) -> None:
        self.goods(seat, "gather", **{each.resource: each.amount for each in command.resources})
        self._close(step, "done")

    def _move(self, seat: int, step: dict[str, Any], command: pb.MovePawn) -> None:
        cause = "role" if step["cause"] in ROLES else "gust" if "gust" in step["cause"] else "m_moves"
        self._fly(seat, command.pawn, command.to, cause)
        step["moves"] -= 1
        if step["moves"]:
            self.tell("step_used", step=step["step"], moves_left=step["moves"])
        else:
            self._close(step, "done")
        self._arrive(seat, command.pawn, step, ridden=False)

    def _fly(self, seat: int, pawn: int, to: str, cause: str) -> None:
        self.told.append(
            (
                "pawn_moved",
                self._some(seat=seat, pawn=pawn) | {"from": self.pawns[seat][pawn], "to": to, "cause": cause},
            )
        )
        self.pawns[seat][pawn] = to

    def _arrive(self, seat: int, pawn: int, step: dict[str, Any], *, ridden: bool) -> None:
        """BS-8.2 to BS-8.6."""
        region = self.pawns[seat][pawn]
        tile = self.tiles.get(region, "")
        if tile.startswith("h_") and tile != "h_vat" and not ridden:
            circles = TILES[tile]["params"]["circles"]
            turbo = {"kind": "turbo", "cause": tile, "pawn": pawn, "region": region, "circles": circles}
            self._open(seat, [turbo | {"delivers": step.get("delivers", False)}])
            return
        if tile.startswith("f_"):
            del self.tiles[region]
            self.forest[seat].append(tile)
            self.tell("forest_tile_taken", seat=seat, tile=tile, region=region)
        group: list[dict[str, Any]] = []
        if tile.startswith("m_") and region not in self.amulets[seat]:
            self.amulets[seat].append(region)
            self.tell("amulet_taken", seat=seat, region=region, tile=tile)
            group.append(BY_TILE[tile] | {"cause": tile})
        if step.get("delivers"):
            group.append({"kind": "deliver", "cause": self.led[-1], "pawn": pawn, "region": region})
        self._open(seat, group)

    def _ride(self, seat: int, step: dict[str, Any], command: pb.Ride) -> None:
        self._fly(seat, step["pawn"], self.side.circles[command.circle], "turbo")
        self._close(step, "done")
        self._arrive(seat, step["pawn"], step, ridden=True)

    def _deliver(self, seat: int, step: dict[str, Any], command: pb.Deliver) -> None:
        region, tower = self.pawns[seat][command.pawn], self.tower(command.tower)
        assert tower is not None
        power = [c for s, c in self.clouds.items() if "power" in c and self.side.spaces[s] in self.side.near[region]]
        parts = {"vp_tower": tower["vp"], "vp_bonus": step.get("bonus_vp", 0), "vp_storm": 2 * len(power)}
        wands = command.take_wands if command.HasField("take_wands") else tower["wands"]
        colour, occupies = tower["colour"], tower["shape"] == "round"
        self.tell(
            "potion_delivered",
            seat=seat,
            pawn=command.pawn,
            region=region,
            tower=command.tower,
            colour=colour,
            wands=wands,
            occupies=occupies,
            **parts,
        )
        if occupies:
            self.occupied.add(command.tower)
        self.goods(seat, "delivery", **{colour: -1, "wand": wands})
        self.points(seat, sum(parts.values()), "delivery")
        self._close(step, "done")

    def _dispel(self, seat: int, step: dict[str, Any], command: pb.Dispel) -> None:
        cloud = CLOUDS[self.clouds.pop(command.space)]
        self.charmed[seat].append(cloud["id"])
        bonus = step.get("bonus_vp", 0)
        figures = {"cloud": cloud["id"], "stars": cloud["stars"], "lightning": cloud["lightning"], "vp_bonus": bonus}
        self.tell("cloud_charmed", seat=seat, space=command.space, **figures)
        self.goods(seat, "charm", wand=-cloud["stars"])
        self.points(seat, bonus, "charm")
        self._close(step, "done")
        shows = {"storm_orange": ("orange", 3, 6), "storm_green": ("green", 4, 8), "storm_purple": ("purple", 4, 8)}
        if cloud["id"] in shows:
            colour, enough, points = shows[cloud["id"]]
            self.points(seat, points if self.held[seat][colour] >= enough else 0, "show")
        if "gust" in cloud["id"]:
            self._open(seat, [{"kind": "move", "moves": 1, "terrains": [], "cause": cloud["id"]}])
        if "courier" in cloud["id"]:
            self._open(seat, [{"kind": "deliver", "cause": cloud["id"]}])

    # ---- the end of a round (BS-9) -----------------------------------------------------------------------------------

    def _end_round(self) -> None:
        event = self.event
        for seat in range(self.n):
            lands = [self.side.terrain[region] for region in self.pawns[seat]]
            self.points(
                seat,
                {
                    "perilous_places": -2 * sum(land in ("prairie", "forest") for land in lands),
                    "protected_places": 2 * lands.count("forest"),
                    "empty_handed": -sum(self.held[seat].values()),
                    "flock_together": 4 * (lands[0] == lands[1]),
                }.get(event, 0),
                event,
            )
        kinds = [sum(amount > 0 for amount in self.held[seat].values()) for seat in range(self.n)]
        least = {"the_upper_hand": 1, "the_works": 3}.get(event, 9)
        asked = [seat for seat in range(self.n) if kinds[seat] >= least and not self.gone[seat]]
        if asked:
            self._ask("offer" if event == "the_upper_hand" else "hand_in", asked)
        else:
            self._round_over()

    def _all_offered(self) -> None:
        """BS-9.6."""
        offers = [self.sealed.get(seat, held()) for seat in range(self.n)]
        shown = [
            self._some(seat=seat) | {"resources": {kind: amount for kind, amount in offer.items() if amount}}
            for seat, offer in enumerate(offers)
        ]
        self.tell("offers_revealed", offers=shown)
        for seat, offer in enumerate(offers):
            self.goods(seat, "the_upper_hand", **{kind: -amount for kind, amount in offer.items()})
        totals = [sum(offer.values()) for offer in offers]
        ranks = sorted({total for total in totals if total}, reverse=True)
        second = ranks[1] if len(ranks) > 1 and totals.count(ranks[0]) == 1 and self.n > 2 else -1
        for seat, total in enumerate(totals):
            if total:
                self.points(seat, 6 if total == ranks[0] else 3 if total == second else 0, "the_upper_hand")
        self._round_over()

    def _round_over(self) -> None:
        self.tell("round_ended", round=self.round)
        if self.round == 7:
            self._score("scored")
            return
        del self.coming[0]
        self._open_round()

    # ---- the end (BS-10, BS-12.5) ------------------------------------------------------------------------------------

    def _score(self, reason: str) -> None:
        self.over, self.now, self.waiting = True, "over", []
        scores, counted = [], reason == "scored"
        for seat in range(self.n):
            bolts = sum(CLOUDS[cloud]["lightning"] for cloud in self.charmed[seat])
            lightning = LIGHTNING[bolts] if bolts < 16 else 50 + 5 * (bolts - 15)
            amounts = sorted(self.held[seat].values())
            fours = amounts[0]
            threes = amounts[1] - fours
            sets = 4 * fours + 2 * threes
            amulets = len(self.amulets[seat])
            score = {
                "vp_before": self.vp[seat],
                "lightning": bolts,
                "lightning_vp": lightning,
                "sets4": fours,
                "sets3": threes,
                "sets_vp": sets,
                "amulets": amulets,
                "amulets_vp": AMULETS[amulets],
            }
            if not counted:
                score = {"vp_before": self.vp[seat], "lightning": bolts, "amulets": amulets}
            self.vp[seat] += lightning + sets + AMULETS[amulets] if counted else 0
            scores.append({"seat": seat} | score | {"vp": self.vp[seat], "resources_total": sum(amounts)})
        keys = [(not self.gone[seat], self.vp[seat], scores[seat]["resources_total"]) for seat in range(self.n)]
        for seat, score in enumerate(scores):
            score["rank"] = 1 + sum(key > keys[seat] for key in keys)
        winners = [seat for seat in range(self.n) if keys[seat] == max(keys)]
        shown = [{key: value for key, value in score.items() if value} for score in scores]
        self.tell("match_ended", scores=shown, winners=winners, reason=reason)

    # ---- commands ----------------------------------------------------------------------------------------------------

    def asked(self) -> list[tuple[int, str]]:
        """Who is asked for what."""
        if self.now in ("choose", "extra", "offer", "hand_in"):
            return [(seat, self.now) for seat in self.waiting]
        if self.now == "steps":
            return [(self.acting, "steps")]
        follower = (self.leader + len(self.said)) % self.n
        return {"lead": [(self.leader, "lead")], "follow": [(follower, "follow")]}.get(self.now, [])

    def hear(self, seat: int, command: Message, shuffled: Iterable[list[str]] = ()) -> list[Told]:
        """What comes of an accepted command.

        Args:
            seat: whose command, or whose prompt expired.
            command: the game's, or `Expire`, or `Resign`.
            shuffled: new stacks of bewitched roles, should they be needed.
        """
        self.told, self.shuffled = [], iter(shuffled)
        if isinstance(command, match_pb2.Resign):
            self._retire(seat, "resigned")
        elif isinstance(command, match_pb2.Expire):
            self.late[seat] += 1
            self.tell("decision_timed_out", seat=seat, consecutive=self.late[seat])
            if self.late[seat] == self.limit:
                self._retire(seat, "timeouts")
            else:
                self._do(seat, self.default(seat))
        else:
            if self.late[seat]:
                self.late[seat] = 0
                self.tell("timeouts_cleared", seat=seat)
            self._do(seat, command)
        return self.told

    def _do(self, seat: int, command: Message) -> None:
        self._HEARD[type(command)](self, seat, command)

    def _answer(self, seat: int, sealed: Any, then: Callable[[], None]) -> None:
        self.sealed[seat] = sealed
        self.waiting.remove(seat)
        if not self.waiting:
            then()

    def _hear_choice(self, seat: int, command: pb.ChooseRoles) -> None:
        self.hands[seat] = in_order(command.roles)
        self.tell("roles_chosen", seat=seat, roles=self.hands[seat])
        self._answer(seat, None, self._all_chosen)

    def _hear_extra(self, seat: int, command: pb.AddRole | pb.DeclineExtra) -> None:
        used = (command.tile, command.role) if isinstance(command, pb.AddRole) else ()
        tile, role = used or ("", "")
        self.tell("extra_answered", seat=seat, used=bool(used), tile=tile, role=role)
        self._answer(seat, used, self._all_added)

    def _hear_step(self, seat: int, command: Any) -> None:
        [step] = [step for step in self.top() if step["step"] == command.step]
        if isinstance(command, pb.SkipStep):
            self._close(step, "skipped")
        else:
            self._TAKEN[type(command)](self, seat, step, command)
        self._go_on()

    def _hear_offer(self, seat: int, command: pb.Offer) -> None:
        offer = held(**{each.resource: each.amount for each in command.resources})
        self.tell("offer_made", seat=seat, resources={kind: amount for kind, amount in offer.items() if amount})
        self._answer(seat, offer, self._all_offered)

    def _hear_set(self, seat: int, command: pb.HandIn | pb.DeclineSet) -> None:
        if isinstance(command, pb.HandIn):  # BS-9.8
            vp = {4: 8, 3: 4}[command.size]
            self.tell("set_handed_in", seat=seat, size=command.size, resources=[*command.resources], vp=vp)
            self.goods(seat, "the_works", **dict.fromkeys(command.resources, -1))
            self.points(seat, vp, "the_works")
        else:
            self.tell("set_declined", seat=seat)
        self._answer(seat, None, self._round_over)

    _HEARD: Final[dict[type[Message], Callable[..., None]]] = {
        pb.ChooseRoles: _hear_choice,
        pb.AddRole: _hear_extra,
        pb.DeclineExtra: _hear_extra,
        pb.PlayRole: _lay,
        pb.Gather: _hear_step,
        pb.MovePawn: _hear_step,
        pb.Ride: _hear_step,
        pb.Deliver: _hear_step,
        pb.Dispel: _hear_step,
        pb.SkipStep: _hear_step,
        pb.Offer: _hear_offer,
        pb.HandIn: _hear_set,
        pb.DeclineSet: _hear_set,
    }
    _TAKEN: Final[dict[type[Message], Callable[..., None]]] = {
        pb.Gather: _gather,
        pb.MovePawn: _move,
        pb.Ride: _ride,
        pb.Deliver: _deliver,
        pb.Dispel: _dispel,
    }

    # ---- what is wrong with a command (BS-11.1) ----------------------------------------------------------------------

    def faults(self, seat: int, command: Message) -> list[str]:
        """Every code that fits a command of a seat that is asked, in no order; empty: it is accepted."""
        kinds, judge = self._JUDGED[type(command)]
        return judge(self, seat, command) if self.now in kinds else ["not_your_turn"]

    def _choice_faults(self, _seat: int, command: pb.ChooseRoles) -> list[str]:
        least, most = (1, 5) if self.event == "more_or_less" else (4, 4)
        return self._picked(command.roles, least, most)

    @staticmethod
    def _picked(roles: Iterable[str], least: int, most: int) -> list[str]:
        roles = [*roles]
        faults = [] if {*roles} <= {*ORDER} else ["unknown_role"]
        faults += [] if len({*roles}) == len(roles) else ["duplicate_role"]
        return faults + ([] if least <= len(roles) <= most else ["wrong_count"])

    def _extra_faults(self, seat: int, command: pb.AddRole) -> list[str]:
        faults = [] if "card" in command.tile and command.tile in self.forest[seat] else ["tile_not_held"]
        faults += [] if command.role in ORDER else ["unknown_role"]
        return faults + (["duplicate_role"] if command.role in self.hands[seat] else [])

    def _lay_faults(self, seat: int, command: pb.PlayRole) -> list[str]:
        role, stance, instead = command.role, command.stance, command.instead
        faults = [] if role in ORDER else ["unknown_role"]
        faults += [] if role in self.hands[seat] else ["role_not_in_hand"]
        leads = self.now == "lead"
        faults += ["must_follow"] if not leads and role != self.led[-1] else []
        spent = leads and role in self.led
        fits = not stance if spent else stance in ("brave", "cowardly")
        faults += [] if fits else ["bad_stance"]
        faults += ["must_be_brave"] if leads and stance == "cowardly" and self.event == "brave_heart" else []
        return faults + self._instead_faults(seat, command, instead)

    def _instead_faults(self, seat: int, command: pb.PlayRole, instead: str) -> list[str]:
        by_event = instead == "event"
        faults = []
        if instead and command.stance != "cowardly":
            faults.append("bad_instead")
        if instead and not by_event and instead not in FOREST:
            faults.append("bad_instead")
        if by_event and self.event not in ("black_market", "black_distillery"):
            faults.append("bad_instead")
        distilled = by_event and self.event == "black_distillery"
        if (command.resource not in KINDS) if distilled else command.resource:
            faults.append("bad_instead")
        if instead in FOREST:
            faults += [] if instead in self.forest[seat] else ["tile_not_held"]
            faults += ["tile_not_usable"] if "card" in instead else []
        return faults

    def _step_faults(self, seat: int, command: Any) -> list[str]:
        kinds = {pb.Gather: "gather", pb.MovePawn: "move", pb.Ride: "turbo", pb.Deliver: "deliver", pb.Dispel: "dispel"}
        step = next((step for step in self.top() if step["step"] == command.step), None)
        if step is None:
            return ["unknown_step"]
        if isinstance(command, pb.SkipStep):
            return ["cannot_skip"] if step["kind"] == "turbo" else []
        if step["kind"] != kinds[type(command)]:
            return ["wrong_step_kind"]
        if isinstance(command, pb.Gather):
            return self._gather_faults(step, command)
        if isinstance(command, pb.MovePawn):
            return self.move_faults(step, command.pawn, command.to)
        if isinstance(command, pb.Ride):
            return [] if command.circle in step["circles"] else ["bad_circle"]
        if isinstance(command, pb.Deliver):
            wands = command.take_wands if command.HasField("take_wands") else None
            return self.deliver_faults(step, command.pawn, command.tower, wands)
        return self.dispel_faults(seat, command.space)

    @staticmethod
    def _gather_faults(step: dict[str, Any], command: pb.Gather) -> list[str]:
        names = [each.resource for each in command.resources]
        amounts = {each.resource: each.amount for each in command.resources}
        fits = len({*names}) == len(names) and {*names} <= {*KINDS} and sum(amounts.values()) > 0
        fits = fits and all(amount <= step["take"].get(kind, 0) for kind, amount in amounts.items())
        return [] if fits and not (step.get("one") and sum(amounts.values()) > 1) else ["bad_resources"]

    def _offer_faults(self, seat: int, command: pb.Offer) -> list[str]:
        names = [each.resource for each in command.resources]
        faults = [] if len({*names}) == len(names) and {*names} <= {*KINDS} else ["bad_resources"]
        short = any(each.amount > self.held[seat].get(each.resource, 0) for each in command.resources)
        return faults + (["not_enough_resources"] if short else [])

    def _set_faults(self, seat: int, command: pb.HandIn) -> list[str]:
        names, size = [*command.resources], command.size
        fits = size in (3, 4) and len(names) == size == len({*names}) and {*names} <= {*KINDS}
        short = any(not self.held[seat].get(name, 0) for name in names)
        return ([] if fits else ["bad_resources"]) + (["not_enough_resources"] if short else [])

    def _no_faults(self, _seat: int, _command: Message) -> list[str]:
        return []

    _JUDGED: Final[dict[type[Message], tuple[tuple[str, ...], Callable[..., list[str]]]]] = {
        pb.ChooseRoles: (("choose",), _choice_faults),
        pb.AddRole: (("extra",), _extra_faults),
        pb.DeclineExtra: (("extra",), _no_faults),
        pb.PlayRole: (("lead", "follow"), _lay_faults),
        pb.Gather: (("steps",), _step_faults),
        pb.MovePawn: (("steps",), _step_faults),
        pb.Ride: (("steps",), _step_faults),
        pb.Deliver: (("steps",), _step_faults),
        pb.Dispel: (("steps",), _step_faults),
        pb.SkipStep: (("steps",), _step_faults),
        pb.Offer: (("offer",), _offer_faults),
        pb.HandIn: (("hand_in",), _set_faults),
        pb.DeclineSet: (("hand_in",), _no_faults),
    }

    # ---- clock and leaving (BS-12) -----------------------------------------------------------------------------------

    def default(self, seat: int) -> Message:
        """BS-12.2."""
        if self.now == "choose":
            return pb.ChooseRoles(roles=[role for role in ORDER if role not in self.bewitched][:4])
        if self.now == "extra":
            return pb.DeclineExtra()
        if self.now == "lead":
            role = in_order(self.hands[seat])[0]
            stance = "brave" if self.event == "brave_heart" else "cowardly"
            return pb.PlayRole(role=role, stance="" if role in self.led else stance)
        if self.now == "follow":
            return pb.PlayRole(role=self.led[-1], stance="cowardly")
        if self.now == "offer":
            return pb.Offer()
        if self.now == "hand_in":
            return pb.DeclineSet()
        step = min(self.top(), key=lambda step: int(step["step"]))
        if step["kind"] == "turbo":
            return pb.Ride(step=step["step"], circle=step["circles"][0])
        return pb.SkipStep(step=step["step"])

    def _retire(self, seat: int, reason: str) -> None:
        """BS-12.4, BS-12.5."""
        asked = [other for other, _ in self.asked()]
        stage = self.now
        self.gone[seat], self.hands[seat] = True, []
        self.tell("seat_retired", seat=seat, reason=reason)
        self.sealed.pop(seat, None)
        if self.brave == seat:
            self.brave = None
        if stage == "steps" and self.acting == seat:
            for step in reversed([*self.steps]):
                if step["kind"] == "turbo":
                    self._fly(seat, step["pawn"], self.side.circles[step["circles"][0]], "turbo")
                self._close(step, "skipped")
        if sum(self.gone) == self.n - 1:
            self._score("others_left")
        elif seat in self.waiting:
            self.waiting.remove(seat)
            if not self.waiting:
                {"choose": self._all_chosen, "extra": self._all_added, "offer": self._all_offered}.get(
                    stage, self._round_over
                )()
        elif seat in asked and stage == "lead":
            self.trick -= 1
            self._next_trick()
        elif seat in asked:
            self._go_on()

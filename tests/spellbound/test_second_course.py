"""What happens by itself after a story, told by a second reading of the rules (SB-11 to SB-14).

It shares nothing with the game. Nobody is asked in these matches (SB-16.8: the policy `never`), so that everything up
to the next decision is one list of events.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grimoire.engine import Actor, Decision
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.catalogue import DATA
from spellbound.state import Result, State
from tests.battery.playing import complete
from tests.spellbound.test_branching import GAME, POSITIONS, beginning, draws, options, started

CARDS: Final = {card.id: card for card in DATA.cards}
NUMBERS: Final = {card.id: number for number, card in enumerate(DATA.cards)}
PLACES: Final = [place.id for place in DATA.locations]
BOOKS: Final = ("red", "blue", "green", "yellow", "silver")
PIECES: Final = ("hat_red", "hat_blue", "hat_green", "hat_yellow", "troll")
HATS: Final = PIECES[:4]
STRENGTH: Final = {1: 1, 2: 2, 3: 3, 4: 4}
MINIONS: Final = ("skeleton_army", "goblin_spider_riders", "danzer")


WANTED: Final = {
    "FortunaResolved",
    "DisplayPurged",
    "BagRefilled",
    "EncounterWon",
    "WitchClimbed",
    "SpellGained",
    "BookLost",
}

RARE: Final[dict[str, dict[str, Any]]] = {
    "witch_at_top": {"witch": 4, "moon_pile": ["troll_b"]},
    "annihilation": {"moon_pile": ["troll_b", "witch_red_c", "witch_blue_c", "witch_green_c", "witch_yellow_c"]},
    "wicked_deck_empty": {"wicked_deck": []},
    "pieces_at_end": {"books": {"silver": "gained", "red": "gained"}, "troll": 9, "hats": {"red": 8}},
    "books_lost": {"books": {"silver": "lost"}, "troll": 5, "hats": {"green": 3}},
    "": {
        "minions": ["skeleton_army", "goblin_spider_riders", "danzer"],
        "sun_pile": ["dragon_1", "dragon_2", "dragon_3", "knight"],
    },
}


class Over(Exception):  # noqa: N818 - no error: the match has ended
    """The match has ended."""


class Asked(Exception):  # noqa: N818 - no error: somebody decides
    """A book is to be chosen."""


class Fate:
    """The automatic part of a turn.

    Args:
        state: before it.
        events: what the game told; only stones and orders, which chance decides, are read from it.
    """

    def __init__(self, state: State, events: Sequence[Message]) -> None:
        self.told: list[Message] = []
        self._state = state
        self._stones = iter([event.stone for event in events if isinstance(event, pb.StoneDrawn)])
        self._orders = iter([[*event.order] for event in events if isinstance(event, pb.DestinyDeckSet)])
        self._spells = [*state.spell_deck]
        self.lower, self.upper, self.new = [*state.lower], [*state.upper], [*state.fresh]
        self.deck, self.discards, self.wicked = [*state.deck], [*state.discards], [*state.wicked_deck]
        self.pieces = dict(zip(PIECES, state.pieces, strict=True))
        self.books = dict(zip(BOOKS, state.books, strict=True))
        self.sun_pile, self.moon_pile, self.minions = [*state.sun_pile], [*state.moon_pile], [*state.minions]
        self.bag, self.drawn = [*state.bag], [*state.drawn]
        self.witch, self.number, self.ends = state.witch, state.stones_drawn, state.deck_ends
        self.squire_met = state.squire_used
        self.face_up, self.troll_bane = [*state.face_up], False

    # ---- the end of the story (SB-11) --------------------------------------------------------------------------------

    def after_story(self) -> None:
        state = self._state
        self.told.append(pb.StoryEnded(mage=state.turn_mage))
        place = state.places[state.acting]
        if not state.moved and place < 5:
            self.batch("not_moved", [PIECES[place]])
        if "fortuna_deck" in self.lower:
            kind, left = ("sun", state.supply[0]) if state.visited else ("moon", state.supply[1])
            self.told.append(pb.FortunaResolved(stone=kind if left else ""))
            if left:
                self.bag[kind == "moon"] += 1
            self.lower.remove("fortuna_deck")
            self.discard("fortuna_deck", "display", "fortuna")
        wicked = self.wicked_shown()
        if len(wicked) >= 3:
            self.told.append(pb.DisplayPurged(cards=wicked))
            self.upper = [card for card in self.upper if card not in wicked]
            self.discards += wicked
            self.batch("purge", PIECES)
        self.refill()

    def wicked_shown(self) -> list[str]:
        return [card for card in self.upper if CARDS[card].kind == "wicked"]

    def discard(self, card: str, source: str, cause: str) -> None:
        self.discards.append(card)
        self.told.append(pb.CardDiscarded(card=card, cause=cause, **{"from": source}))

    # ---- pieces (SB-13) ----------------------------------------------------------------------------------------------

    def batch(self, cause: str, pieces: Sequence[str]) -> None:
        moves = [piece for piece in pieces if self.pieces[piece] < 9]
        if moves:
            self.told.append(pb.BatchFormed(cause=cause, moves=moves))
        for piece in moves:
            if self.pieces[piece] == 9:
                continue
            self.pieces[piece] += 1
            at, book = self.pieces[piece], BOOKS[PIECES.index(piece)]
            self.told.append(pb.PieceMoved(piece=piece, to=at, by=1, cause=cause))
            if self.books[book] == at < 9:
                self.books[book] = 0
                self.told.append(pb.BookLost(book=book))
                if [*self.books.values()].count(0) == 2:
                    self.lost("books_lost")
            if at == 9 and [*self.pieces.values()].count(9) == 2:
                self.lost("pieces_at_end")

    def lost(self, reason: str) -> None:
        self.told.append(pb.MatchEnded(result="lost", reason=reason))
        raise Over

    def act(self, card: str) -> None:
        self.told.append(pb.WickedCardActed(card=card))
        if card.startswith("troll"):
            self.batch("troll", HATS if self.pieces["troll"] == 9 else ["troll"])
        else:
            self.batch("witch", [f"hat_{CARDS[card].colour}"])

    # ---- the refill (SB-12) ------------------------------------------------------------------------------------------

    def refill(self) -> None:
        while len(self.lower) < 5:
            if not self.deck:
                self.end_of_deck()
                continue
            card = self.deck.pop(0)
            to = "lower"
            if CARDS[card].kind == "wicked":
                squire = "squire" in self.upper and not self.squire_met
                met = CARDS[card].group == "witch" and ("knight" in self.upper or squire)
                self.squire_met = self.squire_met or met
                to = "discards" if met else "upper"
            self.told.append(pb.DestinyCardDrawn(card=card, to=to))
            {"lower": self.lower, "upper": self.upper, "discards": self.discards}[to].append(card)
            if to == "upper":
                self.new.append(card)
        for guard in [card for card in self.upper if card in ("knight", "squire")]:
            self.upper.remove(guard)
            self.discard(guard, "upper_row", "guard")
        for card in self.new:
            self.act(card)
        state = self._state
        following = (state.turn_mage + 1) % len(state.places)
        self.told.append(pb.TurnEnded(turn=state.turn, mage=state.turn_mage))
        self.told.append(pb.TurnStarted(turn=state.turn + 1, mage=following, seat=state.terms.mage_seats[following]))

    # ---- the end of the deck (SB-14) ---------------------------------------------------------------------------------

    def end_of_deck(self) -> None:
        self.ends += 1
        self.told.append(pb.DeckRanOut(number=self.ends))
        for card in self.wicked_shown():
            self.act(card)
            self.upper.remove(card)
            self.discard(card, "upper_row", "end_of_deck")
        self.new = []
        taken = {PLACES[place] for place in self._state.places}
        watched = PLACES[self._state.watchman] if self._state.watchman >= 0 else ""
        empty = [f"hat_{c}" for c in BOOKS[:4] if f"city_{c}" not in taken and f"city_{c}" != watched]
        self.batch("empty_places", empty + ([] if "wilderness" in taken else ["troll"]))
        self.add_wicked()
        self.encounter()

    def add_wicked(self) -> None:
        if not self.wicked:
            self.lost("wicked_deck_empty")
        card = self.wicked.pop(0)
        self.discards.append(card)
        self.told.append(pb.WickedCardAdded(card=card, next_top=self.wicked[0] if self.wicked else ""))

    def draw(self) -> bool:
        if not sum(self.bag):
            self.told.append(pb.BagRefilled(sun=self.drawn[0], moon=self.drawn[1]))
            self.bag, self.drawn = self.drawn, [0, 0]
        stone = next(self._stones)
        self.number += 1
        self.bag[stone == "moon"] -= 1
        self.drawn[stone == "moon"] += 1
        assert min(self.bag) >= 0
        self.told.append(pb.StoneDrawn(number=self.number, stone=stone, cause="encounter"))
        return stone == "sun"

    def encounter(self) -> None:
        strength = STRENGTH[self.witch]
        suns = sum([self.draw() for _ in range(strength)])
        parts = {
            "strength": strength,
            "moonstones": strength - suns,
            "moon_pile": sum(CARDS[card].moon for card in self.moon_pile),
            "minions": sum(CARDS[card].moon for card in self.minions),
            "sunstones": suns,
            "sun_pile": sum(CARDS[card].sun for card in self.sun_pile),
        }
        moon = parts["strength"] + parts["moonstones"] + parts["moon_pile"] + parts["minions"]
        sun = parts["sunstones"] + parts["sun_pile"]
        by = moon - sun
        result = "won" if by < 0 else "one_step" if by < 5 else "two_steps" if by < 10 else "annihilation"
        self.told.append(pb.EncounterCounted(moon=moon, sun=sun, parts=pb.Parts(**parts), result=result))
        cleared = [*self.sun_pile, *self.moon_pile]
        if cleared:
            self.told.append(pb.TowerCleared(cards=cleared))
        self.discards += cleared
        self.sun_pile, self.moon_pile = [], []
        if result == "annihilation":
            self.lost(result)
        if result == "won":
            self.won()
        for _ in range({"one_step": 1, "two_steps": 2}.get(result, 0)):
            self.climb()
        self.sweep_up()

    def won(self) -> None:
        minion = next((minion for minion in MINIONS if minion not in self.minions), "")
        self.told.append(pb.EncounterWon(minion=minion))
        self.minions += [minion] if minion else []
        on_track = [book for book in BOOKS if 4 <= self.books[book] <= 8]
        if len(on_track) > 1:
            raise Asked
        if on_track:
            self.move_book(on_track[0])

    def move_book(self, book: str) -> None:
        self.books[book] += 1
        mage = self._state.turn_mage
        self.told.append(pb.BookMoved(book=book, to=self.books[book], mage=mage, cause="encounter"))
        if self.books[book] == 9:
            self.told.append(pb.BookGained(book=book))
        elif self.books[book] in (6, 8) and self._spells:
            spell = self._spells.pop(0)
            self.told.append(pb.SpellGained(mage=mage, spell=spell, cause="encounter"))
            if spell in ("scry", "troll_bane"):
                self.told.append(pb.SpellCast(mage=mage, spell=spell))
            if spell == "troll_bane" and self.pieces["troll"] > 1:
                self.pieces["troll"] -= 1
                self.told.append(pb.PieceMoved(piece="troll", to=self.pieces["troll"], by=-1, cause="troll_bane"))
            if spell == "scry":
                for number in [number for number, up in enumerate(self.face_up) if not up][:3]:
                    card = self._state.villages[number]
                    self.told.append(pb.VillageRevealed(village=PLACES[5 + number], card=card, cause="scry"))

    def climb(self) -> None:
        self.witch += 1
        self.told.append(pb.WitchClimbed(step=self.witch))
        if self.witch == 5:
            self.lost("witch_at_top")
        if self.witch == 3:
            self.batch("tower_step", ["troll"])
        if self.witch == 4:
            self.batch("tower_step", ["troll", "troll", *HATS])
        for _ in range({2: 1, 3: 2}.get(self.witch, 0)):
            self.add_wicked()

    def sweep_up(self) -> None:
        order = next(self._orders)
        assert sorted(order) == sorted(self.discards)
        listed = sorted(order, key=NUMBERS.__getitem__)
        number = self._state.sweep_ups + 1
        self.told.append(pb.DestinyDeckSet(number=number, count=len(order), cards=listed, order=order))
        self.deck, self.discards = order, []

    def run(self, book: str) -> None:
        """From `end_story` on, or from the choice of a book on."""
        try:
            if book:
                self.move_book(book)
                self.sweep_up()
                self.refill()
            else:
                self.after_story()
        except (Over, Asked):
            return


# ---- the comparison --------------------------------------------------------------------------------------------------


def unasked(state: State) -> State:
    return replace(state, policies=("never",) * state.terms.seats)


def play(seed: int, most: int) -> Iterator[tuple[State, Message, tuple[Message, ...]]]:
    """Decisions of a random match: the state before, the command, and what happened."""
    chance = random.Random(seed)
    state = unasked(beginning(seed))
    for _ in range(most):
        if GAME.outcome(state) is not None:
            return
        prompt = GAME.prompts(state)[0]
        legal = GAME.legal(state, prompt.seat, prompt)
        hurried = {"end_story": 8, "discard_card": 3, "end_card": 3, "send_to_tower": 3}
        entry = chance.choices(legal, [hurried.get(each.type, 1) for each in legal])[0]
        command = complete(entry, GAME.schema, chance)
        decision = GAME.decide(state, Actor.of_seat(prompt.seat), command, prompt, draws(seed))
        assert isinstance(decision, Decision)
        yield state, command, decision.events
        state = decision.state


def compare(seed: int, most: int) -> Iterator[Message]:
    """What happened by itself, event by event, all of it as a second reading has it."""
    for state, command, events in play(seed, most):
        if isinstance(command, pb.EndStory | pb.ChooseBook):
            fate = Fate(state, events)
            fate.run(command.book if isinstance(command, pb.ChooseBook) else "")
            assert [*events] == fate.told
            yield from events


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32))
def test_a_second_reading_tells_the_same(seed: int) -> None:
    for _ in compare(seed, 250):
        pass


def test_everything_that_can_happen_by_itself_is_met() -> None:
    met: set[str] = set()
    causes: set[str] = set()
    for seed in range(400):
        for event in compare(seed, 250):
            met.add(type(event).__name__)
            if isinstance(event, pb.BatchFormed):
                causes.add(event.cause)
        if len(causes) == 6 and met >= WANTED:
            break
    assert causes == {"not_moved", "purge", "witch", "troll", "empty_places", "tower_step"}
    assert met >= WANTED


@pytest.mark.parametrize("reason", RARE)
def test_rare_ends(reason: str) -> None:
    position = {"deck": [], "mages": ["village_01"] * 4, "bag": "s1 m4"} | RARE[reason]
    state = unasked(started(0, POSITIONS.parse(position, options()).SerializeToString()))
    [prompt] = GAME.prompts(state)
    decision = GAME.decide(state, Actor.of_seat(prompt.seat), pb.EndStory(), prompt, draws(0))
    assert isinstance(decision, Decision)
    fate = Fate(state, decision.events)
    fate.run("")
    assert [*decision.events] == fate.told
    assert decision.state.result == (Result(won=False, reason=reason) if reason else None)

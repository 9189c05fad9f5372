"""Legal is exactly what is accepted: every command that can be written with the game's ids is tried on many states."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator

from google.protobuf.message import Message

from grimoire.engine import Decision
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.match.scenario.legality import allows
from tests.wizards_garden.lively import GAME, decide, legal_of, lively_match
from wizards_garden.board import DEPOSITS, PITS, SPACES
from wizards_garden.pieces import CARDS, FIRST_PEST, KINDS, PIECES
from wizards_garden.rejections import CODES
from wizards_garden.state import Stage, State

GNOMES, PESTS = PIECES[:FIRST_PEST], PIECES[FIRST_PEST:]
NUMBERS = (-1, 0, 1, 2, 3, 5, 6)
PAIRS = [*itertools.permutations(PESTS[:4], 2)]
OF_A_KIND = (CARDS[0], CARDS[10], CARDS[20], CARDS[30], CARDS[40])

Fields = dict[str, object]


def named(field: str, values: Iterable[object]) -> list[Fields]:
    return [{field: value} for value in values]


def crossed(*fields: tuple[str, Iterable[object]]) -> Iterator[Fields]:
    names = [name for name, _ in fields]
    for values in itertools.product(*(values for _, values in fields)):
        yield dict(zip(names, values, strict=True))


def in_reach(state: State) -> tuple[str, ...]:
    """Cards that lie somewhere, one of each kind in the deck, and none."""
    seen = {*state.row, *state.seats[0].hand, *state.seats[1].hand, *state.seats[0].spirits, *state.seats[1].spirits}
    return (*sorted(seen | {*OF_A_KIND}), "", "no_card")


def written(state: State) -> Iterator[tuple[str, Fields]]:
    """Every command, with more or less every value."""
    cards, spaces = in_reach(state), (*SPACES, "z9", "")
    sources = (*(SPACES[space] for space in (*PITS, *DEPOSITS)), "a1", "z9")
    groups = (*(group.id for group in state.groups), "a1>a2", "skull", "")
    some_spaces = random.Random(state.events).sample(SPACES, 12)
    table: dict[str, Iterable[Fields]] = {
        "prepare": crossed(("spirits", itertools.permutations(cards, 2)), ("kind", (*KINDS, ""))),
        "lantern_action": named("kind", (*KINDS, "")),
        "light_with_water": named("kind", (*KINDS, "")),
        "place_lantern": named("space", spaces),
        "swap_spirit": crossed(("slot", NUMBERS), ("card", cards)),
        "light_with_pair": [{}],
        "magician_action": named("kind", (*KINDS, "")),
        "spirit_action": named("slot", NUMBERS),
        "start_action": named("index", NUMBERS),
        "bring_pest": crossed(("from", sources), ("to", spaces)),
        "move_pest": crossed(("pest", (*PESTS, GNOMES[3])), ("to", spaces)),
        "threaten_with_pests": crossed(
            ("pests", [(), *((p,) for p in (*PESTS, GNOMES[0])), *PAIRS, (PESTS[0],) * 2]), ("target", spaces)
        ),
        "bring_pest_threatening": crossed(("from", sources), ("target", spaces)),
        "collect_water": named("deposit", spaces),
        "draw_spirit": crossed(("source", (*cards, "deck")), ("discard", cards)),
        "bring_gnome": crossed(
            ("from", sources), ("to", spaces), ("discard", ("", *state.seats[state.active].hand[:1]))
        ),
        "move_gnome": crossed(
            ("gnome", (*GNOMES, PESTS[0])), ("to", spaces), ("discard", ("", *state.seats[state.active].hand[:1]))
        ),
        "threaten_with_gnome": crossed(("gnome", (*GNOMES, PESTS[0])), ("target", spaces)),
        "bring_gnome_threatening": crossed(("from", sources), ("target", spaces)),
        "collect_fire": [{}],
        "end_action": [{}],
        "end_phase": [{}],
        "declare_attack": crossed(("group", groups), ("fire", NUMBERS)),
        "withdraw": named("group", groups),
        "advance": named("group", groups),
        "defend": crossed(("with", ("none", "water", "fire", "stone")), ("amount", NUMBERS)),
        "choose_light": named("light", (True, False)),
        "choose_space": named("to", ("target", "origin", "supply")),
        "cast_feather": named("discard", cards),
        "cast_skull": crossed(("target", spaces), ("fire", NUMBERS)),
        "cast_eye": crossed(("a", cards), ("b", cards)),
        "cast_gem": [{}],
        "cast_butterfly": [{}],
        "cast_dagger": named("gnome", (*GNOMES, PESTS[0])),
        "cast_flower": [{}],
        "cast_doll": named("gnome", (*GNOMES, PESTS[0])),
        "cast_bottle": ({"water": pairs} for pairs in amounts(SPACES)),
        "cast_trinket": named("kind", (*KINDS, "")),
        "cast_conch": [{}],
        "cast_fish": ({"fires": pairs} for pairs in amounts(some_spaces)),
    }
    assert table.keys() == GAME.schema.commands.keys()
    for code, every in table.items():
        for fields in every:
            yield code, fields


def amounts(spaces: Iterable[str]) -> Iterator[list[pb.SpaceAmount]]:
    """Nothing, one space, some pairs, one space twice."""
    yield []
    one = [pb.SpaceAmount(space=space, amount=amount) for space in (*spaces, "z9") for amount in (-1, 0, 1, 2, 3, 6)]
    for each in one:
        yield [each]
        yield [each, pb.SpaceAmount(space="a4", amount=1)]
        yield [pb.SpaceAmount(space="c1", amount=1), each]


def message(code: str, fields: Fields) -> Message:
    command = GAME.schema.commands[code]()
    for name, value in fields.items():
        if isinstance(value, (tuple, list)):
            getattr(command, name).extend(value)
        else:
            setattr(command, name, value)
    return command


def sampled() -> list[State]:
    """States of many matches: for each command some in which it is listed, with threats and without, in each action."""
    found: dict[object, list[State]] = {}
    for seed in range(100):
        for played in lively_match(seed, spells_per_player="3", turn_limit="40"):
            state = played.state
            for entry in legal_of(state):
                listed = found.setdefault((entry.type, bool(state.groups), state.action and state.action.source), [])
                if len(listed) < 60:
                    listed.append(state)
    chance = random.Random(7)
    chosen = [state for states in found.values() for state in chance.sample(states, 1)]
    return [*{id(state): state for state in chosen}.values()]


HOPELESS = {"wrong_state", "spell_not_held", "spell_timing"}
"""What does not depend on the fields: one such refusal stands for all."""


def test_a_command_is_accepted_exactly_if_it_is_listed() -> None:
    accepted: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    stages = set()
    for state in sampled():
        stages.add(state.stage)
        legal = legal_of(state)
        hopeless: set[str] = set()
        for code, fields in written(state):
            if code in hopeless:
                continue
            command = message(code, fields)
            answer = decide(state, command)
            listed = allows(legal, GAME.schema, command)
            assert isinstance(answer, Decision) is listed, (state, command, answer)
            if isinstance(answer, Decision):
                accepted[code] += 1
                continue
            refused[answer.code] += 1
            if answer.code in HOPELESS:
                hopeless.add(code)
    assert stages == {*Stage} - {Stage.SETUP, Stage.OVER}
    assert accepted.keys() == GAME.schema.commands.keys()
    assert refused.keys() <= CODES.keys() - {"match_over", "not_authorised", "not_your_prompt"}
    assert len(refused) > 30

"""The scenario format itself: what it reads, how it compares, and how it names mistakes."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.match.scenario import ScenarioResult, run_file, run_text, summary
from grimoire.match.scenario.document import ScenarioError, load_documents
from grimoire.match.scenario.matching import compare, in_order
from grimoire.match.scenario.plain import Hex, read_bytes
from grimoire.plugins import UnknownGameError
from tests.support.toy import PLUGIN


def load(game: str):
    if game != "toy":
        raise UnknownGameError(f"no game is called {game!r}; installed: toy")
    return PLUGIN


def run(text: str) -> ScenarioResult:
    [result] = run_text(text, "x.yaml", load)
    return result


HEAD = "game: toy\nname: x\nrules: [TOY-1]\n"


# ---- mistakes in the file --------------------------------------------------------------------------------------------


def start(expect: str) -> str:
    return f"{HEAD}start: {{expect: {expect}}}\n"


def steps(first: str, *more: str) -> str:
    return "\n  - ".join((f"{HEAD}steps:", first, *more)) + "\n"


OVER = "{seat: 0, command: resign}"

FAULTS = {
    "no yaml": ("game: [", 1, "no YAML"),
    "tab": ("game: toy\n\tname: x", 2, "no YAML"),
    "nothing": ("", 1, "no scenario"),
    "a list": ("- game: toy", 1, "mapping that begins with `game:`"),
    "a key twice": (HEAD + "name: y\n", 4, "'name' stands here twice"),
    "no game": ("name: x\nrules: [TOY-1]\n", 1, "`game` is missing"),
    "unknown game": ("game: chess\nname: x\nrules: [TOY-1]\n", 1, "installed: toy"),
    "no name": ("game: toy\nrules: [TOY-1]\n", 1, "`name` is missing"),
    "no rules": ("game: toy\nname: x\n", 1, "at least one rule"),
    "bad rule": ("game: toy\nname: x\nrules: [seven]\n", 3, "no rule number"),
    "unknown key": (HEAD + "stepz: []\n", 4, "its keys: game, name, rules"),
    "path at the top": (HEAD + "options.goal: 3\n", 4, "no key 'options.goal'"),
    "seats": (HEAD + "seats: many\n", 4, "whole number from 1 to 8"),
    "mode": (HEAD + "mode: fun\n", 4, "one of rated, casual, analysis"),
    "mode with position": (HEAD + "mode: rated\nposition: {}\n", 4, "must be analysis"),
    "option list": (HEAD + "options: {goal: [1]}\n", 4, "a text or a number"),
    "match id": (HEAD + "match_id: a b\n", 4, "1 to 64"),
    "seed": (HEAD + "seeds: {server_seed: 00}\n", 4, "has 32 bytes, not 1"),
    "seed text": (HEAD + "seeds: {server_seed: zz}\n", 4, "is no bytes"),
    "nonces": (HEAD + "seeds: {nonces: [32 x 11]}\n", 4, "2 values of 32 bytes"),
    "position": (HEAD + "position:\n  colour: red\n", 4, "the keys are hands"),
    "draws name": (HEAD + "draws: {deck: [nonsense]}\n", 4, "not among what is drawn: ash"),
    "draws range": (HEAD + "draws: {deck: [99]}\n", 4, "0..23"),
    "draws below": (
        HEAD + "position: {hands: [[ash], [yew]]}\noptions: {goal: 1}\ndraws: {omen/2: [9]}\nsteps:\n"
        "  - {clock: expire}\n  - {clock: expire}\n  - {clock: expire}\n",
        6,
        "9 is not in 0..2",
    ),
    "step text": (steps("resign"), 5, "a step is a mapping"),
    "two actors": (steps("{seat: 0, clock: expire}"), 5, "not seat and clock"),
    "no actor": (steps("{command: resign}"), 5, "needs somebody"),
    "seat": (steps("{seat: -1, command: resign}"), 5, "a number from 0"),
    "no command": (steps("{seat: 0}"), 5, "the type of a command"),
    "clock": (steps("{clock: ring}"), 5, "one of expire"),
    "host": (steps("{host: win}"), 5, "one of void, create_match"),
    "step key": (steps("{seat: 0, comand: resign}"), 5, "no key 'comand'"),
    "field": (steps("seat: 0\n    command: {type: choose_rune, rnue: ash}"), 6, "its fields: rune"),
    "fields of nothing": (steps("seat: 0\n    command: {type: dance, slot: 1}"), 6, "there is no command"),
    "value": (steps("seat: 0\n    command: {type: counter, stake: many}"), 6, "stake cannot be 'many'"),
    "negative": (steps("seat: 0\n    command: {type: counter, stake: -1}"), 6, "stake cannot be -1"),
    "payload and fields": (steps("{seat: 0, command: {type: counter, stake: 1, payload: 00}}"), 5, "not both"),
    "prompt": (steps("{seat: 0, command: {type: chant, prompt: next}}"), 5, "`prompt` is current"),
    "no such prompt": (steps("seat: 0\n    command: {type: chant, prompt: {kind: main}}"), 6, "open are: 1 (choose"),
    "at": (steps("{seat: 0, command: resign, at: 500}"), 5, "+MS"),
    "at backwards": (steps("{seat: 0, command: resign, at: -5}"), 5, "+MS"),
    "no deadline": (steps("{seat: 0, command: chant, at: deadline}"), 5, "there is no deadline"),
    "lookup": (steps("{seat: 0, command: {type: choose_rune, rune: =seats.9.hand.0}}"), 5, "leads nowhere"),
    "steps after a refusal": (
        HEAD + "options: {goal: 0}\ncreate: {expect: {rejected: bad_option}}\nsteps:\n  - {seat: 0, command: resign}\n",
        7,
        "refused has no steps",
    ),
    "expect key": (start("{event: []}"), 4, "no key 'event'"),
    "event": (start("{events: [runes_delt]}"), 4, "there is no event 'runes_delt'"),
    "event field": (start("{events: [runes_dealt: {gaol: 3}]}"), 4, "has no field 'gaol'"),
    "absent field": (start("{events: [runes_dealt: {absent: [pouhc]}]}"), 4, "has no field 'pouhc'"),
    "no_events": (start("{no_events: [runes_delt]}"), 4, "there is no event"),
    "viewer": (start("{view: {me: {}}}"), 4, "is no viewer"),
    "view field": (start("{view: {public: {lihgt: 0}}}"), 4, "has no field 'lihgt'"),
    "state path": (start("{state: {seats.0.toknes: 2}}"), 4, "has no field 'toknes'"),
    "legal viewer": (start("{legal: {public: {}}}"), 4, "by seat"),
    "legal command": (start("{legal: {seat:0: {excludes: [chnat]}}}"), 4, "there is no command 'chnat'"),
    "rejected key": (HEAD + "create: {expect: {rejected: {cod: x}}}\n", 4, "no key 'cod'"),
    "rejected with events": (HEAD + "create: {expect: {rejected: x, events: []}}\n", 4, "it leaves no entry"),
    "status": (start("{status: open}"), 4, "one of handshake"),
    "digests": (start("{digests: {seed: 00}}"), 4, "no key 'seed'"),
    "prompts": (start("{prompts: [{seta: 0}]}"), 4, "no key 'seta'"),
    "prompts as": (start("{prompts: {longth: 2}}"), 4, "no key 'longth'"),
    "unseen": (start("{unseen: {public: ash}}"), 4, "list of words"),
    "says": (start("{says: {public: hello}}"), 4, "by viewer and language"),
    "says language": (start("{says: {public: {fi: []}}}"), 4, "no key 'fi'"),
    "says list": (start("{says: {public: {en: hello}}}"), 4, "list of sentences"),
    "says of a refusal": (HEAD + "create: {expect: {rejected: x, says: {}}}\n", 4, "it leaves no entry"),
    "manifest": (start("{manifest: {en: Beacon}}"), 4, "mapping of fields"),
    "manifest language": (start("{manifest: {xx: {}}}"), 4, "no key 'xx'"),
    "manifest field": (start("{manifest: {en: {nmae: x}}}"), 4, "has no field 'nmae'"),
    "duplicate": (start("{duplicate: maybe}"), 4, "true or false"),
    "log": (start("{log: [{version: 5}]}"), 4, "`viewer` is missing"),
    "log version": (start("{log: [{version: 0, viewer: public}]}"), 4, "from 1 to 50000"),
    "revealed": (start("{revealed: soon}"), 4, "true or false"),
    "audit": (start("{audit: {failed: [9]}}"), 4, "from 1 to 8"),
    "tamper event": (start("{audit: {tamper: {version: 1, event: nothing}}}"), 4, "is command, or one of"),
    "tamper version": (
        steps(OVER, "expect: {audit: {tamper: {version: 99, event: command}}}"),
        6,
        "there is no entry 99",
    ),
    "tamper field": (
        steps(OVER, "expect: {audit: {tamper: {version: 2, event: command, fields: {x: 1}}}}"),
        6,
        "no field 'x'",
    ),
    "bot": (steps("{seat: 0, bot: genius}"), 5, "there are random, careful"),
    "bot and command": (steps("{seat: 0, bot: careful, command: chant}"), 5, "instead of a command"),
    "too many steps": (steps("repeat: 9999\n    steps: [{expect: {}}, {expect: {}}]"), 6, "at most 10000"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mistake_is_named_with_its_line_and_what_is_allowed(fault):
    text, line, said = FAULTS[fault]
    result = run(text)
    assert not result.passed
    assert said in result.fault
    assert result.fault_line == line
    assert f"x.yaml:{line}: " in result.text()


def test_a_mistake_in_one_document_leaves_the_others():
    results = run_text(HEAD + "---\n" + HEAD + "x: 1\n---\n" + HEAD, "x.yaml", load)
    assert [r.passed for r in results] == [True, False, True]
    assert [r.line for r in results] == [1, 5, 10]
    assert summary(results) == "2 of 3 scenarios passed, 1 failed."


def test_a_file_that_cannot_be_read_is_a_result(tmp_path):
    [missing] = run_file(tmp_path / "none.yaml", load)
    assert "cannot be read" in missing.fault
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe4")
    [latin] = run_file(tmp_path / "latin.yaml", load)
    assert "UTF-8" in latin.fault


@given(st.text(max_size=200))
def test_any_text_at_all_gives_a_result(text):
    for result in run_text(text, "x.yaml", load):
        assert result.text()


# ---- failures --------------------------------------------------------------------------------------------------------


def test_a_failure_says_where_what_was_expected_and_what_came():
    result = run(HEAD + "start:\n  expect:\n    state: {light: 0}\n    events:\n      - runes_dealt: {goal: 13}\n")
    assert result.text().splitlines() == [
        "FAILED  x.yaml:1 x (TOY-1)",
        "  x.yaml:7: step start: events[0].runes_dealt.goal",
        "    expected 13",
        "    got      12",
    ]


def test_a_refusal_that_was_not_expected_is_shown():
    result = run(HEAD + "steps:\n  - {seat: 0, command: {type: choose_rune, rune: none}}\n")
    [failure] = result.failures
    assert (failure.step, failure.line, failure.expected) == ("1", 5, "the command is accepted")
    assert "not_in_hand" in failure.got


def test_an_acceptance_that_was_not_expected_is_shown():
    result = run(HEAD + "steps:\n  - {seat: 0, command: chant, expect: {rejected: bad_stake}}\n")
    [failure] = result.failures
    assert (failure.path, failure.got) == ("rejected", "accepted as version 6")


def test_it_stops_at_the_first_step_that_fails_and_shows_all_of_it():
    result = run(
        HEAD
        + "steps:\n  - {seat: 0, command: chant}\n"
        + "  - {seat: 1, command: chant, expect: {version: 9, status: closed}}\n"
        + "  - {seat: 1, command: resign, expect: {version: 1}}\n"
    )
    assert result.steps == 2
    assert [(f.step, f.path) for f in result.failures] == [("2", "status"), ("2", "version")]


def said(viewer: str) -> list[str]:
    """Every sentence of the toy's first entry."""
    result = run(start(f"{{says: {{{viewer}: {{en: [nothing of the sort]}}}}}}"))
    [failure] = result.failures
    assert (failure.path, failure.expected) == (f"says.{viewer}.en[0]", "nothing of the sort")
    return re.split(r" (?=[A-Z]\w+ \w+: )", failure.got)


def test_sentences_are_found_in_their_order_and_as_the_viewer_reads_them():
    sentences = said("public")
    assert len(sentences) >= 2
    quoted = [json.dumps(sentence) for sentence in sentences]
    assert run(start(f"{{says: {{public: {{en: [{quoted[0]}, {quoted[-1]}]}}}}}}")).passed
    assert not run(start(f"{{says: {{public: {{en: [{quoted[-1]}, {quoted[0]}]}}}}}}")).passed
    assert said("seat:0") != said("seat:1")
    assert not {*said("seat:0")} <= {*sentences}, "a seat is told more than the public"


def test_draws_and_prompts_may_be_counted():
    assert run(start("{prompts: {length: 4, lacks: [{kind: main}]}, draws: {length: 1}}")).passed
    assert [f.path for f in run(start("{prompts: {length: 3}, draws: {length: 7}}")).failures] == ["draws", "prompts"]


def test_a_manifest_is_compared():
    assert run(start("{manifest: {en: {name: Beacon, catalogues.0.name: runes}}}")).passed
    [failure] = run(start("{manifest: {en: {name: Lighthouse}}}")).failures
    assert (failure.path, failure.got) == ("manifest.en.name", "Beacon")


def test_a_position_that_cannot_be_is_a_refusal_where_one_is_expected():
    head = HEAD + "position:\n  colour: red\ncreate: {expect: {rejected: "
    assert run(head + "{code: bad_position, field: position}}}\n").passed
    [failure] = run(head + "bad_option}}\n").failures
    assert (failure.path, failure.got) == ("rejected.code", "bad_position")


def test_a_deadline_has_all_down_time_given_back():
    late = "  - {clock: expire, at: created+30000, down_ms: 7000, expect: {rejected: not_due}}\n"
    early = "  - {clock: expire, at: deadline-1, expect: {rejected: not_due}}\n"
    due = "  - {clock: expire, expect: {time_ms: 37000, events: [clock_extended: {by_ms: 7000}]}}\n"
    result = run(HEAD + "steps:\n" + late + early + due)
    assert result.passed, result.text()


def test_a_forced_label_that_nobody_asks_for_fails():
    result = run(HEAD + "draws: {omen/77: [1]}\n")
    assert [(f.step, f.path) for f in result.failures] == [("end", "draws.omen/77")]


def test_steps_may_be_repeated():
    steps = "steps:\n  - repeat: 3\n    steps:\n      - {seat: 0, command: {type: set_stance, always_pass: false}}\n"
    assert run(HEAD + steps + "  - expect: {version: 8}\n").passed
    result = run(HEAD + steps.replace("}}", "}, expect: {version: 7}}"))
    assert [f.step for f in result.failures] == ["1.1 (round 1)"]


def test_what_always_holds_is_checked(monkeypatch):
    """A view that shows a hidden rune is found though nobody asked."""
    game = PLUGIN.game
    honest = type(game).view

    def leaky(self, state, viewer):
        view = honest(self, state, viewer)
        if view.HasField("own_seat") and view.own_seat == 0:
            view.seats[1].chosen = state.keepers[1].hand[0]
        return view

    assert run(HEAD).passed
    monkeypatch.setattr(type(game), "view", leaky)
    [failure] = run(HEAD).failures
    assert failure.path == "(always) the view of seat:0"


@pytest.mark.parametrize("listed", [True, False])
def test_legal_and_accepted_are_compared(monkeypatch, listed):
    game = PLUGIN.game
    honest = type(game).legal

    def wrong(self, state, seat, prompt):
        return honest(self, state, seat, prompt) if prompt.kind != "chant" else honest(self, state, seat, prompt) * 2

    def empty_hand(self, state, seat, prompt):
        return () if prompt.kind == "choose" else honest(self, state, seat, prompt)

    monkeypatch.setattr(type(game), "legal", wrong if listed else empty_hand)
    result = run(HEAD + "steps:\n  - {seat: 0, command: {type: choose_rune, rune: =seats.0.hand.0}}\n")
    assert result.passed is listed


# ---- comparing -------------------------------------------------------------------------------------------------------

GOT = {
    "seat": 0,
    "cards": ["a", "b"],
    "numbers": {"wall": 5, "tower": 20},
    "none": None,
    "hex": Hex("0aff"),
    "text": "60",
}


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"seat": 0},
        {"numbers": {"wall": 5}},
        {"numbers.wall": 5, "cards.0": "a", "cards.-1": "b", "cards.1": "b"},
        {"cards": ["a", "b"]},
        {"cards.*": ["a", "b"]},
        {"hex": "0AFF"},
        {"hex": "0aff"},
        {"text": 60},
        {"text": "60"},
        {"none": None, "absent": ["none"]},
        {"absent": ["seat", "none"]},
        {"numbers": {"exactly": {"wall": 5, "tower": 20}}},
        {"seat": {"not": 1}},
        {"seat": {"one_of": [1, 0]}},
        {"numbers.wall": {"at_least": 5, "at_most": 5}},
        {"cards": {"length": 2, "contains": ["b"], "lacks": ["c"]}},
        {"cards": {"contains": "b"}},
    ],
)
def test_what_fits(expected):
    assert compare(expected, GOT) == []


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        ({"seat": 1}, "seat"),
        ({"seat": False}, "seat"),
        ({"seat": "0"}, "seat"),
        ({"seat": None}, "seat"),
        ({"numbers": {"wall": 6}}, "numbers.wall"),
        ({"numbers.wall": 6}, "numbers.wall"),
        ({"numbers": {"moat": 6}}, "numbers.moat"),
        ({"numbers": 5}, "numbers"),
        ({"seat": {"x": 1}}, "seat"),
        ({"cards": ["a"]}, "cards"),
        ({"cards": ["b", "a"]}, "cards[0]"),
        ({"cards": "a"}, "cards"),
        ({"cards.7": "a"}, "cards.7"),
        ({"cards.x": "a"}, "cards.x"),
        ({"hex": "0b"}, "hex"),
        ({"hex": "zz"}, "hex"),
        ({"none": 1}, "none"),
        ({"absent": ["cards"]}, "cards"),
        ({"absent": ["moat"]}, "moat"),
        ({"numbers": {"exactly": {"wall": 5}}}, "numbers.tower"),
        ({"seat": {"not": 0}}, "seat"),
        ({"seat": {"one_of": [1, 2]}}, "seat"),
        ({"numbers.wall": {"at_least": 6}}, "numbers.wall"),
        ({"numbers.wall": {"at_most": 4}}, "numbers.wall"),
        ({"text": {"at_least": 1}}, "text"),
        ({"cards": {"length": 1}}, "cards"),
        ({"cards": {"contains": ["c"]}}, "cards"),
        ({"cards": {"lacks": ["a"]}}, "cards"),
    ],
)
def test_what_does_not_fit(expected, path):
    assert [difference.path for difference in compare(expected, GOT)] == [path] or path == "cards[0]"
    assert compare(expected, GOT)[0].path == path


def test_events_in_order():
    got = [("a", {"n": 1}), ("b", {"n": 2}), ("a", {"n": 3})]
    assert in_order([("a", {}), ("a", {"n": 3})], got, "events") == []
    assert in_order([("b", {}), ("a", {"n": 1})], got, "events")[0].path == "events[1].a.n"
    assert in_order([("a", {"n": 3}), ("b", {})], got, "events")[0].got == "no more events"
    assert in_order([("c", {})], got, "events")[0].got == "a, b, a"


# ---- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", b""),
        ("00ff", b"\x00\xff"),
        ("2 x ab", b"\xab\xab"),
        ("2x ab", b"\xab\xab"),
        ("0e..10", b"\x0e\x0f\x10"),
        (11, b"\x11"),
    ],
)
def test_bytes_can_be_written_three_ways(text, value):
    assert read_bytes(text) == value


@pytest.mark.parametrize("text", ["0", "zz", "ff..00", "x 11", "999999 x 11", None, True, -1, 1.5, [1]])
def test_other_bytes_are_refused(text):
    with pytest.raises(ValueError, match="is no bytes"):
        read_bytes(text)


def test_yaml_without_surprises():
    [document] = load_documents(
        "a: no\nb: on\nc: 0011\nd: +5\ne: 1_000\nf: 2026-01-01\ng: 12:30\nh: 1e3\ni: 0\nj: -3\nk: ~"
    )
    assert document == {
        "a": "no", "b": "on", "c": "0011", "d": "+5", "e": "1_000", "f": "2026-01-01", "g": "12:30", "h": "1e3",
        "i": 0, "j": -3, "k": None,
    }  # fmt: skip
    [document] = load_documents("x: " + "1" * 64)
    assert document == {"x": "1" * 64}


def test_anchors_and_merges_work():
    [document] = load_documents("base: &b {x: 1}\nother:\n  <<: *b\n  y: 2\n")
    assert document["other"] == {"x": 1, "y": 2}


def test_a_file_has_a_largest_size():
    with pytest.raises(ScenarioError, match="at most"):
        load_documents("# " + "x" * 1024 * 1024)

"""Narrowing what is legal down to one command."""

from __future__ import annotations

import random

import pytest

from grimoire.cli.screens.composer import Draft, Offer, command_bytes
from grimoire.engine import Schema
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import prompt_pb2


def entry(type_: str, *refs: str, slots: tuple[prompt_pb2.Slot, ...] = ()) -> prompt_pb2.LegalEntry:
    fixed = [prompt_pb2.FixedField(name=ref.partition(":")[0], ref=ref) for ref in refs]
    return prompt_pb2.LegalEntry(type=type_, fixed=fixed, slots=slots)


def prompt(*entries: prompt_pb2.LegalEntry, required: bool = True, number: int = 1) -> prompt_pb2.Prompt:
    return prompt_pb2.Prompt(prompt_id=number, required=required, legal=entries)


DUEL = prompt(
    entry("play", "slot:0", "card:ruby"),
    entry("discard", "slot:0", "card:ruby"),
    entry("discard", "slot:1", "card:orc"),
)


def picked(draft: Draft, *refs: str) -> Draft:
    for ref in refs:
        found = draft.pick(ref)
        assert found is not None
        draft = found
    return draft


def test_nothing_is_settled_before_something_is_chosen() -> None:
    draft = Draft.of([prompt(entry("pass"))])
    assert draft.settled is None
    chosen = draft.choose("pass")
    assert chosen is not None
    assert chosen.settled is not None


def test_picking_narrows_and_the_command_settles_it() -> None:
    draft = picked(Draft.of([DUEL]), "slot:0")
    assert draft.commands() == ("play", "discard")
    assert draft.settled is None
    only = draft.only("discard")
    assert only is not None
    assert [f.ref for f in only.entry.fixed] == ["slot:0", "card:ruby"]


def test_command_first_then_the_thing() -> None:
    draft = Draft.of([DUEL]).choose("play")
    assert draft is not None
    assert picked(draft, "slot:0").settled == Offer(1, True, DUEL.legal[0])


def test_picking_another_thing_replaces_the_first() -> None:
    draft = picked(Draft.of([DUEL]), "slot:0", "slot:1")
    assert draft.picked == ("slot:1",)
    assert draft.settled == Offer(1, True, DUEL.legal[2])


def test_picking_what_the_command_cannot_have_opens_the_command_again() -> None:
    draft = Draft.of([DUEL]).choose("play")
    assert draft is not None
    assert picked(draft, "slot:1").command == ""


def test_picking_again_puts_back() -> None:
    assert picked(Draft.of([DUEL]), "slot:0", "slot:0").picked == ()


def test_two_things_of_one_entry_are_kept_together() -> None:
    moves = prompt(
        entry("move", "from:a3", "to:a4"), entry("move", "from:a3", "to:b3"), entry("move", "from:c1", "to:a4")
    )
    draft = picked(Draft.of([moves]), "to:a4", "from:a3")
    assert draft.settled == Offer(1, True, moves.legal[0])
    assert picked(draft, "from:c1").settled == Offer(1, True, moves.legal[2])


def test_a_thing_that_nothing_legal_has_cannot_be_picked() -> None:
    assert Draft.of([DUEL]).pick("slot:5") is None


def test_a_command_that_does_not_fit_cannot_be_chosen() -> None:
    assert picked(Draft.of([DUEL]), "slot:1").choose("play") is None


def test_undo_takes_things_back_and_then_the_command() -> None:
    chosen = Draft.of([DUEL]).choose("play")
    assert chosen is not None
    draft = picked(chosen, "slot:0")
    assert draft.undo().picked == ()
    assert draft.undo().command == "play"
    assert draft.undo().undo().command == ""


def test_required_prompts_come_first() -> None:
    draft = Draft.of([prompt(entry("chant"), required=False, number=1), prompt(entry("choose"), number=2)])
    assert [offer.type for offer in draft.offers] == ["choose", "chant"]


def test_a_slot_for_one_thing_is_filled_by_pointing_at_it() -> None:
    slots = (
        prompt_pb2.Slot(field="reason", one=prompt_pb2.One(candidates=["rune:ash", "rune:dew"])),
        prompt_pb2.Slot(field="n", number=prompt_pb2.NumberRange(min=1, max=2)),
    )
    offer = picked(Draft.of([prompt(entry("void", "seat:1", slots=slots))]), "rune:dew").settled
    assert offer is not None
    assert offer.answers(["rune:dew", "seat:1"]) == {"reason": "rune:dew"}
    assert offer.answers(["rune:dew", "rune:ash"]) is None


def test_what_was_chosen_survives_new_prompts_as_far_as_it_can() -> None:
    draft = picked(Draft.of([DUEL]), "slot:0")
    again = draft.kept_for([prompt(entry("discard", "slot:0", "card:ruby"), number=2)])
    assert (again.picked, again.commands()) == (("slot:0",), ("discard",))
    assert draft.kept_for([prompt(entry("discard", "slot:4", "card:imp"), number=2)]).picked == ()


def test_a_complete_entry_is_sent_as_it_came() -> None:
    payload = pb.PlayCard(slot=1, card="ruby").SerializeToString()
    offer = Offer(1, True, prompt_pb2.LegalEntry(type="play_card", payload=payload))
    assert command_bytes(offer, {}, Schema([pb.DESCRIPTOR])) == payload


def test_slots_are_filled_beside_the_fixed_fields() -> None:
    payload = pb.PlayCard(slot=3).SerializeToString()
    slots = [prompt_pb2.Slot(field="card", one=prompt_pb2.One(candidates=["card:ruby"]))]
    offer = Offer(1, True, prompt_pb2.LegalEntry(type="play_card", payload=payload, slots=slots))
    schema = Schema([pb.DESCRIPTOR])
    sent = command_bytes(offer, {"card": "card:ruby"}, schema)
    assert pb.PlayCard.FromString(sent) == pb.PlayCard(slot=3, card="ruby")
    with pytest.raises(KeyError):
        command_bytes(offer, {}, schema)


def test_whatever_is_picked_only_legal_commands_come_out() -> None:
    rng = random.Random(7)
    refs = ["slot:0", "slot:1", "slot:2", "card:ruby", "card:orc", "card:imp"]
    for _ in range(2000):
        draft = Draft.of([DUEL])
        for _ in range(rng.randrange(6)):
            step = rng.randrange(3)
            if step == 0:
                draft = draft.pick(rng.choice(refs)) or draft
            elif step == 1:
                draft = draft.choose(rng.choice(["play", "discard", "resign"])) or draft
            else:
                draft = draft.undo()
        assert {id(o.entry) for o in draft.remaining} <= {id(e) for e in (o.entry for o in draft.offers)}
        assert draft.remaining, "from any choice there is a way on"
        for _ in range(8):
            draft = draft.undo()
        assert (draft.picked, draft.command) == ((), "")


def one(field: str, *refs: str) -> prompt_pb2.Slot:
    return prompt_pb2.Slot(field=field, one=prompt_pb2.One(candidates=refs))


GARDEN = prompt(
    entry("move", "gnome:4", slots=(one("to", "space:b2", "space:c3"),)),
    entry("move", "gnome:1", slots=(one("to", "space:b2"),)),
    entry("collect"),
    entry("end"),
)


def test_commands_without_anything_to_point_at_are_bare() -> None:
    assert Draft.of([GARDEN]).bare() == ("collect", "end")
    assert Draft.of([DUEL]).bare() == ()


def test_what_fits_what_was_picked_and_what_could_stand_instead() -> None:
    draft = Draft.of([GARDEN])
    assert draft.fits == {"gnome:4", "gnome:1", "space:b2", "space:c3"}
    assert draft.instead == frozenset()
    gnome = picked(draft, "gnome:4")
    assert (gnome.fits, gnome.instead) == ({"space:b2", "space:c3"}, {"gnome:1", "space:b2", "space:c3"})
    way = picked(gnome, "space:c3")
    assert (way.fits, way.instead) == (frozenset(), {"space:b2"})
    assert picked(draft, "space:c3").settled == Offer(1, True, GARDEN.legal[0])


def test_what_the_label_says_already_is_not_asked_again() -> None:
    said = entry("bring", slots=(one("from", "space:c1"), one("to", "space:c2"), one("by", "space:a1", "space:a2")))
    said.label.arguments.add(name="from", value="c1")
    offer = Offer(1, True, said)
    assert offer.answers(()) == {"from": "space:c1"}
    assert offer.answers(("space:c2", "space:c1")) == {"from": "space:c1", "to": "space:c2"}
    several = prompt_pb2.Slot(field="spirits", some=prompt_pb2.Some(candidates=["card:x", "card:y"], min=2, max=2))
    both = entry("put", slots=(several,))
    both.label.arguments.add(name="first", value="x")
    assert Offer(1, True, both).answers(()) == {}
    both.label.arguments.add(name="second", value="y")
    assert Offer(1, True, both).answers(()) == {"spirits": ("card:x", "card:y")}


def some(field: str, *refs: str, most: int) -> prompt_pb2.Slot:
    return prompt_pb2.Slot(field=field, some=prompt_pb2.Some(candidates=refs, min=1, max=most))


def test_a_slot_that_takes_one_of_several_is_pointed_at() -> None:
    draft = Draft.of([prompt(entry("send", slots=(some("cards", "card:x", "card:y", most=1),)))])
    assert draft.fits == {"card:x", "card:y"}
    offer = picked(draft, "card:y").settled
    assert offer is not None
    assert offer.answers(("card:y",)) == {"cards": ("card:y",)}
    assert offer.answers(("card:x", "card:y")) is None
    several = Draft.of([prompt(entry("send", slots=(some("cards", "card:x", "card:y", most=2),)))])
    assert several.usable == frozenset()


def test_of_several_the_one_that_is_said_whole_is_meant() -> None:
    alone = entry("step", "step:move", slots=(one("to", "space:b2", "space:c3"),))
    together = entry("step", "step:move", "rider:1", slots=(one("to", "space:b2"),))
    draft = Draft.of([prompt(alone, together)])
    assert draft.only("step") is None
    assert draft.only("nothing") is None
    there = picked(draft, "space:b2")
    assert there.only("step") == Offer(1, True, alone)
    assert picked(there, "rider:1").only("step") == Offer(1, True, together)
    assert picked(draft, "step:move").only("step") is None

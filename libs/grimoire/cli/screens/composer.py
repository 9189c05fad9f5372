"""A command in the making: what is legal, narrowed down by what is picked. Pure; knows no game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from grimoire.cli.screens.slots import Answer, SlotKind, fill, forced, kind_of, things
from grimoire.engine import Schema
from grimoire.v1 import prompt_pb2

__all__ = ["Draft", "Offer", "command_bytes"]


class Offer(msgspec.Struct, frozen=True):
    """One legal entry and the prompt it answers."""

    prompt_id: int
    required: bool
    entry: prompt_pb2.LegalEntry

    @property
    def type(self) -> str:
        """Code of the command."""
        return self.entry.type

    def refs(self) -> frozenset[str]:
        """Things that may be pointed at for it: its fixed fields, and what its slots for one thing offer."""
        fixed = {field.ref for field in self.entry.fixed}
        return frozenset(fixed.union(*map(things, self._ones())))

    @property
    def fixed_refs(self) -> frozenset[str]:
        """Its fixed fields as things."""
        return frozenset(field.ref for field in self.entry.fixed)

    def is_whole(self, picked: Sequence[str], given: frozenset[str]) -> bool:
        """Whether these things, and what is given anyway, say all of it."""
        answers = self.answers(picked)
        said = self.fixed_refs <= given.union(picked)
        return said and answers is not None and all(slot.field in answers for slot in self.entry.slots)

    def takes(self, picked: Iterable[str]) -> bool:
        """Whether all these things can be meant at once."""
        return self.answers(picked) is not None

    def answers(self, picked: Iterable[str]) -> dict[str, Answer] | None:
        """Which slots are answered by what was pointed at, or by what the label says; None: it does not fit."""
        found = self._pointed(picked)
        if found is None:
            return None
        said = {argument.value for argument in self.entry.label.arguments}
        for slot in self.entry.slots:
            answer = forced(slot)
            if answer is not None and said.issuperset(ref.partition(":")[2] for ref in things(slot)):
                found.setdefault(slot.field, answer)
        return found

    def open_refs(self, picked: Iterable[str]) -> frozenset[str]:
        """Things that may be pointed at besides these; none if these do not fit."""
        found = self._pointed(picked)
        if found is None:
            return frozenset()
        fixed = {field.ref for field in self.entry.fixed}
        left = (things(slot) for slot in self._ones() if slot.field not in found)
        return frozenset(fixed.union(*left)).difference(picked)

    def _pointed(self, picked: Iterable[str]) -> dict[str, Answer] | None:
        """Which slots are answered by these things."""
        fixed = {field.ref for field in self.entry.fixed}
        found: dict[str, Answer] = {}
        for ref in picked:
            if ref in fixed:
                continue
            free = next((s for s in self._ones() if s.field not in found and ref in things(s)), None)
            if free is None:
                return None
            found[free.field] = ref if kind_of(free) is SlotKind.ONE else (ref,)
        return found

    def _ones(self) -> list[prompt_pb2.Slot]:
        """Slots that one thing answers: also those for several, where one is the most that may be chosen."""
        return [slot for slot in self.entry.slots if kind_of(slot) is SlotKind.ONE or _takes_one(slot)]


def _takes_one(slot: prompt_pb2.Slot) -> bool:
    return kind_of(slot) is SlotKind.SOME and slot.some.max == 1


class Draft(msgspec.Struct, frozen=True):
    """What has been chosen so far.

    Attributes:
        offers: everything that is legal, required prompts first.
        picked: refs, in the order they were picked.
        command: code of the chosen command; empty: open.

    Example:
        >>> entries = [
        ...     prompt_pb2.LegalEntry(type=t, fixed=[prompt_pb2.FixedField(name="slot", ref=f"slot:{n}")])
        ...     for t in ("play", "discard")
        ...     for n in (0, 1)
        ... ]
        >>> draft = Draft.of([prompt_pb2.Prompt(prompt_id=1, legal=entries)]).pick("slot:1")
        >>> draft.commands(), draft.choose("play").settled.type
        (('play', 'discard'), 'play')
    """

    offers: tuple[Offer, ...] = ()
    picked: tuple[str, ...] = ()
    command: str = ""

    @classmethod
    def of(cls, prompts: Iterable[prompt_pb2.Prompt]) -> Draft:
        """Nothing chosen yet, of one's own open prompts."""
        ordered = sorted(prompts, key=lambda prompt: not prompt.required)
        return cls(tuple(Offer(p.prompt_id, p.required, entry) for p in ordered for entry in p.legal))

    @property
    def remaining(self) -> tuple[Offer, ...]:
        """What fits all that was chosen."""
        return tuple(
            offer
            for offer in self.offers
            if (not self.command or offer.type == self.command) and offer.takes(self.picked)
        )

    @property
    def settled(self) -> Offer | None:
        """The one command that is left, once something was chosen; its slots may still be open."""
        left = self.remaining
        return left[0] if len(left) == 1 and (self.picked or self.command) else None

    @property
    def usable(self) -> frozenset[str]:
        """Things that may be picked now; picking one that excludes another replaces it."""
        return frozenset().union(*(offer.refs() for offer in self.offers))

    @property
    def fits(self) -> frozenset[str]:
        """Things that go together with all that is picked."""
        return frozenset().union(*(offer.open_refs(self.picked) for offer in self.remaining))

    @property
    def instead(self) -> frozenset[str]:
        """Things that could be picked in the place of the last one."""
        before = replace(self, picked=self.picked[:-1])
        return before.fits.difference(self.picked) if self.picked else frozenset()

    def bare(self) -> tuple[str, ...]:
        """Codes of the commands, in order, for which there is nothing to point at."""
        return tuple(dict.fromkeys(offer.type for offer in self.offers if not offer.refs()))

    def commands(self) -> tuple[str, ...]:
        """Codes of the commands that are left, in order."""
        return tuple(dict.fromkeys(offer.type for offer in self.remaining))

    def only(self, command: str) -> Offer | None:
        """The one entry that this command would be now; None: there are several, or none.

        Of several it is the one for which nothing more is to be picked: the others go further.
        """
        left = [offer for offer in self.remaining if offer.type == command]
        if len(left) > 1:
            shared = frozenset[str].intersection(*(offer.fixed_refs for offer in left))
            left = [offer for offer in left if offer.is_whole(self.picked, shared)]
        return left[0] if len(left) == 1 else None

    def pick(self, ref: str) -> Draft | None:
        """Picks a thing, or puts it back; what no longer fits is dropped, the oldest last.

        Returns:
            None if nothing legal has this thing.
        """
        if ref in self.picked:
            return replace(self, picked=tuple(p for p in self.picked if p != ref))
        if ref not in self.usable:
            return None
        kept: tuple[str, ...] = (ref,)
        command = self.command if any(o.type == self.command and o.takes(kept) for o in self.offers) else ""
        for old in self.picked:
            wider = (*kept[:-1], old, ref)
            if replace(self, picked=wider, command=command).remaining:
                kept = wider
        return replace(self, picked=kept, command=command)

    def choose(self, command: str) -> Draft | None:
        """Chooses the command, or opens the choice again.

        Returns:
            None if no such command fits what was picked.
        """
        chosen = replace(self, command="" if command == self.command else command)
        return chosen if chosen.remaining else None

    def undo(self) -> Draft:
        """One step back."""
        if self.picked:
            return replace(self, picked=self.picked[:-1])
        return replace(self, command="")

    def kept_for(self, prompts: Iterable[prompt_pb2.Prompt]) -> Draft:
        """The same choice for new prompts, as far as it is still possible."""
        fresh = Draft.of(prompts)
        for ref in self.picked:
            fresh = fresh.pick(ref) or fresh
        return fresh.choose(self.command) or fresh if self.command else fresh


def command_bytes(offer: Offer, answers: Mapping[str, Answer], schema: Schema) -> bytes:
    """The command's payload with all its slots filled.

    Raises:
        KeyError: if an answer is missing, or the schema has no such command or field.
        ValueError, TypeError: if a field cannot take its answer.
    """
    if not offer.entry.slots:
        return offer.entry.payload
    message = schema.commands[offer.type].FromString(offer.entry.payload)
    for slot in offer.entry.slots:
        fill(message, slot, answers[slot.field])
    return message.SerializeToString()

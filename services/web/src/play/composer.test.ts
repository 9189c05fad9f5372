import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type LegalEntry, LegalEntrySchema, type Prompt, PromptSchema, type Slot, SlotSchema } from "../gen/grimoire/v1/prompt_pb";
import {
  alike,
  answer,
  answersOf,
  answerTo,
  choose,
  commands,
  complete,
  type Draft,
  draftOf,
  isEmpty,
  keptFor,
  missing,
  only,
  pick,
  remaining,
  selected,
  settled,
  targets,
  undo,
  usable,
  whole,
} from "./composer";
import { type Answer, fault } from "./slot";

const NAMES = ["ruby", "emerald"];
const names = () => NAMES;

function entry(type: string, fixed: Record<string, string>, slots: Slot[] = []): LegalEntry {
  const fields = Object.entries(fixed).map(([name, ref]) => ({ name, ref }));
  return create(LegalEntrySchema, { type, fixed: fields, slots });
}

function prompt(...legal: LegalEntry[]): Prompt {
  return create(PromptSchema, { promptId: 1, seat: 0, kind: "main", required: true, legal });
}

/** Play slots 0 and 1, discard any of three: the shape of Two Towers. */
const CARDS = prompt(
  ...[0, 1].map((n) => entry("play", { slot: `slot:${n}`, card: `card:c${n}` })),
  ...[0, 1, 2].map((n) => entry("discard", { slot: `slot:${n}`, card: `card:c${n}` })),
);

describe("a draft over enumerated commands", () => {
  it("offers every thing of every command, and nothing when idle is chosen", () => {
    const draft = draftOf(CARDS);
    expect([...usable(draft)].sort()).toEqual(["card:c0", "card:c1", "card:c2", "slot:0", "slot:1", "slot:2"]);
    expect(settled(draft)).toBeNull();
    expect(complete(draft, names)).toBeNull();
  });

  it("leaves the commands that fit a picked thing, and is complete once one is chosen", () => {
    const draft = pick(draftOf(CARDS), "slot:1");
    expect(commands(draft)).toEqual(["play", "discard"]);
    expect(only(draft, "play")).toBe(CARDS.legal[1]);
    expect(complete(choose(draft, "play"), names)).toBe(CARDS.legal[1]);
    expect([...selected(draft)].sort()).toEqual(["card:c1", "slot:1"]);
  });

  it("settles at once where one command is left", () => {
    expect(complete(pick(draftOf(CARDS), "slot:2"), names)).toBe(CARDS.legal[4]);
  });

  it("takes the command before the thing as well as after it", () => {
    expect(complete(pick(choose(draftOf(CARDS), "play"), "slot:0"), names)).toBe(CARDS.legal[0]);
  });

  it("replaces a thing that excludes the new one, and puts back one that is picked again", () => {
    const first = pick(draftOf(CARDS), "slot:0");
    expect(pick(first, "slot:1").picked).toEqual(["slot:1"]);
    expect(isEmpty(pick(first, "slot:0"))).toBe(true);
  });

  it("drops a chosen command that the newly picked thing cannot have", () => {
    const draft = pick(choose(draftOf(CARDS), "play"), "slot:2");
    expect(complete(draft, names)?.type).toBe("discard");
  });

  it("ignores what nothing legal has", () => {
    const draft = draftOf(CARDS);
    expect(pick(draft, "slot:9")).toBe(draft);
    expect(choose(draft, "fly")).toBe(draft);
    expect(answer(draft, "slot", "slot:0")).toBe(draft);
  });

  it("keeps for a renewed prompt what is still legal", () => {
    const draft = choose(pick(draftOf(CARDS), "slot:1"), "play");
    expect(complete(keptFor(draft, prompt(...CARDS.legal)), names)?.type).toBe("play");
    const poorer = prompt(...CARDS.legal.filter((one) => one.type === "discard"));
    expect(complete(keptFor(draft, poorer), names)?.type).toBe("discard");
  });
});

const move = entry("move", {}, [
  create(SlotSchema, { field: "gnome", kind: { case: "one", value: { candidates: ["gnome:a", "gnome:b"] } } }),
  create(SlotSchema, { field: "to", kind: { case: "one", value: { candidates: ["space:a3", "space:a4"] } } }),
  create(SlotSchema, { field: "fire", kind: { case: "number", value: { min: 1, max: 3 } } }),
]);

describe("a draft with open slots", () => {
  it("fills slots for one thing by picking, in any order", () => {
    for (const order of [
      ["gnome:a", "space:a4"],
      ["space:a4", "gnome:a"],
    ]) {
      const draft = order.reduce(pick, draftOf(prompt(move)));
      expect(complete(draft, names)).toBe(move);
      expect(answersOf(draft, move)).toEqual([
        ["gnome", "gnome:a"],
        ["to", "space:a4"],
        ["fire", 1],
      ]);
    }
  });

  it("names the first slot that is missing, and marks what goes on", () => {
    const draft = pick(draftOf(prompt(move)), "space:a3");
    expect(missing(draft, move, names)?.field).toBe("gnome");
    expect([...targets(draft)].sort()).toEqual(["gnome:a", "gnome:b"]);
  });

  it("toggles things of a slot for several, the oldest giving way when it is full", () => {
    const some = create(SlotSchema, { field: "roles", kind: { case: "some", value: { candidates: ["r:1", "r:2", "r:3"], min: 2, max: 2 } } });
    const choice = entry("choose_roles", {}, [some]);
    let draft = draftOf(prompt(choice));
    for (const ref of ["r:1", "r:2", "r:3"]) draft = pick(draft, ref);
    expect(answerTo(draft, choice, some)).toEqual(["r:2", "r:3"]);
    expect(complete(pick(draft, "r:3"), names)).toBeNull();
  });

  it("takes one step back for each answer, however often it was changed", () => {
    const base = pick(pick(draftOf(prompt(move)), "gnome:a"), "space:a3");
    const changed = [2, 3, 2].reduce((draft, n) => answer(draft, "fire", n), base);
    expect(answerTo(undo(changed), move, move.slots[2] as Slot)).toBe(1);
    expect(undo(changed).picked).toEqual(base.picked);
  });
});

// ---- properties -----------------------------------------------------------------------------------------------------

const REFS = ["a:1", "a:2", "a:3", "b:1", "b:2", "b:3"];
const refs = (min: number) => fc.uniqueArray(fc.constantFrom(...REFS), { minLength: min, maxLength: 4 });

const slotKind: fc.Arbitrary<Slot["kind"]> = fc.oneof(
  refs(1).map((candidates) => create(SlotSchema, { kind: { case: "one", value: { candidates } } }).kind),
  fc.tuple(refs(2), fc.integer({ min: 0, max: 2 })).map(([candidates, min]) => create(SlotSchema, { kind: { case: "some", value: { candidates, min, max: 2 } } }).kind),
  fc.integer({ min: 0, max: 3 }).map((min) => create(SlotSchema, { kind: { case: "number", value: { min, max: min + 2 } } }).kind),
  refs(1).map((all) => create(SlotSchema, { kind: { case: "amounts", value: { refs: all.map((ref) => ({ ref, min: 0, max: 2 })), minSum: 1, maxSum: 3 } } }).kind),
  refs(1).map((all) => create(SlotSchema, { kind: { case: "assign", value: { refs: all.map((ref) => ({ ref, choices: ["b:1", "b:2"] })) } } }).kind),
  refs(1).map((all) => create(SlotSchema, { kind: { case: "order", value: { refs: all } } }).kind),
  refs(1).map((options) => create(SlotSchema, { kind: { case: "option", value: { options } } }).kind),
  fc.constant(create(SlotSchema, { kind: { case: "name", value: { catalogue: "cards" } } }).kind),
  refs(0).map((sources) => create(SlotSchema, { kind: { case: "payment", value: { sources, automatic: sources.slice(0, 1) } } }).kind),
);

const legalEntry = fc
  .record({ type: fc.constantFrom("play", "discard", "pass"), fixed: fc.uniqueArray(fc.constantFrom(...REFS), { maxLength: 2 }), kinds: fc.array(slotKind, { maxLength: 2 }) })
  .map(({ type, fixed, kinds }) =>
    entry(
      type,
      Object.fromEntries(fixed.map((ref, n) => [`f${n}`, ref])),
      kinds.map((kind, n) => create(SlotSchema, { field: `s${n}`, kind })),
    ),
  );
const anyPrompt = fc.array(legalEntry, { minLength: 1, maxLength: 6 }).map((legal) => prompt(...legal));

const anyAnswer: fc.Arbitrary<Answer> = fc.oneof(
  fc.constantFrom(...REFS, ...NAMES),
  fc.integer({ min: -2, max: 8 }),
  fc.array(fc.constantFrom(...REFS), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom(...REFS), fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("b:1", "b:9"))),
);
const anyStep: fc.Arbitrary<(draft: Draft) => Draft> = fc.oneof(
  fc.constantFrom(...REFS, "nowhere").map((ref) => (draft: Draft) => pick(draft, ref)),
  fc.constantFrom("play", "discard", "pass", "fly").map((command) => (draft: Draft) => choose(draft, command)),
  fc.tuple(fc.constantFrom("s0", "s1", "s9"), anyAnswer).map(([field, value]) => (draft: Draft) => answer(draft, field, value)),
  fc.constant(undo),
);

describe("any input whatever", () => {
  it("never makes a command that is not legal", () => {
    fc.assert(
      fc.property(anyPrompt, fc.array(anyStep, { maxLength: 14 }), (asked, steps) => {
        const draft = steps.reduce((now, step) => step(now), draftOf(asked));
        const whole = complete(draft, names);
        if (whole === null) return;
        expect(asked.legal).toContain(whole);
        for (const [n, [, value]] of answersOf(draft, whole).entries()) {
          expect(fault(whole.slots[n] as Slot, value, NAMES)).toBeNull();
        }
      }),
      { numRuns: 600 },
    );
  });

  it("leaves something legal to choose, and is undone to nothing chosen", () => {
    fc.assert(
      fc.property(anyPrompt, fc.array(anyStep, { maxLength: 14 }), (asked, steps) => {
        let draft = steps.reduce((now, step) => step(now), draftOf(asked));
        expect(remaining(draft).length).toBeGreaterThan(0);
        for (let n = 0; n <= steps.length; n += 1) draft = undo(draft);
        expect(isEmpty(draft)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it("reaches every enumerated command by its things and its name", () => {
    fc.assert(
      fc.property(anyPrompt, (asked) => {
        for (const wanted of asked.legal.filter((one) => one.slots.length === 0)) {
          const things = wanted.fixed.map((field) => field.ref);
          const draft = choose(things.reduce((now, ref) => (now.picked.includes(ref) ? now : pick(now, ref)), draftOf(asked)), wanted.type);
          expect(remaining(draft)).toContain(wanted);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("entries that pointing does not tell apart", () => {
  const twins = prompt(entry("move", { gnome: "at:b1", to: "to:a1" }), entry("move", { gnome: "at:b1", to: "to:a1" }), entry("stay", { gnome: "at:b1" }));

  it("are told apart once nothing is left to point at, and one of them may be chosen itself", () => {
    const draft = pick(pick(draftOf(twins), "at:b1"), "to:a1");
    expect(settled(draft)).toBeNull();
    expect(alike(draft)).toEqual(twins.legal.slice(0, 2));
    const chosen = { ...draft, exact: twins.legal[1] ?? null };
    expect(settled(chosen)).toBe(twins.legal[1]);
    expect(alike(chosen)).toEqual([]);
    expect(pick(chosen, "to:a1").exact).toBeNull();
  });

  it("are offered by name where a command was chosen and few are left", () => {
    const kinds = prompt(...["a", "b", "c", "d"].map((kind) => entry("act", { kind: `kind:${kind}` })), entry("end", {}));
    expect(alike(draftOf(kinds))).toEqual([]);
    const draft = choose(draftOf(kinds), "act");
    expect(alike(draft)).toHaveLength(4);
    expect(targets(draft)).toEqual(new Set(["kind:a", "kind:b", "kind:c", "kind:d"]));
  });
});

describe("things of which several are meant", () => {
  const several = (...candidates: string[]) => create(SlotSchema, { field: "cards", kind: { case: "some", value: { candidates, min: 1, max: 2 } } });
  const send = prompt(entry("send", {}, [several("card:a", "card:b")]), entry("burn", {}, [several("card:b", "card:c")]), entry("stay", {}));

  it("say by themselves which command is meant, where only one has them", () => {
    expect([...usable(draftOf(send))].sort()).toEqual(["card:a", "card:c"]);
    const draft = pick(draftOf(send), "card:a");
    expect(settled(draft)).toBe(send.legal[0]);
    expect(draft.answers).toEqual({ cards: ["card:a"] });
    expect(isEmpty(draft)).toBe(false);
    expect(pick(draft, "card:b").answers).toEqual({ cards: ["card:a", "card:b"] });
    expect(isEmpty(undo(draft))).toBe(true);
    expect(pick(draftOf(send), "card:b")).toEqual(draftOf(send));
    expect(settled(pick(choose(draftOf(send), "burn"), "card:b"))).toBe(send.legal[1]);
  });
});

describe("whole commands beside those that ask for more", () => {
  const steps = prompt(entry("step", {}), entry("step", { to: "place:a" }), entry("step", { to: "place:a", rider: "mage:1" }), entry("end", {}));

  it("are those for which all was picked", () => {
    expect(whole(draftOf(steps), "step")).toEqual([steps.legal[0]]);
    expect(whole(pick(draftOf(steps), "place:a"), "step")).toEqual([steps.legal[1]]);
  });
});

describe("amounts", () => {
  const range = (ref: string) => ({ ref, min: 0, max: 2 });
  const lay = prompt(
    entry("lay", {}, [create(SlotSchema, { field: "fires", kind: { case: "amounts", value: { refs: [range("at:a1"), range("at:b1")], minSum: 1, maxSum: 3 } } })]),
  );

  it("grow where they are picked, up to what there is, and then begin anew", () => {
    let draft = draftOf(lay);
    const given = () => draft.answers["fires"];
    for (const ref of ["at:a1", "at:a1", "at:b1"]) draft = pick(draft, ref);
    expect(given()).toEqual({ "at:a1": 2, "at:b1": 1 });
    expect(selected(draft)).toEqual(new Set(["at:a1", "at:b1"]));
    expect(complete(draft, names)?.type).toBe("lay");
    draft = pick(draft, "at:b1");
    expect(given()).toEqual({ "at:a1": 2, "at:b1": 0 });
    draft = undo(draft);
    expect(given()).toEqual({ "at:a1": 2, "at:b1": 1 });
  });
});

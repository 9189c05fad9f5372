import { create, fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { CastDollSchema, DrawSpiritSchema, PrepareSchema, ViewSchema } from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import { PromptSchema } from "../../gen/grimoire/v1/prompt_pb";
import { alike, choose, commands, draftOf, only, pick, remaining, selected, settled, targets, usable } from "../../play/composer";
import type { Marks } from "../module";
import { pointed } from "./pointed";
import { cellRef } from "./refs";

const FIELDS = {
  ownSeat: 0,
  phase: "wizard_main",
  spaces: [
    { space: "b1", gnome: "blue_gnome_01" },
    { space: "c1", gnome: "blue_gnome_02" },
    { space: "a4", gnome: "red_gnome_05", pests: [] },
    { space: "a5", pests: ["pest_01", "pest_02"] },
  ],
  seats: [
    { seat: 0, spirits: ["spirit_fire_01", "spirit_pest_01"] },
    { seat: 1, spirits: ["spirit_fire_02", "spirit_water_01"] },
  ],
  row: ["spirit_gnome_01"],
};
const view = create(ViewSchema, FIELDS);
const entry = (type: string, fixed: Record<string, string>) => ({ type, fixed: Object.entries(fixed).map(([name, value]) => ({ name, ref: `${name}:${value}` })) });
const prompt = (...legal: object[]) => pointed(create(PromptSchema, { promptId: 1, kind: "action", legal } as never), view);
const one = (field: string, ...candidates: string[]) => ({ field, kind: { case: "one", value: { candidates } } });
const some = (field: string, min: number, ...candidates: string[]) => ({ field, kind: { case: "some", value: { candidates, min, max: candidates.length } } });
const refs = (...legal: object[]) => prompt(...legal).legal.map((one) => one.fixed.map(({ ref }) => ref));

const steps = prompt(
  entry("move_gnome", { gnome: "blue_gnome_01", to: "a1" }),
  entry("move_gnome", { gnome: "blue_gnome_01", to: "b2" }),
  entry("bring_gnome", { from: "c1", to: "b2" }),
  entry("threaten_with_gnome", { gnome: "blue_gnome_02", target: "a4" }),
  entry("end_action", {}),
);

const marksOf = (draft: ReturnType<typeof draftOf>): Marks => ({ usable: usable(draft), targets: targets(draft), selected: selected(draft) });
const click = (draft: ReturnType<typeof draftOf>, space: string) => pick(draft, cellRef(space, marksOf(draft)));

describe("commands in things of the picture", () => {
  it("are about where something is, and where it is to go", () => {
    expect(refs(entry("move_gnome", { gnome: "blue_gnome_01", to: "a1" }), entry("bring_pest", { from: "b3", to: "b4" }))).toEqual([["at:b1", "to:a1"], ["at:b3", "to:b4"]]);
    expect(refs(entry("collect_water", { deposit: "a2" }), entry("place_lantern", { space: "e4" }))).toEqual([["at:a2"], ["at:e4"]]);
  });

  it("are about either end of a threat, and the threat", () => {
    expect(refs(entry("declare_attack", { group: "a5>a4" }))).toEqual([["at:a5", "to:a4", "group:a5>a4"]]);
  });

  it("are about cards where they lie, and about the spell that is cast", () => {
    expect(refs(entry("cast_eye", { a: "spirit_pest_01", b: "spirit_water_01" }))).toEqual([["spell:eye", "slot:1", "their_slot:1"]]);
    expect(refs(entry("cast_eye", { a: "spirit_fire_02", b: "spirit_gnome_01" }))).toEqual([["spell:eye", "their_slot:0", "open:spirit_gnome_01"]]);
    expect(refs(entry("cast_skull", { target: "a4" }), entry("swap_spirit", { slot: "1", card: "spirit_water_03" }))).toEqual([
      ["spell:skull", "at:a4"],
      ["slot:1", "card:spirit_water_03"],
    ]);
  });

  it("keep the values of open fields", () => {
    const [fish] = prompt({ type: "cast_fish", slots: [{ field: "fires", kind: { case: "amounts", value: { refs: [{ ref: "space:b2", min: 0, max: 3 }], minSum: 1, maxSum: 3 } } }] }).legal;
    expect(fish?.slots[0]?.kind.value).toMatchObject({ refs: [{ ref: "at:b2" }] });
  });

  it("are one for each thing that may be pointed at, with its own payload", () => {
    const draw = prompt({ type: "draw_spirit", slots: [one("source", "pile:deck", "card:spirit_gnome_01"), one("discard", "card:spirit_pest_02")] });
    expect(draw.legal.map(({ fixed, slots }) => [fixed.map(({ ref }) => ref), slots.map(({ field }) => field)])).toEqual([
      [["open:deck"], ["discard"]],
      [["open:spirit_gnome_01"], ["discard"]],
    ]);
    expect(draw.legal.map(({ payload }) => fromBinary(DrawSpiritSchema, payload).source)).toEqual(["deck", "spirit_gnome_01"]);
    const doll = prompt({ type: "cast_doll", slots: [one("gnome", "gnome:red_gnome_05")] });
    expect(doll.legal.map(({ fixed, payload }) => [fixed.map(({ ref }) => ref), fromBinary(CastDollSchema, payload).gnome])).toEqual([[["spell:doll", "at:a4"], "red_gnome_05"]]);
    const both = prompt({ type: "prepare", slots: [some("spirits", 2, "card:spirit_fire_03", "card:spirit_pest_03"), one("kind", "kind:fire", "kind:pest")] });
    expect(both.legal.map(({ payload }) => fromBinary(PrepareSchema, payload))).toMatchObject([
      { spirits: ["spirit_fire_03", "spirit_pest_03"], kind: "fire" },
      { spirits: ["spirit_fire_03", "spirit_pest_03"], kind: "pest" },
    ]);
  });

  it("ask which of a stack are meant, where that is a choice", () => {
    const [threat] = prompt({ type: "threaten_with_pests", slots: [some("pests", 1, "pest:pest_01", "pest:pest_02"), one("target", "space:a4")] }).legal;
    expect(threat?.fixed.map(({ ref }) => ref)).toEqual(["at:a5", "to:a4"]);
    expect(threat?.slots.map(({ field }) => field)).toEqual(["pests"]);
    const [whole] = prompt({ type: "threaten_with_pests", slots: [some("pests", 2, "pest:pest_01", "pest:pest_02"), one("target", "space:a4")] }).legal;
    expect([whole?.fixed.map(({ ref }) => ref), whole?.slots.length]).toEqual([["at:a5", "to:a4"], 0]);
  });

  it("ask twice before threats are given up", () => {
    const attack = create(ViewSchema, { ...FIELDS, phase: "attack", groups: [{ group: "a5>a4", origin: "a5", target: "a4" }] });
    const end = create(PromptSchema, { legal: [entry("end_phase", {})] as never });
    expect(pointed(end, attack).legal[0]?.flags).toEqual(["withdraws_all"]);
    expect(pointed(end, view).legal[0]?.flags).toEqual([]);
  });
});

describe("clicks on the yard", () => {
  it("begin where something is, and end where it is to go", () => {
    const draft = click(click(draftOf(steps), "b1"), "a1");
    expect(settled(draft)?.type).toBe("move_gnome");
    expect(draft.picked).toEqual(["at:b1", "to:a1"]);
  });

  it("may begin with where it is to go", () => {
    const first = click(draftOf(steps), "a1");
    expect(settled(first)?.type).toBe("move_gnome");
    const other = click(draftOf(steps), "b2");
    expect([...targets(other)].sort()).toEqual(["at:b1", "at:c1"]);
    expect(settled(click(other, "c1"))?.type).toBe("bring_gnome");
  });

  it("put back what is selected, and begin anew elsewhere", () => {
    const draft = click(draftOf(steps), "b1");
    expect(click(draft, "b1").picked).toEqual([]);
    expect(click(draft, "c1").picked).toEqual(["at:c1"]);
    expect(commands(click(draft, "c1"))).toEqual(["bring_gnome", "threaten_with_gnome"]);
  });

  it("leave what only words tell apart to the bar", () => {
    const legal = ["pest_01", "pest_02"].map((pest) => ({ ...entry("move_pest", { pest }), slots: [one("to", "space:a6")] }));
    expect(prompt(...legal).legal).toHaveLength(1);
    const threatening = create(ViewSchema, { ...FIELDS, groups: [{ group: "a5>a4", origin: "a5", target: "a4", pieces: ["pest_02"] }] });
    const two = pointed(create(PromptSchema, { legal: legal as never }), threatening);
    const draft = click(click(draftOf(two), "a5"), "a6");
    expect(settled(draft)).toBeNull();
    expect(alike(draft)).toHaveLength(2);
    expect(settled({ ...draft, exact: alike(draft)[1] ?? null })).toBe(two.legal[1]);
  });

  it("narrow a command that was chosen by its name", () => {
    const draft = choose(draftOf(steps), "move_gnome");
    expect(remaining(draft)).toHaveLength(2);
    expect([...targets(draft)].sort()).toEqual(["at:b1", "to:a1", "to:b2"]);
    expect(alike(draft)).toHaveLength(2);
    expect(only(draft, "end_action")).toBeNull();
  });
});

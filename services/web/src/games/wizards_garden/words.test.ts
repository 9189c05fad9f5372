import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { Words } from "../../api/manifest.svelte";
import { ResultSchema, type View, ViewSchema } from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import { ManifestSchema, TemplateKind } from "../../gen/grimoire/v1/manifest_pb";
import { cellsOf, KINDS } from "./picture";
import { thingName } from "./refs";
import { cellLabel, inspect, sections, situation } from "./words";

const NAMES = ["Mira", "Otso"];
const piece = (id: string) => ({ id, name: id.replaceAll("_", " ").replace(/ 0?(\d+)$/, " $1") });
const gnomes = ["blue", "red"].flatMap((colour) => Array.from({ length: 10 }, (_, n) => `${colour}_gnome_${String(n + 1).padStart(2, "0")}`));
const pests = Array.from({ length: 10 }, (_, n) => `pest_${String(n + 1).padStart(2, "0")}`);
const words = new Words(
  create(ManifestSchema, {
    game: "wizards_garden",
    catalogues: [
      { name: "spells", items: [{ id: "conch", name: "Conch", text: "Stops an attack.", rules: ["WG-13.11"], facts: [{ name: "timing", value: "opponent_attack_phase" }] }, { id: "skull", name: "Skull" }, { id: "gem", name: "Gem" }] },
      { name: "cards", items: KINDS.flatMap((kind) => [1, 2, 3].map((n) => ({ id: `spirit_${kind}_0${n}`, name: `Spirit of ${kind}` }))) },
      { name: "pieces", items: [...gnomes, ...pests].map(piece) },
    ],
    templates: [
      ...KINDS.map((kind) => ({ kind: TemplateKind.EVENT, key: `name.${kind}`, text: `${kind} lantern` })),
      ...KINDS.flatMap((kind) => [1, 2].map((n) => ({ kind: TemplateKind.EVENT, key: `action.${kind}.${n}`, text: `${kind} times ${n}` }))),
      ...["magician", "gem", "doll"].map((source) => ({ kind: TemplateKind.EVENT, key: `source.${source}`, text: `by ${source}` })),
      { kind: TemplateKind.REASON, key: "five_lanterns", text: "five lanterns" },
    ],
  }),
);
const dim = { state: "dim_on_board", space: "" };

// Every number differs from every other, so that one that is left out cannot hide behind another.
const view: View = create(ViewSchema, {
  ownSeat: 0,
  firstSeat: 1,
  turnNo: 117,
  turnLimit: 999,
  activeSeat: 0,
  state: "defence",
  phase: "attack",
  askedSeat: 1,
  spaces: [
    { space: "c1", gnome: "blue_gnome_02", lantern: "fire", bright: true, heldBy: 0, water: 5 },
    { space: "a4", gnome: "red_gnome_07", lantern: "water", heldBy: 1 },
    { space: "a5", pests: ["pest_03", "pest_06"] },
    { space: "d4", gnome: "blue_gnome_09", pests: ["pest_08"] },
    { space: "e5", fishFire: 4 },
    { space: "e2", water: 3 },
  ],
  groups: [
    { group: "a5>a4", origin: "a5", target: "a4", pieces: ["pest_03", "pest_06"], strength: 2 },
    { group: "b5>c5", origin: "b5", target: "c5", pieces: ["pest_10"], inTransit: true, strength: 1 },
  ],
  seats: [
    {
      seat: 0,
      spirits: ["spirit_gnome_01", "spirit_fire_01"],
      lanterns: [{ kind: "pest", ...dim }, { kind: "water", ...dim }, { kind: "spirit", state: "lit_on_board" }, { kind: "gnome", ...dim }, { kind: "fire", state: "bright_in_yard", space: "c1" }],
      fire: 301,
      handCount: 302,
      spellCount: 303,
      gnomesInSupply: 304,
      lanternsInYard: 305,
      brightInYard: 306,
      hand: ["spirit_water_01"],
      spells: ["conch"],
    },
    {
      seat: 1,
      spirits: [],
      lanterns: [{ kind: "pest", ...dim }, { kind: "water", state: "dim_in_yard", space: "a4" }, { kind: "spirit", ...dim }, { kind: "gnome", ...dim }, { kind: "fire", ...dim }],
      fire: 311,
      handCount: 312,
      spellCount: 313,
      gnomesInSupply: 314,
      lanternsInYard: 315,
      brightInYard: 316,
    },
  ],
  row: ["spirit_pest_01", "spirit_water_02", "spirit_spirit_01"],
  discards: ["spirit_gnome_02"],
  deckCount: 401,
  reshuffles: 402,
  pestsInSupply: 403,
  waterInSupply: 404,
  fireInSupply: 405,
  spellsPerPlayer: 406,
  cast: [{ seat: 1, spell: "gem" }],
  battle: { seat: 0, group: "a5>a4", target: "a4", strength: 407, fire: 408, awaits: "defence" },
});

function everything(of: View): string {
  return sections(of, words, NAMES, 0)
    .flatMap((section) => [section.title, ...section.items])
    .join("\n");
}

describe("the view in words", () => {
  it("tells every number, name and place of the view (W-A11Y-2)", () => {
    const text = everything(view);
    const told = [117, 999, ...[1, 2, 3, 4, 5, 6].flatMap((n) => [300 + n, 310 + n]), ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => 400 + n)];
    for (const number of told) expect(text).toMatch(new RegExp(`(^|\\D)${number}(\\D|$)`, "m"));
    const names = ["Mira", "Otso", "blue gnome 2", "red gnome 7", "blue gnome 9", "pest 3, pest 6", "pest 8", "pest 10", "Conch", "Gem"];
    for (const name of [...names, "Stops an attack.", "Spirit of water", "Spirit of spirit", "Spirit of gnome", "attack", "defence"]) expect(text).toContain(name);
    for (const { space } of view.spaces) expect(text).toMatch(new RegExp(`^${space}, `, "m"));
    for (const [space, facts] of [["c1", ["bright fire lantern", "water 5", "Mira"]], ["a4", ["dim water lantern", "Otso", "threatened from a5 by pest 3, pest 6"]], ["d4", ["possessed by pest 8"]], ["e5", ["fish fire 4"]]] as const) {
      const line = text.split("\n").find((each) => each.startsWith(`${space}, `)) ?? "";
      for (const fact of facts) expect(line).toContain(fact);
    }
    for (const cell of cellsOf(view)) expect(text).toContain(cell.id);
  });

  it("tells what only some views have", () => {
    const differs = (more: object, ...told: string[]) => {
      const { $typeName: _, ...fields } = view;
      const text = everything(create(ViewSchema, { ...fields, ...more }));
      expect(text).not.toBe(everything(view));
      for (const each of told) expect(text).toContain(each);
    };
    const battle = { seat: 0, target: "a4", strength: 407, fire: 408, group: "a5>a4" };
    differs({ action: { source: "magician", kind: "pest", steps: 2, stepsLeft: 1, moved: ["pest_03"] } }, "by magician: pest times 2", "pest 3 (a5)");
    differs({ action: { source: "doll", kind: "gnome", steps: 1, stepsLeft: 1, gnome: "red_gnome_07" } }, "red gnome 7 (a4)");
    differs({ pendingSource: "gem", pending: [{ index: 1, kind: "fire", steps: 2 }] }, "by gem", "fire times 2");
    differs({ wizardReplaced: true });
    differs({ arranged: true });
    differs({ turnNo: 0, row: [] });
    differs({ deck: ["spirit_fire_03"], setAside: ["skull"] }, "Spirit of fire", "Skull");
    differs({ battle: { ...battle, group: "skull", awaits: "light", kind: "gnome" } }, "Skull", "gnome lantern");
    differs({ battle: { ...battle, awaits: "space", survivors: ["pest_06"], inTransit: true } }, "pest 6 (a5)");
    differs({ result: create(ResultSchema, { result: "red", winner: 1, reason: "five_lanterns" }) }, "Otso won: five lanterns");
    differs({ result: create(ResultSchema, { result: "draw", reason: "turn_limit" }) });
  });

  it("tells nothing of a hand that is not shown", () => {
    const theirs = sections(view, words, NAMES, 0).find((section) => section.title.startsWith("Otso"));
    expect(theirs?.items.some((item) => item.includes("Spirit of"))).toBe(false);
  });

  it("begins the situation with one's own side", () => {
    expect(situation(view, words, NAMES, 1)).toMatch(/^Otso: .*Mira: /);
    expect(situation(view, words, NAMES, 0)).toMatch(/^Mira: lanterns 305 of 5, bright 306, spirit lantern lit, fire 301/);
  });
});

describe("a thing in words", () => {
  it("is a space with all that is on it", () => {
    const cells = new Map(cellsOf(view).map((cell) => [cell.id, cell]));
    const label = (space: string) => cellLabel(cells.get(space) as never, words, NAMES);
    expect(label("c1")).toBe("c1, blue terrace, deposit, blue gnome 2, bright fire lantern, water 5, held by Mira");
    expect(label("b5")).toBe("b5, pit");
    expect(label("a3")).toBe("a3, space, free");
    expect(label("c5")).toBe("c5, space, free, threatened from b5 by pest 10, waiting on the border");
  });

  it("is shown in full: spells, cards, kinds, spaces, threats", () => {
    expect(inspect("spell:conch", view, words)).toMatchObject({ title: "Conch", text: "Stops an attack.", rules: ["WG-13.11"] });
    expect(inspect("card:spirit_fire_01", view, words)).toMatchObject({ title: "Spirit of fire", rules: ["WG-6.6"] });
    expect(inspect("slot:1", view, words)).toMatchObject({ title: "Spirit of fire" });
    expect(inspect("kind:pest", view, words)?.text).toContain("pest times 2");
    expect(inspect("space:a4", view, words, NAMES)?.text).toContain("red gnome 7");
    expect(inspect("at:b5", view, words)?.rules).toEqual(["WG-2.7"]);
    expect(inspect("group:a5>a4", view, words)?.text).toContain("pest 3, pest 6");
    expect(inspect("group:a1>a2", view, words)).toBeNull();
    expect(inspect("option:none", view, words)).toBeNull();
  });

  it("is called by its place where that is what tells it apart", () => {
    expect(["at:a4", "to:c7", "slot:0", "open:deck", "group:a5>a4", "spell:conch", "to:target"].map((ref) => thingName(ref, words))).toEqual([
      "a4",
      "c7",
      "left spirit",
      "Deck",
      "a5 › a4",
      "Conch",
      null,
    ]);
  });
});

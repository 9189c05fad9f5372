import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { Words } from "../../api/manifest.svelte";
import { ResultSchema, type View, ViewSchema } from "../../gen/grimoire/games/two_towers/v1/two_towers_pb";
import { ManifestSchema, TemplateKind } from "../../gen/grimoire/v1/manifest_pb";
import { inspect, sections, situation, slotLabel } from "./words";

const NAMES = ["Mira", "Otso"];
const card = (id: string, name: string, cost: number, again = false) => ({
  id,
  name,
  text: `${name} does it.`,
  rules: ["TT-4.4"],
  facts: Object.entries({ no: "1", colour: "blue", resource: "mana", cost: String(cost), act_again: String(again) }).map(([n, value]) => ({ name: n, value })),
});
const words = new Words(
  create(ManifestSchema, {
    game: "two_towers",
    catalogues: [
      { name: "cards", items: [card("ruby", "Ruby", 3), card("prism", "Prism", 2, true), card("diamond", "Diamond", 16)] },
      { name: "battlefields", items: [{ id: "free_steppe", name: "Free Steppe" }] },
    ],
    templates: [
      { kind: TemplateKind.TERM, key: "mana", text: "mana" },
      { kind: TemplateKind.REASON, key: "tower_built", text: "a tower reached its goal" },
      { kind: TemplateKind.REASON, key: "ladder.wall", text: "the higher wall" },
    ],
  }),
);

// Every number differs from every other, so that one that is left out cannot hide behind another.
const view: View = create(ViewSchema, {
  ownSeat: 0,
  battlefield: "free_steppe",
  deckType: "standard",
  goalTower: 201,
  goalResource: 502,
  firstSeat: 1,
  turnNo: 33,
  turnLimit: 999,
  activeSeat: 0,
  phase: "main",
  playsThisTurn: 44,
  playLimit: 98,
  timeoutLimit: 7,
  seats: [
    {
      seat: 0,
      numbers: { tower: 101, wall: 102, mines: 103, monasteries: 104, barracks: 105, ore: 106, mana: 107, recruits: 108 },
      handCount: 6,
      timeouts: 5,
      hand: [
        { slot: 0, card: "ruby", cost: 3, resource: "mana", affordable: true },
        { slot: 1, card: "diamond", cost: 16, resource: "mana", shortfall: 19 },
        { slot: 2, card: "" },
      ],
    },
    {
      seat: 1,
      numbers: { tower: 111, wall: 112, mines: 113, monasteries: 114, barracks: 115, ore: 116, mana: 117, recruits: 118 },
      handCount: 4,
      timeouts: 2,
    },
  ],
  pileCount: 61,
  reshuffles: 8,
  discards: ["prism"],
  lastCards: [{ seat: 1, card: "prism", how: "forced", turnNo: 32 }],
});

function everything(of: View): string {
  return sections(of, words, NAMES, 0)
    .flatMap((section) => [section.title, ...section.items])
    .join("\n");
}

describe("the view in words", () => {
  it("tells every number and name of the view", () => {
    const text = everything(view);
    const told = [201, 502, 33, 999, 44, 98, 7, 5, 2, 61, 8, 6, 4, 19, ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) => [100 + n, 110 + n])];
    for (const number of told) expect(text).toMatch(new RegExp(`(^|\\D)${number}(\\D|$)`, "m"));
    for (const name of ["Mira", "Otso", "Free Steppe", "standard", "main", "Ruby", "Diamond", "Prism"]) expect(text).toContain(name);
  });

  it("tells what only some views have: an endless deck, an arranged position, the end, the pile", () => {
    const other = create(ViewSchema, {
      ...view,
      drawsMade: 71,
      arranged: true,
      pile: ["ruby"],
      result: create(ResultSchema, { outcome: "win", winner: 1, reasons: ["tower_built"], ladderStep: "wall" }),
    });
    delete other.pileCount;
    const text = everything(other);
    expect(text).toContain("71");
    expect(text).toContain("a tower reached its goal (the higher wall)");
    expect(everything(create(ViewSchema, { ...view, arranged: true }))).not.toBe(everything(view));
    expect(text.split("\n").at(-1)).toBe("Ruby");
  });

  it("tells nothing of a hand that is not shown", () => {
    expect(sections(view, words, NAMES, 0).filter((section) => section.items.some((item) => item.includes("costs")))).toHaveLength(1);
  });

  it("begins the situation with one's own side", () => {
    expect(situation(view, words, NAMES, 1)).toMatch(/^Otso: tower 111 of 201, wall 112.*Mira: tower 101/);
  });
});

describe("a card in words", () => {
  it("says its slot from one, its price, and what it lacks", () => {
    const [ruby, diamond, empty] = view.seats[0]?.hand ?? [];
    expect(slotLabel(ruby as never, words)).toBe("1: Ruby, costs 3 mana. Ruby does it. Can be paid.");
    expect(slotLabel(diamond as never, words)).toContain("19 short");
    expect(slotLabel(empty as never, words)).toBe("Slot 3 is empty");
  });

  it("is shown in full by slot or by card", () => {
    expect(inspect("slot:1", view, words)).toMatchObject({ title: "Diamond", rules: ["TT-4.4"] });
    expect(inspect("card:prism", view, words)?.rows.some(([name]) => name === "↻")).toBe(true);
    expect(inspect("slot:2", view, words)).toBeNull();
  });
});

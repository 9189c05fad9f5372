import { readFileSync } from "node:fs";

import { create, type DescMessage, getOption } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { file_grimoire_games_wizards_garden_v1_wizards_garden as file } from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import { event as isEvent } from "../../gen/grimoire/v1/visibility_pb";
import type { Say } from "../../play/phrase";
import { phraseOf } from "./phrases";

const texts = readFileSync("../wizards_garden/data/en.toml", "utf8");
const events = new Set([...(texts.split("[events]")[1]?.split("\n[")[0] ?? "").matchAll(/^"?([\w.]+)"? = /gm)].map((match) => match[1]));
const asked: string[] = [];
const say: Say = Object.assign((key: string) => (asked.push(key), key), { seat: (seat: number) => `seat ${seat}`, term: (key: string) => key, item: (id: string) => id });

const code = (name: string) => name.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
const keyOf = (schema: DescMessage, fields: object): string | null => {
  const phrase = phraseOf(create(schema, fields as never), say);
  return phrase === null ? null : (phrase?.key ?? code(schema.name));
};

/** What the fields that choose among sentences may be. */
const CHOICES: Readonly<Record<string, readonly object[]>> = {
  SpiritsDealt: [{}, { cards: ["spirit_fire_01"] }],
  SpellsDealt: [{}, { spells: ["gem"] }],
  StateEntered: ["garden", "attack", "defence"].map((state) => ({ state })),
  ActionOpened: [
    ...["pest", "water", "spirit", "gnome", "fire"].flatMap((kind) => [1, 2].map((steps) => ({ source: "magician", kind, steps }))),
    ...["lantern", "spirit", "feather", "gem", "flower"].map((source) => ({ source, kind: "fire", steps: 1 })),
    { source: "doll", kind: "gnome", steps: 1 },
    { source: "butterfly", kind: "gnome", steps: 4 },
  ],
  ActionClosed: ["used_up", "ended", "no_legal_step"].map((reason) => ({ reason })),
  PestMoved: [{}, { pair: true }],
  SpiritDrawn: [{ source: "deck" }, { source: "deck", card: "spirit_fire_01" }, { source: "spirit_fire_01" }],
  LanternPlaced: [{ kind: "fire" }],
  LanternLit: ["water", "pair", "attack", "trinket"].map((by) => ({ by, kind: "gnome" })),
  LanternPutOut: [{ kind: "water" }],
  LanternDimmed: [{ kind: "pest" }],
  AttackDeclared: [{ group: "a3>a4" }, { group: "skull" }],
  DefenceMade: [...["none", "water", "fire"].map((w) => ({ with: w })), { with: "none", automatic: true }],
  AttackStopped: ["put_out", "conch"].map((why) => ({ why })),
  GroupWithdrawn: ["origin", "supply"].map((to) => ({ to })),
  BattleResolved: ["attacker", "defender", "tie"].map((outcome) => ({ outcome })),
  SurvivorsPlaced: [{}, { pieces: ["pest_01"], to: "a4" }, { pieces: ["pest_01"], to: "supply" }],
  MatchEnded: [{ result: "draw", reason: "turn_limit" }, ...["five_lanterns", "turn_limit", "resigned"].map((reason) => ({ result: "blue", reason }))],
};

describe("events", () => {
  const all = file.messages.filter((message) => getOption(message, isEvent));
  expect(all.length).toBeGreaterThan(40);
  it.each(all.map((schema) => [schema.name, schema] as const))("%s has a sentence, or is no news", (_, schema) => {
    for (const fields of CHOICES[schema.name] ?? [{}]) {
      const key = keyOf(schema, fields);
      if (key !== null) expect(events, JSON.stringify(fields)).toContain(key);
    }
    for (const key of asked) expect(events).toContain(key);
  });

  it("of a winner are told by the winner's name", () => {
    const ended = file.messages.find((message) => message.name === "MatchEnded") as DescMessage;
    expect(phraseOf(create(ended, { result: "red", reason: "five_lanterns" } as never), say)).toEqual({ key: "match_ended_five_lanterns", args: { winner: "seat 1" } });
  });
});

import { readFileSync } from "node:fs";

import { create, type DescMessage, getOption } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { file_grimoire_games_broom_service_v1_broom_service as file } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import { event as isEvent } from "../../gen/grimoire/v1/visibility_pb";
import type { Say } from "../../play/phrase";
import { phraseOf } from "./phrases";

const texts = readFileSync("../broom_service/data/en.toml", "utf8");
const events = new Set([...(texts.split("[events]")[1]?.split("\n[")[0] ?? "").matchAll(/^"?([\w.]+)"? = /gm)].map(([, key]) => key));
const asked: string[] = [];
const say: Say = Object.assign((key: string) => (asked.push(key), key), { seat: (seat: number) => `seat ${seat}`, term: (key: string) => key, item: (id: string) => `item ${id}` });

const code = (name: string) => name.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
const phrase = (name: string, fields: object) => phraseOf(create(file.messages.find((one) => one.name === name) as DescMessage, fields as never), say);

const each = (field: string, ...values: unknown[]) => values.map((value) => ({ [field]: value }));
/** What the fields that choose among sentences may be. */
const CHOICES: Readonly<Record<string, readonly object[]>> = {
  SeatsAsked: each("stage", "choose", "extra", "offer", "hand_in"),
  RolesChosen: [{}, { roles: ["hill_druid"] }],
  CountsRevealed: [{ counts: [1, 5] }],
  ExtraAnswered: [{}, { used: true, role: "hill_druid" }],
  ExtrasRevealed: [{}, { extras: [{ seat: 1 }] }],
  RolePlayed: [{ stance: "brave" }, { stance: "cowardly" }, { stance: "cowardly", instead: "event" }, { stance: "cowardly", instead: "forest_2" }, { spentRole: true }],
  TrickEnded: [{}, { braveSeat: 2 }],
  StepClosed: each("reason", "done", "skipped", "impossible"),
  ResourcesChanged: each("reason", "gather", "delivery", "charm", "the_upper_hand", "the_works", "black_distillery").map((one) => ({ ...one, deltas: { orange: 2, wand: -1 } })),
  VpChanged: each("reason", "delivery", "charm", "the_works", "bewitched", "show", "five_points", "more_or_less"),
  PawnMoved: each("cause", "hill_witch", "turbo").map((one) => ({ ...one, from: "p1", to: "h2", pawn: 1 })),
  PotionDelivered: [{ region: "p1", vpTower: 3 }, { region: "p1", vpTower: 3, vpBonus: 2, wands: 1 }],
  CloudCharmed: [{}, { vpBonus: 3 }],
  OfferMade: [{}, { resources: { green: 2 } }],
  OffersRevealed: [{ offers: [{ seat: 0, resources: { green: 2 } }] }],
  SeatRetired: each("reason", "resigned", "timeouts"),
  MatchEnded: each("reason", "scored", "others_left"),
};

describe("events", () => {
  const all = file.messages.filter((message) => getOption(message, isEvent));
  expect(all.length).toBeGreaterThan(30);
  it.each(all.map(({ name }) => name))("%s has a sentence, or is no news", (name) => {
    for (const fields of CHOICES[name] ?? [{}]) {
      const said = phrase(name, fields);
      if (said !== null) expect([...events], JSON.stringify(fields)).toContain(said?.key ?? code(name));
    }
    for (const key of asked) expect([...events]).toContain(key);
  });

  it("name regions in the form that the sentence needs, and pawns by name", () => {
    expect(phrase("PawnMoved", { seat: 1, pawn: 1, from: "p1", to: "h2", cause: "hill_witch" })).toEqual({
      key: "pawn_moved",
      args: expect.objectContaining({ source: "from.p1", goal: "to.h2", pawn: "item 1" }) as object,
    });
  });

  it("sum up what a delivery brings, and tell its parts where there are more", () => {
    expect(phrase("PotionDelivered", { region: "p1", vpTower: 3 })?.args?.["sum"]).toBe("3");
    expect(phrase("PotionDelivered", { region: "p1", vpTower: 3, vpBonus: 2, vpStorm: 4 })?.args?.["sum"]).toBe("3 + 2 + 4 = 9");
  });

  it("count what is offered, and say nothing of steps that were done", () => {
    expect(phrase("OffersRevealed", { offers: [{ seat: 0, resources: { green: 2, wand: 1 } }, { seat: 1 }] })?.args?.["counts"]).toBe("count, count");
    expect(phrase("StepClosed", { reason: "done" })).toBeNull();
    expect(phrase("VpChanged", { reason: "delivery", delta: 3 })).toBeNull();
  });
});

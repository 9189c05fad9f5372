import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeAll, describe, expect, it } from "vitest";

import { Words } from "../api/manifest.svelte";
import { moduleOf } from "../games/module";
import { CardDrawnSchema, CardPlayedSchema, EffectsAppliedSchema, MatchEndedSchema, PileOrderedSchema } from "../gen/grimoire/games/two_towers/v1/two_towers_pb";
import { RejectionSchema } from "../gen/grimoire/v1/envelope_pb";
import { ManifestSchema, TemplateKind } from "../gen/grimoire/v1/manifest_pb";
import { EventSchema, MatchVoidedSchema } from "../gen/grimoire/v1/match_pb";
import { LabelSchema } from "../gen/grimoire/v1/prompt_pb";
import { setLanguage } from "../i18n/index.svelte";
import { commandText, commandTold, eventLang, eventSentence, labelText, rejectionText, rejectionTold, thingText, thingTold } from "./sentence";

const { EVENT, COMMAND, REF, TERM, REASON, REJECTION } = TemplateKind;
const words = new Words(
  create(ManifestSchema, {
    game: "two_towers",
    catalogues: [{ name: "cards", items: [{ id: "ruby", name: "Ruby" }] }],
    templates: [
      { kind: EVENT, key: "card_played", text: "{seat} plays {card} for {cost} {resource}." },
      { kind: EVENT, key: "card_drawn", text: "{seat} draws {card}." },
      { kind: EVENT, key: "card_drawn_hidden", text: "{seat} draws a card." },
      { kind: EVENT, key: "effects_applied", text: "{changes}." },
      { kind: EVENT, key: "change", text: "{seat}: {field} {delta}, now {value}" },
      { kind: EVENT, key: "match_ended_ladder", text: "{winner} wins by {ladder_step}: {reasons}." },
      { kind: EVENT, key: "match_ended_draw", text: "Drawn: {reasons}." },
      { kind: COMMAND, key: "play_card", text: "Play {card}" },
      { kind: REF, key: "slot", text: "slot {slot}" },
      { kind: TERM, key: "ore", text: "ore" },
      { kind: TERM, key: "wall", text: "wall" },
      { kind: REASON, key: "turn_limit", text: "the last turn has ended" },
      { kind: REASON, key: "ladder.wall", text: "the higher wall" },
      { kind: REJECTION, key: "cannot_afford", text: "{card} costs {cost} {resource}." },
    ],
  }),
);
const NAMES = ["Mira", ""];
const say = (type: string, body: Uint8Array) => eventSentence(words, "two_towers", create(EventSchema, { type, body: body as Uint8Array<ArrayBuffer> }), NAMES);

beforeAll(() => moduleOf("two_towers"));

describe("an event in a sentence", () => {
  it("names seats, cards and terms", () => {
    const played = create(CardPlayedSchema, { seat: 0, card: "ruby", cost: 3, resource: "ore" });
    expect(say("card_played", toBinary(CardPlayedSchema, played))).toBe("Mira plays Ruby for 3 ore.");
  });

  it("tells a card only where it is seen", () => {
    expect(say("card_drawn", toBinary(CardDrawnSchema, create(CardDrawnSchema, { seat: 1 })))).toBe("Seat 2 draws a card.");
    expect(say("card_drawn", toBinary(CardDrawnSchema, create(CardDrawnSchema, { seat: 1, card: "ruby" })))).toBe("Seat 2 draws Ruby.");
  });

  it("tells all changes, gains and losses with their signs", () => {
    const changes = [
      { seat: 0, field: "wall", delta: -3, value: 2 },
      { seat: 1, field: "ore", delta: 2, value: 9 },
    ];
    expect(say("effects_applied", toBinary(EffectsAppliedSchema, create(EffectsAppliedSchema, { changes })))).toBe("Mira: wall −3, now 2; Seat 2: ore +2, now 9.");
  });

  it("tells how it ended", () => {
    const won = create(MatchEndedSchema, { outcome: "win", winner: 0, reasons: ["turn_limit"], ladderStep: "wall" });
    expect(say("match_ended", toBinary(MatchEndedSchema, won))).toBe("Mira wins by the higher wall: the last turn has ended.");
    const drawn = create(MatchEndedSchema, { outcome: "draw", reasons: ["turn_limit"] });
    expect(say("match_ended", toBinary(MatchEndedSchema, drawn))).toBe("Drawn: the last turn has ended.");
  });

  it("is silent on what is no news", () => {
    expect(say("pile_ordered", toBinary(PileOrderedSchema, create(PileOrderedSchema, {})))).toBe("");
    expect(say("prompt_opened", new Uint8Array())).toBe("");
  });

  it("says the platform's own events", () => {
    const voided = create(MatchVoidedSchema, { reason: "not_sealed", seats: [1] });
    expect(say("match_voided", toBinary(MatchVoidedSchema, voided))).toBe("The match is void: Seat 2 did not come.");
  });
});

describe("commands, things and refusals in words", () => {
  it("puts names in the place of ids", () => {
    const label = create(LabelSchema, { key: "play_card", arguments: [{ name: "slot", value: "2" }, { name: "card", value: "ruby" }] });
    expect(labelText(words, label)).toBe("Play Ruby");
    expect(commandText(words, "play_card")).toBe("Play");
    expect(commandText(words, "declare_final_battle")).toBe("Declare final battle");
    expect(thingText(words, "card:ruby")).toBe("Ruby");
    expect(thingText(words, "slot:2")).toBe("slot 3");
  });

  it("prefers the game's wording of a refusal, then the page's, then the server's", () => {
    const args = [{ name: "card", value: "ruby" }, { name: "cost", value: "3" }, { name: "resource", value: "ore" }];
    expect(rejectionText(words, create(RejectionSchema, { code: "cannot_afford", arguments: args }))).toBe("Ruby costs 3 ore.");
    expect(rejectionText(words, create(RejectionSchema, { code: "cannot_afford", message: "Too dear." }))).toBe("Too dear.");
    expect(rejectionText(words, create(RejectionSchema, { code: "match_over", message: "x" }))).toBe("The match is over.");
    expect(rejectionText(null, create(RejectionSchema, { code: "odd" }))).toContain("odd");
  });
});

describe("the language of what is said", () => {
  const english = new Words(create(ManifestSchema, { ...words.manifest, language: "en" }));
  const garden = new Words(create(ManifestSchema, { game: "wizards_garden", language: "en" }));

  afterEach(() => setLanguage("en", false));

  it("is told for what is wholly the game's, where the page speaks another", async () => {
    const ruby = () => [english.langOf("Ruby"), english.langOf("ruby"), english.langOf("Παίξε Ruby"), english.lang];
    expect(ruby()).toEqual([undefined, undefined, undefined, undefined]);
    await setLanguage("el", false);
    expect(ruby()).toEqual(["en", "en", undefined, "en"]);
  });

  it("is the page's for its own words, whichever game they are about", async () => {
    await setLanguage("el", false);
    await moduleOf("wizards_garden");
    expect([thingTold(english, "card:ruby").lang, thingTold(english, "slot:2").lang]).toEqual(["en", "en"]);
    expect([thingTold(garden, "slot:2").lang, thingTold(garden, "at:b3").lang]).toEqual([undefined, undefined]);
    expect([commandTold(english, "play_card").lang, commandTold(garden, "move_pest").lang]).toEqual(["en", undefined]);
    const lang = (type: string) => eventLang(english, "two_towers", create(EventSchema, { type }));
    expect([lang("card_played"), lang("seat_left")]).toEqual(["en", undefined]);
  });

  it("is the game's for its refusals, the server's for those that nobody here has words for", async () => {
    await setLanguage("el", false);
    const args = [{ name: "card", value: "ruby" }, { name: "cost", value: "3" }, { name: "resource", value: "ore" }];
    const told = (code: string, message: string) => rejectionTold(english, create(RejectionSchema, { code, message, arguments: args })).lang;
    expect([told("cannot_afford", ""), told("match_over", ""), told("odd", "Odd."), told("odd", "")]).toEqual(["en", undefined, "en", undefined]);
  });
});

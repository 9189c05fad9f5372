import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { ViewSchema } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import { PromptSchema } from "../../gen/grimoire/v1/prompt_pb";
import { choose, draftOf, only, pick, selected, targets, usable } from "../../play/composer";
import { markedAs, meant } from "../../play/pointing";
import type { Marks } from "../module";
import { pointed } from "./pointed";
import { beginnings, keyRef, regionRefs, rolesShown } from "./refs";

const entry = (type: string, fields: Record<string, string>) => ({ type, fixed: Object.entries(fields).map(([name, ref]) => ({ name, ref })) });
const refs = (stage: string, ...legal: object[]) =>
  pointed(create(PromptSchema, { promptId: 1, kind: stage, legal } as never), create(ViewSchema, { stage })).legal.map((one) => [one.type, ...one.fixed.map(({ ref }) => ref)].join(" "));

describe("commands in things of the picture", () => {
  it("are about a role and how it is played, of which a follower's role goes without saying", () => {
    const brave = entry("play_role", { role: "role:hill_druid", stance: "stance:brave" });
    const event = entry("play_role", { role: "role:hill_druid", stance: "stance:cowardly", instead: "instead:event" });
    expect(refs("lead", brave, event)).toEqual(["play_role play:brave role:hill_druid", "play_role play:event role:hill_druid"]);
    expect(refs("follow", brave, event)).toEqual(["play_role play:brave", "play_role play:event"]);
  });

  it("leave out which step is used, and end with what gives something up", () => {
    expect(refs("steps", entry("skip_step", { step: "step:1" }), entry("move_pawn", { step: "step:1", pawn: "pawn:0", to: "region:h2" }))).toEqual(["move_pawn pawn:0 region:h2", "skip_step"]);
  });
});

describe("things", () => {
  const none = new Set<string>();
  it("mean what was begun before they begin anything", () => {
    const marks = { usable: new Set(["region:p1"]), targets: new Set(["circle:A"]), selected: none };
    expect(meant(["region:p1", "circle:A"], marks)).toBe("circle:A");
    expect(markedAs(["region:p1"], marks)).toEqual({ usable: true, target: false, selected: false });
    expect(meant(["region:p2"], { usable: none, targets: none, selected: none })).toBe("region:p2");
  });

  it("of a region are itself, its circle, its one cloud and one's own pawns", () => {
    const view = create(ViewSchema, { board: "front", seats: [{ seat: 0, pawns: ["h1", "p1"] }, { seat: 1, pawns: ["h1", "h1"] }], clouds: [{ region: "h1", space: "c01" }] });
    expect(regionRefs(view, "h1", 0).filter((ref) => !ref.startsWith("circle:"))).toEqual(["region:h1", "pawn:0", "space:c01"]);
    expect(regionRefs(view, "h1", null).some((ref) => ref.startsWith("pawn:"))).toBe(false);
  });

  it("that one's own pawn stands in mean that pawn, until another that may fly there was taken", () => {
    const view = create(ViewSchema, { board: "front", seats: [{ seat: 0, pawns: ["h1", "p1"] }] });
    const to = (...candidates: string[]) => [{ field: "to", kind: { case: "one", value: { candidates } } }];
    const flight = (pawn: string, ...regions: string[]) => ({ ...entry("move_pawn", { pawn }), slots: to(...regions) });
    const prompt = pointed(create(PromptSchema, { promptId: 1, kind: "steps", legal: [flight("pawn:0", "region:p1", "region:m1"), flight("pawn:1", "region:h1")] } as never), view);
    const marksOf = (draft: ReturnType<typeof draftOf>): Marks => beginnings({ usable: usable(draft), targets: targets(draft), selected: selected(draft) }, view, 0);
    const at = (region: string, draft = draftOf(prompt)) => meant(regionRefs(view, region, 0), marksOf(draft));
    expect([at("h1"), at("p1"), at("m1")]).toEqual(["pawn:0", "pawn:1", "region:m1"]);
    expect([at("h1", choose(draftOf(prompt), "move_pawn")), at("p1", choose(draftOf(prompt), "move_pawn"))]).toEqual(["pawn:0", "pawn:1"]);
    expect(markedAs(regionRefs(view, "h1", 0), marksOf(draftOf(prompt)))).toEqual({ usable: true, target: false, selected: false });
    const second = pick(draftOf(prompt), at("p1"));
    expect(at("h1", second)).toBe("region:h1");
    expect(only(pick(second, at("h1", second)), "move_pawn")).toBe(prompt.legal[1]);
    expect(at("h1", pick(draftOf(prompt), "pawn:0"))).toBe("pawn:0");
  });

  it("have keys: roles by digits as they lie, stances by letters", () => {
    const choosing = create(ViewSchema, { stage: "choose", asked: [0] });
    expect(rolesShown(choosing, 0)).toHaveLength(10);
    expect([keyRef("1", choosing), keyRef("0", choosing)]).toEqual(["role:root_gatherer", "role:weather_fairy"]);
    const held = create(ViewSchema, { stage: "lead", asked: [1], seats: [{ seat: 0 }, { seat: 1, roles: ["hill_druid", "prairie_witch"] }] });
    expect([keyRef("2", held), keyRef("3", held), keyRef("b", held), keyRef("c", held), keyRef("q", held)]).toEqual(["role:prairie_witch", null, "play:brave", "play:cowardly", null]);
    expect(rolesShown(held, 0)).toEqual([]);
  });
});

import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { unhex } from "../api/ids";
import { type EventSchema, MatchCreatedSchema, NonceSealedSchema } from "../gen/grimoire/v1/match_pb";
import type { Entry } from "./entries";
import { advance, type Handshake, nextStep, NO_HANDSHAKE } from "./handshake";
import type { Keepsake } from "./keepsake";

const TWO = toBinary(MatchCreatedSchema, create(MatchCreatedSchema, { seats: [{ seat: 0 }, { seat: 1 }] }));

function after(shake: Handshake, ...events: MessageInitShape<typeof EventSchema>[]): Handshake {
  return advance(shake, { events } as unknown as Entry);
}

function seal(shake: Handshake, seat: number, kept: Keepsake): Handshake {
  const body = toBinary(NonceSealedSchema, create(NonceSealedSchema, { seat, seal: unhex(kept.seal) }));
  return after(shake, { type: "nonce_sealed", body });
}

function kept(letter: string): Keepsake {
  return { seat: 0, nonce: letter.repeat(64), seal: letter.repeat(64), first_head: "", last_head: "" };
}

const created = after(NO_HANDSHAKE, { type: "match_created", body: TWO });

describe("two browsers on one seat", () => {
  it("stop taking each other's seal away, and the one that came last has sealed", () => {
    const [first, second] = [kept("a"), kept("b")];
    let shake = seal(seal(created, 0, first), 0, second);
    let seals = 2;
    for (; seals < 60; seals += 1) {
      const sealing = [first, second].find((each) => nextStep(shake, 0, each) === "seal");
      if (sealing === undefined) break;
      shake = seal(shake, 0, sealing);
    }
    expect(seals).toBeLessThanOrEqual(4);
    expect(shake.seals.get(0)).toBe(second.seal);
    shake = seal(shake, 1, kept("c"));
    expect(nextStep(shake, 0, second)).toBe("open");
    expect(nextStep(shake, 0, first)).toBeNull();
  });
});

describe("a seal", () => {
  it("is sent again where another took its place whose nonce is lost", () => {
    const shake = seal(seal(created, 0, kept("a")), 0, kept("b"));
    expect(nextStep(shake, 0, kept("a"))).toBe("seal");
  });

  it("that is told twice was not replaced", () => {
    let shake = created;
    for (let times = 0; times < 5; times += 1) shake = seal(shake, 0, kept("a"));
    expect(shake.replaced.size).toBe(0);
  });
});

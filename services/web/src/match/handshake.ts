import { fromBinary } from "@bufbuild/protobuf";

import { hex, unhex } from "../api/ids";
import {
  type MatchCreated,
  MatchCreatedSchema,
  NonceOpenedSchema,
  type NonceSealed,
  NonceSealedSchema,
  NoncesRevealedSchema,
} from "../gen/grimoire/v1/match_pb";
import type { Entry } from "./entries";
import { nonceSeal } from "./hash";
import type { Keepsake } from "./keepsake";

/** How far the handshake is, as its events tell. */
export interface Handshake {
  readonly created: MatchCreated | null;
  /** Seals by seat, hexadecimal. */
  readonly seals: ReadonlyMap<number, string>;
  /** How often a seal that counted was replaced by another, by seal. */
  readonly replaced: ReadonlyMap<string, number>;
  readonly opened: ReadonlySet<number>;
  readonly revealed: ReadonlyMap<number, string>;
  readonly started: boolean;
  readonly voided: boolean;
}

export const NO_HANDSHAKE: Handshake = {
  created: null,
  seals: new Map(),
  replaced: new Map(),
  opened: new Set(),
  revealed: new Map(),
  started: false,
  voided: false,
};

/** The handshake after one more entry. */
export function advance(before: Handshake, entry: Entry): Handshake {
  let next = before;
  for (const { type, body } of entry.events) {
    if (type === "match_created") next = { ...next, created: fromBinary(MatchCreatedSchema, body) };
    else if (type === "nonce_sealed") {
      next = sealed(next, fromBinary(NonceSealedSchema, body));
    } else if (type === "nonce_opened") {
      next = { ...next, opened: new Set(next.opened).add(fromBinary(NonceOpenedSchema, body).seat) };
    } else if (type === "nonces_revealed") {
      const { nonces } = fromBinary(NoncesRevealedSchema, body);
      next = { ...next, revealed: new Map(nonces.map(({ seat, nonce }) => [seat, hex(nonce)])) };
    } else if (type === "match_started") next = { ...next, started: true };
    else if (type === "match_voided") next = { ...next, voided: true };
  }
  return next;
}

function sealed(before: Handshake, { seat, seal }: NonceSealed): Handshake {
  const [old, now] = [before.seals.get(seat), hex(seal)];
  const seals = new Map(before.seals).set(seat, now);
  if (old === undefined || old === now) return { ...before, seals };
  const replaced = new Map(before.replaced);
  return { ...before, seals, replaced: replaced.set(old, (replaced.get(old) ?? 0) + 1) };
}

/** Once may be a phrase of one's own that got lost on its way; twice is another browser of the same person. */
const GIVES_WAY = 2;

export type Step = "nonce" | "seal" | "open";

/** What a seat has to do next; null: nothing now. */
export function nextStep(shake: Handshake, seat: number | null, kept: Keepsake | null): Step | null {
  if (seat === null || shake.created === null || shake.started || shake.voided) return null;
  if (kept === null) return "nonce";
  if (shake.seals.get(seat) !== kept.seal) {
    // Two browsers on one seat would take turns for ever: the one that came first gives way.
    if ((shake.replaced.get(kept.seal) ?? 0) >= GIVES_WAY) return null;
    // A seal may be replaced only until the last one is in.
    return shake.seals.size < shake.created.seats.length || !shake.seals.has(seat) ? "seal" : null;
  }
  if (shake.seals.size === shake.created.seats.length && !shake.opened.has(seat)) return "open";
  return null;
}

/** What is wrong with the revealed nonces; null: every one fits its seal, and one's own is the one that was kept. */
export async function lieIn(
  shake: Handshake,
  game: string,
  matchId: string,
  seat: number | null,
  kept: Keepsake | null,
): Promise<number | null> {
  for (const [of, nonce] of shake.revealed) {
    if (hex(await nonceSeal(game, matchId, of, unhex(nonce))) !== shake.seals.get(of)) return of;
    if (of === seat && kept !== null && kept.nonce !== nonce) return of;
  }
  return null;
}

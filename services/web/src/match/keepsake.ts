import { hex, unhex } from "../api/ids";
import { device } from "../api/shelf";
import { nonceFromPhrase, nonceSeal } from "./hash";

/** What this browser keeps of a match it plays: proof against a server that says later it was otherwise. */
export interface Keepsake {
  seat: number;
  /** Hexadecimal, 32 bytes each. */
  nonce: string;
  seal: string;
  /** Hash of the first entry that was seen, and of the last. */
  first_head: string;
  last_head: string;
}

/** `next`: a nonce whose seal may yet take the place of the first one's. */
export type Which = "" | ".next";

/** Where it lies: by match; by match and seat for whoever plays several seats of it. */
function key(place: string, which: Which): string {
  return `grimoire.keepsake.${place}${which}`;
}

/** What is kept of a match; null: nothing, or nothing that can be read. */
export function keepsakeOf(place: string, which: Which = ""): Keepsake | null {
  try {
    const kept = JSON.parse(device.get(key(place, which)) ?? "null") as Keepsake | null;
    return kept !== null && unhex(kept.nonce).length === 32 ? kept : null;
  } catch {
    return null;
  }
}

/** Keeps it; false: this browser keeps nothing (private window, full), so that only the open page knows it. */
export function keep(place: string, kept: Keepsake, which: Which = ""): boolean {
  return device.set(key(place, which), JSON.stringify(kept));
}

/** A fresh nonce with its seal. It is kept before anybody is told: a page that is reloaded in between still knows it. */
export async function makeNonce(game: string, matchId: string, seat: number, phrase: string): Promise<Keepsake> {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const nonce = phrase === "" ? random : await nonceFromPhrase(random, phrase);
  return {
    seat,
    nonce: hex(nonce),
    seal: hex(await nonceSeal(game, matchId, seat, nonce)),
    first_head: "",
    last_head: "",
  };
}

/** The second nonce's seal is the one that counts: it takes the first one's place. */
export function promote(place: string, seal: string): void {
  const next = keepsakeOf(place, ".next");
  if (next === null || next.seal !== seal) return;
  keep(place, next);
  device.remove(key(place, ".next"));
}

const PHRASE = "grimoire.phrase";

/** A person's own phrase for coming matches, as chosen on this device; empty: none. */
export function phraseToUse(): string {
  return device.get(PHRASE) ?? "";
}

export function choosePhrase(phrase: string): void {
  if (phrase === "") device.remove(PHRASE);
  else device.set(PHRASE, phrase);
}

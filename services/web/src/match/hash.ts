import { hex } from "../api/ids";

type Bytes = Uint8Array<ArrayBufferLike>;

const utf8 = new TextEncoder();

/** SHA-256: the browser's own, or, on a page without a secure context, which has none, a small one of our own. */
export async function sha256(bytes: Bytes): Promise<Uint8Array<ArrayBuffer>> {
  // In a page served over plain http from another machine there is no `subtle`, whatever its type says.
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  if (subtle !== undefined) return new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  const { sha256: own } = await import("@noble/hashes/sha2.js");
  return Uint8Array.from(own(bytes));
}

/** Each item, followed by one line feed. */
export function lines(...items: readonly (string | number)[]): Uint8Array<ArrayBuffer> {
  return utf8.encode(items.map((item) => `${item}\n`).join(""));
}

/** Pieces one after the other. */
export function concat(...pieces: readonly Bytes[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The length as 4 bytes, big-endian, then the bytes. */
export function lengthFirst(bytes: Bytes): Uint8Array<ArrayBuffer> {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return concat(length, bytes);
}

/** What a seat sends before it opens its nonce. */
export function nonceSeal(game: string, matchId: string, seat: number, nonce: Bytes): Promise<Uint8Array<ArrayBuffer>> {
  return sha256(lines(`grimoire/${game}/nonce/1`, matchId, seat, hex(nonce)));
}

/** A nonce with a person's own phrase mixed into full randomness; a phrase alone could be guessed from its seal. */
export function nonceFromPhrase(random: Bytes, phrase: string): Promise<Uint8Array<ArrayBuffer>> {
  return sha256(lines("grimoire/nonce-phrase/1", hex(random), hex(utf8.encode(phrase))));
}

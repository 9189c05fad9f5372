/** The formulas of the fairness page, one function each. Seeds, nonces and hashes have 32 bytes. */
import { type Bytes, byBytes, hex, join, lines, lp, utf8 } from "./bytes";
import type { Hasher } from "./hasher";

export interface PartDigest {
  readonly audience: string;
  readonly digest: Bytes;
}

/** The exact texts that are hashed; pages show them with their line feeds. */
export const text = {
  commitment: (game: string, match: string, seed: Bytes) => lines(`grimoire/${game}/commit/1`, match, hex(seed)),
  seal: (game: string, match: string, seat: number, nonce: Bytes) =>
    lines(`grimoire/${game}/nonce/1`, match, seat, hex(nonce)),
  phrase: (random: Bytes, phrase: string) => lines("grimoire/nonce-phrase/1", hex(random), hex(utf8(phrase))),
  joint: (game: string, match: string, seed: Bytes, nonces: readonly Bytes[]) =>
    lines(`grimoire/${game}/joint/1`, match, hex(seed), ...nonces.map(hex)),
  salt: (game: string) => lines(`grimoire/${game}/salt/1`),
  deal: (game: string, match: string, salt: Bytes, deal: readonly string[]) =>
    lines(`grimoire/${game}/deal/1`, match, hex(salt), ...deal),
  block: (game: string, label: string, number: number) => lines(`grimoire/${game}/stream/1`, label, number),
  partSalt: (match: string, version: number, audience: string) =>
    lines("grimoire/part-salt/1", match, version, audience),
  genesis: (match: string) => lines("grimoire/chain/1", match),
};

export function sha256Text(hasher: Hasher, ascii: string): Promise<Bytes> {
  return hasher.sha256(utf8(ascii));
}

export async function hmacText(hasher: Hasher, key: Bytes, ascii: string): Promise<Bytes> {
  return (await hasher.hmac(key))(utf8(ascii));
}

/** What is hashed for a private part's digest. */
export function partBytes(audience: string, salt: Bytes, body: Bytes): Bytes {
  return join(utf8("grimoire/part/1\n"), lp(utf8(audience)), lp(salt), lp(body));
}

/** What is hashed for an entry: the chain's link from the hash before it. */
export async function linkBytes(
  hasher: Hasher,
  before: Bytes,
  header: Bytes,
  open: Bytes,
  digests: readonly PartDigest[],
): Promise<Bytes> {
  const sorted = [...digests].sort((a, b) => byBytes(a.audience, b.audience));
  const tail = sorted.flatMap((part) => [lp(utf8(part.audience)), part.digest]);
  return join(utf8("grimoire/event/1\n"), before, lp(header), await hasher.sha256(open), ...tail);
}

/** hash_v of an entry. */
export async function linkHash(
  hasher: Hasher,
  before: Bytes,
  header: Bytes,
  open: Bytes,
  digests: readonly PartDigest[],
): Promise<Bytes> {
  return hasher.sha256(await linkBytes(hasher, before, header, open, digests));
}

/** Game names and labels. */
export const isName = (name: string): boolean => /^[a-z0-9_/.-]{1,64}$/.test(name);
/** Match ids. */
export const isMatchId = (id: string): boolean => /^[a-zA-Z0-9_/.-]{1,64}$/.test(id);

/** Bytes and the few ways in which the fairness page writes them as text. */
export type Bytes = Uint8Array<ArrayBuffer>;

const HEX = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"));

/** Lower-case hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Bytes from hexadecimal digits. */
export function unhex(digits: string): Bytes {
  if (digits.length % 2 !== 0 || /[^0-9a-fA-F]/.test(digits)) throw new RangeError("not hexadecimal digits");
  return Uint8Array.from({ length: digits.length / 2 }, (_, n) => parseInt(digits.slice(2 * n, 2 * n + 2), 16));
}

/** The same bytes in the same order. */
export function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, n) => byte === b[n]);
}

/** One row of bytes after another. */
export function join(...pieces: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** UTF-8. */
export function utf8(text: string): Bytes {
  return encoder.encode(text) as Bytes;
}

/** Text from UTF-8; throws on anything else. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Each item followed by one line feed, the last too. */
export function lines(...items: readonly (string | number)[]): string {
  return items.map((item) => `${item}\n`).join("");
}

/** The length as four bytes, big-endian, then the bytes. */
export function lp(bytes: Uint8Array): Bytes {
  const framed = new Uint8Array(4 + bytes.length);
  new DataView(framed.buffer).setUint32(0, bytes.length);
  framed.set(bytes, 4);
  return framed;
}

/** Base64 with padding (RFC 4648, section 4). */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}

/** Bytes from base64 as `base64` writes it; null for anything else, also for set bits that no byte uses. */
export function unbase64(text: string): Bytes | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let n = 0; n < binary.length; n++) bytes[n] = binary.charCodeAt(n);
  // Only the last group can hide anything.
  return base64(bytes.subarray(bytes.length - (bytes.length % 3 || 3))) === text.slice(-4) || text === "" ? bytes : null;
}

/** Order of ASCII texts by their bytes. */
export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

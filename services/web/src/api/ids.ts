/** A fresh UUIDv7 (RFC 9562), 16 bytes: command ids. Needs no secure context, unlike `crypto.randomUUID`. */
export function uuid7(nowMs: number = Date.now()): Uint8Array<ArrayBuffer> {
  const id = crypto.getRandomValues(new Uint8Array(16));
  const view = new DataView(id.buffer);
  view.setUint16(0, Math.floor(nowMs / 2 ** 32));
  view.setUint32(2, nowMs % 2 ** 32);
  id[6] = (view.getUint8(6) & 0x0f) | 0x70;
  id[8] = (view.getUint8(8) & 0x3f) | 0x80;
  return id;
}

const HEX = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"));

/** Lower-case hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => HEX[byte]).join("");
}

/** Bytes from hexadecimal digits; throws `RangeError` on anything else. */
export function unhex(digits: string): Uint8Array<ArrayBuffer> {
  if (digits.length % 2 !== 0 || /[^0-9a-fA-F]/.test(digits)) throw new RangeError("not hexadecimal digits");
  return Uint8Array.from({ length: digits.length / 2 }, (_, n) => parseInt(digits.slice(2 * n, 2 * n + 2), 16));
}

/** The same bytes in the same order. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, n) => byte === b[n]);
}

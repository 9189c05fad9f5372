/** As much of protobuf's wire format as the log needs: numbers, bytes, texts, nested messages. */
import { type Bytes, fromUtf8 } from "./bytes";

/** Bytes that are no message. */
export class WireError extends Error {}

export interface Field {
  readonly number: number;
  /** 0 number, 1 eight bytes, 2 bytes, 5 four bytes. */
  readonly type: number;
  readonly value: bigint;
  readonly bytes: Bytes;
}

const NONE = new Uint8Array(0);

/** The fields of a message in the order of its bytes. */
export function fields(data: Bytes): Field[] {
  const found: Field[] = [];
  let at = 0;
  /** Numbers of up to four bytes, which are nearly all, need no big arithmetic. */
  const small = (): number | null => {
    let value = 0;
    for (let n = 0, scale = 1; n < 4; n++, scale *= 128) {
      const byte = data[at + n];
      if (byte === undefined) throw new WireError("cut off");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        at += n + 1;
        return value;
      }
    }
    return null;
  };
  const varint = (): bigint => {
    const short = small();
    if (short !== null) return BigInt(short);
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = data[at++];
      if (byte === undefined) throw new WireError("cut off");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new WireError("a number without end");
  };
  const take = (count: number): Bytes => {
    if (count > data.length - at) throw new WireError("cut off");
    at += count;
    return data.subarray(at - count, at);
  };
  while (at < data.length) {
    const tag = small() ?? Number(varint());
    const number = Math.floor(tag / 8);
    const type = tag % 8;
    if (number < 1 || number >= 2 ** 29) throw new WireError("no field's number");
    if (type === 0) found.push({ number, type, value: varint(), bytes: NONE });
    else if (type === 2) {
      const size = small() ?? Number(varint());
      found.push({ number, type, value: 0n, bytes: take(size) });
    } else if (type === 1 || type === 5) found.push({ number, type, value: 0n, bytes: take(type === 1 ? 8 : 4) });
    else throw new WireError("an unknown wire type");
  }
  return found;
}

/** A message's fields by number; unknown ones are left alone. */
export class Message {
  readonly #fields: readonly Field[];

  constructor(data: Bytes) {
    this.#fields = fields(data);
  }

  #last(number: number, type: number): Field | undefined {
    return this.#fields.findLast((field) => field.number === number && field.type === type);
  }

  has(number: number): boolean {
    return this.#fields.some((field) => field.number === number);
  }

  /** An unsigned number, or an enum. */
  uint(number: number): number {
    return Number(this.#last(number, 0)?.value ?? 0n);
  }

  /** An int64. */
  int(number: number): number {
    return Number(BigInt.asIntN(64, this.#last(number, 0)?.value ?? 0n));
  }

  bytes(number: number): Bytes {
    return this.#last(number, 2)?.bytes ?? NONE;
  }

  text(number: number): string {
    return decoded(this.bytes(number));
  }

  all(number: number): Bytes[] {
    return this.#fields.filter((field) => field.number === number && field.type === 2).map((field) => field.bytes);
  }

  messages(number: number): Message[] {
    return this.all(number).map((data) => new Message(data));
  }

  texts(number: number): string[] {
    return this.all(number).map(decoded);
  }

  /** Repeated numbers, packed or not. */
  uints(number: number): number[] {
    return this.#fields.flatMap((field) => {
      if (field.number !== number) return [];
      return field.type === 2 ? packed(field.bytes) : [Number(field.value)];
    });
  }

  numbers(): number[] {
    return this.#fields.map((field) => field.number);
  }
}

function decoded(data: Bytes): string {
  try {
    return fromUtf8(data);
  } catch {
    throw new WireError("no UTF-8");
  }
}

function packed(data: Bytes): number[] {
  const values: number[] = [];
  let value = 0;
  let scale = 1;
  for (const byte of data) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte < 0x80) {
      values.push(value);
      value = 0;
      scale = 1;
    }
  }
  if (scale !== 1) throw new WireError("cut off");
  return values;
}

/** What a seat's own device kept of a match: the only witness that no server can stand in for. */
import { hex, unbase64, unhex } from "./bytes";

export interface Kept {
  readonly seat: number;
  /** Hex. */
  readonly nonce: string;
  /** Hex. */
  readonly seal: string;
  /** Heads that were seen while the match ran. */
  readonly heads: readonly { /** 0: of some entry. */ readonly version: number; readonly hash: string }[];
}

type Json = Record<string, unknown>;

/** A keepsake, as the match page writes it (hex) or as the command line does (`grimoire-keepsake`); null: neither. */
export function readKept(json: string): Kept | null {
  try {
    const read = JSON.parse(json) as Json;
    return read["kind"] === "grimoire-keepsake" ? fromFile(read) : fromPage(read);
  } catch {
    return null;
  }
}

function fromPage(read: Json): Kept | null {
  const { seat, nonce, seal } = read;
  if (typeof seat !== "number" || typeof nonce !== "string" || typeof seal !== "string") return null;
  if (unhex(nonce).length !== 32 || unhex(seal).length !== 32) return null;
  return { seat, nonce: nonce.toLowerCase(), seal: seal.toLowerCase(), heads: [read["first_head"], read["last_head"]].flatMap(headOf) };
}

/** The match page keeps hashes alone. */
function headOf(raw: unknown): Kept["heads"] {
  return typeof raw === "string" && /^[0-9a-f]{64}$/.test(raw) ? [{ version: 0, hash: raw }] : [];
}

function fromFile(read: Json): Kept | null {
  const bytes = (value: unknown): string => {
    const found = typeof value === "string" ? unbase64(value) : null;
    if (found?.length !== 32) throw new RangeError("not 32 bytes");
    return hex(found);
  };
  const { seat, heads } = read;
  if (typeof seat !== "number" || typeof heads !== "object" || heads === null) return null;
  return {
    seat,
    nonce: bytes(read["nonce"]),
    seal: bytes(read["seal"]),
    heads: Object.entries(heads).map(([version, hash]) => ({ version: Number(version), hash: bytes(hash) })),
  };
}

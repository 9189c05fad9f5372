/** The log's key and its signed heads: C2SP `signed-note` and `tlog-checkpoint`. */
import { base64, type Bytes, fromUtf8, join, same, unbase64, utf8 } from "./bytes";
import type { Hasher } from "./hasher";

export interface LogKey {
  /** Also the log's origin. */
  readonly name: string;
  readonly id: Bytes;
  readonly publicKey: Bytes;
  /** As one line. */
  readonly line: string;
}

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Bytes;
  /** What is signed. */
  readonly text: string;
  readonly signer: string;
  readonly keyId: Bytes;
  readonly signature: Bytes;
}

const ED25519 = Uint8Array.of(1);

/** A key from its one line `<name>+<key id>+<base64>`; null if that is no Ed25519 key of this form. */
export async function readKey(hasher: Hasher, line: string): Promise<LogKey | null> {
  const [, name, id, body] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(line) ?? [];
  const raw = body === undefined ? null : unbase64(body);
  if (name === undefined || raw === null || raw.length !== 33 || raw[0] !== 1) return null;
  const publicKey = raw.slice(1);
  const whole = await hasher.sha256(join(utf8(`${name}\n`), ED25519, publicKey));
  const keyId = whole.slice(0, 4);
  const same4 = Array.from(keyId, (byte) => byte.toString(16).padStart(2, "0")).join("") === id;
  return same4 ? { name, id: keyId, publicKey, line } : null;
}

/** A checkpoint in the one way it may be written; null for anything else. Nothing is verified yet. */
export function readCheckpoint(note: Uint8Array): Checkpoint | null {
  let whole: string;
  try {
    whole = fromUtf8(note);
  } catch {
    return null;
  }
  const parts = /^([^\n]+)\n(0|[1-9][0-9]{0,14})\n([A-Za-z0-9+/=]+)\n\n\u2014 ([^\s+]+) ([A-Za-z0-9+/=]+)\n$/u.exec(whole);
  if (parts === null) return null;
  const [, origin = "", size = "", root = "", signer = "", signed = ""] = parts;
  const rootBytes = unbase64(root);
  const signatureBytes = unbase64(signed);
  if (rootBytes?.length !== 32 || signatureBytes?.length !== 68) return null;
  return {
    origin,
    size: Number(size),
    root: rootBytes,
    text: `${origin}\n${size}\n${base64(rootBytes)}\n`,
    signer,
    keyId: signatureBytes.slice(0, 4),
    signature: signatureBytes.slice(4),
  };
}

/** Whether this log's key signed this head of this log. */
export async function isSigned(hasher: Hasher, checkpoint: Checkpoint, key: LogKey): Promise<boolean> {
  return (
    checkpoint.origin === key.name &&
    checkpoint.signer === key.name &&
    same(checkpoint.keyId, key.id) &&
    (await hasher.ed25519(key.publicKey, utf8(checkpoint.text), checkpoint.signature))
  );
}

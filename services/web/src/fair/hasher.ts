import type { Bytes } from "./bytes";

/** The three primitives under everything here. */
export interface Hasher {
  /** `webcrypto`: the browser's own; `noble`: the script that stands in for it on unencrypted pages. */
  readonly name: "webcrypto" | "noble";
  sha256(data: Bytes): Promise<Bytes>;
  /** HMAC-SHA256 under one key, to be used many times. */
  hmac(key: Bytes): Promise<(data: Bytes) => Promise<Bytes>>;
  /** Whether an Ed25519 signature (RFC 8032) holds. */
  ed25519(publicKey: Bytes, message: Bytes, signature: Bytes): Promise<boolean>;
}

/** The browser's own primitives where it offers them (https, localhost, file), else the script's. */
export async function bestHasher(): Promise<Hasher> {
  return typeof crypto !== "undefined" && (crypto.subtle as SubtleCrypto | undefined) !== undefined ? webHasher() : nobleHasher();
}

function webHasher(): Hasher {
  const subtle = crypto.subtle;
  return {
    name: "webcrypto",
    sha256: async (data) => new Uint8Array(await subtle.digest("SHA-256", data)),
    async hmac(key) {
      // An empty key is the same as one of zero bytes to HMAC, but not to WebCrypto.
      const raw = key.length === 0 ? new Uint8Array(1) : key;
      const made = await subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      return async (data) => new Uint8Array(await subtle.sign("HMAC", made, data));
    },
    async ed25519(publicKey, message, signature) {
      try {
        const key = await subtle.importKey("raw", publicKey, { name: "Ed25519" }, false, ["verify"]);
        return await subtle.verify({ name: "Ed25519" }, key, signature, message);
      } catch {
        // Browsers came to Ed25519 late, and refuse some malformed keys by an error.
        return nobleVerify(publicKey, message, signature);
      }
    },
  };
}

/** The primitives without the browser's help; also for tests, which hold both against the same vectors. */
export async function nobleHasher(): Promise<Hasher> {
  const [{ sha256 }, { hmac }] = await Promise.all([import("@noble/hashes/sha2.js"), import("@noble/hashes/hmac.js")]);
  return {
    name: "noble",
    sha256: async (data) => Uint8Array.from(sha256(data)),
    hmac: async (key) => async (data) => Uint8Array.from(hmac(sha256, key, data)),
    ed25519: nobleVerify,
  };
}

async function nobleVerify(publicKey: Bytes, message: Bytes, signature: Bytes): Promise<boolean> {
  const { ed25519 } = await import("@noble/curves/ed25519.js");
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

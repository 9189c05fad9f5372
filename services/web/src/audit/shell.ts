import type { Shown } from "../fair/checks";

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The same computation with tools of one's own; every system has them. */
export function shellLine(shown: Extract<Shown, { kind: "hash" }>): string {
  const sum = shown.how === "sha256" ? "sha256sum" : `openssl dgst -sha256 -mac HMAC -macopt hexkey:${shown.key}`;
  if (shown.text === null) return `printf '%s' ${shown.bytes} | xxd -r -p | ${sum}`;
  const lines = shown.text.split("\n").slice(0, -1).map(quoted);
  return `printf '%s\\n' ${lines.join(" ")} | ${sum}`;
}

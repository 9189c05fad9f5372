import { device } from "../api/shelf";
import { base64, unbase64 } from "../fair/bytes";

/** The transparency log as this browser knows it: the key it saw first, and the newest head it has seen. */
export interface KnownLog {
  readonly key: string;
  readonly checkpoint: Uint8Array<ArrayBuffer>;
  readonly size: number;
}

const STORE = "grimoire.log";

export function knownLog(): KnownLog | null {
  try {
    const read = JSON.parse(device.get(STORE) ?? "null") as Record<string, unknown> | null;
    const { key, checkpoint, size } = read ?? {};
    const note = typeof checkpoint === "string" ? unbase64(checkpoint) : null;
    return typeof key === "string" && typeof size === "number" && note !== null ? { key, checkpoint: note, size } : null;
  } catch {
    return null;
  }
}

/** Keeps a newer head. The key of the first one stays: another key would be another log. */
export function keepLog(log: KnownLog): void {
  const before = knownLog();
  if (before !== null && (before.key !== log.key || before.size > log.size)) return;
  device.set(STORE, JSON.stringify({ key: log.key, checkpoint: base64(log.checkpoint), size: log.size }));
}

export function forgetLog(): void {
  device.remove(STORE);
}

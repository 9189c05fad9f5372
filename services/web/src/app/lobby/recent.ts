import { device } from "../../api/shelf";
import type { Changes } from "./begin";

/** Options that were chosen before. */
export interface Recent {
  readonly game: string;
  readonly changes: Changes;
}

const STORE = "grimoire.recent";
const MOST = 3;

/** The last few, the newest first. */
export function recent(): readonly Recent[] {
  try {
    const kept: unknown = JSON.parse(device.get(STORE) ?? "[]");
    return Array.isArray(kept) ? (kept as Recent[]).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/** Keeps one more; the same is not kept twice. */
export function keepRecent(one: Recent): void {
  const same = JSON.stringify(one);
  const others = recent().filter((other) => JSON.stringify(other) !== same);
  device.set(STORE, JSON.stringify([one, ...others].slice(0, MOST)));
}

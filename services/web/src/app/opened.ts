import { tab } from "../api/shelf";

const STORE = "grimoire.opened";
const KEPT = 32;

function known(): readonly string[] {
  return (tab.get(STORE) ?? "").split(" ").filter((id) => id !== "");
}

/**
 * This match has been open in this tab, also before a reload. That it has begun is no news then: whoever has gone on
 * from it is not led there again.
 */
export function wasOpened(matchId: string): boolean {
  return known().includes(matchId);
}

/** Remembers the match of a path such as "/m/abc"; other paths are none. */
export function noteOpened(path: string): void {
  const matchId = /^\/m\/([0-9a-z]+)/.exec(path)?.[1];
  if (matchId === undefined || wasOpened(matchId)) return;
  tab.set(STORE, [...known(), matchId].slice(-KEPT).join(" "));
}

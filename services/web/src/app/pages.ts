import type { Component } from "svelte";

import { loadTexts } from "../i18n/index.svelte";

type Loaded = { default: Component<Record<string, string>> };
type Loader = () => Promise<unknown>;

/** A page to show: its component, what the path says, and a key by which it is a different page. */
export interface Page {
  readonly key: string;
  readonly params: Record<string, string>;
  load(): Promise<Loaded>;
}

const lobby: Loader = () => import("./pages/Lobby.svelte");
const rules: Loader = () => import("./pages/Rules.svelte");

/** Path patterns, the first that fits; `:name` is one part. Each page is a chunk of its own. */
const PAGES: readonly (readonly [string, Loader])[] = [
  ["/", lobby],
  ["/m/:match", () => import("./pages/Match.svelte")],
  ["/m/:match/replay", () => import("./pages/Replay.svelte")],
  ["/m/:match/audit", () => import("./pages/Audit.svelte")],
  ["/replay", () => import("./pages/Replay.svelte")],
  ["/audit", () => import("./pages/Audit.svelte")],
  ["/u/:player", () => import("./pages/Profile.svelte")],
  ["/rules", rules],
  ["/rules/:game", rules],
  ["/rules/:game/:section", rules],
  ["/settings", () => import("./pages/Settings.svelte")],
  ["/stats", () => import("./pages/Statistics.svelte")],
  ["/about", () => import("./pages/About.svelte")],
];

// The same promise for the same page: a change of the query or of a section leaves the page standing.
const loads = new Map<Loader, Promise<Loaded>>();
const missing: Loader = () => import("./pages/NotFound.svelte");

function loaded(load: Loader): Promise<Loaded> {
  const kept = loads.get(load);
  if (kept !== undefined) return kept;
  const loading = Promise.all([load() as Promise<Loaded>, load === lobby ? null : loadTexts()]).then(([page]) => page);
  loads.set(load, loading);
  loading.catch(() => loads.delete(load));
  return loading;
}

/** The page of a path; one that says so where there is none. */
export function pageOf(path: string): Page {
  for (const [pattern, load] of PAGES) {
    const params = fit(pattern, path);
    if (params !== null) {
      const key = `${pattern.replace("/:section", "")} ${params["match"] ?? params["player"] ?? params["game"] ?? ""}`;
      return { key, params, load: () => loaded(load) };
    }
  }
  return { key: "none", params: {}, load: () => loaded(missing) };
}

function fit(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [n, part] of wanted.entries()) {
    const value = given[n] ?? "";
    if (part.startsWith(":")) {
      const decoded = decode(value);
      if (decoded === null) return null;
      params[part.slice(1)] = decoded;
    } else if (part !== value) return null;
  }
  return params;
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

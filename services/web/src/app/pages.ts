import type { Component } from "svelte";

type Loaded = { default: Component<Record<string, string>> };
type Loader = () => Promise<unknown>;

/** A page to show: its component, what the path says, and a key by which it is a different page. */
export interface Page {
  readonly key: string;
  readonly params: Record<string, string>;
  load(): Promise<Loaded>;
}

/** Path patterns, the first that fits; `:name` is one part. Each page is a chunk of its own. */
const PAGES: readonly (readonly [string, Loader])[] = [
  ["/", () => import("./pages/Lobby.svelte")],
  ["/m/:match", () => import("./pages/Match.svelte")],
  ["/m/:match/replay", () => import("./pages/Replay.svelte")],
  ["/m/:match/audit", () => import("./pages/Audit.svelte")],
  ["/replay", () => import("./pages/Replay.svelte")],
  ["/audit", () => import("./pages/Audit.svelte")],
  ["/u/:player", () => import("./pages/Profile.svelte")],
  ["/rules", () => import("./pages/Rules.svelte")],
  ["/rules/:game", () => import("./pages/Rules.svelte")],
  ["/rules/:game/:section", () => import("./pages/Rules.svelte")],
  ["/settings", () => import("./pages/Settings.svelte")],
  ["/stats", () => import("./pages/Statistics.svelte")],
  ["/about", () => import("./pages/About.svelte")],
];

/** The page of a path; one that says so where there is none. */
export function pageOf(path: string): Page {
  for (const [pattern, load] of PAGES) {
    const params = fit(pattern, path);
    if (params !== null) {
      return { key: `${pattern} ${params["match"] ?? params["player"] ?? params["game"] ?? ""}`, params, load: load as Page["load"] };
    }
  }
  return { key: "none", params: {}, load: (() => import("./pages/NotFound.svelte")) as Page["load"] };
}

function fit(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [n, part] of wanted.entries()) {
    const value = given[n] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = decodeURIComponent(value);
    else if (part !== value) return null;
  }
  return params;
}

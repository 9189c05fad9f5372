/** Where we are: path and query, nothing else. History API, no hash. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

function here(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

let place = $state.raw<Place>(here());
const scrolls = new Map<string, number>();

/** The current place; reading it in markup follows it. */
export function route(): Place {
  return place;
}

/** Goes to a path of this site, e.g. "/m/abc". `replace`: without a step in the history. */
export function go(path: string, { replace = false } = {}): void {
  // Where we are already needs no step of its own.
  if (path === location.pathname + location.search + location.hash) return;
  scrolls.set(stepId(), scrollY);
  if (replace) history.replaceState({ id: stepId() }, "", path);
  else history.pushState({ id: crypto.getRandomValues(new Uint32Array(1))[0] }, "", path);
  place = here();
  if (!replace) scrollTo(0, 0);
}

let returning: number | null = null;

/** How far down the page was when it was left, for one that is shown again by going back; null: it is a new step. */
export function takeScroll(): number | null {
  const kept = returning;
  returning = null;
  return kept;
}

function stepId(): string {
  return String((history.state as { id?: number } | null)?.id ?? 0);
}

/** Follows links inside the site without a reload; `back` and `forward` restore the scroll position (W-ALL-6). */
export function startRouter(): void {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => {
    returning = scrolls.get(stepId()) ?? 0;
    place = here();
    // Where the page stays, it is long enough at once; otherwise whoever shows the next one asks for it.
    requestAnimationFrame(() => {
      if (returning !== null) scrollTo(0, returning);
    });
  });
  addEventListener("scroll", () => scrolls.set(stepId(), scrollY), { passive: true });
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest("a");
    if (link === null || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.origin !== location.origin || link.target !== "" || link.hasAttribute("download")) return;
    if (link.pathname === location.pathname && link.search === location.search && link.hash !== "") return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}

/** What a screen reader is told, and short notes on the screen. One place for the whole site. */
export interface Toast {
  readonly id: number;
  readonly kind: "info" | "good" | "bad";
  readonly text: string;
  /** Where more of it is. */
  readonly link: { readonly href: string; readonly text: string } | null;
}

const live = $state({ polite: "", assertive: "" });
let notes = $state.raw<readonly Toast[]>([]);
let next = 0;

/** Texts of the two live regions, for the shell. */
export function regions(): { readonly polite: string; readonly assertive: string } {
  return live;
}

export function toasts(): readonly Toast[] {
  return notes;
}

/** Said when the reader has finished; a newer text replaces an older one that was not said yet. */
export function polite(text: string): void {
  live.polite = text;
}

/** Said at once: one's own prompts, low time, rejections, the end. */
export function assertive(text: string): void {
  live.assertive = text;
}

/** A short note at the screen's edge; it is also said. */
export function toast(text: string, kind: Toast["kind"] = "info", link: Toast["link"] = null): void {
  const id = next++;
  notes = [...notes.slice(-2), { id, kind, text, link }];
  if (kind === "bad") assertive(text);
  else polite(text);
  setTimeout(() => dismiss(id), link === null ? 6000 : 20_000);
}

export function dismiss(id: number): void {
  notes = notes.filter((note) => note.id !== id);
}

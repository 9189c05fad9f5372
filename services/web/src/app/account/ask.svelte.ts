/** What the account dialog is open for: signing in, or making an account (a guest keeps its own by it). */
export type Asking = "in" | "up";

let asking = $state<Asking | null>(null);

/** What the dialog is open for; null: it is not. */
export function asked(): Asking | null {
  return asking;
}

/** Opens the account dialog. */
export function ask(what: Asking): void {
  asking = what;
}

export function askNoMore(): void {
  asking = null;
}

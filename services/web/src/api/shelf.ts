/**
 * What a browser keeps for us, and where it keeps nothing (a private window, refused, full), what the open page
 * remembers until it is left: a number that was sealed has to be known when it is to be opened.
 */
export class Shelf {
  readonly #storage: () => Storage;
  readonly #remembered = new Map<string, string>();

  /** @param storage asked for each time: where storage is refused, naming it already throws. */
  constructor(storage: () => Storage) {
    this.#storage = storage;
  }

  get(key: string): string | null {
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined) return remembered;
    try {
      return this.#storage().getItem(key);
    } catch {
      return null;
    }
  }

  /** False: it is remembered only as long as this page is open. */
  set(key: string, value: string): boolean {
    try {
      this.#storage().setItem(key, value);
      this.#remembered.delete(key);
      return true;
    } catch {
      this.#remembered.set(key, value);
      return false;
    }
  }

  remove(key: string): void {
    this.#remembered.delete(key);
    try {
      this.#storage().removeItem(key);
    } catch {
      // Then it holds nothing of ours.
    }
  }
}

/** Kept on this device. */
export const device = new Shelf(() => localStorage);
/** Kept for this tab, over reloads. */
export const tab = new Shelf(() => sessionStorage);

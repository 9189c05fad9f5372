import { expect, test } from "vitest";

import { Shelf } from "./shelf";

/** A browser's storage that may be filled up. */
class Store implements Storage {
  readonly items = new Map<string, string>();
  full = false;

  get length(): number {
    return this.items.size;
  }
  key = (n: number): string | null => [...this.items.keys()][n] ?? null;
  getItem = (key: string): string | null => this.items.get(key) ?? null;
  removeItem = (key: string): void => void this.items.delete(key);
  clear = (): void => this.items.clear();
  setItem(key: string, value: string): void {
    if (this.full) throw new DOMException("full", "QuotaExceededError");
    this.items.set(key, value);
  }
}

test("what a browser keeps is kept there", () => {
  const store = new Store();
  const shelf = new Shelf(() => store);
  expect(shelf.set("nonce", "1")).toBe(true);
  expect(new Shelf(() => store).get("nonce")).toBe("1");
  shelf.remove("nonce");
  expect(shelf.get("nonce")).toBeNull();
});

test("a page remembers what a refused storage does not keep", () => {
  const shelf = new Shelf(() => {
    throw new DOMException("denied", "SecurityError");
  });
  expect(shelf.get("nonce")).toBeNull();
  expect(shelf.set("nonce", "1")).toBe(false);
  expect(shelf.get("nonce")).toBe("1");
  shelf.remove("nonce");
  expect(shelf.get("nonce")).toBeNull();
});

test("what a full storage cannot take counts before the older thing that lies there", () => {
  const store = new Store();
  const shelf = new Shelf(() => store);
  shelf.set("nonce", "1");
  store.full = true;
  expect(shelf.set("nonce", "2")).toBe(false);
  expect(shelf.get("nonce")).toBe("2");
  store.full = false;
  expect(shelf.set("nonce", "3")).toBe(true);
  expect(shelf.get("nonce")).toBe("3");
  expect(store.getItem("nonce")).toBe("3");
});

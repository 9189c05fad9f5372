import { afterEach, describe, expect, it, vi } from "vitest";

import { nextSpot, roving } from "./roving";

const spots = [{ x: 0, y: 0 }, { x: 10, y: 1 }, { x: 30, y: 0 }, { x: 0, y: 20 }, { x: 12, y: 22 }];

describe("an arrow key", () => {
  it("leads to what lies next in its direction", () => {
    const from = { x: 0, y: 0 };
    expect(nextSpot(from, spots, [1, 0])).toBe(1);
    expect(nextSpot(from, spots, [0, 1])).toBe(3);
    expect(nextSpot({ x: 12, y: 22 }, spots, [0, -1])).toBe(1);
    expect(nextSpot({ x: 30, y: 0 }, spots, [-1, 0])).toBe(1);
    expect(nextSpot(from, spots, [-1, 0])).toBe(-1);
  });
});

describe("a part of the picture", () => {
  afterEach(() => {
    document.body.replaceChildren();
    vi.restoreAllMocks();
  });

  function part(count: number): { node: HTMLElement; buttons: HTMLElement[] } {
    const node = document.createElement("div");
    const buttons = Array.from({ length: count }, (_, n) => {
      const button = document.createElement("button");
      button.getBoundingClientRect = () => ({ left: n * 10, top: 0, width: 10, height: 10 }) as DOMRect;
      node.append(button);
      return button;
    });
    document.body.append(node);
    return { node, buttons };
  }
  const press = (node: HTMLElement | undefined, key: string) => node?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

  it("is one stop of the Tab key, wherever one was last", () => {
    const { node, buttons } = part(3);
    const { destroy } = roving(node);
    expect(buttons.map((each) => each.tabIndex)).toEqual([0, -1, -1]);
    buttons[0]?.focus();
    press(buttons[0], "ArrowRight");
    expect(document.activeElement).toBe(buttons[1]);
    expect(buttons.map((each) => each.tabIndex)).toEqual([-1, 0, -1]);
    press(buttons[1], "ArrowDown");
    expect(document.activeElement).toBe(buttons[1]);
    destroy();
  });

  it("finds another stop when its own goes away", async () => {
    const { node, buttons } = part(2);
    const { destroy } = roving(node);
    buttons[0]?.remove();
    await vi.waitFor(() => expect(buttons[1]?.tabIndex).toBe(0));
    destroy();
  });
});

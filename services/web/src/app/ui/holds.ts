/** Tells whether the pointer or the focus is on an element: then nothing on it may move. */
export function holds(tell: (held: boolean) => void): (node: HTMLElement) => () => void {
  return (node) => {
    let over = false;
    let focused = false;
    // Not at once: an element that is taken down loses the focus in the middle of it.
    const say = (): void => queueMicrotask(() => tell(over || focused));
    const listeners: [string, () => void][] = [
      ["pointerenter", () => ((over = true), say())],
      ["pointerleave", () => ((over = false), say())],
      ["focusin", () => ((focused = true), say())],
      ["focusout", () => ((focused = false), say())],
    ];
    for (const [name, listener] of listeners) node.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of listeners) node.removeEventListener(name, listener);
      over = focused = false;
      say();
    };
  };
}

/** Arrow keys, Home and End go from one chosen element to the next, inside an element. */
export function arrows(selector: string): (node: HTMLElement) => () => void {
  return (node) => {
    const listen = (event: KeyboardEvent): void => {
      const items = [...node.querySelectorAll<HTMLElement>(selector)];
      const at = items.indexOf(document.activeElement as HTMLElement);
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      items[Math.max(0, Math.min(items.length - 1, to))]?.focus();
    };
    node.addEventListener("keydown", listen);
    return () => node.removeEventListener("keydown", listen);
  };
}

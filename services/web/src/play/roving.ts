/** Where an arrow key leads. */
const WAYS: Readonly<Record<string, readonly [number, number]>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

interface Spot {
  readonly x: number;
  readonly y: number;
}

function middle(node: HTMLElement): Spot {
  const { left, top, width, height } = node.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}

/** Which of several spots lies next in a direction: far ones count, and sideways ones twice; -1: none does. */
export function nextSpot(from: Spot, spots: readonly Spot[], [right, down]: readonly [number, number]): number {
  const costs = spots.map(({ x, y }) => {
    const [dx, dy] = [x - from.x, y - from.y];
    const along = dx * right + dy * down;
    return along < 1 ? Infinity : along + 2 * Math.abs(dx * down) + 2 * Math.abs(dy * right);
  });
  const least = Math.min(...costs);
  return least === Infinity ? -1 : costs.indexOf(least);
}

/** One stop of the Tab key for all buttons of a part of the picture; arrows lead from one to the next. */
export function roving(node: HTMLElement): { destroy(): void } {
  let current: HTMLElement | null = null;
  const things = (): HTMLElement[] => [...node.querySelectorAll("button")];
  function settle(): void {
    const all = things();
    if (current === null || !all.includes(current)) current = all[0] ?? null;
    for (const one of all) one.tabIndex = one === current ? 0 : -1;
  }
  function onfocusin({ target }: FocusEvent): void {
    current = (target as HTMLElement).closest("button") ?? current;
    settle();
  }
  function onkeydown(event: KeyboardEvent): void {
    const way = WAYS[event.key];
    const here = (event.target as HTMLElement).closest("button");
    if (way === undefined || here === null || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const others = things().filter((one) => one !== here);
    others[nextSpot(middle(here), others.map(middle), way)]?.focus();
  }
  const watch = new MutationObserver(settle);
  watch.observe(node, { childList: true, subtree: true });
  node.addEventListener("focusin", onfocusin);
  node.addEventListener("keydown", onkeydown);
  settle();
  return { destroy: () => watch.disconnect() };
}

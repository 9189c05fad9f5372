import { settings } from "../app/settings.svelte";

/** What single keys do on every match page, with the key each has unless it was changed. */
export const ACTIONS = {
  help: "?",
  inspect: "i",
  next: "n",
  previous: "N",
  zone: ".",
  text: "x",
  command: ":",
  situation: "s",
  last: "l",
  clocks: "t",
  opponents: "o",
  mine: "m",
} as const;

export type Action = keyof typeof ACTIONS;
/** Those that are answered by a sentence. */
export type Question = "situation" | "last" | "clocks" | "opponents" | "mine";

/** The key of an action on this device. */
export function keyOf(action: Action): string {
  return settings.keyMap[action] ?? ACTIONS[action];
}

/** What a key does; null: nothing everywhere. */
export function actionOf(key: string): Action | null {
  return (Object.keys(ACTIONS) as Action[]).find((action) => keyOf(action) === key) ?? null;
}

/** Somebody is typing there. */
export function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

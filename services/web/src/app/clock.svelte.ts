import { createSubscriber } from "svelte/reactivity";

let offset = 0;
const samples: number[] = [];

/** Takes the server's time (UTC ms) as it stands in a heartbeat; the median of the last five is believed. */
export function setServerTime(serverMs: number, nowMs: number = Date.now()): void {
  samples.push(serverMs - nowMs);
  if (samples.length > 5) samples.shift();
  offset = samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? 0;
}

const ticking = createSubscriber((update) => {
  const timer = setInterval(update, 1000);
  return () => clearInterval(timer);
});

/** The server's time now, UTC ms; whatever markup reads it is drawn again every second. One timer for all. */
export function now(): number {
  ticking();
  return Date.now() + offset;
}

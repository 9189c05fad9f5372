/** The server's clock as well as it is known here, from the times its frames bring. */
export class ServerClock {
  #offsets: number[] = [];
  #offset = 0;

  /** A frame says what time it is. A median of five keeps one late packet from moving every clock. */
  hear(serverMs: number, nowMs: number = Date.now()): void {
    if (serverMs === 0) return;
    this.#offsets = [...this.#offsets.slice(-4), serverMs - nowMs];
    const sorted = [...this.#offsets].sort((a, b) => a - b);
    this.#offset = sorted[sorted.length >> 1] ?? 0;
  }

  now(nowMs: number = Date.now()): number {
    return nowMs + this.#offset;
  }
}

let tick = $state(Date.now());
let followers = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let fast = false;

function beat(): void {
  tick = Date.now();
  timer = setTimeout(beat, fast ? 100 : 250);
}

/** This machine's time, renewed four times a second (ten times while something runs out): one timer for all clocks. */
export function ticking(): number {
  return tick;
}

export function hurry(on: boolean): void {
  fast = on;
}

/** Starts the timer while somebody looks; call the answer to stop. */
export function followTime(): () => void {
  followers += 1;
  if (followers === 1) beat();
  return () => {
    followers -= 1;
    if (followers === 0) clearTimeout(timer);
  };
}

/** A time left: `1:05`, `0:09.4` below ten seconds; hours and days where there are so many. */
export function left(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < 10_000) return `0:0${(Math.floor(rest / 100) / 10).toFixed(1)}`;
  const seconds = Math.ceil(rest / 1000);
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  if (days > 0) return `${days} d ${hours} h`;
  const two = (n: number) => String(n).padStart(2, "0");
  if (hours > 0) return `${hours}:${two(minutes)}:${two(seconds % 60)}`;
  return `${minutes}:${two(seconds % 60)}`;
}

/** Below a fifth of its time, or 15 s: time to look at it. */
export function isLow(leftMs: number, limitMs: number): boolean {
  return leftMs <= Math.max(limitMs / 5, Math.min(15_000, limitMs / 2));
}

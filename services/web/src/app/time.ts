/** A span as people read it on a clock: "0:41", "12:05", "3:10:00". Negative spans are nought. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0"));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? `${hours}:${parts.join(":")}` : parts.join(":").replace(/^0/, "");
}

/** Seconds in words of a language, in the largest unit that divides them: "60 sec", "1 day". */
export function secondsText(seconds: number, language: string): string {
  const units = [
    [86_400, "day"],
    [3600, "hour"],
    [60, "minute"],
    [1, "second"],
  ] as const;
  // A minute or two are better said in seconds: all limits of one list look alike then.
  const [size, unit] = units.find(([size]) => seconds % size === 0 && (size !== 60 || seconds >= 300)) ?? units[3];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: size === 1 ? "short" : "long" }).format(
    seconds / size,
  );
}

/** How long ago, in words: "3 minutes ago". */
export function agoText(ms: number, language: string): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const units = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
  ] as const;
  for (const [size, unit] of units) if (ms >= size) return format.format(-Math.floor(ms / size), unit);
  return format.format(0, "second");
}

/** A day as people write it. */
export function dateText(ms: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(ms);
}

/** A day and a time. */
export function momentText(ms: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(ms);
}

/** A gain or a loss with its sign: "+12", "−7", "0". */
export function signedText(by: number, language: string): string {
  return new Intl.NumberFormat(language, { signDisplay: "exceptZero" }).format(by).replace("-", "−");
}

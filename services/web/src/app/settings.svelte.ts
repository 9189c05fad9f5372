/** What a person has chosen, applied at once and kept on this device. */
export interface Settings {
  theme: "auto" | "light" | "dark" | "contrast";
  /** Factor of the browser's own text size, 0.9 to 1.5. */
  textSize: number;
  motion: "off" | "fast" | "normal" | "slow";
  /** `always`: every command is confirmed; `grave`: only what cannot be undone. */
  confirm: "always" | "grave";
  /** Single keys act. */
  keys: boolean;
  /** Changed keys: action to key. */
  keyMap: Record<string, string>;
  /** 0 to 1; 0: silent. */
  volume: number;
  vibrate: boolean;
  announce: "all" | "mine" | "short";
  /** Matches open in words instead of as a picture. */
  textMode: boolean;
  /** Hides one's own private things until asked for, for those who show their screen to others. */
  streamer: boolean;
  chat: boolean;
  /** Text size, motion and sound of this device stay its own. */
  ownDevice: boolean;
}

const STORE = "grimoire.settings";
const DEFAULTS: Settings = {
  theme: "auto",
  textSize: 1,
  motion: "normal",
  confirm: "always",
  keys: true,
  keyMap: {},
  volume: 0.5,
  vibrate: true,
  announce: "all",
  textMode: false,
  streamer: false,
  chat: true,
  ownDevice: false,
};

const CHOICES: Partial<Record<keyof Settings, readonly string[]>> = {
  theme: ["auto", "light", "dark", "contrast"],
  motion: ["off", "fast", "normal", "slow"],
  confirm: ["always", "grave"],
  announce: ["all", "mine", "short"],
};
const BOUNDS: Partial<Record<keyof Settings, readonly [number, number]>> = { textSize: [0.9, 1.5], volume: [0, 1] };

/** Of anything that was read somewhere: the settings in it that are ones. */
export function reviewed(read: unknown): Partial<Settings> {
  if (typeof read !== "object" || read === null) return {};
  const sound = Object.entries(read).filter(([key, value]) => isSound(key, value));
  return Object.fromEntries(sound) as Partial<Settings>;
}

function isSound(key: string, value: unknown): boolean {
  if (!(key in DEFAULTS)) return false;
  const name = key as keyof Settings;
  const bounds = BOUNDS[name];
  if (bounds !== undefined) return typeof value === "number" && value >= bounds[0] && value <= bounds[1];
  if (name === "keyMap") return isKeyMap(value);
  return CHOICES[name]?.includes(String(value)) ?? typeof value === typeof DEFAULTS[name];
}

function isKeyMap(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((key) => typeof key === "string" && key.length === 1)
  );
}

function kept(): Settings {
  try {
    return { ...DEFAULTS, ...reviewed(JSON.parse(localStorage.getItem(STORE) ?? "{}")) };
  } catch {
    return { ...DEFAULTS };
  }
}

/** Reading a field in markup follows it; change fields through `change`. */
export const settings: Settings = $state(kept());

const dark = matchMedia("(prefers-color-scheme: dark)");
const contrast = matchMedia("(prefers-contrast: more)");
const still = matchMedia("(prefers-reduced-motion: reduce)");

let theme = $state<Exclude<Settings["theme"], "auto">>("light");

/** The theme that is shown now, whoever chose it. */
export function shownTheme(): Exclude<Settings["theme"], "auto"> {
  return theme;
}

/** Puts the settings to work; called once, and whenever the system's own wishes change. */
export function applySettings(): void {
  const root = document.documentElement;
  const auto = contrast.matches ? "contrast" : dark.matches ? "dark" : "light";
  theme = settings.theme === "auto" ? auto : settings.theme;
  root.dataset["theme"] = theme;
  root.dataset["motion"] = motion();
  root.style.setProperty("--text-size", String(settings.textSize));
  root.style.setProperty("--motion", String(motionFactor()));
}

/** The wish for motion, "off" where the system asks for less and nothing was chosen. */
export function motion(): Settings["motion"] {
  return settings.motion === "normal" && still.matches ? "off" : settings.motion;
}

/** Factor of all durations. */
export function motionFactor(): number {
  return { off: 0, fast: 0.5, normal: 1, slow: 1.6 }[motion()];
}

let told: (() => void) | null = null;

/** Is told of every change. */
export function onChange(listener: () => void): void {
  told = listener;
}

/** Changes some settings. */
export function change(some: Partial<Settings>): void {
  Object.assign(settings, some);
  try {
    localStorage.setItem(STORE, JSON.stringify(settings));
  } catch {
    // A browser that keeps nothing still shows what was chosen.
  }
  applySettings();
  told?.();
}

/** Everything as it was at first. */
export function resetSettings(): void {
  change({ ...DEFAULTS });
}

export function startSettings(): void {
  for (const wish of [dark, contrast, still]) wish.addEventListener("change", applySettings);
  // Another window of this browser changed them.
  window.addEventListener("storage", (event) => {
    if (event.key !== STORE) return;
    Object.assign(settings, kept());
    applySettings();
  });
  applySettings();
}

import { accounts } from "../api/clients";
import { failureOf } from "../api/errors";
import { chosen, type Language, language, LANGUAGES, setLanguage } from "../i18n/index.svelte";
import { change, onChange, reviewed, type Settings, settings } from "./settings.svelte";

/** `device`: nobody is signed in, so they are kept here alone. `pending`: they could not be sent yet. */
export type Kept = "device" | "saving" | "saved" | "pending";

const PAUSE_MS = 800;
const AGAIN_MS = 15_000;
/** What a device may keep to itself. */
const OF_DEVICE = ["textSize", "motion", "volume", "vibrate"] as const satisfies readonly (keyof Settings)[];

let kept = $state<Kept>("device");
let revision = 0n;
let signedIn = "";
let timer: ReturnType<typeof setTimeout> | undefined;
let quiet = false;

/** Where the settings are kept now. */
export function keptWhere(): Kept {
  return kept;
}

/** What is saved with an account, as JSON. `spoken`: the language that was chosen; empty: none was. */
export function settingsJson(all: Settings, spoken: string): string {
  const own = all.ownDevice ? new Set<string>([...OF_DEVICE, "ownDevice"]) : new Set<string>(["ownDevice"]);
  const shared = Object.entries(all).filter(([key]) => !own.has(key));
  return JSON.stringify({ version: 1, language: spoken, settings: Object.fromEntries(shared) });
}

/** What was saved with an account; anything that is none of ours is left out. */
export function readSettings(json: string, here: Settings): { settings: Partial<Settings>; language: Language | null } {
  let read: { language?: unknown; settings?: unknown };
  try {
    read = JSON.parse(json) as typeof read;
  } catch {
    return { settings: {}, language: null };
  }
  const some = reviewed(read.settings);
  if (here.ownDevice) for (const key of OF_DEVICE) delete some[key];
  delete some.ownDevice;
  const spoken = LANGUAGES.find((code) => code === read.language) ?? null;
  return { settings: some, language: spoken };
}

/** Takes over the settings of whoever has signed in; empty: nobody. Those of a new account are the ones of this device. */
export async function takeSettings(accountId: string): Promise<void> {
  if (accountId === signedIn) return;
  signedIn = accountId;
  clearTimeout(timer);
  revision = 0n;
  kept = "device";
  if (accountId === "") return;
  try {
    await load(accountId);
  } catch {
    kept = "pending";
    timer = setTimeout(() => void save(), AGAIN_MS);
  }
}

async function load(accountId: string): Promise<void> {
  const answer = await accounts.getSettings({});
  if (accountId !== signedIn) return;
  revision = answer.revision;
  if (answer.settings === "") {
    kept = "saved";
    return;
  }
  const saved = readSettings(answer.settings, settings);
  quiet = true;
  change(saved.settings);
  quiet = false;
  if (saved.language !== null && saved.language !== language()) await setLanguage(saved.language);
  kept = "saved";
}

/** They have changed: they are sent a moment later, together. */
export function saveSoon(): void {
  if (quiet || signedIn === "") return;
  kept = "saving";
  clearTimeout(timer);
  timer = setTimeout(() => void save(), PAUSE_MS);
}

async function save(): Promise<void> {
  try {
    // What is newest here was chosen by the person who sits here: it wins over another device's.
    if (revision === 0n) revision = (await accounts.getSettings({})).revision;
    await send().catch(async (error: unknown) => {
      if (failureOf(error).code !== "stale_settings") throw error;
      revision = (await accounts.getSettings({})).revision;
      await send();
    });
    kept = "saved";
  } catch (error) {
    const { code } = failureOf(error);
    kept = code === "unauthenticated" ? "device" : "pending";
    if (kept === "pending") timer = setTimeout(() => void save(), AGAIN_MS);
  }
}

async function send(): Promise<void> {
  const answer = await accounts.saveSettings({ settings: settingsJson(settings, chosen()), revision });
  revision = answer.revision;
}

/** Saves whatever changes from now on. */
export function startSaving(): void {
  onChange(saveSoon);
  addEventListener("online", () => {
    if (kept === "pending") saveSoon();
  });
}

/** Changes the language of the page, and remembers it wherever settings are kept. */
export async function speak(next: Language): Promise<void> {
  await setLanguage(next);
  saveSoon();
}

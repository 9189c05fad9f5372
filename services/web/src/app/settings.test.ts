import { beforeEach, describe, expect, test } from "vitest";

import { readSettings, settingsJson } from "./saved.svelte";
import { change, resetSettings, reviewed, settings } from "./settings.svelte";

beforeEach(resetSettings);

describe("settings", () => {
  test("are taken only where they are ones", () => {
    expect(
      reviewed({ theme: "pink", motion: "off", textSize: 9, volume: 0.2, keyMap: { help: "h", next: "too long" }, chat: "yes", streamer: true, extra: 1 }),
    ).toEqual({ motion: "off", volume: 0.2, streamer: true });
    expect(reviewed(null)).toEqual({});
    expect(reviewed("x")).toEqual({});
  });

  test("apply at once and outlive the page", () => {
    change({ theme: "dark", textSize: 1.25, motion: "off" });
    const root = document.documentElement;
    expect(root.dataset["theme"]).toBe("dark");
    expect(root.dataset["motion"]).toBe("off");
    expect(root.style.getPropertyValue("--text-size")).toBe("1.25");
    expect(root.style.getPropertyValue("--motion")).toBe("0");
    expect(JSON.parse(localStorage.getItem("grimoire.settings") ?? "")).toMatchObject({ theme: "dark", textSize: 1.25 });
  });

  test("are the same after the way to the account and back", () => {
    change({ announce: "short", keyMap: { help: "h" }, volume: 0 });
    const read = readSettings(settingsJson(settings, "fi"), settings);
    expect(read.language).toBe("fi");
    const { ownDevice: _, ...all } = { ...settings };
    expect(read.settings).toEqual(all);
  });

  test("of a device that has its own stay there", () => {
    change({ ownDevice: true, textSize: 1.5, theme: "light" });
    const sent = JSON.parse(settingsJson(settings, "")) as { settings: object };
    expect(sent.settings).not.toHaveProperty("textSize");
    expect(sent.settings).toHaveProperty("theme", "light");
    const other = JSON.stringify({ settings: { textSize: 0.9, theme: "dark", ownDevice: false } });
    expect(readSettings(other, settings).settings).toEqual({ theme: "dark" });
  });

  test("that were saved as nonsense change nothing", () => {
    expect(readSettings("{", settings)).toEqual({ settings: {}, language: null });
    expect(readSettings('{"language":"xx","settings":[1]}', settings)).toEqual({ settings: {}, language: null });
  });
});

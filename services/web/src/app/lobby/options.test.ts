import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";

import { ManifestSchema, type OptionSchema, OptionType } from "../../gen/grimoire/v1/manifest_pb";
import { ShownOptionSchema } from "../../gen/grimoire/v1/quickplay_pb";
import { fitting, isInRange, paceText, shownText, valueOf, valueText, withValue } from "./options";

const manifest = create(ManifestSchema, {
  options: [
    { name: "deck", type: OptionType.CHOICE, default: "plain", choices: [{ value: "plain", label: "Plain" }, { value: "endless", label: "Endless" }] },
    { name: "turn_s", type: OptionType.INTEGER, default: "60", min: 10n, max: 86400n, unit: "s" },
    { name: "misses", type: OptionType.INTEGER, default: "3", min: 2n, max: 10n },
  ],
  presets: [{ preset: "normal" }, { preset: "days", options: [{ name: "turn_s", value: "86400" }] }],
});
const [deck, turn, misses] = manifest.options as [OptionSchema, OptionSchema, OptionSchema];

describe("options of a challenge", () => {
  test("are changes to the defaults: the default itself is none", () => {
    const changed = withValue({}, deck, "endless");
    expect(changed).toEqual({ deck: "endless" });
    expect(valueOf(deck, changed)).toBe("endless");
    expect(valueOf(turn, changed)).toBe("60");
    expect(withValue(changed, deck, "plain")).toEqual({});
  });

  test.each([
    ["10", true],
    ["86400", true],
    ["9", false],
    ["86401", false],
    ["", false],
    ["12.5", false],
    ["1e3", false],
    ["9".repeat(40), false],
  ])("a number is a whole one within its bounds: %s", (value, fits) => {
    expect(isInRange(turn, value)).toBe(fits);
  });

  test("that were chosen before are kept as far as the game still knows them", () => {
    expect(fitting({ deck: "gone", turn_s: "20", flag: "x" }, manifest)).toEqual({ turn_s: "20" });
  });

  test("are said in words, times in the unit that people use", () => {
    expect(valueText(deck, "endless", "en")).toBe("Endless");
    expect(valueText(turn, "60", "en")).toBe("60 sec");
    expect(valueText(turn, "86400", "fi")).toBe("1 päivä");
    expect(valueText(misses, "3", "en")).toBe("3");
    expect(manifest.presets.map((preset) => paceText(manifest, preset, "en"))).toEqual(["60 sec", "1 day"]);
    const shown = create(ShownOptionSchema, { name: "turn_s", value: "600", valueLabel: "600 s" });
    expect(shownText(shown, manifest, "en")).toBe("10 minutes");
    expect(shownText(shown, undefined, "en")).toBe("600 s");
  });
});

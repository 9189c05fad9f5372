import { describe, expect, test } from "vitest";

import { agoText, clockText, secondsText } from "./time";

describe("times", () => {
  test.each([
    [-5, "0:00"],
    [0, "0:00"],
    [41_999, "0:41"],
    [65_000, "1:05"],
    [725_000, "12:05"],
    [11_400_000, "3:10:00"],
  ])("on a clock: %d ms", (ms, text) => {
    expect(clockText(ms)).toBe(text);
  });

  test.each([
    [20, "20 sec"],
    [90, "90 sec"],
    [120, "120 sec"],
    [600, "10 minutes"],
    [7200, "2 hours"],
    [86_400, "1 day"],
  ])("in words: %d s", (seconds, text) => {
    expect(secondsText(seconds, "en")).toBe(text);
  });

  test("that are past", () => {
    expect(agoText(30_000, "en")).toBe("now");
    expect(agoText(200_000, "en")).toBe("3 minutes ago");
    expect(agoText(90_000_000, "fi")).toBe("eilen");
  });
});

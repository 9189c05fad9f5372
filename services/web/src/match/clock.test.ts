import { describe, expect, it } from "vitest";

import { isLow, left, ServerClock } from "./clock.svelte";

describe("the server's clock", () => {
  it("is right on a machine whose own clock is an hour off", () => {
    const clock = new ServerClock();
    clock.hear(10_000_000, 10_000_000 - 3_600_000);
    expect(clock.now(20_000)).toBe(3_620_000);
  });

  it("is not moved by one late packet", () => {
    const clock = new ServerClock();
    for (const late of [0, 0, 4000, 0, 0]) clock.hear(50_000, 50_000 + late);
    expect(clock.now(60_000)).toBe(60_000);
  });

  it("follows when the machine's clock is set anew", () => {
    const clock = new ServerClock();
    for (let n = 0; n < 5; n += 1) clock.hear(1000, 1000);
    for (let n = 0; n < 5; n += 1) clock.hear(1000, 9000);
    expect(clock.now(9000)).toBe(1000);
  });
});

describe("a time left", () => {
  it("is said in tenths, minutes, hours or days", () => {
    expect(left(9_440)).toBe("0:09.4");
    expect(left(-5)).toBe("0:00.0");
    expect(left(59_001)).toBe("1:00");
    expect(left(3_661_000)).toBe("1:01:01");
    expect(left(90_000_000)).toBe("1 d 1 h");
  });

  it("is low in its last fifth, or its last fifteen seconds", () => {
    expect(isLow(15_000, 60_000)).toBe(true);
    expect(isLow(16_000, 60_000)).toBe(false);
    expect(isLow(200_000, 1_000_000)).toBe(true);
    expect(isLow(14_000, 20_000)).toBe(false);
  });
});

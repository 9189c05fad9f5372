import { beforeEach, expect, test } from "vitest";

import { noteOpened, wasOpened } from "./opened";

beforeEach(() => sessionStorage.clear());

test("a match that was open in this tab is remembered, other pages are not", () => {
  for (const path of ["/", "/rules", "/m/abc", "/m/abc", "/m/def/replay"]) noteOpened(path);
  expect(["abc", "def", "rules", ""].map(wasOpened)).toEqual([true, true, false, false]);
});

test("the oldest are forgotten", () => {
  for (let n = 0; n < 40; n++) noteOpened(`/m/a${n}`);
  expect([wasOpened("a7"), wasOpened("a8"), wasOpened("a39")]).toEqual([false, true, true]);
});

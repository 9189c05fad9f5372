import { describe, expect, test } from "vitest";

import { pageOf } from "./pages";

describe("paths", () => {
  test.each([
    ["/", {}],
    ["/m/abc", { match: "abc" }],
    ["/m/abc/replay", { match: "abc" }],
    ["/u/Quiet%20Heron", { player: "Quiet Heron" }],
    ["/rules/two_towers/TT-4.6", { game: "two_towers", section: "TT-4.6" }],
  ])("%s", (path, params) => {
    const page = pageOf(path);
    expect(page.key).not.toBe("none");
    expect(page.params).toEqual(params);
  });

  test("that lead nowhere", () => {
    expect(pageOf("/m").key).toBe("none");
    expect(pageOf("/u/%E0%A4%A").key).toBe("none");
  });

  test("of different matches are different pages, of different sections the same", () => {
    expect(pageOf("/m/a").key).not.toBe(pageOf("/m/b").key);
    expect(pageOf("/rules/g/1").key).toBe(pageOf("/rules/g/2").key);
  });
});

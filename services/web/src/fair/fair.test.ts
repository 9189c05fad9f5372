import { describe, expect, it } from "vitest";

import { bestHasher, nobleHasher } from "./hasher";
import { VECTORS } from "./vectors";

describe("published vectors", () => {
  for (const [name, make] of [["the platform's primitives", bestHasher], ["the script's primitives", nobleHasher]] as const) {
    describe(name, () => {
      it.each(VECTORS.map((vector) => [vector.name, vector] as const))("%s", async (_, vector) => {
        expect(await vector.compute(await make())).toBe(vector.expected);
      });
    });
  }
});

import { create } from "@bufbuild/protobuf";
import { cleanup, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { play } from "../../api/clients";
import { loadGames } from "../../api/games.svelte";
import { ManifestSchema, OptionType } from "../../gen/grimoire/v1/manifest_pb";
import { DescribeGameResponseSchema, ListGamesResponseSchema } from "../../gen/grimoire/v1/play_pb";
import { ShownOptionSchema } from "../../gen/grimoire/v1/quickplay_pb";
import { setLanguage } from "../../i18n/index.svelte";
import Options from "./Options.svelte";

const manifest = create(ManifestSchema, {
  game: "two_towers",
  language: "en",
  options: [
    { name: "turn_time_s", label: "Time for a turn", unit: "s", type: OptionType.INTEGER },
    { name: "deck", label: "Cards", type: OptionType.CHOICE },
  ],
});

beforeEach(async () => {
  vi.spyOn(play, "listGames").mockResolvedValue(create(ListGamesResponseSchema, { games: [{ game: "two_towers" }] }));
  vi.spyOn(play, "describeGame").mockResolvedValue(create(DescribeGameResponseSchema, { manifest }));
  await setLanguage("el", false);
  await loadGames("el");
});
afterEach(async () => {
  cleanup();
  vi.restoreAllMocks();
  await setLanguage("en", false);
});

test("what the game says is marked as its language, a time as the page's", () => {
  const options = [
    create(ShownOptionSchema, { name: "turn_time_s", label: "Time for a turn", value: "60", isDefault: true }),
    create(ShownOptionSchema, { name: "deck", label: "Cards", value: "all", valueLabel: "Every card" }),
  ];
  render(Options, { game: "two_towers", options, terms: ["Φιλική παρτίδα"] });
  const lang = (text: string | RegExp) => screen.getByText(text).closest<HTMLElement>("[lang]")?.lang;
  expect([lang("Time for a turn:"), lang("Cards:"), lang("Every card")]).toEqual(["en", "en", "en"]);
  expect([lang(/δευτ/), lang("Φιλική παρτίδα")]).toEqual(["el", "el"]);
});

import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { tick } from "svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { Words } from "../api/manifest.svelte";
import { change } from "../app/settings.svelte";
import { moduleOf } from "../games/module";
import { PlayCardSchema } from "../gen/grimoire/games/two_towers/v1/two_towers_pb";
import { type Command, CommandReplySchema } from "../gen/grimoire/v1/envelope_pb";
import { ViewerKind } from "../gen/grimoire/v1/frame_pb";
import { FollowResponseSchema } from "../gen/grimoire/v1/lobby_pb";
import { ManifestSchema, TemplateKind } from "../gen/grimoire/v1/manifest_pb";
import { type LegalEntrySchema, type PromptSchema } from "../gen/grimoire/v1/prompt_pb";
import { setLanguage } from "../i18n/index.svelte";
import { MatchStore } from "../match/store.svelte";
import { Desk } from "./desk.svelte";
import PromptBar from "./PromptBar.svelte";

type LegalInit = MessageInitShape<typeof LegalEntrySchema>;
type PromptInit = MessageInitShape<typeof PromptSchema>;

const words = new Words(
  create(ManifestSchema, {
    game: "two_towers",
    language: "en",
    catalogues: [{ name: "cards", items: ["ruby", "opal", "onyx"].map((id) => ({ id, name: id.toUpperCase() })) }],
    templates: [
      { kind: TemplateKind.COMMAND, key: "play_card", text: "Play {card}" },
      { kind: TemplateKind.COMMAND, key: "discard_card", text: "Discard {card}" },
      { kind: TemplateKind.PROMPT, key: "main", text: "Play or discard." },
    ],
  }),
);

/** Ruby can be played or discarded, opal only discarded. */
const card = (type: string, slot: number, id: string, flags: string[] = []): LegalInit => ({
  type,
  payload: toBinary(PlayCardSchema, create(PlayCardSchema, { slot, card: id })),
  fixed: [
    { name: "slot", ref: `slot:${slot}` },
    { name: "card", ref: `card:${id}` },
  ],
  flags,
  label: { key: type, arguments: [{ name: "slot", value: String(slot) }, { name: "card", value: id }] },
});
const HAND = [card("play_card", 0, "ruby"), card("discard_card", 0, "ruby"), card("discard_card", 1, "opal")];

/** A match page's bar over a server that says yes to everything. */
function table(legal: LegalInit[], { promptId = 1, mine = true }: { promptId?: number; mine?: boolean } = {}) {
  const sent: Command[] = [];
  const store = new MatchStore("m1", {
    wire: {
      follow: () => ({ again: () => undefined, close: () => undefined }),
      promised: () => Promise.resolve("proved"),
      submit: (command) => {
        sent.push(command);
        return Promise.resolve(create(CommandReplySchema, { result: { case: "accepted", value: { version: 2n } } }));
      },
    },
  });
  const desk = new Desk(store);
  desk.words = words;
  let version = 0;
  const ask = (prompts: PromptInit[]) => {
    const to = BigInt(++version);
    const snapshot = {
      head: { matchId: "m1", game: "two_towers", version: to, status: 2 },
      prompts,
      viewer: { kind: ViewerKind.SEAT, seat: 0 },
    };
    const kind = { case: "delta", value: { from: to - 1n, to, entries: [], snapshot } };
    store.take(create(FollowResponseSchema, { news: { case: "match", value: { matchId: "m1", kind: { case: "frame", value: { kind: kind as never } } } } }));
    desk.sync();
  };
  ask([{ promptId, seat: mine ? 0 : 1, kind: "main", required: true, legal }]);
  render(PromptBar, { desk });
  return { desk, sent, ask };
}

const button = (name: string | RegExp) => screen.getByRole("button", { name });
const press = (name: string | RegExp) => fireEvent.click(button(name));

beforeAll(() => moduleOf("two_towers"));
beforeEach(() => {
  sessionStorage.clear();
  change({ confirm: "always", volume: 0 });
});
afterEach(cleanup);

describe("the prompt bar", () => {
  it("says what is asked, offers no command before something is picked, and then those that are legal", async () => {
    const { desk } = table(HAND);
    expect(screen.getByText("Play or discard.")).toBeTruthy();
    expect(screen.queryByRole("button")).toBeNull();
    desk.pick("slot:0");
    await tick();
    expect(button("Play RUBY")).toBeTruthy();
    expect(button("Discard RUBY")).toBeTruthy();
    desk.pick("slot:1");
    await tick();
    expect(screen.queryByRole("button", { name: "Play OPAL" })).toBeNull();
    expect(button("Discard OPAL")).toBeTruthy();
  });

  it("sends what the pressed button names, once", async () => {
    const { desk, sent } = table(HAND, { promptId: 8 });
    desk.pick("slot:0");
    await tick();
    const play = button("Play RUBY");
    await Promise.all([fireEvent.click(play), fireEvent.click(play)]);
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toMatchObject({ type: "play_card", promptId: 8, seat: 0 });
    expect(fromBinary(PlayCardSchema, sent[0]?.payload ?? new Uint8Array())).toMatchObject({ slot: 0, card: "ruby" });
  });

  it("says in which language each of its words is, where the game does not speak the page's", async () => {
    await setLanguage("el", false);
    try {
      const { desk } = table([card("play_card", 0, "ruby", ["last_chance"]), card("discard_card", 1, "opal")]);
      const lang = (text: string) => screen.getAllByText(text).map((each) => each.closest("[lang]")?.getAttribute("lang"));
      expect(lang("Play or discard.")).toEqual(["en"]);
      desk.pick("slot:0");
      await tick();
      expect(lang("RUBY")).toEqual(["en"]);
      expect(button("Play RUBY").lang).toBe("en");
      await press("Play RUBY");
      // A sentence of the page around one of the game's.
      expect(lang("Play RUBY")).toEqual(["en", "en"]);
      expect(button("Ναι: Play RUBY").lang).toBe("");
      desk.undo();
      desk.hint("Κάτι");
      await tick();
      expect(lang("Κάτι")).toEqual(["el"]);
    } finally {
      await setLanguage("en", false);
    }
  });

  it("goes without a second press where that is wished, once it is complete", async () => {
    change({ confirm: "grave" });
    const { desk, sent } = table(HAND);
    desk.pick("slot:0");
    expect(sent).toHaveLength(0);
    desk.choose("play_card");
    await vi.waitFor(() => expect(sent).toHaveLength(1));
  });

  it("asks twice for what is grave, whatever is wished, with the focus on no", async () => {
    change({ confirm: "grave" });
    const { desk, sent } = table([card("play_card", 0, "ruby", ["last_chance"]), card("discard_card", 1, "opal")]);
    desk.pick("slot:0");
    await tick();
    await press("Play RUBY");
    expect(sent).toHaveLength(0);
    expect(document.activeElement).toBe(button("No"));
    await press("No");
    await press("Play RUBY");
    await press(/^Yes/);
    await vi.waitFor(() => expect(sent).toHaveLength(1));
  });

  it("keeps the choice when the prompt is renewed, and drops it with a reason when it is gone", async () => {
    const { desk, ask } = table(HAND);
    desk.pick("slot:0");
    ask([{ promptId: 1, seat: 0, kind: "main", required: true, legal: HAND }]);
    expect(desk.draft?.picked).toEqual(["slot:0"]);
    ask([{ promptId: 2, seat: 1, kind: "main", required: true }]);
    await tick();
    expect(screen.getByText(/what you had chosen was dropped/)).toBeTruthy();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("tells a watcher and a waiting seat who is asked, and gives them nothing to press", () => {
    table([], { mine: false });
    expect(screen.getByText(/Waiting for ▲/)).toBeTruthy();
    expect(screen.queryByRole("button")).toBeNull();
  });
});

describe("open fields in the bar", () => {
  const open: LegalInit = {
    type: "play_card",
    label: { key: "play_card", arguments: [{ name: "card", value: "onyx" }] },
    slots: [
      { field: "slot", kind: { case: "number", value: { min: 1, max: 5 } } },
      { field: "card", kind: { case: "one", value: { candidates: ["card:ruby", "card:opal"] } } },
    ],
  };

  it("are asked at once where there is only one command, and fill it", async () => {
    const { sent } = table([open]);
    expect(screen.queryByRole("button", { name: /^Play ONYX/ })).toBeNull();
    await press(/^More/);
    await press("OPAL");
    await tick();
    await press("Play ONYX: 2, OPAL");
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    expect(fromBinary(PlayCardSchema, sent[0]?.payload ?? new Uint8Array())).toMatchObject({ slot: 2, card: "opal" });
  });

  it.each<[string, NonNullable<LegalInit["slots"]>[number]["kind"], () => Promise<unknown>]>([
    ["option", { case: "option", value: { options: ["brave", "coward"] } }, () => press("brave")],
    ["some", { case: "some", value: { candidates: ["card:ruby", "card:opal"], min: 2, max: 2 } }, async () => (await press("RUBY"), await press("OPAL"))],
    ["amounts", { case: "amounts", value: { refs: [{ ref: "card:ruby", max: 2 }], minSum: 2, maxSum: 2 } }, async () => (await press(/^More/), await press(/^More/))],
    ["name", { case: "name", value: { catalogue: "cards" } }, () => fireEvent.input(screen.getByRole("combobox"), { target: { value: "onyx" } })],
  ])("need a whole answer before anything can be sent: %s", async (_, kind, give) => {
    const { desk } = table([{ ...open, slots: [{ field: "card", ...(kind === undefined ? {} : { kind }) }] }]);
    expect(desk.ready).toBeNull();
    await give();
    await tick();
    expect(desk.ready).not.toBeNull();
    expect(button(/^Play ONYX: ./)).toBeTruthy();
  });

  it.each<[string, NonNullable<LegalInit["slots"]>[number]["kind"]]>([
    ["order", { case: "order", value: { refs: ["card:ruby", "card:opal"] } }],
    ["assign", { case: "assign", value: { refs: [{ ref: "card:ruby", choices: ["a", "b"] }] } }],
    ["payment", { case: "payment", value: { automatic: ["card:ruby"], sources: ["card:opal"] } }],
  ])("begin with a whole answer where there is a natural one: %s", (_, kind) => {
    const { desk } = table([{ ...open, slots: [{ field: "card", ...(kind === undefined ? {} : { kind }) }] }]);
    expect(desk.ready).not.toBeNull();
    expect(within(screen.getByRole("group")).getAllByText(/RUBY|automatic/).length).toBeGreaterThan(0);
  });
});

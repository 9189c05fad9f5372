import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { hex, unhex } from "../api/ids";
import type { Follower } from "../api/follow";
import { type Command, CommandReplySchema } from "../gen/grimoire/v1/envelope_pb";
import { type ViewerEntry, ViewerEntrySchema, ViewerKind } from "../gen/grimoire/v1/frame_pb";
import { FollowResponseSchema } from "../gen/grimoire/v1/lobby_pb";
import { ActorKind, EntryHeaderSchema, type Event, EventsSchema, MatchCreatedSchema, NonceOpenedSchema, NonceSealedSchema, NoncesRevealedSchema, OpenNonceSchema, SealNonceSchema } from "../gen/grimoire/v1/match_pb";
import { chainStart } from "./chain";
import { concat, lengthFirst, nonceSeal, sha256 } from "./hash";
import { keepsakeOf } from "./keepsake";
import type { Promised } from "./promise";
import { MatchStore } from "./store.svelte";

const MATCH = "m1";
const utf8 = new TextEncoder();

/** A log that grows, hashed as the specification says. */
class Log {
  entries: ViewerEntry[] = [];
  #head: Uint8Array | null = null;

  async add(events: MessageInitShape<typeof EventsSchema>["events"], commandId = new Uint8Array(16)): Promise<ViewerEntry> {
    this.#head ??= await chainStart(MATCH);
    const version = BigInt(this.entries.length + 1);
    const header = toBinary(EntryHeaderSchema, create(EntryHeaderSchema, { matchId: MATCH, version, commandId, actor: ActorKind.SEAT, seat: 0, serverTimeMs: version }));
    const body = toBinary(EventsSchema, create(EventsSchema, events === undefined ? {} : { events }));
    const hash = await sha256(concat(utf8.encode("grimoire/event/1\n"), this.#head, lengthFirst(header), await sha256(body)));
    this.#head = hash;
    const entry = create(ViewerEntrySchema, { header, public: body, hash });
    this.entries.push(entry);
    return entry;
  }

  /** A delta from one version to another, the view of its end with it. */
  delta(from: number, to: number, { prompt = 0, status = 2 } = {}) {
    const entries = this.entries.slice(from, to);
    const prompts = prompt === 0 ? [] : [{ promptId: prompt, seat: 0, kind: "main", required: true }];
    return news({
      case: "delta",
      value: {
        from: BigInt(from),
        to: BigInt(to),
        entries,
        snapshot: {
          head: { matchId: MATCH, game: "two_towers", version: BigInt(to), hash: entries.at(-1)?.hash ?? new Uint8Array(), status },
          view: utf8.encode(`view ${to}`),
          prompts,
          viewer: { kind: ViewerKind.SEAT, seat: 0 },
          serverTimeMs: BigInt(Date.now()),
        },
      },
    } as never);
  }
}

function news(kind: never) {
  return create(FollowResponseSchema, { news: { case: "match", value: { matchId: MATCH, kind: { case: "frame", value: { kind } } } } });
}
const heartbeat = (version: number) => news({ case: "heartbeat", value: { version: BigInt(version), serverTimeMs: 5n } } as never);

/** A server as the store sees it: what it asks for, what it sends, and whether it opens the stream anew. */
async function opened(promised: () => Promise<Promised> = () => Promise.resolve("proved")) {
  const sent: Command[] = [];
  let follower: Follower | null = null;
  let again = 0;
  const store = new MatchStore(MATCH, {
    wire: {
      follow: (one) => {
        follower = one;
        return { again: () => void (again += 1), close: () => undefined };
      },
      promised,
      submit: (command) => {
        sent.push(command);
        return Promise.resolve(create(CommandReplySchema, { result: { case: "accepted", value: { version: 1n } } }));
      },
    },
  });
  await store.open();
  const asked = () => follower?.request().matches?.[0];
  return { store, sent, asked, again: () => again };
}

let log: Log;
beforeEach(async () => {
  sessionStorage.clear();
  localStorage.clear();
  log = new Log();
  for (let n = 0; n < 4; n += 1) await log.add([{ type: "turn_started" }]);
});
afterEach(() => vi.useRealTimers());

describe("following a match", () => {
  it("asks for everything first, and resumes from what it has seen", async () => {
    const { store, asked } = await opened();
    expect(asked()?.sinceVersion).toBe(0n);
    expect(hex(asked()?.sinceHash as Uint8Array)).toBe(hex(await chainStart(MATCH)));
    store.take(log.delta(0, 2));
    expect(asked()?.sinceVersion).toBe(2n);
    expect(hex(asked()?.sinceHash as Uint8Array)).toBe(hex(log.entries[1]?.hash ?? new Uint8Array()));
    expect(store.seat).toBe(0);
  });

  it("shows a seat that was given away no longer, and says so", async () => {
    const { store, again } = await opened();
    store.take(log.delta(0, 2));
    store.take(create(FollowResponseSchema, { news: { case: "match", value: { matchId: MATCH, kind: { case: "ended", value: { code: "seat_rebound" } } } } }));
    expect(store.rebound).toBe(true);
    expect(again()).toBe(0);
  });

  it("takes deltas that fit, and of overlapping ones only what is new", async () => {
    const { store } = await opened();
    store.take(log.delta(0, 2));
    store.take(log.delta(1, 3));
    expect(store.version).toBe(3);
    expect(store.entries.map((entry) => entry.version)).toEqual([1, 2, 3]);
    store.take(log.delta(0, 2));
    expect(store.version).toBe(3);
    expect(new TextDecoder().decode(store.view ?? undefined)).toBe("view 3");
    await vi.waitFor(() => expect(store.checked).toEqual({ version: 3, broken: null }));
  });

  it("asks anew when something is missing, and changes nothing before it is there", async () => {
    const { store, again } = await opened();
    store.take(log.delta(0, 1));
    store.take(log.delta(2, 3));
    expect(again()).toBe(1);
    expect(store.version).toBe(1);
  });

  it("asks anew when heartbeats stay ahead", async () => {
    const { store, again } = await opened();
    store.take(log.delta(0, 2));
    vi.useFakeTimers();
    store.take(heartbeat(3));
    expect(again()).toBe(0);
    vi.advanceTimersByTime(2500);
    store.take(heartbeat(3));
    expect(again()).toBe(1);
  });

  it("marks an entry that does not follow, and goes on showing", async () => {
    const { store } = await opened();
    const forged = log.entries[1] as ViewerEntry;
    forged.public = toBinary(EventsSchema, create(EventsSchema, { events: [{ type: "match_ended" }] }));
    store.take(log.delta(0, 3));
    expect(store.version).toBe(3);
    await vi.waitFor(() => expect(store.checked.broken).toEqual({ version: 2, reason: "hash" }));
  });

  it("warns of another history than before", async () => {
    const { store } = await opened();
    store.take(log.delta(0, 2));
    store.take(news({ case: "snapshot", value: { head: { matchId: MATCH, game: "two_towers", version: 3n, hash: new Uint8Array(32), status: 2 }, view: new Uint8Array([1]) } } as never));
    expect(store.moved).toBe(true);
    expect(store.version).toBe(3);
    await vi.waitFor(() => expect(store.checked.broken?.reason).toBe("moved"));
  });

  it("says that there is no such match", async () => {
    const { store } = await opened();
    store.take(create(FollowResponseSchema, { news: { case: "match", value: { matchId: MATCH, kind: { case: "ended", value: { code: "unknown_match" } } } } }));
    expect(store.refused?.code).toBe("unknown_match");
  });
});

describe("a command of one's own", () => {
  it("is sent once", async () => {
    const { store, sent } = await opened();
    store.take(log.delta(0, 2, { prompt: 4 }));
    expect(store.own[0]?.promptId).toBe(4);
    expect(store.send("play_card", new Uint8Array([1]), 4)).toBe(true);
    expect(store.send("play_card", new Uint8Array([1]), 4)).toBe(false);
    await vi.waitFor(() => expect(store.sending).toBe(0));
    expect(sent).toHaveLength(1);
  });

  it("that was under way when the page was left is looked for before it is sent again", async () => {
    const id = new Uint8Array(16).fill(7);
    const kept = { id: hex(id), seat: 0, prompt: 4, type: "play_card", payload: "01" };
    sessionStorage.setItem(`grimoire.pending.${MATCH}`, JSON.stringify(kept));
    const first = await opened();
    await log.add([{ type: "card_played" }], id);
    first.store.take(log.delta(0, 5, { prompt: 5 }));
    expect(first.sent).toHaveLength(0);
    expect(sessionStorage.length).toBe(0);

    sessionStorage.setItem(`grimoire.pending.${MATCH}`, JSON.stringify({ ...kept, id: hex(new Uint8Array(16).fill(8)) }));
    const second = await opened();
    second.store.take(log.delta(0, 4, { prompt: 4 }));
    await vi.waitFor(() => expect(second.sent).toHaveLength(1));
    expect(second.sent[0]?.commandId).toEqual(new Uint8Array(16).fill(8));
  });
});

describe("the handshake", () => {
  const created = toBinary(MatchCreatedSchema, create(MatchCreatedSchema, { game: "two_towers", seats: [{ seat: 0 }, { seat: 1 }] }));
  const sealed = (seat: number, seal: Uint8Array) => ({ type: "nonce_sealed", body: toBinary(NonceSealedSchema, create(NonceSealedSchema, { seat, seal: seal as Uint8Array<ArrayBuffer> })) }) as Event;
  const opening = (seat: number) => ({ type: "nonce_opened", body: toBinary(NonceOpenedSchema, create(NonceOpenedSchema, { seat })) }) as Event;

  it("seals a kept nonce unasked, opens it when all have sealed, and checks what is revealed", async () => {
    log = new Log();
    await log.add([{ type: "match_created", body: created }]);
    const { store, sent } = await opened();
    store.take(log.delta(0, 1, { status: 1 }));
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    const kept = keepsakeOf(MATCH);
    expect(kept?.seat).toBe(0);
    const seal = create(SealNonceSchema, { seal: unhex(kept?.seal ?? "") });
    expect(sent[0]).toMatchObject({ type: "seal_nonce", payload: toBinary(SealNonceSchema, seal) });
    expect(hex(await nonceSeal("two_towers", MATCH, 0, unhex(kept?.nonce ?? "")))).toBe(kept?.seal);

    const other = new Uint8Array(32).fill(5);
    await log.add([sealed(0, seal.seal)]);
    await log.add([sealed(1, await nonceSeal("two_towers", MATCH, 1, other))]);
    store.take(log.delta(1, 2, { status: 1 }));
    expect(store.mayReseal).toBe(true);
    store.take(log.delta(2, 3, { status: 1 }));
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    const open = create(OpenNonceSchema, { nonce: unhex(kept?.nonce ?? "") });
    expect(sent[1]).toMatchObject({ type: "open_nonce", payload: toBinary(OpenNonceSchema, open) });
    expect(store.mayReseal).toBe(false);

    const nonces = [
      { seat: 0, nonce: open.nonce },
      { seat: 1, nonce: new Uint8Array(32).fill(6) },
    ];
    await log.add([opening(0), opening(1), { type: "nonces_revealed", body: toBinary(NoncesRevealedSchema, create(NoncesRevealedSchema, { nonces })) }, { type: "match_started" }]);
    store.take(log.delta(3, 4));
    await vi.waitFor(() => expect(store.lie).toBe(1));
    expect(sent).toHaveLength(2);
    await vi.waitFor(() => expect(keepsakeOf(MATCH)?.last_head).toBe(hex(log.entries[3]?.hash ?? new Uint8Array())));
  });

  it("seals only what the server has promised in its public log", async () => {
    log = new Log();
    await log.add([{ type: "match_created", body: created }]);
    const answers: Promised[] = ["proved"];
    const late = await opened(() => (answers.length > 1 ? Promise.resolve("proved") : Promise.reject(new Error(String(answers.push("proved"))))));
    late.store.take(log.delta(0, 1, { status: 1 }));
    expect(late.sent).toHaveLength(0);
    await vi.waitFor(() => expect(late.sent).toHaveLength(1));

    localStorage.clear();
    const lies = await opened(() => Promise.resolve("other_promise"));
    lies.store.take(log.delta(0, 1, { status: 1 }));
    await vi.waitFor(() => expect(lies.store.promise).toBe("other_promise"));
    await Promise.resolve();
    expect(lies.sent).toHaveLength(0);
    expect(keepsakeOf(MATCH)).toBeNull();
  });

  it("goes on with the nonce that was kept when the page was loaded again", async () => {
    log = new Log();
    await log.add([{ type: "match_created", body: created }]);
    const before = await opened();
    before.store.take(log.delta(0, 1, { status: 1 }));
    await vi.waitFor(() => expect(before.sent).toHaveLength(1));
    const seal = keepsakeOf(MATCH)?.seal;
    const after = await opened();
    after.store.take(log.delta(0, 1, { status: 1 }));
    await vi.waitFor(() => expect(after.sent).toHaveLength(1));
    expect(keepsakeOf(MATCH)?.seal).toBe(seal);
  });

  it("mixes a phrase in with a new seal, and keeps the old nonce until the new one counts", async () => {
    log = new Log();
    await log.add([{ type: "match_created", body: created }]);
    const { store, sent } = await opened();
    store.take(log.delta(0, 1, { status: 1 }));
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    const first = keepsakeOf(MATCH);
    await log.add([sealed(0, unhex(first?.seal ?? ""))]);
    store.take(log.delta(1, 2, { status: 1 }));
    await store.reseal("open sesame");
    expect(sent).toHaveLength(2);
    expect(keepsakeOf(MATCH)).toEqual({ ...first, first_head: expect.anything(), last_head: expect.anything() });
    const next = keepsakeOf(MATCH, ".next");
    expect(next?.seal).not.toBe(first?.seal);
    await log.add([sealed(0, unhex(next?.seal ?? ""))]);
    store.take(log.delta(2, 3, { status: 1 }));
    await vi.waitFor(() => expect(keepsakeOf(MATCH)?.seal).toBe(next?.seal));
    expect(keepsakeOf(MATCH, ".next")).toBeNull();
  });
});

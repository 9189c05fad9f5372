import { create, toBinary } from "@bufbuild/protobuf";

import { play } from "../api/clients";
import { type Link, Line } from "../api/follow";
import { hex, unhex } from "../api/ids";
import type { ChatMessage, ChatRights, WatchChatResponse } from "../gen/grimoire/v1/chat_pb";
import { CommandSchema, type Rejection } from "../gen/grimoire/v1/envelope_pb";
import { type Delta, type Frame, type MatchHead, MatchStatus, type Snapshot, ViewerKind } from "../gen/grimoire/v1/frame_pb";
import type { FollowResponse, Presence } from "../gen/grimoire/v1/lobby_pb";
import { type MatchCreated, MatchMode, OpenNonceSchema, SealNonceSchema } from "../gen/grimoire/v1/match_pb";
import type { Prompt } from "../gen/grimoire/v1/prompt_pb";
import { Chain, ChainBroken, chainStart } from "./chain";
import { ServerClock } from "./clock.svelte";
import { Commands, exchange, type Fate, type Submit } from "./commands";
import { type Entry, readEntry } from "./entries";
import { advance, type Handshake, lieIn, nextStep, NO_HANDSHAKE } from "./handshake";
import { keep, type Keepsake, keepsakeOf, makeNonce, phraseToUse, promote } from "./keepsake";
import type { Promised } from "./promise";

/** Where the check of the chain stands. `moved`: the server showed another history than before. */
export interface Checked {
  readonly version: number;
  readonly broken: { readonly version: number; readonly reason: string } | null;
}

/** A stream of news about one match; the page's is `Line`, a test has its own. */
export interface Stream {
  again(): void;
  close(): void;
}

/** The match's way to the server. */
export interface Wire {
  follow(follower: ConstructorParameters<typeof Line>[0]): Stream;
  submit: Submit;
  promised(matchId: string, created: MatchCreated, createdMs: number): Promise<Promised>;
}

const WIRE: Wire = {
  follow: (follower) => new Line(follower),
  submit: async (command, signal, timeoutMs) => {
    const { reply } = await play.submit({ command }, { signal, timeoutMs });
    if (reply === undefined) throw new Error("an answer without a reply");
    return reply;
  },
  promised: async (...match) => (await import("./promise")).promiseOf(...match),
};

const AHEAD_MS = 2000;
const PROMISE_AGAIN_MS = 400;
const GOING = new Set([MatchStatus.UNSPECIFIED, MatchStatus.HANDSHAKE]);

/** One match as it is followed: the only writer of what its page shows. */
export class MatchStore {
  readonly matchId: string;
  readonly clock = new ServerClock();
  readonly #wire: Wire;
  readonly #commands: Commands;
  readonly #chain: Chain;
  readonly #listeners = new Set<(fresh: readonly Entry[], first: boolean) => void>();
  #line: Stream | null = null;
  #checking: Promise<void> = Promise.resolve();
  #aheadSince = 0;
  #shaking = false;
  #greetAgain = false;
  readonly #asPublic: boolean;
  readonly #asked: number | null;
  readonly #place: string;
  #closed = false;
  #start: Uint8Array<ArrayBufferLike> = new Uint8Array();
  #refusedSeal = "";

  version = $state(0);
  head = $state.raw<MatchHead | null>(null);
  view = $state.raw<Uint8Array | null>(null);
  prompts = $state.raw<readonly Prompt[]>([]);
  /** One's own seat; null: one watches. */
  seat = $state<number | null>(null);
  entries = $state.raw<readonly Entry[]>([]);
  shake = $state.raw<Handshake>(NO_HANDSHAKE);
  presence = $state.raw<Presence | null>(null);
  messages = $state.raw<readonly ChatMessage[]>([]);
  rights = $state.raw<ChatRights | null>(null);
  link = $state<Link>("live");
  attempt = $state(0);
  checked = $state.raw<Checked>({ version: 0, broken: null });
  /** The server's history is not the one that was shown before. */
  moved = $state(false);
  /** A seat whose revealed nonce does not fit; null: none. */
  lie = $state<number | null>(null);
  /** Whether what the server promised is in its public log; null: not looked at yet. Nothing is sealed before. */
  promise = $state.raw<Promised | null>(null);
  /** One's seat has changed hands: whoever looks on asks anew which one is its own, if any. */
  rebound = $state(false);
  /** Why there is nothing to follow: no such match, signed out. */
  refused = $state.raw<Rejection | { code: string; message: string } | null>(null);
  /** A command is under way; the number of the attempt. */
  sending = $state(0);
  /** Code of the command under way. */
  sendingType = $state("");
  /** Why the last command was not taken; null: it was. */
  rejection = $state.raw<Rejection | null>(null);

  /** @param seat which of one's own, where one holds several; null: the first, or none. */
  constructor(
    matchId: string,
    { asPublic = false, seat = null, wire = WIRE }: { asPublic?: boolean; seat?: number | null; wire?: Wire } = {},
  ) {
    this.matchId = matchId;
    this.#asPublic = asPublic;
    this.#asked = seat;
    this.#place = seat === null ? matchId : `${matchId}.seat${seat}`;
    this.#wire = wire;
    this.#chain = new Chain(matchId);
    this.#commands = new Commands(matchId, wire.submit, (pending, attempt) => {
      this.sending = pending === null ? 0 : attempt;
      this.sendingType = pending?.command.type ?? "";
    });
  }

  get status(): MatchStatus {
    return this.head?.status ?? MatchStatus.UNSPECIFIED;
  }
  get inHandshake(): boolean {
    return GOING.has(this.status);
  }
  get over(): boolean {
    return this.status === MatchStatus.CLOSED || this.status === MatchStatus.VOID;
  }
  /** What this seat is asked, required prompts first. */
  get own(): readonly Prompt[] {
    const mine = this.prompts.filter((prompt) => this.seat !== null && prompt.seat === this.seat);
    return [...mine.filter((p) => p.required), ...mine.filter((p) => !p.required)];
  }

  /** Begins to follow; from the first entry, so that the whole chain is checked. */
  async open(): Promise<void> {
    this.#start = await chainStart(this.matchId);
    if (this.#closed) return;
    this.#line = this.#wire.follow({
      request: () => ({
        matches: [
          {
            matchId: this.matchId,
            asPublic: this.#asPublic,
            ...(this.#asked === null ? {} : { seat: this.#asked }),
            sinceVersion: BigInt(this.version),
            sinceHash: (this.entries.at(-1)?.hash ?? this.head?.hash ?? this.#start) as Uint8Array<ArrayBuffer>,
          },
        ],
        presence: true,
        chat: true,
      }),
      take: (news) => this.take(news),
      link: (state, attempt) => {
        this.link = state;
        this.attempt = attempt;
      },
      refused: (code, message) => {
        this.refused = { code, message };
      },
    });
  }

  /** Tries the connection again at once. */
  again(): void {
    this.#line?.again();
  }

  close(): void {
    this.#closed = true;
    this.#line?.close();
    this.#commands.close();
  }

  /** Calls back with each frame's entries after they are on the screen; `first`: what was there before one came. */
  onEntries(listener: (fresh: readonly Entry[], first: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // ---- what comes in ------------------------------------------------------------------------------------------------

  take(news: FollowResponse): void {
    if (news.news.case !== "match" || news.news.value.matchId !== this.matchId) return;
    const { kind } = news.news.value;
    if (kind.case === "frame") this.#takeFrame(kind.value);
    else if (kind.case === "presence") this.presence = kind.value;
    else if (kind.case === "chat") this.#takeChat(kind.value);
    else if (kind.case === "ended") this.#takeEnd(kind.value);
  }

  #takeEnd(why: Rejection): void {
    if (why.code === "") return;
    if (why.code === "seat_rebound" || (why.code === "not_a_seat" && this.#asked !== null)) {
      // What was private to the seat is not shown any longer.
      this.rebound = true;
      this.close();
      return;
    }
    if (this.head === null && !["rate_limited", "overloaded", "unavailable", "slow_client"].includes(why.code)) {
      this.refused = why;
      this.#line?.close();
    } else {
      // Frames stop, the rest of the stream goes on: only a new stream brings them back.
      this.#line?.again();
    }
  }

  #takeFrame({ kind }: Frame): void {
    if (kind.case === "heartbeat") {
      this.clock.hear(Number(kind.value.serverTimeMs));
      this.#notice(Number(kind.value.version));
    } else if (kind.case === "delta") this.#takeDelta(kind.value);
    else if (kind.case === "snapshot") this.#takeMoved(kind.value);
  }

  /** A heartbeat may overtake the delta it speaks of; only when it stays ahead is something missing. */
  #notice(version: number): void {
    if (version <= this.version) this.#aheadSince = 0;
    else if (this.#aheadSince === 0) this.#aheadSince = Date.now();
    else if (Date.now() - this.#aheadSince > AHEAD_MS) this.#reopen();
  }

  #reopen(): void {
    this.#aheadSince = 0;
    this.#line?.again();
  }

  #takeDelta(delta: Delta): void {
    const [from, to] = [Number(delta.from), Number(delta.to)];
    if (to <= this.version) {
      // Nothing new happened, but the view may have been renewed for another viewer.
      if (to === this.version && delta.snapshot !== undefined) this.#show(delta.snapshot);
      return;
    }
    if (from > this.version) {
      this.#reopen();
      return;
    }
    const first = this.version === 0;
    const raw = delta.entries.slice(this.version - from);
    const fresh = raw.map(readEntry);
    this.entries = [...this.entries, ...fresh];
    this.shake = fresh.reduce(advance, this.shake);
    this.version = to;
    this.#aheadSince = 0;
    this.#checking = this.#checking.then(() => this.#check(raw));
    if (delta.snapshot !== undefined) this.#show(delta.snapshot);
    for (const entry of fresh) this.#commands.seen(entry.commandId);
    for (const listener of this.#listeners) listener(fresh, first);
    if (first) this.#takeUp();
    void this.#greet();
  }

  #takeMoved(snapshot: Snapshot): void {
    // We asked from a known hash: this server does not know that history.
    this.moved = true;
    this.entries = [];
    this.version = Number(snapshot.head?.version ?? 0n);
    this.#checking = this.#checking.then(() => {
      this.#chain.jump(this.version, snapshot.head?.hash ?? new Uint8Array());
      this.checked = { ...this.checked, broken: { version: this.version, reason: "moved" } };
    });
    this.#show(snapshot);
  }

  #show(snapshot: Snapshot): void {
    this.head = snapshot.head ?? null;
    this.view = snapshot.view.length === 0 ? null : snapshot.view;
    this.seat = snapshot.viewer?.kind === ViewerKind.SEAT ? snapshot.viewer.seat : this.seat;
    this.prompts = snapshot.prompts;
    this.clock.hear(Number(snapshot.serverTimeMs));
    const created = snapshot.head?.created;
    if (this.shake.created === null && created !== undefined) this.shake = { ...this.shake, created };
  }

  #takeChat(said: WatchChatResponse): void {
    if (said.rights !== undefined) this.rights = said.rights;
    const known = new Map((said.whole ? [] : this.messages).map((message) => [message.messageId, message]));
    for (const message of said.messages) known.set(message.messageId, message);
    this.messages = [...known.values()];
  }

  // ---- what is checked ----------------------------------------------------------------------------------------------

  async #check(raw: readonly Parameters<Chain["feed"]>[0][]): Promise<void> {
    for (const entry of raw) {
      if (this.checked.broken !== null) return;
      try {
        await this.#chain.feed(entry);
      } catch (error) {
        const reason = error instanceof ChainBroken ? error.reason : "unreadable";
        this.checked = { version: this.#chain.version, broken: { version: this.#chain.version + 1, reason } };
        return;
      }
    }
    this.checked = { version: this.#chain.version, broken: null };
    this.#remember();
  }

  /** The keepsake says which entries this browser has seen, first and last. */
  #remember(): void {
    const kept = keepsakeOf(this.#place);
    const [first, last] = [this.entries[0], this.entries.at(-1)];
    if (kept === null || first === undefined || last === undefined) return;
    const now = { ...kept, first_head: hex(first.hash), last_head: hex(last.hash) };
    if (now.last_head !== kept.last_head) keep(this.#place, now);
  }

  // ---- the handshake ------------------------------------------------------------------------------------------------

  /** There is still time to seal another nonce: not all seals are in. */
  get mayReseal(): boolean {
    const { created, seals, voided } = this.shake;
    return this.seat !== null && created !== null && !voided && seals.size < created.seats.length;
  }

  /** Seals a nonce with a person's own phrase in place of the first one; that one is kept until the new one counts. */
  async reseal(phrase: string): Promise<void> {
    const game = this.head?.game ?? "";
    if (!this.mayReseal || this.seat === null) return;
    const next = await makeNonce(game, this.matchId, this.seat, phrase);
    keep(this.#place, next, ".next");
    await this.#send("seal_nonce", next);
  }

  async #greet(): Promise<void> {
    const game = this.head?.game ?? "";
    if (this.#closed || game === "" || this.seat === null) return;
    if (this.#shaking) {
      // What comes while a step is under way is looked at after it.
      this.#greetAgain = true;
      return;
    }
    this.#shaking = true;
    this.#greetAgain = false;
    try {
      promote(this.#place, this.shake.seals.get(this.seat) ?? "");
      let kept = keepsakeOf(this.#place);
      if (kept !== null && kept.seat !== this.seat) kept = null;
      const step = nextStep(this.shake, this.seat, kept);
      if ((step === "nonce" || step === "seal") && !(await this.#promised())) return;
      if (step === "nonce") {
        kept = await makeNonce(game, this.matchId, this.seat, phraseToUse());
        keep(this.#place, kept);
        await this.#send("seal_nonce", kept);
      } else if (step === "seal" && kept !== null && kept.seal !== this.#refusedSeal) await this.#send("seal_nonce", kept);
      else if (step === "open" && kept !== null) await this.#send("open_nonce", kept);
      if (this.shake.revealed.size > 0) {
        this.lie = await lieIn(this.shake, game, this.matchId, this.seat, kept);
      }
    } finally {
      this.#shaking = false;
    }
    if (this.#greetAgain) await this.#greet();
  }

  /** Nobody seals before the server's own promise is where it cannot be changed; a log that lies is not played with. */
  async #promised(): Promise<boolean> {
    const { created } = this.shake;
    const first = this.entries[0];
    if (created === null || first === undefined) return false;
    // An analysis promises nothing.
    if (created.mode === MatchMode.ANALYSIS) return true;
    while (this.promise === null && !this.#closed && !this.shake.voided) {
      try {
        this.promise = await this.#wire.promised(this.matchId, created, first.timeMs);
      } catch {
        // Not in the log yet, or the log is away.
        await new Promise((resolve) => setTimeout(resolve, PROMISE_AGAIN_MS));
      }
    }
    return this.promise === "proved";
  }

  async #send(type: "seal_nonce" | "open_nonce", kept: Keepsake): Promise<void> {
    const payload =
      type === "seal_nonce"
        ? toBinary(SealNonceSchema, create(SealNonceSchema, { seal: unhex(kept.seal) }))
        : toBinary(OpenNonceSchema, create(OpenNonceSchema, { nonce: unhex(kept.nonce) }));
    const stop = new AbortController();
    const unsee = this.onEntries(() => {
      const done =
        type === "seal_nonce" ? this.shake.seals.get(kept.seat) === kept.seal : this.shake.opened.has(kept.seat);
      if (done || this.shake.started || this.shake.voided) stop.abort("seen");
    });
    const command = create(CommandSchema, {
      commandId: crypto.getRandomValues(new Uint8Array(16)),
      matchId: this.matchId,
      seat: kept.seat,
      type,
      payload,
    });
    const fate = await exchange(this.#wire.submit, command, stop.signal);
    unsee();
    if (fate.kind === "rejected" && type === "seal_nonce") this.#refusedSeal = kept.seal;
  }

  // ---- commands -----------------------------------------------------------------------------------------------------

  /** Sends a command of one's own seat; false: another is under way, or one watches. */
  send(type: string, payload: Uint8Array, promptId: number | null): boolean {
    if (this.seat === null) return false;
    const fate = this.#commands.send(this.seat, type, payload, promptId);
    if (fate === null) return false;
    this.rejection = null;
    void this.#await(fate);
    return true;
  }

  /** What sending this would be answered; null: it would be accepted. Nothing happens. */
  async explain(type: string, payload: Uint8Array, promptId: number): Promise<Rejection | null> {
    if (this.seat === null) return null;
    const command = create(CommandSchema, {
      commandId: crypto.getRandomValues(new Uint8Array(16)),
      matchId: this.matchId,
      seat: this.seat,
      promptId,
      type,
      payload: payload as Uint8Array<ArrayBuffer>,
    });
    return (await play.explain({ command })).rejection ?? null;
  }

  async #await(fate: Promise<Fate>): Promise<void> {
    const end = await fate;
    if (end.kind === "rejected") this.rejection = end.rejection;
    else if (end.kind === "failed") this.rejection = end.failure.rejection ?? { ...NONE, code: end.failure.code };
  }

  /** What was under way when the page was left is looked for first, and sent again only if it is not there. */
  #takeUp(): void {
    const pending = this.#commands.left();
    if (pending === null || pending.command.seat !== this.seat) return;
    const prompt = pending.command.promptId;
    const open = prompt === undefined ? !this.over : this.own.some((p) => p.promptId === prompt);
    if (!open || this.entries.some((entry) => entry.commandId === pending.id)) {
      this.#commands.forget();
      return;
    }
    const fate = this.#commands.resume(pending);
    if (fate !== null) void this.#await(fate);
  }
}

const NONE: Rejection = {
  $typeName: "grimoire.v1.Rejection",
  code: "",
  rule: "",
  message: "",
  version: 0n,
  retryAfterMs: 0,
  field: "",
  arguments: [],
};

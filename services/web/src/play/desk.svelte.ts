import { assertive, polite, toast } from "../app/announce.svelte";
import { account, ensureAccount, isKnown, refresh } from "../app/session.svelte";
import { settings } from "../app/settings.svelte";
import { type Words, wordsOf } from "../api/manifest.svelte";
import { type GameModule, type Marks, messageOf, moduleOf, NO_MARKS } from "../games/module";
import { Leaving, OccupantKind, OutcomeKind, PromptCause, PromptClosedSchema } from "../gen/grimoire/v1/match_pb";
import { MatchStatus } from "../gen/grimoire/v1/frame_pb";
import type { MatchSummary, Table, TableSeat } from "../gen/grimoire/v1/matchmaking_pb";
import type { LegalEntry, Prompt, Slot } from "../gen/grimoire/v1/prompt_pb";
import { language, t } from "../i18n/index.svelte";
import { isLow, left } from "../match/clock.svelte";
import { type Entry, eventsOf } from "../match/entries";
import { handoversOf, type Holder, holdersAfter, namesOf, peopleOf, summaryOf } from "../match/sitters";
import { comeBack, tableOf } from "../match/seating";
import type { MatchStore } from "../match/store.svelte";
import {
  alike,
  answer,
  answersOf,
  choose,
  commands,
  common,
  complete,
  type Draft,
  draftOf,
  isEmpty,
  keptFor,
  only,
  pick,
  remaining,
  selected,
  settled,
  targets,
  undo,
  usable,
  whole,
} from "./composer";
import type { Question } from "./keys";
import { entryText, eventLang, eventSentence, markOf, promptText, rejectionTold, seatName, wholeText } from "./sentence";
import { filled, type Answer } from "./slot";
import { type Tone, play as sound } from "./sound";
import type { Told } from "./told";

/** Flags by which the server says: ask twice. */
const GRAVE = new Set(["grave", "would_burn", "lethal_on_stack", "ends_turn_unused", "withdraws_all", "last_chance"]);
const SPOKEN_EVERY_MS = 700;
const LOOK_MS = 1000;
/** Events that say that a seat may change hands, or has. */
const SEATING = new Set(["seat_left", "seat_back", "seat_bound"]);

export type Stage = "loading" | "unknown" | "handshake" | "asked" | "waiting" | "over" | "void" | "broken";
export type Ending = "won" | "lost" | "coop_won" | "coop_lost" | "drawn" | "shared" | "decided" | "void";

/** Something to say in the prompt bar until the next thing happens. */
export interface Said extends Told {
  readonly tone: "refusal" | "hint";
  readonly rule: string;
}

/** One match page: the match, its game in words and as a picture, and the command in the making. */
export class Desk {
  readonly store: MatchStore;
  words = $state.raw<Words | null>(null);
  module = $state.raw<GameModule | null>(null);
  summary = $state.raw<MatchSummary | null>(null);
  /** Who sits where, and what the others say of seats that were left; only where seats may change hands. */
  table = $state.raw<Table | null>(null);
  draft = $state.raw<Draft | null>(null);
  said = $state.raw<Said | null>(null);
  /** An entry that is asked for twice, and was asked for once. */
  asking = $state.raw<LegalEntry | null>(null);
  /** The game could not be loaded. */
  failed = $state(false);
  /** Something is inspected. */
  inspected = $state<string | null>(null);
  text = $state(settings.textMode);
  /** What is hidden from whoever looks over one's shoulder was asked for. */
  uncovered = $state(false);
  /** One's own lines in the log: refusals. By version after which they stand. */
  notes = $state.raw<readonly { readonly version: number; readonly text: string }[]>([]);
  /** Since one's own last command, and that one. */
  #traced = $state.raw<readonly Entry[]>([]);
  #spokenAt = 0;
  #queued = "";
  #unsaid = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lowPrompt = 0;
  #loaded = "";
  #looking: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(store: MatchStore) {
    this.store = store;
    store.onEntries((fresh, first) => this.#take(fresh, first));
  }

  /** Finds out who one is, and begins. */
  async open(): Promise<void> {
    try {
      if (!isKnown()) await refresh();
      await ensureAccount();
    } catch {
      // The stream says what is wrong, and goes on trying.
    }
    await this.store.open();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#looking);
    this.store.close();
  }

  /** Loads the game's words and picture; again when the language changes. */
  async load(game: string, lang: string): Promise<void> {
    const key = `${game} ${lang}`;
    if (this.#loaded === key) return;
    this.#loaded = key;
    this.failed = false;
    try {
      const [words, module, summary] = await Promise.all([
        wordsOf(game, lang),
        moduleOf(game),
        this.summary ?? summaryOf(this.store.matchId, game).catch(() => null),
      ]);
      this.words = words;
      this.module = module;
      this.summary = summary;
      void this.lookAtTable();
    } catch {
      this.failed = true;
      this.#loaded = "";
    }
  }

  // ---- what is going on ---------------------------------------------------------------------------------------------

  get game(): string {
    return this.store.head?.game ?? "";
  }

  get stage(): Stage {
    if (this.store.refused !== null) return "unknown";
    switch (this.store.status) {
      case MatchStatus.UNSPECIFIED:
        return this.store.head === null ? "loading" : "handshake";
      case MatchStatus.HANDSHAKE:
        return "handshake";
      case MatchStatus.CLOSED:
        return "over";
      case MatchStatus.VOID:
        return "void";
      case MatchStatus.BROKEN:
        return "broken";
      default:
        return this.store.own.some((prompt) => prompt.required) ? "asked" : "waiting";
    }
  }

  get watching(): boolean {
    return this.store.seat === null;
  }

  /** One's own private things are not to be shown. */
  get covered(): boolean {
    return settings.streamer && !this.uncovered && !this.watching && !this.store.over;
  }

  // ---- who sits where -----------------------------------------------------------------------------------------------

  /** Who sat down at first; the log's first entry says it. */
  get #first(): readonly Holder[] {
    return (this.store.shake.created ?? this.store.head?.created)?.seats ?? [];
  }

  #handovers = $derived.by(() => handoversOf(this.store.entries));

  /** Who sits where now. */
  holders = $derived.by((): readonly Holder[] => holdersAfter(this.#first, this.#handovers, this.#handovers.length));

  #people = $derived.by(() => peopleOf(this.#first, this.holders, this.summary?.seats ?? [], this.table));

  /** Names by seat at the beginning and after each handover since. The same list as long as it says the same. */
  named = $derived.by((): readonly (readonly string[])[] => {
    const counts = [...this.#handovers.keys(), this.#handovers.length];
    const told = counts.map((count) => namesOf(holdersAfter(this.#first, this.#handovers, count), this.#people, this.words));
    const me = this.store.seat;
    for (const names of told) if (me !== null && names[me] === "") names[me] = account()?.name ?? "";
    const text = JSON.stringify(told);
    if (text !== this.#toldText) {
      this.#toldText = text;
      this.#told = told;
    }
    return this.#told;
  });
  #told: readonly (readonly string[])[] = [[]];
  #toldText = "";

  /** Names by seat now. */
  names = $derived.by((): readonly string[] => this.named.at(-1) ?? []);

  /** Names as they were when an entry had been written. */
  namesAt(version: number): readonly string[] {
    return this.named[this.#handovers.filter((handover) => handover.version <= version).length] ?? this.names;
  }

  /** Seats that may change hands, and how. */
  get leaving(): Leaving {
    return (this.store.shake.created ?? this.store.head?.created)?.leaving ?? Leaving.UNSPECIFIED;
  }

  /** All seats of this match that are one's own. */
  mine = $derived.by((): readonly number[] => {
    const now = this.table?.seats.map((seat) => seat.now) ?? this.summary?.seats ?? [];
    return now.flatMap((one) => (one?.mine ? [one.seat] : []));
  });

  /** One's other seats in this match. */
  others = $derived.by((): readonly number[] => {
    const me = this.store.seat;
    return me === null ? [] : this.mine.filter((seat) => seat !== me);
  });

  /** Seats whose people have left. */
  vacant = $derived.by((): readonly TableSeat[] => (this.store.over ? [] : (this.table?.seats.filter((seat) => seat.vacancy !== undefined) ?? [])));

  /** Seats that one sat down on and somebody else plays. */
  given = $derived.by((): readonly TableSeat[] => (this.store.over ? [] : (this.table?.seats.filter((seat) => seat.first?.mine) ?? [])));

  /** People other than oneself sit at the table. */
  get hasCompany(): boolean {
    return this.holders.some((holder) => holder.kind === OccupantKind.PERSON && !this.mine.includes(holder.seat) && holder.seat !== this.store.seat);
  }

  isBot(seat: number): boolean {
    return this.holders.find((one) => one.seat === seat)?.kind === OccupantKind.BOT;
  }

  /** Who had only closed the page, and has it open again, is there: nobody need press anything for that. */
  async #comeBack(): Promise<void> {
    const closed = this.vacant.some((seat) => seat.now?.mine && seat.vacancy?.reason === "away");
    if (!closed || document.hidden || this.store.link !== "live") return;
    const table = await comeBack(this.store.matchId, language());
    if (typeof table !== "string") this.table = table;
  }

  /** There is something to ask about seats: they may change hands, or somebody has several. */
  get #isSeated(): boolean {
    const people = new Set(this.holders.map((holder) => holder.occupantId));
    return this.leaving !== Leaving.UNSPECIFIED || people.size < this.holders.length;
  }

  /** Asks who sits where; again and again as long as something is undecided. `soon`: something has just changed. */
  async lookAtTable(soon = false): Promise<void> {
    clearTimeout(this.#looking);
    if (this.#closed || !this.#isSeated) return;
    const table = await tableOf(this.store.matchId, language());
    if (this.#closed) return;
    if (table !== null && table.version >= (this.table?.version ?? 0n)) this.table = table;
    void this.#comeBack();
    const open = (this.store.head?.away.length ?? 0) > 0 || this.vacant.length > 0;
    // A match that has only just begun is not known everywhere yet.
    if ((open || soon || this.table === null) && !this.store.over) this.#looking = setTimeout(() => void this.lookAtTable(), LOOK_MS);
  }

  /** The view as the game's module reads it; null before the match has started. */
  view = $derived.by(() => {
    try {
      return this.store.view === null || this.module === null ? null : this.module.decode(this.store.view);
    } catch {
      return null;
    }
  });

  seatLabel(seat: number): string {
    return `${markOf(seat)} ${seatName(this.names, seat)}`;
  }

  /** The prompt whose time counts for this viewer: one's own, else the one the match waits for. */
  get timed(): Prompt | null {
    return this.store.own.find((p) => p.required) ?? this.store.prompts.find((p) => p.required) ?? null;
  }

  /** What is asked of this seat; the game says which things of its picture each command is about. */
  own = $derived.by((): readonly Prompt[] => {
    const { module, view } = this;
    const asked = this.store.own;
    return module?.pointed === undefined || view === null ? asked : asked.map((prompt) => module.pointed?.(prompt, view) ?? prompt);
  });

  /** Milliseconds left of a prompt at a time of this machine; null: it has no deadline. */
  leftOf(prompt: Prompt, now: number): number | null {
    return prompt.deadlineMs === 0n ? null : Number(prompt.deadlineMs) - this.store.clock.now(now);
  }

  get ending(): Ending | null {
    if (this.store.status === MatchStatus.VOID) return "void";
    const closed = this.store.head?.closed;
    if (closed === undefined) return null;
    if (closed.kind === OutcomeKind.DRAW) return "drawn";
    if (closed.kind === OutcomeKind.COOP_WON) return "coop_won";
    if (closed.kind === OutcomeKind.COOP_LOST) return "coop_lost";
    if (this.store.seat === null) return "decided";
    const best = closed.ranks.flatMap((rank, seat) => (rank === 1 ? [seat] : []));
    if (!best.includes(this.store.seat)) return "lost";
    return best.length > 1 ? "shared" : "won";
  }

  /** Changes since one's own last command. */
  trace = $derived.by((): ReadonlyMap<string, number> => {
    const { module, store } = this;
    // A match may be there before its game is.
    const marked = module?.tracesOwn === true ? this.#traced : this.#traced.filter((entry) => entry.seat !== store.seat);
    return module?.trace(marked, store.entries) ?? new Map<string, number>();
  });

  // ---- the command in the making --------------------------------------------------------------------------------------

  /** The whole command that would be sent now, in words; empty: something is open. */
  get readyText(): string {
    const { draft, words, ready } = this;
    return draft === null || words === null || ready === null ? "" : wholeText(words, ready, answersOf(draft, ready), this.names);
  }

  /** Nothing can be sent now. */
  get busy(): boolean {
    return this.store.sending > 0;
  }

  get marks(): Marks {
    const { draft } = this;
    if (draft === null || this.busy || this.watching) return NO_MARKS;
    return { usable: usable(draft), targets: targets(draft), selected: selected(draft) };
  }

  names_of = (catalogue: string): readonly string[] =>
    this.words?.manifest.catalogues.find((one) => one.name === catalogue)?.items.map((item) => item.id) ?? [];

  /** Follows the open prompts: the same choice in a renewed one, nothing chosen in another. */
  sync(): void {
    const { draft, own } = this;
    const same = draft === null ? undefined : own.find((prompt) => prompt.promptId === draft.prompt.promptId);
    if (same !== undefined && draft !== null) {
      if (same !== draft.prompt) this.draft = keptFor(draft, same);
      return;
    }
    this.asking = null;
    const first = own[0];
    if (draft !== null && !isEmpty(draft) && this.#mine(draft) === false && this.stage !== "over") {
      this.said = { tone: "hint", text: t("play.dropped"), lang: undefined, rule: "" };
    } else if (draft === null || draft.prompt !== first) this.said = null;
    this.draft = first === undefined ? null : draftOf(first);
  }

  /** The last entry with a command of this seat closed the prompt: nothing was dropped. */
  #mine(draft: Draft): boolean {
    const last = this.store.entries.findLast((entry) => entry.seat !== null || entry.events.length > 0);
    return last?.seat === draft.prompt.seat;
  }

  focus(prompt: Prompt): void {
    this.draft = draftOf(prompt);
  }

  #step(next: Draft): void {
    if (this.draft === null || this.busy) return;
    this.asking = null;
    this.said = null;
    this.draft = next;
  }

  pick(ref: string): void {
    if (this.draft === null || this.busy) return;
    this.#step(pick(this.draft, ref));
    this.#sendIfWished();
  }

  /** Makes a thing the only one picked. */
  select(ref: string): void {
    if (this.draft !== null && !this.draft.picked.includes(ref)) this.pick(ref);
  }

  choose(command: string): void {
    if (this.draft === null) return;
    const next = choose(this.draft, command);
    if (next === this.draft && command !== this.draft.command) {
      void this.#whyNot(command);
      return;
    }
    this.#step(next);
    this.#sendIfWished();
  }

  /** Asks the server why what was picked cannot be used so; it alone knows, and says what sending would say. */
  async #whyNot(command: string): Promise<void> {
    const { draft } = this;
    const schema = messageOf(this.game, command);
    const like = draft === null ? undefined : remaining(draft).find((entry) => entry.fixed.length > 0);
    if (draft === null || schema === null || draft.picked.length === 0 || like === undefined) {
      this.hint(t("play.choose_first"));
      return;
    }
    try {
      const fields = like.fixed.filter(({ name }) => schema.fields.some((field) => field.name === name));
      if (schema.fields.some(({ name }) => !fields.some((one) => one.name === name))) {
        this.hint(t("play.choose_first"));
        return;
      }
      const payload = filled(schema, new Uint8Array(), fields.map(({ name, ref }) => [name, ref] as const));
      const rejection = await this.store.explain(command, payload, draft.prompt.promptId);
      if (rejection === null || this.draft !== draft) return;
      this.said = { tone: "refusal", ...rejectionTold(this.words, rejection), rule: rejection.rule };
    } catch {
      this.hint(t("play.choose_first"));
    }
  }

  answer(slot: Slot, value: Answer): void {
    if (this.draft !== null) this.#step(answer(this.draft, slot.field, value));
  }

  /** Chooses a whole entry of the list, as if its things and its command had been picked. */
  take(entry: LegalEntry): void {
    if (this.draft === null || this.busy) return;
    let next = draftOf(this.draft.prompt);
    for (const { ref } of entry.fixed) {
      // Often the first thing brings the rest with it: the slot its card.
      if (only(next, entry.type) === entry) break;
      if (!next.picked.includes(ref)) next = pick(next, ref);
    }
    next = choose({ ...next, command: "" }, entry.type);
    this.#step({ ...next, exact: settled(next) === entry ? null : entry, before: this.draft });
    this.#sendIfWished();
  }

  undo(): void {
    if (this.asking !== null) this.asking = null;
    else if (this.draft !== null && !isEmpty(this.draft)) this.#step(undo(this.draft));
    else this.clearTrace();
  }

  clearTrace(): void {
    this.#traced = [];
    this.said = null;
  }

  /** The whole command as it would be sent now; null: something is open. */
  get ready(): LegalEntry | null {
    return this.draft === null ? null : complete(this.draft, this.names_of);
  }

  get settled(): LegalEntry | null {
    return this.draft === null ? null : settled(this.draft);
  }

  get commands(): readonly string[] {
    return this.draft === null ? [] : commands(this.draft);
  }

  /** Entries that nothing but their words tells apart. */
  get alike(): readonly LegalEntry[] {
    return this.draft === null ? [] : alike(this.draft);
  }

  only(command: string): LegalEntry | null {
    return this.draft === null ? null : only(this.draft, command);
  }

  /** Entries of a command that are complete as they are, beside others that ask for more. */
  whole(command: string): readonly LegalEntry[] {
    return this.draft === null ? [] : whole(this.draft, command);
  }

  entryText(entry: LegalEntry): string {
    return this.words === null ? entry.type : entryText(this.words, entry, this.names);
  }

  isGrave(entry: LegalEntry): boolean {
    return entry.flags.some((flag) => GRAVE.has(flag)) || (this.module?.grave.includes(entry.type) ?? false);
  }

  /** With the setting for it, what is complete and harmless goes without a second press. */
  #sendIfWished(): void {
    const entry = this.ready;
    if (settings.confirm === "grave" && entry !== null && this.draft?.command !== "" && !this.isGrave(entry)) this.confirm();
  }

  /** Presses the button of a command: sends it if nothing is open, otherwise asks for the rest. */
  press(entry: LegalEntry): void {
    if (this.draft === null) return;
    if (this.only(entry.type) !== entry) this.take(entry);
    else if (this.draft.command !== entry.type) this.#step(choose(this.draft, entry.type));
    if (entry.slots.length === 0) this.confirm();
  }

  /** Sends what is complete; what is grave is asked for once more. */
  confirm(): void {
    const { draft, ready: entry } = this;
    if (draft === null || entry === null || this.busy) return;
    if (this.store.link === "lost") {
      this.hint(t("play.offline"));
      return;
    }
    if (this.isGrave(entry) && this.asking !== entry) {
      this.asking = entry;
      return;
    }
    const schema = messageOf(this.game, entry.type);
    const payload =
      entry.slots.length === 0 || schema === null ? entry.payload : filled(schema, entry.payload, answersOf(draft, entry));
    this.asking = null;
    this.store.send(entry.type, payload, draft.prompt.promptId);
  }

  /** A command that needs no prompt, because it may be sent at any time. */
  standing(type: string, payload: Uint8Array): void {
    this.store.send(type, payload, null);
  }

  resign(): void {
    this.store.send("resign", new Uint8Array(), null);
  }

  /** Goes away from all one's seats: somebody else plays on. */
  leave(): void {
    this.store.send("leave_seat", new Uint8Array(), null);
  }

  // ---- what comes in ------------------------------------------------------------------------------------------------

  #take(fresh: readonly Entry[], first: boolean): void {
    const me = this.store.seat;
    if (!first && fresh.some((entry) => entry.events.some((event) => SEATING.has(event.type)))) void this.lookAtTable(true);
    if (first) {
      const mine = fresh.findLastIndex((entry) => entry.seat === me);
      this.#traced = me === null ? [] : fresh.slice(Math.max(mine, 0));
      return;
    }
    for (const entry of fresh) {
      this.#traced = entry.seat !== me ? [...this.#traced, entry] : [entry];
      this.#tellExpiry(entry);
      this.#speakOf(entry);
    }
    this.#sounds(fresh);
  }

  /** What the clock did in one's own place is told where it is seen. */
  #tellExpiry(entry: Entry): void {
    const asked = this.draft?.prompt;
    if (asked === undefined || entry.seat !== null) return;
    const expired = eventsOf([entry], "prompt_closed", PromptClosedSchema).some(
      ({ promptId, cause }) => promptId === asked.promptId && cause === PromptCause.EXPIRED,
    );
    if (expired) toast(t("play.expired", { text: this.sentences(entry).slice(0, 2).join(" ") }));
  }

  /** One sentence for each command of somebody else, spoken when there is time. */
  #speakOf(entry: Entry): void {
    if (this.words === null || settings.announce === "mine" || entry.seat === this.store.seat) return;
    const said = this.sentences(entry);
    const text = settings.announce === "short" ? (said[0] ?? "") : said.join(" ");
    if (text === "") return;
    if (this.#queued !== "") this.#unsaid += 1;
    this.#queued = text;
    const wait = Math.max(0, this.#spokenAt + SPOKEN_EVERY_MS - Date.now());
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      polite(this.#unsaid > 0 ? `${this.#queued} ${t("play.more_moves", { n: this.#unsaid })}` : this.#queued);
      this.#queued = "";
      this.#unsaid = 0;
      this.#spokenAt = Date.now();
    }, wait);
  }

  #sounds(fresh: readonly Entry[]): void {
    let tone: Tone | null = null;
    const mine = this.store.own.find((p) => p.required);
    const suffered = this.#change(fresh);
    if (this.store.over) tone = this.ending === "won" || this.ending === "coop_won" ? "win" : "end";
    else if (mine !== undefined && mine.deadlineClass === "reaction") tone = "reaction";
    else if (suffered < 0) tone = "loss";
    else if (mine !== undefined) tone = "turn";
    else if (suffered > 0) tone = "gain";
    else if (fresh.some((entry) => entry.seat !== this.store.seat)) tone = "move";
    if (tone !== null) sound(tone, settings.volume);
    // Browsers buzz, as they sound, only after a gesture.
    if (mine !== undefined && settings.vibrate && (navigator.userActivation?.hasBeenActive ?? false)) navigator.vibrate?.(60);
  }

  /** Whether one's own side gained or lost by these entries, all in all. */
  #change(fresh: readonly Entry[]): number {
    const mine = `${this.store.seat ?? -1}.`;
    const changes = [...(this.module?.trace(fresh) ?? new Map<string, number>())];
    return changes.reduce((sum, [key, delta]) => (key.startsWith(mine) ? sum + delta : sum), 0);
  }

  /** What an entry says, sentence by sentence. */
  sentences(entry: Entry): string[] {
    return this.told(entry).map(({ text }) => text);
  }

  /** The same with their languages: the game says what is its own, the page what is the platform's. */
  told(entry: Entry): Told[] {
    const { words } = this;
    if (words === null) return [];
    const [names, before] = [this.namesAt(entry.version), this.namesAt(entry.version - 1)];
    const events = this.covered ? entry.open : entry.events;
    return events
      .map((event) => ({ text: eventSentence(words, this.game, event, names, before), lang: eventLang(words, this.game, event) }))
      .filter(({ text }) => text !== "");
  }

  /** Said at once: one's own prompts, refusals, the end. Called when the stage changes. */
  announceStage(): void {
    const prompt = this.store.own.find((p) => p.required);
    if (this.ending !== null) assertive(this.endingText());
    else if (prompt !== undefined && this.words !== null) {
      const seat = this.others.length > 0 ? ` ${this.seatLabel(prompt.seat)}.` : "";
      assertive(`${t("play.your_turn")}.${seat} ${promptText(this.words, prompt.kind)}`);
    }
  }

  endingText(): string {
    const { ending } = this;
    if (ending === null) return "";
    if (ending === "decided") {
      const best = (this.store.head?.closed?.ranks ?? []).flatMap((rank, seat) => (rank === 1 ? [seatName(this.names, seat)] : []));
      return t("match.end.decided", { names: new Intl.ListFormat(language()).format(best) });
    }
    // Who looks on at people who play together was not among them.
    if (this.watching && ending === "coop_won") return t("match.end.all_won");
    if (this.watching && ending === "coop_lost") return t("match.end.all_lost");
    return t(`match.end.${ending}`);
  }

  /** Why it ended: the game's last sentence, or the platform's for a void match. */
  endingReason = $derived.by((): string => {
    if (this.ending === null) return "";
    const last = this.store.entries.findLast((entry) =>
      entry.events.some((event) => ["match_ended", "match_voided", "match_closed"].includes(event.type)),
    );
    const event = last?.events.find((one) => one.type === (this.ending === "void" ? "match_voided" : "match_ended"));
    return event === undefined || this.words === null ? "" : eventSentence(this.words, this.game, event, this.names);
  });

  /** The server's refusal of the last command, said in the bar, in the log and aloud. */
  refuse(): void {
    const { rejection } = this.store;
    if (rejection === null) return;
    const told = rejectionTold(this.words, rejection);
    const { text } = told;
    // A prompt that is gone is replaced by the next frame; there is nothing to be done about it.
    if (rejection.code === "stale_prompt") return;
    this.said = { tone: "refusal", ...told, rule: rejection.rule };
    this.notes = [...this.notes, { version: this.store.version, text: t("play.refused", { text }) }];
    assertive(text);
  }

  /** One announcement and one tone when the own clock runs low. */
  watchClock(now: number): void {
    const prompt = this.store.own.find((p) => p.required);
    if (prompt === undefined || prompt.promptId === this.#lowPrompt) return;
    const rest = this.leftOf(prompt, now);
    if (rest === null || rest <= 0 || !isLow(rest, prompt.limitMs)) return;
    this.#lowPrompt = prompt.promptId;
    assertive(t("play.low_time", { s: Math.ceil(rest / 1000) }));
    sound("low", settings.volume);
  }

  /** The answer to a key that asks: the situation, the last move, the clocks, the others, oneself. */
  spoken(question: Question): string {
    const { words, module, view } = this;
    if (words === null || module === null || view === null) return t("play.loading");
    const me = this.store.seat;
    switch (question) {
      case "situation": {
        const prompt = this.timed;
        const who = prompt === null ? "" : `${this.seatLabel(prompt.seat)}: ${promptText(words, prompt.kind)}`;
        return `${module.situation(view, words, this.names, me)} ${who}`;
      }
      case "last": {
        const last = this.store.entries.findLast((entry) => entry.seat !== null && entry.seat !== me);
        return last === undefined ? t("play.nothing_yet") : this.sentences(last).join(" ");
      }
      case "clocks":
        return this.store.prompts
          .map((prompt) => {
            const rest = this.leftOf(prompt, Date.now());
            return `${seatName(this.names, prompt.seat)}: ${rest === null ? t("play.no_limit") : left(rest)}`;
          })
          .join("; ");
      default: {
        const mine = question === "mine";
        const name = me === null ? "" : seatName(this.names, me);
        return module
          .sections(view, words, this.names, me)
          .filter((section) => me === null || section.title.includes(name) === mine)
          .map((section) => `${section.title}: ${section.items.map((item) => item.replace(/\.$/, "")).join("; ")}.`)
          .join(" ");
      }
    }
  }

  hint(text: string): void {
    this.said = { tone: "hint", text, lang: undefined, rule: "" };
  }

  /** What a picked thing is best called by: the card rather than its slot. */
  calledBy(ref: string): string {
    if (this.draft === null || (this.words !== null && (this.module?.thing?.(ref, this.words) ?? null) !== null)) return ref;
    const fixed = common(this.draft);
    return fixed.includes(ref) ? (fixed.at(-1) ?? ref) : ref;
  }
}
